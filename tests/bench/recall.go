package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// system is something to ask.
type system struct {
	name   string
	before func() error // nil: nothing
	ask    func(ctx context.Context, query string) *exec.Cmd
	took   samples
}

// systems are git-rekal and others, as far as they are there.
func (m *measurement) systems() []system {
	out := []system{}
	for n := range m.programs {
		out = append(out, system{
			name: []string{"git rekal -n 10", "the one of -ref"}[n], before: func() error { return m.turn(n) },
			ask: func(ctx context.Context, q string) *exec.Cmd { return m.rekal(ctx, "-n", "10", "--", q) },
		})
	}
	for _, other := range []system{{name: "rg", ask: m.askRipgrep}, {name: "sqlite3", ask: m.askSQLite}} {
		if _, err := os.Stat(m.fts()); missing(other.name) || other.name == "sqlite3" && err != nil {
			row(other.name, "skipped: there is no %s", other.name)
			continue
		}
		out = append(out, other)
	}
	return out
}

// recalls asks all systems the same queries, one behind the other, so that what else the machine
// does hits all of them.
func (m *measurement) recalls(ctx context.Context) error {
	head("recall: %d queries, %d times", len(m.queries), m.rounds)
	systems := m.systems()
	for i := range m.rounds + 1 { // the first warms the page cache
		for _, q := range m.queries {
			for n := range systems {
				if err := systems[n].time(ctx, q, i > 0); err != nil {
					return err
				}
			}
		}
	}
	for i, sys := range systems {
		sys.took.row(sys.name)
		if i > 0 {
			systems[0].took.beside("git rekal : "+sys.name, sys.took)
		}
	}
	return nil
}

// colds asks some of the queries of files that the system has to fetch from the disk.
func (m *measurement) colds(ctx context.Context) error {
	queries := m.queries[:min(10, len(m.queries))]
	head("recall with a cold page cache: %d queries", len(queries))
	for _, sys := range m.systems() {
		for _, q := range queries {
			if err := errors.Join(chill(m.dir), sys.time(ctx, q, true)); err != nil {
				return err
			}
		}
		sys.took.row(sys.name)
	}
	return nil
}

// time asks a query, and keeps what that took if it counts.
func (s *system) time(ctx context.Context, q string, counts bool) error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	took, err := process(s.ask(ctx, q))
	if code := new(exec.ExitError); s.name == "rg" && errors.As(err, &code) && code.ExitCode() == 1 { // nothing found
		err = nil
	}
	if counts {
		s.took = append(s.took, took)
	}
	return err
}

// chill has the system forget what it holds of the files below a folder.
func chill(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	})
}

var words = regexp.MustCompile(`[\pL\pN_]+`)

// askRipgrep counts in each transcript the lines with one of the words: somebody who greps
// would do no less.
func (m *measurement) askRipgrep(ctx context.Context, q string) *exec.Cmd {
	return m.command(ctx, m.raw(), "rg", "-i", "-c", "--", strings.Join(words.FindAllString(q, -1), "|"), ".")
}

// askSQLite ranks sessions by their best turn.
func (m *measurement) askSQLite(ctx context.Context, q string) *exec.Cmd {
	terms := `"` + strings.Join(words.FindAllString(q, -1), `" OR "`) + `"`
	sql := fmt.Sprintf(`SELECT session, min(rank) AS r FROM t WHERE t MATCH '%s' GROUP BY session ORDER BY r LIMIT 20`,
		terms)
	return m.command(ctx, m.dir, "sqlite3", "-readonly", m.fts(), sql)
}
