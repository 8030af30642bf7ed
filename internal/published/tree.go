package published

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// tree is what HEAD's tree holds, as far as it was asked for.
type tree struct {
	repo     *git.Repo
	root     git.OID
	fresh    []git.Entry // files that the words do not know
	words    *words      // of an earlier tree, or of this one; nil: of none
	texts    map[git.OID]string
	authors  []string
	branches []string    // of remotes
	tips     []git.OID   // of these branches
	pushed   []git.OID   // trees that a remote has, the likest first
	gone     []git.Entry // files of these that HEAD's tree has not, or has otherwise
	goneRead bool
}

// read finds out which files are to be looked at, and reads their words where they are many.
func (t *tree) read(ctx context.Context, dir string, hurried bool) (err error) {
	t.words = openWords(dir, t.repo.ObjectFormat().OIDSize)
	base := git.OID("")
	if t.words != nil {
		base = t.words.tree
	}
	if t.fresh, err = filesBeyond(ctx, t.repo, base, t.root, maxFiles); err != nil && t.words != nil { // that tree is gone
		t.words = nil
		t.fresh, err = filesBeyond(ctx, t.repo, "", t.root, maxFiles)
	}
	if err != nil || len(t.fresh) <= fewFiles || t.words != nil && hurried && len(t.fresh) <= someFiles {
		return err
	}
	all := t.fresh
	if t.words != nil {
		if all, err = filesBeyond(ctx, t.repo, "", t.root, maxFiles); err != nil {
			return err
		}
	}
	if hurried && len(all) > someFiles {
		return ErrLater
	}
	t.words, err = t.index(ctx, all)
	if err == nil {
		t.fresh = nil
	}
	return err
}

// filesBeyond lists the files that a tree has, and another one has not or has otherwise, most at most.
func filesBeyond(ctx context.Context, repo *git.Repo, base, root git.OID, most int) (out []git.Entry, err error) {
	err = repo.EachDifference(base, root, func(path string, _, after git.TreeEntry) (into bool, err error) {
		if after.IsFile() && len(out) < most {
			out = append(out, git.Entry{Path: path, OID: after.ID()})
		}
		return after.IsDir() && len(out) < most, ctx.Err()
	})
	return out, err
}

// readPushed finds the trees that a remote has: of the newest commit behind head that one has, of what a push under way
// brings, and of remote-tracking refs.
func (t *tree) readPushed(ctx context.Context, head git.OID, pushing []git.OID) error {
	there := slices.Concat(pushing, t.tips)
	if len(there) == 0 {
		return nil
	}
	unpushed := map[git.OID]bool{}
	for c, err := range t.repo.Newest(ctx, []git.OID{head}, there) {
		if err != nil || len(unpushed) == maxCommits { // something is not here, or that is enough
			break
		}
		unpushed[c.OID] = true
	}
	for c, err := range t.repo.FirstParents(head) {
		if err != nil || len(unpushed) == maxCommits && !unpushed[c.OID] {
			break
		}
		if !unpushed[c.OID] {
			there = append([]git.OID{c.OID}, there...)
			break
		}
	}
	for _, id := range there {
		if len(t.pushed) == maxPushed {
			break
		}
		c, err := t.repo.Commit(id)
		if at, is := t.repo.Resolve(string(id)); err != nil && is == nil { // a tag, if it is one of a commit
			c, err = t.repo.Commit(at)
		}
		if err == nil && !slices.Contains(t.pushed, c.Tree) {
			t.pushed = append(t.pushed, c.Tree)
		}
	}
	return ctx.Err()
}

// isPushed reports whether a remote has a file of HEAD as it is.
func (t *tree) isPushed(f git.Entry) bool {
	return slices.ContainsFunc(t.pushed, func(root git.OID) bool {
		return root == t.root ||
			t.repo.EntryAt(root, f.Path).ID() == f.OID
	})
}

// fileHolding is the file in which a candidate stands: one that a remote has before others.
func (t *tree) fileHolding(ctx context.Context, v string) (at Place, err error) {
	look := func(f git.Entry) (done bool) {
		if f.OID != "" && (at.At == "" || t.isPushed(f)) && t.fileHolds(f, v) {
			at = Place{f.Path, t.isPushed(f)}
		}
		return at.Pushed
	}
	if slices.ContainsFunc(t.fresh, look) {
		return at, nil
	}
	if t.words != nil {
		for _, name := range t.words.filesPerhapsHolding(v) {
			if look(git.Entry{Path: name, OID: t.repo.EntryAt(t.root, name).ID()}) {
				return at, nil
			}
		}
	}
	if err := t.readGone(ctx); err != nil {
		return at, err
	}
	for _, f := range t.gone {
		if t.fileHolds(f, v) {
			return Place{f.Path, true}, nil
		}
	}
	return at, nil
}

// readGone lists the files that a remote has, and HEAD has not as they are: the first few.
func (t *tree) readGone(ctx context.Context) error {
	if t.goneRead {
		return nil
	}
	for _, root := range t.pushed {
		files, err := filesBeyond(ctx, t.repo, t.root, root, fewFiles-len(t.gone))
		if err != nil && ctx.Err() != nil {
			return err
		}
		t.gone = append(t.gone, files...) // of a tree that can't be read, those that can
	}
	t.goneRead = true
	return nil
}

// text is what a file holds; "" for a binary or large one. What is read is kept while there is little of it.
func (t *tree) text(id git.OID) string {
	if text, ok := t.texts[id]; ok {
		return text
	}
	text := textOf(t.repo, id)
	if t.texts == nil {
		t.texts = map[git.OID]string{}
	}
	if len(t.texts) < someFiles && len(text) < 64<<10 {
		t.texts[id] = text
	}
	return text
}

func textOf(repo *git.Repo, id git.OID) string {
	raw, err := repo.BlobWithin(id, maxFile)
	if err != nil || bytes.IndexByte(raw[:min(len(raw), 8000)], 0) >= 0 { // as git tells a binary file
		return ""
	}
	return string(raw)
}

// tokens yields the words of a text that the cache knows: runs of letters, digits and underscores.
func tokens(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if !isWordByte(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && isWordByte(text[j]) {
			j++
		}
		if n := j - i; n >= minToken && n <= maxToken {
			yield(text[i:j])
		}
		i = j
	}
}

// tokensOf are the different words of a candidate, the longest first.
func tokensOf(v string) (out []string) {
	tokens(v, func(token string) {
		if !slices.Contains(out, token) {
			out = append(out, token)
		}
	})
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// printable is a path that the cache can hold.
func printable(name string) bool { return !strings.ContainsAny(name, "\n\x00") }
