package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// scratch is a copy of the repository, with caches of its own, in which things are measured.
type scratch struct {
	bench
	table
	sessions int
	turns    int
	rounds   int // how often each query is asked
	queries  []query
}

func (s *scratch) repo() string  { return filepath.Join(s.dir, "scratch", "repo") }
func (s *scratch) fts() string   { return filepath.Join(s.dir, "scratch", "fts.db") }
func (s *scratch) rekal() string { return filepath.Join(s.repo(), ".rekal") }

// measure measures one size. Its copy is left behind for a closer look, until the next run.
func (s *scratch) measure(ctx context.Context) error {
	if err := s.copy(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{s.build, s.recalls, s.colds, s.filters, s.grow, s.fetch} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// copy makes the copy, and reads the queries.
func (s *scratch) copy(ctx context.Context) error {
	dir := filepath.Join(s.dir, "scratch")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, cmd := range [][]string{
		{"cp", "-a", s.bench.repo(), s.repo()},
	} {
		if _, _, err := process(s.command(ctx, s.dir, cmd[0], cmd[1:]...)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(s.rekal()), os.Mkdir(s.rekal(), 0o755)); err != nil {
		return err
	}
	return harness.EachLine(s.bench.queries(), func(q query) { s.queries = append(s.queries, q) })
}

// build makes the index from scratch, and the other system's.
func (s *scratch) build(ctx context.Context) error {
	s.head("index from scratch")
	own, _, err := process(s.rekalCommand(ctx, "index"))
	if err != nil {
		return err
	}
	s.row("git rekal index", "%.1f s, %.0f turns/s; CPU %.1f s, peak %s", own.took.Seconds(), s.rate(own), own.cpu.Seconds(), megabytes(own.memory))
	s.row("recall.db; data.db, index.db", "%s; %s, %s", megabytes(s.size("recall.db")), megabytes(s.size("data.db")), megabytes(s.size("index.db")))
	if missing("sqlite3") {
		s.row("SQLite FTS5", "skipped: there is no sqlite3")
		return nil
	}
	cmd := s.command(ctx, s.dir, "sqlite3", s.fts())
	in, err := os.Open(s.bench.turns())
	if err != nil {
		return err
	}
	defer in.Close()
	cmd.Stdin = in
	other, _, err := process(cmd)
	if err != nil {
		return err
	}
	s.row("SQLite FTS5", "%.1f s, %.0f turns/s; CPU %.1f s", other.took.Seconds(), s.rate(other), other.cpu.Seconds())
	return nil
}

func (s *scratch) rate(x sample) float64 { return float64(s.turns) / x.took.Seconds() }

func (s *scratch) size(file string) int64 {
	info, err := os.Stat(filepath.Join(s.rekal(), file))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *scratch) rekalCommand(ctx context.Context, args ...string) *exec.Cmd {
	return s.command(ctx, s.repo(), s.rekalBin(), args...)
}

// absent reports whether there is nothing to ask of another system: no program, or for SQLite no table that was made.
func (s *scratch) absent(system string) bool {
	if _, err := os.Stat(s.fts()); system == "sqlite3" && err != nil {
		return true
	}
	return missing(system)
}

func missing(program string) bool {
	_, err := exec.LookPath(program)
	return err != nil
}
