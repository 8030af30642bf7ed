package main

import (
	"context"
	"os"
	"path/filepath"
)

// scale measures what a ledger costs that has grown for years: docs/lab/scale.md.
func (s *scratch) scale(ctx context.Context) error {
	if err := s.copy(ctx); err != nil {
		return err
	}
	packed, err := bytesBelow(filepath.Join(s.team(), "objects"))
	if err != nil {
		return err
	}
	s.row("all ledgers, packed", "%s, %.2f MB per 1,000 sessions", megabytes(packed), float64(packed)/1e6/float64(s.sessions)*1000)
	steps := []struct {
		name string
		args []string
	}{
		{"git clone, with all ledgers", []string{"git", "clone", "-q", "--mirror", "file://" + s.team(), filepath.Join(s.dir, "scratch", "mirror")}},
		{"git rekal index, the first one", []string{s.rekalBin(), "index"}},
		{"git rekal sync, nothing new", []string{s.rekalBin(), "sync", "--yes"}},
		{"first SELECT", []string{s.rekalBin(), "query", "SELECT count(*) FROM turns"}},
		{"git rekal checkpoint, nothing new", []string{s.rekalBin(), "checkpoint"}},
	}
	for _, step := range steps {
		x, _, err := process(s.command(ctx, s.repo(), step.args[0], step.args[1:]...))
		if err != nil {
			s.row(step.name, "failed: %v", err)
			continue
		}
		s.row(step.name, "%.2f s, CPU %.2f s, peak %s", x.took.Seconds(), x.cpu.Seconds(), megabytes(x.memory))
	}
	s.row("recall.db; data.db", "%s; %s", megabytes(s.size("recall.db")), megabytes(s.size("data.db")))
	return s.recalls(ctx)
}

func (s *scratch) rekalBin() string { return filepath.Join(s.bin, "git-rekal") }

// bytesBelow is how many bytes the files of a folder have.
func bytesBelow(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
