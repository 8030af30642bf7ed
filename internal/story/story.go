// Package story tells the conversation behind a commit, a range, a session, a memory or a line: prompts, answers, tool
// calls, and what each commit changed.
//
// In: what was typed, an open and current index, the repository. Out: one result.Story, and from it, by pure functions,
// a page of Markdown for reviewers (ReviewText), or a whole session as Markdown (SessionPage).
//
// Promises: no purged item is in a story; text of sessions stays text in Markdown, whatever markup, mention, link or
// HTML it holds; the same index and repository give the same story. It calls no model and writes nothing.
package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/why"
)

// maxCommits is how many commits a range may have: what is longer is no review.
const maxCommits = 500

// maxLineSessions is how many of the sessions behind a line are in the story.
const maxLineSessions = 3

// AsOf is the moment whose index is asked; the zero value is now.
type AsOf struct {
	Checkpoint string  // as in recall.Request
	Tip        git.OID // as in recall.Request
}

// builder builds the story of one Read.
type builder struct {
	asOf    AsOf
	index   *db.DB
	repo    *git.Repo
	names   session.Names
	purged  []string
	private []string
	out     result.Story
}

// Read tells the story of what text names; see name.Resolver. It returns the errors of that, a recall.PurgedError, or
// what recall returns for revisions and lines.
func Read(ctx context.Context, index *db.DB, repo *git.Repo, text string, asOf AsOf) (result.Story, error) {
	t := &builder{asOf: asOf, index: index, repo: repo, out: result.Story{
		Schema: result.Schema, Show: text, Commits: []result.StoryCommit{}, Sessions: []result.StorySession{},
	}}
	err := t.addNamed(ctx, text)
	return t.out, err
}

// loadIDs reads all IDs, and which of them are purged or private.
func (t *builder) loadIDs(ctx context.Context) (err error) {
	t.names, err = t.index.Names(ctx)
	if err == nil {
		if t.private, err = db.PrivateIDs(ctx, t.index); err != nil {
			return err
		}
		t.purged, err = db.PurgedIDs(ctx, t.index)
	}
	return err
}

func (t *builder) addNamed(ctx context.Context, text string) error {
	if err := t.loadIDs(ctx); err != nil {
		return err
	}
	words := name.Resolver{Index: t.index, Repo: t.repo, Names: t.names, Purged: t.purged}
	if t.asOf.Checkpoint != "" {
		var err error
		if words.Code, err = recall.CodeOf(ctx, t.index, t.repo, t.asOf.Tip); err != nil {
			return err
		}
	}
	what, err := words.Find(ctx, text)
	if err != nil {
		return err
	}
	if slices.Contains(t.purged, what.ID) {
		return &recall.PurgedError{ID: what.ID}
	}
	switch t.out.Kind = what.Kind; what.Kind {
	case db.KindSession:
		return t.addSession(ctx, what.ID, what.Turn)
	case db.KindMemory:
		return t.addMemory(ctx, what.ID)
	case result.ShowLines:
		return t.addLines(ctx, text)
	}
	return t.addRevision(ctx, what.Rev)
}

// addSession adds a whole session, with its commits; or, for a turn ≥ 0, what was said around that turn, and the
// commits of then.
func (t *builder) addSession(ctx context.Context, id string, turn int) error {
	s, kinds, err := t.readSession(ctx, id, nil)
	if err != nil {
		return err
	}
	for _, sha := range slices.Backward(s.Commits) {
		c, ok := t.commitOf(sha)
		c.Missing = !ok
		c.Sessions, c.Ties = []string{id}, map[string]string{id: kinds[sha]}
		t.out.Commits = append(t.out.Commits, c)
	}
	slices.SortStableFunc(t.out.Commits, func(a, b result.StoryCommit) int { return strings.Compare(a.TS, b.TS) })
	if turn >= 0 {
		if turn >= s.Turns {
			return &name.UsageError{Err: fmt.Errorf("turn %d: session %s has %s, 0 to %d", turn, s.Short, session.CountNoun(s.Turns, "turn"), s.Turns-1)}
		}
		t.out.Turn = &turn
		t.keepAround(&s, turn)
	}
	t.out.Sessions = append(t.out.Sessions, s)
	return t.addDiffstats(ctx)
}

// How many turns are told before a turn that is asked for, and after it.
const (
	turnsBefore = 6
	turnsAfter  = 18
)

