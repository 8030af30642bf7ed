// Package ask answers questions of one repository: the one road to an answer for the command line, the agents' server, the pages
// and the brief.
//
// In: a workspace and a question. Out: values of package result. It finds the moment that is asked about, opens its index, asks
// recall, and puts records among the results. It writes nothing to the ledger.
package ask

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/recordindex"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Question is a recall with what its reader asks for besides.
type Question struct {
	recall.Request
	Names    []string              // IDs or their beginnings; nil: anything
	Purged   bool                  // also what is purged
	Around   int                   // turns to read on either side of the one that matched; 0: no texts
	Turn     *int                  // read around this one; nil: around the one that matched
	Long     bool                  // IDs are shown whole: Found has no Names, which takes all IDs there are
	Progress func(done, total int) // of bringing the index up, in commits of ledgers; nil: nobody looks
	Ends     bool                  // the process ends with the answer: the system closes the index, which is faster
}

// Found is the answer to a Question.
type Found struct {
	result.Recall
	Names  session.Names // of all IDs, to shorten them; none where Long asked so
	Failed []error       // names that mean nothing, or several things, or what is purged and was not asked for
	Texts  []Text        // of each result; empty where none were asked for
}

// Text is what was read of one result: the other one is nil.
type Text struct {
	Session *result.Session
	Memory  *result.Memory
	Turn    int // around which it was read
}

// errLeftOut is why something with a known ID is not among the results.
var errLeftOut = errors.New("its text was scrubbed, or a filter leaves it out")

// CheckpointError is a moment that can't be asked about.
type CheckpointError struct {
	Text string
	Err  error
}

func (e *CheckpointError) Error() string { return fmt.Sprintf("checkpoint %q: %v", e.Text, e.Err) }

// Unwrap returns the cause.
func (e *CheckpointError) Unwrap() error { return e.Err }

// Memory is first collected at 40 MB, by when the process of nearly every question has ended, and then before it grows beyond lastMemory,
// in bytes: 1.1 million turns need that. What brought the index up before may have needed more.
const (
	lastGC     = 1000
	lastMemory = 64 << 20
)

// Ask answers one question. Unless the process ends with it, nothing is left open.
func Ask(ctx context.Context, w *workspace.Workspace, q Question) (Found, error) {
	var out Found
	if len(q.Query) > recall.MaxQuery { // a copy of it would be made many times
		return out, &recall.UsageError{Err: fmt.Errorf("the question has %d KB, and at most %d KB are searched: give the words that matter", len(q.Query)>>10, recall.MaxQuery>>10)}
	}
	if ref := session.RefIn(q.Query); q.Names == nil && strings.EqualFold(q.Query, ref.String()) { // a link and nothing else
		if q.Names, q.Query = []string{ref.ID}, ""; ref.Turn >= 0 {
			q.Turn = &ref.Turn
		}
	}
	m, err := w.Reader()
	if err != nil {
		return out, err
	}
	m.Progress = q.Progress
	past, err := AsOf(ctx, w, m, q.Checkpoint)
	if err != nil {
		return out, err
	}
	q.Checkpoint, q.Tip = past.Text, past.Tip
	if !q.Purged {
		q.Hidden = past.Hidden
	}
	index, err := past.Tables.Open(ctx)
	if err != nil {
		return out, err
	}
	if q.Ends {
		debug.SetGCPercent(lastGC)
		debug.SetMemoryLimit(lastMemory)
	}
	err = answer(ctx, w, index.DB, q, &out)
	out.AsOf = past.AsOf
	if err == nil && q.Around > 0 {
		err = out.read(ctx, index.DB, w.Repo, q)
	}
	if q.Ends {
		return out, err
	}
	return out, errors.Join(err, index.Close())
}

// Open opens the index for what pages for people are made from besides questions to Ask: brought up to the ledgers, in one state. Close it.
func Open(ctx context.Context, w *workspace.Workspace) (*materialize.Reader, error) {
	m, err := w.Reader()
	if err != nil {
		return nil, err
	}
	return m.Open(ctx)
}

