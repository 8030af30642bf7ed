// Package capture brings what coding agents recorded into the ledger. It locates the transcripts of this repository,
// decodes what is new, redacts it, and appends it with its code commit. Save, Purge and Restore append what a person
// said on purpose (note.go).
//
// In: a repository, its ledger, the agents' stores. Out: at most one ledger commit a checkpoint, and none when nothing
// is new.
//
// Promises: a turn is stored exactly once, however often and by however many processes its transcript is read; a
// transcript that lags behind the commit is completed by the next capture; an unreadable file is a warning and stops
// nothing else; only new bytes of a growing transcript are read.
//
// It touches git and the database of state (state.go). It never opens the index or writes to a transcript.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Capturer captures for one repository. Every field is needed, but for those from Actor
// on. A capture reads it and changes nothing in it.
type Capturer struct {
	Repo     *git.Repo
	Ledger   *ledger.Ledger
	Redactor *redact.Redactor
	Agents   []transcript.Agent
	Home     string              // the user's home directory
	Getenv   func(string) string // the process's environment
	Email    string              // the checkpoint's user
	CacheDir string              // .git/rekal
	Now      func() time.Time
	// session.ActorHuman or ActorAgent for every session; "" lets the transcript decide
	Actor    string
	CI       bool                     // nobody sits at the keyboard
	Without  Excluded                 // what is not captured
	Private  Private                  // what is stored in a ledger that is never sent
	Notes    Notes                    // what agents noted in files
	NameRepo func(root string) string // transcript.Options.NameRepo
	Hold     Hold                     // nil: nobody decides meanwhile
	From     []string                 // absolute former paths of the worktree, whose transcripts count, too
	Progress Progress                 // nil: nobody looks
	Stated   Stated                   // what an import's source says of code commits; nil: nothing
	// how many new bytes of transcripts to read at most, the latest files first; 0: all
	Budget int64
	Round  Round                        // how much is in memory at once
	Caller func(context.Context) string // the command line of the git that runs the hook; nil: none does
	// how many ledger commits that the cache does not know are read; if there are more, ErrBehind; 0: all
	MaxBehind int
}

// Hold keeps what the user decided, Without and Private, as it is until release is called. Where that has changed it
// brings the Capturer up, and returns git.ErrMoved.
type Hold func(context.Context) (release func() error, err error)

// Private are the sessions that are captured, but never sent.
type Private struct {
	Ledger   *ledger.Ledger      // of private sessions; nil if there is none
	Sessions []session.NativeRef // these, what they spawned, and what was forked from them
}

// Stated tells which sessions made a code commit, as the source of an import says. A reference without a source names a
// session of any agent.
type Stated func(git.Commit) []session.NativeRef

// Progress is called with how far a step of a capture is. total grows when the transcripts of a further agent are
// found.
type Progress func(step string, done, total int)

// The steps of a capture that may take long, in their order.
const (
	Reading   = "reading transcripts"
	Comparing = "comparing commits"
	Storing   = "storing"
)

func (p Progress) report(step string, done, total int) {
	if p != nil {
		p(step, done, total)
	}
}

// Round bounds what is in memory at once, in bytes. A zero is the usual bound.
type Round struct {
	Kept  int   // new text; when it is exceeded, the rest is left to another round
	Piece int64 // bytes read of one transcript; the rest is read in another round, as if the file had grown
}

// The usual bounds. A piece is more than the longest line that is read.
const (
	maxKept  = 12 << 20
	maxPiece = 24 << 20
)

// Outcome is what one capture stored.
type Outcome struct {
	Tip         git.OID // the ledger's new tip; "" when nothing was new
	Sessions    int     // sessions with new turns, tool calls or titles
	Turns       int
	ToolCalls   int
	Notes       int // sections of agents' notes
	Checkpoints int
	Links       int             // sessions tied to commits without new turns
	Tied        map[string]bool // code commits behind which sessions stand now
	Redacted    map[string]int  // replaced places, by rule
	Skipped     int             // transcript lines that could not be read
	SkippedIn   []string        // the transcripts that hold them
	Elsewhere   map[string]int  // by folder: sessions that were left out because they were held in another repository
	Agents      map[string]int  // sessions by their source
	Warnings    []error         // transcripts that could not be read, or the cache not written

	ids map[string]string // session ID → source
}

