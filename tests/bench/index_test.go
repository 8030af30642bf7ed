package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
)

// BenchmarkIndex makes the index of the repository in BENCH_REPO, such as a copy of `make bench`, from scratch; with
// -cpuprofile it says what that is made of.
func BenchmarkIndex(b *testing.B) {
	dir := os.Getenv("BENCH_REPO")
	if dir == "" {
		b.Skip("BENCH_REPO names no repository")
	}
	repo, err := git.Open(b.Context(), dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	m := &materialize.Materializer{
		Repo: repo, Dir: filepath.Join(dir, ".git/rekal"), Now: time.Now,
		Warn: func(err error) { b.Log(err) },
	}
	for b.Loop() {
		if err := m.Rebuild(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
