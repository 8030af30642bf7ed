package setup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/git-rekal/git-rekal/internal/setup"
)

const (
	ourServer = `"git-rekal": {"command": "git-rekal", "args": ["mcp"]}`
	ourFile   = "{\n  \"mcpServers\": {\n    \"git-rekal\": {\n      \"command\": \"git-rekal\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"
)

// TestServer holds what becomes of .mcp.json: by init --mcp, and by clean.
func TestServer(t *testing.T) {
	const absent = "\x00"
	for _, tt := range []struct{ name, before, after, cleaned string }{
		{"no file", absent, ourFile, absent},
		{
			"other servers and unknown keys", "{\n\t\"z\": 1e2,\n\t\"mcpServers\": { \"a\": {\"command\": \"é\\u00e9\"} }\n}",
			"{\n\t\"z\": 1e2,\n\t\"mcpServers\": {\n    " + ourServer + ", \"a\": {\"command\": \"é\\u00e9\"} }\n}", "same",
		},
		{"no servers", `{"x":[]}`, "{\n  \"mcpServers\": {" + ourServer + "},\"x\":[]}", "same"},
		{"an empty list of servers", `{"mcpServers":{}}`, "{\"mcpServers\":{\n    " + ourServer + "}}", "same"},
		{"a server of our name", `{"mcpServers":{"git-rekal":{"command":"/opt/git-rekal","args":["mcp"]}}}`, "same", "same"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			path := r.at(".mcp.json")
			if tt.before != absent {
				r.write(path, tt.before, 0o640)
			}
			check := func(step, want string) {
				t.Helper()
				if want == "same" {
					want = tt.before
				}
				got, err := os.ReadFile(path)
				if err != nil {
					got = []byte(absent)
				}
				if string(got) != want {
					t.Errorf("%s:\n%s\nwant\n%s", step, got, want)
				}
			}
			l := r.layout()
			l.MCP = true
			for range 2 {
				if _, err := setup.Install(l); err != nil {
					t.Fatal(err)
				}
				check("init", tt.after)
			}
			l.MCP = false
			if _, err := setup.Install(l); err != nil {
				t.Fatal(err)
			}
			check("init without --mcp", tt.after)
			if _, err := setup.Remove(l); err != nil {
				t.Fatal(err)
			}
			check("clean", tt.cleaned)
		})
	}
}

