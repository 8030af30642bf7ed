package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
)

// contextLines is how many equal lines git shows around what differs.
const contextLines = 3

// Bounds of Patch.
const (
	MaxPatched = 1 << 20 // bytes of the largest file whose lines are compared, also by CompareBlobs
	maxPatches = 300     // files of one commit whose lines are compared
)

// FilePatch is what a commit did to one file.
type FilePatch struct {
	git.Change
	Text   string // hunks as git writes them, from the first "@@" on; "" where Binary or Left, or no line differs
	Binary bool
	Left   bool // its lines were not compared: it is large, or one of too many, or not here
}

// Patch compares a commit with its first parent, with renames followed. A root commit adds everything; where the parent
// is missing (a shallow clone) the list is empty. It returns ErrNotFound for a commit that is not here.
func Patch(ctx context.Context, r *git.Repo, id git.OID) ([]FilePatch, error) {
	changes, err := r.Changes(id)
	if err != nil {
		return nil, err
	}
	out := make([]FilePatch, len(changes))
	for i, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = FilePatch{Change: c, Left: i >= maxPatches}
		if !out[i].Left && c.OID != c.Before {
			comparePatch(r, &out[i])
		}
	}
	return out, nil
}

// comparePatch compares the lines of one file. What can't be compared is left (also a submodule): the list of files is
// worth having without it.
func comparePatch(r *git.Repo, p *FilePatch) {
	before, err := textWithin(r, p.Before, MaxPatched)
	after, err2 := textWithin(r, p.OID, MaxPatched)
	if err = errors.Join(err, err2); err == nil {
		p.Text, err = git.Hunks(before, after, contextLines, git.SpacesCount)
	}
	p.Binary = errors.Is(err, ErrBinary)
	p.Left = err != nil && !p.Binary
}

// FileLines is the lines of a file in a commit. With "" it is as the file stands in the working tree, or in a bare
// repository in HEAD, if the commit that is checked out holds it: what nobody committed is not read. ErrNotFound,
// ErrBinary and ErrTooLarge are those of BlameFile.
func FileLines(r *git.Repo, commit git.OID, file string) ([]string, error) {
	c, err := worktree.Open(r, commit)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, ok := c.NameInCommit(file); !ok {
		return nil, fmt.Errorf("git: %q in HEAD: %w", file, git.ErrNotFound)
	}
	return linesOfFile(c, file)
}

// Brought are the lines that a patch brings and that count for somebody: not the blank ones.
func (p FilePatch) Brought() (out []int) {
	added := p.Added()
	for l := range strings.Lines(p.Text) {
		if strings.HasPrefix(l, "+") {
			if !IsBlank(l[1:]) {
				out = append(out, added[0])
			}
			added = added[1:]
		}
	}
	return out
}

// IsBlank reports whether a line is white space: who wrote it can't be told, and so nobody counts it.
func IsBlank(line string) bool { return strings.TrimSpace(line) == "" }

// Added are the lines that a patch brings, as numbered in the file after it.
func (p FilePatch) Added() (out []int) {
	at := 0
	for l := range strings.Lines(p.Text) {
		var h hunk
		switch {
		case strings.HasPrefix(l, "@@ ") && h.parseHead(l):
			at = h.new
		case strings.HasPrefix(l, "+"):
			out = append(out, at)
			at++
		case strings.HasPrefix(l, " "):
			at++
		}
	}
	return out
}