// Errors that callers decide on.
var (
	ErrNoLedger = advice.New("no ledger", `run "git rekal init"`)
	ErrBusy     = advice.New("the ledger keeps moving", "try again in a moment")
	ErrBehind   = errors.New("much of the ledger was not read yet")
)

// maxAttempts is how often a capture tries to move the ledger's ref. Each time it fails, another process
// has moved the ref.
const maxAttempts = 50

// Run captures what is new and ties it to HEAD, for the reason via (one of session's Via
// constants). Rewrites are code commits that became others: those whose old commit the
// ledger knows are recorded.
func (c *Capturer) Run(ctx context.Context, via string, rewrites []session.Rewrite) (Outcome, error) {
	if via == session.ViaCommit {
		c.awaitCopilot(ctx)
	}
	return c.captureInRounds(ctx, c.Agents, func(g *collector) ([]session.Entry,
		error,
	) {
		drafts, err := g.planCapture(ctx, via, rewrites)
		return g.withNotes(ctx, drafts, err)
	})
}

// RecordArrived records which lines sessions wrote in commits that came from elsewhere (a pull). It captures no turns.
func (c *Capturer) RecordArrived(ctx context.Context) (Outcome, error) {
	return c.captureInRounds(ctx, nil, func(g *collector) ([]session.Entry, error) {
		wrote, err := g.wroteInArrived(ctx, comparedRange{limit: commitsAtMerge})
		return wroteEntries(wrote), err
	})
}

// Import captures everything that the agents recorded so far, and ties each session to
// the commits that it plausibly made.
func (c *Capturer) Import(ctx context.Context) (Outcome, error) {
	return c.captureInRounds(ctx, c.Agents, func(g *collector) ([]session.Entry, error) {
		drafts, err := g.planImport(ctx)
		return g.withNotes(ctx, drafts, err)
	})
}

// captureInRounds captures in rounds, so that memory is bounded: a round keeps so much new text, and reads so much
// of one transcript (Round). Mostly there is one round. What a round stored stays if a later one fails.
func (c *Capturer) captureInRounds(ctx context.Context, agents []transcript.Agent,
	plan func(*collector) ([]session.Entry, error),
) (Outcome, error) {
	var all Outcome
	r := newSharedByRounds(Round{Kept: cmp.Or(c.Round.Kept, maxKept), Piece: cmp.Or(c.Round.Piece, maxPiece)})
	r.learned = c.Budget > 0 // a hook has no time for learnSecrets
	for more := true; more; {
		var g *collector
		err := c.retryWhenOvertaken(func() (err error) {
			if g, err = c.beginRound(ctx, r, c.MaxBehind); err != nil {
				return err
			}
			g.agents = agents
			return g.captureRound(ctx, plan)
		})
		if err != nil {
			return all, err
		}
		all.add(g.out)
		more = g.moreLeft
	}
	return all, nil
}

// retryWhenOvertaken calls once, and again while other processes move the ledger's ref in between.
func (c *Capturer) retryWhenOvertaken(once func() error) error {
	for range maxAttempts {
		before, err := c.Ledger.Tip()
		if err == nil {
			err = once()
		}
		if !errors.Is(err, git.ErrMoved) && !c.isLostToScrub(before, err) {
			return err
		}
	}
	return fmt.Errorf("capture: %w: gave up after %d tries", ErrBusy, maxAttempts)
}

// isLostToScrub reports whether an object was not found because a scrub removed it at the same time.
func (c *Capturer) isLostToScrub(before git.OID, err error) bool {
	if !errors.Is(err, git.ErrNotFound) {
		return false
	}
	now, err := c.Ledger.Tip()
	return err == nil && now != before
}

// add adds the outcome of a later round.
func (o *Outcome) add(more Outcome) {
	if more.Tip != "" {
		o.Tip = more.Tip
	}
	o.countSessions(more.ids)
	o.Turns += more.Turns
	o.ToolCalls += more.ToolCalls
	o.Notes += more.Notes
	o.Checkpoints += more.Checkpoints
	o.Links += more.Links
	for sha := range more.Tied {
		o.addTied(sha)
	}
	o.Skipped += more.Skipped
	for _, path := range more.SkippedIn {
		if !slices.Contains(o.SkippedIn, path) { // a long transcript is read in several rounds
			o.SkippedIn = append(o.SkippedIn, path)
		}
	}
	o.Warnings = append(o.Warnings, more.Warnings...)
	addCounts(&o.Elsewhere, more.Elsewhere)
	addCounts(&o.Redacted, more.Redacted)
}

