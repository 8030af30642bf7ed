package web

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/workspace"
)

// An answer of the command holds for some minutes, and then it is asked again.
func TestRightsHold(t *testing.T) {
	now, asked := time.Unix(0, 0), filepath.Join(t.TempDir(), "asked")
	s := &Site{process: workspace.Process{
		Env: os.Environ(), Now: func() time.Time { return now },
		Warn: func(err error) { t.Log(err) },
	}}
	s.Rights(fmt.Sprintf("echo >>%s; f() { test $1 = alice -a $(wc -l <%[1]s) -lt 3; }; f", asked))
	for _, step := range []struct {
		after time.Duration
		who   string
		want  bool
	}{
		{0, "alice", true},
		{rightsHold, "alice", true},   // it is not asked
		{0, "bob", false},             // asked for the second time
		{time.Second, "alice", false}, // and for the third
		{rightsHold - 1, "alice", false},
	} {
		now = now.Add(step.after)
		if got := s.rights.isAllowed(step.who, "https://example.com/acme/shop"); got != step.want {
			t.Errorf("at %v %s may: %v, want %v", now.Sub(time.Unix(0, 0)), step.who, got, step.want)
		}
	}
	if lines, err := os.ReadFile(asked); len(lines) != 3 {
		t.Errorf("asked %d times, want 3 (%v)", len(lines), err)
	}
}
