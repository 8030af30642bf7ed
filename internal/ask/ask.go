// Package ask answers questions of one repository: the one road to an answer for the command line, the agents' server,
// the pages and the brief.
//
// In: a workspace and a question. Out: values of package result. Open is the step before a question: it finds the
// moment that is asked about, and brings caches and records up. What a Moment answers after that reads only, but that
// Standing keeps a cache. Nothing is added to a ledger but what a fetch brought of it.
package ask

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Question is a recall with what its reader asks for besides.
type Question struct {
	recall.Request
	Names  []string // IDs or their beginnings; nil: anything
	Purged bool     // also what is purged
	Around int      // turns to read on either side of the one that matched; 0: no texts
	Turn   *int     // read around this one; nil: around the one that matched
	Long   bool     // IDs are shown whole: Found has no Names, which takes all IDs there are
	Quick  bool     // no embedding server is asked, which may take seconds
}

// Found is the answer to a Question.
type Found struct {
	result.Recall
	Names  session.Names // of all IDs, to shorten them; none where Long asked so
	Failed []error       // names that mean nothing, or several things, or what is purged and was not asked for
	Texts  []Text        // of each result; empty where none were asked for
	Notice string        // see Past
}

// Text is what was read of one result: the other one is nil.
type Text struct {
	Session *result.Session
	Memory  *result.Memory
	Turn    int // around which it was read
}

// errLeftOut is why something with a known ID is not among the results.
var errLeftOut = errors.New("its text was scrubbed, or a filter leaves it out")

// Recall answers a question.
func (m *Moment) Recall(ctx context.Context, q Question) (Found, error) {
	var out Found
	if len(q.Query) > recall.MaxQuery { // a copy of it would be made many times
		return out, &name.UsageError{Err: fmt.Errorf("the question has %d KB, and at most %d KB are searched: give the words that matter", len(q.Query)>>10, recall.MaxQuery>>10)}
	}
	// a link or an address, and nothing else
	if ref := session.OnlyRef(q.Query); q.Names == nil &&
		(strings.EqualFold(q.Query, ref.String()) || ref.ID != q.Query && strings.HasPrefix(q.Query, ref.ID)) {
		if q.Names, q.Query = []string{ref.ID}, ""; ref.Turn >= 0 {
			q.Turn, q.Request.Turn = &ref.Turn, &ref.Turn
		}
	}
	if q.Checkpoint, q.Tip = m.Text, m.Tip; q.Verified {
		if err := m.barUnverified(ctx); err != nil {
			return out, err
		}
	}
	err := m.answer(ctx, q, &out)
	if turn := q.Request.Turn; turn != nil && len(out.Results) == 1 && out.Results[0].Turn == nil {
		out.Failed = append(out.Failed, noTurnError(out.Results[0], *turn))
	}
	out.AsOf, out.Notice = m.AsOf, m.Notice
	if err == nil {
		err = m.countSent(ctx, out.Results)
	}
	if err == nil && q.Around > 0 {
		err = out.readTexts(ctx, m.DB, m.w.Repo, q)
	}
	return out, err
}

// countSent counts what remotes are known to have of private sessions.
func (m *Moment) countSent(ctx context.Context, hits []result.Hit) error {
	if !slices.ContainsFunc(hits, func(h result.Hit) bool { return h.Private }) {
		return nil
	}
	unsent, err := unsentCommits(ctx, m.w.Repo)
	if err != nil {
		return err
	}
	for i, h := range hits {
		if !h.Private {
			continue
		}
		hits[i].Sent, err = db.TurnsSent(ctx, m.DB, h.ID, func(c string) bool { return unsent[git.OID(c)] })
		if err != nil {
			return err
		}
	}
	return nil
}

// noTurnError is why a link to a turn shows none.
func noTurnError(h result.Hit, turn int) error {
	if h.Turns == nil {
		return &name.UsageError{Err: fmt.Errorf("%s: a %s has no turn %d", h.ID, h.Kind, turn)}
	}
	return &name.UsageError{Err: fmt.Errorf("turn %d: session %s has %s, 0 to %d", turn, h.ID,
		session.CountNoun(*h.Turns, "turn"), *h.Turns-1)}
}