// keepAround cuts a session down to the turns around one, and its commits to those of then.
func (t *builder) keepAround(s *result.StorySession, turn int) {
	from, to, since, until := turn-turnsBefore, turn+turnsAfter, "", ""
	for _, u := range s.Said {
		if u.Turn == from {
			since = u.TS
		}
		if u.Turn > to && until == "" {
			until = u.TS
		}
	}
	s.Part = len(s.Said) > 0 && (s.Said[0].Turn < from || s.Said[len(s.Said)-1].Turn > to)
	s.Said = slices.DeleteFunc(s.Said, func(u result.Turn) bool { return u.Turn < from || u.Turn > to })
	s.Tools = slices.DeleteFunc(s.Tools, func(c result.Tool) bool { return c.Turn < from || c.Turn > to })
	t.out.Commits = slices.DeleteFunc(t.out.Commits, func(c result.StoryCommit) bool { return c.TS < since || until != "" && c.TS >= until })
}

func (t *builder) addMemory(ctx context.Context, id string) error {
	row, ok, err := t.index.Memory(ctx, id)
	if err != nil || !ok {
		return err
	}
	m := recall.MemoryOf(row)
	m.Content = row.Content
	said, err := recall.StatesOf(ctx, t.index, []string{id})
	m.States = said[id]
	t.out.Memories = append(t.out.Memories, m)
	if err != nil {
		return err
	}
	return recall.AddNoteTo(ctx, t.index, t.repo, row, &t.out.Memories[len(t.out.Memories)-1])
}

// addRevision adds the commits of a revision or range.
func (t *builder) addRevision(ctx context.Context, rev string) error {
	tied, err := commits.SessionsBehind(ctx, t.index, t.repo, rev)
	if err != nil {
		return err
	}
	if len(tied) > maxCommits {
		return &name.UsageError{Err: fmt.Errorf("%q names %d commits; at most %d are told at once", rev, len(tied), maxCommits)}
	}
	slices.Reverse(tied)
	if err := t.addCommits(ctx, tied); err != nil {
		return err
	}
	if n := len(t.out.Commits); t.out.Kind == result.ShowCommit && n > 1 {
		t.out.Commits[n-1].Merged = n - 1
	}
	slices.SortStableFunc(t.out.Sessions, func(a, b result.StorySession) int {
		return cmp.Or(strings.Compare(a.StartedAt, b.StartedAt), strings.Compare(a.ID, b.ID))
	})
	if t.out.Kind != result.ShowRange {
		return nil
	}
	return t.addSavedMemories(ctx)
}

// addCommits adds commits, and the parts of the sessions behind them that led to these commits.
func (t *builder) addCommits(ctx context.Context, tied []commits.Tied) error {
	parts := map[string]*sessionPart{}
	var ids []string
	for _, at := range tied {
		c, ok := t.commitOf(at.Commit)
		if ok && t.isShallowCut(c.Commit) && len(tied) > 1 {
			t.out.Cut = true
			continue
		}
		c.Missing, c.Ties, c.Evidence = !ok, map[string]string{}, map[string]string{}
		c.Talked = slices.DeleteFunc(at.Talked, func(id string) bool { return slices.Contains(t.purged, id) })
		for _, s := range at.Sessions {
			c.Sessions = append(c.Sessions, s.ID)
			if s.Kind.IsWeak() {
				c.Inferred = append(c.Inferred, s.ID)
			}
			c.Ties[s.ID], c.Evidence[s.ID] = s.Kind.String(), s.Evidence
			if parts[s.ID] == nil {
				parts[s.ID] = &sessionPart{}
				ids = append(ids, s.ID)
			}
			parts[s.ID].add(s)
		}
		if here, err := t.repo.Commit(git.OID(c.Commit)); err == nil && len(c.Sessions) == 0 {
			c.Named = commits.NamedBy(here)
		}
		t.out.Commits = append(t.out.Commits, c)
	}
	for _, id := range ids {
		s, _, err := t.readSession(ctx, id, parts[id])
		if err != nil {
			return err
		}
		s.Lines = parts[id].linesWritten
		t.out.Sessions = append(t.out.Sessions, s)
	}
	return t.addDiffstats(ctx)
}

