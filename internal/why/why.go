// Package why tells which sessions stand behind lines of a file.
//
// In: a file and lines, an open index, the repository. Out: a result.Recall, in which the session that explains most
// lines comes first. It asks git for the commits of the lines, and package commits who stands behind these. It reads
// only.
package why

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/question"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Why asks git for the commits of a file's lines, and who stands behind these commits. White space does not count: an
// author who indents a block anew did not write it. The sessions behind a commit, or behind what it was before an amend
// or a rebase, are those that have the file there; where none has, all of them.

// Request asks which sessions stand behind lines of a file.
type Request struct {
	Target string // PATH[:LINE[,LINE]], from the folder in which the repository was opened, or from its root
	// what an editor shows of the file instead of what is saved; nil: as it is saved. Not together with Checkpoint
	Unsaved      *string
	Blames       *Blames // of Unsaved; nil: none are kept
	Limit        int     // 0: all
	recall.Times         // of the sessions that are results

	Checkpoint string  // as in recall.Request: then the file as it was there
	Tip        git.OID // as in recall.Request
}

// Blames keeps what git said of lines; see history.Blames.
type Blames = history.Blames

// ErrNoFile is a path at which no file is.
var ErrNoFile = advice.New("no such file",
	`paths are from here or from the repository's root, lines PATH:LINE or PATH:FIRST,LAST; to search for words, write "git rekal -- why …"`)

// ErrFolder is a path at which a folder is.
var ErrFolder = advice.New("it is a folder",
	`name one of its files; "git rekal --path PATH" finds the sessions of a folder`)

// askedBytes is how much of the lines asked about chooses the passage that a result shows.
const askedBytes = 1000

// Lines answers from the index and the history of the code: which commits brought the lines, and which
// sessions stand behind these, those that explain most lines first.
func Lines(ctx context.Context, index *db.DB, repo *git.Repo, req Request) (result.Recall, error) {
	out := result.Recall{
		Schema: result.Schema, Results: []result.Hit{},
		Filters: result.Filters{Checkpoint: req.Checkpoint},
	}
	span, err := req.Span(repo)
	if err != nil {
		return out, err
	}
	if req.Since != "" || req.Until != "" {
		out.Filters.Since, out.Filters.Until = req.Since, req.Until
		out.When = &result.When{Since: result.Time(span.Since), Until: result.Time(span.Until)}
	}
	commit := git.OID("")
	if req.Checkpoint != "" {
		if commit, err = recall.CodeOf(ctx, index, repo, req.Tip); err != nil {
			return out, err
		}
		if _, err := repo.Commit(commit); commit == "" || err != nil {
			return out, fmt.Errorf("why: the code commit of --checkpoint %q is not here", req.Checkpoint)
		}
	}
	t, err := blameTarget(ctx, repo, commit, req)
	if err != nil {
		return out, err
	}
	w := &answer{index: index, repo: repo, file: t.file, blame: t.Blame, explained: map[string]*explained{}}
	if err := w.explain(ctx); err != nil {
		return out, err
	}
	if req.Checkpoint == "" { // notes know no past moment
		w.readNotes()
	}
	out.Why = w.describe()
	ranked, err := w.rankSessions(ctx)
	if err == nil && span != (question.Span{}) {
		ranked, err = w.keepDuring(ctx, span, ranked)
	}
	if err != nil || len(ranked) == 0 {
		return out, err
	}
	out.Total = len(ranked)
	if req.Limit > 0 && len(ranked) > req.Limit {
		ranked = ranked[:req.Limit]
	}
	out.Results, err = w.makeHits(ctx, req, ranked)
	return out, err
}

// target is a file of the repository, and where its lines come from.
type target struct {
	history.Blame
	file string
}

// blameTarget reads the target and asks git. A file by the whole name counts first: names may hold a colon.
func blameTarget(ctx context.Context, repo *git.Repo, commit git.OID, req Request) (target, error) {
	text := req.Target
	fail := func(err error) (target, error) {
		return target{}, &name.UsageError{Err: fmt.Errorf("why %q: %w", text, err)}
	}
	typed, from, to := text, 0, 0
	if name.LooksLikeLines(text) && !worktree.HasTyped(repo, commit, text) {
		if typed, from, to = name.SplitLines(text); from < 1 || to < from {
			return fail(errors.New("lines are LINE, FIRST,LAST or FIRST,+COUNT, from 1 on"))
		}
	}
	file, ok := repo.PathInside(typed)
	if !ok {
		return fail(errors.New("no file inside of this repository"))
	}
	lines := func(file string) (history.Blame, error) {
		if req.Unsaved != nil {
			return history.BlameUnsaved(ctx, repo, file, *req.Unsaved, from, to, req.Blames)
		}
		return history.BlameFile(ctx, repo, commit, file, from, to)
	}
	b, err := lines(file)
	if root := path.Clean(filepath.ToSlash(typed)); errors.Is(err, git.ErrNotFound) && filepath.IsLocal(typed) &&
		root != file {
		file = root // as answers name it
		b, err = lines(file)
	}
	var short *history.RangeError
	switch {
	case errors.Is(err, git.ErrNotFound) && worktree.IsFolder(repo, commit, file):
		return fail(ErrFolder)
	case errors.Is(err, git.ErrNotFound):
		return fail(ErrNoFile)
	case errors.As(err, &short):
		return fail(short)
	case errors.Is(err, history.ErrBinary):
		return fail(history.ErrBinary)
	case errors.Is(err, history.ErrTooLarge):
		return fail(history.ErrTooLarge)
	}
	return target{b, file}, err
}

