package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// measurement is of one size, in a copy of its repository with caches of its own. It is left behind for a closer look, until the next one.
type measurement struct {
	bench
	sessions, turns int
	rounds          int // how often each query is asked
	queries         []string
}

// measure measures what a ledger costs that has grown for years (docs/lab/scale.md), or else compares with other systems.
func (m *measurement) measure(ctx context.Context, scale bool) error {
	if err := errors.Join(os.RemoveAll(m.scratch()), os.RemoveAll(m.claude()), os.Mkdir(m.scratch(), 0o755)); err != nil {
		return err
	}
	if _, err := process(m.command(ctx, m.dir, "cp", "-a", m.repo(), m.copy())); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(m.cache("")), os.Mkdir(m.cache(""), 0o755)); err != nil {
		return err
	}
	text, err := os.ReadFile(m.bench.queries())
	if err != nil {
		return err
	}
	m.queries = strings.Split(string(text), "\n")
	parts := []func(context.Context) error{m.build, m.recalls, m.colds, m.grow}
	if scale {
		parts = []func(context.Context) error{m.costs, m.recalls}
	}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) fts() string    { return filepath.Join(m.scratch(), "fts.db") }
func (m *measurement) claude() string { return filepath.Join(m.home(), ".claude") }

func (m *measurement) cache(file string) string { return filepath.Join(m.copy(), ".rekal", file) }

func (m *measurement) rekal(ctx context.Context, args ...string) *exec.Cmd {
	return m.command(ctx, m.copy(), filepath.Join(m.bin, "git-rekal"), args...)
}

// build makes the index from scratch, and the other system's.
func (m *measurement) build(ctx context.Context) error {
	head("index from scratch")
	own, err := process(m.rekal(ctx, "index"))
	if err != nil {
		return err
	}
	row("git rekal index", "%.1f s, %.0f turns/s; CPU %.1f s, peak %s", own.took.Seconds(), m.rate(own), own.cpu.Seconds(), megabytes(own.memory))
	m.sizes()
	if missing("sqlite3") {
		row("SQLite FTS5", "skipped: there is no sqlite3")
		return nil
	}
	other, err := process(m.command(ctx, m.dir, "sqlite3", m.fts(), ".read "+m.bench.turns()))
	if err != nil {
		return err
	}
	row("SQLite FTS5", "%.1f s, %.0f turns/s; CPU %.1f s", other.took.Seconds(), m.rate(other), other.cpu.Seconds())
	return nil
}

func (m *measurement) rate(x sample) float64 { return float64(m.turns) / x.took.Seconds() }

func (m *measurement) sizes() {
	of := func(file string) string {
		info, err := os.Stat(m.cache(file))
		if err != nil {
			return "none"
		}
		return megabytes(info.Size())
	}
	row("recall.db; data.db, index.db", "%s; %s, %s", of("recall.db"), of("data.db"), of("index.db"))
}

// costs measures what a large ledger costs git and git-rekal.
func (m *measurement) costs(ctx context.Context) error {
	var packed int64
	packs, err := filepath.Glob(filepath.Join(m.team(), "objects", "pack", "*"))
	if err != nil {
		return err
	}
	for _, path := range packs {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		packed += info.Size()
	}
	row("all ledgers, packed", "%s, %.2f MB per 1,000 sessions", megabytes(packed), float64(packed)/1e6/float64(m.sessions)*1000)
	for _, step := range []struct {
		name string
		cmd  *exec.Cmd
	}{
		{"git clone, with all ledgers", m.command(ctx, m.dir, "git", "clone", "-q", "--mirror", "file://"+m.team(), filepath.Join(m.scratch(), "mirror"))},
		{"git rekal index, the first one", m.rekal(ctx, "index")},
		{"git rekal sync, nothing new", m.rekal(ctx, "sync", "--yes")},
		{"first SELECT", m.rekal(ctx, "query", "SELECT count(*) FROM turns")},
		{"git rekal checkpoint, nothing new", m.rekal(ctx, "checkpoint")},
	} {
		x, err := process(step.cmd)
		if err != nil {
			row(step.name, "failed: %v", err)
			continue
		}
		row(step.name, "%.2f s, CPU %.2f s, peak %s", x.took.Seconds(), x.cpu.Seconds(), megabytes(x.memory))
	}
	m.sizes()
	return nil
}

