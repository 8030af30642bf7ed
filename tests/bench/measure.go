package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// sample is what one process, took.
type sample struct {
	took   time.Duration
	memory int64 // bytes of its peak; 0 where it was no process of its own
}

// samples are those of one kind.
type samples []sample

func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	took := make([]time.Duration, len(s))
	for i, x := range s {
		took[i] = x.took
	}
	slices.Sort(took)
	return took[min(int(q*float64(len(took))), len(took)-1)]
}

func (s samples) median() time.Duration { return s.quantile(.5) }
func (s samples) p95() time.Duration    { return s.quantile(.95) }

func (s samples) peak() int64 {
	var peak int64
	for _, x := range s {
		peak = max(peak, x.memory)
	}
	return peak
}

// process runs a process to its end.
func process(cmd *exec.Cmd) (sample, []byte, error) {
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		return sample{}, out.Bytes(), fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr.Bytes())
	}
	s := sample{took: took}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.memory = usage.Maxrss << 10 // Linux tells kilobytes
	}
	return s, out.Bytes(), nil
}

// table prints rows under a heading, as they come.
type table struct{ out io.Writer }

func (t table) head(format string, args ...any) { fmt.Fprintf(t.out, "\n"+format+"\n", args...) }

func (t table) row(name, format string, args ...any) {
	fmt.Fprintf(t.out, "  %-44s %s\n", name, fmt.Sprintf(format, args...))
}

// times prints median, 95th percentile and peak memory.
func (t table) times(name string, s samples) {
	memory := ""
	if s.peak() > 0 {
		memory = ", peak " + megabytes(s.peak())
	}
	t.row(name, "median %s, p95 %s%s", ms(s.median()), ms(s.p95()), memory)
}

func (t table) ratio(name string, a, b samples) {
	t.row(name, "median %.2f, p95 %.2f", float64(a.median())/float64(b.median()), float64(a.p95())/float64(b.p95()))
}

func ms(d time.Duration) string    { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
