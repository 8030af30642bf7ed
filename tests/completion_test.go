package tests

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// completed is a repository with a memory, for the shells to complete in.
func completed(t *testing.T) *harness.Place {
	t.Helper()
	p := harness.New(t)
	t.Setenv("PATH", harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "notes.md", "n\n")
	p.Git("repo", "branch", "topic/login")
	p.Git("repo", "rekal", "init")
	p.Git("repo", "rekal", "save", "--title", "Leeway of tokens", "30 s: clocks differ")
	return p
}

// complete asks what the last word may become, as the scripts of cobra do. The last line, for the shell, is left out.
func complete(p *harness.Place, words ...string) string {
	p.T.Helper()
	out := p.Git("repo", append([]string{"rekal", "__complete"}, words...)...)
	at := strings.LastIndex(strings.TrimSuffix(out, "\n"), ":")
	return out[:at]
}

// TestCompletionLine: what the shells ask, and what they are told.
func TestCompletionLine(t *testing.T) {
	p := completed(t)
	for words, want := range map[string]string{
		"wh":                    "why\tsessions behind lines\n",
		"why no":                "",
		"--ki":                  "--kind\tonly KIND: session, memory or record (what a command printed)\n",
		"--kind m":              "memory\n",
		"q --agent cod":         "codex\n",
		"-n 5 --commit":         "--commit\tsessions behind a code commit REV, also before an amend or rebase, or squashed on a server\n",
		"--commit to":           "topic/login\n",
		"--kind=me":             "memory\n",
		"--color=al":            "always\n",
		"show --color=n":        "never\n",
		"init --brief=prompts,": "prompts,edits\n",
		"stats --by mod":        "model\n",
		"query --role a":        "assistant\n",
		"log --actor=":          "[Debug] [Error] Subcommand 'log' does not support flag 'actor'\n", // on stderr
		"log topic":             "topic/login\n",
		"log main..to":          "main..topic/login\n",
		"log --js":              "--json\tJSON, also on a terminal\n",
		"help conf":             "config\tsettings\n",
		"nothing so":            "",
	} {
		out := complete(p, strings.Fields(words)...)
		if strings.TrimSpace(out) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", words, out, want)
		}
	}
	out := complete(p, "purge", "")
	if !regexp.MustCompile(`^[0-9A-Z]{8,}\tLeeway of tokens\n?$`).MatchString(out) {
		t.Errorf("purge: %q", out)
	}
	if out := complete(p, "restore", ""); out != "" {
		t.Errorf("restore, with nothing purged: %q", out)
	}
	id, _, _ := strings.Cut(out, "\t")
	p.Git("repo", "rekal", "purge", id)
	if out := complete(p, "restore", ""); !strings.HasPrefix(out, id) || !strings.Contains(out, "\tLeeway of tokens") {
		t.Errorf("restore %s: %q", id, out)
	}
}

// bashCompletion is what git's own completion of bash needs, a package of its own.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// TestLongShells: real shells complete what is typed, for "git rekal" and for "git-rekal".
func TestLongShells(t *testing.T) {
	p := completed(t)
	for file, shell := range map[string]string{
		"bash/completions/git-rekal": "bash", "zsh/_git-rekal": "zsh",
		"home/.config/fish/conf.d/git-rekal.fish": "fish",
	} {
		p.Write(file, p.Git("repo", "rekal", "completion", shell))
	}
	// else fish makes all of them in the background, beyond the test's end
	p.Write("home/.local/share/fish/generated_completions/.keep", "")
	p.Write("zsh/.zshrc", "fpath=("+p.At("zsh")+" $fpath)\nautoload -U compinit && compinit -u -d "+p.At("zsh/dump")+"\nPS1='$ '\n")
	for shell, start := range map[string]struct {
		args []string
		env  string
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "BASH_COMPLETION_USER_DIR=" + p.At("bash")},
		"zsh":  {[]string{"-i"}, "ZDOTDIR=" + p.At("zsh")},
		"fish": {[]string{"-i", "--init-command=function fish_prompt; echo '$ '; end"}, "SHELL=fish"},
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("no %s here: its completion is not tried", shell)
			}
			if _, err := os.Stat(bashCompletion); shell == "bash" && err != nil {
				t.Skipf("no %s here: its completion is not tried", bashCompletion)
			}
			cmd := exec.Command(shell, start.args...)
			cmd.Dir, cmd.Env = p.At("repo"), append(p.Environ(), start.env, "TERM=xterm", "PS1=$ ")
			s := openShell(t, cmd)
			s.shows("$ ") // what is typed before is not completed
			if shell == "bash" {
				s.types(". " + bashCompletion + "; . " + p.At("bash/completions/git-rekal") + "; echo re''ady\n")
				s.shows("ready")
			}
			for typed, want := range map[string]string{
				"git rekal comple\t":         "git rekal completion",
				"git-rekal comple\t":         "git-rekal completion",
				"git rekal --purg\t":         "--purged",
				"git rekal --commit top\t":   "--commit topic/login",
				"git rekal why note\t":       "why notes.md",
				"git rekal --color=al\t":     "--color=always",
				"git-rekal --color=ne\t":     "--color=never",
				"git rekal --kind=me\t":      "--kind=memory",
				"git rekal init --brief=e\t": "--brief=edits",
			} {
				s.types("\x15" + typed)
				s.shows(want)
			}
			s.types("\x15exit\n")
		})
	}
}

// shell is one that runs in a terminal.
type shell struct {
	t    *testing.T
	tty  *os.File
	read chan string
	seen string
}

func openShell(t *testing.T, cmd *exec.Cmd) *shell {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, tty: tty, read: make(chan string, 1000)}
	t.Cleanup(func() {
		_ = tty.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	go func() {
		defer close(s.read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			if s.read <- string(buf[:n]); err != nil {
				return
			}
		}
	}()
	return s
}

func (s *shell) types(text string) {
	s.seen = ""
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
}

var controls = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>()][0B]?|\r|\x07`)

// shows waits for a text.
func (s *shell) shows(want string) {
	s.t.Helper()
	end := time.After(20 * time.Second)
	for !strings.Contains(controls.ReplaceAllString(s.seen, ""), want) {
		select {
		case text, ok := <-s.read:
			if !ok {
				s.t.Fatalf("the shell ended; it had shown %q", s.seen)
			}
			s.seen += text
		case <-end:
			s.t.Fatalf("nothing like %q is shown, but %q", want, s.seen)
		}
	}
}
