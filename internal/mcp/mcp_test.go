package mcp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-rekal/git-rekal/internal/mcp/view"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

var update = flag.Bool("update", false, "write the goldens anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// exchange is one call of a golden: JSON as an agent writes it.
type exchange struct{ tool, args string }

// TestLongExchanges: every tool, action, view and error, as a client sees them.
func TestLongExchanges(t *testing.T) {
	w := told(t)
	c := w.client()
	ids := map[string]string{} // by title: which names stand in the goldens for them
	for title, name := range map[string]string{
		"Fix JWT expiry": "JWT", "the build is slow": "BUILD",
		"Leeway of tokens": "LEEWAY",
	} {
		line := c.says("recall", map[string]any{"title": title})
		ids[name], _, _ = strings.Cut(strings.Fields(line)[1], ":")
	}
	for name, list := range exchanges() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, e := range list {
				args := e.args
				for name, id := range ids {
					args = strings.ReplaceAll(args, "$"+name, id)
				}
				var in map[string]any
				if err := json.Unmarshal([]byte(args), &in); err != nil {
					t.Fatal(err)
				}
				text, failed := c.call(e.tool, in)
				for name, id := range ids {
					text = strings.ReplaceAll(text, id, "$"+name)
				}
				verdict := ""
				if failed {
					verdict = " (error)"
				}
				fmt.Fprintf(&b, "> %s %s\n%s%s\n\n", e.tool, e.args, text, verdict)
			}
			golden(t, name, b.String())
		})
	}
}

func exchanges() map[string][]exchange {
	recall := func(args ...string) (out []exchange) {
		for _, a := range args {
			out = append(out, exchange{"recall", a})
		}
		return out
	}
	return map[string][]exchange{
		"views": recall(`{}`, `{"detail":"timeline"}`, `{"detail":"full"}`, `{"query":"token expiry clock"}`,
			`{"query":"token expiry clock","detail":"timeline","limit":1}`,
			`{"id":"$JWT","detail":"full"}`, `{"id":"$JWT","detail":"full","query":"fix it"}`,
			`{"id":"$JWT","detail":"full","turn":0}`, `{"ids":["$LEEWAY","$JWT","01XXXXXXXX"]}`,
			`{"ids":["$LEEWAY","$JWT"],"kind":"memory"}`,
			`{"id":"$LEEWAY","detail":"full"}`,
			`{"query":"","id":null,"ids":null,"title":"JWT","action":"","detail":null,"limit":null,"turn":null}`),
		"titles": recall(`{"title":"jwt EXP"}`, `{"title":"%"}`, `{"title":"_"}`, `{"title":"of","query":"the build"}`),
		"filters": recall(`{"file":"^Makefile$"}`, `{"commit":"HEAD"}`, `{"author":"ALICE@example.com","limit":1}`,
			`{"actor":"agent"}`, `{"agent":"claude-code","limit":1}`, `{"agent":"codex"}`, `{"checkpoint":"HEAD~1"}`,
			`{"query":"clock build","files":["src/auth/jwt.go"]}`, `{"query":"clock build","files":["src"]}`,
			`{"query":"clock","files":["no/such.file"]}`, `{"verified":true}`, `{"verified":true,"ids":["$JWT"]}`),
		"explain": recall(`{"action":"why","id":"src/auth/jwt.go:1"}`, `{"action":"show","id":"HEAD"}`,
			`{"action":"show","id":"$JWT"}`, `{"action":"show","id":"$LEEWAY"}`,
			`{"action":"why","id":"no.go:1"}`, `{"action":"show","id":"nosuch"}`, `{"action":"why","query":"x"}`,
			`{"action":"show"}`),
		"errors": recall(`{"query":"x","ids":["$JWT"]}`, `{"id":"$JWT","ids":["$JWT"]}`, `{"title":"x","ids":["$JWT"]}`,
			`{"action":"purge"}`, `{"action":"restore","query":"token"}`,
			`{"action":"purge","id":"$JWT","query":"token"}`, `{"query":"zzzyx qqqqq"}`, `{"id":"01XXXXXXXX"}`, `{"id":"01X"}`,
			`{"ids":["01XXXXXXXX","02YYYYYYYY"],"detail":"full"}`,
			`{"limit":51}`, `{"limit":0}`, `{"action":"delete"}`, `{"detail":"all"}`, `{"file":"("}`, `{"commit":"nosuch"}`,
			`{"checkpoint":"nosuch"}`, `{"actor":"cat"}`, `{"colour":"red"}`, `{"query":7}`),
	}
}

