package capture_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/remembered"
)

const vexing = "Vexing-Otter-91"

// remembers gives the captures of a process the memory of the clone.
func (w *world) remembers() {
	w.red.Remembered = remembered.Open(w.At("clone"), remembered.ToKeep, rand.Reader)
}

// holdsNoSecret fails where the ledger holds it.
func (w *world) holdsNoSecret() {
	w.T.Helper()
	for _, line := range strings.Split(w.git("log", "-p", "--format=%B", "rekal/"+email), "\n") {
		if strings.Contains(line, vexing) {
			w.T.Errorf("the ledger holds %.300q", line)
		}
	}
}

// TestRemembered: what one capture calls a secret is none of a later one's text, nor of another session's, nor when all
// is captured anew.
func TestRemembered(t *testing.T) {
	w := newWorld(t)
	w.remembers()
	w.add(sidA, ask(sidA, 0, "the password is "+vexing+" now"))
	w.capture()
	w.remembers()
	w.add(sidA, ask(sidA, 10, "ssh bob@host, then "+vexing))
	w.add(sidB, ask(sidB, 20, "I typed "+vexing+", and it works"))
	w.commit(30, vexing+" at work", "x.go", "package x\n")
	stored(t, w.capture(), 2, 2, 0)
	w.holdsNoSecret()
	w.startOver()
	w.remembers()
	w.capture()
	w.holdsNoSecret()
	if n := strings.Count(w.git("log", "-p", "--format=", "rekal/"+email), "[REDACTED:"); n < 3 {
		t.Errorf("%d places", n)
	}
}

// TestRememberedByImport: what the last of many sessions calls a secret stands in no earlier one, however many rounds
// they take.
func TestRememberedByImport(t *testing.T) {
	for _, round := range []capture.Round{{}, {Kept: 1}, {Piece: 300}} {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t)
			w.remembers()
			for i := range 40 {
				id := fmt.Sprintf("0000%04d-0000-4000-8000-000000000000", i)
				text := "then I type " + vexing
				if i == 39 {
					text = "PASSWORD=" + vexing + " make"
				}
				w.add(id, ask(id, 100*i, text), say(id, 100*i+1, "good"), ask(id, 100*i+2, "more"))
			}
			out := w.try(func(c *capture.Capturer) (capture.Outcome, error) {
				c.Round = round
				return c.Import(t.Context())
			})
			stored(t, out, 40, 120, 0)
			w.holdsNoSecret()
		})
	}
}

// TestRememberedWithinACapture: what a later one of the entries that are stored together calls a secret stands in no
// earlier one.
func TestRememberedWithinACapture(t *testing.T) {
	w := newWorld(t)
	w.remembers()
	w.add(sidA, ask(sidA, 0, "then I type "+vexing), use(sidA, 1, "Edit", "x.go"))
	w.commit(10, "no hook saw it", "x.go", "package x\n")
	w.commit(20, "nor this", "y.go", "package y\n")
	w.add(sidB, ask(sidB, 30, "the password is "+vexing))
	w.commit(40, "this one did", "z.go", "package z\n")
	out := w.capture()
	if w.holdsNoSecret(); out.Turns != 2 {
		t.Errorf("%+v", out)
	}
	if n := strings.Count(w.git("log", "--format=%H", "rekal/"+email), "\n"); n < 2 {
		t.Errorf("one entry alone: %d", n)
	}
}
