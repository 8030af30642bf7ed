package transcript_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// counted is what an independent counter found in a real session (README beside the data).
type counted struct {
	Prompts  int            `json:"prompts"`
	Texts    int            `json:"texts"`
	TextsSub int            `json:"texts_sub"`
	Tools    map[string]int `json:"tools"`
	ToolsSub map[string]int `json:"tools_sub"`
	Failed   int            `json:"failed"`
	Edited   []string       `json:"edited"`
	Child    bool           `json:"child"`
	Commands int            `json:"commands"`
}

// realSessions are the real sessions of an agent by their names.
func realSessions(t *testing.T, agent string) map[string]counted {
	t.Helper()
	raw, err := os.ReadFile(harness.Data(t, "agents/counts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]counted
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(all, func(name string, _ counted) bool { return path.Dir(name) != agent })
	if len(all) == 0 {
		t.Fatalf("no session of %s", agent)
	}
	return all
}

// sums is what a document says, in the counter's terms.
type sums struct {
	Prompts, Texts, TextsSub int
	Tools, ToolsSub          map[string]int
	Failed                   int
	Edited                   []string
}

// sum counts a document. A call that names several files is one, as is each call by the place where it stands. Prompts
// of subagents are not counted, as a person did not write them.
func sum(doc transcript.Document, root string) sums {
	out := sums{Tools: map[string]int{}, ToolsSub: map[string]int{}}
	edited := map[string]bool{}
	for _, s := range doc.Sessions {
		sub := s.AgentID != ""
		for _, turn := range s.Turns {
			switch {
			case turn.Role == session.RoleHuman && !sub:
				out.Prompts++
			case turn.Role == session.RoleAssistant && sub:
				out.TextsSub++
			case turn.Role == session.RoleAssistant:
				out.Texts++
			}
		}
		tools := out.Tools
		if sub {
			tools = out.ToolsSub
		}
		for _, c := range s.ToolCalls {
			tools[c.Tool]++
			if c.Failed {
				out.Failed++
			}
			if p := c.EditedPath(); p != "" {
				if !filepath.IsAbs(p) {
					p = filepath.Join(root, p)
				}
				edited[p] = true
			}
		}
	}
	out.Edited = slices.Sorted(maps.Keys(edited))
	return out
}

func (c counted) sums() sums {
	return sums{c.Prompts, c.Texts, c.TextsSub, c.Tools, c.ToolsSub, c.Failed, c.Edited}
}

// realRoot is the folder in which a real session was made.
func realRoot(raw []byte) string {
	var first struct {
		Payload struct {
			Cwd string `json:"cwd"`
		} `json:"payload"`
		Data struct {
			Context struct {
				Cwd, GitRoot string
			} `json:"context"`
		} `json:"data"`
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	_ = json.Unmarshal(line, &first)
	return cmp.Or(first.Payload.Cwd, first.Data.Context.GitRoot, first.Data.Context.Cwd)
}

// patchHeaders finds the files of a patch in any quoting.
var patchHeaders = regexp.MustCompile(`\*\*\* (?:Add File|Update File|Delete File|Move to): `)

func TestRealCodex(t *testing.T) {
	// What the counter leaves out or counts otherwise, by session.
	differs := map[string]func(*counted){
		"019d6cca-56cc-7850-9ca0-e841d6382a98": func(c *counted) {
			c.Prompts += 3 // a person's answers to request_user_input
			c.Failed += 2  // one of the two patches that were refused names three files
		},
		"019ed50c-2fb3-7002-a384-360bea6e7f04": func(c *counted) { // tools of a server are told by its name, too
			for _, tool := range []string{"_fetch_pr", "_get_commit_combined_status"} {
				c.Tools["mcp__codex_apps__github."+tool] = c.Tools[tool]
				delete(c.Tools, tool)
			}
		},
	}
	for name, want := range realSessions(t, "codex") {
		id, _, _ := strings.Cut(path.Base(name), ".")
		raw := harness.Unzipped(t, "agents/"+name)
		root := realRoot(raw)
		if change := differs[id]; change != nil {
			change(&want)
		}
		want.Tools["apply_patch"] = 0 // one call for each file that a patch names
		for line := range bytes.Lines(raw) {
			if bytes.Contains(line, []byte(`"name":"apply_patch"`)) {
				want.Tools["apply_patch"] += len(patchHeaders.FindAll(line, -1))
			}
		}
		doc := decodeAll(t, transcript.Codex{}, raw, transcript.Options{
			File:  transcript.File{NativeID: id},
			Roots: []string{root},
		})
		harness.Equal(t, name, want.sums(), sum(doc, root))
		spokeLast(t, id, doc)
	}
}

// fromWindows rewrites the paths of a session that was made in C:\\Users\\…\\starcar and its worktrees as if it had
// been made in /starcar, as stage.py beside the data does.
func fromWindows(raw []byte) []byte {
	win := regexp.MustCompile(`C:\\\\Users\\\\[^\\]+\\\\git\\\\starcar[\w-]*(?:\\\\[\w.-]+)*`)
	return win.ReplaceAllFunc(raw, func(p []byte) []byte {
		_, below, _ := bytes.Cut(p, []byte(`git\\`))
		return append([]byte("/"), bytes.ReplaceAll(below, []byte(`\\`), []byte("/"))...)
	})
}

func TestRealCopilot(t *testing.T) {
	differs := map[string]func(*counted){
		"378ab881-f02f-435c-9673-0c8d7c7d6bef": func(c *counted) { c.Prompts++ }, // a person's answer to ask_user
	}
	for name, want := range realSessions(t, "copilot") {
		id, _, _ := strings.Cut(path.Base(name), ".")
		raw := fromWindows(harness.Unzipped(t, "agents/"+name))
		root := realRoot(raw)
		if change := differs[id]; change != nil {
			change(&want)
		}
		for i, p := range want.Edited {
			quoted, _ := json.Marshal(p)
			want.Edited[i] = strings.Trim(string(fromWindows(quoted)), `"`)
		}
		slices.Sort(want.Edited)
		doc := decodeAll(t, transcript.Copilot{}, raw,
			transcript.Options{File: transcript.File{NativeID: id}, Roots: []string{root}})
		harness.Equal(t, name, want.sums(), sum(doc, root))
		spokeLast(t, id, doc)
	}
}

// rooted makes what the counter has as the agent wrote it absolute.
func (c counted) rooted(root string) counted {
	for i, p := range c.Edited {
		if !filepath.IsAbs(p) {
			c.Edited[i] = filepath.Join(root, p)
		}
	}
	slices.Sort(c.Edited)
	return c
}

func TestRealGemini(t *testing.T) {
	const root = "/work/shop"
	for name, want := range realSessions(t, "gemini") {
		id, _, _ := strings.Cut(path.Base(name), ".")
		doc := readGemini(t, id, harness.Unzipped(t, "agents/"+name))
		harness.Equal(t, name, want.rooted(root).sums(), sum(doc, root))
		spokeLast(t, id, doc)
	}
}

func TestRealCursor(t *testing.T) {
	for name, want := range realSessions(t, "cursor") {
		root := path.Dir(want.Edited[0])
		f := transcript.File{NativeID: "session", Cwd: root, ModTime: time.Now()}
		doc := decodeAll(t, transcript.Cursor{}, harness.Unzipped(t, "agents/"+name),
			transcript.Options{File: f, Roots: []string{root}})
		harness.Equal(t, name, want.sums(), sum(doc, root))
	}
}

// decodeAll reads a transcript to its end.
func decodeAll(t *testing.T, agent transcript.Agent, raw []byte, opt transcript.Options) transcript.Document {
	t.Helper()
	doc := read(t, agent, raw, opt)
	if doc.Bytes != int64(len(raw)) || doc.Skipped.Malformed+doc.Skipped.Oversized > 0 {
		t.Fatalf("read %d of %d bytes, skipped %+v", doc.Bytes, len(raw), doc.Skipped)
	}
	return doc
}

// grown reads a file of lines at each of some lengths, each time from where the read before ended, and joins what the
// reads give.
func grown(t *testing.T, agent transcript.Agent, raw []byte, opt transcript.Options, sizes []int) map[string][]string {
	t.Helper()
	var docs []transcript.Document
	at := int64(0)
	head, _, _ := bytes.Cut(raw, []byte("\n"))
	for _, size := range append(sizes, len(raw)) {
		doc := read(t, agent, raw[at:size], opt)
		if len(docs) == 0 && len(doc.Sessions) == 0 {
			continue // capture does not know it yet, and begins anew
		}
		at += doc.Bytes
		opt.Inside, opt.Head = true, head
		docs = append(docs, doc)
	}
	return withEdits(docs...)
}

// withEdits is what documents say of turns, calls and edits.
func withEdits(docs ...transcript.Document) map[string][]string {
	all := flatten(docs...)
	for _, doc := range docs {
		for _, s := range doc.Sessions {
			for _, e := range s.Edits {
				all[s.NativeID+" edits"] = append(all[s.NativeID+" edits"], fmt.Sprintf("%v %s %v", e.TS, e.Path, e.Hunks))
			}
		}
	}
	return all
}

// growthSizes are the lengths at which real files of lines stood at successive commits, by agent and session.
func growthSizes(t *testing.T) map[string][]int {
	t.Helper()
	table, err := os.ReadFile(harness.Data(t, "agents/growth/growth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]int{}
	for row := range strings.Lines(string(table)) {
		cols := strings.Fields(row)
		for _, col := range cols[2:] {
			size, err := strconv.Atoi(col)
			if err != nil {
				t.Fatal(err)
			}
			out[cols[0]+"/"+cols[1]] = append(out[cols[0]+"/"+cols[1]], size)
		}
	}
	return out
}

// TestRealAgentsGrow reads real files of lines as they stood at successive commits, and each at some lengths more:
// together the reads give what one does, edits included.
func TestRealAgentsGrow(t *testing.T) {
	sizes := growthSizes(t)
	for folder, agent := range map[string]transcript.Agent{"codex": transcript.Codex{}, "copilot": transcript.Copilot{}} {
		for name := range realSessions(t, folder) {
			raw := fromWindows(harness.Unzipped(t, "agents/"+name))
			id, _, _ := strings.Cut(path.Base(name), ".")
			opt := transcript.Options{File: transcript.File{NativeID: id}, Roots: []string{realRoot(raw)}}
			want := withEdits(decodeAll(t, agent, raw, opt))
			if at := sizes[folder+"/"+id]; at != nil {
				for i, n := range at { // of the bytes before they were rewritten
					at[i] = len(fromWindows(harness.Unzipped(t, "agents/"+name)[:n]))
				}
				harness.Equal(t, name+" at commits", want, grown(t, agent, raw, opt, at))
			}
			var at []int
			for i := range 40 {
				at = append(at, len(raw)*(i+1)/41)
			}
			harness.Equal(t, name, want, grown(t, agent, raw, opt, at))
		}
	}
}

// TestRealWholeGrow reads real sessions that are no growing lines as they stood at successive commits: what is stored
// of them, known turns and calls left out, is what the last state gives, and so are the edits and commits.
func TestRealWholeGrow(t *testing.T) {
	for folder, read := range map[string]func(t *testing.T, id string,
		raw []byte) transcript.Document{"gemini": readGemini, "opencode": readOpenCode} {
		grown, err := filepath.Glob(harness.Data(t, "agents/growth/"+folder) + "/*.1.json.gz")
		if err != nil || len(grown) == 0 {
			t.Fatalf("no earlier states of %s: %v", folder, err)
		}
		for _, first := range grown {
			id := strings.TrimSuffix(filepath.Base(first), ".1.json.gz")
			var stored session.Session
			var edits []transcript.Edit
			var commits []transcript.Commit
			var last transcript.Document
			for _, state := range []string{
				"growth/" + folder + "/" + id + ".1", "growth/" + folder + "/" + id + ".2",
				folder + "/" + id,
			} {
				name := "agents/" + state + ".json.gz"
				if _, err := os.Stat(filepath.Join(harness.Data(t, "agents"), "..", name)); err != nil {
					continue // some have one
				}
				last = read(t, id, harness.Unzipped(t, name))
				for _, s := range last.Sessions {
					stored.Absorb(s.Session, session.Whole)
					for _, c := range s.Commits {
						if !slices.Contains(commits, c) {
							commits = append(commits, c)
						}
					}
					for _, e := range s.Edits {
						if !slices.ContainsFunc(edits, func(had transcript.Edit) bool { return reflect.DeepEqual(had, e) }) {
							edits = append(edits, e)
						}
					}
				}
			}
			harness.Equal(t, id, withEdits(last), withEdits(transcript.Document{Sessions: []transcript.Part{{
				Session: stored,
				Edits:   edits, Commits: commits,
			}}}))
		}
	}
}

func readGemini(t *testing.T, id string, raw []byte) transcript.Document {
	t.Helper()
	document := filepath.Join(t.TempDir(), "session.json")
	if err := os.WriteFile(document, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	f := transcript.File{Path: document, NativeID: id, Cwd: "/work/shop", ReadWhole: true}
	return readFile(t, transcript.Gemini{}, f, []string{"/work/shop"})
}