func (o *Outcome) addTied(sha string) {
	if o.Tied == nil {
		o.Tied = map[string]bool{}
	}
	o.Tied[sha] = true
}

// addCounts adds counts to those in to, by key.
func addCounts(to *map[string]int, more map[string]int) {
	for key, n := range more {
		if *to == nil {
			*to = map[string]int{}
		}
		(*to)[key] += n
	}
}

// countSessions counts sessions, each once. sources is their agent by session ID; "": unknown.
func (o *Outcome) countSessions(sources map[string]string) {
	if o.ids == nil {
		o.ids, o.Agents = map[string]string{}, map[string]int{}
	}
	for id, source := range sources {
		if _, counted := o.ids[id]; !counted {
			o.ids[id] = source
			o.Agents[source]++
		}
	}
	o.Sessions = len(o.ids)
}

func (g *collector) captureRound(ctx context.Context, plan func(*collector) ([]session.Entry, error)) error {
	if err := g.checkWritable(); err != nil {
		return err
	}
	if err := g.gather(ctx); err != nil {
		return err
	}
	if g.moreLeft && !g.learned {
		if err := g.learnSecrets(ctx); err != nil {
			return err
		}
		g.learned = true
	}
	drafts, err := plan(g)
	if err = cmp.Or(err, ctx.Err()); err != nil { // when time is up, things may be missing without an error
		return err
	}
	return g.store(ctx, drafts)
}

// beginRound begins a round: it reads up to most commits of the ledgers on this machine that the cache does not know
// (0: all), and sets the time of the capture.
func (c *Capturer) beginRound(ctx context.Context, r *sharedByRounds, most int) (*collector, error) {
	tips, err := ledger.LocalTips(c.Repo)
	if err != nil {
		return nil, err
	}
	g := &collector{
		Capturer: c, sharedByRounds: r, getenv: c.Getenv, shells: shellSessions(c.Getenv), tips: tips,
		edits: newEdits(c.CacheDir), told: map[string][]transcript.Commit{}, running: map[string]bool{},
	}
	if g.st, err = load(ctx, c.Repo, c.CacheDir, tips, most); err != nil {
		return nil, err
	}
	g.now = c.captureTime(g.st)
	return g, nil
}

// captureTime is the time of this capture: now, but later than everything that the ledgers on
// this machine hold, because readers take segments by time and a clock may go back.
func (c *Capturer) captureTime(st *state) time.Time {
	now := c.Now().UTC().Truncate(time.Millisecond)
	if last := (ledger.Segment{Path: st.Newest}).Time(); !now.After(last) && !last.After(now.Add(ledger.MaxAhead)) {
		return last.Add(time.Millisecond)
	}
	return now
}

// checkWritable says why the author's ledger can't be written to. If it is missing because the user's address has
// changed, the first entry makes it, so that is no error.
func (g *collector) checkWritable() error {
	if g.tips[g.Ledger.Ref()] != "" {
		return nil
	}
	if tip, err := g.Ledger.Tip(); err != nil || tip != "" {
		return errors.Join(fmt.Errorf("capture: %s: %w", g.Ledger.Ref(), ledger.ErrFormat), err)
	}
	if len(g.tips) == 0 {
		return fmt.Errorf("capture: %w", ErrNoLedger)
	}
	return nil
}

// store redacts and appends the drafts, then updates the cache to the new tip.
func (g *collector) store(ctx context.Context, drafts []session.Entry) error {
	if err := g.edits.flush(ctx); err != nil {
		g.editsLost = true
		g.out.Warnings = append(g.out.Warnings, err)
	}
	if len(drafts) > 0 {
		records, private, err := g.redactDrafts(ctx, drafts)
		if err != nil {
			return err
		}
		if err := g.appendBoth(ctx, records, private); err != nil {
			return err
		}
		if g.st.catchUp(ctx, g.Repo, g.tips) != nil {
			return nil // the ledger moved on; the next capture reads it again
		}
	}
	if len(drafts) > 0 || g.anyRead || g.examined != nil && !slices.Equal(g.examined, g.st.Examined) ||
		g.reflogs != nil && !maps.Equal(g.reflogs, g.st.Reflogs) {
		g.rememberCursors()
		if err := g.st.save(ctx, g.CacheDir); err != nil {
			g.out.Warnings = append(g.out.Warnings, err)
		}
	}
	return nil
}

