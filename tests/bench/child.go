package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
)

// child does what a command does (recall, catch-up, index), inside this process, which was started
// for that, and prints how many nanoseconds it took. Profile is a file for a profile of the
// processor's time; "" for none:
//
//	go run ./tests/bench -child index -profile cpu.prof COPY/repo
func child(ctx context.Context, dir, what, text, profile string) (err error) {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	repo, err := git.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer repo.Close()
	warn := func(err error) { fmt.Fprintln(os.Stderr, "bench:", err) }
	m := &materialize.Materializer{Repo: repo, Dir: filepath.Join(dir, ".rekal"), Now: time.Now, Warn: warn}
	began := time.Now()
	switch what {
	case "recall":
		err = answer(ctx, repo, m, text)
	case "catch-up":
		err = m.CatchUp(ctx)
	case "index":
		err = m.Rebuild(ctx)
	}
	fmt.Println(time.Since(began).Nanoseconds())
	return err
}

func answer(ctx context.Context, repo *git.Repo, m *materialize.Materializer, text string) error {
	index, err := m.Open(ctx)
	if err != nil {
		return err
	}
	_, err = recall.Recall(ctx, index.DB, repo, recall.Request{Query: text, Limit: 10})
	return errors.Join(err, index.Close())
}

// asChild runs child in a process of its own: this one stays small, because a process begins
// with the peak memory of the one that started it.
func (s *scratch) asChild(ctx context.Context, what, text string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	took, out, err := process(s.command(ctx, s.repo(), self, "-child", what, s.repo(), text))
	if err != nil {
		return sample{}, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	took.took = time.Duration(ns)
	return took, err
}
