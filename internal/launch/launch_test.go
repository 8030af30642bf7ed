package launch_test

import (
	"errors"
	"testing"

	"github.com/git-rekal/git-rekal/internal/launch"
	"github.com/git-rekal/git-rekal/internal/session"
)

func TestCommands(t *testing.T) {
	more := []string{"--model", "o 3"}
	for _, tt := range []struct{ source, resume, begin string }{
		{"claude-code", "claude --resume id --model 'o 3' 'it'\\''s'", "claude --model 'o 3' 'it'\\''s'"},
		{"codex", "codex resume id --model 'o 3' 'it'\\''s'", "codex --model 'o 3' 'it'\\''s'"},
		{"copilot-cli", "copilot --resume=id --model 'o 3' -i 'it'\\''s'", "copilot --model 'o 3' -i 'it'\\''s'"},
		{"gemini-cli", "gemini --resume id --model 'o 3' -i 'it'\\''s'", "gemini --model 'o 3' -i 'it'\\''s'"},
		{"opencode", "opencode --session id --model 'o 3' --prompt 'it'\\''s'", "opencode --model 'o 3' --prompt 'it'\\''s'"},
		{"cursor", "cursor-agent --resume=id --model 'o 3' 'it'\\''s'", "cursor-agent --model 'o 3' 'it'\\''s'"},
		{"kilo", "kilo --session id --model 'o 3' --prompt 'it'\\''s'", "kilo --model 'o 3' --prompt 'it'\\''s'"},
		{"pi", "pi --session id --model 'o 3' 'it'\\''s'", "pi --model 'o 3' 'it'\\''s'"},
		{"qwen-code", "qwen --resume id --model 'o 3' -i 'it'\\''s'", "qwen --model 'o 3' -i 'it'\\''s'"},
		{"droid", "droid --resume id --model 'o 3' 'it'\\''s'", "droid --model 'o 3' 'it'\\''s'"},
		{"continue", "cn --fork id --model 'o 3' 'it'\\''s'", "cn --model 'o 3' 'it'\\''s'"},
		{"kimi-code", "kimi --session id --model 'o 3'", "kimi --model 'o 3' --prompt 'it'\\''s'"},
		{"grok", "grok --resume id --model 'o 3' -p 'it'\\''s'", "grok --model 'o 3' -p 'it'\\''s'"},
		{"antigravity", "agy --conversation id --model 'o 3' -i 'it'\\''s'", "agy --model 'o 3' -i 'it'\\''s'"},
		{"cline", "cline --id id --model 'o 3'", "cline --model 'o 3' -i 'it'\\''s'"},
	} {
		resume, err := launch.Resume(tt.source, "id", "it's", more)
		if got := resume.ShellLine(); err != nil || got != tt.resume {
			t.Errorf("%s: %s, %v, want %s", tt.source, got, err, tt.resume)
		}
		begin, err := launch.Begin(tt.source, "it's", more)
		if got := begin.ShellLine(); err != nil || got != tt.begin {
			t.Errorf("%s: %s, %v, want %s", tt.source, got, err, tt.begin)
		}
	}
	if _, err := launch.Resume(session.Imported, "id", "", nil); !errors.Is(err, launch.ErrNoAgent) {
		t.Errorf("error: %v", err)
	}
	command, _ := launch.Resume("codex", "id", "", nil)
	command.Dir = "/a b"
	if got, want := command.ShellLine(), "cd '/a b' && codex resume id"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err, missing := command.Start([]string{"PATH=.:" + t.TempDir()}),
		(*launch.NotInstalledError)(nil); !errors.As(err, &missing) {
		t.Errorf("error: %v", err)
	}
}