// grow captures new sessions one by one, and brings the caches up after each, as the next reader does.
func (m *measurement) grow(ctx context.Context) error {
	head("one more session, %d times", more)
	if _, err := process(m.rekal(ctx, "checkpoint")); err != nil { // reads the ledger for the hooks
		return err
	}
	if err := os.MkdirAll(filepath.Dir(harness.Transcript(m.home(), m.copy(), "")), 0o755); err != nil {
		return err
	}
	var hooks, readers, idle samples
	for i := range more {
		said := filepath.Join(m.later(), fmt.Sprintf("%d.jsonl", i))
		if _, err := process(m.command(ctx, m.dir, "cp", said, harness.Transcript(m.home(), m.copy(), fmt.Sprint(i)))); err != nil {
			return err
		}
		if err := hooks.add(m.rekal(ctx, "hook", "post-commit")); err != nil {
			return err
		}
		if err := errors.Join(readers.add(m.rekal(ctx, "log", "-n", "1")), idle.add(m.rekal(ctx, "log", "-n", "1"))); err != nil {
			return err
		}
	}
	hooks.row("the hook (capture)")
	readers.row("git rekal log, which catches up")
	idle.row("git rekal log, when nothing is new")
	m.sizes()
	return nil
}

func missing(program string) bool {
	_, err := exec.LookPath(program)
	return err != nil
}

// sample is what one process took.
type sample struct {
	took   time.Duration
	cpu    time.Duration // of the processors: what others do meanwhile hardly changes it
	memory int64         // bytes of its peak
}

// samples are those of one kind.
type samples []sample

func (s *samples) add(cmd *exec.Cmd) error {
	x, err := process(cmd)
	*s = append(*s, x)
	return err
}

// process runs a process to its end.
func process(cmd *exec.Cmd) (sample, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	s := sample{took: time.Since(began)}
	if ended := cmd.ProcessState; ended != nil {
		s.cpu = ended.UserTime() + ended.SystemTime()
		if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
			s.memory = usage.Maxrss << 10 // Linux tells kilobytes
		}
	}
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr.Bytes())
	}
	return s, err
}

func (s samples) quantile(q float64, of func(sample) time.Duration) time.Duration {
	all := make([]time.Duration, len(s))
	for i, x := range s {
		all[i] = of(x)
	}
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

func (s samples) median() time.Duration {
	return s.quantile(.5, func(x sample) time.Duration { return x.took })
}

func (s samples) p95() time.Duration {
	return s.quantile(.95, func(x sample) time.Duration { return x.took })
}

func (s samples) cpu() time.Duration {
	return s.quantile(.5, func(x sample) time.Duration { return x.cpu })
}

// row prints median, 95th percentile, median CPU time and peak memory.
func (s samples) row(name string) {
	var peak int64
	for _, x := range s {
		peak = max(peak, x.memory)
	}
	row(name, "median %s, p95 %s; CPU %s, peak %s", ms(s.median()), ms(s.p95()), ms(s.cpu()), megabytes(peak))
}

// beside prints what part of another's s are.
func (s samples) beside(name string, other samples) {
	part := func(a, b time.Duration) float64 { return float64(a) / float64(b) }
	row(name, "median %.2f, p95 %.2f; CPU %.2f", part(s.median(), other.median()), part(s.p95(), other.p95()), part(s.cpu(), other.cpu()))
}

// head prints a heading, and row a row below it.
func head(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

func row(name, format string, args ...any) {
	fmt.Printf("  %-44s %s\n", name, fmt.Sprintf(format, args...))
}

func ms(d time.Duration) string    { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
