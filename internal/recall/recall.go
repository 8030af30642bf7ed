// Package recall answers from the tables: which sessions and memories belong to a question, a file, a commit or a
// person.
//
// In: a query and filters, and open, current databases. Out: the shapes of package result. It never writes, updates or
// prints. The same tables give the same answer, in the same order.
package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// MaxQuery is how many bytes a question may have. Of one that has more than package query reads, beginning and end
// count.
const MaxQuery = 256 << 10

// Request is one question. Filters are ANDed; the zero value asks for the latest sessions.
type Request struct {
	Query    string
	File     string   // RE2, unanchored; a pathspec where that matches nothing
	Commit   string   // any revision, or a prefix of a commit that is gone
	Author   string   // a part of a name or of an e-mail address, in any case
	Actor    string   // session.ActorHuman or ActorAgent
	Agent    string   // one of session.Agents
	Kind     string   // db.KindSession, db.KindMemory, or KindRecord, of which there are none here; "" for all
	Limit    int      // 0: all
	Far      bool     // also what scores far below the best, to fill Limit
	Brief    bool     // the best in Results, the others in More; a Limit has no More
	Path     []string // pathspecs: a session touched a path that they name together
	Verified bool     // nothing but what a key of its author signed: the rest is barred from the index
	Apart    bool     // in a list also those that begin alike each by itself
	Stale    bool     // also which files of the passages are no longer as the sessions left them
	Undone   bool     // also what only answers in turns that a person took back
	Times

	// What only the MCP server asks for.
	IDs     []string // nothing but these, whole; nil: all
	Turn    *int     // without a query: show this turn of each; nil: the first one
	Title   string   // a part of the title, in any case
	Files   []string // paths, or ends or beginnings of paths: of the results that touched one, where there are any
	Snippet int      // how many characters a snippet has; 0: SnippetSize

	prefer map[string]bool // sessions of a time that comes first; nil: none

	Purged  db.Purged // what to do with what is purged
	Without []string  // is left out, too, in order

	Checkpoint string  // names the moment whose tables are asked; "" for now
	Tip        git.OID // of that moment: the commit of one's own ledger; "" where there is none

	// Embed and Pool are those of search.Options.
	Embed func(ctx context.Context, model, text string) []float32
	Pool  func(search.Pool) search.Pool

	History history.Memory // of walks; nil for none
}

// KindRecord is the kind of what other packages know: records of what commands printed.
const KindRecord = "record"

// SnippetSize is how much of the best passage a result shows, in characters.
const SnippetSize = 240

// Recall answers a request from the index.
func Recall(ctx context.Context, index *db.DB, repo *git.Repo, req Request) (result.Recall, error) {
	out := result.Recall{Schema: result.Schema, Query: req.Query, Results: []result.Hit{}, Filters: filtersOf(req)}
	a, err := readTimes(repo, req)
	if err != nil {
		return out, err
	}
	open := search.Open
	if req.Purged != db.Without {
		open = search.OpenWithHidden
	}
	var filter db.Filter
	var rev attribution.Revisions
	var s *search.Searcher
	err = runParallel( // git is asked for the names of files
		func() (err error) {
			filter, rev, out.Filters.FileAsPath, err = filterOf(ctx, index, repo, req)
			return err
		},
		func() (err error) {
			if req.Query != "" { // a list searches nothing
				s, err = open(ctx, index)
			}
			return err
		})
	if err != nil {
		return out, err
	}
	hits, err := a.answers(ctx, index, repo, s, filter)
	if err != nil {
		return out, err
	}
	req.Query, out.When, out.Unknown = a.Words, a.When, a.unknown
	if a.Latest {
		out.Order = result.Latest
	}
	if req.Commit != "" {
		if err := tellOfCommit(ctx, index, repo, hits, rev, req, &out); err != nil {
			return out, err
		}
	}
	if hits, out.Filters.Files, err = touchingFiles(ctx, index, req.Files, hits); err != nil {
		return out, err
	}
	if req.IDs == nil {
		if hits, err = foldSuperseded(ctx, index, filter, hits); err != nil {
			return out, err
		}
	}
	out.Total = len(hits)
	if req.Query == "" && req.IDs == nil && req.Title == "" && !req.Apart {
		if hits, err = foldAlike(ctx, index, hits); err != nil {
			return out, err
		}
	}
	if len(hits) == 0 {
		return out, nil
	}
	err = fillResults(ctx, index, repo, req, hits, &out)
	return out, err
}

