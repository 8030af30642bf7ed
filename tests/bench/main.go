// Command bench measures git-rekal on large ledgers, beside ripgrep over transcripts of the
// same sessions and SQLite's FTS5 over the same turns.
//
//	go run ./tests/bench -dir /tmp/bench -data ../shared/data 11k 225k
//
// The ledgers are put together from real sessions (see remix.go), once: a folder a size is kept in -dir, with a
// repository after init, without caches. With -gen nothing is measured. Where rg or sqlite3 is missing, its rows say
// so. What is compared is measured in turns, in one run. With -ref, the folder of an earlier git-rekal, each row has
// the ratio to that one's.
//
// With -team it writes a team that never was into a bare repository, for measuring what a large team costs, of the
// sessions that the tests have; -first says how many each author has already:
//
//	git init --bare team.git && go run ./tests/bench -team 200x50 -data tests/testdata team.git
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
	flag.StringVar(&o.data, "data", "../shared/data", "the sessions of which others are made")
	flag.StringVar(&o.bin, "bin", "bin", "the folder of the git-rekal that is measured")
	flag.StringVar(&o.ref, "ref", "", "the folder of another git-rekal, to which ratios are printed")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each query is asked")
	flag.BoolVar(&o.scale, "scale", false, "measure what a large ledger costs, beside nothing")
	generate := flag.Bool("gen", false, "generate only")
	team := flag.String("team", "", "write so many authors with so many sessions each: 200x50")
	first := flag.Int("first", 0, "with -team: how many sessions each has already")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // as a command's
	defer stop()
	var err error
	switch {
	case *team != "":
		err = o.writeTeam(ctx, *team, *first, flag.Arg(0))
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
	dir, data, bin, ref string
	rounds              int
	scale               bool
}

// bench is one size's.
func (o options) bench(size string) (b bench, err error) {
	b = bench{size: size, dir: filepath.Join(o.dir, size)}
	if sizes[size] == 0 {
		return b, fmt.Errorf("size %q: 11k, 225k or 1100k turns; 10000-sessions or 100000-sessions", size)
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return b, err
	}
	b.bin, err = filepath.Abs(o.bin)
	return b, err
}

// generate makes what is not there yet.
func (o options) generate(ctx context.Context, sizes []string) error {
	var mix *remix
	for _, size := range sizes {
		b, err := o.bench(size)
		if err != nil {
			return err
		}
		if _, err := os.Stat(b.counted()); err == nil {
			continue
		}
		if mix == nil {
			if mix, err = o.remix(ctx, authors); err != nil {
				return err
			}
		}
		if err := b.generate(ctx, mix); err != nil {
			return err
		}
	}
	return nil
}

func (o options) remix(ctx context.Context, authors int) (*remix, error) {
	sources, err := readSources(ctx, o.data)
	return newRemix(sources, authors), err
}

func (o options) writeTeam(ctx context.Context, size string, first int, repo string) error {
	var authors, steps int
	if _, err := fmt.Sscanf(size, "%dx%d", &authors, &steps); err != nil {
		return fmt.Errorf("-team %s: %w", size, err)
	}
	mix, err := o.remix(ctx, authors)
	if err != nil {
		return err
	}
	return mix.write(ctx, repo, first, steps)
}

// measure generates in another process, which takes memory: this one stays small, because a process begins with the
// peak memory of the one that started it.
func (o options) measure(ctx context.Context, sizes []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-gen", "-dir", o.dir, "-data", o.data, "-bin", o.bin},
		sizes...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, size := range sizes {
		b, err := o.bench(size)
		if err != nil {
			return err
		}
		counted, err := os.ReadFile(b.counted())
		if err != nil {
			return err
		}
		m := measurement{bench: b, rounds: o.rounds, programs: []string{b.bin}}
		if o.ref != "" {
			ref, err := filepath.Abs(o.ref)
			if err != nil {
				return err
			}
			m.programs = append(m.programs, ref)
		}
		if _, err := fmt.Sscanf(string(counted), "%d sessions, %d turns", &m.sessions, &m.turns); err != nil {
			return fmt.Errorf("%s: %w", b.counted(), err)
		}
		head("%s: %s", size, counted)
		if err := m.measure(ctx, o.scale); err != nil {
			return err
		}
	}
	return nil
}
