package materialize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestWhoseFilesAre gives files by what is new and by what the tables hold. Which rules there are is tested in package
// attribution.
func TestWhoseFilesAre(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
		says map[string]string // session → what it called
		want string
	}{
		{"one edited it", "M src/a.go", map[string]string{"ann": "Edit src/a.go", "ben": "Edit src/b.go"}, "ann"},
		{"one named it", "M src/a.go", map[string]string{"ann": "Read src/c.go", "ben": "Bash sed -i s/x/y/ src/a.go"}, ""},
		{"nobody knows", "M src/a.go", map[string]string{"ann": "Edit src/b.go", "ben": "Bash make"}, ""},
		{"alone", "M src/a.go", map[string]string{"ann": "Edit src/b.go"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var now, before, after []session.Session
			for _, name := range []string{"ann", "ben"} {
				if call, ok := c.says[name]; ok {
					calls := strings.Split(call, "; ")
					s := chat(name, 0, slices.Concat([]string{"human hello"}, calls,
						[]string{"assistant done", "human more", "assistant indeed"})...)
					now, before, after = append(now, s), append(before, until(s, 2, len(calls))), append(after, from(s, 2, len(calls)))
				}
			}
			want := []string{}
			for _, s := range now {
				if strings.Contains(c.want, s.NativeID) {
					want = append(want, fmt.Sprintf(`{"s":%q,"inferred":%t}`, s.ID, strings.Contains(c.want, s.NativeID+"?")))
				}
			}
			slices.Sort(want)
			owners := func() []string {
				return w.index(w.materializer(), `SELECT session_id AS s, inferred FROM files_index ORDER BY s`)
			}
			w.append(alice, 10, entryOf(commit("1", alice, c.file), now...))
			harness.Equal(t, "owners", want, owners())

			// Said before, in a part that the tables hold already.
			w = newWorld(t)
			pushed := commit("0", alice)
			pushed.Via = session.ViaPush
			w.append(alice, 10, entryOf(pushed, before...))
			w.catchUp(w.materializer())
			w.append(alice, 20, entryOf(commit("1", alice, c.file), after...))
			harness.Equal(t, "owners of what went on", want, owners())
			same(t, "rebuilt", w.rebuilt(), w.catchUp(w.materializer()))
		})
	}
}

// TestTalkBehindACommit: who has no file of the commit talked. Closing words, and what was stored at a push, are tied
// to nothing.
func TestTalkBehindACommit(t *testing.T) {
	w := newWorld(t)
	s := chat("talk", 0, "human what do you think of it", "assistant it is fine")
	w.append(alice, 10, entryOf(commit("0", alice), until(s, 1, 0)))
	w.append(alice, 20, entryOf(commit("1", alice), from(s, 1, 0)))
	pushed := commit("1", alice)
	pushed.Via = session.ViaPush
	w.append(alice, 30, entryOf(pushed, chat("later", 25, "human and now")))
	harness.Equal(t, "ties", []string{`{"sha":"0","inferred":true,"tie":"talked"}`},
		w.index(w.materializer(), `SELECT git_sha[1] AS sha, inferred, tie FROM session_commits ORDER BY ALL`))
	harness.Equal(t, "closing words, and what was stored at a push",
		slices.Repeat([]string{`{"inferred":true,"tie":null}`}, 2),
		w.data(w.materializer(), `SELECT inferred, tie FROM checkpoint_sessions WHERE tie IS NULL`))
}
