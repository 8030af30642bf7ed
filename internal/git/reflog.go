package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tableReflog is how many entries of a reflog are read of a reftable, where each costs git a look at the commit.
const tableReflog = 500

// OpenReflog opens the reflog of a ref, or of a worktree's HEAD (HeadName), with its size: lines of "OLD NEW Name
// <address> 1700000000 +0100\tWHAT", the oldest first. Of a reftable it has the last entries, and no names. It returns
// ErrNotFound where there is none. Close it.
func (r *Repo) OpenReflog(ref string) (Reflog, error) {
	if r.reftable {
		text, err := r.askReflog(ref)
		return Reflog{strings.NewReader(text), int64(len(text)), func() {}}, err
	}
	f, err := os.Open(r.reflogFile(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return Reflog{}, ErrNotFound
	}
	if err != nil {
		return Reflog{}, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	return Reflog{f, size, func() { _ = f.Close() }}, err
}

// Reflog is an open reflog.
type Reflog struct {
	io.ReaderAt
	Size  int64
	Close func()
}

// reflogFile is where a reflog lies: that of a worktree's HEAD in its own folder.
func (r *Repo) reflogFile(ref string) string {
	dir, name := r.layout.CommonDir, strings.TrimPrefix(ref, "main-worktree/")
	if other, ok := strings.CutPrefix(ref, "worktrees/"); ok {
		worktree, _, _ := strings.Cut(other, "/")
		dir, name = filepath.Join(dir, "worktrees", worktree), strings.TrimPrefix(other, worktree+"/")
	}
	return filepath.Join(dir, "logs", filepath.FromSlash(name))
}

// askReflog has git list a reflog.
func (r *Repo) askReflog(ref string) (string, error) {
	out, err := r.Run(r.ctx, "log", "-g", "-n", strconv.Itoa(tableReflog), "--date=raw", "--format=%H%x09%gd%x09%gs", ref,
		"--")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	old, lines := strings.Repeat("0", 2*r.format.OIDSize), slices.Collect(strings.Lines(out))
	var all strings.Builder
	for _, line := range slices.Backward(lines) {
		id, rest, _ := strings.Cut(line, "\t")
		at, what, _ := strings.Cut(rest, "\t")
		_, when, _ := strings.Cut(strings.TrimSuffix(at, "}"), "@{")
		fmt.Fprintf(&all, "%s %s <> %s\t%s", old, id, when, what)
		old = id
	}
	return all.String(), nil
}

// EachMove tells the moves of a ref that its reflog knows, the oldest first, and what git notes of each; none where
// there is no reflog.
func (r *Repo) EachMove(ref string, tell func(old, now OID, what string) error) error {
	log, err := r.OpenReflog(ref)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("git: reflog of %s: %w", ref, err)
	}
	defer log.Close()
	raw, err := io.ReadAll(io.NewSectionReader(log, 0, log.Size))
	if err != nil {
		return fmt.Errorf("git: reflog of %s: %w", ref, err)
	}
	for line := range strings.Lines(string(raw)) {
		ids, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f := strings.Fields(ids)
		if len(f) < 2 || !IsOID(f[0]) || !IsOID(f[1]) {
			continue
		}
		if err := tell(OID(f[0]).orNone(), OID(f[1]).orNone(), what); err != nil {
			return err
		}
	}
	return nil
}

// orNone is an ID, or "" for the zeros by which git says that there is none.
func (id OID) orNone() OID {
	if strings.Trim(string(id), "0") == "" {
		return ""
	}
	return id
}

// Reflog lists the commits that a ref's reflog names; those may not be here any more.
func (r *Repo) Reflog(ref string) (out []OID, err error) {
	seen := map[OID]bool{"": true}
	err = r.EachMove(ref, func(old, now OID, _ string) error {
		for _, id := range []OID{old, now} {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
		return nil
	})
	return out, err
}

// ExpireReflog empties a ref's reflog.
func (r *Repo) ExpireReflog(ctx context.Context, ref string) error {
	if _, err := r.Run(ctx, "reflog", "exists", ref); err != nil {
		return ctx.Err()
	}
	if err := r.runChange(ctx, "reflog", "expire", "--expire=all", ref); err != nil {
		return fmt.Errorf("git: empty the reflog of %s: %w", ref, err)
	}
	return nil
}
