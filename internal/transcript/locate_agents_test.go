package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// rollouts is a home with rollouts of Codex.
type rollouts struct {
	t    testing.TB
	home string
	n    int
}

// add writes a rollout that was made in a folder; day is its own.
func (r *rollouts) add(day int, cwd string) (id string) {
	r.t.Helper()
	r.n++
	id = fmt.Sprintf("019ed836-b1da-78f1-8a0c-%012d", r.n)
	dir := filepath.Join(r.home, ".codex", "sessions", "2026", fmt.Sprintf("%02d", day/28+1),
		fmt.Sprintf("%02d", day%28+1))
	text := fmt.Sprintf(`{"timestamp":"2026-11-20T09:00:00.000Z","type":"session_meta","payload":{"id":%q,"cwd":%q,"base_instructions":{"text":%q}}}`+"\n", id, cwd, bytes.Repeat([]byte("x"), 14<<10))
	r.write(filepath.Join(dir, "rollout-2026-11-20T09-00-00-"+id+".jsonl"), []byte(text))
	return id
}

func (r *rollouts) write(name string, text []byte) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rollouts) find(known []byte, roots ...string) transcript.Found {
	r.t.Helper()
	found, err := transcript.Codex{}.Locate(context.Background(),
		transcript.Env{Home: r.home, Roots: roots, LocateState: known, Now: time.Now().Add(time.Hour)})
	if err != nil || len(found.Unreadable) > 0 {
		r.t.Fatal(err, found.Unreadable)
	}
	return found
}

func natives(found transcript.Found) (out []string) {
	for _, f := range found.Files {
		out = append(out, f.NativeID)
	}
	return out
}

// TestShelves: of rollouts of all repositories those made here are found, new ones too, and what was told once is not
// asked again.
func TestShelves(t *testing.T) {
	r := &rollouts{t: t, home: t.TempDir()}
	for i := range 5 {
		r.add(i, "/work/elsewhere")
	}
	ours := []string{r.add(2, root), r.add(3, root+"/sub")}
	first := r.find(nil, root)
	harness.Equal(t, "found", ours, natives(first))
	again := r.find(first.LocateState, root)
	harness.Equal(t, "found again", ours, natives(again))
	if !bytes.Equal(first.LocateState, again.LocateState) {
		t.Error("what is known changes although nothing did")
	}
	// What is known is believed: a rollout that was moved elsewhere meanwhile is not looked into.
	foreign := r.add(0, "/work/elsewhere")
	second := r.find(first.LocateState, root)
	path := filepath.Join(r.home, ".codex/sessions/2026/01/01/rollout-2026-11-20T09-00-00-"+foreign+".jsonl")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "a foreign one is not opened again", ours, natives(r.find(second.LocateState, root)))
	ours = append(ours, r.add(200, root))
	harness.Equal(t, "a new day", ours, natives(r.find(second.LocateState, root)))
	harness.Equal(t, "for another repository", 6, len(r.find(nil, "/work/elsewhere").Files)+btoi(os.Getuid() != 0))
	harness.Equal(t, "for other worktrees all are asked again", ours,
		natives(r.find(second.LocateState, root, "/work/other")))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestShelvesUndecided: a rollout whose first line is not written yet is asked again, also where the folder does not
// change.
func TestShelvesUndecided(t *testing.T) {
	r := &rollouts{t: t, home: t.TempDir()}
	id := r.add(0, root)
	path := filepath.Join(r.home, ".codex/sessions/2026/01/01/rollout-2026-11-20T09-00-00-"+id+".jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r.write(path, text[:100])
	first := r.find(nil, root)
	r.write(path, text)
	harness.Equal(t, "found", []string{id}, natives(r.find(first.LocateState, root)))
	if len(first.Files) > 0 {
		t.Errorf("found %v of half a line", first.Files)
	}
}

// TestShelvesPipes: what is no file is left alone, for it may never open.
func TestShelvesPipes(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{
		".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl",
		".copilot/session-state/a/events.jsonl", ".gemini/tmp/shop/chats/session-2026-01-01T00-00-0b882a68.json",
		".gemini/tmp/shop/.project_root",
		".gemini/projects.json", ".local/share/opencode/opencode.db",
		".cursor/projects/work-shop/agent-transcripts/a.jsonl",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Skip(err)
		}
	}
	for _, agent := range transcript.Agents() {
		found, err := agent.Locate(context.Background(), transcript.Env{Home: home, Roots: []string{root}})
		if err != nil || len(found.Files) > 0 {
			t.Errorf("%s: %+v, %v", agent.Name(), found.Files, err)
		}
	}
}