// TestLongInputs: an error that repeats what was given is within the budget, and shows nothing hidden.
func TestLongInputs(t *testing.T) {
	c := told(t).client()
	long := strings.Repeat("\x1b[2J ( 令牌", 20_000)
	for _, args := range []map[string]any{
		{"commit": long},
		{"checkpoint": long},
		{"file": long},
		{"action": long},
		{long: 1},
		{"title": long},
		{"id": long},
		{"action": "purge", "ids": []string{long}},
	} {
		text, failed := c.call("recall", args)
		if n := tokens.Count(text); !failed || n > view.Budget || n < 10 || strings.Contains(text, "\x1b") {
			t.Errorf("%.30v: %v, %d tokens: %.200q", args, failed, n, text)
		}
	}
}

// TestLongMarks: what is purged is in no view, and restore brings it back.
func TestLongMarks(t *testing.T) {
	w := told(t)
	c := w.client()
	id := strings.Fields(c.says("recall", map[string]any{"title": "Leeway"}))[1]
	other := strings.Fields(c.says("recall", map[string]any{"title": "JWT"}))[1]
	text, failed := c.call("recall", map[string]any{"action": "purge", "ids": []string{id, "01XXXXXXXX"}})
	if failed || !strings.HasPrefix(text, "Purged 1/2 memories.\nFailed: ") || !strings.Contains(text, "01XXXXXXXX") {
		t.Errorf("purge: %q, %v", text, failed)
	}
	if text, failed := c.call("recall", map[string]any{"action": "purge", "id": id}); !failed ||
		!strings.HasPrefix(text, "Purged 0/1 memories.\nFailed: ") {
		t.Errorf("purged again: %q, %v", text, failed)
	}
	for _, args := range []map[string]any{
		{"query": "leeway"},
		{"title": "Leeway"},
		{"id": id},
		{"id": id, "detail": "full"},
	} {
		if text, _ := c.call("recall", args); strings.Contains(text, "30 s") {
			t.Errorf("%v shows what is purged: %s", args, text)
		}
	}
	if out := w.run("leeway"); strings.Contains(out, "30 s") {
		t.Errorf("the command line shows what is purged: %s", out)
	}
	if text, failed := c.call("recall", map[string]any{"id": id}); !failed ||
		!strings.Contains(text, "No memories found") || !strings.Contains(text, "is purged: include_purged shows it") {
		t.Errorf("asked for by its ID: %q, %v", text, failed)
	}
	if text, failed := c.call("recall", map[string]any{"id": id, "include_purged": true, "turn": 0}); failed ||
		!strings.Contains(text, "detail: full") {
		t.Errorf("a turn: %q, %v", text, failed)
	}
	c.says("recall", map[string]any{"query": "Kubernetes leeway", "include_purged": true},
		"\nNobody spoke of: kubernetes\n")
	for _, args := range []map[string]any{
		{"query": "leeway", "include_purged": true},
		{"include_purged": true, "detail": "timeline"},
		{"id": id, "include_purged": true, "detail": "full"},
		{"ids": []string{id}},
	} {
		c.says("recall", args, "30 s", "purged")
	}
	if text := c.says("recall", map[string]any{
		"action": "restore",
		"ids":    []string{id},
	}); text != "Restored 1/1 memories." {
		t.Errorf("restore: %q", text)
	}
	c.says("recall", map[string]any{"query": "leeway"}, "30 s")
	c.says("recall", map[string]any{"id": other}, "Fix JWT expiry")
}

// TestLongSave: what is saved is redacted, found at once by every client and on the command line, and stored once.
func TestLongSave(t *testing.T) {
	w := told(t)
	one, two := w.client(), w.client()
	saved := one.says("save_memory", map[string]any{
		"title":   "Deploy",
		"content": "Deploy with the key AKIAQYLPMN5HHHFPZAM2 from the vault.",
	}, "Saved memory ", "Redacted before storing: 1")
	id := strings.Fields(saved)[2]
	if text := two.says("recall", map[string]any{"query": "deploy", "detail": "full"},
		"from the vault"); strings.Contains(text, "AKIA") {
		t.Errorf("a secret in %s", text)
	}
	if out := w.run("deploy"); !strings.Contains(out, id) || !strings.Contains(out, `"source":"tester"`) {
		t.Errorf("the command line has %s", out)
	}
	again := two.says("save_memory", map[string]any{
		"title":   "Deploy",
		"content": "Deploy with the key AKIAQYLPMN5HHHFPZAM2 from the vault.",
	})
	if !strings.HasPrefix(again, "Saved before, as memory "+id) {
		t.Errorf("saved again: %s", again)
	}
	for _, args := range []map[string]any{
		{},
		{"content": ""},
		{"content": " \n"},
		{"content": strings.Repeat("x", 65537)},
		{"content": strings.Repeat("long ", 1_000_000)},
		{"content": "x", "title": strings.Repeat("x", 201)},
	} {
		if text, failed := one.call("save_memory", args); !failed || text == "" || len(text) > 500 {
			t.Errorf("%.40v: %q", args, text)
		}
	}
}

