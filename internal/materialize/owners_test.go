package materialize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Of the sessions of one checkpoint a file is theirs who edited it, else theirs who read it or
// named it in a command; else theirs who have another one, or who commit. Who wrote nothing has none that it never named.
func TestLongWhoseFilesAre(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
		says map[string]string // session → what it called
		want string
	}{
		{"one edited it", "M src/a.go", map[string]string{"ann": "Edit src/a.go", "ben": "Edit src/b.go"}, "ann"},
		{"two edited it", "M src/a.go", map[string]string{"ann": "Edit src/a.go", "ben": "Write src/a.go"}, "ann ben"},
		{"one edited and one read it", "M src/a.go", map[string]string{"ann": "Edit src/a.go", "ben": "Read src/a.go"}, "ann"},
		{"one read it", "M src/a.go", map[string]string{"ann": "Read src/a.go", "ben": "Edit src/b.go"}, "ann"},
		{"one named it", "M src/a.go", map[string]string{"ann": "Read src/c.go", "ben": "Bash sed -i s/x/y/ src/a.go"}, "ben"},
		{"one read and one named it", "M src/a.go", map[string]string{"ann": "Read src/a.go", "ben": "Bash cd src && gofmt -w a.go"}, "ann ben"},
		{"one named a name with odd signs", "M app/[id].tsx", map[string]string{"ann": "Bash npx prettier -w 'app/[id].tsx'", "ben": "Bash cat id.tsx"}, "ann"},
		{"at the end of a sentence", "M .env.sample", map[string]string{"ann": "Bash echo see .env.sample...", "ben": "Bash cat x.env.sample"}, "ann"},
		{"one named another", "M src/a.go", map[string]string{"ann": "Bash cat src/aa.go a.go.orig .a.go a.gox", "ben": "Bash cat b"}, ""},
		{"nobody knows", "M src/a.go", map[string]string{"ann": "Edit src/b.go", "ben": "Bash make"}, ""},
		{"who commits by itself", "M src/a.go", map[string]string{"ann": "Edit src/b.go; Bash git add -A && git commit -m x"}, "ann?"},
		{"no file of this repository", "M src/a.go", map[string]string{"ann": "Edit ~/.claude/plans/a.md; Bash make"}, ""},
		{"merely looked", "M src/a.go", map[string]string{"ann": "Read docs/monads.md"}, ""},
		{"one edited what was renamed", "R src/old.go src/a.go", map[string]string{"ann": "Edit src/old.go", "ben": "Edit src/b.go"}, "ann"},
		{"one moved it", "R src/old.go src/a.go", map[string]string{"ann": "Bash git mv src/old.go x", "ben": "Edit src/b.go"}, "ann"},
		{"alone", "M src/a.go", map[string]string{"ann": "Edit src/b.go"}, "ann?"},
		{"both at something else", "M src/a.go", map[string]string{"ann": "Edit src/b.go", "ben": "Edit src/c.go"}, ""},
		{"alone, and nothing known", "M src/a.go", map[string]string{"ann": "Bash make"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var now, before, after []session.Session
			for _, name := range []string{"ann", "ben"} {
				if call, ok := c.says[name]; ok {
					calls := strings.Split(call, "; ")
					s := chat(name, 0, slices.Concat([]string{"human hello"}, calls, []string{"assistant done", "human more", "assistant indeed"})...)
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
			w.append(alice, 10, entryOf(nil, before...))
			w.catchUp(w.materializer())
			w.append(alice, 20, entryOf(commit("1", alice, c.file), after...))
			harness.Equal(t, "owners of what went on", want, owners())
			same(t, "rebuilt", w.rebuilt(), w.catchUp(w.materializer()))
		})
	}
}

// TestTalkBehindACommit: a checkpoint without the files of its commit is the tail of a session, or a talk; nothing says that it made
// the commit. Before the first commit there is nothing to be made.
func TestTalkBehindACommit(t *testing.T) {
	w := newWorld(t)
	s := chat("talk", 0, "human what do you think of it", "assistant it is fine")
	w.append(alice, 10, entryOf(commit("0", alice), until(s, 1, 0)))
	w.append(alice, 20, entryOf(commit("1", alice), from(s, 1, 0)))
	harness.Equal(t, "ties", []string{`{"sha":"0","inferred":false}`, `{"sha":"1","inferred":true}`},
		w.index(w.materializer(), `SELECT git_sha[1] AS sha, inferred FROM session_commits ORDER BY ALL`))
}
