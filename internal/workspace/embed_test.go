package workspace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
