package recall_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// write puts a file into the working tree.
func (p *place) write(path, text string) {
	p.T.Helper()
	full := filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		p.T.Fatal(err)
	}
}

// committed makes a code commit of files (path, text, …), and a checkpoint that says so.
func (p *place) committed(subject string, files ...string) *session.Checkpoint {
	p.T.Helper()
	for i := 0; i < len(files); i += 2 {
		p.write(files[i], files[i+1])
		p.git("add", files[i])
	}
	sha := p.code(subject)
	cp := &session.Checkpoint{GitSHA: sha}
	changes, err := p.repo.Changes(git.OID(sha))
	if err != nil {
		p.T.Fatal(err)
	}
	for _, c := range changes {
		cp.Files = append(cp.Files, session.File{Path: c.Path, OldPath: c.OldPath, Change: c.Kind, Blob: string(c.OID)})
	}
	return cp
}

var essay = strings.Repeat("a line of some length that tells something\n", 20)

// files is a ledger with a session for each state that a recall can find: alike on the topic.
func files(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.append(alice, 10, session.Entry{
		Checkpoint: p.committed("one", "src/jwt.go", "one\n", "src/clock.go", essay),
		Sessions:   []session.Session{chat("both", 0, "human the token topic", "Edit src/jwt.go", "Edit src/clock.go")},
	})
	p.append(alice, 20, session.Entry{
		Checkpoint: p.committed("two", "src/jwt.go", "two\n"),
		Sessions:   []session.Session{chat("later", 11, "human the token topic", "Edit src/jwt.go")},
	})
	p.append(alice, 21, session.Entry{Sessions: []session.Session{
		chat("talk", 21, "human the token topic", "Read src/jwt.go"),
		chat("loose", 22, "human the token topic", "Edit src/never.go"),
		chat("outside", 23, "human the token topic", "Edit /tmp/notes", "Edit ~/.bashrc"),
	}})
	p.open()
	return p
}

