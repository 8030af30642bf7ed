package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Target is something to scrub: all texts of a session or memory, one turn of a session with the tool
// calls behind it, its title; or those of a checkpoint (any commit of the ledger), which are the commit's
// subject, the branch, the files and memories.
type Target struct {
	Session    string  // a session's or memory's ID
	Turn       *int    // nil: all of it; -1: the calls before the first turn
	Title      bool    // only the title
	Checkpoint git.OID // or a commit of the ledger
}

// String is what ParseTarget takes.
func (t Target) String() string {
	switch {
	case t.Checkpoint != "":
		return string(t.Checkpoint)
	case t.Title:
		return t.Session + ":title"
	case t.Turn != nil:
		return fmt.Sprintf("%s:%d", t.Session, *t.Turn)
	}
	return t.Session
}

// TargetError is a target that is not in one's own ledger.
type TargetError struct {
	Target Target
	Turns  int // where it is a turn: how many there are of its session, which is there
}

func (e *TargetError) Error() string {
	if e.Turns > 0 {
		return fmt.Sprintf("ledger: scrub: session %s has turns 0 to %d, and no %d", e.Target.Session, e.Turns-1,
			*e.Target.Turn)
	}
	return fmt.Sprintf("ledger: scrub: your ledger holds no %q", e.Target)
}

// Hint says what to do.
func (e *TargetError) Hint() string {
	if e.Turns > 0 {
		return `"git rekal query --session ID" shows them`
	}
	return "only your own ledger can be rewritten; ask its author to scrub it"
}

func targetWithoutLedger(targets []Target, tip git.OID) error {
	if tip != "" || len(targets) == 0 {
		return nil
	}
	return &TargetError{Target: targets[0]}
}

var targetForm = lazy.Expr(`^([0-9A-Za-z]+)(?::(title|-1|\d{1,9}))?$`)

// ParseTarget reads ID, ID:TURN or ID:title, where ID may be the beginning of a session's, a memory's or
// a checkpoint's; see Resolve.
func ParseTarget(s string) (Target, error) {
	form := targetForm.FindStringSubmatch(s)
	if form == nil {
		return Target{}, fmt.Errorf("%q is none of SESSION, SESSION:TURN, SESSION:title, MEMORY and CHECKPOINT", s)
	}
	t := Target{Session: form[1], Title: form[2] == "title"}
	if form[2] != "" && !t.Title {
		n, err := strconv.Atoi(form[2])
		if err != nil {
			return Target{}, fmt.Errorf("%q: turn: %w", s, err)
		}
		t.Turn = &n
	}
	return t, nil
}

// removal is the record of a target that an entry has to do with; ok is false where the target is another checkpoint.
func (t Target) removal(c Commit, now time.Time) (r session.Removal, ok bool) {
	if t.Checkpoint == "" {
		return session.Removal{Session: t.Session, Turn: t.Turn, Title: t.Title, TS: now}, true
	}
	if c.OID != t.Checkpoint || len(c.Segments) == 0 { // a merge and the first commit say nothing
		return r, false
	}
	return session.Removal{Entry: c.Segments[0].entryID(), TS: now}, true
}

// Resolve completes targets whose IDs are the beginnings of such: of sessions and memories of one's own ledger, at
// least session.MinPrefix characters, and of its commits. It returns a TargetError or a session.AmbiguousError where
// there is not exactly one.
func (l *Ledger) Resolve(ctx context.Context, targets []Target) ([]Target, error) {
	tip, err := l.Check()
	if err != nil || tip == "" {
		return nil, errors.Join(err, targetWithoutLedger(targets, tip))
	}
	items, err := l.ownIDs(ctx, tip)
	if err != nil {
		return nil, err
	}
	var out []Target
	for _, t := range targets {
		if t, err = l.completeTarget(t, tip, items); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (l *Ledger) completeTarget(t Target, tip git.OID, items session.Names) (Target, error) {
	id, err := items.CompleteID(t.Session)
	commit := git.OID("")
	if t.Turn == nil && !t.Title {
		commit = l.ownCommit(t.Session, tip)
	}
	switch {
	case commit != "" && err == nil:
		return t, &session.AmbiguousError{Prefix: t.Session, IDs: []string{id, string(commit)}}
	case commit != "" && !errors.As(err, new(*session.AmbiguousError)):
		return Target{Checkpoint: commit}, nil
	case errors.Is(err, session.ErrShortID):
		return t, fmt.Errorf("%w: %w", &TargetError{Target: t}, session.ErrShortID)
	case errors.Is(err, session.ErrNoID):
		return t, &TargetError{Target: t}
	}
	t.Session = id
	return t, err
}

// ownCommit is the only commit reachable from a tip whose OID begins with prefix; "" if there is none, or several.
func (l *Ledger) ownCommit(prefix string, tip git.OID) git.OID {
	id, err := l.repo.CommitByPrefix(strings.ToLower(prefix))
	if err != nil {
		return ""
	}
	if own, err := l.repo.IsAncestor(id, tip); err != nil || !own {
		return ""
	}
	return id
}

// ownIDs are the IDs of the sessions and memories in one's own ledger.
func (l *Ledger) ownIDs(ctx context.Context, tip git.OID) (session.Names, error) {
	ids := map[string]string{}
	err := allEntries(ctx, l.repo, tip, func(_ Commit, e session.Entry) error {
		for _, part := range e.Sessions {
			ids[part.ID] = part.NativeID
		}
		for _, m := range e.Memories {
			ids[m.ID] = ""
		}
		return nil
	})
	return session.NewNames(ids), err
}

// Sessions are the sessions in one's own ledger by their IDs, without what was said in them.
func (l *Ledger) Sessions(ctx context.Context) (map[string]session.Session, error) {
	out := map[string]session.Session{}
	tip, err := l.Check()
	if err != nil || tip == "" {
		return out, err
	}
	err = allEntries(ctx, l.repo, tip, func(_ Commit, e session.Entry) error {
		for _, part := range e.Sessions {
			known := out[part.ID]
			part.Turns, part.ToolCalls = nil, nil
			known.TakeHead(part)
			out[part.ID] = known
		}
		return nil
	})
	return out, err
}
