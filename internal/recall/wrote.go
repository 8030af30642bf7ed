package recall

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
)

// readWrote reads what sessions wrote in commits.
func (b *behind) readWrote(ctx context.Context, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool {
		_, ok := b.wrote[sha]
		return ok
	})
	wrote, err := b.index.Wrote(ctx, shas)
	for _, sha := range shas {
		b.wrote[sha] = attribution.CredibleLines(wrote[sha], makerOf(b.repo, sha))
	}
	return err
}

// written gives lines to those who wrote them, and asks for the rest. Where it is known who wrote the others of a file, that is a
// guess: a formatter, a command or a person may have written these.
func (b *behind) written(ctx context.Context, s source, rest func(context.Context, source) ([][]attribution.Claim, error)) ([][]attribution.Claim, error) {
	if err := b.readWrote(ctx, []string{string(s.Commit)}); err != nil {
		return nil, err
	}
	out, others := make([][]attribution.Claim, len(s.lines)), source{Origin: s.Origin}
	var at []int
	for i, line := range s.at {
		if w := attribution.Writer(b.wrote[string(s.Commit)], s.Path, line); w != "" {
			out[i] = []attribution.Claim{{Session: w, Exact: true, Turn: -1}}
			continue
		}
		at, others.lines, others.at = append(at, i), append(others.lines, s.lines[i]), append(others.at, line)
	}
	if len(at) == 0 {
		return out, nil
	}
	claims, err := rest(ctx, others)
	known := slices.ContainsFunc(b.wrote[string(s.Commit)], func(w attribution.LineRecord) bool { return w.Path == s.Path })
	for i := range claims {
		out[at[i]] = slices.Clone(claims[i])
		for j := range out[at[i]] {
			out[at[i]][j].Inferred = out[at[i]][j].Inferred || known
		}
	}
	return out, err
}
