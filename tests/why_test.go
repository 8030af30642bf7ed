package tests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestWhyOfHistory makes a history of 30 commits, each from a session's own edits, with amends, a
// rebase and a rename, and asks `git rekal why` about lines that are still there.
func TestWhyOfHistory(t *testing.T) {
	newMiniature(t, harness.Binary(t)).live(synthetic(t), 12).asks(12, 12)
}

func TestLongWhyOfRealSessions(t *testing.T) {
	newMiniature(t, harness.Binary(t)).live(realSessions(t), 30).asks(30, 30)
}

// TestLongWhyOfSquashes makes a history of sessions' commits on branches, four at a time, which a server squashes
// without a hook while main goes on, and asks about lines.
func TestLongWhyOfSquashes(t *testing.T) {
	newMiniature(t, harness.Binary(t)).squash(synthetic(t), 12).asks(12, 12)
}

// told is a session with what it did to files.
type told struct {
	id, cwd string
	raw     []byte
	edits   []edit
}

// edit is one call of a tool: old becomes new, or the whole file is written.
type edit struct {
	path, old, new string
	whole          bool
}

// synthetic are sessions that add a function each, change one of another's, and take turns in two
// files.
func synthetic(t *testing.T) []told {
	t.Helper()
	var out []told
	for i := range 12 {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		file := fmt.Sprintf("src/part%d.go", i%2)
		text := fmt.Sprintf("-%dm human make number %d of the parts\n-%dm Edit %s\n-%dm assistant Part %d is done.\n", 90-2*i,
			i, 90-2*i, file, 89-2*i, i)
		raw, err := chat(id, text, "@CWD@", time.Now().UTC().Format(time.RFC3339), -1)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf("func part%d() string {\n\treturn \"the answer of part number %d\"\n}\n", i, i)
		s := told{id: id, cwd: "@CWD@", raw: []byte(raw), edits: []edit{{path: file, new: body}}}
		if i > 3 {
			s.edits = append(s.edits, edit{
				path: file, old: fmt.Sprintf("func part%d() string {", i-2),
				new: fmt.Sprintf("func part%d(of string, by int) string {", i-2),
			})
		}
		out = append(out, s)
	}
	return out
}

// realSessions are the real transcripts, the small ones first; the test is skipped without them.
func realSessions(t *testing.T) []told {
	t.Helper()
	var out []told
	for id, raw := range harness.Transcripts(t) {
		out = append(out, recorded(id, raw))
	}
	slices.SortFunc(out, func(a, b told) int {
		return cmp.Or(cmp.Compare(len(a.raw), len(b.raw)),
			cmp.Compare(a.id, b.id))
	})
	return out
}

// recorded reads what a transcript says that its tools did, without what failed or a person refused.
func recorded(id string, raw []byte) told {
	s := told{id: id, raw: raw}
	failed := map[string]bool{}
	for line := range bytes.Lines(raw) {
		for _, r := range gjson.GetBytes(line, "message.content").Array() {
			failed[r.Get("tool_use_id").Str] = r.Get("is_error").Bool()
		}
	}
	for line := range bytes.Lines(raw) {
		rec := gjson.ParseBytes(line)
		s.cwd = cmp.Or(s.cwd, rec.Get("cwd").Str)
		for _, call := range rec.Get("message.content").Array() {
			in := call.Get("input")
			path, inside := strings.CutPrefix(in.Get("file_path").Str, s.cwd+"/")
			if !inside || s.cwd == "" || strings.HasPrefix(path, ".claude") || failed[call.Get("id").Str] {
				continue
			}
			switch call.Get("name").Str {
			case "Edit":
				s.edits = append(s.edits, edit{path: path, old: in.Get("old_string").Str, new: in.Get("new_string").Str})
			case "Write":
				s.edits = append(s.edits, edit{path: path, new: in.Get("content").Str, whole: true})
			}
		}
	}
	return s
}

// miniature is a repository that grows by sessions.
type miniature struct {
	*harness.Place
	moved map[string]string // files by their former names
	owner map[string]string // line → the session that wrote it first
}

func newMiniature(t *testing.T, bin string) *miniature {
	t.Helper()
	m := &miniature{Place: harness.New(t), moved: map[string]string{}, owner: map[string]string{}}
	m.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	m.Init("repo")
	m.Commit("repo", "First commit", "README.md", "a project\n")
	m.git("rekal", "init")
	return m
}

func (m *miniature) git(args ...string) string {
	m.T.Helper()
	return m.Git("repo", args...)
}

