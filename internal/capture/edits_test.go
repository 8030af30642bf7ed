package capture_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/statedb"
)

// blocked captures while no edit can be stored.
func (w *world) blocked() {
	w.T.Helper()
	w.captureWith("CREATE TRIGGER block BEFORE INSERT ON edits BEGIN SELECT RAISE(ABORT, 'blocked'); END",
		"DROP TRIGGER block")
}

// unread captures while no edit can be read.
func (w *world) unread() {
	w.T.Helper()
	w.captureWith("ALTER TABLE edits RENAME TO kept; CREATE VIEW edits AS SELECT path, rowid, zeroblob(9999999999) AS line FROM kept",
		"DROP VIEW edits; ALTER TABLE kept RENAME TO edits")
}

// captureWith captures with a database that harm has changed, and undoes that.
func (w *world) captureWith(harm, undo string) {
	w.T.Helper()
	w.inState(harm)
	out := w.try(func(c *capture.Capturer) (capture.Outcome, error) {
		c.Round = capture.Round{Piece: 2000}
		return c.Run(w.T.Context(), w.via, w.redo)
	})
	if len(out.Warnings) == 0 {
		w.T.Error("nobody was told that edits were not kept")
	}
	w.inState(undo)
}

// inState runs a statement in the database of state.
func (w *world) inState(statement string) {
	w.T.Helper()
	err := statedb.Change(w.T.Context(), w.cache(),
		func(ctx context.Context, tx *db.Tx) error { return tx.Exec(ctx, statement) })
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
			name: "the edits can't be read at the commit",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.capture()
				w.commit(10, "mine", "a.go", first)
				w.unread()
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
