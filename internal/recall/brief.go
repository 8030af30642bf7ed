package recall

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
)

// A brief answer shows at most shown results, and of those that a query ranks the ones with at least share of the best
// session's score. On 276 real sessions the median answer has 5 KB then, and 96 of 100 relevant
// sessions among the first ten are shown (docs/lab/search.md).
const (
	shown = 10
	share = 0.6
)

// runnersUp is how many a brief answer mentions behind its only result where all are weak.
const runnersUp = 5

// howManyShown is how many of the hits, which are in order and not none, a brief answer shows: one where all are weak.
// A memory, which says in one place what a session says in many, hides no session.
func howManyShown(hits []Found) int {
	if hits[0].weak {
		return 1
	}
	top := hits[0].Score
	for _, h := range hits {
		if !h.memory {
			top = max(h.Score, h.best)
			break
		}
	}
	n := 1
	for n < min(len(hits), shown) && hits[n].Score >= share*top {
		n++
	}
	return n
}

// part is how much of what is shown one author has, where others answer, too: three of ten.
const part = 0.3

// balanceAuthors moves the hits to show to the front, and returns their number, at most n. No author fills the answer:
// hits of other authors take the place of those that an author has beyond a share. Room that is left goes to these
// again, except, in a brief answer, to memories: anybody can write thousands of memories. Otherwise the hits keep their
// order.
func balanceAuthors(ctx context.Context, index *db.DB, hits []Found, n int, brief bool) ([]Found, int, error) {
	most := max(3, int(part*float64(n)))
	if n == len(hits) || n <= most {
		return hits, n, nil
	}
	// mostly nobody has more, and the others need not be looked at
	beyond, _, err := exceedsShare(ctx, index, hits[:n], most)
	if err != nil || !slices.Contains(beyond, true) {
		return hits, n, err
	}
	beyond, authors, err := exceedsShare(ctx, index, hits, most)
	if err != nil {
		return nil, 0, err
	}
	first, room := make([]bool, len(hits)), n
	for _, again := range []bool{false, true} {
		for i, h := range hits {
			if room > 0 && beyond[i] == again && (!again || !brief || !h.memory || authors == 1) {
				first[i], room = true, room-1
			}
		}
	}
	var out, rest []Found
	for i, h := range hits {
		if first[i] {
			out = append(out, h)
		} else {
			rest = append(rest, h)
		}
	}
	return append(out, rest...), len(out), nil
}

// exceedsShare says of each hit whether its author has so many before it, and how many authors there are.
func exceedsShare(ctx context.Context, index *db.DB, hits []Found, most int) (beyond []bool, authors int, err error) {
	by, err := db.AuthorsOf(ctx, index, idsOf(hits))
	had := map[string]int{}
	for _, h := range hits {
		had[by[h.ID]]++
		beyond = append(beyond, had[by[h.ID]] > most)
	}
	return beyond, len(had), err
}

// titlesOf names hits by their titles.
func titlesOf(ctx context.Context, index *db.DB, hits []Found) ([]result.Mention, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	titles, err := index.Titles(ctx, idsOf(hits))
	out := make([]result.Mention, len(hits))
	for i, h := range hits {
		out[i] = result.Mention{ID: h.ID, Score: roundScore(h.Score), Title: titles[h.ID]}
	}
	return out, err
}
