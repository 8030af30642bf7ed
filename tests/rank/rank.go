package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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

// document is a line of the corpus.
type document struct {
	Doc, Group, Title, Start, Branch string
	Turns                            []struct{ Role, Text string }
	FilesEdited                      []string `json:"files_edited"`
	FilesRead                        []string `json:"files_read"`
	Cmds                             []string
}

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

// rank indexes the corpus, an index for each group, and asks the questions of some files, each of its group or of all of them together, with or
// without the model that is built in. It returns a run for each file.
func rank(ctx context.Context, dir string, m *model.Model, together bool, queries ...string) ([][]result, error) {
	groups := make(map[string][]document)
	err := harness.EachLine(corpusFile(dir), func(d document) { groups[d.Group] = append(groups[d.Group], d) })
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
	note := func(found []result) {
		for _, r := range found {
			runs[r.file] = append(runs[r.file], r)
		}
	}
	if together {
		found, err := rankTogether(ctx, m, groups, slices.Concat(slices.Collect(maps.Values(asked))...))
		note(found)
		return runs, err
	}
	for _, g := range order {
		found, err := rankGroup(ctx, m, groups[g], asked[g])
		if err != nil {
			return nil, err
		}
		note(found)
	}
	return runs, nil
}

func corpusFile(dir string) string {
	path := filepath.Join(dir, "corpus.jsonl")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path + ".gz"
	}
	return path
}

// rankGroup asks qs of an index of docs.
func rankGroup(ctx context.Context, weights *model.Model, docs []document, qs []question) (out []result, err error) {
	x, err := openIndex(ctx, weights, docs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	for _, q := range qs {
		found, err := x.ask(ctx, q, options(weights))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// rankTogether asks qs of an index of each group at once.
func rankTogether(ctx context.Context, weights *model.Model, groups map[string][]document, qs []question) (out []result, err error) {
	var all []*index
	defer func() {
		for _, x := range all {
			err = errors.Join(err, x.close())
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		x, err := openIndex(ctx, weights, groups[name])
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
func openIndex(ctx context.Context, weights *model.Model, docs []document) (x *index, err error) {
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
func keep(ctx context.Context, repo *git.Repo, docs []document) (map[string]string, error) {
	names := make(map[string]string, len(docs))
	sessions := make([]session.Session, len(docs))
	for i, doc := range docs {
		sessions[i] = doc.session()
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

// session makes a session of a document.
func (d document) session() session.Session {
	start, err := time.Parse(time.RFC3339, d.Start)
	if err != nil {
		start = time.Unix(0, 0)
	}
	s := session.Session{
		ID: session.NewID(start, "rank", d.Doc), Source: "rank", NativeID: d.Doc,
		ActorType: session.ActorHuman, Branch: d.Branch, Title: d.Title, StartedAt: start,
	}
	for i, t := range d.Turns {
		role := session.RoleAssistant
		if t.Role == "user" || t.Role == session.RoleHuman {
			role = session.RoleHuman
		}
		s.Turns = append(s.Turns, session.Turn{Index: i, Role: role, TS: start, Content: t.Text})
	}
	call := func(tool, path, cmd string) {
		s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: len(s.ToolCalls), Turn: -1, Tool: tool, Path: path, Cmd: cmd})
	}
	for _, p := range d.FilesEdited {
		call("Edit", p, "")
	}
	for _, p := range d.FilesRead {
		call("Read", p, "")
	}
	for _, c := range d.Cmds {
		call("Bash", "", c)
	}
	return s
}
