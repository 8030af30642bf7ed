package recall

import (
	"context"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
)

// readWrote reads what sessions wrote in commits.
func (b *behind) readWrote(ctx context.Context, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool {
		_, ok := b.wrote[sha]
		return ok
	})
	wrote, err := b.index.Wrote(ctx, shas)
	for _, sha := range shas {
		b.wrote[sha] = b.possible(sha, wrote[sha])
	}
	return err
}

// maxWriters is how many records count of one file of a commit: nobody's many make an answer slow.
const maxWriters = 200

// possible leaves out edits that are later than the commit, and puts in front what those say who made it: nobody else can take
// their lines.
func (b *behind) possible(sha string, rows []db.WroteRow) []db.WroteRow {
	if c, err := b.commit(sha); err == nil {
		rows = slices.DeleteFunc(rows, func(w db.WroteRow) bool { return w.TS.After(c.Committer.When.Add(time.Second)) })
	}
	home := b.home(sha)
	slices.SortStableFunc(rows, func(x, y db.WroteRow) int { return compareBool(!home(x.Email), !home(y.Email)) })
	of := map[string]int{}
	return slices.DeleteFunc(rows, func(w db.WroteRow) bool { of[w.Path]++; return of[w.Path] > maxWriters })
}

// written gives lines to those who wrote them, and asks for the rest. Where it is known who wrote the others of a file, that is a
// guess: a formatter, a command or a person may have written these.
func (b *behind) written(ctx context.Context, s source, rest func(context.Context, source) ([][]claim, error)) ([][]claim, error) {
	if err := b.readWrote(ctx, []string{string(s.Commit)}); err != nil {
		return nil, err
	}
	out, others := make([][]claim, len(s.lines)), source{Origin: s.Origin}
	var at []int
	for i, line := range s.at {
		if w := b.writer(s, line); w != "" {
			out[i] = []claim{{session: w, exact: true, turn: -1}}
			continue
		}
		at, others.lines, others.at = append(at, i), append(others.lines, s.lines[i]), append(others.at, line)
	}
	if len(at) == 0 {
		return out, nil
	}
	claims, err := rest(ctx, others)
	known := slices.ContainsFunc(b.wrote[string(s.Commit)], func(w db.WroteRow) bool { return w.Path == s.Path })
	for i := range claims {
		out[at[i]] = slices.Clone(claims[i])
		for j := range out[at[i]] {
			out[at[i]][j].inferred = out[at[i]][j].inferred || known
		}
	}
	return out, err
}

// writer is the session that wrote a line of a commit; "" where nobody says so.
func (b *behind) writer(s source, line int) string {
	i := slices.IndexFunc(b.wrote[string(s.Commit)], func(w db.WroteRow) bool { return w.Path == s.Path && w.Lines.Has(line) })
	if i < 0 {
		return ""
	}
	return b.wrote[string(s.Commit)][i].Session
}
