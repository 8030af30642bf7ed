package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/segment"
)

// Folder is a ledger that lies in a folder as files: checked out, or unpacked from an archive.
type Folder struct {
	dir      string
	segments []string // their paths below dir, slash-separated, in order
	sum      string
}

// OpenFolder finds the ledger in a folder. It returns ErrFormat where there is none.
func OpenFolder(ctx context.Context, dir string) (*Folder, error) {
	format, err := readFile(filepath.Join(dir, formatFile), maxFormat)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: no format file", ErrFormat)
	} else if err == nil && string(format) != formatText() {
		err = fmt.Errorf("%w: %.20q", ErrFormat, format)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: folder %q: %w", dir, err)
	}
	f := &Folder{dir: dir}
	if err := f.list(ctx); err != nil {
		return nil, fmt.Errorf("ledger: folder %q: %w", dir, err)
	}
	return f, nil
}

// Sum is of what the folder holds: 32 hexadecimal digits.
func (f *Folder) Sum() string { return f.sum }

func (f *Folder) list(ctx context.Context) error {
	sum := sha256.New()
	err := filepath.WalkDir(filepath.Join(f.dir, segmentDir), func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(f.dir, file)
		if rel = filepath.ToSlash(rel); err != nil || !isSegment(rel) {
			return err
		}
		text, err := readFile(file, segment.MaxRead)
		fmt.Fprintf(sum, "%s %d\n", rel, len(text))
		sum.Write(text)
		if f.segments = append(f.segments, rel); err == nil {
			err = ctx.Err()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.sum = hex.EncodeToString(sum.Sum(nil)[:16])
	return nil
}

// readFile reads a file of somebody else's, within bounds; of a longer one, one byte more.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// Into writes the ledger as a branch into a repository that holds nothing else. Whose it is its checkpoints say; where there are none,
// nobody knows.
func (f *Folder) Into(ctx context.Context, repo *git.Repo) error {
	if err := f.into(ctx, repo); err != nil {
		return fmt.Errorf("ledger: folder %q: %w", f.dir, err)
	}
	return nil
}

func (f *Folder) into(ctx context.Context, repo *git.Repo) error {
	blobs, email := map[string]git.OID{}, ""
	for _, rel := range f.segments {
		text, err := readFile(filepath.Join(f.dir, filepath.FromSlash(rel)), segment.MaxRead)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if blobs[rel], err = repo.WriteBlob(text); err != nil {
			return err
		}
		if email != "" {
			continue
		}
		if e, err := segment.Decode(text); err == nil && e.Checkpoint != nil {
			email = e.Checkpoint.UserEmail
		}
	}
	d := git.Draft{
		Files: map[string][]byte{formatFile: []byte(formatText())}, Message: "rekal folder\n",
		Author: git.Signature{Name: "git-rekal", Email: cmp.Or(email, "unknown"), When: time.Unix(0, 0)},
	}
	tip, err := repo.WriteCommit(d)
	for some := range slices.Chunk(f.segments, maxParts) { // nobody reads more of one commit
		var c git.Commit
		if c, err = repo.Commit(tip); err != nil {
			break
		}
		d = git.Draft{Base: c.Tree, Parents: []git.OID{tip}, Blobs: map[string]git.OID{}, Message: d.Message, Author: d.Author}
		for _, rel := range some {
			d.Blobs[rel], d.Author.When = blobs[rel], Segment{Path: rel}.Time()
		}
		if tip, err = repo.WriteCommit(d); err != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	ref, err := RefName(email)
	if err != nil {
		ref = localPrefix + "unknown"
	}
	return repo.CompareAndSwap(ctx, ref, "", tip, "rekal: folder")
}