// fillResults fills in those of the hits that are shown, and mentions others.
func fillResults(ctx context.Context, index *db.DB, repo *git.Repo, req Request, hits []Found,
	out *result.Recall,
) (err error) {
	if hits, out.More, err = splitShown(ctx, index, req, hits); err != nil {
		return err
	}
	for i := range hits {
		hits[i].Snippet = cmp.Or(req.Snippet, SnippetSize)
	}
	if out.Results, err = FillHits(ctx, index, repo, req, hits); err != nil {
		return err
	}
	if req.Query != "" {
		freshFirst(out.Results)
	}
	if req.Purged != db.Without {
		err = markPurged(ctx, index, out.Results)
	}
	if req.Undone {
		err = cmp.Or(err, markUndone(ctx, index, out.Results))
	}
	return cmp.Or(err, markPrivate(ctx, index, out.Results))
}

// splitShown are the hits that are shown whole, and what is only mentioned of the others.
func splitShown(ctx context.Context, index *db.DB, req Request,
	hits []Found,
) (shown []Found, more []result.Mention, err error) {
	n, brief := len(hits), req.Brief && req.Limit == 0
	switch {
	case req.Limit > 0:
		n = min(n, req.Limit)
	case brief:
		n = howManyShown(hits)
	}
	if req.Query != "" {
		if hits, n, err = balanceAuthors(ctx, index, hits, n, brief); err != nil {
			return nil, nil, err
		}
	}
	if brief {
		most := result.MaxMore
		if hits[0].weak {
			most = runnersUp
		}
		more, err = titlesOf(ctx, index, hits[n:min(len(hits), n+most)])
	}
	return hits[:n], more, err
}

// filtersOf repeats the filters of a request.
func filtersOf(req Request) result.Filters {
	return result.Filters{
		File: req.File, Path: req.Path, Commit: req.Commit, Checkpoint: req.Checkpoint, Author: req.Author, Actor: req.Actor,
		Agent: req.Agent, Kind: req.Kind,
		Since: req.Since, Until: req.Until, Verified: req.Verified, Undone: req.Undone,
	}
}

func markPurged(ctx context.Context, index *db.DB, hits []result.Hit) error {
	purged, err := db.PurgedIDs(ctx, index)
	for i, h := range hits {
		hits[i].Purged = inOrderedList(purged, h.ID)
	}
	return err
}

// markUndone marks what answers in a turn that a person took back.
func markUndone(ctx context.Context, index *db.DB, hits []result.Hit) error {
	undone, err := index.Undone(ctx)
	for i, h := range hits {
		hits[i].Undone = h.Turn != nil && session.InSpans(undone[h.ID], *h.Turn)
	}
	return err
}

func markPrivate(ctx context.Context, index *db.DB, hits []result.Hit) error {
	private, err := db.PrivateIDs(ctx, index)
	for i, h := range hits {
		hits[i].Private = inOrderedList(private, h.ID)
	}
	return err
}

