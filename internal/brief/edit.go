package brief

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
)

// mostEdited is the largest file before whose edit git is asked for lines: a blame of more takes too long.
const mostEdited = 1 << 20

// Edit is what stands behind the lines that an edit is about to replace, at most one line: where one other session is known to have written
// them, a memory that names the file, or else that session. Old is what stands there now; file an absolute path.
func (s Source) Edit(ctx context.Context, file, old string) ([]result.BriefLine, error) {
	from, to, ok := place(file, old)
	name, inside := s.Repo.Inside(file)
	if !ok || !inside {
		return nil, nil
	}
	self, err := s.self(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := s.Index.Why(ctx, ask.WhyRequest{Target: fmt.Sprintf("%s:%d,%d", file, from, to), Limit: 1})
	if usage := (*ask.UsageError)(nil); errors.As(err, &usage) || errors.Is(err, git.ErrNotFound) { // not committed, binary, too large
		return nil, nil
	}
	if err != nil || len(answer.Results) == 0 {
		return nil, err
	}
	h := answer.Results[0]
	if len(h.Explains.Exact) == 0 || slices.Contains(self, h.ID) {
		return nil, nil
	}
	notes, err := s.notes(ctx, []string{name}, 1)
	if err != nil {
		return nil, err
	}
	exact := h.Explains.Exact[0]
	out := s.once(append(notes, hitLine(h, AboutLines, fmt.Sprintf("%s:%d,%d", name, exact[0], exact[1]))))
	return out[:min(len(out), 1)], nil
}

// place are the lines of a file in which a text stands that stands there once.
func place(file, old string) (from, to int, ok bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostEdited || !filepath.IsAbs(file) || strings.TrimSpace(old) == "" {
		return 0, 0, false
	}
	raw, err := os.ReadFile(file)
	text := string(raw)
	if err != nil || strings.Count(text, old) != 1 {
		return 0, 0, false
	}
	at := strings.Index(text, old)
	from = 1 + strings.Count(text[:at], "\n")
	return from, from + strings.Count(strings.TrimSuffix(old, "\n"), "\n"), true
}
