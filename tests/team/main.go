// Command team writes a team that never was into a bare repository: the code that it wrote,
// and everybody's ledger, as git-rekal's own codec writes them. It is for measuring what a
// large team costs.
//
//	git init --bare team.git && go run ./tests/team -authors 200 -sessions 50 team.git
//
// More of the same team, on top of what is there: -first says how many sessions each author
// has already. What is written depends on the flags alone, but for -until, which is now.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	var p plan
	flag.IntVar(&p.authors, "authors", 200, "how many authors")
	flag.IntVar(&p.sessions, "sessions", 50, "how many sessions each has, each with a commit")
	flag.IntVar(&p.first, "first", 0, "how many sessions each has already")
	flag.Uint64Var(&p.seed, "seed", 1, "other numbers give another team")
	until := flag.String("until", time.Now().UTC().Format(time.RFC3339), "when the last session took place")
	flag.Parse()
	var err error
	if p.until, err = time.Parse(time.RFC3339, *until); err == nil && flag.NArg() != 1 {
		err = fmt.Errorf("usage: team [flags] REPOSITORY.git")
	}
	if err == nil {
		err = p.history().Write(context.Background(), flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "team:", err)
		os.Exit(1)
	}
}
