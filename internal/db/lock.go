package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrBusy says that other processes held the lock for as long as one was willing to wait.
var ErrBusy = errors.New("other git-rekal processes are busy here")

// Lock is a hold on the databases of one repository: DuckDB lets in one writer or many
// readers, so one file lock stands before both files. The system drops it when its
// process dies.
type Lock struct{ f *os.File }

// Exclusive says what a lock is for.
type Exclusive bool

// Kinds of locks.
const (
	ToRead  Exclusive = false // many at once
	ToWrite Exclusive = true  // alone
)

// lockPoll is how often a waiting process tries again.
const lockPoll = 5 * time.Millisecond

// Acquire takes the lock file at path, and waits at most as long as wait for it; then it
// returns ErrBusy. Where the file is missing and can't be made, a reader gets a lock that
// holds nothing, because nobody can write there, and a writer fs.ErrPermission.
func Acquire(ctx context.Context, path string, kind Exclusive, wait time.Duration) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, unix.EROFS) {
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	if kind == ToRead && errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return &Lock{}, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("db: lock: %w", err)
	}
	how := unix.LOCK_SH
	if kind == ToWrite {
		how = unix.LOCK_EX
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for waited := time.Duration(0); ; waited += lockPoll {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return &Lock{f: f}, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("db: lock %q: %w", path, err), f.Close())
		}
		if waited >= wait {
			return nil, errors.Join(fmt.Errorf("db: lock %q: %w", path, ErrBusy), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("db: lock %q: %w", path, ctx.Err()), f.Close())
		case <-tick.C:
		}
	}
}

// Release gives the lock up.
func (l *Lock) Release() error {
	if l == nil || l.f == nil {
		return nil
	}
	return l.f.Close()
}
