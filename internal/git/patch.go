package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
)

// usual is how many equal lines git shows around what differs.
const usual = 3

// Bounds of Patch.
const (
	maxPatched = 1 << 20 // bytes of the largest file whose lines are compared
	maxPatches = 300     // files of one commit whose lines are compared
)

// FilePatch is what a commit did to one file.
type FilePatch struct {
	Change
	Text   string // hunks as git writes them, from the first "@@" on; "" where Binary or Left, or no line differs
	Binary bool
	Left   bool // its lines were not compared: it is large, or one of too many, or not here
}

// Patch compares a commit with its first parent, with renames followed. A root commit adds everything; where the parent is missing (a
// shallow clone) the list is empty. It returns ErrNotFound for a commit that is not here.
func (r *Repo) Patch(ctx context.Context, id OID) ([]FilePatch, error) {
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
			r.patch(&out[i])
		}
	}
	return out, nil
}

// patch compares the lines of one file. What can't be compared is left: the list of files is worth having without it.
func (r *Repo) patch(p *FilePatch) {
	before, one := r.patchable(p.Before)
	after, two := r.patchable(p.OID)
	p.Left = !one || !two
	p.Binary = bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0
	if p.Left || p.Binary {
		return
	}
	text, err := Hunks(before, after, usual, SpacesCount)
	p.Text, p.Left = text, err != nil
}

// patchable reads a file's content to be compared; empty for no file, false for one that is large or not here (also a submodule).
func (r *Repo) patchable(id OID) ([]byte, bool) {
	if id == "" {
		return nil, true
	}
	if size, err := r.BlobSize(id); err != nil || size > maxPatched {
		return nil, false
	}
	text, err := r.Blob(id)
	return text, err == nil
}

// Text is the lines of a file, as it stands in the working tree, or in a bare repository in HEAD, that the commit which is checked out holds:
// what nobody committed is not read. ErrNotFound, ErrBinary and ErrTooLarge are those of Blame.
func (r *Repo) Text(file string) ([]string, error) {
	c, err := r.Content("")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, ok := c.committedAs(file); !ok {
		return nil, fmt.Errorf("git: %q in HEAD: %w", file, ErrNotFound)
	}
	return c.lines(file)
}

// Browse opens an address in the browser that `git instaweb` would take: instaweb.browser, web.browser, or one that git finds. Where that is
// one for the terminal, it reads and writes there, and Browse returns when it ends.
func (r *Repo) Browse(ctx context.Context, address string, in io.Reader, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "git", "web--browse", "-c", "instaweb.browser", address)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git: open a browser: %w", err)
	}
	return nil
}
