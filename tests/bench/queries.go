package main

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/git-rekal/git-rekal/tests/history"
)

// query is one of the mix, the same for all systems.
type query struct {
	Kind   string `json:"kind"` // subject, rare, identifier or question
	Text   string `json:"text"`
	File   string `json:"file"` // values for filters
	Author string `json:"author"`
	Commit string `json:"commit"`
}

// perKind is how many queries there are of each kind.
const perKind = 10

// writeQueries makes the mix from steps of the ledger, spread over its time.
func (b bench) writeQueries(ctx context.Context, plan history.Plan, lex *lexicon) error {
	_, out, err := process(b.command(ctx, b.dir, "git", "-C", b.team(), "rev-list", "--reverse", "main"))
	if err != nil {
		return err
	}
	commits := strings.Fields(string(out))
	f, err := os.Create(b.queries())
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 7))
	enc := json.NewEncoder(f)
	for _, kind := range []string{"subject", "rare", "identifier", "question"} {
		for i := 0; i < perKind; {
			author, n := rng.IntN(plan.Authors), (i*plan.Steps+rng.IntN(plan.Steps))/perKind
			step := plan.Step(author, n)
			q := query{Kind: kind, Text: ask(kind, step, lex, rng), File: pattern(step, i), Author: step.Email, Commit: commits[n*plan.Authors+author]}
			if q.Text == "" {
				continue
			}
			err = errors.Join(err, enc.Encode(q))
			i++
		}
	}
	return errors.Join(err, f.Close())
}

// pattern is a value for --file: one file, or many of a folder.
func pattern(step history.Step, i int) string {
	switch {
	case len(step.Files) == 0:
		return `\.go$`
	case i%2 == 0:
		return regexp.QuoteMeta(step.Files[0].Path) + "$"
	}
	dir, _, _ := strings.Cut(step.Files[0].Path, "/")
	return "^" + regexp.QuoteMeta(dir) + "/.*_test"
}

// ask makes a query of a kind from a step; "" where it gives none.
func ask(kind string, step history.Step, lex *lexicon, rng *rand.Rand) string {
	s := step.Sessions[0]
	text := s.Turns[rng.IntN(len(s.Turns))].Content
	switch kind {
	case "subject":
		if words := strings.Fields(step.Subject); len(words) >= 3 {
			return strings.Join(words, " ")
		}
	case "rare":
		return rare(text, lex, 1+rng.IntN(3))
	case "identifier":
		if found := identifier.FindAllString(text, -1); len(found) > 0 {
			return found[rng.IntN(len(found))]
		}
		if calls := s.ToolCalls; len(calls) > 0 {
			if p := path.Base(calls[rng.IntN(len(calls))].Path); len(p) > 3 {
				return p
			}
		}
	case "question":
		if found := sentence.FindAllString(text, -1); len(found) > 0 {
			return "why did we decide that " + strings.ToLower(found[rng.IntN(len(found))])
		}
	}
	return ""
}

var (
	identifier = regexp.MustCompile(`\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+_[a-z_]+\b|\b\w+\.go\b`)
	sentence   = regexp.MustCompile(`\b[A-Za-z]+(?: [a-z]+){5,11}\b`)
)

// rare picks the n words of a text that fewest sources have.
func rare(text string, lex *lexicon, n int) string {
	var out []string
	for range n {
		best, df := "", lex.sources
		eachWord(text, func(w string) {
			w = strings.ToLower(w)
			if d := lex.df[w]; len(w) > 3 && d < df && !strings.Contains(" "+strings.Join(out, " ")+" ", " "+w+" ") {
				best, df = w, d
			}
		})
		if best != "" {
			out = append(out, best)
		}
	}
	return strings.Join(out, " ")
}
