package worktree

import (
	"bytes"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
)

// staging is what the index has and HEAD has not, and the other way round. Folders of which the index
// says that they are as in HEAD are not looked into, so it costs what was changed.
type staging struct {
	trees *git.Trees
	index *index
	at    int // the next entry
	added []indexEntry
	gone  []git.Entry
}

// staging compares the index with HEAD, once. Where it can't be read, nothing was staged.
func (c *Content) staging() *staging {
	if c.compared != nil {
		return c.compared
	}
	c.compared = &staging{}
	x := c.index()
	if c.tree == "" || c.root == "" || !x.whole {
		return c.compared
	}
	s := &staging{trees: c.trees, index: x}
	if s.folder("", c.tree, x.folders) == nil {
		c.compared = s
	}
	return c.compared
}

// folder takes the entries of a folder off the rest.
func (s *staging) folder(prefix string, tree git.OID, sum *folderSum) error {
	was, err := s.trees.Named(tree)
	seen := map[string]bool{}
	for err == nil && s.at < s.index.len() {
		e := s.index.entry(s.at)
		rest, ok := bytes.CutPrefix(e.name, []byte(prefix))
		if !ok {
			break
		}
		first, _, isBelow := bytes.Cut(rest, []byte("/"))
		name := string(first)
		switch old := was[name]; {
		case name == "": // a sparse index has no more of this folder
			s.at++
			return nil
		case isBelow:
			seen[name] = old.IsDir()
			err = s.subfolder(prefix+name+"/", old, sum.sub(name))
			continue
		case old.Name != "" && !old.IsDir():
			seen[name] = true
		default:
			s.added = append(s.added, e)
		}
		s.at++
	}
	if err != nil {
		return err
	}
	return s.leave(prefix, was, seen)
}

// subfolder takes those of a folder that HEAD may have.
func (s *staging) subfolder(prefix string, old git.TreeEntry, sum *folderSum) error {
	switch {
	case !old.IsDir():
		return s.folder(prefix, "", nil)
	case sum != nil && sum.entries > 0 && sum.tree == old.ID():
		s.at += sum.entries
		return nil
	}
	return s.folder(prefix, old.ID(), sum)
}

// leave notes what HEAD has and the index has not.
func (s *staging) leave(prefix string, was map[string]git.TreeEntry, seen map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		switch e := was[name]; {
		case seen[name]:
		case !e.IsDir():
			s.gone = append(s.gone, git.Entry{Path: prefix + name, OID: e.ID()})
		default:
			if err := s.folder(prefix+name+"/", e.ID(), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// staged tells under which new names files of HEAD stand in the index, changes of content included: those
// that the index has no more, and of others those that are named, which the working tree has no more.
func (c *Content) staged(files ...string) map[string]string {
	s := c.staging()
	gone, came := slices.Clone(s.gone), []git.Entry(nil)
	for _, f := range files {
		gone = append(gone, git.Entry{Path: f, OID: c.inTree(f)})
	}
	for _, e := range s.added {
		id := e.oid()
		if e.more(indexIntended) { // its content is nowhere yet
			id = c.Blob(string(e.name), nil)
		}
		if id != "" && id != Unread {
			came = append(came, git.Entry{Path: string(e.name), OID: id})
		}
	}
	out := map[string]string{}
	c.pair(gone, gone, came, out)
	return out
}