// TestNewCommit: a server that runs sees what a commit captures, at once, and keeps nothing from a rebuild.
func TestNewCommit(t *testing.T) {
	w := told(t)
	c := w.client()
	c.says("recall", map[string]any{"query": "token"}, "JWT")
	w.say("three", "2026-03-06T09:00:00Z", "human why is the walrus blue?", "Edit README")
	w.write("repo/README", "hello again\n")
	w.commit("blue")
	w.run("hook", "post-commit")
	c.says("recall", map[string]any{"query": "walrus"}, "walrus", "1 result(s)")
	w.run("index")
	c.says("recall", map[string]any{"query": "walrus"}, "walrus")
}

// TestPlaces: a server starts anywhere, and says what is the matter when it is asked.
func TestPlaces(t *testing.T) {
	w := told(t)
	w.dir += "/src/auth"
	w.client().says("recall", map[string]any{"query": "token", "files": []string{w.dir + "/jwt.go"}}, "JWT", "1 result(s)")

	w.dir = w.Home()
	if text, failed := w.client().call("recall", nil); !failed ||
		!strings.Contains(text, "started inside a git repository") {
		t.Errorf("outside of a repository: %q", text)
	}

	w = newWorld(t)
	c := w.client()
	for _, tool := range []string{"recall", "save_memory"} {
		if text, failed := c.call(tool, map[string]any{"content": "x"}); tool == "save_memory" &&
			(!failed || !strings.Contains(text, `run "git rekal init"`)) {
			t.Errorf("%s before init: %q", tool, text)
		}
	}
	if text, failed := c.call("recall", nil); !failed || !strings.Contains(text, `run "git rekal init"`) {
		t.Errorf("recall before init: %q", text)
	}
	w.run("init")
	if text, failed := c.call("recall", nil); !failed ||
		text != "No memories found: no session was captured yet, and no memory saved." {
		t.Errorf("an empty memory: %q", text)
	}
}

// TestAuthors: what somebody else wrote names them in every view.
func TestAuthors(t *testing.T) {
	w := told(t)
	w.write(".gitconfig", "[user]\n\tname = Bob\n\temail = bob@example.com\n")
	c := w.client()
	for _, detail := range []string{"compact", "timeline", "full"} {
		c.says("recall", map[string]any{"query": "leeway", "detail": detail}, "by alice@example.com")
	}
}