func (m *miniature) read(path string) string {
	b, err := os.ReadFile(m.At("repo/" + path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.T.Fatal(err)
	}
	return string(b)
}

// live makes commits of the first sessions that change something.
func (m *miniature) live(all []told, commits int) *miniature {
	n := 0
	for _, s := range all {
		if n == commits || !m.replay(s) {
			continue
		}
		m.place(s)
		m.Commit("repo", fmt.Sprintf("Work %d", n))
		n++
		switch third := commits / 3; {
		case n == third:
			m.git("checkout", "-qb", "topic")
		case n == third+4:
			m.rebase()
		case n == 2*third:
			m.rename()
		case n%5 == 0:
			m.Write("repo/README.md", m.read("README.md")+fmt.Sprintf("amended %d\n", n))
			m.git("commit", "-qa", "--amend", "-m", fmt.Sprintf("Work %d, amended", n))
		}
	}
	if n < commits {
		m.T.Fatalf("only %d commits", n)
	}
	return m
}

// squash makes commits of the first sessions that change something, and merges four at a time as a server
// does: none of its commits runs a hook.
func (m *miniature) squash(all []told, commits int) *miniature {
	n := 0
	for _, s := range all {
		if n == commits {
			break
		}
		if n%4 == 0 && strings.TrimSpace(m.git("branch", "--show-current")) != "topic" {
			m.git("checkout", "-qb", "topic")
		}
		if !m.replay(s) {
			continue
		}
		m.place(s)
		m.Commit("repo", fmt.Sprintf("Work %d", n))
		if n++; n%4 != 0 && n < commits {
			continue
		}
		m.git("checkout", "-q", "main")
		m.Write("repo/MEANWHILE.md", fmt.Sprintf("something else %d\n", n))
		m.git("add", ".")
		m.arrive("Meanwhile")
		m.git("merge", "-q", "--squash", "topic")
		m.arrive(fmt.Sprintf("Works up to %d (#%d)", n, n))
		m.git("branch", "-qD", "topic")
	}
	if n < commits {
		m.T.Fatalf("only %d commits", n)
	}
	return m
}

// arrive makes a commit of what is staged as if a pull had brought it: no hook runs, and the reflog does not name it as
// made here.
func (m *miniature) arrive(message string) {
	env := m.Env
	m.Env = append(slices.Clone(env), "GIT_REFLOG_ACTION=pull")
	m.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", message)
	m.Env = env
}

// replay does to the files what a session did, and notes whose its lines are.
func (m *miniature) replay(s told) bool {
	changed := false
	for _, e := range s.edits {
		path := cmp.Or(m.moved[e.path], e.path)
		before := m.read(path)
		after := e.new
		switch {
		case e.whole:
		case e.old != "" && strings.Contains(before, e.old):
			after = strings.Replace(before, e.old, e.new, 1)
		case e.old != "" && strings.Contains(before, e.new):
			after = before
		default:
			after = before + e.new + "\n"
		}
		if after == before {
			continue
		}
		changed = true
		m.Write("repo/"+path, after)
		for l := range strings.Lines(after) {
			if l = strings.TrimSpace(l); m.owner[l] == "" {
				m.owner[l] = s.id
			}
		}
	}
	return changed
}

// place puts a session where Claude Code keeps it.
func (m *miniature) place(s told) {
	quoted := func(s string) []byte {
		b, err := json.Marshal(s)
		if err != nil {
			m.T.Fatal(err)
		}
		return b[1 : len(b)-1]
	}
	m.Write(harness.Transcript(m.Home(), m.At("repo"), s.id),
		string(bytes.ReplaceAll(s.raw, quoted(s.cwd), quoted(m.At("repo")))))
}

func (m *miniature) rebase() {
	m.git("checkout", "-q", "main")
	m.Commit("repo", "Meanwhile", "MEANWHILE.md", "something else\n")
	m.git("checkout", "-q", "topic")
	m.git("rebase", "-q", "main")
	m.git("checkout", "-q", "main")
	m.git("merge", "-q", "--ff-only", "topic")
}

// rename moves the file with the most lines.
func (m *miniature) rename() {
	largest, lines := "", 0
	for _, f := range m.files() {
		if n := strings.Count(m.read(f), "\n"); n > lines {
			largest, lines = f, n
		}
	}
	m.Write("repo/renamed/keep", "")
	m.git("mv", largest, "renamed/"+filepath.Base(largest))
	m.Commit("repo", "Rename")
	m.moved[largest] = "renamed/" + filepath.Base(largest)
}

func (m *miniature) files() []string {
	return strings.Fields(strings.ReplaceAll(m.git("ls-files", "-z", "*/*"), "\x00", "\n"))
}

// line is one that only one session wrote.
type line struct{ target, text, session string }

// lines are those that tell something, stand once in the tree, and are a session's, one of each
// session in turn.
func (m *miniature) lines(count int) []line {
	seen := map[string]int{}
	of := map[string][]line{}
	for pass := range 2 {
		for _, f := range m.files() {
			n := 0
			for l := range strings.Lines(m.read(f)) {
				n++
				l = strings.TrimSpace(l)
				if pass == 0 {
					seen[l]++
				} else if id := m.owner[l]; len(l) >= 20 && seen[l] == 1 && id != "" {
					of[id] = append(of[id], line{fmt.Sprintf("%s:%d", f, n), l, id})
				}
			}
		}
	}
	var ids []string
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []line
	for round := 0; len(out) < count && round < 1000; round++ {
		for _, id := range ids {
			// From the middle on: what stands there is least like what stands elsewhere.
			if k := of[id]; round < len(k) && len(out) < count {
				out = append(out, k[(len(k)/2+round)%len(k)])
			}
		}
	}
	m.T.Logf("%d lines of %d sessions", len(out), len(ids))
	return out
}

// asks checks that enough lines have their session first.
func (m *miniature) asks(count, enough int) {
	m.T.Helper()
	native := map[string]string{}
	for row := range strings.Lines(m.git("rekal", "query", "SELECT id, native_id FROM sessions")) {
		native[gjson.Get(row, "id").Str] = gjson.Get(row, "native_id").Str
	}
	right := 0
	asked := m.lines(count)
	for _, l := range asked {
		out := m.git("rekal", "why", l.target)
		if got := native[gjson.Get(out, "results.0.id").Str]; got == l.session {
			right++
		} else {
			m.T.Logf("%s (%q) is of %s, not of %s: %s", l.target, l.text, l.session, got, out)
		}
	}
	m.T.Logf("%d of %d lines have their session first", right, len(asked))
	if len(asked) < count || right < enough {
		m.T.Errorf("%d of %d lines have their session first, want %d of %d", right, len(asked), enough, count)
	}
}
