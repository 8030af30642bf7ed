package story

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Each gives every session and memory that a recall would show, the oldest first: of some authors, in lower case, or of
// all with nil. What was scrubbed is left out. One of the two it gives is nil.
func Each(ctx context.Context, index *db.DB, repo *git.Repo, authors []string,
	visit func(*result.StorySession, *result.Memory) error,
) error {
	t := &builder{index: index, repo: repo}
	if err := t.loadIDs(ctx); err != nil {
		return err
	}
	ids, err := index.MatchingIDs(ctx, db.Filter{Authors: authors})
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if err := t.giveOne(ctx, id, visit); err != nil {
			return err
		}
	}
	return nil
}

func (t *builder) giveOne(ctx context.Context, id string,
	visit func(*result.StorySession, *result.Memory) error,
) error {
	t.out.Memories = nil
	if err := t.addMemory(ctx, id); err != nil {
		return err
	}
	if len(t.out.Memories) > 0 {
		if m := t.out.Memories[0]; m.Content != session.Scrubbed {
			return visit(nil, &m)
		}
		return nil
	}
	s, _, err := t.readSession(ctx, id, nil)
	if err != nil {
		return err
	}
	s.Said = slices.DeleteFunc(s.Said, func(u result.Turn) bool { return u.Content == session.Scrubbed })
	if s.Title == session.Scrubbed {
		s.Title = ""
	}
	return visit(&s, nil)
}

// FileName is what a file of a session or memory is called: when it began, its ID, and its title in ASCII.
func FileName(at, id, title string) string {
	words := strings.FieldsFunc(session.Shorten(title, 50), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	day, _, _ := strings.Cut(at, "T")
	return strings.TrimRight(day+"-"+id+"-"+strings.ToLower(strings.Join(words, "-")), "-") + ".md"
}

// SessionPage is a session as Markdown: all that was said, each turn in a block that it can't end, and the calls behind
// it.
func SessionPage(s result.StorySession) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cmp.Or(inlineText(s.Title), "(no title)"))
	fmt.Fprintf(&b, "Session %s of %s with %s, begun %s: %s, %s.\n", s.ID, inlineText(s.Author), inlineText(s.Source),
		formatTime(s.StartedAt, "2 Jan 2006 15:04 UTC"),
		session.CountNoun(s.Turns, "turn"), session.CountNoun(s.ToolCalls, "tool call"))
	if len(s.Commits) > 0 {
		fmt.Fprintf(&b, "\nCommits: %s.\n", strings.Join(shortCommits(s.Commits), ", "))
	}
	if len(s.Left) > 0 {
		fmt.Fprintf(&b, "\nEdited, and changed by no commit that is tied to it: %s.\n", inlineText(pathList(s.Left)))
	}
	calls := writeCalls(&b, s.Tools, -1)
	for _, t := range s.Said {
		who := "Answer"
		if t.Role == session.RoleHuman {
			who = "Prompt"
		}
		fmt.Fprintf(&b, "\n## %s %d, %s\n\n%s", who, t.Turn, formatTime(t.TS, "15:04"), fence(t.Content))
		calls = writeCalls(&b, calls, t.Turn)
	}
	return b.String()
}

// writeCalls writes the calls up to a turn, and returns the others.
func writeCalls(b *strings.Builder, all []result.Tool, turn int) []result.Tool {
	n := 0
	for ; n < len(all) && all[n].Turn <= turn; n++ {
		if n == 0 {
			b.WriteByte('\n')
		}
		failed := ""
		if all[n].Failed {
			failed = " (failed)"
		}
		fmt.Fprintf(b, "- %s%s\n", inlineText(strings.TrimSpace(all[n].Tool+" "+cmp.Or(all[n].Path, all[n].Cmd))), failed)
	}
	return all[n:]
}

func formatTime(ts, form string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return "at no known time"
	}
	return t.Format(form)
}

func shortCommits(shas []string) (out []string) {
	for _, sha := range shas {
		out = append(out, result.ShortOID(sha))
	}
	return out
}

// MemoryPage is a memory as Markdown.
func MemoryPage(m result.Memory) string {
	return fmt.Sprintf("# %s\n\nMemory %s of %s, saved %s.\n\n%s", cmp.Or(inlineText(m.Title), "(no title)"), m.ID,
		inlineText(m.Author), formatTime(m.CapturedAt, "2 Jan 2006 15:04 UTC"), fence(m.Content))
}