// TestShelvesBudget: no more is read than may be; what is left is asked the next time.
func TestShelvesBudget(t *testing.T) {
	r := &rollouts{t: t, home: t.TempDir()}
	for i := range 20 {
		r.add(0, []string{"/work/elsewhere", root}[i%2])
	}
	var known []byte
	found := 0
	for try := 0; try < 20 && found < 10; try++ {
		f, err := transcript.Codex{}.Locate(context.Background(),
			transcript.Env{
				Home: r.home, Roots: []string{root}, LocateState: known, Now: time.Now().Add(time.Hour),
				Search: 50 << 10,
			})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Files) == 10 && try == 0 {
			t.Error("all were read at once")
		}
		found, known = len(f.Files), f.LocateState
	}
	harness.Equal(t, "in the end", 10, found)
}

// TestResumed: a session of another repository that goes on after a long rest is searched again, also where nobody
// looked for as long.
func TestResumed(t *testing.T) {
	const edit = `{"type":"assistant","cwd":"/work/elsewhere","message":{"content":[{"name":"Edit","input":{"path":"/work/shop/a.go"}}]},"payload":{"name":"apply_patch"}}` + "\n"
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return begun.AddDate(0, 0, n) }
	for _, agent := range []transcript.Agent{transcript.ClaudeCode{}, transcript.Codex{}} {
		t.Run(agent.Name(), func(t *testing.T) {
			r := &rollouts{t: t, home: t.TempDir()}
			path := filepath.Join(r.home, ".claude", "projects", "elsewhere", sid+".jsonl")
			if agent.Name() == "codex" {
				path = filepath.Join(r.home, ".codex", "sessions", "2026", "01", "01",
					"rollout-2026-11-20T09-00-00-"+r.add(0, "/work/elsewhere")+".jsonl")
			} else {
				r.write(path, []byte(`{"type":"user","cwd":"/work/elsewhere"}`+"\n"))
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var known []byte
			looks := func(now time.Time) int {
				t.Helper()
				found, err := agent.Locate(t.Context(), transcript.Env{
					Home: r.home, Roots: []string{root}, LocateState: known,
					Now: now, Search: transcript.SearchBudget,
				})
				if err != nil || len(found.Unreadable) > 0 {
					t.Fatal(err, found.Unreadable)
				}
				known = found.LocateState
				return len(found.Files)
			}
			grows := func(at time.Time, more string) {
				t.Helper()
				text = append(text, more...)
				r.write(path, text)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			grows(day(0), "")
			harness.Equal(t, "at rest", 0, looks(day(20)))
			harness.Equal(t, "at rest still", 0, looks(day(21)))
			grows(day(22), `{"cwd":"/work/elsewhere"}`+"\n")
			harness.Equal(t, "goes on there", 0, looks(day(22)))
			harness.Equal(t, "rests again", 0, looks(day(40)))
			grows(day(41), edit)
			harness.Equal(t, "edits a file here, long ago", 1, looks(day(60)))
			harness.Equal(t, "and later", 1, looks(day(80)))
		})
	}
}

// TestBesideThroughLinks: a session that goes to the folder of the clones through a link is found, however it names the
// file that it edits here.
func TestBesideThroughLinks(t *testing.T) {
	c := newCountry(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(c.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{link, filepath.Join(link, "theirs")} {
		for _, file := range []string{
			c.ours + "/a.go", link + "/ours/a.go",
			filepath.Join(strings.Repeat("../", strings.Count(cwd, "/theirs")), "ours/a.go"),
		} {
			r := &rollouts{t: t, home: t.TempDir()}
			record := fmt.Sprintf(`{"cwd":%q,"payload":{"cwd":%[1]q,"name":"apply_patch","input":"*** Update File: %s"},"message":{"content":[{"name":"Edit"}]}}`+"\n", cwd, file)
			r.write(filepath.Join(r.home, ".codex/sessions/2026/01/01/rollout-2026-11-20T09-00-00-019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl"), []byte(record))
			r.write(filepath.Join(r.home, ".claude/projects/theirs", sid+".jsonl"), []byte(record))
			for _, agent := range []transcript.Agent{transcript.ClaudeCode{}, transcript.Codex{}} {
				found, err := agent.Locate(t.Context(), transcript.Env{Home: r.home, Roots: []string{c.ours}})
				if err != nil || len(found.Files) != 1 {
					t.Errorf("%s in %s, %s: %v, %v", agent.Name(), cwd, file, found.Files, err)
				}
			}
		}
	}
}

// TestZippedRollout: a compressed rollout is read as it was; beside the plain one it does not count.
func TestZippedRollout(t *testing.T) {
	r := &rollouts{t: t, home: t.TempDir()}
	id := r.add(0, root)
	path := filepath.Join(r.home, ".codex/sessions/2026/01/01/rollout-2026-11-20T09-00-00-"+id+".jsonl")
	text := codexSample().text()
	text = bytes.ReplaceAll(text, []byte("019ed836-b1da-78f1-8a0c-e598363d10f4"), []byte(id))
	r.write(path, text)
	plain := readFile(t, transcript.Codex{}, r.find(nil, root).Files[0], []string{root})
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.write(path+".zst", w.EncodeAll(text, nil))
	harness.Equal(t, "beside it", 1, len(r.find(nil, root).Files))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f := r.find(nil, root).Files[0]
	if !f.ReadWhole {
		t.Fatal("it is read like a growing file")
	}
	harness.Equal(t, "what it says", flatten(plain), flatten(readFile(t, transcript.Codex{}, f, []string{root})))
	r.write(path+".zst", []byte("no zstd"))
	in, err := transcript.Codex{}.Open(context.Background(), transcript.Options{File: f})
	if err == nil {
		_, err = transcript.Codex{}.Decode(context.Background(), in, transcript.Options{File: f})
	}
	if err == nil {
		t.Error("what is no zstd is no error")
	}
}

// TestCursorFolders: the folder of a session is told by its name, and by paths where the name can mean another one.
func TestCursorFolders(t *testing.T) {
	home, repo := t.TempDir(), filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(filepath.Join(repo, "web-app", "src"), 0o777); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(repo), "shop-web", "app") // the name of repo/web-app would be the same
	for _, dir := range []string{
		repo, filepath.Join(repo, "web-app", "src"),
		filepath.Join(filepath.Dir(repo), "shopping"),
	} {
		folder := bytes.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '-'
		}, []byte(dir[1:]))
		r := &rollouts{t: t}
		r.write(filepath.Join(home, ".cursor/projects", string(folder), "agent-transcripts", "s"+filepath.Base(dir),
			"s"+filepath.Base(dir)+".jsonl"), []byte("{}\n"))
		r.write(filepath.Join(home, ".cursor/projects", string(folder), "agent-transcripts",
			"flat"+filepath.Base(dir)+".jsonl"), []byte("{}\n"))
		r.write(filepath.Join(home, ".cursor/projects", string(folder), "agent-transcripts", "s"+filepath.Base(dir),
			"subagents", "sub"+filepath.Base(dir)+".jsonl"), []byte("{}\n"))
	}
	found, err := transcript.Cursor{}.Locate(context.Background(), transcript.Env{Home: home, Roots: []string{repo}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found.Files {
		rel, _ := filepath.Rel(repo, f.Cwd)
		got = append(got, f.NativeID+" "+f.Parent+" "+rel)
	}
	harness.Equal(t, "found", []string{
		"flatshop  .", "sshop  .", "flatsrc  web-app/src", "ssrc  web-app/src",
		"subshop sshop .", "subsrc ssrc web-app/src",
	}, got)

	if err := os.MkdirAll(filepath.Join(other, ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	(&rollouts{t: t}).write(filepath.Join(other, ".git", "HEAD"), []byte("ref: refs/heads/main\n"))
	for path, want := range map[string]int{other + "/a.go": 0, repo + "/a.go": 1, "/etc/hosts": 1} {
		text := fmt.Sprintf(`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>hello</user_query>"}]}}`+"\n"+
			`{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"path":%q}}]}}`+"\n", path)
		opt := transcript.Options{File: transcript.File{NativeID: "s", Cwd: repo, ModTime: time.Now()}, Roots: []string{repo}}
		harness.Equal(t, "a session that reads "+path, want, len(read(t, transcript.Cursor{}, []byte(text), opt).Sessions))
	}
}

// BenchmarkLocateCodex looks for rollouts where 5,000 of other repositories lie, of which nothing changed.
func BenchmarkLocateCodex(b *testing.B) {
	r := &rollouts{t: b, home: b.TempDir()}
	for i := range 5000 {
		r.add(i/50, "/work/elsewhere")
	}
	r.add(5, root)
	known := r.find(nil, root).LocateState
	b.ReportMetric(float64(len(known)), "bytes-known")
	for b.Loop() {
		r.find(known, root)
	}
}
