package survival

import (
	"context"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/why"
)

// written says which session wrote a line, and where and when.
type written struct {
	session, path string
	at            time.Time
}

// countLived counts how long lines live that sessions brought into the history of a commit. No session wrote lines
// before the first one began.
func (c *Counter) countLived(ctx context.Context, head git.OID) (commits int, cut bool, err error) {
	first := c.request.Now
	for _, s := range c.sessions {
		if !s.Started.IsZero() && s.Started.Before(first) {
			first = s.Started
		}
	}
	counter, err := why.NewCounter(ctx, c.Index, c.Repo)
	if err != nil {
		return 0, false, err
	}
	var lines []written
	lived, err := history.FollowLines(ctx, c.Repo, head, maxCommits, history.Chooser{
		TooOld: func(made git.Commit) bool { return attribution.IsCommittedBefore(made.Committer.When, first) },
		Asks:   func(ctx context.Context, made git.Commit) (bool, error) { return counter.HasWriters(ctx, made.OID) },
		Choose: func(ctx context.Context, made git.Commit, path string, brought []int, text []string) ([]bool, error) {
			out := make([]bool, len(brought))
			writers, err := counter.WritersOf(ctx, made.OID, path, brought)
			for i := 0; i < len(brought) && err == nil; i++ {
				w := written{writers[i].Session, path, writtenAt(writers[i].At, made.Committer.When)}
				if out[i] = strings.TrimSpace(text[brought[i]-1]) != "" && c.isAsked(w.session, w.at); out[i] {
					lines = append(lines, w)
				}
			}
			return out, err
		},
	}, c.Progress)
	if err != nil {
		return 0, false, err
	}
	for i, l := range lived.Lines {
		for _, t := range c.tallies(lines[i].session, lines[i].path, lines[i].at) {
			t.add(l, c.request.Now)
		}
	}
	return lived.Commits, lived.Cut, nil
}

// add counts a line.
func (t *tally) add(l history.Lifetime, now time.Time) {
	t.sum.Brought++
	seen := now
	switch l.Fate {
	case history.Lives:
		t.sum.Live++
	case history.Lost:
		t.sum.Lost++
		seen = l.Until
	}
	if attribution.IsMadeUp(l.From) {
		return
	}
	for i, days := range ages() {
		end := l.From.Add(time.Duration(days) * 24 * time.Hour)
		if end.After(seen) {
			break
		}
		if t.old[i]++; l.Fate != history.Gone || !l.Until.Before(end) {
			t.live[i]++
		}
	}
}
