package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// blocked captures while no file of edits can be made in a folder that is not there yet.
func (w *world) blocked() {
	w.T.Helper()
	var blocks []string
	err := os.MkdirAll(filepath.Join(w.cache(), "edits"), 0o700)
	for i := range 256 {
		name := filepath.Join(w.cache(), "edits", fmt.Sprintf("%02x", i))
		if _, missing := os.Lstat(name); missing != nil {
			blocks = append(blocks, name)
			err = errors.Join(err, os.WriteFile(name, nil, 0o600))
		}
	}
	out := w.try(func(c *capture.Capturer) (capture.Outcome, error) {
		c.Round = capture.Round{Piece: 2000}
		return c.Run(w.T.Context(), w.via, w.redo)
	})
	if len(out.Warnings) == 0 {
		w.T.Error("nobody was told that edits were not kept")
	}
	for _, name := range blocks {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// TestEditsWait: where edits can't be kept the turns are captured, and the transcript is read again for its edits.
func TestEditsWait(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story func(w *world)
		want  []string
	}{
		{
			name: "the edits come before the commit",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.blocked()
				w.tells(sidA, "0 human: why", "Edit a.go")
				w.commit(10, "mine", "a.go", first)
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "the commits come before the edits",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.commit(10, "mine", "a.go", first)
				w.blocked()
				for i := range 4 {
					w.commit(20+i, fmt.Sprint("other ", i), fmt.Sprint(i), "1\n")
					w.blocked()
				}
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "a transcript that goes on",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.capture()
				w.add(sidA, edit(sidA, 5, "b.go", added(secondly)...)...)
				w.commit(10, "mine", "a.go", first, "b.go", secondly)
				w.blocked()
			},
			want: []string{"mine a.go 1-3 " + sidA, "mine b.go 1-3 " + sidA},
		},
		{
			name: "a transcript of several rounds",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				want := []string{"0 human: why", "Edit a.go"}
				for i := range 30 {
					w.add(sidA, say(sidA, 3+2*i, fmt.Sprint("went on ", i)), ask(sidA, 4+2*i, fmt.Sprint("go on ", i)))
					want = append(want, fmt.Sprintf("%d assistant: went on %d", 1+2*i, i), fmt.Sprintf("%d human: go on %d", 2+2*i, i))
				}
				w.blocked()
				w.tells(sidA, want...)
				w.add(sidA, ask(sidA, 100, "the end"))
				w.blocked()
				w.tells(sidA, append(want, "61 human: the end")...)
				w.commit(200, "mine", "a.go", first)
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "a file that was renamed",
			story: func(w *world) {
				w.commit(1, "before", "a.go", "package a\n\n// a file that is there, and that is about to be renamed\n")
				w.add(sidA, append([]string{ask(sidA, 2, "why")}, edit(sidA, 3, "a.go", added(first)...)...)...)
				w.capture()
				w.git("mv", "a.go", "z.go")
				w.commit(10, "moved", "z.go", "package a\n\n// a file that is there, and that is about to be renamed\n"+first)
				w.blocked()
			},
			want: []string{"moved z.go 4-6 " + sidA},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.story(w)
			w.capture()
			w.lines(tt.want...)
		})
	}
}

// TestTornEdit: what was written half, as on a full disk, costs that edit only until it is read again, and none that follows it.
func TestTornEdit(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.via = session.ViaManual
	w.capture()
	files, err := filepath.Glob(filepath.Join(w.cache(), "edits", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], append(text, text[:len(text)/2]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.add(sidB, append([]string{ask(sidB, 3, "and")}, edit(sidB, 4, "a.go", added(secondly)...)...)...)
	w.capture()
	w.commit(10, "both", "a.go", first+secondly)
	w.capture()
	w.lines("both a.go 1-3 "+sidA, "both a.go 4-6 "+sidB)
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "lines of the file: the edits, the torn one, and that the commit took two", 5, lineCount(kept))
}

func lineCount(text []byte) (n int) {
	for _, b := range text {
		if b == '\n' {
			n++
		}
	}
	return n
}
