package materialize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
)

// SQLFile is one of the two databases for SQL, which package tables makes: the name of its file below .git/rekal/.
type SQLFile string

// The databases: what the ledgers say, and what recall reads.
const (
	DataDB  SQLFile = "data.db"
	IndexDB SQLFile = "index.db"
)

// The files beside them.
const (
	SQLFresh = ".new"        // ends the name of a database that is being made
	SQLLock  = "lock.tables" // is held by who makes one
	SQLSpill = "tmp."        // begins the name of a folder with spilled data; the process follows
)

// sqlPatience is how long ForgetSQL waits for who is making a database.
const sqlPatience = 10 * time.Minute

// ForgetSQL removes the databases, with what processes that died left of them. Who is making one ends first.
func ForgetSQL(ctx context.Context, dir string) error {
	held, err := lock.Acquire(ctx, filepath.Join(dir, SQLLock), lock.ToWrite, sqlPatience)
	if err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	err = SweepSQL(dir)
	for _, file := range []SQLFile{DataDB, IndexDB} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, string(file))))
	}
	return errors.Join(err, held.Release())
}

// SweepSQL removes what processes that died left behind; the lock is held.
func SweepSQL(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	for _, e := range entries {
		left := false
		for _, file := range []SQLFile{DataDB, IndexDB} {
			rest, ours := strings.CutPrefix(e.Name(), string(file))
			left = left || ours && (rest == SQLFresh || rest == ".wal" || rest == SQLFresh+".wal")
		}
		if left || isOrphan(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("tables: %w", err)
			}
		}
	}
	return nil
}

// isOrphan reports whether a name is that of a folder that a dead process spilled data into.
func isOrphan(name string) bool {
	rest, ok := strings.CutPrefix(name, SQLSpill)
	digits, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(digits)
	return ok && err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
