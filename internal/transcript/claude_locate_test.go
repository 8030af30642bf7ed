package transcript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/transcript"
)

// home is a home folder with a repository in it, in a path without symbolic links.
type home struct {
	t    *testing.T
	dir  string
	repo string
	env  map[string]string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, repo: filepath.Join(dir, "src", "shop"), env: map[string]string{}}
	h.mkdir(h.repo)
	return h
}

func (h *home) mkdir(dir string) {
	h.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) write(path, content string) {
	h.t.Helper()
	h.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// folder is the name that Claude Code gives to the folder of sessions started in dir;
// written apart from the package, which must agree with it.
func folder(dir string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r) {
			return r
		}
		return '-'
	}, dir)
}

// transcript writes a transcript that begins in cwd to the store, and returns its path.
func (h *home) transcript(cwd string, name ...string) string {
	path := filepath.Join(append([]string{h.dir, ".claude", "projects"}, name...)...)
	h.write(path, `{"type":"file-history-snapshot"}`+"\n"+fmt.Sprintf(`{"type":"user","cwd":%q}`, cwd)+"\n")
	return path
}

func (h *home) locate(roots ...string) transcript.Found {
	h.t.Helper()
	return h.again(nil, roots...)
}

func (h *home) again(searched map[string]int64, roots ...string) transcript.Found {
	h.t.Helper()
	if roots == nil {
		roots = []string{h.repo}
	}
	known, err := cbor.Marshal(storeMemory{searched})
	if err != nil {
		h.t.Fatal(err)
	}
	found, err := transcript.ClaudeCode{}.Locate(context.Background(), transcript.Env{
		Home: h.dir, Getenv: func(k string) string { return h.env[k] }, Roots: roots, LocateState: known,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// storeMemory is what Found.LocateState holds of Claude Code's store.
type storeMemory struct{ Searched map[string]int64 }

func searched(t *testing.T, f transcript.Found) map[string]int64 {
	t.Helper()
	var m storeMemory
	if err := cbor.Unmarshal(f.LocateState, &m); err != nil {
		t.Fatal(err)
	}
	return m.Searched
}

func paths(f transcript.Found) []string {
	var out []string
	for _, file := range f.Files {
		out = append(out, file.Path)
	}
	return out
}

func TestLocateFolders(t *testing.T) {
	long := strings.Repeat("deep-folder-", 20)
	tests := []struct {
		name  string
		setup func(h *home) (want []string)
		roots func(h *home) []string
	}{
		{"no store", func(*home) []string { return nil }, nil},
		{"named like the repository", func(h *home) []string {
			return []string{h.transcript("/moved/here", folder(h.repo), "a.jsonl")}
		}, nil},
		{"named like a subfolder", func(h *home) []string {
			return []string{h.transcript(h.repo+"/api", folder(h.repo+"/api"), "a.jsonl")}
		}, nil},
		{"a subfolder, ours not the newest", func(h *home) []string {
			ours := h.transcript(h.repo+"/api-x", folder(h.repo+"/api/x"), "a.jsonl")
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(ours, old, old); err != nil {
				h.t.Fatal(err)
			}
			h.transcript("/elsewhere", folder(h.repo+"/api/x"), "b.jsonl")
			return []string{ours}
		}, nil},
		{"a neighbour that is named alike", func(h *home) []string {
			h.transcript(h.repo+"-two", folder(h.repo+"-two"), "a.jsonl")
			return nil
		}, nil},
		{"linked worktree", func(h *home) []string {
			return []string{h.transcript("/trees/x", folder("/trees/x"), "a.jsonl")}
		}, func(h *home) []string { return []string{h.repo, "/trees/x"} }},
		{"long name", func(h *home) []string {
			dir := filepath.Join(h.repo, long)
			return []string{h.transcript(dir, folder(dir)[:200]+"-1a2b3c", "a.jsonl")}
		}, func(h *home) []string { return []string{filepath.Join(h.repo, long)} }},
		{"any other name, by the records", func(h *home) []string {
			return []string{h.transcript(h.repo+"/api", "some-name", "a.jsonl")}
		}, nil},
		{"another project", func(h *home) []string {
			h.transcript("/elsewhere", folder("/elsewhere"), "a.jsonl")
			return nil
		}, nil},
		{"root given through a symbolic link", func(h *home) []string {
			link(h, h.repo, filepath.Join(h.dir, "link"))
			return []string{h.transcript("/moved/here", folder(h.repo), "a.jsonl")}
		}, func(h *home) []string { return []string{filepath.Join(h.dir, "link")} }},
		{"records made through a symbolic link", func(h *home) []string {
			link(h, h.repo, filepath.Join(h.dir, "link"))
			return []string{h.transcript(filepath.Join(h.dir, "link", "api"), "some-name", "a.jsonl")}
		}, nil},
		{"a name of the user's", func(h *home) []string {
			h.env["CLAUDE_CONFIG_DIR"], h.env["CLAUDE_CODE_PROJECT_DIR_NAME"] = filepath.Join(h.dir, ".claude"), "mine"
			return []string{h.transcript("/moved/here", "mine", "a.jsonl")}
		}, nil},
		{"another configuration folder", func(h *home) []string {
			h.env["CLAUDE_CONFIG_DIR"] = filepath.Join(h.dir, "cfg")
			h.transcript(h.repo, folder(h.repo), "a.jsonl")
			path := filepath.Join(h.dir, "cfg", "projects", folder(h.repo), "b.jsonl")
			h.write(path, "")
			return []string{path}
		}, nil},
		{"the XDG folder too", func(h *home) []string {
			path := filepath.Join(h.dir, ".config", "claude", "projects", folder(h.repo), "b.jsonl")
			h.write(path, "")
			return []string{h.transcript(h.repo, folder(h.repo), "a.jsonl"), path}
		}, nil},
		{"one store under two names", func(h *home) []string {
			want := h.transcript(h.repo, folder(h.repo), "a.jsonl")
			h.mkdir(filepath.Join(h.dir, ".config"))
			link(h, filepath.Join(h.dir, ".claude"), filepath.Join(h.dir, ".config", "claude"))
			return []string{want}
		}, nil},
		{"what is no regular file", func(h *home) []string {
			want := h.transcript(h.repo, folder(h.repo), "a.jsonl")
			if err := syscall.Mkfifo(filepath.Join(filepath.Dir(want), "b.jsonl"), 0o644); err != nil {
				h.t.Skip(err)
			}
			h.write(filepath.Join(filepath.Dir(want), "notes.txt"), "")
			return []string{want}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			want := tt.setup(h)
			var roots []string
			if tt.roots != nil {
				roots = tt.roots(h)
			}
			found := h.locate(roots...)
			if diff := cmp.Diff(want, paths(found)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if found.Unreadable != nil {
				t.Errorf("unreadable: %v", found.Unreadable)
			}
		})
	}
}

func link(h *home, to, from string) {
	h.t.Helper()
	if err := os.Symlink(to, from); err != nil {
		h.t.Fatal(err)
	}
}

func TestLocateSubagents(t *testing.T) {
	h := newHome(t)
	dir := folder(h.repo)
	main := h.transcript(h.repo, dir, "s1.jsonl")
	old := h.transcript(h.repo, dir, "agent-a1.jsonl")
	sub := h.transcript(h.repo, dir, "s1", "subagents", "agent-a2.jsonl")
	flow := h.transcript(h.repo, dir, "s1", "subagents", "workflows", "wf_1", "agent-a3.jsonl")
	h.transcript(h.repo, dir, "s1", "subagents", "workflows", "wf_1", "journal.jsonl")
	h.transcript(h.repo, dir, "s1", "subagents", "agent-acompact-12.jsonl")
	h.write(filepath.Join(filepath.Dir(main), "s1", "tool-results", "x.txt"), "")
	h.write(filepath.Join(filepath.Dir(main), "s2", "subagents"), "not a folder")

	found := h.locate()
	want := []transcript.File{
		{Path: main, NativeID: "s1"},
		{Path: old, NativeID: "a1", AgentID: "a1"},
		{Path: sub, NativeID: "a2", AgentID: "a2", Parent: "s1", Meta: strings.TrimSuffix(sub, ".jsonl") + ".meta.json"},
		{Path: flow, NativeID: "a3", AgentID: "a3", Parent: "s1", Meta: strings.TrimSuffix(flow, ".jsonl") + ".meta.json"},
	}
	for i, f := range found.Files {
		if f.Size == 0 || f.ModTime.IsZero() {
			t.Errorf("%s: size %d, time %v", f.Path, f.Size, f.ModTime)
		}
		found.Files[i].Size, found.Files[i].ModTime = 0, time.Time{}
	}
	// Sorted by path within the subagents: the older layout's "agent-…" precedes "s1/…".
	if diff := cmp.Diff(want, found.Files); diff != "" || found.Unreadable != nil {
		t.Errorf("unreadable %v, (-want +got)\n%s", found.Unreadable, diff)
	}
}

// TestLocateSearched: another project's transcript is ours once a record of it was made here, and no line of it is
// looked at twice that was whole.
func TestLocateSearched(t *testing.T) {
	h := newHome(t)
	record := func(cwd string) string { return fmt.Sprintf(`{"type":"user","cwd":%q}`, cwd) + "\n" }
	theirs := h.transcript("/elsewhere", "theirs", "a.jsonl")
	child := h.transcript("/elsewhere", "theirs", "a", "subagents", "agent-a1.jsonl")
	add := func(text string) {
		t.Helper()
		old, err := os.ReadFile(theirs)
		if err != nil {
			t.Fatal(err)
		}
		h.write(theirs, string(old)+text)
	}
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(theirs)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	looked := func(got transcript.Found, want int64, files ...string) map[string]int64 {
		t.Helper()
		if diff := cmp.Diff(map[string]int64{theirs: want}, searched(t, got)) + cmp.Diff(files, paths(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		return searched(t, got)
	}
	looked(h.locate(), size())
	here := record(h.repo)
	h.write(theirs, here+strings.Repeat(" ", max(0, int(size())-len(here))))
	looked(h.again(map[string]int64{theirs: size()}), size()) // it was searched: it is not looked at
	h.write(theirs, record("/elsewhere"))
	seen := looked(h.locate(), size())

	add(record("/elsewhere")[:9]) // torn
	seen = looked(h.again(seen), size())
	add(record("/elsewhere")[9:])
	seen = looked(h.again(seen), size())
	add(strings.Repeat(" ", 5000) + record(h.repo + "/api")[:30])
	seen = looked(h.again(seen), size())
	add(record(h.repo + "/api")[30:]) // the line is looked at as a whole
	seen = looked(h.again(seen), -1, theirs, child)
	add(record("/elsewhere"))
	looked(h.again(seen), -1, theirs, child)

	h.write(theirs, record("/elsewhere"))
	looked(h.again(map[string]int64{theirs: 1 << 20}), size()) // written anew
}

// TestLocateSpends: the latest files are searched first, and what is too much waits.
func TestLocateSpends(t *testing.T) {
	h := newHome(t)
	old, late := h.transcript(h.repo, "theirs", "a.jsonl"), h.transcript(h.repo, "theirs", "b.jsonl")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	env := transcript.Env{Home: h.dir, Roots: []string{h.repo}, Search: 1}
	for _, want := range [][]string{{late}, {old, late}} {
		found, err := transcript.ClaudeCode{}.Locate(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, paths(found)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		env.LocateState = found.LocateState
	}
}

func TestLocateUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root reads what nobody may; a loop of symbolic links stops it too.
		h := newHome(t)
		want := h.transcript(h.repo, folder(h.repo), "b.jsonl")
		link(h, "a.jsonl", filepath.Join(filepath.Dir(want), "a.jsonl"))
		assertOneUnreadable(t, h.locate(), want, "a.jsonl")
		return
	}
	h := newHome(t)
	want := h.transcript(h.repo, folder(h.repo), "b.jsonl")
	closed := filepath.Join(h.dir, ".claude", "projects", "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	assertOneUnreadable(t, h.locate(), want, "closed")
}

func assertOneUnreadable(t *testing.T, found transcript.Found, want, name string) {
	t.Helper()
	if diff := cmp.Diff([]string{want}, paths(found)); diff != "" {
		t.Errorf("the rest (-want +got)\n%s", diff)
	}
	if len(found.Unreadable) != 1 || !strings.Contains(found.Unreadable[0].Error(), name) {
		t.Errorf("unreadable: %v, want one that names %s", found.Unreadable, name)
	}
}

func TestSpawner(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "s1", "subagents")
	file := func(id, meta, content string) transcript.File {
		f := transcript.File{
			Path: filepath.Join(dir, "agent-"+id+".jsonl"), NativeID: id, AgentID: id, Parent: "s1",
			Meta: filepath.Join(dir, "agent-"+id+".meta.json"),
		}
		h.write(f.Path, content+"\n")
		if meta != "" {
			h.write(f.Meta, meta)
		}
		return f
	}
	parent := file("a1", "", `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_7","name":"Task","input":{}}]}}`)
	reader := file("a2", "", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_7"}]}}`)
	tests := []struct{ name, meta, want string }{
		{"no description", "", ""},
		{"of another shape", `[1`, ""},
		{"named", `{"parentAgentId":"a9","spawnDepth":2}`, "a9"},
		{"by the session", `{"toolUseId":"toolu_7","spawnDepth":1}`, ""},
		{"found by its call", `{"toolUseId":"toolu_7","spawnDepth":2}`, "a1"},
		{"a call that nobody made", `{"toolUseId":"toolu_8","spawnDepth":2}`, ""},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := file(fmt.Sprintf("x%d", i), tt.meta, "")
			got, err := transcript.FindSpawner(context.Background(), f, []transcript.File{reader, f, parent})
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// The innermost worktree wins, also when roots are known by different spellings.
func TestPathsThroughLinks(t *testing.T) {
	h := newHome(t)
	inner := filepath.Join(h.repo, ".trees", "one")
	h.mkdir(inner)
	alias := filepath.Join(h.dir, "alias")
	link(h, h.repo, alias)
	edit := func(path string) string {
		return fmt.Sprintf(`{"type":"assistant","cwd":%q,"message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":%q}}]}}`, h.repo, path)
	}
	tests := []struct {
		name, path, want string
		roots            []string
	}{
		{"as given", h.repo + "/a.go", "a.go", []string{h.repo}},
		{"through the link", alias + "/new/a.go", "new/a.go", []string{h.repo}},
		{"root through the link", h.repo + "/a.go", "a.go", []string{alias}},
		{"innermost", inner + "/a.go", "a.go", []string{h.repo, inner}},
		{"innermost, outer root through the link", alias + "/.trees/one/a.go", "a.go", []string{alias, inner}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := transcript.ClaudeCode{}.Decode(context.Background(), strings.NewReader(edit(tt.path)),
				transcript.Options{Roots: tt.roots})
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Sessions[0].ToolCalls[0].Path; got != tt.want {
				t.Errorf("path %q, want %q", got, tt.want)
			}
		})
	}
}