// TestServerEdited: what others write beside our server stays, and so does our server once it is theirs.
func TestServerEdited(t *testing.T) {
	for _, tt := range []struct{ name, edited, cleaned string }{
		{
			"another server behind it", `{"mcpServers":{"git-rekal":{"args":["mcp"],"command":"git-rekal"},"b":{}}}`,
			`{"mcpServers":{"b":{}}}`,
		},
		{
			"another one before it", `{"mcpServers":{"b":{}, "git-rekal":{"args":["mcp"],"command":"git-rekal"} }}`,
			`{"mcpServers":{"b":{} }}`,
		},
		{
			"between two", `{"mcpServers":{"a":1,"git-rekal":{"args":["mcp"],"command":"git-rekal"},"b":{}}}`,
			`{"mcpServers":{"a":1,"b":{}}}`,
		},
		{
			"another command", `{"mcpServers":{"git-rekal":{"command":"/opt/x","args":["mcp"]}}}`,
			`{"mcpServers":{"git-rekal":{"command":"/opt/x","args":["mcp"]}}}`,
		},
		{"broken", `{"mcpServers":{"git-rekal":`, `{"mcpServers":{"git-rekal":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			l.MCP = true
			if _, err := setup.Install(l); err != nil {
				t.Fatal(err)
			}
			r.write(r.at(".mcp.json"), tt.edited, 0o644)
			if _, err := setup.Remove(l); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(r.at(".mcp.json")); err != nil || string(got) != tt.cleaned {
				t.Errorf("%s, %v\nwant\n%s", got, err, tt.cleaned)
			}
		})
	}
}

// TestLongServerRefused: what is no object is left alone, in words of our own, and the rest is installed.
func TestLongServerRefused(t *testing.T) {
	for text, why := range map[string]string{
		"{":                   "not valid JSON: line 1, column 2: parsing value: unexpected EOF",
		"{\n  \"a\": 1,\n}\n": "not valid JSON: it has comments, or a comma behind the last member",
		"// a comment\n{}":    "not valid JSON: it has comments, or a comma behind the last member",
		"[]":                  "not a JSON object", "null": "not a JSON object", `"x"`: "not a JSON object", "7": "not a JSON object",
		`{"mcpServers":[]}`: `"mcpServers" is no object`, `{"mcpServers":{},"mcpServers":{}}`: `it has "mcpServers" 2 times`,
	} {
		r := newRepo(t, "work")
		r.write(r.at(".mcp.json"), text, 0o644)
		l := r.layout()
		l.MCP = true
		report, err := setup.Install(l)
		if err == nil || len(report.Done) == 0 {
			t.Fatalf("%q: %v, done %q", text, err, report.Done)
		}
		if said := err.Error(); !strings.Contains(said, why+": add the server `git-rekal mcp` by hand") ||
			strings.Contains(said, "json:") {
			t.Errorf("%q: %s", text, said)
		}
		if got, err := os.ReadFile(r.at(".mcp.json")); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// TestServerOfTheTeam: what a teammate registered and committed is not ours to take out.
func TestServerOfTheTeam(t *testing.T) {
	r := newRepo(t, "work")
	const text = `{"mcpServers":{` + ourServer + `}}`
	r.write(r.at(".mcp.json"), text, 0o644)
	l := r.layout()
	l.MCP = true
	if _, err := setup.Install(l); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Remove(l); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.at(".mcp.json")); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
}

// TestServerInAPipe: a .mcp.json that is no file keeps nobody waiting.
func TestServerInAPipe(t *testing.T) {
	r := newRepo(t, "work")
	if err := unix.Mkfifo(r.at(".mcp.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := r.layout()
	l.MCP = true
	report, err := setup.Install(l)
	if err != nil {
		t.Fatal(err)
	}
	if hints := strings.Join(report.Hints, "\n"); !strings.Contains(hints, ".mcp.json is no file") {
		t.Errorf("hints %q", hints)
	}
}

// TestAddedByAFormerVersion: what a former version added in several lines, and noted in its record, comes out to the
// byte, also where somebody wrote something before it since, and another init ran.
func TestAddedByAFormerVersion(t *testing.T) {
	const (
		path, before = ".claude/settings.local.json", "{\"a\": 1, \"hooks\": {\n  }}\n"
		prompts      = "\n    \"UserPromptSubmit\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"git-rekal brief --hook claude-code || exit 0\", \"timeout\": 5}]}\n    ]"
		start        = "\n    \"SessionStart\": [\n      {\"matcher\": \"startup|resume|clear|compact\", \"hooks\": [{\"type\": \"command\", \"command\": \"git-rekal brief --hook claude-code || exit 0\", \"timeout\": 5}]}\n    ],"
	)
	for _, edited := range []string{"", "\n"} {
		r := newRepo(t, "work")
		l := r.layout()
		install(t, l)
		made := r.read(filepath.Join(l.RekalDir, "made"))
		for _, text := range []string{prompts, start} {
			quoted, err := json.Marshal(map[string]any{"at": strings.Index(before, "{\n") + 1, "text": text})
			if err != nil {
				t.Fatal(err)
			}
			made += "../../" + path + "\t" + string(quoted) + "\n"
		}
		r.write(filepath.Join(l.RekalDir, "made"), made, 0o600)
		r.write(r.at(path), edited+strings.Replace(before, "{\n", "{"+start+prompts+"\n", 1), 0o644)
		install(t, l)
		remove(t, l)
		if got := r.read(r.at(path)); got != edited+before {
			t.Errorf("%q\nwant\n%q", got, edited+before)
		}
	}
}