// answer fills in what is found.
func (m *Moment) answer(ctx context.Context, q Question, out *Found) (err error) {
	if !q.Long || q.Names != nil {
		if out.Names, err = m.DB.Names(ctx); err != nil {
			return err
		}
	}
	// a past state is answered from the ledgers alone, so that each clone gives the same answer
	if q.Now = m.w.Now(); q.Request.Embed == nil && !q.Quick && q.Checkpoint == "" {
		q.Request.Embed = EmbedOnce(m.w.QuestionVector)
	}
	q.Request.History = m.w.Noted()
	q.Files = relativeToRoot(m.w, q.Files)
	if q.Purged {
		q.Request.Purged = db.With
	}
	if q.Names != nil {
		return m.findNamed(ctx, q, out)
	}
	out.Recall, err = m.recallWithRecords(ctx, q.Request)
	return err
}

// findNamed fills in what was asked for by name, in the order of the names; records come first. A query chooses the
// passages.
func (m *Moment) findNamed(ctx context.Context, q Question, out *Found) (err error) {
	numbers, words := records.ParseIDs(q.Names)
	q.IDs, out.Failed = name.CompleteIDs(out.Names, words)
	if out.Recall, err = recall.Recall(ctx, m.DB, m.w.Repo, q.Request); err != nil {
		return err
	}
	if q.Query != "" && out.Total < len(q.IDs) { // what was asked for by name is shown in any case
		q.Query = ""
		if out.Recall, err = recall.Recall(ctx, m.DB, m.w.Repo, q.Request); err != nil {
			return err
		}
	}
	hidden, err := m.PurgedIDs(ctx)
	if err != nil {
		return err
	}
	if q.Purged {
		hidden = m.Barred()
	}
	if err := m.addNumbered(ctx, numbers, hidden, q.Purged, out); err != nil {
		return err
	}
	for _, id := range q.IDs {
		switch {
		case slices.ContainsFunc(out.Results, func(h result.Hit) bool { return h.ID == id }):
		case slices.Contains(m.unverified, id):
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", out.Names.Short(id), errUnverified))
		case slices.Contains(hidden, id):
			out.Failed = append(out.Failed, &PurgedError{ID: out.Names.Short(id)})
		default:
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", out.Names.Short(id), errLeftOut))
		}
	}
	slices.SortStableFunc(out.Results, func(x, y result.Hit) int {
		return slices.Index(q.IDs, x.ID) - slices.Index(q.IDs, y.ID)
	})
	return nil
}

// EmbedOnce asks for the vector of a question once: for sessions and for records, and for several repositories.
func EmbedOnce(embed func(context.Context, string, string) []float32) func(context.Context, string, string) []float32 {
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
func (m *Moment) addNumbered(ctx context.Context, numbers []int, purgedSessions []string, purged bool,
	out *Found,
) error {
	if len(numbers) == 0 {
		return nil
	}
	v, err := m.w.Records().Open(ctx)
	if err != nil {
		return err
	}
	defer v.Close() // nothing was written
	var shown []int
	for _, n := range numbers {
		i := slices.IndexFunc(v.All, func(r records.Record) bool { return r.ID == n })
		err := fmt.Errorf("%d: %w", n, records.ErrNone)
		if i >= 0 {
			err = purgedError(v.All[i], purgedSessions)
		}
		if err == nil || i >= 0 && purged {
			shown = append(shown, n)
		} else {
			out.Failed = append(out.Failed, err)
		}
	}
	hits, err := v.FindByID(ctx, m.w.Repo, shown)
	if err != nil {
		return err
	}
	out.Results, out.Total = append(hits, out.Results...), out.Total+len(hits)
	return nil
}

// relativeToRoot makes absolute paths in this worktree, and paths that begin with "./" or "../", relative to its root.
// It leaves other paths as they are, because they may be the end of a path.
func relativeToRoot(w *workspace.Workspace, paths []string) []string {
	root := w.Repo.Layout().WorkTree
	out := make([]string, len(paths))
	for i, p := range paths {
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsAbs(p) && root != "" && filepath.IsLocal(rel) {
			p = rel
		}
		p = filepath.ToSlash(p)
		if first, _, _ := strings.Cut(p, "/"); first == "." || first == ".." {
			if inside, ok := w.Repo.PathInside(path.Join(p, "x")); ok { // the root itself is nothing inside
				p = path.Dir(inside)
			}
		}
		out[i] = p
	}
	return out
}

// readTexts reads the texts of what was found.
func (f *Found) readTexts(ctx context.Context, index *db.DB, repo *git.Repo, q Question) error {
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
			ID: h.ID, Offset: max(0, at-q.Around), Limit: 2*q.Around + 1, Whole: true, Purged: q.Purged,
			Full:       len(f.Results) == 1,
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
