package trailer_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

func TestRead(t *testing.T) {
	for line, want := range map[string][3]string{
		"Assisted-by: Claude:claude-3-opus coccinelle sparse": {
			"claude-code",
			"claude-3-opus",
		},
		"Assisted-by: GitHub Copilot:claude-sonnet-4.6": {
			"copilot-cli",
			"claude-sonnet-4.6",
		},
		"assisted-by:claude-code:unknown":                          {"claude-code"},
		"Assisted-by: Grok Code Fast via Crush <crush@charm.land>": {"crush", "Grok Code Fast"},
		"Assisted-by: Crush <crush@charm.land>":                    {"crush"},
		"Assisted-by: Ann Lee <ann@example.com>":                   {},
		"Generated-by: Claude Code (claude-opus-4-6)": {
			"claude-code",
			"claude-opus-4-6",
		},
		"Generated-by: codex gpt-5.2-codex": {
			"codex",
			"codex gpt-5.2-codex",
		},
		"Generated-by: some new agent": {"some new agent"},
		"Co-Authored-By: Claude Opus 4.5 (1M context) <noreply@anthropic.com>": {
			"claude-code",
			"Claude Opus 4.5 (1M context)",
		},
		"Co-authored-by: Claude <noreply@anthropic.com>":                                      {"claude-code"},
		"Co-authored-by: Claude Monet <monet@example.com>":                                    {},
		"Co-authored-by: copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>": {"copilot-cli"},
		"Co-authored-by: aider (gpt-4o) <aider@aider.chat>":                                   {"aider", "aider (gpt-4o)"},
		"Agent-Logs-Url: https://github.com/o/r/sessions/6acbd501-14e8-4108-9213-c49d035fb815": {
			"copilot-cli", "",
			"6acbd501-14e8-4108-9213-c49d035fb815",
		},
		"Claude-Session: https://claude.ai/code/session_01ABC": {
			"claude-code", "",
			"session_01ABC",
		},
		"Duo-Session: https://gitlab.com/g/p/-/automate/agent-sessions/12345678": {
			"gitlab-duo", "",
			"12345678",
		},
		"Signed-off-by: Claude <noreply@anthropic.com>": {},
		"Reviewed-by: Claude":                           {},
		"Assisted-by:":                                  {},
		"":                                              {},
		"Co-authored-by: " + strings.Repeat("x", 400) + " <noreply@anthropic.com>": {},
		"Assisted-by: Antigravity:gemini-3-pro": {
			"antigravity",
			"gemini-3-pro",
		},
		"Generated-by: gemini-2.5-pro": {
			"gemini-cli",
			"gemini-2.5-pro",
		},
		"Co-authored-by: gemini-code-assist[bot] <176961590+gemini-code-assist[bot]@users.noreply.github.com>": {"gemini-cli"},
	} {
		s, ok := trailer.Read(line)
		if got := [3]string{s.Agent, s.Model, s.Session}; got != want || ok != (want[0] != "") {
			t.Errorf("%q: %q, %v; not %q", line, got, ok, want)
		}
	}
}

