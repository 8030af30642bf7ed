// Command rank measures how well search ranks: it indexes a folder's corpus and writes, for
// each query of a file, the ten best documents.
//
//	go run ./tests/rank [--together] CORPUS_DIR QUERIES_FILE OUT.tsv
//
// The corpus is CORPUS_DIR/corpus.jsonl or corpus.jsonl.gz, a document a line; the run is a
// line "qid<TAB>rank<TAB>doc<TAB>score" for each result, without any threshold. Documents and
// queries may carry a group: then each group is an index of its own, and a query is searched in
// its group; --together asks it of all groups at once. Every field but doc, role and text may be missing or null.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-rekal/git-rekal/internal/model"
)

func main() {
	args := os.Args[1:]
	together := len(args) > 0 && args[0] == "--together"
	if together {
		args = args[1:]
	}
	if len(args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: rank [--together] CORPUS_DIR QUERIES_FILE OUT.tsv")
		os.Exit(2)
	}
	weights, err := model.Open(filepath.Join("internal/model", model.File)) // from the module's folder, as `make rank` is
	if err == nil {
		err = run(context.Background(), weights, args[0], args[1], args[2], together)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rank:", err)
		os.Exit(1)
	}
}

// run writes to out what the queries find.
func run(ctx context.Context, weights *model.Model, dir, queries, out string, together bool) error {
	runs, err := rank(ctx, dir, weights, together, queries)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, r := range runs[0] {
		fmt.Fprintf(w, "%s\t%d\t%s\t%.6f\n", r.QID, r.Rank, r.Doc, r.Score)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
