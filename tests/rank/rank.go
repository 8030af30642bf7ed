package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// depth is how many results a query gets.
const depth = 10

// question is a line of a queries file.
type question struct {
	QID, Query, Group string
	file              int // which of the files it stands in
}

// result is a line of a run.
type result struct {
	question
	Rank  int // from 1
	Doc   string
	Score float64
}

// rank indexes the corpus, an index for each group, and asks the questions of some files, each of its group or of all
// of them together, with or without the model that is built in. It returns a run for each file.
func rank(ctx context.Context, dir string, m *model.Model, together bool, queries ...string) ([][]result, error) {
	groups := make(map[string][]harness.Document)
	err := harness.Corpus(dir, func(d harness.Document) { groups[d.Group] = append(groups[d.Group], d) })
	if err != nil {
		return nil, err
	}
	asked := make(map[string][]question)
	var order []string
	for i, path := range queries {
		err := harness.EachLine(path, func(q question) {
			if asked[q.Group] == nil {
				order = append(order, q.Group)
			}
			q.file = i
			asked[q.Group] = append(asked[q.Group], q)
		})
		if err != nil {
			return nil, err
		}
	}
	runs := make([][]result, len(queries))
	ask := func(groups [][]harness.Document, qs []question) error {
		found, err := rankGroups(ctx, m, groups, qs)
		for _, r := range found {
			runs[r.file] = append(runs[r.file], r)
		}
		return err
	}
	if together {
		var all [][]harness.Document
		for _, g := range slices.Sorted(maps.Keys(groups)) { // the first of two results that are as good
			all = append(all, groups[g])
		}
		return runs, ask(all, slices.Concat(slices.Collect(maps.Values(asked))...))
	}
	for _, g := range order {
		if err := ask([][]harness.Document{groups[g]}, asked[g]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// rankGroups asks qs of an index of each group at once.
func rankGroups(ctx context.Context, weights *model.Model, groups [][]harness.Document,
	qs []question,
) (out []result, err error) {
	var all []*index
	defer func() {
		for _, x := range all {
			err = errors.Join(err, x.close())
		}
	}()
	for _, docs := range groups {
		x, err := openIndex(ctx, weights, docs)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	for _, q := range qs {
		found, err := askTogether(ctx, all, q, options(weights))
		if err != nil {
			return nil, err
		}
		for i, r := range found[:min(depth, len(found))] {
			r.Rank = i + 1
			out = append(out, r)
		}
	}
	return out, nil
}

// askTogether asks all indexes at once. The best result of any comes first.
func askTogether(ctx context.Context, all []*index, q question, opt search.Options) ([]result, error) {
	exchange := search.NewExchange(len(all))
	opt.Pool = exchange.Give
	found, failed := make([][]result, len(all)), make([]error, len(all))
	var beside sync.WaitGroup
	for i, x := range all {
		beside.Go(func() {
			defer exchange.Leave()
			found[i], failed[i] = x.ask(ctx, q, opt)
		})
	}
	beside.Wait()
	out := slices.Concat(found...)
	slices.SortStableFunc(out, func(a, b result) int { return cmp.Compare(b.Score, a.Score) })
	return out, errors.Join(failed...)
}

func options(weights *model.Model) search.Options {
	opt := search.Options{K: depth, Weak: true}
	if weights != nil {
		opt.Embed = func(_ context.Context, _, text string) []float32 { return vectors(weights, []string{text})[0] }
	}
	return opt
}

// index is one of some documents.
type index struct {
	*search.Searcher
	names map[string]string // of documents, by session
	close func() error
}

// openIndex keeps docs in a ledger of their own, the way captured sessions go, and opens its index.
func openIndex(ctx context.Context, weights *model.Model, docs []harness.Document) (x *index, err error) {
	dir, err := os.MkdirTemp("", "rekal-rank")
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	repo, err := newRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	names, err := keep(ctx, repo, docs)
	if err != nil {
		return nil, err
	}
	m := &materialize.Materializer{Repo: repo, Dir: dir, Now: time.Now, Warn: func(e error) { err = errors.Join(err, e) }}
	if weights != nil {
		document := func(_ context.Context, texts []string) ([][]float32, error) { return vectors(weights, texts), nil }
		if err := m.Embed(ctx, search.Embedder{Model: model.Name, Batch: 64, Vectors: document}); err != nil {
			return nil, err
		}
	}
	tables, openErr := m.Open(ctx)
	if err := errors.Join(err, openErr); err != nil {
		return nil, err
	}
	s, err := search.Open(ctx, tables.DB)
	if err != nil {
		return nil, err
	}
	return &index{s, names, func() error {
		repo.Close()
		return errors.Join(tables.Close(), remove())
	}}, nil
}

func (x *index) ask(ctx context.Context, q question, opt search.Options) (out []result, err error) {
	answer, err := x.Search(ctx, q.Query, opt)
	for i, h := range answer.Hits {
		out = append(out, result{q, i + 1, x.names[h.Session], h.Score})
	}
	return out, err
}

func vectors(m *model.Model, texts []string) [][]float32 {
	var out [][]float32
	for _, text := range texts {
		vector, err := m.Vector(text)
		if err != nil {
			panic(err) // no memory
		}
		out = append(out, vector)
	}
	return out
}

func newRepository(ctx context.Context, dir string) (*git.Repo, error) {
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	return git.Open(ctx, dir, nil)
}

// keep appends docs to the ledger of the repository, through redaction and segments, and
// returns their names by session ID.
func keep(ctx context.Context, repo *git.Repo, docs []harness.Document) (map[string]string, error) {
	names := make(map[string]string, len(docs))
	sessions := make([]session.Session, len(docs))
	for i, doc := range docs {
		sessions[i] = doc.Session("rank")
		names[sessions[i].ID] = doc.Doc
	}
	entry, _, err := redact.New().Apply(ctx, session.Entry{Sessions: sessions})
	if err != nil {
		return nil, err
	}
	who := git.Signature{Name: "rank", Email: "rank@example.com", When: time.Unix(0, 0)}
	own, err := ledger.OpenOwn(repo, who, rand.Reader)
	if err != nil {
		return nil, err
	}
	_, err = own.Append(ctx, "", []ledger.Record{{Entry: entry, TS: who.When}})
	return names, err
}
