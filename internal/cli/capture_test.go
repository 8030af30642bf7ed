package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestCheckpoint(t *testing.T) {
	d := ready(t)
	if out := d.must("checkpoint"); out != "" {
		t.Errorf("nothing new prints %q", out)
	}
	tip := d.Git(d.dir, "rev-parse", "rekal/alice@example.com")
	d.say("two", "human make the button blue", "assistant done")
	if out := d.must("checkpoint"); !strings.HasPrefix(out, "checkpoint ") ||
		!strings.HasSuffix(out, ": 1 session, 2 turns, 0 tool calls\n") {
		t.Errorf("something new prints %q", out)
	}
	harness.Equal(t, "one commit", tip, d.Git(d.dir, "rev-parse", "rekal/alice@example.com~1"))
	if out := d.must("button"); !strings.Contains(out, `"total":1`) {
		t.Errorf("found at once: %q", out)
	}
	tip = d.Git(d.dir, "rev-parse", "rekal/alice@example.com")
	if out := d.must("checkpoint"); out != "" {
		t.Errorf("nothing new prints %q", out)
	}
	harness.Equal(t, "no commit", tip, d.Git(d.dir, "rev-parse", "rekal/alice@example.com"))
}

func TestCheckpointSaysWhatItTookOut(t *testing.T) {
	d := ready(t)
	key := "ghp" + "_" + "R7kQ2mZx9LtV4cWn8YbH3sDf6GjP1aEu5oXi" // looks like a token, and is none
	d.say("two", "human use "+key+" please")
	if status := d.run("checkpoint"); status != 0 ||
		d.stderr != "git-rekal: redacted 2 secrets before storing\n" &&
			d.stderr != "git-rekal: redacted 1 secret before storing\n" {
		t.Errorf("exit status %d, says %q", status, d.stderr)
	}
	if out := d.must("please"); strings.Contains(out, key) || !strings.Contains(out, "[REDACTED:") {
		t.Errorf("recall prints %q", out)
	}
}

