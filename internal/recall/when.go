package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/question"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
)

// Times bounds when the results took place. A session is in the span if one of its turns is.
type Times struct {
	Since, Until string    // dates as people and git write them, or revisions of the code; "" leaves that side open
	Now          time.Time // in the time zone of who asks; zero: no time is read in the question
}

// errTime is a text that names no time.
var errTime = errors.New("neither a date nor a revision")

func (t Times) clock(repo *git.Repo) question.Clock {
	return question.Clock{Now: t.Now, Tag: func(name string) (time.Time, bool) { return tagTime(repo, name) }}
}

// Span is what Since and Until name.
func (t Times) Span(repo *git.Repo) (s question.Span, err error) {
	if t.Since != "" {
		if s.Since, err = t.moment(repo, t.Since, question.Since); err != nil {
			return s, name.WrongFilter("since", fmt.Errorf("%q: %w", t.Since, err))
		}
	}
	if t.Until != "" {
		if s.Until, err = t.moment(repo, t.Until, question.Until); err != nil {
			return s, name.WrongFilter("until", fmt.Errorf("%q: %w", t.Until, err))
		}
	}
	if t.Since != "" && t.Until != "" && !s.Since.Before(s.Until) {
		return s, name.WrongFilter("since", fmt.Errorf("%q begins behind the end, %q", t.Since, t.Until))
	}
	return s, nil
}

func (t Times) moment(repo *git.Repo, text string,
	read func(string, question.Clock) (time.Time, bool),
) (time.Time, error) {
	at, ok := read(text, t.clock(repo))
	if !ok {
		at, ok = commitTime(repo, text)
	}
	if !ok {
		return at, errTime
	}
	return at, nil
}

// commitTime is when the commit of a revision was made.
func commitTime(repo *git.Repo, rev string) (time.Time, bool) {
	id, err := name.Commit(repo, rev)
	if err != nil {
		return time.Time{}, false
	}
	c, err := repo.Commit(id)
	return c.Committer.When, err == nil
}

// tagTime is when the commit of a tag was made, also of one that begins with a "v" more or less; of the newest one for
// "".
func tagTime(repo *git.Repo, name string) (newest time.Time, ok bool) {
	names := []string{"refs/tags/" + name, "refs/tags/v" + name, "refs/tags/" + strings.TrimPrefix(name, "v")}
	if name == "" {
		refs, err := repo.Refs("refs/tags/*")
		if err != nil {
			return newest, false
		}
		names = names[:0]
		for ref := range refs {
			names = append(names, ref)
		}
	}
	for _, ref := range names {
		switch t, found := commitTime(repo, ref); {
		case found && name != "":
			return t, true
		case found && t.After(newest):
			newest, ok = t, true
		}
	}
	return newest, ok
}

// understoodRequest is a request as it was understood.
type understoodRequest struct {
	Request
	question.Question // of a text that names no time, the words are its own
	When              *result.When
	unknown           []string // words that stand nowhere
}

// readTimes reads the times of a request. Those of flags count before those in the question.
func readTimes(repo *git.Repo, req Request) (understoodRequest, error) {
	a := understoodRequest{Request: req, Question: question.Question{Words: req.Query}}
	span, err := req.Times.Span(repo)
	if err != nil {
		return a, err
	}
	flags := req.Since != "" || req.Until != ""
	if !req.Now.IsZero() && len(req.IDs) == 0 {
		a.Question = question.Read(req.Query, req.clock(repo))
		if flags {
			a.Words, a.Read = req.Query, ""
		}
	}
	if flags {
		a.Question.When = span
	}
	if flags || a.Read != "" {
		a.When = &result.When{
			Since: result.Time(a.Question.When.Since), Until: result.Time(a.Question.When.Until),
			Read: a.Read,
		}
	}
	if a.Latest {
		a.Words = ""
	}
	return a, nil
}

// answers finds what answers a request.
func (a *understoodRequest) answers(ctx context.Context, index *db.DB, repo *git.Repo, s *search.Searcher,
	filter db.Filter,
) ([]Found, error) {
	if a.Kind == KindRecord {
		return nil, nil
	}
	hits, err := a.answersInTime(ctx, index, repo, s, filter)
	if err == nil && a.Latest {
		err = a.orderLatest(ctx, index, repo, hits)
	}
	return hits, err
}

// answersInTime finds answers from the time that is asked for, or those first if the time is only preferred. If there
// are none, or only weak ones where nothing else counts, and the question named the time, not a flag, it ignores the
// time.
func (a *understoodRequest) answersInTime(ctx context.Context, index *db.DB, repo *git.Repo, s *search.Searcher,
	filter db.Filter,
) ([]Found, error) {
	req, timeless := a.Request, filter
	req.Query, filter.Period = a.Words, db.Period(a.Question.When)
	isPreferred := a.Read != "" && !a.Strict && !a.Latest
	if isPreferred {
		ids, err := index.MatchingIDs(ctx, filter)
		if err != nil {
			return nil, err
		}
		req.prefer, filter = setOf(ids), timeless
	}
	hits, unknown, err := rank(ctx, index, repo, s, req, filter)
	a.unknown = unknown
	if err != nil || a.Read == "" {
		return hits, err
	}
	if isPreferred {
		a.When.Preferred = slices.ContainsFunc(hits, func(h Found) bool { return req.prefer[h.ID] })
	}
	if a.When.Preferred || !isPreferred && len(hits) > 0 && !hits[0].weak {
		return hits, nil
	}
	if req.prefer = nil; !a.Latest {
		req.Query = a.Request.Query
	}
	other, unknown, err := rank(ctx, index, repo, s, req, timeless)
	if len(other) == 0 || !isPreferred && len(hits) > 0 && other[0].weak {
		return hits, err
	}
	a.When.Dropped, a.Question.When, a.Words, a.unknown = true, question.Span{}, req.Query, unknown
	return other, err
}

// orderLatest puts one's own work first where that was asked for, and says of each session where what took place then
// begins.
func (a *understoodRequest) orderLatest(ctx context.Context, index *db.DB, repo *git.Repo, hits []Found) error {
	if a.Own {
		who, err := repo.Identity(ctx)
		if err != nil && !errors.Is(err, git.ErrNoIdentity) {
			return err
		}
		ids, err := index.MatchingIDs(ctx, db.Filter{Authors: []string{strings.ToLower(who.Email)}, Purged: db.With})
		if err != nil {
			return err
		}
		place := map[string]int{} // of others: 0
		for _, id := range ids {
			place[id] = -1
		}
		slices.SortStableFunc(hits, func(x, y Found) int { return cmp.Compare(place[x.ID], place[y.ID]) })
	}
	if a.Question.When.Since.IsZero() {
		return nil
	}
	first, err := index.FirstTurns(ctx, idsOf(hits[:min(len(hits), maxLooked)]), a.Question.When.Since)
	for i, h := range hits {
		if turn, ok := first[h.ID]; ok {
			hits[i].Turn = turn
		}
	}
	return err
}
