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

// measurement is of one size, in a copy of its repository with caches of its own. It is left behind for a closer look,
// until the next one.
type measurement struct {
	bench
	sessions, turns int
	rounds          int      // how often each query is asked
	programs        []string // folders: of the git-rekal that is measured and, with -ref, of another one
	now             int      // which of them has its repository at copy
	queries         []string
}

// measure measures what a ledger costs that has grown for years (docs/lab/scale.md), or else compares with other
// systems.
func (m *measurement) measure(ctx context.Context, scale bool) error {
	if err := errors.Join(os.RemoveAll(m.scratch()), os.RemoveAll(m.claude()), os.Mkdir(m.scratch(), 0o755)); err != nil {
		return err
	}
	for n := range m.programs {
		if _, err := process(m.command(ctx, m.dir, "cp", "-a", m.repo(), m.side(n))); err != nil {
			return err
		}
	}
	if err := os.Rename(m.side(0), m.copy()); err != nil {
		return err
	}
	err := m.eachProgram(func(n int) (err error) {
		if n > 0 { // another version may keep its caches elsewhere
			_, err = process(m.rekal(ctx, "init"))
		}
		return err
	})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(m.bench.queries())
	if err != nil {
		return err
	}
	m.queries = strings.Split(string(text), "\n")
	parts := []func(context.Context) error{m.starts, m.build, m.recalls, m.colds, m.grow}
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

func (m *measurement) cache(file string) string {
	return filepath.Join(m.copy(), ".git", "rekal", file)
}

// side is where the repository of a program lies while another program has its turn. Each has its own, because each has
// caches of its own, and all have theirs at copy when they run, because transcripts name that folder.
func (m *measurement) side(n int) string { return fmt.Sprintf("%s-%d", m.copy(), n) }

// turn gives a program its turn.
func (m *measurement) turn(n int) error {
	if n == m.now {
		return nil
	}
	err := errors.Join(os.Rename(m.copy(), m.side(m.now)), os.Rename(m.side(n), m.copy()))
	m.now, m.bin = n, m.programs[n]
	return err
}

// eachProgram gives each program its turn, one behind the other, and the one that is measured at last.
func (m *measurement) eachProgram(run func(n int) error) error {
	for n := range m.programs {
		if err := errors.Join(m.turn(n), run(n)); err != nil {
			return err
		}
	}
	return m.turn(0)
}

// rows prints a row of the program that is measured, and its ratio to the other one.
func rows(name string, of []samples) {
	of[0].row(name)
	for _, other := range of[1:] {
		of[0].beside("  : the one of -ref", other)
	}
}

func (m *measurement) rekal(ctx context.Context, args ...string) *exec.Cmd {
	return m.command(ctx, m.copy(), filepath.Join(m.bin, "git-rekal"), args...)
}

// build makes the index from scratch, and the other system's.
func (m *measurement) build(ctx context.Context) error {
	head("index from scratch")
	all := make([]samples, len(m.programs))
	err := m.eachProgram(func(n int) error { return all[n].add(m.rekal(ctx, "index")) })
	if err != nil {
		return err
	}
	own := all[0][0]
	row("git rekal index", "%.1f s, %.0f turns/s; CPU %.1f s, peak %s", own.took.Seconds(), m.rate(own), own.cpu.Seconds(),
		megabytes(own.memory))
	for _, other := range all[1:] {
		all[0].beside("  : the one of -ref", other)
	}
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
	row("all ledgers, packed", "%s, %.2f MB per 1,000 sessions", megabytes(packed),
		float64(packed)/1e6/float64(m.sessions)*1000)
	for _, step := range []struct {
		name string
		cmd  *exec.Cmd
	}{
		{"git clone, with all ledgers", m.command(ctx, m.dir, "git", "clone", "-q", "--mirror", "file://"+m.team(),
			filepath.Join(m.scratch(), "mirror"))},
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
	err := m.eachProgram(func(int) error { // reads the ledger for the hooks
		_, err := process(m.rekal(ctx, "checkpoint"))
		return err
	})
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(harness.Transcript(m.home(), m.copy(), "")), 0o755)); err != nil {
		return err
	}
	hooks, readers, idle := make([]samples, len(m.programs)), make([]samples, len(m.programs)),
		make([]samples, len(m.programs))
	for i := range more {
		said := filepath.Join(m.later(), fmt.Sprintf("%d.jsonl", i))
		if _, err := process(m.command(ctx, m.dir, "cp", said,
			harness.Transcript(m.home(), m.copy(), fmt.Sprint(i)))); err != nil {
			return err
		}
		err := m.eachProgram(func(n int) error {
			return errors.Join(hooks[n].add(m.rekal(ctx, "hook", "post-commit")), readers[n].add(m.rekal(ctx, "log", "-n", "1")),
				idle[n].add(m.rekal(ctx, "log", "-n", "1")))
		})
		if err != nil {
			return err
		}
	}
	rows("the hook (capture)", hooks)
	rows("git rekal log, which catches up", readers)
	rows("git rekal log, when nothing is new", idle)
	m.sizes()
	return nil
}

// startRounds is how often what takes milliseconds is measured.
const startRounds = 30

// starts measures what every command and every commit costs, whatever the ledger holds: beside git alone.
func (m *measurement) starts(ctx context.Context) error {
	head("starts, %d times", startRounds)
	if _, err := process(m.command(ctx, m.copy(), "git", "commit", "-q", "--allow-empty", "-m", "first")); err != nil {
		return err
	}
	commit := []string{"commit", "-q", "--allow-empty", "-m", "nothing new"}
	var version, bare samples
	help, hooked := make([]samples, len(m.programs)), make([]samples, len(m.programs))
	for range startRounds {
		err := errors.Join(version.add(m.command(ctx, m.copy(), "git", "version")),
			bare.add(m.command(ctx, m.copy(), "git", append([]string{"-c", "core.hooksPath=/dev/null"}, commit...)...)))
		if err != nil {
			return err
		}
		err = m.eachProgram(func(n int) error {
			return errors.Join(help[n].add(m.rekal(ctx, "-h")), hooked[n].add(m.command(ctx, m.copy(), "git", commit...)))
		})
		if err != nil {
			return err
		}
	}
	rows("git-rekal -h", help)
	version.row("git version")
	rows("git commit, nothing new", hooked)
	bare.row("git commit without hooks")
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
	row(name, "median %.2f, p95 %.2f; CPU %.2f", part(s.median(), other.median()), part(s.p95(), other.p95()),
		part(s.cpu(), other.cpu()))
}

// head prints a heading, and row a row below it.
func head(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

func row(name, format string, args ...any) {
	fmt.Printf("  %-44s %s\n", name, fmt.Sprintf(format, args...))
}

func ms(d time.Duration) string    { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