// states are what a recall says of each session: "later fresh, …", by name.
func (p *place) states(req recall.Request) string {
	p.T.Helper()
	var out []string
	for _, h := range p.recall(req).Results {
		out = append(out, p.names[h.ID]+" "+h.Freshness)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestLongFreshness(t *testing.T) {
	const rest = "loose unknown, outside unverifiable, talk unverifiable"
	for _, tt := range []struct {
		name        string
		make        func(p *place)
		both, later string
	}{
		{"as committed", func(*place) {}, "stale_changed", "fresh"},
		{"modified", func(p *place) { p.write("src/jwt.go", "three\n") }, "stale_changed", "stale_changed"},
		{"deleted", func(p *place) { p.git("rm", "-q", "src/clock.go") }, "stale_deleted", "fresh"},
		{
			"deleted and committed", func(p *place) { p.git("rm", "-q", "src/clock.go"); p.code("rm") }, "stale_deleted",
			"fresh",
		},
		{"all of it", func(p *place) { p.git("rm", "-rq", "src"); p.code("rm") }, "stale_deleted", "stale_deleted"},
		{"what was, again", func(p *place) { p.write("src/jwt.go", "one\n") }, "fresh", "stale_changed"},
		{
			"renamed", func(p *place) { p.write("src/jwt.go", "one\n"); p.git("mv", "src/clock.go", "time.go"); p.code("mv") },
			"fresh", "stale_changed",
		},
		{"renamed and changed", func(p *place) {
			p.git("mv", "src/clock.go", "time.go")
			p.write("time.go", essay+"more\n")
			p.git("add", "-A", "time.go")
			p.code("mv")
		}, "stale_changed", "fresh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := files(t)
			tt.make(p)
			want := "both " + tt.both + ", later " + tt.later + ", " + rest
			harness.Equal(t, "latest", want, p.states(recall.Request{}))
			harness.Equal(t, "with a query", want, p.states(recall.Request{Query: "token topic"}))
		})
	}
}

// As of a moment the files are those of its checkpoint's code commit, whatever lies here now.
func TestFreshnessOfMoment(t *testing.T) {
	p := files(t)
	p.git("rm", "-rqf", "src")
	p.code("rm")
	tips := strings.Fields(p.git("rev-list", "--reverse", "rekal/"+alice))
	then := func(tip string) string {
		return p.states(recall.Request{Checkpoint: tip, Tip: git.OID(tip), File: `src/jwt`, Actor: "human"})
	}
	harness.Equal(t, "first", "both fresh, later stale_changed, talk unverifiable", then(tips[1]))
	harness.Equal(t, "second", "both stale_changed, later fresh, talk unverifiable", then(tips[2]))
	harness.Equal(t, "no checkpoint: the one before", "both stale_changed, later fresh, talk unverifiable", then(tips[3]))
	harness.Equal(t, "no ledger of one's own: the last of all", "both stale_changed, later fresh, talk unverifiable",
		p.states(recall.Request{Checkpoint: "folder", File: "src/jwt"}))
	harness.Equal(t, "a commit that has no checkpoint behind it", "both unknown, later unknown, talk unverifiable",
		then(tips[0]))
}

// A session that no commit's files speak of is judged by the commit that it is tied to.
func TestFreshnessByTree(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", "one\n")
	for i, sha := range []string{cp.GitSHA, gone} {
		s := chat([]string{"late", "lost"}[i], i, "human token", "Edit src/jwt.go")
		cp := checkpoint(sha)
		cp.Links = []session.Link{{Session: s.ID, Tie: session.TieMade, Evidence: "shell"}}
		p.append(alice, 10+i, session.Entry{Checkpoint: cp, Sessions: []session.Session{s}})
	}
	p.open()
	harness.Equal(t, "fresh", "late fresh, lost unknown", p.states(recall.Request{}))
	p.write("src/jwt.go", "two\n")
	harness.Equal(t, "changed", "late stale_changed, lost unknown", p.states(recall.Request{}))
}

// Only a file of the passage is told to have changed: one that it names, or that was read or edited just behind it.
func TestStaleOfPassage(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", "one\n", "src/clock.go", "one\n", "src/other.go", "one\n")
	all := chat("all", 0, "human where do tokens begin?", "Edit src/other.go", "assistant The zebra is in clock.go.",
		"Read src/jwt.go", "assistant Done.", "Edit src/clock.go")
	cp.Links = []session.Link{
		{Session: all.ID, Tie: session.TieEdited, Evidence: "call 0"},
		{Session: all.ID, Tie: session.TieMade, Evidence: "shell"},
	}
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{all}})
	p.open()
	told := func(query string) (out string) {
		for _, f := range p.recall(recall.Request{Query: query, Stale: true}).Results[0].Stale {
			out += f.Path + " " + f.Freshness + " "
		}
		return out
	}
	harness.Equal(t, "as committed", "", told("zebra"))
	p.write("src/jwt.go", "two\n")
	p.write("src/other.go", "two\n")
	p.git("rm", "-qf", "src/clock.go")
	harness.Equal(t, "behind an answer", "src/clock.go stale_deleted src/jwt.go stale_changed ", told("zebra"))
	harness.Equal(t, "behind a prompt", "src/other.go stale_changed ", told("begin"))
}

// Full names the state of each file.
func TestFreshnessInFull(t *testing.T) {
	p := files(t)
	p.git("rm", "-q", "src/clock.go")
	for _, h := range p.recall(recall.Request{}).Results {
		if p.names[h.ID] != "both" {
			continue
		}
		out, err := p.session(recall.Page{ID: h.ID, Limit: 9, Full: true})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{"": out.Freshness}
		for _, f := range out.Files {
			got[f.Path] = f.Freshness
		}
		harness.Equal(t, "files", map[string]string{
			"": "stale_deleted", "src/clock.go": "stale_deleted",
			"src/jwt.go": "stale_changed",
		}, got)
	}
}