// addLines adds the sessions behind lines of a file, with their commits.
func (t *builder) addLines(ctx context.Context, target string) error {
	answer, err := why.Lines(ctx, t.index, t.repo, why.Request{
		Target: target, Limit: maxLineSessions, Checkpoint: t.asOf.Checkpoint, Tip: t.asOf.Tip,
	})
	if err != nil {
		return err
	}
	t.out.Why = answer.Why
	var tied []commits.Tied
	for _, hit := range answer.Results {
		ties, err := t.index.TiesOfSessions(ctx, []string{hit.ID})
		if err != nil {
			return err
		}
		for _, short := range hit.Explains.Commits {
			id, err := t.repo.CommitByPrefix(short)
			if err != nil {
				continue
			}
			at := slices.IndexFunc(tied, func(c commits.Tied) bool { return c.Commit == string(id) })
			if at < 0 {
				at, tied = len(tied), append(tied, commits.Tied{Commit: string(id)})
			}
			here := slices.DeleteFunc(slices.Clone(ties[hit.ID]),
				func(tie attribution.Tie) bool { return tie.SHA != string(id) })
			s := commits.TiedSession{ID: hit.ID, Kind: session.TieInferred, Ties: here}
			behind, err := commits.SessionsBehind(ctx, t.index, t.repo, string(id))
			if err != nil {
				return err
			}
			for _, of := range behind[0].Sessions {
				if of.ID == hit.ID {
					s.Kind = of.Kind
				}
			}
			tied[at].Sessions = append(tied[at].Sessions, s)
		}
	}
	return t.addCommits(ctx, tied)
}

// commitOf reads a commit from git; false if it is not here.
func (t *builder) commitOf(sha string) (result.StoryCommit, bool) {
	c, err := t.repo.Commit(git.OID(sha))
	if err != nil {
		return result.StoryCommit{Commit: sha}, false
	}
	_, body, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return result.StoryCommit{
		Links:  t.linkedIDs(c.Message),
		Commit: sha, Subject: c.Subject(), Body: strings.TrimSpace(body), Author: c.Author.Name, Email: c.Author.Email,
		TS: result.Time(c.Author.When), Merge: len(c.Parents) > 1,
	}, true
}

