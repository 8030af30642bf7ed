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
	cpu    time.Duration // of the processors: what others do meanwhile hardly changes it
	memory int64         // bytes of its peak; 0 where it was no process of its own
}

// samples are those of one kind.
type samples []sample

func quantile(s samples, q float64, of func(sample) time.Duration) time.Duration {
	if len(s) == 0 {
		return 0
	}
	all := make([]time.Duration, len(s))
	for i, x := range s {
		all[i] = of(x)
	}
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

func tookOf(x sample) time.Duration { return x.took }
func cpuOf(x sample) time.Duration  { return x.cpu }

func (s samples) median() time.Duration { return quantile(s, .5, tookOf) }
func (s samples) p95() time.Duration    { return quantile(s, .95, tookOf) }
func (s samples) cpu() time.Duration    { return quantile(s, .5, cpuOf) }

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
		s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return s, out.Bytes(), nil
}

// table prints rows under a heading, as they come.
type table struct{ out io.Writer }

func (t table) head(format string, args ...any) { fmt.Fprintf(t.out, "\n"+format+"\n", args...) }

func (t table) row(name, format string, args ...any) {
	fmt.Fprintf(t.out, "  %-44s %s\n", name, fmt.Sprintf(format, args...))
}

// times prints median, 95th percentile, and of the processes median CPU time and peak memory.
func (t table) times(name string, s samples) {
	t.row(name, "median %s, p95 %s; CPU %s, peak %s", ms(s.median()), ms(s.p95()), ms(s.cpu()), megabytes(s.peak()))
}

func (t table) ratio(name string, a, b samples) {
	part := func(a, b time.Duration) float64 { return float64(a) / float64(b) }
	t.row(name, "median %.2f, p95 %.2f; CPU %.2f", part(a.median(), b.median()), part(a.p95(), b.p95()), part(a.cpu(), b.cpu()))
}

func ms(d time.Duration) string    { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
