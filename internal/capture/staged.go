package capture

import (
	"cmp"
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// StagedWriter is a session that wrote lines of what is staged.
type StagedWriter struct {
	ID, Source, Model string
	Lines             int
	Private           bool // no commit may name it
}

// Staged tells which sessions wrote lines of what is staged, against the commit on which it is to be committed: what a
// Run would find of the commit. It writes nothing. Who wrote most comes first.
func (c *Capturer) Staged(ctx context.Context, base git.OID) ([]StagedWriter, error) {
	staged := c.Repo.Staged(ctx, base)
	g, err := c.beginRound(ctx, newSharedByRounds(Round{Kept: noBound, Piece: noBound}), c.MaxBehind)
	if err != nil {
		return nil, err
	}
	g.agents, g.edits.inMemory = c.Agents, map[string][]editLine{}
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	changes, err := staged()
	if err != nil {
		return nil, err
	}
	behind := &past{
		repo: c.Repo, seen: map[git.OID]bool{}, known: map[string]bool{},
		next: func() (git.Commit, error, bool) { return git.Commit{}, nil, false },
	}
	if base != "" {
		behind = g.pastOf(ctx, base)
		defer behind.stop()
	}
	commit := git.Commit{Committer: git.Signature{When: c.Now()}}
	lines := map[string]int{}
	for _, w := range g.wroteInChanges(ctx, commit, changes, behind) {
		lines[w.Session] += w.Lines.Count()
	}
	var out []StagedWriter
	private := g.privateIDs()
	for id, n := range lines {
		if n > 0 {
			writer := g.stagedWriter(id, n)
			writer.Private = private[id]
			out = append(out, writer)
		}
	}
	slices.SortFunc(out, func(a, b StagedWriter) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines),
			cmp.Compare(a.ID, b.ID))
	})
	return out, ctx.Err()
}

// stagedWriter describes a session by what is new of it, else by what the ledger holds.
func (g *collector) stagedWriter(id string, lines int) StagedWriter {
	out := StagedWriter{ID: id, Lines: lines}
	for _, s := range g.fresh {
		if s.ID == id {
			out.Source, out.Model = s.Source, s.Model
		}
	}
	k := g.st.sessionByID(id)
	if k == nil {
		return out
	}
	out.Source = k.Source
	for i := len(k.Segments) - 1; i >= 0 && out.Model == ""; i-- {
		parts, err := ledger.ReadSession(g.Repo, k.Segments[i], id)
		for _, p := range slices.Backward(parts) {
			out.Model = cmp.Or(out.Model, p.Model)
		}
		if err != nil {
			break
		}
	}
	return out
}

// CountStaged is how many lines are staged, as far as they can be compared.
func (c *Capturer) CountStaged(ctx context.Context, base git.OID) (n int, err error) {
	changes, err := c.Repo.Staged(ctx, base)()
	for _, ch := range changes {
		if ch.OID == "" {
			continue
		}
		if lines, err := history.CompareBlobs(c.Repo, ch.Before, ch.OID); err == nil { // binary, or large
			n += len(lines.Added)
		}
	}
	return n, err
}
