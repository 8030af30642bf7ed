// Package lock is a file lock between processes. The system drops it when its holder dies, so none is ever stale.
//
// In: a path, whether to share, how long to wait. Out: a hold on it. Two holders of an exclusive lock never overlap,
// even if the file is removed and made again. It writes nothing into the file. The caller decides what the lock
// protects.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-rekal/git-rekal/internal/advice"
)

// ErrBusy says that other processes held the lock for as long as one was willing to wait.
var ErrBusy = advice.New("other git-rekal processes are busy here", "try again in a moment")

// Lock is a hold on a lock file.
type Lock struct{ f *os.File }

// Exclusive says what a lock is for.
type Exclusive bool

// Kinds of locks.
const (
	ToRead  Exclusive = false // many at once
	ToWrite Exclusive = true  // alone
)

// poll is how often a waiting process tries again.
const poll = 5 * time.Millisecond

// Acquire takes the lock file at path, and waits at most as long as wait for it; then it
// returns ErrBusy. Where the file is missing and can't be made, a reader gets a lock that
// holds nothing, because nobody can write there, and a writer fs.ErrPermission.
func Acquire(ctx context.Context, path string, kind Exclusive, wait time.Duration) (*Lock, error) {
	how := unix.LOCK_SH
	if kind == ToWrite {
		how = unix.LOCK_EX
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for waited := time.Duration(0); ; waited += poll {
		l, err := tryOnce(path, kind, how)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if waited >= wait {
			return nil, fmt.Errorf("lock: %q: %w", path, ErrBusy)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock: %q: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}

// tryOnce takes the lock once. The file is opened anew each time, because the one that was there
// may have been removed by its holder.
func tryOnce(path string, kind Exclusive, mode int) (*Lock, error) {
	f, err := openFile(path, kind)
	if err != nil || f == nil {
		return &Lock{}, err
	}
	err = unix.Flock(int(f.Fd()), mode|unix.LOCK_NB)
	if err == nil && !isStillNamed(f, path) {
		err = unix.EWOULDBLOCK // held, but not the file that others will find
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%q: %w", path, err), f.Close())
	}
	return &Lock{f: f}, nil
}

// openFile is nil without an error where a reader needs no lock.
func openFile(path string, kind Exclusive) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, unix.EROFS) {
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	if kind == ToRead && errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return f, err
}

// isStillNamed reports whether path still names an open file.
func isStillNamed(f *os.File, path string) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(here, there)
}

// Release gives the lock up.
func (l *Lock) Release() error {
	if l == nil || l.f == nil {
		return nil
	}
	return l.f.Close()
}

// Remove gives the lock up and takes its file away. Only for a lock to write.
func (l *Lock) Remove() error {
	if l == nil || l.f == nil {
		return nil
	}
	return errors.Join(os.Remove(l.f.Name()), l.f.Close())
}