// linkedIDs are the IDs of sessions and memories to which a text links.
func (t *builder) linkedIDs(text string) (ids []string) {
	for _, ref := range session.FindRefs(text) {
		id, err := t.names.CompleteID(ref.ID)
		if err == nil && !slices.Contains(ids, id) && !slices.Contains(t.purged, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// isShallowCut reports whether a shallow clone ends at a commit, so that its changes are not known.
func (t *builder) isShallowCut(sha string) bool {
	c, err := t.repo.Commit(git.OID(sha))
	if err != nil || len(c.Parents) == 0 || !t.repo.Incomplete() {
		return false
	}
	return t.repo.MissingObjects(c.Parents[:1])[c.Parents[0]]
}

// addDiffstats adds to each commit which files it changed.
func (t *builder) addDiffstats(ctx context.Context) error {
	var ids []git.OID
	for _, c := range t.out.Commits {
		if !c.Missing && !t.isShallowCut(c.Commit) {
			ids = append(ids, git.OID(c.Commit))
		}
	}
	stats, err := history.Stats(ctx, t.repo, ids)
	for i, c := range t.out.Commits {
		for _, s := range stats[git.OID(c.Commit)] {
			t.out.Commits[i].Files = append(t.out.Commits[i].Files, result.Diffstat(s))
		}
	}
	return err
}

// memoryDelay is how long after a session's last turn a new memory still counts as saved during it.
const memoryDelay = time.Hour

// addSavedMemories adds the memories that were saved during a session of the story by its author.
func (t *builder) addSavedMemories(ctx context.Context) error {
	for _, s := range t.out.Sessions {
		from, errFrom := time.Parse(time.RFC3339, s.StartedAt)
		to, errTo := time.Parse(time.RFC3339, s.LastTurnAt)
		if errFrom != nil || errTo != nil {
			continue
		}
		ids, err := t.index.MatchingIDs(ctx, db.Filter{
			Kind: db.KindMemory, Authors: []string{strings.ToLower(s.Author)},
			Period: db.Period{Since: from, Until: to.Add(memoryDelay)},
		})
		for _, id := range ids {
			if !slices.ContainsFunc(t.out.Memories, func(m result.Memory) bool { return m.ID == id }) {
				err = errors.Join(err, t.addMemory(ctx, id))
			}
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(t.out.Memories, func(a, b result.Memory) int {
		return cmp.Or(strings.Compare(a.CapturedAt, b.CapturedAt), strings.Compare(a.ID, b.ID))
	})
	return nil
}

// tokens are the tokens that a session took; nil if its transcript does not count them.
func (t *builder) tokens(ctx context.Context, id string) (*result.Tokens, error) {
	u, err := t.index.UsageOf(ctx, id)
	if err != nil || u.Requests == 0 {
		return nil, err
	}
	return &result.Tokens{
		Sessions: 1, Requests: u.Requests, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, Cost: u.Cost,
	}, nil
}

// readSession reads a session, or the part p of it. kinds are those of its ties to its commits, by SHA.
func (t *builder) readSession(ctx context.Context, id string,
	p *sessionPart,
) (out result.StorySession, kinds map[string]string, err error) {
	row, err := t.index.Session(ctx, id)
	if err != nil {
		return out, kinds, err
	}
	turns, err := t.index.Turns(ctx, id, 0, math.MaxInt32, "")
	if err != nil {
		return out, kinds, err
	}
	tools, err := t.index.Tools(ctx, id, -1, math.MaxInt32)
	if err != nil {
		return out, kinds, err
	}
	ties, err := t.index.AllTies(ctx, id)
	if err != nil {
		return out, kinds, err
	}
	out = result.StorySession{
		ID: id, Short: t.names.Short(id), Title: session.InformativePart(row.Title), Author: row.Email,
		Actor: row.ActorType, Source: row.Source, Facts: row.Facts, Branch: row.Branch,
		Parent: row.Parent, StartedAt: result.Time(row.StartedAt), LastTurnAt: result.Time(row.LastTurnAt),
		Turns: row.NextTurn - row.FirstTurn, ToolCalls: row.NextTool - row.FirstTool, Said: []result.Turn{},
		Private: slices.Contains(t.private, id),
	}
	signed, err := t.index.Trust(ctx, []string{id})
	if err != nil {
		return out, kinds, err
	}
	out.Signature = signed[id].String()
	if out.Tokens, err = t.tokens(ctx, id); err != nil {
		return out, kinds, err
	}
	if slices.Contains(t.purged, out.Parent) {
		out.Parent = ""
	}
	if out.Spawned, err = t.index.Children(ctx, id); err != nil {
		return out, kinds, err
	}
	if out.Commits, kinds, err = t.currentCommits(ctx, ties); err != nil {
		return out, kinds, err
	}
	if out.Left, err = t.uncommittedPaths(ctx, id, out.Commits, tools); err != nil {
		return out, kinds, err
	}
	out.Purpose, out.PurposeTurn = session.FirstPurpose(turns)
	done, err := t.loadWorkTimes(ctx, ties)
	if err != nil {
		return out, kinds, err
	}
	from, to := p.turnRange(done, ties, turns)
	tell(&out, turns, tools, row.FirstTurn, from, to)
	return out, kinds, nil
}

// tell adds the turns from ≤ i < to of a session, and the calls behind them: with the first turn also those before it.
func tell(out *result.StorySession, turns []session.Turn, tools []session.ToolCall, first, from, to int) {
	for _, u := range turns {
		if u.Index >= from && u.Index < to {
			out.Said = append(out.Said, result.Turn{Turn: u.Index, Role: u.Role, TS: result.Time(u.TS), Content: u.Content})
		}
	}
	for _, c := range tools {
		if c.Turn >= from && c.Turn < to || c.Turn < first && from <= first {
			out.Tools = append(out.Tools, result.Tool{
				Turn: c.Turn, Tool: c.Tool, Path: c.Path, Cmd: c.Cmd, Failed: c.Failed, Exit: c.Exit,
			})
		}
	}
	out.Part = len(out.Said) < len(turns)
}

// uncommittedPaths are the paths that a session edited and that none of its commits changed, under their names today or
// then.
func (t *builder) uncommittedPaths(ctx context.Context, id string, commits []string,
	tools []session.ToolCall,
) (out []string, err error) {
	files, err := t.index.SessionFiles(ctx, id)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, f := range files {
		changed[f.Path] = true
	}
	for _, sha := range commits {
		changes, err := t.repo.Changes(git.OID(sha))
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return nil, err
		}
		for _, f := range changes {
			changed[f.Path], changed[f.OldPath] = true, true
		}
	}
	for _, c := range tools {
		if p := c.EditedPath(); session.IsPathInTree(p) && p[0] != '~' && !changed[p] && !strings.Contains(p, "[REDACTED:") {
			changed[p] = true
			out = append(out, p)
		}
	}
	return out, nil
}
