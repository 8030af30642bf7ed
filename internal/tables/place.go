package tables

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
)

// place is where an export lies. Paths have slashes.
type place interface {
	scratch() (string, error)                                 // a new folder here, for the files of this run
	manifest(ctx context.Context) ([]byte, error)             // fs.ErrNotExist where there is none
	publish(ctx context.Context, manifest []byte) error       // replaces it
	put(ctx context.Context, f freshFile) error               // writes a file whole, or not at all
	list(ctx context.Context, below string) ([]string, error) // files
	remove(ctx context.Context, path string) error
	close() error
}

// folder is an export in a folder. One run at a time writes there.
type folder struct {
	dir  string
	held *lock.Lock
}

const (
	newFolder  = "_new" // engines pass over names that begin so
	exportLock = ".lock"
)

func openFolder(ctx context.Context, dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := lock.Acquire(ctx, filepath.Join(dir, exportLock), lock.ToWrite, patience)
	return &folder{dir, held}, err
}

func (f *folder) at(path string) string { return filepath.Join(f.dir, filepath.FromSlash(path)) }

func (f *folder) scratch() (string, error) {
	dir := f.at(newFolder)
	err := os.RemoveAll(dir) // of a run that died
	return dir, errors.Join(err, os.Mkdir(dir, 0o700))
}

func (f *folder) manifest(context.Context) ([]byte, error) { return os.ReadFile(f.at(manifestName)) }

func (f *folder) publish(_ context.Context, manifest []byte) error {
	at := f.at(manifestName)
	if err := os.WriteFile(at+materialize.SQLFresh, manifest, 0o600); err != nil {
		return err
	}
	return os.Rename(at+materialize.SQLFresh, at)
}

func (f *folder) put(_ context.Context, file freshFile) error {
	at := f.at(file.Path)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return os.Rename(file.from, at)
}

func (f *folder) list(_ context.Context, below string) (paths []string, err error) {
	err = filepath.WalkDir(f.at(below), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(f.dir, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	return paths, err
}

func (f *folder) remove(_ context.Context, path string) error {
	err := os.Remove(f.at(path))
	_ = os.Remove(filepath.Dir(f.at(path))) // stays unless it is empty
	return err
}

func (f *folder) close() error { return f.held.Release() }

// remote is an export in a bucket. Of runs at the same time, one publishes its manifest, and the others fail.
type remote struct {
	*bucket.Bucket
	tag  string
	held *lock.Lock // of its scratch folder
}

// scratchName is the pattern of the folders that runs make in the temporary folder. Each holds a lock for as long as
// its run lasts.
const scratchName = "git-rekal-export-*"

func (r *remote) scratch() (dir string, err error) {
	if dir, err = os.MkdirTemp("", scratchName); err != nil {
		return "", err
	}
	if r.held, err = lock.Acquire(context.Background(), filepath.Join(dir, exportLock), lock.ToWrite, 0); err != nil {
		return "", err
	}
	return dir, removeAbandoned(dir)
}

// abandonedAfter is the age of a folder without a lock whose run has died: one that begins makes its lock at once, and
// earlier versions made none.
const abandonedAfter = 24 * time.Hour

// removeAbandoned removes what runs of this user that died left beside a new scratch folder.
func removeAbandoned(fresh string) error {
	now, err := os.Lstat(fresh)
	if err != nil {
		return err
	}
	above := filepath.Dir(fresh)
	all, err := fs.Glob(os.DirFS(above), scratchName)
	for _, name := range all {
		dir := filepath.Join(above, name)
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isOfSameUser(info, now) {
			continue
		}
		at := filepath.Join(dir, exportLock)
		if _, err := os.Lstat(at); err != nil && now.ModTime().Sub(info.ModTime()) < abandonedAfter {
			continue
		}
		if held, err := lock.Acquire(context.Background(), at, lock.ToWrite, 0); err == nil {
			_ = os.RemoveAll(dir) // what stays is removed by a later run
			_ = held.Release()    // nothing was written
		}
	}
	return err
}

func isOfSameUser(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return okX && okY && x.Uid == y.Uid
}

func (r *remote) manifest(ctx context.Context) (text []byte, err error) {
	text, r.tag, err = r.Get(ctx, manifestName)
	return text, err
}

func (r *remote) publish(ctx context.Context, manifest []byte) error {
	return r.Replace(ctx, manifestName, manifest, r.tag)
}

func (r *remote) put(ctx context.Context, f freshFile) error {
	return r.Put(ctx, f.Path, f.from, f.Bytes, f.SHA256)
}

func (r *remote) list(ctx context.Context, below string) ([]string, error) { return r.List(ctx, below) }

func (r *remote) remove(ctx context.Context, path string) error { return r.Remove(ctx, path) }

func (r *remote) close() error {
	r.Close()
	return r.held.Release()
}

// atOnce is how many files are written or removed side by side: a bucket answers each after some milliseconds.
const atOnce = 8

// eachAtOnce does something with all items, some side by side, until it can't be done with one.
func eachAtOnce[T any](items []T, do func(T) error) error {
	var wait sync.WaitGroup
	var failed atomic.Pointer[error]
	turns := make(chan struct{}, atOnce)
	for _, item := range items {
		turns <- struct{}{}
		if failed.Load() != nil {
			break
		}
		wait.Go(func() {
			if err := do(item); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
			<-turns
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
