package recall

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// maxInferred is how many commits, those with the most lines, are taken for squashes of others where
// no session stands behind them.
const maxInferred = 20

// behind tells which sessions stand behind the commits of lines.
type behind struct {
	index    *db.DB
	repo     *git.Repo
	rewrites []session.Rewrite
	names    [][]string // of each commit: itself, and what it was and became
	rows     map[string][]db.CommitRow
	owners   map[db.FileRow]bool
	asked    []git.OID
	inferred int
	added    map[db.FileRow]lines // by commit and path, as Checkpoint and Path
}

func newBehind(ctx context.Context, index *db.DB, repo *git.Repo, sources []source) (*behind, error) {
	b := &behind{index: index, repo: repo, owners: map[db.FileRow]bool{}, added: map[db.FileRow]lines{}}
	var err error
	if b.rewrites, err = index.Rewrites(ctx); err != nil {
		return nil, err
	}
	var all []string
	for _, s := range sources {
		names := closure(string(s.Commit), b.rewrites)
		b.names, b.asked = append(b.names, names), append(b.asked, s.Commit)
		all = append(all, names...)
	}
	b.rows, err = b.read(ctx, all)
	return b, err
}

// read asks which sessions stand behind commits, and whose the files of their checkpoints are.
func (b *behind) read(ctx context.Context, shas []string) (map[string][]db.CommitRow, error) {
	rows, err := b.index.Behind(ctx, shas)
	if err != nil {
		return nil, err
	}
	var checkpoints []string
	for _, of := range rows {
		for _, r := range of {
			checkpoints = append(checkpoints, r.Checkpoint)
		}
	}
	slices.Sort(checkpoints)
	owners, err := b.index.Owners(ctx, slices.Compact(checkpoints))
	maps.Copy(b.owners, owners)
	return rows, err
}

// of are the ties of sessions to a commit, by its number, or else to what it was made of on a
// server.
func (b *behind) of(ctx context.Context, i int) (out []db.CommitRow, inferred bool, err error) {
	for _, name := range b.names[i] {
		out = append(out, b.rows[name]...)
	}
	if len(out) > 0 || b.inferred == maxInferred {
		return out, false, nil
	}
	b.inferred++
	parts, err := squashed(ctx, b.index, b.repo, b.asked[i], b.rewrites)
	if err != nil || len(parts) == 0 {
		return nil, false, err
	}
	var names []string
	for _, p := range parts {
		names = append(names, closure(p, b.rewrites)...)
	}
	rows, err := b.read(ctx, names)
	for _, name := range names {
		out = append(out, rows[name]...)
	}
	return out, true, err
}

// brought are those of the sessions behind a commit that a line of a file is from: theirs whose the
// file is; and of these, where the commit was made of several (a fixup, a squash) that are still
// here, those behind the ones that added the line.
func (b *behind) brought(rows []db.CommitRow, path, line string) []string {
	own := slices.DeleteFunc(slices.Clone(rows), func(r db.CommitRow) bool {
		return !b.owners[db.FileRow{Checkpoint: r.Checkpoint, Session: r.Session, Path: path}]
	})
	if len(own) == 0 {
		own = rows
	}
	if line = strings.TrimSpace(line); len(line) >= tellingLine && severalCommits(own) {
		telling := slices.DeleteFunc(slices.Clone(own), func(r db.CommitRow) bool { return !b.addedBy(r.SHA, path)[line] })
		if len(telling) > 0 {
			own = telling
		}
	}
	var out []string
	for _, r := range own {
		if !slices.Contains(out, r.Session) {
			out = append(out, r.Session)
		}
	}
	return out
}

func severalCommits(rows []db.CommitRow) bool {
	return slices.ContainsFunc(rows, func(r db.CommitRow) bool { return r.SHA != rows[0].SHA })
}

// addedBy are the lines that a commit added to a file; none where it is not here.
func (b *behind) addedBy(sha, path string) lines {
	key := db.FileRow{Checkpoint: sha, Path: path}
	out, ok := b.added[key]
	if !ok && len(b.added) < maxRead {
		if c, err := b.repo.Commit(git.OID(sha)); err == nil {
			out, _ = (&squash{repo: b.repo}).added(c, path) // what can't be read adds nothing
		}
		b.added[key] = out
	}
	return out
}
