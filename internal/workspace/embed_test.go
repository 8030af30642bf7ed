package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestExpect: a question has its own vector, whether it or another one was expected.
func TestExpect(t *testing.T) {
	w := newPlace(t).open("repo", "REKAL_EMBED=builtin")
	m := harness.Model(t)
	w.Weights = func() (string, error) { return harness.Weights(t), nil }
	w.PrepareVector("why does the token expire early")
	for _, text := range []string{"why does the token expire early", "who cleans up", ""} {
		want, err := m.Vector(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.QuestionVector(t.Context(), model.Name, text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := w.QuestionVector(t.Context(), "other", "why does the token expire early"); got != nil {
		t.Errorf("of another model: %v", got)
	}
}

// TestHoldBackgroundWork: while a question is asked, others may be, and nothing is made in the background.
func TestHoldBackgroundWork(t *testing.T) {
	w := newPlace(t).open("repo")
	if err := os.MkdirAll(w.RekalDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.RekalDir(), "lock.questions")
	first, second := w.HoldBackgroundWork(t.Context()), w.HoldBackgroundWork(t.Context())
	for _, release := range []func() error{first, second} {
		if _, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0); !errors.Is(err, lock.ErrBusy) {
			t.Errorf("who makes vectors does not wait: %v", err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	held, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.HoldBackgroundWork(t.Context())(), held.Release()); err != nil {
		t.Errorf("a question fails where somebody looks whether there is one: %v", err)
	}
}
