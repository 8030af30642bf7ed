// Command public asks git-rekal the questions of public sets, through its commands, as a person would. Nothing of these
// sets has a licence that would let it lie here, so each is fetched first:
//
//	git clone --depth 1 https://github.com/snap-research/locomo        # 10 conversations, 272 sessions, 1,986 questions
//	git clone --depth 1 https://github.com/jiayuanz3/SWEContextBench   # 300 transcripts of Claude Code, 76 issue titles
//
//	go run ./tests/rank/public -bin bin locomo locomo
//	go run ./tests/rank/public -bin bin swe SWEContextBench
//
// A session is right if evidence of the question stands in it (LoCoMo), or if it edited a file that the fix of the
// issue changed (SWE-ContextBench; -qrels takes other judgements: lines of question, session and grade). Printed are
// the share of questions whose first result is right, nDCG@10, for LoCoMo also the recall at one session, as its own
// scorer counts it; and of first results how many are strong and wrong, or weak and right.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	bin := flag.String("bin", "bin", "the folder of the git-rekal that is asked")
	qrels := flag.String("qrels", "", "other judgements for swe")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *bin, *qrels, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "public:", err)
		os.Exit(1)
	}
}

// run measures one set.
func run(ctx context.Context, bin, qrels string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: public [-bin DIR] locomo|swe FOLDER")
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	var all []asked
	switch args[0] {
	case "locomo":
		all, err = askLocomo(ctx, bin, args[1])
	case "swe":
		all, err = askSWE(ctx, bin, args[1], qrels)
	default:
		err = fmt.Errorf("%q: neither locomo nor swe", args[0])
	}
	if err == nil {
		printScores(os.Stdout, all)
	}
	return err
}