func TestInMessage(t *testing.T) {
	const claude, copilot = "Co-Authored-By: Claude <noreply@anthropic.com>",
		"Agent-Logs-Url: https://github.com/o/r/sessions/6acbd501-14e8"
	for name, c := range map[string]struct {
		message string
		want    []string
	}{
		"at the end": {"Read expiry\n\nText.\n\nSigned-off-by: Ann <a@x>\n" + claude + "\n", []string{claude}},
		"with CR":    {"Read expiry\r\n\r\n" + claude + "\r\n", []string{claude}},
		"of a squash": {"Read (#3)\n\n* Plan\n\n" + copilot + "\n\n* More\n\n" + claude +
			"\n\n---------\n\nRefs: 3\n", []string{copilot, claude}},
		"twice":                 {"Read\n\n" + claude + "\n" + claude + "\n", []string{claude}},
		"in a text":             {"Read\n\nWrite trailers such as\nAssisted-by: claude-code:x\nfrom now on.\n", nil},
		"a session in a text":   {"Read\n\nAs said:\n" + copilot + "\n", []string{copilot}},
		"indented":              {"Read\n\nSo:\n\n    " + claude + "\n", nil},
		"the subject":           {"Assisted-by: claude-code:x\n", nil},
		"behind a cherry-pick":  {"Read\n\n(cherry picked from commit 1234)\n" + claude + "\n", []string{claude}},
		"none, and no subject":  {"", nil},
		"folded over two lines": {"Read\n\nRefs: a\n  b\n" + claude, []string{claude}},
	} {
		var got []string
		for _, s := range trailer.InMessage(c.message) {
			got = append(got, s.Line)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestSameModel(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"Claude Opus 4.5", "claude-opus-4-5-20251101"}:  true,
		{"anthropic/claude-opus-4.5", "claude-opus-4-5"}: true,
		{"Opus 4.5 (1M context)", "claude-opus-4-5"}:     true,
		{"claude-opus-4-6", "claude-sonnet-4-6"}:         false,
		{"claude-opus-4-6", "claude-opus-4-5"}:           false,
		{"gpt-5.2-codex", "GPT-5.2 Codex"}:               true,
		{"gpt-5", "gpt-4o"}:                              false,
		{"", "gpt-4o"}:                                   true,
		{"codex gpt-5.2", "gpt-5.2"}:                     true,
	} {
		if got := trailer.SameModel(pair[0], pair[1]); got != want || trailer.SameModel(pair[1], pair[0]) != want {
			t.Errorf("%q: %v", pair, got)
		}
	}
}

func TestForms(t *testing.T) {
	h := trailer.Helper{
		Agent: "claude-code", Model: "claude-opus-4-6", Version: "2.1.39",
		Session: "01KJW4MN48AJBF1NFJ2X4RZ873", Lines: 39, All: 42,
	}
	bare := trailer.Helper{Agent: "my:agent"}
	for form, want := range map[string][2]string{
		"":               {"Assisted-by: claude-code:claude-opus-4-6", "Assisted-by: my-agent:unknown"},
		"Assisted-By":    {"Assisted-by: claude-code:claude-opus-4-6", "Assisted-by: my-agent:unknown"},
		"generated-by":   {"Generated-by: claude-code claude-opus-4-6", "Generated-by: my-agent"},
		"co-authored-by": {"Co-authored-by: Claude <noreply@anthropic.com>", ""},
		"AI: {agent}/{version} {model} wrote {share}% in {session}": {
			"AI: claude-code/2.1.39 claude-opus-4-6 wrote 92% in rekal:01KJW4MN48AJBF1NFJ2X4RZ873",
			"AI: my-agent/unknown wrote% in",
		},
	} {
		f, err := trailer.ParseForm(form)
		if got := [2]string{f.Write(h), f.Write(bare)}; err != nil || got != want {
			t.Errorf("%q: %q, %v", form, got, err)
		}
	}
	for _, wrong := range []string{
		"nonsense", "Signed-off-by: {agent}", "AI: yes", "AI: {agent} {nose}", "A I: {agent}",
		"AI: {agent}\nSigned-off-by: x", ": {agent}",
	} {
		if f, err := trailer.ParseForm(wrong); err == nil {
			t.Errorf("%q is %+v", wrong, f)
		}
	}
}

// kernelForm is what checkpatch.pl wants of the kernel's form, and its documentation: one word each, and tools.
var kernelForm = regexp.MustCompile(`^Assisted-by: [^\s:]+:\S+( \S+)*$`)

// oddNames are names that ledgers may have, of other people, too.
func oddNames() []string {
	return append(session.Agents(), "a b", "x:y", "n\nSigned-off-by: Eve <e@x>", "<script>", "$(id)", "`id`", "ü",
		"{model}", "claude-opus-4-6[1m]", "qwen3:8b", strings.Repeat("n", 500), "\x1b[31m", "#")
}

// TestKernelForm: every line of it parses by the rules of its documentation, git reads it, and so do we.
func TestKernelForm(t *testing.T) {
	form, err := trailer.ParseForm("assisted-by")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, agent := range oddNames() {
		for _, model := range append(oddNames(), "") {
			l := form.Write(trailer.Helper{Agent: agent, Model: model})
			if !kernelForm.MatchString(l) {
				t.Errorf("%q of %q: %q", model, agent, l)
			}
			if s, ok := trailer.Read(l); !ok || s.Agent == "" {
				t.Errorf("%q is not read again", l)
			}
			all = append(all, l)
		}
	}
	git := exec.CommandContext(t.Context(), "git", "interpret-trailers", "--parse")
	git.Stdin = strings.NewReader("Subject\n\nText.\n\n" + strings.Join(all, "\n") + "\n")
	parsed, err := git.Output()
	if diff := cmp.Diff(strings.Join(all, "\n")+"\n", string(parsed)); err != nil || diff != "" {
		t.Errorf("git (-want +got): %v\n%s", err, diff)
	}
}

// FuzzInMessage: whatever a message says, what is read of it is one line, and within bounds.
func FuzzInMessage(f *testing.F) {
	f.Add("Read\n\nAssisted-by: Claude:claude-3-opus coccinelle sparse\nCo-authored-by: aider (gpt-4o) <aider@aider.chat>\n")
	f.Add("Read\n\nGenerated-by: x (y)\nAssisted-by: M 4 via Crush <crush@charm.land>\n\nClaude-Session: https://claude.ai/code/session_01ABC")
	f.Fuzz(func(t *testing.T, message string) {
		for _, s := range trailer.InMessage(message) {
			if s.Agent == "" || strings.ContainsAny(s.Line, "\n") || len(s.Line) > 300 || len(s.Agent)+len(s.Model) > 600 {
				t.Errorf("%+v", s)
			}
		}
	})
}
