package capture_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// notes are what the ledger holds besides sessions, oldest first.
func (w *world) notes() (all session.Entry) {
	w.T.Helper()
	repo := w.open()
	tip, err := w.own(repo).Tip()
	if err != nil {
		w.T.Fatal(err)
	}
	commits, err := ledger.Since(w.T.Context(), repo, tip)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, c := range commits {
		for _, seg := range c.Segments {
			e, err := ledger.ReadSegment(repo, seg)
			if err != nil {
				w.T.Fatal(err)
			}
			all.Join(e)
		}
	}
	return all
}

// with gives a Capturer that knows nothing but the files.
func (w *world) with(do func(*capture.Capturer) error) {
	w.T.Helper()
	c, done, err := w.capturer()
	if err != nil {
		w.T.Fatal(err)
	}
	defer done()
	if err := do(c); err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) save(n capture.Note) (out capture.Saved) {
	w.T.Helper()
	w.with(func(c *capture.Capturer) (err error) {
		out, err = c.Save(w.T.Context(), n)
		return err
	})
	return out
}

func TestSave(t *testing.T) {
	w := newWorld(t)
	first := w.save(capture.Note{Content: "\n  Use " + secret + " for\nthe API.\n", Source: "manual"})
	if first.Title != "Use [REDACTED:github-pat] for" || first.Content != "Use [REDACTED:github-pat] for\nthe API." ||
		first.Existing {
		t.Errorf("saved %+v", first)
	}
	harness.Equal(t, "redacted", map[string]int{"github-pat": 1}, first.Redacted)
	harness.Equal(t, "human", session.ActorHuman, first.ActorType)
	if log := w.git("log", "--format=%B", "rekal/"+email); strings.Contains(log, secret) ||
		!strings.Contains(log, "memory: Use [REDACTED") {
		t.Errorf("the ledger's log: %s", log)
	}
	harness.Equal(t, "in the ledger", []session.Memory{first.Memory}, w.notes().Memories)

	t.Run("the same again", func(t *testing.T) {
		for _, forget := range []bool{false, true} {
			if forget {
				w.forget()
			}
			again := w.save(capture.Note{Title: first.Title, Content: "Use " + secret + " for\nthe API."})
			harness.Equal(t, "ID, existing", [2]any{first.ID, true}, [2]any{again.ID, again.Existing})
		}
		harness.Equal(t, "memories", 1, len(w.notes().Memories))
	})
	t.Run("under another title", func(t *testing.T) {
		harness.Equal(t, "existing", false, w.save(capture.Note{Title: "another", Content: first.Content}).Existing)
	})
	t.Run("after a purge, and a restore", func(t *testing.T) {
		mark := []session.Mark{{ID: first.ID, N: 1}}
		w.with(func(c *capture.Capturer) error { return c.Purge(t.Context(), mark) })
		second := w.save(capture.Note{Content: first.Content})
		harness.Equal(t, "existing", false, second.Existing)
		w.with(func(c *capture.Capturer) error { return c.Restore(t.Context(), mark) })
		if got := w.save(capture.Note{Content: first.Content}); !got.Existing {
			t.Error("saved a third time")
		}
		all := w.notes()
		harness.Equal(t, "numbers", [2]int{1, 2}, [2]int{all.Purges[0].N, all.Restores[0].N})
	})
	t.Run("a capture goes on", func(t *testing.T) {
		w.add(sidA, ask(sidA, 0, "why"))
		harness.Equal(t, "turns", 1, w.capture().Turns)
		harness.Equal(t, "nothing new", 0, w.capture().Turns)
	})
}

// A title that an agent cut from the text may hold a secret's beginning.
func TestTitleIsNoBeginningOfASecret(t *testing.T) {
	w := newWorld(t)
	text := "the token is " + secret
	got := w.save(capture.Note{Title: text[:len(text)-8], Content: text})
	if strings.Contains(got.Title, secret[:12]) {
		t.Errorf("the title is %q", got.Title)
	}
}

// Where a title ends, a rule may see a secret that it did not see in the text.
func TestWhatIsToldIsStored(t *testing.T) {
	w := newWorld(t)
	text := "https://user:pa55w0rdpa55@host/x'the token is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123456ghiJKLAKIAIOSFODNN7EXAMPLE\nx"
	first := w.save(capture.Note{Content: text})
	harness.Equal(t, "in the ledger", []session.Memory{first.Memory}, w.notes().Memories)
	harness.Equal(t, "ID", session.NewMemoryID(first.TS, email, first.Title, first.Content), first.ID)
	harness.Equal(t, "existing", true, w.save(capture.Note{Content: text}).Existing)
}

func TestWhatCannotBeSaved(t *testing.T) {
	w := newWorld(t)
	for name, n := range map[string]capture.Note{
		"empty":           {Content: " \n\t"},
		"NUL":             {Content: "a\x00b"},
		"long":            {Content: strings.Repeat("x", capture.MaxContent+1)},
		"long, of spaces": {Content: "x" + strings.Repeat(" ", capture.MaxContent)},
		"a long title":    {Title: strings.Repeat("ä", capture.MaxTitle+1), Content: "x"},
		"a long source":   {Source: strings.Repeat("x", capture.MaxSource+1), Content: "x"},
		"nothing printed": {Title: "t", Content: ""},
	} {
		c, done, err := w.capturer()
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Save(t.Context(), n)
		if wrong := (*capture.NoteError)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		done()
	}
	longest := w.save(capture.Note{
		Title:   strings.Repeat("ä", capture.MaxTitle),
		Content: strings.Repeat("x", capture.MaxContent), Source: "a\nb",
	})
	harness.Equal(t, "source", "a b", longest.Source)
	harness.Equal(t, "memories", 1, len(w.notes().Memories))
}

// What several save at once is there once, and marks that several set at once get on.
func TestNotesAtOnce(t *testing.T) {
	w := newWorld(t)
	const many = 8
	var all sync.WaitGroup
	errs := make(chan error, 2*many)
	for i := range many {
		c, done, err := w.capturer()
		if err != nil {
			t.Fatal(err)
		}
		c.Now = time.Now // that of the world is for one
		all.Go(func() {
			defer done()
			_, err := c.Save(t.Context(), capture.Note{Content: "the same of all"})
			errs <- err
			_, err = c.Save(t.Context(), capture.Note{Content: fmt.Sprint("the one of ", i)})
			errs <- err
		})
	}
	all.Wait()
	for range 2 * many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	harness.Equal(t, "memories", many+1, len(w.notes().Memories))
}