// filterOf also returns what --commit stands for, and whether --file was taken as a pathspec.
func filterOf(ctx context.Context, index *db.DB, repo *git.Repo,
	req Request,
) (f db.Filter, of attribution.Revisions, asPath bool, err error) {
	f = db.Filter{Actor: req.Actor, Agent: req.Agent, Kind: req.Kind, Purged: req.Purged, IDs: req.IDs, Title: req.Title}
	if f.Paths, asPath, err = pathsAsked(ctx, index, repo, req); err != nil {
		return f, of, false, err
	}
	if req.Author != "" {
		if f.Authors, err = authorsLike(ctx, index, repo, req.Author); err != nil {
			return f, of, false, err
		}
	}
	if req.Actor != "" && req.Actor != session.ActorHuman && req.Actor != session.ActorAgent {
		return f, of, asPath, name.WrongFilter("actor", fmt.Errorf(`%q: neither "human" nor "agent"`, req.Actor))
	}
	if err := checkAgent(ctx, index, req.Agent); err != nil {
		return f, of, asPath, err
	}
	if kinds := []string{"", db.KindSession, db.KindMemory, KindRecord}; !slices.Contains(kinds, req.Kind) {
		return f, of, asPath, name.WrongFilter("kind",
			fmt.Errorf(`%q: neither "session" nor "memory" nor "record"`, req.Kind))
	}
	if req.Commit != "" {
		of, err = commits.FindRevisions(ctx, index, repo, req.Commit)
		f.Commits = of.Commits()
	}
	return f, of, asPath, err
}

// checkAgent refuses a name that no session has as its source, and that is none of an agent that is read.
func checkAgent(ctx context.Context, index *db.DB, agent string) error {
	known := session.Agents()
	if agent == "" || slices.Contains(known, agent) {
		return nil
	}
	if ok, err := index.HasSource(ctx, agent); ok || err != nil {
		return err
	}
	return name.WrongFilter("agent", fmt.Errorf("%q: unknown agent; known are %s", agent, strings.Join(known, ", ")))
}

// Found is one session or memory with why it was found.
type Found struct {
	ID       string
	Score    float64
	Turn     int             // db.First: the first one, whichever that is; -1: no turn of its own
	Question bool            // Turn is the prompt that led to the lines of package why
	Read     []string        // what misspelt words of the query were read as
	Tie      session.TieKind // how --commit or why tie it; 0 where nobody asks
	Evidence string          // of Tie
	Snippet  int             // how many characters are shown of it

	matched []string
	next    int    // the turn that has most of the question beside Turn, where matched says that one was asked; -1: none
	passage string // what else the snippet is from: search.MatchedFiles or MatchedCommand
	weak    bool
	alike   int // others that begin so, and are not in the list
	memory  bool
	best    float64 // the score of the best session, also of other repositories that are asked
	lines   int     // how many of the lines that --commit brought it wrote
}

// isByTitleAlone reports whether nothing but the title answers.
func (f Found) isByTitleAlone() bool { return f.Turn == -1 && f.passage == search.MatchedContent }

// correctedQuery is a query, with what misspelt words of it were read as.
func (f Found) correctedQuery(query string) string {
	return strings.Join(append([]string{query}, f.Read...), " ")
}

// rank ranks what passes the filter; without a query, the latest come first. Unknown are words of the query that stand
// nowhere.
func rank(ctx context.Context, index *db.DB, repo *git.Repo, s *search.Searcher, req Request,
	filter db.Filter,
) (hits []Found, unknown []string, err error) {
	var allow func(string) bool
	filtered := filter.Paths != nil || filter.Commits != nil || filter.Authors != nil || filter.Actor != "" ||
		filter.Agent != "" || filter.Kind != "" ||
		filter.IDs != nil || filter.Title != "" || filter.Period != (db.Period{}) || filter.Purged == db.Only ||
		len(req.Without)+len(index.Barred()) > 0
	if filtered || req.Query == "" {
		ids, err := index.MatchingIDs(ctx, filter)
		if err != nil {
			return nil, nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return inOrderedList(req.Without, id) })
		if req.Query == "" {
			turn := db.First
			if req.Turn != nil {
				turn = *req.Turn
			}
			for _, id := range ids {
				hits = append(hits, Found{ID: id, Turn: turn})
			}
			return hits, nil, nil
		}
		set := setOf(ids)
		allow = func(id string) bool { return set[id] }
	}
	made, known, err := sessionsNamed(ctx, index, repo, req.Query)
	if err != nil {
		return nil, nil, err
	}
	answer, err := s.Search(ctx, req.Query, search.Options{
		Allow: allow, Named: func(id string) bool { return made[id] }, Prefer: func(id string) bool { return req.prefer[id] },
		Embed: req.Embed, Pool: req.Pool, Far: req.Far,
	})
	if err != nil {
		return nil, nil, err
	}
	out := make([]Found, len(answer.Hits))
	for i, h := range answer.Hits {
		out[i] = Found{
			ID: h.Session, Score: h.Score, matched: h.Matched, Turn: h.Turn, next: h.Next, passage: h.Passage,
			Read: h.Read, weak: h.Weak, memory: h.Memory, best: h.Best,
		}
	}
	if req.Purged == db.Without && !req.Undone {
		out, err = withoutUndone(ctx, index, out)
	}
	return out, wordsBesideIDs(answer.Unknown, req.Query, known), err
}

