package tests

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestTerminal has the binary on a terminal, as git starts it; internal/cli holds what stands there.
func TestTerminal(t *testing.T) {
	p := harness.New(t).With("TERM=xterm", "GIT_PAGER=cat")
	p.Env = append(p.Env, "PATH="+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	p.Git("repo", "rekal", "init")
	p.Git("repo", "rekal", "save", "--title", "Leeway", "Tokens have 30 s of leeway.")
	for _, tt := range []struct{ line, want string }{
		{`git rekal leeway`, "1. \x1b[1mLeeway\x1b[m\n   "},
		{`git rekal --json leeway`, `{"schema":1,"query":"leeway"`},
		{`git rekal checkpoint`, "git-rekal: hint: captured what is new; to search instead:\ngit-rekal: hint: \"git rekal -- checkpoint\"\n"},
		{`git rekal leeway | cat`, `{"schema":1,"query":"leeway"`},
		{`GIT_PAGER='head -n 1' git rekal leeway && echo well`, "1. \x1b[1mLeeway\x1b[m\nwell\n"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.line)
		cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(tty)
		if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
			t.Fatal(err)
		}
		if err := errors.Join(cmd.Wait(), tty.Close()); err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		if got := strings.ReplaceAll(string(out), "\r\n", "\n"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.line, got)
		}
	}
}

