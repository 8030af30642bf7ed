package materialize

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// maxTogether is how many files of one session are paired with each other, the first that
// its tools named: 50 files make 1,225 pairs, and a session that greps through a whole
// tree would make millions.
const maxTogether = 50

// together counts, for each pair of files, by how many sessions of the batch it grew. What is
// purged counts when it is shown again.
func (b *batch) together(ctx context.Context) (map[db.Together]int, error) {
	var ids []string
	for _, p := range b.parts {
		if !b.purged[p.ID] {
			ids = append(ids, p.ID)
		}
		b.grew = b.grew || b.purged[p.ID]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	before, err := b.data.Paths(ctx, ids)
	if err != nil {
		return nil, err
	}
	after := map[string][]string{}
	for id, paths := range before {
		after[id] = slices.Clone(paths)
	}
	for _, p := range b.parts {
		for _, c := range p.ToolCalls {
			if path := c.Touched(); len(after[p.ID]) < maxTogether && relative(path) && !slices.Contains(after[p.ID], path) {
				after[p.ID] = append(after[p.ID], path)
			}
		}
	}
	counts := map[db.Together]int{}
	for _, id := range ids {
		addPairs(counts, after[id], 1)
		addPairs(counts, before[id], -1)
	}
	for pair, n := range counts {
		if n == 0 {
			delete(counts, pair)
		}
	}
	return counts, nil
}

func addPairs(counts map[db.Together]int, paths []string, n int) {
	paths = slices.Clone(paths[:min(len(paths), maxTogether)])
	slices.Sort(paths)
	for i, a := range paths {
		for _, b := range paths[i+1:] {
			counts[db.Together{A: a, B: b}] += n
		}
	}
}

func relative(p string) bool {
	return p != "" && p != "." && !path.IsAbs(p) && !strings.HasPrefix(p, "~")
}
