package world

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// LongTitle is longer than two lines of a phone.
const LongTitle = "Read the expiry of tokens in the zone of the service that made them, and a half of a minute later where its clock is known to lag behind ours"

// Long is a repository with one session of 90 prompts, behind three commits. Every third of it leaves a line in ten of
// one file, which had forty lines of nobody before.
func Long(t testing.TB) *World {
	w := create(t, "gateway")
	lines := strings.Split(strings.Repeat("// a line of nobody's\n", 40), "\n")
	text := func() string { return "package auth\n\n" + strings.Join(lines, "\n") }
	w.Write(w.At("home/gateway/src/auth/clock.go"), text())
	w.commit("Add a clock")
	start, written := w.now, 0 // lines of the transcript, between which a minute lies
	for part := range 3 {
		said := []harness.Said{{Who: "title", Text: LongTitle}}
		for i := range 30 {
			n := part*30 + i
			said = append(said,
				harness.Said{Who: "human", Text: fmt.Sprintf("Step %d: what does the clock of service %d say?", n, n)},
				harness.Said{Who: "Bash", Text: fmt.Sprintf("date -u -d @%d", n)})
			if i%3 == 0 {
				line := part*10 + i/3
				edit := harness.Said{Who: "Edit", Text: "src/auth/clock.go", Old: lines[line], New: fmt.Sprintf("const lag%d = %d // s", n, n)}
				lines[line], said, written = edit.New, append(said, edit), written+1
			}
			said = append(said, harness.Said{Who: "assistant", Text: fmt.Sprintf("It lags **%d s** behind, as `date` says.", n)})
		}
		w.Talk(w.Dir, "6d1c0f5e-0001-4000-8000-000000000001", "main", start, said...)
		written += len(said)
		w.now = start.Add(time.Duration(written) * time.Minute)
		w.Write(w.At("home/gateway/src/auth/clock.go"), text())
		w.commit(fmt.Sprintf("Allow for lags, part %d", part))
		w.Run("hook", "post-commit")
	}
	w.Run("save", "--title", "Lags", "The clocks of services lag by up to 89 s.")
	return w
}