// A session that moved its own file is not behind itself; what can't be told is not called fresh.
func TestFreshnessOfMoves(t *testing.T) {
	p := newPlace(t)
	p.append(alice, 10, session.Entry{
		Checkpoint: p.committed("one", "src/jwt.go", essay),
		Sessions:   []session.Session{chat("mover", 0, "human token", "Edit src/jwt.go")},
	})
	p.git("mv", "src/jwt.go", "src/token.go")
	again := chat("mover", 0, "human token", "Edit src/jwt.go")
	cp := p.committed("two", "src/token.go", essay+"more\n")
	cp.Links = []session.Link{{Session: again.ID, Tie: session.TieMade, Evidence: "shell"}}
	p.append(alice, 20, session.Entry{Checkpoint: cp, Sessions: []session.Session{again}})
	p.open()
	harness.Equal(t, "by itself", "mover fresh", p.states(recall.Request{}))
	p.git("mv", "src/token.go", "token.go")
	harness.Equal(t, "by somebody else", "mover fresh", p.states(recall.Request{}))
	p.write("token.go", essay+"more of it\n")
	p.git("add", "token.go")
	harness.Equal(t, "and changed", "mover stale_changed", p.states(recall.Request{}))
	p.write("token.go", strings.Repeat(essay, 20_000))
	harness.Equal(t, "too large to look at", "mover unknown", p.states(recall.Request{}))
}

// Of many files a result looks at fifty, and says no more than it knows; full looks at all.
func TestLongFreshnessOfManyFiles(t *testing.T) {
	p := newPlace(t)
	var many []string
	for i := range 55 {
		many = append(many, fmt.Sprintf("src/%02d.go", i), fmt.Sprint("file ", i, "\n"))
	}
	p.append(alice, 10, session.Entry{
		Checkpoint: p.committed("one", many...),
		Sessions:   []session.Session{chat("many", 0, "human token", "Bash make && git commit -qam one")},
	})
	p.open()
	p.write("src/54.go", "something else\n")
	harness.Equal(t, "a result", "many unknown", p.states(recall.Request{}))
	for id := range p.names {
		out, err := p.session(recall.Page{ID: id, Limit: 9, Full: true})
		if err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, "full", result.StaleChanged, out.Freshness)
	}
}

// So it does as of a moment.
func TestFreshnessInFullOfMoment(t *testing.T) {
	p := files(t)
	p.git("rm", "-rqf", "src")
	p.code("rm")
	tip := strings.Fields(p.git("rev-list", "--reverse", "rekal/"+alice))[1]
	for id, name := range p.names {
		if name != "both" {
			continue
		}
		out, err := p.session(recall.Page{ID: id, Limit: 9, Full: true, Checkpoint: tip, Tip: git.OID(tip)})
		if err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, "session", result.Fresh, out.Freshness)
		for _, f := range out.Files {
			harness.Equal(t, f.Path, result.Fresh, f.Freshness)
		}
	}
}

// Of two with the same score the fresh one comes first; scores are the same whatever lies in the working tree.
func TestFreshFirst(t *testing.T) {
	p := newPlace(t)
	p.append(alice, 10, session.Entry{
		Checkpoint: p.committed("one", "a.go", essay, "b.go", essay),
		Sessions: []session.Session{
			chat("first", 0, "human the token topic", "Edit a.go"),
			chat("second", 1, "human the token topic", "Edit b.go"),
			chat("better", 2, "human the token topic", "assistant the token topic", "Edit a.go"),
		},
	})
	p.open()
	asked := func() (names []string, scores []float64) {
		for _, h := range p.recall(recall.Request{Query: "token topic"}).Results {
			names, scores = append(names, p.names[h.ID]), append(scores, h.Score)
		}
		return names, scores
	}
	names, scores := asked()
	harness.Equal(t, "all fresh", []string{"better", "first", "second"}, names)
	p.write("a.go", "changed\n")
	names, after := asked()
	harness.Equal(t, "a.go has changed", []string{"better", "second", "first"}, names)
	harness.Equal(t, "scores", scores, after)
}

// What somebody moves into the place of another file of a session is not what the session left there; nor is
// what goes where a session deleted a file.
func TestFreshnessOfTakenPlaces(t *testing.T) {
	p := newPlace(t)
	p.append(alice, 10, session.Entry{
		Checkpoint: p.committed("one", "a.go", essay, "b.go", strings.Repeat("another text\n", 20)),
		Sessions:   []session.Session{chat("two files", 0, "human token", "Edit a.go", "Edit b.go")},
	})
	p.git("rm", "-q", "b.go")
	p.git("commit", "-qm", "remove b")
	p.git("mv", "a.go", "b.go")
	p.git("commit", "-qm", "move a")
	p.open()
	harness.Equal(t, "taken", "two files stale_changed", p.states(recall.Request{}))
}