// answer fills in what is found.
func answer(ctx context.Context, w *workspace.Workspace, index *db.DB, q Question, out *Found) error {
	var err error
	if !q.Long || q.Names != nil {
		if out.Names, err = index.Names(ctx); err != nil {
			return err
		}
	}
	q.Request.Embed, q.Now = once(w.Question), w.Now()
	q.Files = belowRoot(w, q.Files)
	if q.Purged {
		q.Request.Purged = db.With
	}
	var numbers []int
	if q.Names != nil {
		numbers, q.Names = records.ParseIDs(q.Names)
		q.IDs, out.Failed = resolve(out.Names, q.Names)
	}
	if out.Recall, err = withRecords(ctx, w, index, q.Request); err != nil {
		return err
	}
	if q.Names != nil && q.Query != "" && out.Total < len(q.IDs) { // what was asked for by name is shown in any case
		q.Query = ""
		if out.Recall, err = withRecords(ctx, w, index, q.Request); err != nil {
			return err
		}
	}
	if err := addNumbered(ctx, w, index, q, numbers, out); err != nil {
		return err
	}
	if q.Names != nil {
		purged, err := db.PurgedIDs(ctx, index)
		if err != nil {
			return err
		}
		for _, id := range q.IDs {
			switch {
			case slices.ContainsFunc(out.Results, func(h result.Hit) bool { return h.ID == id }):
			case !q.Purged && (slices.Contains(purged, id) || slices.Contains(q.Hidden, id)):
				out.Failed = append(out.Failed, &recall.PurgedError{ID: out.Names.Short(id)})
			default:
				out.Failed = append(out.Failed, fmt.Errorf("%s: %w", out.Names.Short(id), errLeftOut))
			}
		}
		slices.SortStableFunc(out.Results, func(x, y result.Hit) int { return slices.Index(q.IDs, x.ID) - slices.Index(q.IDs, y.ID) })
	}
	return nil
}

// once asks for the vector of a question once, for sessions and for records.
func once(embed func(context.Context, string, string) []float32) func(context.Context, string, string) []float32 {
	var mu sync.Mutex
	known := map[[2]string][]float32{}
	return func(ctx context.Context, model, text string) []float32 {
		mu.Lock()
		defer mu.Unlock()
		key := [2]string{model, text}
		if _, ok := known[key]; !ok {
			known[key] = embed(ctx, model, text)
		}
		return slices.Clone(known[key]) // who gets it normalises it
	}
}

// addNumbered puts the records that were asked for by number in front.
func addNumbered(ctx context.Context, w *workspace.Workspace, index *db.DB, q Question, numbers []int, out *Found) error {
	if len(numbers) == 0 {
		return nil
	}
	store, err := w.Records()
	if err != nil {
		return err
	}
	x, err := recordindex.New(store)
	if err != nil {
		return err
	}
	var purged []string
	if !q.Purged {
		if purged, err = db.PurgedIDs(ctx, index); err != nil {
			return err
		}
	}
	var shown []int
	for _, n := range numbers {
		err := fmt.Errorf("%d: %w", n, records.ErrNone)
		if i := slices.IndexFunc(x.All, func(r records.Record) bool { return r.ID == n }); i >= 0 {
			if err = hiddenRecord(x.All[i], purged); err == nil || q.Purged {
				shown = append(shown, n)
				continue
			}
		}
		out.Failed = append(out.Failed, err)
	}
	hits := x.Named(w.Repo, shown)
	out.Results, out.Total = append(hits, out.Results...), out.Total+len(hits)
	return nil
}

func resolve(names session.Names, asked []string) (ids []string, failed []error) {
	ids = []string{}
	for _, name := range asked {
		id, err := names.Find(name)
		switch {
		case err != nil:
			failed = append(failed, err)
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, failed
}

// belowRoot makes paths of this worktree relative to its root: absolute ones, and those that say where they begin ("./x", "../x"). Others
// may be the end of a path.
func belowRoot(w *workspace.Workspace, paths []string) []string {
	root := w.Repo.Layout().WorkTree
	out := make([]string, len(paths))
	for i, p := range paths {
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsAbs(p) && root != "" && filepath.IsLocal(rel) {
			p = rel
		}
		p = filepath.ToSlash(p)
		if first, _, _ := strings.Cut(p, "/"); first == "." || first == ".." {
			if inside, ok := w.Repo.Inside(path.Join(p, "x")); ok { // the root itself is nothing inside
				p = path.Dir(inside)
			}
		}
		out[i] = p
	}
	return out
}

// read reads the texts of what was found.
func (f *Found) read(ctx context.Context, index *db.DB, repo *git.Repo, q Question) error {
	for _, h := range f.Results {
		if h.Kind == recall.KindRecord { // its text is its snippet
			f.Texts = append(f.Texts, Text{})
			continue
		}
		at := 0
		switch {
		case q.Turn != nil:
			at = *q.Turn
		case h.Turn != nil:
			at = *h.Turn
		}
		page := recall.Page{
			ID: h.ID, Offset: max(0, at-q.Around), Limit: 2*q.Around + 1, Whole: true, Purged: q.Purged, Full: len(f.Results) == 1,
			Checkpoint: q.Checkpoint, Tip: q.Tip,
		}
		s, m, err := recall.Item(ctx, index, repo, page)
		if err != nil {
			return err
		}
		f.Texts = append(f.Texts, Text{s, m, at})
	}
	return nil
}