// answer is one under way.
type answer struct {
	index     *db.DB
	repo      *git.Repo
	file      string
	blame     history.Blame
	explained map[string]*explained // by session
	hidden    []string              // sessions of which nothing is told
	orphans   []source              // commits with the lines behind which no session is known
}

// source is a commit with the lines that it brought, as offsets into the range.
type source struct {
	history.Origin
	lines []int
	at    []int         // which lines of the file these are in the commit
	notes []result.Note // what other tools noted of them
}

// explained is what a session explains.
type explained struct {
	id      string
	lines   []int
	exact   []int             // of them, those that it is known to have written
	shared  []int             // of them, those that one of several brought
	weight  float64           // the lines, of those that are shared its part
	commits []git.OID         // the one with the most lines first
	kind    session.TieKind   // the strongest of its lines
	by      string            // the evidence of that
	edits   int               // of the file, by its tools
	asked   map[time.Time]int // how many lines it wrote at which time, as anybody says
	turn    int               // where the part begins that was captured at the first of commits; db.First: not known
}

// groupByCommit groups lines by the commit that they come from, the one with the most lines first.
func groupByCommit(origins []history.Origin) []source {
	var out []source
	at := map[history.Origin]int{}
	for i, o := range origins {
		if o.Commit == "" {
			continue
		}
		line := o.Line
		o.Line = 0
		n, ok := at[o]
		if !ok {
			n = len(out)
			at[o], out = n, append(out, source{Origin: o})
		}
		out[n].lines, out[n].at = append(out[n].lines, i), append(out[n].at, line)
	}
	slices.SortStableFunc(out, func(a, b source) int { return cmp.Compare(len(b.lines), len(a.lines)) })
	return out
}

// explain gives each commit's lines to sessions. A purged session keeps its lines: they belong to nobody else.
func (w *answer) explain(ctx context.Context) error {
	hidden, err := db.PurgedIDs(ctx, w.index)
	if err != nil {
		return err
	}
	w.hidden = hidden
	sources := groupByCommit(w.blame.Origins)
	b, err := newClaimFinder(ctx, w.index, w.repo, sources)
	if err != nil {
		return err
	}
	for _, s := range sources {
		claims, err := b.claims(ctx, s)
		if err != nil {
			return err
		}
		b.claimFiller(s, func(line int) string { return w.blame.Text[line] }, claims)
		unexplained := source{Origin: s.Origin}
		for i, line := range s.lines {
			of := slices.DeleteFunc(slices.Clone(claims[i]),
				func(c attribution.Claim) bool { return slices.Contains(hidden, c.Session) })
			if len(of) == 0 {
				unexplained.lines, unexplained.at = append(unexplained.lines, line), append(unexplained.at, s.at[i])
			}
			for _, c := range of {
				w.addCredit(c, line, s.Commit, len(of))
			}
		}
		if unexplained = w.withoutBlankRuns(unexplained); len(unexplained.lines) > 0 {
			w.orphans = append(w.orphans, unexplained)
		}
	}
	return nil
}

// withoutBlankRuns leaves out of a source lines in a row that are all blank, unless nothing else is asked about.
func (w *answer) withoutBlankRuns(s source) source {
	saysSomething := func(text string) bool { return !history.IsBlank(text) }
	if !slices.ContainsFunc(w.blame.Text, saysSomething) {
		return s
	}
	out, next := source{Origin: s.Origin}, 0
	for _, r := range session.RangesOf(s.lines) {
		n := r[1] - r[0] + 1
		if slices.ContainsFunc(w.blame.Text[r[0]:r[1]+1], saysSomething) {
			out.lines = append(out.lines, s.lines[next:next+n]...)
			out.at = append(out.at, s.at[next:next+n]...)
		}
		next += n
	}
	return out
}

