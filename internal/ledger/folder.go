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

// InFolder finds the ledger in a folder. It returns ErrFormat where there is none.
func InFolder(ctx context.Context, dir string) (*Folder, error) {
	format, err := readFile(filepath.Join(dir, formatFile), maxFormat)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: no format file", ErrFormat)
	} else if want := fmt.Sprintf("%d\n", Format); err == nil && string(format) != want {
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

// Into writes the ledger as a branch of one commit into a repository that holds nothing else.
// Whose it is its checkpoints say; where there are none, nobody knows.
func (f *Folder) Into(ctx context.Context, repo *git.Repo) error {
	w := &folderWriter{repo: repo, files: map[string][]byte{formatFile: fmt.Appendf(nil, "%d\n", Format)}}
	for _, rel := range f.segments {
		text, err := readFile(filepath.Join(f.dir, filepath.FromSlash(rel)), segment.MaxRead)
		if err == nil {
			err = cmp.Or(ctx.Err(), w.add(Segment{Path: rel}, text))
		}
		if err != nil {
			return fmt.Errorf("ledger: folder %q: %w", f.dir, err)
		}
	}
	tip, err := w.flush()
	if err != nil {
		return fmt.Errorf("ledger: folder %q: %w", f.dir, err)
	}
	ref, err := RefName(w.email)
	if err != nil {
		ref = localPrefix + "unknown"
	}
	return repo.CompareAndSwap(ctx, ref, "", tip, "rekal: folder")
}

// chunk is how many bytes of segments are written to git at once.
const chunk = 16 << 20

// folderWriter writes files into trees, some at once.
type folderWriter struct {
	repo  *git.Repo
	tree  git.OID
	files map[string][]byte
	size  int
	email string
	when  time.Time // of the latest segment
}

func (w *folderWriter) add(s Segment, text []byte) error {
	w.files[s.Path], w.when = text, s.Time()
	if w.email == "" {
		if e, err := segment.Decode(text); err == nil && e.Checkpoint != nil {
			w.email = e.Checkpoint.UserEmail
		}
	}
	if w.size += len(text); w.size < chunk {
		return nil
	}
	_, err := w.flush()
	return err
}

// flush makes a commit of all that was written.
func (w *folderWriter) flush() (git.OID, error) {
	id, err := w.repo.WriteCommit(git.Draft{
		Base: w.tree, Files: w.files, Message: "rekal folder\n",
		Author: git.Signature{Name: "git-rekal", Email: cmp.Or(w.email, "unknown"), When: w.when},
	})
	if err != nil {
		return "", err
	}
	c, err := w.repo.Commit(id)
	w.tree, w.files, w.size = c.Tree, map[string][]byte{}, 0
	return id, err
}
