package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// screen is what a terminal shows of a text: what stands behind a carriage return covers what stood there.
func screen(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		var shown []rune
		for part := range strings.SplitSeq(line, "\r") {
			over := []rune(part)
			shown = append(over, shown[min(len(over), len(shown)):]...)
		}
		out = append(out, strings.TrimRight(string(shown), " "))
	}
	return strings.Join(out, "\n")
}

func TestMeter(t *testing.T) {
	const soon, late = 400 * time.Millisecond, 600 * time.Millisecond
	for _, c := range []struct {
		name     string
		terminal bool
		waits    time.Duration
		at, of   int
		want     string // while it is there
	}{
		{"in a pipe", false, late, 3, 9, ""},
		{"soon over", true, soon, 3, 9, ""},
		{"a counter", true, late, 3, 9, "git-rekal: indexing [######--------------] 3 of 9, 2 s left"},
		{"a count of who knows how many", true, late, 3, 0, "git-rekal: indexing: 3"},
		{"done", true, late, 9, 9, ""},
		{"no counter", true, late, 0, 0, "git-rekal: indexing…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				app := &App{Stderr: &out, Terminal: c.terminal}
				m := app.meter("indexing")
				m.setProgress(100, 100)
				m.setProgress(c.at, c.of)
				time.Sleep(c.waits)
				synctest.Wait()
				if got := screen(out.String()); got != c.want {
					t.Errorf("while it is at work: %q, want %q", got, c.want)
				}
				app.notify("one file is odd")
				time.Sleep(c.waits)
				synctest.Wait()
				m.end()
				if got := screen(out.String()); got != "git-rekal: one file is odd\n" {
					t.Errorf("behind it: %q", got)
				}
				if c.want == "" && out.String() != "git-rekal: one file is odd\n" && !c.terminal {
					t.Errorf("it wrote %q", out.String())
				}
				if app.Stderr != &out {
					t.Error("it still stands before stderr")
				}
			})
		})
	}
}

// A line that grows shorter leaves nothing behind.
func TestMeterShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		app := &App{Stderr: &out, Terminal: true}
		m := app.meter("reading")
		defer m.end()
		for _, of := range []int{1000, 9, 0} {
			m.setProgress(of/2, of)
			time.Sleep(meterAfter + meterEvery)
			synctest.Wait()
		}
		if got := screen(out.String()); got != "git-rekal: reading…" {
			t.Errorf("%q", got)
		}
	})
}