// withoutUndone leaves out what only answers in turns that a person took back.
func withoutUndone(ctx context.Context, index *db.DB, hits []Found) ([]Found, error) {
	undone, err := index.Undone(ctx)
	if len(undone) == 0 {
		return hits, err
	}
	kept := hits[:0]
	for _, h := range hits {
		spans := undone[h.ID]
		if session.InSpans(spans, h.next) {
			h.next = -1
		}
		if session.InSpans(spans, h.Turn) {
			h.Turn, h.next = h.next, -1
			if h.Turn < 0 {
				continue
			}
		}
		kept = append(kept, h)
	}
	return kept, nil
}

// inOrderedList reports whether an ID is among those of a list in order.
func inOrderedList(ids []string, id string) bool {
	_, found := slices.BinarySearch(ids, id)
	return found
}

// setOf is a list as a set.
func setOf(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func idsOf(hits []Found) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.ID
	}
	return out
}

// FillHits fills in what a result says of each session.
func FillHits(ctx context.Context, index *db.DB, repo *git.Repo, req Request, hits []Found) ([]result.Hit, error) {
	var facets map[string]db.Facet
	var signed map[string]session.Trust
	var became map[attribution.Commit]string
	var states map[string]string
	var stale map[string][]result.File
	var shown []passage
	// A third of the time that a recall takes: git looks at files, and texts are cut, while the index is read.
	err := runParallel(
		func() (err error) {
			if facets, err = index.Facets(ctx, idsOf(hits)); err != nil {
				return err
			}
			return runParallel(
				func() (err error) { became, err = index.BecameAtLast(ctx, commitsOf(facets)); return err },
				func() (err error) { states, stale, err = freshnessOf(ctx, index, repo, req, facets); return err })
		},
		func() (err error) {
			if shown, err = passages(ctx, index, hits); err == nil {
				signed, err = index.Trust(ctx, idsOf(hits))
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	snippets, missing, lost, err := snippetsAndGone(ctx, index, repo, req, hits, shown, facets,
		latestCommits(facets, became, hits[:min(len(hits), maxLooked)]))
	if err != nil {
		return nil, err
	}
	out := make([]result.Hit, len(hits))
	for i, h := range hits {
		out[i] = hitOf(facets[h.ID], h)
		out[i].Signature = signed[h.ID].String()
		out[i].Commits, out[i].Missing = shownCommits(became, facets[h.ID], missing, lost)
		out[i].Freshness = cmp.Or(states[h.ID], result.Unverifiable)
		switch {
		case out[i].Kind == db.KindMemory: // has no turns to ask for
			out[i].Snippet = snippets[i]
			// its title alone has the words: both are one unit
			if !search.SharesTerm(shown[i].text, h.correctedQuery(req.Query)) {
				out[i].Matched = slices.DeleteFunc(out[i].Matched, func(m string) bool { return m == search.MatchedContent })
			}
		case !h.isByTitleAlone():
			out[i].Turn, out[i].Role, out[i].Snippet = shown[i].turn, shown[i].role, snippets[i]
			out[i].TurnAt = result.Time(shown[i].at)
		}
		out[i].Address = result.Address(out[i].ID, out[i].Turn)
		if req.Query != "" && i < maxLooked {
			out[i].LedTo = ledTo(repo, became, facets[h.ID], func(id git.OID) bool { return missing[id] || lost[id] },
				shown[i].at)
		}
		if req.Stale {
			if out[i].Stale, err = staleInPassage(ctx, index, out[i], stale[h.ID]); err != nil {
				return nil, err
			}
		}
	}
	return out, cmp.Or(markStates(ctx, index, out), markReverted(ctx, repo, req, facets, became, out),
		addNotes(ctx, index, repo, req, out))
}

// snippetsAndGone cuts what is shown of hits, while the history is walked for commits: which are missing, and to which
// no branch leads.
func snippetsAndGone(
	ctx context.Context, index *db.DB, repo *git.Repo, req Request, hits []Found, shown []passage,
	facets map[string]db.Facet, commits []git.OID,
) (snippets []string, missing, lost map[git.OID]bool, err error) {
	snippets = make([]string, len(hits))
	err = runParallel(
		func() (err error) {
			missing = repo.MissingObjects(commits)
			lost, err = history.Unreached(ctx, repo, commits, req.History)
			return err
		},
		func() error {
			if req.Query != "" {
				if err := besideTitles(ctx, index, hits, facets, shown, req.Query); err != nil {
					return err
				}
			}
			for i, h := range hits {
				snippets[i] = shown[i].snippet(req.Query, facets[h.ID].Title, h)
			}
			return nil
		})
	return snippets, missing, lost, err
}

func commitsOf(facets map[string]db.Facet) []string {
	var out []string
	for _, f := range facets {
		out = append(out, f.Commits...)
	}
	return out
}

// runParallel runs steps at once.
func runParallel(steps ...func() error) error {
	done := make(chan error, len(steps))
	for _, step := range steps {
		go func() { done <- step() }()
	}
	var err error
	for range steps {
		err = cmp.Or(err, <-done)
	}
	return err
}

// maxLooked is of how many results the commits are looked for in the clone.
const maxLooked = 100

// latestCommits are the commits behind results, as they are now.
func latestCommits(facets map[string]db.Facet, became map[attribution.Commit]string, hits []Found) (out []git.OID) {
	for _, h := range hits {
		for _, sha := range facets[h.ID].Commits {
			out = append(out, git.OID(latestForm(became, facets[h.ID], sha)))
		}
	}
	return out
}

// latestForm is what a commit of a session became.
func latestForm(became map[attribution.Commit]string, f db.Facet, sha string) string {
	return cmp.Or(became[attribution.Commit{Email: strings.ToLower(f.Email), SHA: sha}], sha)
}

// shownCommits are the commits behind a session, those in front that this clone has, and the others; none that no
// branch leads to.
func shownCommits(became map[attribution.Commit]string, f db.Facet, missing,
	lost map[git.OID]bool,
) (all, elsewhere []string) {
	for _, sha := range f.Commits {
		sha := latestForm(became, f, sha)
		if lost[git.OID(sha)] {
			continue
		}
		in := &all
		if missing[git.OID(sha)] {
			in = &elsewhere
		}
		if short := result.ShortOID(sha); !slices.Contains(*in, short) {
			*in = append(*in, short)
		}
	}
	return append(all, elsewhere...), elsewhere
}

// roundScore is a score as it is shown.
func roundScore(score float64) float64 { return math.Round(score*1e4) / 1e4 }

func hitOf(f db.Facet, h Found) result.Hit {
	out := result.Hit{
		ID: h.ID, Kind: f.Kind, Score: roundScore(h.Score), Matched: h.matched, Weak: h.weak, Tie: h.Tie.String(),
		Evidence: h.Evidence, Inferred: h.Tie.IsWeak(), Title: f.Title,
		Alike: h.alike, Author: f.Email, Actor: f.ActorType, Source: f.Source, Facts: f.Facts, Branch: f.Branch,
		CapturedAt: result.Time(f.CapturedAt), Checkpoint: result.ShortOID(f.Checkpoint),
		Files: f.Shown, FilesTotal: f.Files,
	}
	if h.lines > 0 {
		out.Explains = &result.Explains{Lines: h.lines}
	}
	if f.Kind == db.KindSession {
		out.StartedAt = result.Time(f.Started)
		out.LastTurnAt, out.Turns, out.ToolCalls = result.Time(f.Latest), &f.Turns, &f.Tools
	}
	return out
}
