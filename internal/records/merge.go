package records

import (
	"cmp"
	"slices"

	"github.com/git-rekal/git-rekal/internal/result"
)

// first is the part of an answer of which records have at most a third: they are many and short.
const first = 10

// Merge puts records among the sessions and memories of an answer, whose order and scores stay what they are, and cuts
// it to limit results (0: all).
func Merge(answer *result.Recall, of Answer, limit int) {
	sessions, records := answer.Results, of.Hits
	switch { // a weak answer has one record at most, and none stands beside a strong one
	case len(records) == 0 || len(sessions) == 0 || records[0].Weak && sessions[0].Weak:
	case records[0].Weak:
		records, of = nil, Answer{}
	case sessions[0].Weak:
		sessions, answer.More, answer.Total = nil, nil, 0
	}
	if len(records) > 0 {
		answer.Unknown = slices.DeleteFunc(answer.Unknown,
			func(word string) bool { return !slices.Contains(of.Unknown, word) })
	}
	answer.Total += of.Total
	if of.Latest && len(records) > 0 {
		answer.Order = result.Latest
	}
	places := first
	if limit > 0 {
		places = min(limit, first)
	}
	room := max(1, places/3)
	out := make([]result.Hit, 0, len(sessions)+len(records))
	for len(records)+len(sessions) > 0 {
		if len(sessions) == 0 || len(records) > 0 && (room > 0 || len(out) >= places) &&
			isBefore(records[0], sessions[0], of.Latest) {
			out, records = append(out, records[0]), records[1:]
			room--
		} else {
			out, sessions = append(out, sessions[0]), sessions[1:]
		}
	}
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	answer.Results = out
}

// KeepBrief leaves of the results the best, one where all are weak, and of records a third where there are others; it
// names the rest by their titles.
func KeepBrief(answer *result.Recall) {
	room, most := first, first
	if len(answer.Results) > 0 && answer.Results[0].Weak {
		most = 1
	}
	if slices.ContainsFunc(answer.Results, func(h result.Hit) bool { return h.Kind != Kind }) {
		room = first / 3
	}
	var kept []result.Hit
	for _, h := range answer.Results {
		isRecord := h.Kind == Kind
		if isRecord && room == 0 || len(kept) == most {
			answer.More = append(answer.More, result.Mention{ID: h.ID, Score: h.Score, Title: h.Title})
			continue
		}
		if kept = append(kept, h); isRecord {
			room--
		}
	}
	slices.SortStableFunc(answer.More, func(a, b result.Mention) int { return cmp.Compare(b.Score, a.Score) })
	answer.More = answer.More[:min(len(answer.More), result.MaxMore)]
	if len(kept) > 0 {
		answer.Results = kept
	}
}

// isBefore reports whether a record comes before a session or memory: one of the kind that was asked for does, and of
// others the better one, or without scores the later one.
func isBefore(record, session result.Hit, kind bool) bool {
	switch {
	case kind && session.Score > 0:
		return true
	case record.Score > 0 && session.Score > 0:
		return record.Score > session.Score
	}
	when := session.LastTurnAt
	if when == "" {
		when = session.CapturedAt
	}
	return record.CapturedAt > when
}
