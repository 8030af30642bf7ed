package recall

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Automated sessions whose titles begin with the same words are one row of a list from some number on: a pipeline asked
// for them, not a person.
const (
	alikeLeast = 20
	alikeWords = 5
)

// beginningsAlike are the words with which automated sessions begin as many others do, by ID.
func beginningsAlike(ctx context.Context, index *db.DB) (map[string]string, error) {
	titles, err := index.AutomatedTitles(ctx)
	count := map[string]int{}
	for id, title := range titles {
		words := strings.Fields(strings.ToLower(title))
		if len(words) < alikeWords {
			delete(titles, id)
			continue
		}
		titles[id] = strings.Join(words[:alikeWords], " ")
		count[titles[id]]++
	}
	for id, beginning := range titles {
		if count[beginning] < alikeLeast {
			delete(titles, id)
		}
	}
	return titles, err
}

// foldAlike leaves of hits that begin alike the first of each kind, which counts the others.
func foldAlike(ctx context.Context, index *db.DB, hits []Found) ([]Found, error) {
	if len(hits) < 2 {
		return hits, nil
	}
	beginnings, err := beginningsAlike(ctx, index)
	if err != nil || len(beginnings) == 0 {
		return hits, err
	}
	first, out := map[string]int{}, make([]Found, 0, len(hits))
	for _, h := range hits {
		beginning := beginnings[h.ID]
		if at, had := first[beginning]; had && beginning != "" {
			out[at].alike++
			continue
		}
		first[beginning], out = len(out), append(out, h)
	}
	return slices.Clip(out), nil
}

// ListRequest is a part of the list of all sessions and memories, or of those that begin as one of them does.
type ListRequest struct {
	Skip, Limit int
	Like        string // an ID; "" for all
}

// ListPage is the rows that were asked for, of so many. Each stands for itself and for those that begin alike.
type ListPage struct {
	Rows  []db.Listed
	Alike map[string]int // by ID how many others a row stands for
	Total int            // rows
	Items int            // sessions and memories
}

// List reads sessions and memories, the latest first; of automated sessions that begin alike the latest.
func List(ctx context.Context, index *db.DB, req ListRequest) (out ListPage, err error) {
	beginnings, err := beginningsAlike(ctx, index)
	if err != nil {
		return out, err
	}
	q := db.ListQuery{Skip: req.Skip, Limit: req.Limit}
	if begins := beginnings[req.Like]; begins != "" {
		maps.DeleteFunc(beginnings, func(_, other string) bool { return other != begins })
		q.Only = slices.Collect(maps.Keys(beginnings))
	} else if out.Alike, q.Without, err = firstOfAlike(ctx, index, beginnings); err != nil {
		return out, err
	}
	out.Rows, out.Total, err = index.List(ctx, q)
	out.Items = out.Total + len(q.Without)
	return out, err
}

// firstOfAlike counts, for the latest session of each beginning, the others, which it names.
func firstOfAlike(ctx context.Context, index *db.DB,
	beginnings map[string]string,
) (count map[string]int, others []string, err error) {
	if len(beginnings) == 0 {
		return nil, nil, nil
	}
	all, _, err := index.List(ctx, db.ListQuery{
		Limit: len(beginnings), Only: slices.Collect(maps.Keys(beginnings)),
	})
	first := map[string]string{}
	count = map[string]int{}
	for _, l := range all {
		if id := first[beginnings[l.ID]]; id != "" {
			count[id]++
			others = append(others, l.ID)
			continue
		}
		first[beginnings[l.ID]] = l.ID
	}
	return count, others, err
}
