package transcript_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// country is a folder with two repositories, ours and theirs, and what lies around them.
type country struct {
	t            *testing.T
	dir          string
	ours, theirs string
}

func newCountry(t *testing.T) *country {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &country{t: t, dir: dir, ours: filepath.Join(dir, "ours"), theirs: filepath.Join(dir, "theirs")}
	for _, repo := range []string{c.ours, c.theirs} {
		c.git(dir, "init", "-q", repo)
		c.git(repo, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first")
	}
	return c
}

func (c *country) git(dir string, args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (c *country) mkdir(path ...string) string {
	c.t.Helper()
	dir := filepath.Join(append([]string{c.dir}, path...)...)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		c.t.Fatal(err)
	}
	return dir
}

// at is a record made in a folder; "" names none.
func at(cwd, record string) string {
	if cwd == "" {
		return strings.Replace(record, fmt.Sprintf(`"cwd":%q,`, root), "", 1)
	}
	return strings.Replace(record, fmt.Sprintf(`"cwd":%q`, root), fmt.Sprintf(`"cwd":%q`, cwd), 1)
}

// in decodes as for the repository of a root.
func (c *country) in(repo string, lines ...string) transcript.Document {
	c.t.Helper()
	opt := transcript.Options{File: transcript.File{NativeID: sid}, Roots: []string{repo}}
	return read(c.t, transcript.ClaudeCode{}, []byte(strings.Join(lines, "\n")+"\n"), opt)
}

// TestFolders: whose work is made in a folder is what git says there.
func TestFolders(t *testing.T) {
	c := newCountry(t)
	c.git(c.ours, "worktree", "add", "-q", filepath.Join(c.dir, "linked"))
	if err := os.Rename(filepath.Join(c.dir, "linked"), filepath.Join(c.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	c.git(c.ours, "init", "-q", "nested")
	c.git(c.ours, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", c.theirs, "sub")
	c.mkdir("ours", "broken", ".git")
	for path, text := range map[string]string{"ours/dangling/.git": "gitdir: /nowhere\n", "ours/odd/.git": "hello"} {
		c.mkdir(filepath.Dir(path))
		if err := os.WriteFile(filepath.Join(c.dir, path), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c.mkdir("free", "x")
	c.mkdir("theirs", "deep")
	for to, from := range map[string]string{
		c.ours: "alias", c.theirs: "ours/out", c.theirs + "/deep": "ours/deep",
		c.dir + "/free": "ours/free",
	} {
		if err := os.Symlink(to, filepath.Join(c.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	const ours, theirs, nobodys = "ours", "theirs", "nobody's"
	for folder, want := range map[string]string{
		"ours": ours, "ours/api": ours, "ours/gone/deep": ours, "ours/.git/hooks": ours, "alias/x": ours, "moved": ours,
		"moved/x":     ours,
		"ours/broken": ours, "ours/dangling": ours, "ours/odd": ours, "ours/free/x": ours,
		"theirs": theirs, "theirs/gone": theirs, "ours/nested": theirs, "ours/nested/gone": theirs, "ours/sub": theirs,
		"ours/out/x": theirs, "ours/deep": theirs,
		"": nobodys, "free/x": nobodys, "gone": nobodys, "ours-two": nobodys, "linked": nobodys,
	} {
		t.Run(folder, func(t *testing.T) {
			dir := filepath.Join(c.dir, folder)
			got := nobodys
			if len(c.in(c.ours, at(dir, say(1, "A"))).Sessions) > 0 {
				got = ours
			} else if told := told(c.in(c.ours, at(c.ours, say(1, "A")), at(dir, say(2, "B")),
				at(c.ours, say(3, "C")))); told[1] != "assistant: B" {
				got = theirs
			}
			if got != want {
				t.Errorf("%s is %s, want %s", dir, got, want)
			}
		})
	}
}

// journey is a session that goes between repositories, with all that a record can be.
func (c *country) journey() []string {
	free := c.mkdir("free")
	use := func(second int, id, path string) string {
		return assistant(second, fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Edit","input":{"file_path":%q}}]`, id,
			path))
	}
	result := func(second int, id string, failed bool) string {
		return user(second, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"is_error":%v,"content":"x"}]`, id, failed))
	}
	queued := func(second int, text string) []string {
		return []string{queue("enqueue", second, fmt.Sprintf(`"content":%q`, text)), queue("remove", second, "")}
	}
	var out []string
	add := func(lines ...string) { out = append(out, lines...) }
	add(at("", user(1, `"ours: begin"`)), at(c.ours, say(2, "ours: yes")), use(3, "t1", c.ours+"/a.go"))
	add(at(c.theirs, result(4, "t1", false)), at(c.theirs, user(5, `"theirs: roadmap"`)),
		at("", rec("ai-title", 5, `"aiTitle":"theirs: title"`)))
	add(queued(6, "theirs: queued")...)
	add(at(free, say(7, "theirs: in a temporary folder")), at(c.theirs, use(8, "t2", c.theirs+"/b.go")),
		at("", say(9, "theirs: no folder")))
	add(at(c.ours, result(10, "t2", true)), at(free, say(11, "ours: in a temporary folder")),
		at("", user(12, `"ours: no folder"`)))
	add(at(c.ours+"/gone", use(13, "t3", "c.go")), at(c.theirs, result(14, "t3", false)),
		at(c.ours, result(15, "t9", false)), at(c.ours, say(16, "ours: only results were theirs")))
	add(queued(17, "ours: queued")...)
	add(at(c.theirs, use(18, "t4", "x.go")), at(c.ours, use(19, "t5", c.ours+"/d.go")),
		at(c.theirs, say(20, "theirs: again")))
	add(queued(21, "theirs: queued last")...)
	add(at(c.theirs, say(22, "theirs: end")))
	for i, line := range out {
		out[i] = at(c.ours, line) // what names no other folder
	}
	return out
}

// TestJourney: each repository holds its own parts, each turn once, wherever the reads of the transcript were cut.
func TestJourney(t *testing.T) {
	c := newCountry(t)
	lines := c.journey()
	raw := strings.Join(lines, "\n") + "\n"
	mark := ": " + session.Elsewhere
	for _, tt := range []struct {
		name, repo, title string
		want              []string
	}{
		{"ours", c.ours, "ours: begin", []string{
			"human: ours: begin", "assistant: ours: yes", "tool: Edit a.go", "human" + mark,
			"assistant: ours: in a temporary folder", "human: ours: no folder", "tool: Edit gone/c.go",
			"assistant: ours: only results were theirs",
			"human: ours: queued", "assistant" + mark, "tool: Edit d.go",
		}},
		{"theirs", c.theirs, "theirs: roadmap", []string{
			"human" + mark, "human: theirs: roadmap", "human: theirs: queued", "assistant: theirs: in a temporary folder",
			"tool: Edit b.go failed", "assistant: theirs: no folder",
			"assistant" + mark, "tool: Edit x.go", "assistant" + mark, "assistant: theirs: again", "human: theirs: queued last",
			"assistant: theirs: end",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := c.in(tt.repo, lines...)
			if diff := cmp.Diff(tt.want, told(whole)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := whole.Sessions[0].Title; got != tt.title {
				t.Errorf("title %q, want %q", got, tt.title)
			}
			end := 0
			for _, line := range lines {
				for _, n := range []int{end, end + len(line)/2, end + len(line)} { // before it, within, before its newline
					grows(t, tt.repo, raw, n, flatten(whole))
				}
				end += len(line) + 1
			}
		})
	}
}

// grows reads a transcript that is n bytes long, and then what follows.
func grows(t *testing.T, repo, raw string, n int, want map[string][]string) {
	t.Helper()
	opt := transcript.Options{File: transcript.File{NativeID: sid}, Roots: []string{repo}}
	first := read(t, transcript.ClaudeCode{}, []byte(raw[:n]), opt)
	if len(first.Sessions) == 0 {
		first.Bytes = 0 // nothing was stored, so there is no cursor
	} else {
		opt.Inside = true
		opt.HasElsewhere = strings.Contains(strings.Join(told(first), "\n"), session.Elsewhere)
		opt.Last = first.Sessions[0].LastTS()
	}
	second := read(t, transcript.ClaudeCode{}, []byte(raw[first.Bytes:]), opt)
	if diff := cmp.Diff(want, flatten(first, second)); diff != "" {
		t.Fatalf("stopped at byte %d of %d, done with %d (-want +got)\n%s", n, len(raw), first.Bytes, diff)
	}
	for _, doc := range []transcript.Document{first, second} {
		for _, p := range doc.Sessions {
			if p.TitleKind > transcript.TitlePrompt {
				t.Fatalf("stopped at byte %d: title %q", n, p.Title)
			}
		}
	}
}

// TestTitlesOfDividedSessions: no title is taken that may speak of a part that is left out.
func TestTitlesOfDividedSessions(t *testing.T) {
	c := newCountry(t)
	given := at("", rec("custom-title", 3, `"customTitle":"Given"`))
	byAgent := at("", rec("ai-title", 3, `"aiTitle":"Made"`))
	summary := `{"type":"summary","summary":"Summed up","leafUuid":"u1"}`
	here, there := at(c.ours, user(1, `"here"`, `"uuid":"u1"`)), at(c.theirs, user(2, `"there"`, `"uuid":"u2"`))
	back := at(c.ours, user(4, `"back"`))
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"given before it left", []string{here, given, there, back}, "Given"},
		{"made before it left", []string{here, byAgent, there, back}, "Made"},
		{"given while it was away", []string{here, there, given, back}, "here"},
		{"given once it was back", []string{here, there, back, given}, "here"},
		{"made before it came", []string{there, byAgent, back}, "back"},
		{"given before it came, and written again", []string{given, there, back, given}, "back"},
		{"given in no repository before it came", []string{at(c.dir, say(1, "x")), given, there, back}, "back"},
		{"given before it named a folder", []string{given, here, there, back}, "Given"},
		{"summary of what was said before it left", []string{here, there, back, summary}, "Summed up"},
		{"summary of what was said elsewhere", []string{here, there, back, strings.Replace(summary, "u1", "u2", 1)}, "here"},
		{"summary of what named no folder", []string{at("", user(1, `"x"`, `"uuid":"u1"`)), there, back, summary}, "back"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.in(c.ours, tt.lines...).Sessions[0].Title; got != tt.want {
				t.Errorf("title %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEditsFromElsewhere: an edit of a file of ours belongs to us from wherever it is made, with the prompt that led to
// it and nothing else of there.
func TestEditsFromElsewhere(t *testing.T) {
	c := newCountry(t)
	call := func(second int, tool, path string) string {
		return assistant(second, fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":%q,"input":{"file_path":%q,"old_string":"a","new_string":"b"}}]`, second, tool, path))
	}
	file := filepath.Join(c.ours, "a.go")
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"in the clone beside", []string{
			at(c.theirs, user(1, `"begin"`)), at(c.theirs, say(2, "Begun.")), at(c.theirs, user(3, `"now ours"`)),
			at(c.theirs, call(4, "Edit", file)), at(c.theirs, say(5, "Done.")),
		}, []string{"human: " + session.Elsewhere, "human: now ours", "tool: Edit a.go"}},
		{"in a folder above", []string{
			at(c.dir, user(1, `"begin"`)), at(c.dir, call(2, "Edit", filepath.Join(c.theirs, "b.go"))),
			at(c.dir, user(3, `"now ours"`)), at(c.dir, call(4, "Write", file)),
			at(c.dir, user(5, `"now theirs"`)), at(c.dir, call(6, "Edit", filepath.Join(c.theirs, "b.go"))),
			at(c.dir, user(7, `"ours again"`)), at(c.dir, call(8, "Edit", "ours/a.go")),
		}, []string{
			"human: now ours", "tool: Write a.go", "human: " + session.Elsewhere, "human: ours again",
			"tool: Edit a.go",
		}},
		{"a file that is only read", []string{at(c.theirs, user(1, `"begin"`)), at(c.theirs, call(2, "Read", file))}, nil},
		{"a file of a repository inside of ours", []string{
			at(c.theirs, user(1, `"begin"`)),
			at(c.theirs, call(2, "Edit", filepath.Join(c.ours, "nested", "a.go"))),
		}, nil},
		{"a folder above, which a session of ours went to", []string{
			at(c.ours, user(1, `"begin"`)), at(c.dir, say(2, "I look above.")), at(c.dir, call(3, "Edit", file)),
		}, []string{"human: begin", "assistant: I look above.", "tool: Edit a.go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "a file of a repository inside of ours" {
				c.git(c.ours, "init", "-q", "nested")
			}
			doc := c.in(c.ours, tt.lines...)
			if len(tt.want) == 0 {
				if len(doc.Sessions) > 0 {
					t.Errorf("%+v", doc.Sessions)
				}
				return
			}
			if diff := cmp.Diff(tt.want, told(doc)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
