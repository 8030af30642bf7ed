package commits

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
)

// tellingLine is how many bytes a line has that tells something.
const tellingLine = 8

// lineSet is a set of lines of a file.
type lineSet map[string]bool

// compareLines looks for the lines that candidates added in the commit in question.
func (s *squash) compareLines() error {
	brought := map[string]lineSet{}
	read := 0
	for _, k := range s.candidates {
		if k.matched || !k.isHere() || !k.isMostlyTaken() || read == maxRead {
			continue
		}
		c := k.present[len(k.present)-1]
		if len(c.Parents) > 1 {
			continue
		}
		read++
		if err := s.countLines(k, c, brought); err != nil {
			return err
		}
	}
	return nil
}

// countLines counts the lines that a candidate added, and those of them that the commit in question brought.
func (s *squash) countLines(k *candidate, c git.Commit, brought map[string]lineSet) error {
	k.lines.everything = len(k.Paths) == len(s.keys)
	for i, p := range k.Paths {
		if k.Blobs[i] == s.keys[p] && !slices.Contains(k.sameFiles, p) {
			continue // the whole of it tells nothing, so its lines do not
		}
		if err := s.readNewLines(p, brought); err != nil {
			return err
		}
		own, err := s.linesAdded(c, p)
		if err != nil {
			return err
		}
		k.lines.addedByCommit += len(brought[p])
		for l := range own {
			k.lines.added++
			if brought[p][l] {
				k.lines.found++
			}
		}
	}
	return nil
}

// readNewLines reads the lines of a file that never stood in what the file was before.
func (s *squash) readNewLines(path string, into map[string]lineSet) error {
	if into[path] != nil {
		return nil
	}
	into[path] = lineSet{}
	stays, ok := s.past[path]
	if !ok {
		return nil
	}
	if err := s.linesOf(s.blobs[path], into[path], true); err != nil {
		return err
	}
	for _, st := range stays {
		if err := s.linesOf(st.OID, into[path], false); err != nil {
			return err
		}
	}
	return nil
}

// linesAdded reads the lines that a commit added to a file.
func (s *squash) linesAdded(c git.Commit, path string) (lineSet, error) {
	out := lineSet{}
	now, err := history.PastContents(s.repo, c.OID, []string{path}, c.Committer.When, 2)
	if err != nil {
		return nil, err
	}
	if len(now[path]) < 2 && len(c.Parents) > 0 {
		return out, nil // its mode changed, or what it was is not here
	}
	for i, st := range now[path] {
		if err := s.linesOf(st.OID, out, i == 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// linesOf adds the lines of a blob to a set, or takes them out. A blob that is not here, is
// large or binary has none.
func (s *squash) linesOf(blob git.OID, set lineSet, add bool) error {
	text, err := s.repo.BlobWithin(blob, maxLines)
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrTooLarge) {
		return nil
	}
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return err
	}
	for l := range strings.Lines(string(text)) {
		switch l = strings.TrimSpace(l); {
		case len(l) < tellingLine:
		case add:
			set[l] = true
		default:
			delete(set, l)
		}
	}
	return nil
}
