package brief

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
)

// maxBlamedFile is the size in bytes up to which a file is blamed before an edit: git takes too long for a larger one.
const maxBlamedFile = 1 << 20

// Edit is at most one line about the text old in a file, an absolute path, that an edit is about to replace. If another
// session is known to have written that text, the line is a memory that names the file, or else that session.
func (s Source) Edit(ctx context.Context, file, old string) ([]result.BriefLine, error) {
	from, to, ok := findUniqueText(file, old)
	path, inside := s.Repo.PathInside(file)
	if !ok || !inside {
		return nil, nil
	}
	ownIDs, err := s.runningIDs(ctx)
	if err != nil {
		return nil, err
	}
	if tried, err := s.tried(ctx, path, ownIDs); err != nil || len(tried) > 0 {
		return tried, err
	}
	answer, err := s.Index.Why(ctx, ask.WhyRequest{Target: fmt.Sprintf("%s:%d,%d", file, from, to), Limit: 1})
	// not committed, binary, too large
	if usage := (*name.UsageError)(nil); errors.As(err, &usage) || errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil || len(answer.Results) == 0 {
		return nil, err
	}
	h := answer.Results[0]
	if len(h.Explains.Exact) == 0 || slices.Contains(ownIDs, h.ID) {
		return nil, nil
	}
	notes, err := s.memoriesNaming(ctx, []string{path}, 1)
	if err != nil {
		return nil, err
	}
	exact := h.Explains.Exact[0]
	out := s.withoutRepeats(append(notes, hitLine(h, AboutLines, fmt.Sprintf("%s:%d,%d", path, exact[0], exact[1]))))
	return out[:min(len(out), 1)], nil
}

// tried is at most one line about a session that changed a file in a commit that was reverted.
func (s Source) tried(ctx context.Context, file string, ownIDs []string) ([]result.BriefLine, error) {
	reverted, err := s.Index.Reverted(ctx)
	if err != nil || len(reverted) == 0 {
		return nil, err
	}
	behind, err := s.Index.SessionsIn(ctx, file, slices.Sorted(maps.Keys(reverted)))
	if err != nil {
		return nil, err
	}
	for _, sha := range slices.Sorted(maps.Keys(behind)) {
		ids := slices.DeleteFunc(behind[sha], func(id string) bool { return slices.Contains(ownIDs, id) })
		lines, err := s.briefLines(ctx, ids[:min(len(ids), 1)], AboutTried, reverted[sha].String())
		if lines = s.withoutRepeats(lines); err != nil || len(lines) > 0 {
			return lines, err
		}
	}
	return nil, nil
}

// findUniqueText finds the first and the last line of a text in a file; ok is false unless the file holds the text
// exactly once.
func findUniqueText(path, old string) (from, to int, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBlamedFile || !filepath.IsAbs(path) ||
		strings.TrimSpace(old) == "" {
		return 0, 0, false
	}
	raw, err := os.ReadFile(path)
	text := string(raw)
	if err != nil || strings.Count(text, old) != 1 {
		return 0, 0, false
	}
	at := strings.Index(text, old)
	from = 1 + strings.Count(text[:at], "\n")
	return from, from + strings.Count(strings.TrimSuffix(old, "\n"), "\n"), true
}