// addCredit says that a session explains a line, as one of several.
func (w *answer) addCredit(c attribution.Claim, line int, commit git.OID, several int) {
	e := w.explained[c.Session]
	if e == nil {
		e = &explained{id: c.Session, asked: map[time.Time]int{}, kind: c.Kind, turn: db.First}
		if c.Turn >= 0 {
			e.turn = c.Turn
		}
		w.explained[c.Session] = e
	}
	e.lines, e.weight = append(e.lines, line), e.weight+1/float64(several)
	if c.Exact {
		e.exact = append(e.exact, line)
	}
	if !c.At.IsZero() {
		e.asked[c.At]++
	}
	if several > 1 {
		e.shared = append(e.shared, line)
	}
	if c.Kind < e.kind || e.by == "" {
		e.kind, e.by = min(e.kind, c.Kind), c.Evidence
	}
	if !slices.Contains(e.commits, commit) {
		e.commits = append(e.commits, commit)
	}
}

// rankSessions orders the sessions: who explains most, then by the strongest tie, then who wrote to the file most
// often, then the latest.
func (w *answer) rankSessions(ctx context.Context) ([]*explained, error) {
	if len(w.explained) == 0 {
		return nil, nil
	}
	paths := []string{w.file}
	for _, o := range w.blame.Origins {
		if o.Path != "" && !slices.Contains(paths, o.Path) {
			paths = append(paths, o.Path)
		}
	}
	ids := slices.Collect(maps.Keys(w.explained))
	edits, err := w.index.CountEdits(ctx, ids, paths)
	if err != nil {
		return nil, err
	}
	out := make([]*explained, 0, len(ids))
	for _, id := range ids {
		e := w.explained[id]
		e.edits = edits[id]
		slices.Sort(e.lines)
		slices.Sort(e.exact)
		slices.Sort(e.shared)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *explained) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.kind, b.kind),
			cmp.Compare(b.edits, a.edits), strings.Compare(b.id, a.id))
	})
	return out, nil
}

// keepDuring leaves the sessions that took place in a span.
func (w *answer) keepDuring(ctx context.Context, span question.Span, ranked []*explained) ([]*explained, error) {
	ids := make([]string, len(ranked))
	for i, e := range ranked {
		ids[i] = e.id
	}
	then, err := w.index.MatchingIDs(ctx, db.Filter{IDs: ids, Period: db.Period(span), Purged: db.With})
	return slices.DeleteFunc(ranked, func(e *explained) bool { return !slices.Contains(then, e.id) }), err
}

// promptOf is the prompt that led to what a session wrote: the last one before the edit that most of the lines are of,
// or else before its last edit of the file that the commit may hold. Where it only talked, that is the first prompt of
// what was captured at the commit; where its tie is a guess, its first prompt. It is -1 where none is known.
func (w *answer) promptOf(ctx context.Context, e *explained) (int, error) {
	var at time.Time
	for t, n := range e.asked {
		if c := cmp.Compare(n, e.asked[at]); c > 0 || c == 0 && t.After(at) {
			at = t
		}
	}
	paths := []string{w.file}
	for _, o := range w.blame.Origins {
		paths = append(paths, o.Path)
	}
	if !at.IsZero() {
		return w.index.PromptBefore(ctx, e.id, paths, at)
	}
	if e.kind == session.TieTalked && e.turn >= 0 {
		return e.turn, nil
	}
	if e.kind.IsWeak() {
		_, turn, err := w.firstPurpose(ctx, e.id)
		return turn, err
	}
	c, err := w.repo.Commit(e.commits[0])
	if err != nil {
		return -1, nil //nolint:nilerr // it was just there; somebody else removed it
	}
	return w.index.PromptOfEdit(ctx, e.id, paths, c.Committer.When)
}

// nearestPassages finds the passages of sessions that are nearest to the lines, by session.
func (w *answer) nearestPassages(ctx context.Context, query string) (map[string]search.Hit, error) {
	s, err := search.Open(ctx, w.index)
	if err != nil {
		return nil, err
	}
	nearest, err := s.Search(ctx, query, search.Options{
		Allow: func(id string) bool { return w.explained[id] != nil },
		Weak:  true,
	})
	passages := make(map[string]search.Hit, len(nearest.Hits))
	for _, h := range nearest.Hits {
		passages[h.Session] = h
	}
	return passages, err
}

