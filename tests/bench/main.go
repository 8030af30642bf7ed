// Command bench measures git-rekal on large ledgers, beside ripgrep over transcripts of the
// same sessions and SQLite's FTS5 over the same turns.
//
//	go run ./tests/bench -dir /tmp/bench -data ../shared/data 11k 225k
//
// The ledgers are put together from real sessions (see remix.go), once: a folder a size is
// kept in -dir, with a repository after init, without caches. With -gen nothing is measured. Where
// rg or sqlite3 is missing, its rows say so. What is compared is measured in turns, in one run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "where the ledgers are generated and kept")
	flag.StringVar(&o.data, "data", "../shared/data", "the real sessions")
	flag.StringVar(&o.bin, "bin", "bin", "the folder of the git-rekal that is measured")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each query is asked")
	flag.BoolVar(&o.scale, "scale", false, "measure what a large ledger costs, beside nothing")
	generate := flag.Bool("gen", false, "generate only")
	what := flag.String("child", "", "do one thing in the repository that is named: recall, catch-up or index")
	profile := flag.String("profile", "", "with -child: where to write a CPU profile")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // as a command's
	defer stop()
	var err error
	switch {
	case *what != "":
		err = child(ctx, flag.Arg(0), *what, flag.Arg(1), *profile)
	case *generate:
		err = o.generate(ctx, flag.Args())
	default:
		err = o.measure(ctx, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	dir, data, bin string
	rounds         int
	scale          bool
}

// bench is one size's.
func (o options) bench(size string) (b bench, err error) {
	b = bench{size: size, dir: filepath.Join(o.dir, size)}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return b, err
	}
	b.bin, err = filepath.Abs(o.bin)
	return b, err
}

// generate makes what is not there yet.
func (o options) generate(ctx context.Context, sizes []string) error {
	var sources []source
	for _, size := range sizes {
		b, err := o.bench(size)
		if err != nil {
			return err
		}
		if _, err := os.Stat(b.done()); err == nil {
			continue
		}
		if sources == nil {
			if sources, err = readSources(ctx, o.data); err != nil {
				return err
			}
		}
		if err := b.generate(ctx, sources); err != nil {
			return err
		}
	}
	return nil
}

// measure generates in another process, which takes memory; see asChild.
func (o options) measure(ctx context.Context, sizes []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-gen", "-dir", o.dir, "-data", o.data, "-bin", o.bin}, sizes...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, size := range sizes {
		b, err := o.bench(size)
		if err != nil {
			return err
		}
		counted, err := os.ReadFile(b.done())
		if err != nil {
			return err
		}
		s := scratch{bench: b, table: table{os.Stdout}, rounds: o.rounds}
		if _, err := fmt.Sscanf(string(counted), "%d sessions, %d turns", &s.sessions, &s.turns); err != nil {
			return fmt.Errorf("%s: %w", b.done(), err)
		}
		s.head("%s: %s", size, counted)
		measure := s.measure
		if o.scale {
			measure = s.scale
		}
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}
