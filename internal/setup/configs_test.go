package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	entryLines = `"git-rekal": {"command": "git-rekal", "args": ["mcp"]}`
	codexTable = "[mcp_servers.git-rekal]\ncommand = \"git-rekal\"\nargs = [\"mcp\"]\n"
)

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// TestConfigs: what init --mcp makes of each agent's configuration; clean brings every byte back.
func TestConfigs(t *testing.T) {
	for _, tt := range []struct{ name, path, before, after string }{
		{
			"Codex with comments", ".codex/config.toml", "# mine\nmodel = \"x\" # why\n\n[mcp_servers.a]\ncommand = 'a'\n",
			"# mine\nmodel = \"x\" # why\n\n[mcp_servers.a]\ncommand = 'a'\n\n" + codexTable,
		},
		{"Codex without a last newline", ".codex/config.toml", "model = \"x\"", "model = \"x\"\n" + codexTable},
		{"Codex with CRLF", ".codex/config.toml", "model = \"x\"\r\n", "model = \"x\"\r\n\r\n" + crlf(codexTable)},
		{"Codex, empty", ".codex/config.toml", "", codexTable},
		{
			"Gemini with comments", ".gemini/settings.json",
			"// mine\n{\n  \"ui\": {\"theme\": \"x\"}, // why\n  /* {\"mcpServers\": */ \"mcpServers\": {\n    // a\n    \"a\": {\"command\": \"a\",},\n  },\n}", "// mine\n{\n  \"ui\": {\"theme\": \"x\"}, // why\n  /* {\"mcpServers\": */ \"mcpServers\": {\n    " + entryLines + ",\n    // a\n    \"a\": {\"command\": \"a\",},\n  },\n}",
		},
		{
			"Gemini with CRLF", ".gemini/settings.json", "{\r\n  \"ui\": {}\r\n}\r\n",
			"{\r\n  \"mcpServers\": {" + entryLines + "},\r\n  \"ui\": {}\r\n}\r\n",
		},
		{"Gemini, empty", ".gemini/settings.json", "", "{\"mcpServers\": {" + entryLines + "}}\n"},
		{
			"OpenCode", "opencode.json", "{\"$schema\": \"https://opencode.ai/config.json\"}\n",
			"{\n  \"mcp\": {\"git-rekal\": {\"type\": \"local\", \"command\": [\"git-rekal\", \"mcp\"]}},\"$schema\": \"https://opencode.ai/config.json\"}\n",
		},
		{
			"OpenCode with comments", "opencode.jsonc", "{\n  \"mcp\": {}, // none\n}\n",
			"{\n  \"mcp\": {\n    \"git-rekal\": {\"type\": \"local\", \"command\": [\"git-rekal\", \"mcp\"]}}, // none\n}\n",
		},
		{
			"VS Code", ".vscode/mcp.json", "{\n\t\"servers\": {},\n\t\"inputs\": []\n}\n",
			"{\n\t\"servers\": {\n    \"git-rekal\": {\"type\": \"stdio\", \"command\": \"git-rekal\", \"args\": [\"mcp\"]}},\n\t\"inputs\": []\n}\n",
		},
		{
			"Cursor", ".cursor/mcp.json", "{\"mcpServers\":{}}",
			"{\"mcpServers\":{\n    \"git-rekal\": {\"command\": \"git\", \"args\": [\"-C\", \"${workspaceFolder}\", \"rekal\", \"mcp\"]}}}",
		},
		{"Claude, empty", ".mcp.json", "", "{\"mcpServers\": {" + entryLines + "}}\n"},
		{
			"Claude with CRLF and a byte order mark", ".mcp.json", "\ufeff{}\r\n",
			"\ufeff{\r\n  \"mcpServers\": {" + entryLines + "}}\r\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			r.write(r.at(tt.path), tt.before, 0o640)
			before := r.snapshot()
			l := r.layout()
			l.MCP = true
			for range 2 {
				install(t, l)
				harness.Equal(t, "init", tt.after, r.read(r.at(tt.path)))
			}
			remove(t, l)
			harness.Equal(t, "tree after clean", before, r.snapshot())
		})
	}
}