func TestCheckpointWithoutIdentity(t *testing.T) {
	d := ready(t)
	d.say("two", "human make the button blue", "assistant done")
	if err := os.Remove(filepath.Join(d.Home(), ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	d.Git(d.dir, "config", "user.useConfigOnly", "true")
	d.fails(1, `git config user.email`, "checkpoint")
	if status := d.run("hook", "post-commit"); status != 0 || strings.Count(d.stderr, "\n") != 1 {
		t.Errorf("hook: exit status %d, %q", status, d.stderr)
	}
	d.Git(d.dir, "config", "user.email", "alice@example.com")
	d.Git(d.dir, "config", "user.name", "Alice")
	if out := d.must("checkpoint"); !strings.Contains(out, "2 turns") {
		t.Errorf("nothing is lost: %q", out)
	}
}

// A hook never fails, whatever it is called with and wherever.
func TestLongHooksNeverFail(t *testing.T) {
	for _, c := range []struct {
		name string
		desk func(*testing.T) *desk
		args []string
		says string // in the one line on stderr; "" for no line
	}{
		{name: "without a name", desk: ready, says: "which hook?"},
		{name: "with a flag", desk: ready, args: []string{"--force"}, says: "--force"},
		{name: "with another name", desk: ready, args: []string{"pre-rebase"}, says: "pre-rebase"},
		{name: "with garbage", desk: ready, args: []string{"\x1b[31m\n\xff"}, says: "is not one of git-rekal's"},
		{name: "with more arguments", desk: ready, args: []string{"pre-push", "origin", "--url", "-x"}},
		{
			name: "in no repository", desk: func(t *testing.T) *desk { d := newDesk(t); d.dir = t.TempDir(); return d },
			args: []string{"post-commit"}, says: "git repository",
		},
		{name: "before init", desk: newDesk, args: []string{"post-commit"}},
		{
			name: "when the ledger's ref is damaged", desk: damagedRef, args: []string{"post-commit"},
			says: "refs/heads/rekal/alice@example.com",
		},
		{name: "when the ledger's tip is missing", desk: missingTip, args: []string{"post-commit"}, says: "post-commit: "},
		{name: "with a setting that is none", desk: badSetting, args: []string{"post-commit"}, says: "rekal.actor"},
		{name: "with garbage on stdin", desk: func(t *testing.T) *desk {
			d := ready(t)
			d.stdin = "x\n\x00" +
				strings.Repeat("y", 5000)
			return d
		}, args: []string{"post-rewrite", "amend"}},
		{
			name: "with a line without an end on stdin",
			desk: func(t *testing.T) *desk { d := ready(t); d.stdin = strings.Repeat("y", 1<<20); return d },
			args: []string{"post-rewrite", "amend"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.desk(t)
			status := d.run(append([]string{"hook"}, c.args...)...)
			if status != 0 || d.stdout != "" {
				t.Errorf("exit status %d, prints %q", status, d.stdout)
			}
			if c.says == "" && d.stderr != "" || strings.Count(d.stderr, "\n") > 1 || !strings.Contains(d.stderr, c.says) {
				t.Errorf("says %q, want one line with %q", d.stderr, c.says)
			}
			if strings.Contains(d.stderr, "\x1b") {
				t.Errorf("says %q", d.stderr)
			}
		})
	}
}

const ledgerRef = "repo/.git/refs/heads/rekal/alice@example.com"

func damagedRef(t *testing.T) *desk {
	d := ready(t)
	d.write(ledgerRef, "what is this\n")
	return d
}

func missingTip(t *testing.T) *desk {
	d := ready(t)
	d.write(ledgerRef, strings.Repeat("d", 40)+"\n")
	return d
}

func badSetting(t *testing.T) *desk {
	d := ready(t)
	d.Git(d.dir, "config", "rekal.actor", "robot")
	return d
}

func TestHookCanBeTurnedOff(t *testing.T) {
	for name, off := range map[string]func(*desk){
		"rekal.enabled": func(d *desk) { d.Git(d.dir, "config", "rekal.enabled", "false") },
		"REKAL_SKIP":    func(d *desk) { d.Env = append(d.Env, "REKAL_SKIP=1") },
		"REKAL_ENABLED": func(d *desk) { d.Env = append(d.Env, "REKAL_ENABLED=no") },
	} {
		t.Run(name, func(t *testing.T) {
			d := ready(t)
			d.say("two", "human make the button blue")
			tip := d.Git(d.dir, "rev-parse", "rekal/alice@example.com")
			off(d)
			d.must("hook", "post-commit")
			harness.Equal(t, "tip", tip, d.Git(d.dir, "rev-parse", "rekal/alice@example.com"))
		})
	}
}

// What people wrote is shown on a terminal without what would steer it.
func TestLogIsPrintable(t *testing.T) {
	d := newDesk(t)
	d.must("init")
	d.say("one", "human hello", "title red \x1b[31m\x07 left \u202eabc\u2066 \u200f end", "assistant done")
	d.write("repo/README", "x\n")
	d.commit("subject \x1b]0;owned\x07 \u202etxt")
	d.must("hook", "post-commit")
	out := d.must("log")
	for _, r := range out {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202e\u2066\u200f", r) {
			t.Errorf("log prints %U in %q", r, out)
		}
	}
	for _, want := range []string{
		"checkpoint ", "Code:   commit ", "(main) subject ", "Author: alice@example.com",
		"Via:    commit, 1 file", "red left abc", "2 turns",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if lines := strings.Count(d.must("log", "--json"), "\n"); lines != 1 {
		t.Errorf("--json prints %d lines, want 1", lines)
	}
	d.say("two", "human more")
	d.commit("third")
	d.must("hook", "post-commit")
	if out := d.must("log", "-n", "1"); strings.Count(out, "checkpoint ") != 1 || !strings.Contains(out, "third") {
		t.Errorf("log -n 1 prints\n%s", out)
	}
}