// TestTerminalShow: a person on a terminal is shown what would be taken out, and what is in the ledger already; nobody
// else is.
func TestTerminalShow(t *testing.T) {
	const secret = "Vexing-Otter-91"
	p := harness.New(t).With("TERM=xterm", "GIT_PAGER=cat", "NO_COLOR=1")
	p.Env = append(p.Env, "PATH="+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	said := func(name, text string) {
		raw, err := chat(name, text, p.At("repo"), time.Now().UTC().Format(time.RFC3339), -1)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(harness.Transcript(p.Home(), p.At("repo"), name), raw)
	}
	try := func(line string, onTerminal bool) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
		if !onTerminal {
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		out, err := io.ReadAll(tty)
		if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return strings.ReplaceAll(string(out), "\r\n", "\n")
	}
	said("one", "10:00 human I typed "+secret+"\n10:01 assistant Good.\n")
	p.Git("repo", "rekal", "init")
	said("two", "11:00 human the password is "+secret+" now\n")
	preview, doctor := "git rekal checkpoint --dry-run", "git rekal doctor"
	shown := regexp.MustCompile(`(?m)^    \S+ turn 0 \(by ".+"\): the password is \[REDACTED:[a-z-]+\] now\n      = Vexing-Otter-91$`)
	if got := try(preview+" --show", true); !shown.MatchString(got) {
		t.Errorf("on a terminal:\n%s", got)
	}
	p.Git("repo", "rekal", "checkpoint")
	leak := regexp.MustCompile(`(?m)^  generic-[a-z]+: (\S+) turn 0 \(commit [0-9a-f]{7,}, by "remembered"\): I typed \[REDACTED:generic-[a-z]+\]\n +  = Vexing-Otter-91\n +-> git rekal scrub (\S+:0)$`)
	got := try(doctor+" --show", true)
	if !leak.MatchString(got) {
		t.Fatalf("on a terminal:\n%s", got)
	}
	refused := "--show prints secrets, so stdout must be a terminal in front of a person: nothing was done"
	for _, tt := range []struct {
		line     string
		terminal bool
		want     string
	}{
		{preview, true, "nothing new"},
		{doctor, true, "-> git rekal scrub"},
		{doctor + " --json", true, `"trigger":"remembered"`},
		{preview + " --show", false, refused},
		{preview + " --show | cat", true, refused},
		{doctor + " --show | cat", true, refused},
		{"CODEX_THREAD_ID=1 " + doctor + " --show", true, refused},
		{doctor + " --show --json", true, "--show goes without --json"},
		{"git rekal checkpoint --show", true, "go with --dry-run"},
	} {
		if got := try(tt.line, tt.terminal); !strings.Contains(got, tt.want) || strings.Contains(got, secret) {
			t.Errorf("%s:\n%s", tt.line, got)
		}
	}
	p.Git("repo", "rekal", "scrub", leak.FindStringSubmatch(got)[2])
	if out, err := p.Try("repo", "rekal", "doctor"); err != nil {
		t.Errorf("after scrub: %v\n%s", err, out)
	}
}

// TestTerminalChooses: a list follows what is typed, its keys read a session, copy its link and go on with it, and it
// is no list in a pipe.
func TestTerminalChooses(t *testing.T) {
	p := harness.New(t).With("TERM=xterm-256color", "GIT_PAGER=cat", "LC_ALL=C.UTF-8")
	p.Env = append(p.Env, "PATH="+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	p.Git("repo", "rekal", "init")
	for name, text := range map[string]string{
		"one": "why do tokens expire\n10:01 assistant In UTC.",
		"two": "retries need jitter\n10:01 assistant EXPONENTIAL",
	} {
		raw, err := chat(name, "10:00 human "+text+"\n", p.At("repo"), time.Now().UTC().Format(time.RFC3339), -1)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(harness.Transcript(p.Home(), p.At("repo"), name), raw)
	}
	p.Git("repo", "rekal", "checkpoint")
	p.Write("bin/claude", "#!/bin/sh\necho STARTED \"$1\" \"$2\"\n")
	if err := os.Chmod(p.At("bin/claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "PATH="+p.At("bin")+string(os.PathListSeparator)+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // which ends a wait for what never comes
	defer stop()
	var cmd *exec.Cmd
	var tty *os.File
	start := func(rows, columns uint16) {
		t.Helper()
		cmd = exec.CommandContext(ctx, "git", "rekal", "-i", "tokens")
		cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
		var err error
		if tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tty.Close() })
	}
	shown, out := []byte{}, make([]byte, 1<<16)
	until := func(want string) {
		t.Helper()
		for !strings.Contains(string(shown), want) {
			n, err := tty.Read(out)
			if shown = append(shown, out[:n]...); err != nil {
				t.Fatalf("never %q: %v\n%q", want, err, shown)
			}
		}
		shown = nil
	}
	press := func(keys string) {
		t.Helper()
		if _, err := io.WriteString(tty, keys); err != nil {
			t.Fatal(err)
		}
	}
	start(24, 80)
	until("UTC")
	press("\x15zqxw")
	until("Nothing was found")
	press("\x15jitter")
	until("EXPONENTIAL") // a terminal is told only what differs from what it shows
	press("\x1b")
	until("leaves")
	press("y")
	until("\x1b]52;c;")
	press("\r")
	until("  1 EXPONENTIAL")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	start(50, 200)
	until("UTC")
	press("\x12")
	until("STARTED --resume one")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	p.Env = append(p.Env, "GIT_PAGER=cat; echo READ; read line </dev/tty")
	start(24, 80)
	until("UTC")
	press("\r")
	until("READ")
	press("\r") // the pager's end leads back to the list
	until("UTC")
	press("\x1b")
	until("leaves the list")
	press("q")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"rekal -i jitter", "rekal -i --json jitter"} {
		if got, err := p.Try("repo", strings.Fields(line)...); err == nil || !strings.Contains(got, "-i ") {
			t.Errorf("%s: %v, %s", line, err, got)
		}
	}
}

// TestTerminalAsks: before the first push, a person on a terminal is shown what would go, and nothing goes without
// their word.
func TestTerminalAsks(t *testing.T) {
	p := harness.New(t).With("TERM=xterm", "GIT_PAGER=cat", "NO_COLOR=1")
	p.Env = append(p.Env, "PATH="+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	p.Git(".", "init", "-q", "--bare", "team.git")
	p.Git("repo", "remote", "add", "origin", "../team.git")
	p.Git("repo", "rekal", "init")
	p.Git("repo", "rekal", "save", "--title", "Leeway", "Tokens have 30 s of leeway.")
	for _, tt := range []struct {
		command, answer, want string
		sent                  bool
	}{
		{"push", "\n", "nothing was sent, because you did not agree", false},
		{"sync", "n\n", "nothing was sent, because you did not agree", false},
		{"push", "\x03", "^C stopped", false},                                  // Ctrl-C
		{"push", "\x04", "nothing was sent, because you did not agree", false}, // the end of the input
		{"push", "y\n", "sent to origin: 2 commits", true},
		{"push", "", "", true}, // it was agreed
	} {
		cmd := exec.CommandContext(t.Context(), "git", "rekal", tt.command)
		cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for asked := tt.answer == ""; err == nil; {
			some, n := make([]byte, 4096), 0
			n, err = tty.Read(some) // at the end of a terminal it fails
			if out.Write(some[:n]); !asked && strings.Contains(out.String(), "[y/N]") {
				asked = true
				if _, err := tty.WriteString(tt.answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()  // a push that is declined fails
		_ = tty.Close() // nothing was written to it since
		got := strings.Join(strings.Fields(strings.ReplaceAll(out.String(), "git-rekal: ", "")), " ")
		if !strings.Contains(got, tt.want) || tt.answer != "" &&
			!strings.Contains(got, "would send to origin (../team.git): 2 commits") || tt.answer == "" && got != "" {
			t.Errorf("%s, answered %q: %s", tt.command, tt.answer, got)
		}
		if refs := p.Git("team.git", "for-each-ref", "refs/heads/rekal"); (refs != "") != tt.sent {
			t.Errorf("%s, answered %q: the remote has %q", tt.command, tt.answer, refs)
		}
	}
}

// TestTerminalProgress: init says how far it is until it is done, also behind the transcripts, and into a file it does
// not. What it waits for is a git that does not answer, so the bar is seen however fast the machine is.
func TestTerminalProgress(t *testing.T) {
	p := harness.New(t)
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	said, err := chat("one", "10:00 human why a?\n10:01 assistant Because.\n", p.At("repo"),
		time.Now().UTC().Format(time.RFC3339), -1)
	if err != nil {
		t.Fatal(err)
	}
	p.Write(harness.Transcript(p.Home(), p.At("repo"), "one"), said)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	gate := p.At("gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Write("bin/git", "#!/bin/sh\ncase \" $* \" in *' check-mailmap '*) read line <"+gate+";; esac\nexec "+git+" \"$@\"\n")
	if err := os.Chmod(p.At("bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p = p.With("TERM=xterm", "PATH="+p.At("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(t)+"/git-rekal", "init")
	// git, too, which waits at the gate
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out strings.Builder
	for waits := true; err == nil; {
		some, n := make([]byte, 4096), 0
		n, err = tty.Read(some) // at the end of a terminal it fails
		if out.Write(some[:n]); waits && strings.Contains(out.String(), "comparing commits [") {
			waits = false
			if err := os.WriteFile(gate, []byte("go on\n"), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "imported 1 session") {
		t.Errorf("%v: %q", err, out.String())
	}
}