// makeHits makes the results, each with the prompt that led to the lines, or else with the passage that is nearest to
// them.
func (w *answer) makeHits(ctx context.Context, req Request, ranked []*explained) ([]result.Hit, error) {
	query := strings.Join(w.blame.Text, " ")
	query = strings.ToValidUTF8(query[:min(len(query), askedBytes)], "")
	var passages map[string]search.Hit
	hits := make([]recall.Found, len(ranked))
	for i, e := range ranked {
		hits[i] = recall.Found{
			ID: e.id, Score: e.weight / float64(len(w.blame.Origins)), Turn: e.turn,
			Snippet: recall.SnippetSize, Tie: e.kind, Evidence: e.by,
		}
		turn, err := w.promptOf(ctx, e)
		if err != nil {
			return nil, err
		}
		if turn >= 0 {
			hits[i].Turn, hits[i].Question = turn, true
			continue
		}
		if passages == nil {
			if passages, err = w.nearestPassages(ctx, query); err != nil {
				return nil, err
			}
		}
		if h, ok := passages[e.id]; ok && h.Turn >= 0 { // paths and commands would say nothing new
			hits[i].Turn, hits[i].Read = h.Turn, h.Read
		}
	}
	out, err := recall.FillHits(ctx, w.index, w.repo,
		recall.Request{Query: query, Checkpoint: req.Checkpoint, Tip: req.Tip}, hits)
	for i := range out {
		e := ranked[i]
		out[i].Explains = &result.Explains{
			Lines: len(e.lines), Ranges: w.ranges(e.lines), Exact: w.ranges(e.exact),
			Shared: w.ranges(e.shared),
		}
		for n, id := range e.commits {
			out[i].Explains.Commits = append(out[i].Explains.Commits, result.ShortOID(string(id)))
			if n < maxOrigins {
				out[i].Explains.Origins = append(out[i].Explains.Origins, w.origin(id))
			}
		}
		if err == nil {
			out[i].Asked, out[i].Through, err = w.chain(ctx, e.id)
		}
		if err == nil && out[i].Turn != nil {
			out[i].Explains.Purpose, err = w.purpose(ctx, e.id, *out[i].Turn)
		}
	}
	return out, err
}

// purpose is what the first prompt of a session is for, unless it is the one that is shown.
func (w *answer) purpose(ctx context.Context, id string, shown int) (string, error) {
	text, turn, err := w.firstPurpose(ctx, id)
	if turn == shown {
		return "", err
	}
	return session.Shorten(session.OneLine(text), purposeSize), err
}

// firstPurpose is what the first prompt of a session is for, and which turn that is.
func (w *answer) firstPurpose(ctx context.Context, id string) (string, int, error) {
	turns, err := w.index.Turns(ctx, id, 0, titleTurns, session.RoleHuman)
	text, turn := session.FirstPurpose(turns)
	return text, turn, err
}

// How many prompts are looked at for the one that says what a session is for, and how many characters of it are shown.
const (
	titleTurns  = 8
	purposeSize = 400
)

// How many commits of a session an answer describes, and how many characters it has of a line.
const (
	maxOrigins = 5
	textSize   = 200
)

// describe says which lines were asked about, and which of them no session explains.
func (w *answer) describe() *result.Why {
	out := &result.Why{Path: w.file, From: w.blame.From, To: w.blame.To}
	if len(w.blame.Text) == 1 {
		out.Text = session.Shorten(w.blame.Text[0], textSize)
	}
	var unexplained []int
	for i, o := range w.blame.Origins {
		if o.Commit == "" {
			unexplained = append(unexplained, i)
		}
	}
	out.Uncommitted = w.ranges(unexplained)
	for _, s := range groupByCommit(w.blame.Origins) {
		out.Brought = append(out.Brought, result.Source{
			Origin: result.Origin{Commit: result.ShortOID(string(s.Commit))},
			Ranges: w.ranges(s.lines),
		})
	}
	for _, s := range w.orphans {
		orphan := result.Source{Origin: w.origin(s.Commit), Ranges: w.ranges(s.lines), Cut: s.Cut, Notes: s.notes}
		if c, err := w.repo.Commit(s.Commit); err == nil && !s.Cut {
			orphan.Named = commits.NamedBy(c)
		}
		out.Unexplained = append(out.Unexplained, orphan)
	}
	return out
}

// origin describes a commit, as far as that is here.
func (w *answer) origin(id git.OID) result.Origin {
	out := result.Origin{Commit: result.ShortOID(string(id))}
	if c, err := w.repo.Commit(id); err == nil {
		out.Subject, out.TS, out.Merge = c.Subject(), result.Time(c.Author.When), len(c.Parents) > 1
	}
	return out
}

// ranges are lines, which are in order, as the user counts them.
func (w *answer) ranges(lines []int) (out []result.Range) {
	for _, r := range session.RangesOf(lines) {
		out = append(out, result.Range{r[0] + w.blame.From, r[1] + w.blame.From})
	}
	return out
}