// TestTools: what a client is told before it calls anything.
func TestTools(t *testing.T) {
	c := newWorld(t).client()
	list, err := c.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", c.InitializeResult().Instructions)
	for _, tool := range list.Tools {
		if !strings.Contains(tool.Description+c.InitializeResult().Instructions, "data") {
			t.Errorf("%s does not say what its answers are", tool.Name)
		}
		schema, err := json.MarshalIndent(tool.InputSchema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n%s\n\n", tool.Name, tool.Description, schema)
	}
	golden(t, "tools", b.String())
}

// TestEnd: the server ends with its input, and says nothing about it.
func TestEnd(t *testing.T) {
	c := newWorld(t).client()
	if err := c.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if status := <-c.ended; status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestTitles: a title is matched as it is written, in any case.
func TestTitles(t *testing.T) {
	w := newWorld(t)
	w.run("init")
	c := w.client()
	for _, title := range []string{"100% of SNAKE_case", "Größe der Ärmel", "nothing"} {
		c.says("save_memory", map[string]any{"title": title, "content": "about " + title})
	}
	for title, want := range map[string]int{
		"100%": 1, "e_c": 1, "snake": 1, "e%c": 0, "ä": 1, "GRÖSSE": 0, "größe": 1,
		"'": 0, "h": 1, "\\": 0,
	} {
		text, failed := c.call("recall", map[string]any{"title": title})
		if got := strings.Count(text, "\n[") + 1; !failed && got != want || failed != (want == 0) {
			t.Errorf("%q: want %d, got\n%s", title, want, text)
		}
	}
}

// TestRecords: what a command printed is found, shown by its number, purged and restored; no tool runs anything.
func TestRecords(t *testing.T) {
	w := told(t)
	w.run("run", "-i", "why it fails", "--", "echo", "src/auth/jwt.go:7:2: error: undefined: leeway")
	c := w.client()
	c.says("recall", map[string]any{"query": "undefined leeway", "kind": "record"}, "[1] 1 | echo 'src/auth/jwt.go:7:2",
		"record", "exit 0", "captured ", " ago | matched content")
	c.says("recall", map[string]any{"id": "1", "detail": "full"}, "src/auth/jwt.go:7:2: error: undefined: leeway")
	c.says("recall", map[string]any{"action": "purge", "id": "1"}, "Purged 1/1 memories.")
	if text, _ := c.call("recall", map[string]any{"query": "undefined leeway", "kind": "record"}); strings.Contains(text,
		"jwt.go") {
		t.Errorf("purged, and found: %s", text)
	}
	if text, failed := c.call("recall", map[string]any{"id": "1", "detail": "full"}); !failed ||
		!strings.Contains(text, "include_purged shows it") || strings.Contains(text, "jwt.go") {
		t.Errorf("purged, and shown: %v, %s", failed, text)
	}
	c.says("recall", map[string]any{"id": "1", "detail": "full", "include_purged": true}, "src/auth/jwt.go:7:2")
	c.says("recall", map[string]any{"action": "restore", "ids": []string{"1"}}, "Restored 1/1 memories.")
	if text, failed := c.call("recall", map[string]any{"id": "7"}); !failed || !strings.Contains(text, "no such record") {
		t.Errorf("an unknown number: %v, %s", failed, text)
	}
}

// TestLongQuestion: what is too long to be searched is refused by its ID, names the bound, and costs little memory;
// what fits is answered.
func TestLongQuestion(t *testing.T) {
	w := told(t)
	ask := func(id, bytes int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"recall","arguments":{"query":"leeway %s"}}}`+"\n", id, strings.Repeat("word ", bytes/5))
	}
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	out := serve(t, w.process(), begin+ask(2, 250<<10)+ask(3, 300<<10))
	for _, want := range []string{
		`"id":2,"result":{"content":[{"type":"text","text":"[1] `,
		"the question has 300 KB, and at most 256 KB are searched: give the words that matter",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %.2000s", want, out)
		}
	}
	var before, after runtime.MemStats
	requests := begin + ask(4, 15<<20)
	runtime.ReadMemStats(&before)
	out = serve(t, w.process(), requests)
	runtime.ReadMemStats(&after)
	if !strings.Contains(out, `"id":4,"result":{"isError":true,"content":[{"type":"text","text":"A call has at most 2 MB: a question 256 KB`) {
		t.Errorf("a question of 15 MB: %.500s", out)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 200 {
		t.Errorf("a question of 15 MB took %d MB of memory", used)
	}
}

// TestReadsOnly: with rekal.mcp.write false nothing to save or purge is offered, and it is refused where the setting
// came later.
func TestReadsOnly(t *testing.T) {
	w := told(t)
	before := w.client()
	id := strings.Fields(before.says("recall", map[string]any{"title": "Leeway"}))[1]
	w.Git(w.dir, "config", "rekal.mcp.write", "false")
	for tool, args := range map[string]map[string]any{
		"save_memory": {"content": "more"},
		"recall":      {"action": "purge", "id": id},
	} {
		if text, failed := before.call(tool, args); !failed || !strings.Contains(text, "Refused: ") ||
			!strings.Contains(text, "rekal.mcp.write") {
			t.Errorf("%s: %v, %s", tool, failed, text)
		}
	}
	if text, failed := before.call("recall", map[string]any{"action": "restore", "id": id}); !failed ||
		!strings.Contains(text, "Refused: ") {
		t.Errorf("restore: %v, %s", failed, text)
	}
	c := w.client()
	offered, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(offered)
	if err != nil {
		t.Fatal(err)
	}
	about := c.InitializeResult().Instructions + string(text)
	if len(offered.Tools) != 1 || strings.Contains(about, "purge") && !strings.Contains(about, "include_purged") ||
		strings.Contains(about, "save_memory") || strings.Contains(about, `"restore"`) {
		t.Errorf("offered: %s", about)
	}
	c.says("recall", map[string]any{"query": "leeway", "action": "view"}, "30 s")
	if text, failed := c.call("recall", map[string]any{"action": "purge", "id": id}); !failed {
		t.Errorf("purge: %s", text)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{
		Name:      "save_memory",
		Arguments: map[string]any{"content": "more"},
	}); err == nil {
		t.Error("save_memory is there")
	}
}
