package group

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// hit is a result with its text; the zero Text where none was read.
type hit struct {
	result.Hit
	text ask.Text
}

// mergeAnswers makes one answer of several, as one repository would give it.
func mergeAnswers(found []ask.Found, q ask.Question) ask.Found {
	answering := answersThatCount(found, q)
	out := answering[0]
	out.Recall.Results, out.Recall.More, out.Recall.Total, out.Texts = nil, nil, 0, nil
	var hits []hit
	for i, f := range answering {
		out.Total += f.Total
		out.More = append(out.More, f.More...)
		out.Filters.FileAsPath = out.Filters.FileAsPath || f.Filters.FileAsPath
		for j, h := range f.Results {
			one := hit{Hit: h}
			if len(f.Texts) > 0 {
				one.text = f.Texts[j]
			}
			hits = append(hits, one)
		}
		if i > 0 {
			out.Notice = cmp.Or(out.Notice, f.Notice)
		}
	}
	out.Unknown, out.Failed = unionOf(found, func(f ask.Found) []string { return f.Unknown },
		func(s string) string { return s }), commonFailures(found)
	byTime := q.Query == "" || out.Order == result.Latest
	slices.SortStableFunc(hits, func(a, b hit) int {
		if byTime {
			return cmp.Compare(timeToCompare(b.Hit), timeToCompare(a.Hit))
		}
		return cmp.Compare(b.Score, a.Score)
	})
	n := countShown(hits, q)
	for _, h := range hits[:n] {
		out.Results = append(out.Results, h.Hit)
		out.Texts = append(out.Texts, h.text)
	}
	if out.Results == nil {
		out.Results = []result.Hit{}
	}
	if q.Around == 0 {
		out.Texts = nil
	}
	if q.Brief && q.Limit == 0 {
		out.More = mergeMentions(hits[n:], out.More, byTime, n > 0 && hits[0].Weak)
	}
	return out
}

// answersThatCount are the answers that count. If a repository has a strong answer, weak answers don't count; if one
// has an answer from the time that was asked for, answers from other times don't; if one has an answer that touched the
// files that were asked for, others don't.
func answersThatCount(found []ask.Found, q ask.Question) []ask.Found {
	for _, better := range []func(ask.Found) bool{
		func(f ask.Found) bool { return len(f.Results) > 0 && (f.When == nil || !f.When.Dropped) },
		func(f ask.Found) bool { return len(f.Results) > 0 && (len(q.Files) == 0 || len(f.Filters.Files) > 0) },
		func(f ask.Found) bool { return len(f.Results) > 0 && !f.Results[0].Weak },
	} {
		some := slices.DeleteFunc(slices.Clone(found), func(f ask.Found) bool { return !better(f) })
		if len(some) > 0 {
			found = some
		}
	}
	return found
}

// timeToCompare is when a result took place, to be compared.
func timeToCompare(h result.Hit) string { return normalTime(cmp.Or(h.LastTurnAt, h.CapturedAt)) }

func normalTime(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000000")
}

// How much a brief answer shows, as of one repository (package recall).
const (
	most      = 10
	share     = 0.6
	runnersUp = 5
)

// countShown is how many of the hits, which are in order, are shown.
func countShown(hits []hit, q ask.Question) int {
	switch {
	case q.Limit > 0:
		return min(len(hits), q.Limit)
	case !q.Brief || len(hits) == 0:
		return len(hits)
	case hits[0].Weak:
		return 1
	}
	top := hits[0].Score
	for _, h := range hits {
		if h.Kind != ask.KindMemory {
			top = h.Score
			break
		}
	}
	n := 1
	for n < min(len(hits), most) && hits[n].Score >= share*top {
		n++
	}
	return n
}

// mergeMentions are the titles of what is not shown: of weak answers only the nearest.
func mergeMentions(hits []hit, more []result.Mention, byTime, weak bool) (out []result.Mention) {
	for _, h := range hits {
		out = append(out, result.Mention{ID: h.ID, Repo: h.Repo, Score: h.Score, Title: h.Title})
	}
	out = append(out, more...)
	if !byTime {
		slices.SortStableFunc(out, func(a, b result.Mention) int { return cmp.Compare(b.Score, a.Score) })
	}
	n := result.MaxMore
	if weak {
		n = runnersUp
	}
	return out[:min(len(out), n)]
}

// commonFailures are why names mean nothing: in one repository what is not known there may be another's.
func commonFailures(found []ask.Found) (out []error) {
	for _, f := range found {
		for _, err := range f.Failed {
			if !errors.Is(err, session.ErrNoID) {
				out = append(out, err)
			}
		}
	}
	nowhere := unionOf(found, func(f ask.Found) []error { return f.Failed }, error.Error)
	return append(out, slices.DeleteFunc(nowhere, func(err error) bool { return !errors.Is(err, session.ErrNoID) })...)
}

// unionOf is what each answer has.
func unionOf[T any](found []ask.Found, of func(ask.Found) []T, name func(T) string) (out []T) {
	for _, v := range of(found[0]) {
		if !slices.ContainsFunc(found, func(f ask.Found) bool {
			return !slices.ContainsFunc(of(f), func(other T) bool { return name(other) == name(v) })
		}) {
			out = append(out, v)
		}
	}
	return out
}