// appendBoth appends what may be sent, and what is private, as the user has decided by now.
func (g *collector) appendBoth(ctx context.Context, records, private []ledger.Record) error {
	release := func() error { return nil }
	if g.Hold != nil {
		var err error
		if release, err = g.Hold(ctx); err != nil {
			return err
		}
	}
	err := g.append(ctx, g.Private.Ledger, private)
	if err == nil {
		err = g.append(ctx, g.Ledger, records)
	}
	return errors.Join(err, release())
}

func (g *collector) append(ctx context.Context, to *ledger.Ledger, records []ledger.Record) (err error) {
	if len(records) == 0 {
		return nil
	}
	if g.out.Tip, err = to.Append(ctx, g.tips[to.Ref()], records); err == nil {
		g.tips[to.Ref()] = g.out.Tip
	}
	return err
}

// redactDrafts makes the records of the drafts: those that may be sent, and private ones.
func (g *collector) redactDrafts(ctx context.Context,
	drafts []session.Entry,
) (records, private []ledger.Record, err error) {
	drafts, apart := g.splitPrivate(drafts)
	for i, d := range drafts {
		if d.Needs == "" && (slices.ContainsFunc(d.Sessions, saysTerms) || slices.ContainsFunc(d.Memories, hasLaterKeys)) {
			drafts[i].Needs = versionWithTies
		}
	}
	entries, err := g.redactAll(ctx, drafts, func(i int, r redact.Report) { g.countStored(drafts[i], r) })
	if err != nil {
		return nil, nil, err
	}
	when := g.now // no entry is earlier than the one before it, so that a link comes after its session
	for i, d := range drafts {
		if d.Checkpoint != nil && d.Checkpoint.TS.After(when) {
			when = d.Checkpoint.TS
		}
		to := &records
		if apart[i] {
			to = &private
		}
		*to = append(*to, ledger.Record{Entry: entries[i], TS: when})
	}
	return records, private, nil
}

// saysTerms reports whether a session has calls with terms of errors.
func saysTerms(s session.Session) bool {
	return slices.ContainsFunc(s.ToolCalls, func(c session.ToolCall) bool { return c.Terms != "" })
}

// hasLaterKeys reports whether a memory has keys that 0.1.0 does not know.
func hasLaterKeys(m session.Memory) bool { return m.At > 0 || m.Supersedes != "" || m.Rejects != "" }

// redactAll redacts entries that are stored together, and calls tell with the report of each. A value that a later
// entry calls a secret is redacted in the earlier ones, too.
func (g *collector) redactAll(ctx context.Context, drafts []session.Entry,
	report func(int, redact.Report),
) ([]redact.Entry, error) {
	entries, reports := make([]redact.Entry, len(drafts)), make([]redact.Report, len(drafts))
	apply := func(drafts []session.Entry) (found int, err error) {
		for i, d := range drafts {
			g.Progress.report(Storing, i, len(entries))
			if entries[i], reports[i], err = g.Redactor.Apply(ctx, d); err != nil {
				return 0, fmt.Errorf("capture: %w", err)
			}
			if len(reports[i].Rules) > 0 {
				found = i
			}
		}
		return found, nil
	}
	found, err := apply(drafts)
	if err == nil {
		_, err = apply(drafts[:found])
	}
	if err != nil {
		return nil, err
	}
	for i, r := range reports {
		report(i, r)
	}
	return entries, nil
}

func (g *collector) countStored(e session.Entry, r redact.Report) {
	for _, s := range e.Sessions {
		g.out.countSessions(map[string]string{s.ID: s.Source})
		g.out.Turns += len(s.Turns)
		g.out.ToolCalls += len(s.ToolCalls)
	}
	g.out.Notes += len(e.Memories)
	if e.Checkpoint != nil {
		g.out.Checkpoints++
		g.out.Links += len(e.Checkpoint.Links)
		if slices.ContainsFunc(e.Checkpoint.Links, func(l session.Link) bool { return l.Tie != session.TieTalked }) {
			g.out.addTied(e.Checkpoint.GitSHA)
		}
	}
	for _, w := range e.Wrote {
		if len(w.Lines) > 0 {
			g.out.addTied(w.GitSHA)
		}
	}
	addCounts(&g.out.Redacted, r.Rules)
}