// TestConfigsOfAgents: an agent with sessions here gets a configuration and the skill, and clean leaves no trace of
// either.
func TestConfigsOfAgents(t *testing.T) {
	r := newRepo(t, "work")
	before := r.snapshot()
	l := r.layout()
	l.MCP, l.Agents = true, []string{"codex", "gemini-cli", "opencode", "cursor"}
	hints := strings.Join(install(t, l).Hints, "\n")
	for _, path := range []string{
		".mcp.json", ".codex/config.toml", ".gemini/settings.json", "opencode.json",
		".cursor/mcp.json",
	} {
		if r.read(r.at(path)) == "" || !strings.Contains(hints, path) {
			t.Errorf("%s: %q, hints %q", path, r.read(r.at(path)), hints)
		}
	}
	if _, err := os.Stat(r.at(".vscode")); err == nil {
		t.Error("VS Code, which nobody uses here, was configured")
	}
	if r.read(r.at(".agents/skills/rekal/SKILL.md")) != r.read(r.at(".claude/skills/rekal/SKILL.md")) {
		t.Error("no skill for Codex")
	}
	if status := r.git("status", "--porcelain", "--untracked-files=all"); strings.Contains(status, "skills") {
		t.Errorf("the skills are not ignored: %s", status)
	}
	remove(t, l)
	harness.Equal(t, "tree after clean", before, r.snapshot())
}

// TestConfigsLeftAlone: what is not as we know it stays, and init says so.
func TestConfigsLeftAlone(t *testing.T) {
	for _, tt := range []struct{ name, path, text, says string }{
		{"broken TOML", ".codex/config.toml", "a = \n", "not valid TOML, in line 1"},
		{
			"an inline table", ".codex/config.toml", "mcp_servers = { a = { command = \"a\" } }\n",
			`"mcp_servers" takes no further table`,
		},
		{
			"another server of our name", ".codex/config.toml",
			"[mcp_servers.git-rekal]\ncommand = \"sh\"\nargs = [\"-c\", \"x\"]\n", "runs something else and was left alone",
		},
		{"broken JSON", ".gemini/settings.json", "{\n  \"a\": 1\n", "not valid JSON: line 3"},
		{
			"another server in JSON", ".gemini/settings.json", `{"mcpServers":{"git-rekal":{"httpUrl":"https://example.com"}}}`,
			"runs something else and was left alone",
		},
		{
			"a server in OpenCode that is ours by another path", "opencode.json",
			`{"mcp":{"git-rekal":{"type":"local","command":["/opt/git-rekal","mcp"]}}}`, "",
		},
		{"a comment that never ends", ".vscode/mcp.json", "{} /* x", "not valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			r.write(r.at(tt.path), tt.text, 0o640)
			l := r.layout()
			l.MCP = true
			report, err := setup.Install(l)
			said := strings.Join(report.Hints, "\n")
			if err != nil {
				said += err.Error()
			}
			if !strings.Contains(said, tt.says) || tt.says != "" && !strings.Contains(said, tt.path) ||
				tt.says == "" && strings.Contains(said, "left alone") {
				t.Errorf("said %q", said)
			}
			remove(t, l)
			harness.Equal(t, tt.path, tt.text, r.read(r.at(tt.path)))
		})
	}
}

// TestConfigsThroughALink: a folder that is a link may serve other repositories.
func TestConfigsThroughALink(t *testing.T) {
	r := newRepo(t, "work")
	r.mkdir(filepath.Join(r.Root, "home/codex"))
	r.link("../home/codex", r.at(".codex"))
	l := r.layout()
	l.MCP = true
	if hints := strings.Join(install(t, l).Hints, "\n"); !strings.Contains(hints, ".codex is a link") {
		t.Errorf("hints %q", hints)
	}
	if left, err := os.ReadDir(filepath.Join(r.Root, "home/codex")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v behind the link", left, err)
	}
}

// TestConfigEdited: what a user writes beside our entry stays, and so does our entry once it is theirs.
func TestConfigEdited(t *testing.T) {
	for _, tt := range []struct{ name, path, edited, cleaned string }{
		{"a table behind ours", ".codex/config.toml", "a = 1\n\n" + codexTable + "\n[b]\n", "a = 1\n\n[b]\n"},
		{"a key in ours", ".codex/config.toml", codexTable + "enabled = false\n", codexTable + "enabled = false\n"},
		{
			"comments beside ours", ".gemini/settings.json",
			"{\"mcpServers\": {\n // ours\n \"git-rekal\": {\"command\": \"git-rekal\", \"args\": [\"mcp\"]}, // why\n \"b\": {}}}", "{\"mcpServers\": {\n // ours\n // why\n \"b\": {}}}",
		},
		{
			"behind another one", ".gemini/settings.json",
			"{\"mcpServers\": {\"a\": {}, // a\n \"git-rekal\": {\"args\": [\"mcp\"], \"command\": \"git-rekal\"}, // why\n}}",
			"{\"mcpServers\": {\"a\": {}, // a\n // why\n}}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			l.MCP, l.Agents = true, []string{"codex", "gemini-cli"}
			install(t, l)
			r.write(r.at(tt.path), tt.edited, 0o644)
			remove(t, l)
			harness.Equal(t, tt.path, tt.cleaned, r.read(r.at(tt.path)))
		})
	}
}
