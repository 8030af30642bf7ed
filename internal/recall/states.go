package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A memory may stand in the place of another one, and say that something was tried and dropped. What is found is shown
// as it is believed now: the newest one, which names those before it. At a past moment nothing is there that was saved
// later, so what was believed then is shown.

// maxSuperseding is how many memories that stand in the place of one another are followed.
const maxSuperseding = 64

// latestOf follows memories to the one that stands in their place.
func latestOf(newer map[string]string, id string) string {
	for range maxSuperseding {
		next := newer[id]
		if next == "" {
			break
		}
		id = next
	}
	return id
}

// foldSuperseded puts the newest memory in the place of those before it, where the filter takes it, too.
func foldSuperseded(ctx context.Context, index *db.DB, filter db.Filter, hits []Found) ([]Found, error) {
	if some, err := index.HasStates(ctx); err != nil || !some {
		return hits, err
	}
	newer, err := index.Superseding(ctx)
	if err != nil || len(newer) == 0 {
		return hits, err
	}
	var latest []string
	for _, h := range hits {
		if id := latestOf(newer, h.ID); id != h.ID {
			latest = append(latest, id)
		}
	}
	if len(latest) == 0 {
		return hits, nil
	}
	filter.IDs = latest
	taken, err := index.MatchingIDs(ctx, filter)
	if err != nil {
		return nil, err
	}
	passes, shown := setOf(taken), map[string]bool{}
	kept := hits[:0]
	for _, h := range hits {
		if id := latestOf(newer, h.ID); passes[id] {
			h.ID = id
		}
		if !shown[h.ID] {
			shown[h.ID], kept = true, append(kept, h)
		}
	}
	return kept, nil
}

// markStates says of results what memories say of them.
func markStates(ctx context.Context, index *db.DB, hits []result.Hit) error {
	some, err := index.HasStates(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, h := range hits {
		if some || h.Kind == db.KindMemory {
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 { // most answers, and each question to the index costs
		return nil
	}
	said, err := StatesOf(ctx, index, ids)
	for i := range hits {
		hits[i].States = said[hits[i].ID]
	}
	return err
}

// StatesOf are the states of sessions and memories, by ID.
func StatesOf(ctx context.Context, index *db.DB, ids []string) (map[string]result.States, error) {
	out := map[string]result.States{}
	about, err := index.MemoriesAbout(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, m := range about {
		if slices.Contains(ids, m.Supersedes) {
			s := out[m.Supersedes]
			s.SupersededBy = append(s.SupersededBy, saidIn(m, m.Title))
			out[m.Supersedes] = s
		}
		if slices.Contains(ids, m.Rejects) {
			s := out[m.Rejects]
			s.RejectedBy = append(s.RejectedBy, saidIn(m, m.Title))
			out[m.Rejects] = s
		}
	}
	kept, err := index.MemoriesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	titles, err := index.TitlesOfRejected(ctx, kept)
	for i := 0; i < len(kept) && err == nil; i++ {
		s := out[kept[i].ID]
		s.Rejects, s.RejectsTitle = kept[i].Rejects, titles[kept[i].Rejects]
		if s.Supersedes, err = superseded(ctx, index, kept[i]); err == nil {
			s.Differs, err = differing(ctx, index, kept[i])
		}
		out[kept[i].ID] = s
	}
	return out, err
}

// superseded are the memories in whose place one stands, the latest first.
func superseded(ctx context.Context, index *db.DB, m db.MemoryRow) (out []result.Said, err error) {
	seen := map[string]bool{m.ID: true}
	for id := m.Supersedes; id != "" && !seen[id] && len(out) < maxSuperseding; {
		seen[id] = true
		before, err := index.MemoriesOf(ctx, []string{id})
		if err != nil || len(before) == 0 {
			return out, err
		}
		out, id = append(out, saidIn(before[0], before[0].Title)), before[0].Supersedes
	}
	return out, nil
}

func saidIn(m db.MemoryRow, text string) result.Said {
	return result.Said{ID: m.ID, Author: m.Email, At: result.Time(m.TS), Text: session.OneLine(text)}
}

// Bounds of the look for memories that say otherwise.
const (
	maxStatements = 8  // of a memory that is shown
	maxNaming     = 50 // other memories that name the same, the latest
	maxDiffering  = 5  // that are told
)

// differing are memories that give another value to a file, symbol or setting that one names, the latest first.
func differing(ctx context.Context, index *db.DB, m db.MemoryRow) (out []result.Said, err error) {
	said := statements(m.Content)
	if len(said) == 0 || m.Rejects != "" {
		return nil, nil
	}
	said = said[:min(len(said), maxStatements)]
	var anchors []string
	for _, s := range said {
		anchors = append(anchors, s.anchor)
	}
	others, err := index.MemoriesNaming(ctx, anchors, maxNaming)
	for _, o := range others {
		if o.ID == m.ID || o.Supersedes == m.ID || m.Supersedes == o.ID || o.Rejects != "" || len(out) == maxDiffering {
			continue
		}
		if s, differs := findDiffering(said, statements(o.Content)); differs {
			out = append(out, saidIn(o, fmt.Sprintf("%s %s", s.anchor, s.value)))
		}
	}
	return out, err
}
