package run_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/git-rekal/git-rekal/internal/run"
)

// TestMain is also the process that runs a command, as git-rekal does: with RUN_TEST. "heard" has what it heard;
// "panic" has a listener that panics.
func TestMain(m *testing.M) {
	how := os.Getenv("RUN_TEST")
	if how == "" {
		os.Exit(m.Run())
	}
	var heard bytes.Buffer
	exit := run.Run(run.Command{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Show: func(run.Stream) bool { return how != "silent" },
		Hear: func(p []byte) {
			if how == "panic" {
				panic("the listener is broken")
			}
			heard.Write(p)
		},
	})
	for _, err := range []error{exit.Failed, exit.Lost} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if path := os.Getenv("RUN_HEARD"); path != "" {
		if err := os.WriteFile(path, heard.Bytes(), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(exit.Status)
}

// running is a process that runs a command.
func running(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "RUN_TEST=show", "RUN_HEARD="+filepath.Join(t.TempDir(), "heard"))
	return cmd
}

func heard(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	for _, kv := range cmd.Env {
		if path, ok := strings.CutPrefix(kv, "RUN_HEARD="); ok {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	return ""
}

func code(err error) int {
	if err == nil {
		return 0
	}
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // Wait's own
	if !ok {
		return -1
	}
	return exit.ExitCode()
}

func TestStatus(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo no #!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"true"}, 0},
		{[]string{"sh", "-c", "exit 3"}, 3},
		{[]string{"sh", "-c", "kill -TERM $$"}, 128 + 15},
		{[]string{"sh", "-c", "kill -KILL $$"}, 128 + 9},
		{[]string{"there-is-no-such-command"}, 127},
		{[]string{"/there/is/no/such"}, 127},
		{[]string{script}, 126},
		{[]string{os.TempDir()}, 126},
	} {
		if got := code(running(t, tt.args...).Run()); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.args, got, tt.want)
		}
	}
}

// TestBytes hands on any bytes, in both directions, and hears the same.
func TestBytes(t *testing.T) {
	in := make([]byte, 3<<20)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(in)
	cmd := running(t, "cat")
	cmd.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), in) || heard(t, cmd) != string(in) {
		t.Errorf("%d bytes in, %d out, %d heard", len(in), out.Len(), len(heard(t, cmd)))
	}
}

func TestStreams(t *testing.T) {
	const script = "for i in 1 2 3 4 5 6 7 8; do echo out $i; echo err $i >&2; done"
	cmd := running(t, "sh", "-c", script)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		t.Fatal(e)
	}
	if strings.Count(out.String(), "out") != 8 || strings.Count(err.String(), "err") != 8 ||
		strings.Contains(out.String(), "err") {
		t.Errorf("stdout %q, stderr %q", out.String(), err.String())
	}
	both := running(t, "sh", "-c", script)
	text, e := both.CombinedOutput() // one pipe
	want := ""
	for i := range 8 {
		want += fmt.Sprintf("out %d\nerr %[1]d\n", i+1)
	}
	if string(text) != want || e != nil || heard(t, both) != want {
		t.Errorf("in one pipe: %q, %v", text, e)
	}
	silent := running(t, "sh", "-c", "echo out")
	silent.Env = append(silent.Env, "RUN_TEST=silent")
	if text, err := silent.CombinedOutput(); len(text) > 0 || err != nil || heard(t, silent) != "out\n" {
		t.Errorf("silent: %q, %v, heard %q", text, err, heard(t, silent))
	}
}

// TestAsItComes reads what is printed before the command goes on.
func TestAsItComes(t *testing.T) {
	cmd := running(t, "sh", "-c", "printf 'name? '; read name; echo hello $name")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	prompt := make([]byte, 6)
	if _, err := io.ReadFull(out, prompt); err != nil || string(prompt) != "name? " {
		t.Fatalf("%q, %v", prompt, err)
	}
	_, _ = io.WriteString(in, "ada\n")
	rest, err := io.ReadAll(out)
	if string(rest) != "hello ada\n" || err != nil || cmd.Wait() != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestListenerPanics loses nothing of the output.
func TestListenerPanics(t *testing.T) {
	cmd := running(t, "sh", "-c", "echo one; sleep 0.05; echo two; exit 4")
	cmd.Env = append(cmd.Env, "RUN_TEST=panic")
	out, err := cmd.Output()
	if string(out) != "one\ntwo\n" || code(err) != 4 {
		t.Errorf("%q, %v", out, err)
	}
}

// TestNobodyReads ends a command whose output nobody takes, as a pipe would.
func TestNobodyReads(t *testing.T) {
	cmd := running(t, "yes")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "y\n" || err != nil {
		t.Fatal(line, err)
	}
	_ = out.Close() // from now on nobody reads
	if got := code(cmd.Wait()); got != 128+13 {
		t.Errorf("status %d", got)
	}
}

// TestSlowReader loses nothing of what a command printed that has ended long ago.
func TestSlowReader(t *testing.T) {
	const size = 196_000 // more than the pipes on the way hold, and with our buffer less than would keep the command
	cmd := running(t, "sh", "-c", fmt.Sprintf("head -c %d /dev/zero", size))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1050 * time.Millisecond) // more than a second behind the exit
	n, buf := 0, make([]byte, 20_000)
	for err == nil {
		var m int
		m, err = out.Read(buf)
		n += m
		time.Sleep(40 * time.Millisecond)
	}
	if n != size || !errors.Is(err, io.EOF) || cmd.Wait() != nil {
		t.Errorf("%d bytes of %d, %v", n, size, err)
	}
}

// TestFullDisk says what was lost, and ends the command as the full disk would.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	cmd := running(t, "yes")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &said
	if got := code(cmd.Run()); got != 128+13 || !strings.Contains(said.String(), "no space left") {
		t.Errorf("status %d, said %q", got, said.String())
	}
}

// TestLeftBehind does not wait for a child that holds the pipe.
func TestLeftBehind(t *testing.T) {
	start := time.Now()
	cmd := running(t, "sh", "-c", "sleep 20 & echo done")
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if took := time.Since(start); out.String() != "done\n" || err != nil || took > 900*time.Millisecond {
		t.Errorf("%q, %v, after %v", out.String(), err, took)
	}
}

// TestSignals passes on what only we were sent. catchable makes signals do in what the test starts what they usually
// do, also where the test's own caller ignores them (nohup, a job in the background).
func catchable(t *testing.T, sigs ...os.Signal) {
	t.Helper()
	got := make(chan os.Signal, 1)
	signal.Notify(got, sigs...)
	t.Cleanup(func() { signal.Stop(got) })
}

func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1} {
		catchable(t, sig)
		cmd := running(t, "sh", "-c", fmt.Sprintf("trap 'echo got it; exit 7' %d; echo ready; while :; do sleep 0.02; done",
			sig))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		_ = cmd.Process.Signal(sig)
		lines.Scan()
		if got := code(cmd.Wait()); lines.Text() != "got it" || got != 7 {
			t.Errorf("%v: %q, status %d", sig, lines.Text(), got)
		}
	}
}

// What our caller ignores, the command ignores, too.
func TestIgnoredSignals(t *testing.T) {
	catchable(t, syscall.SIGTERM)
	cmd := running(t, "sh", "-c", "trap 'exit 7' TERM; trap 'exit 8' HUP; echo ready; read -r _; kill -HUP $$; echo still here; kill -TERM $$")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.SysProcAttr = sh, &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	_ = cmd.Process.Signal(syscall.SIGHUP) // reaches us, and must not end us
	_, _ = io.WriteString(in, "\n")
	lines.Scan()
	if got := code(cmd.Wait()); lines.Text() != "still here" || got != 7 {
		t.Errorf("%q, status %d", lines.Text(), got)
	}
}

// terminal runs a command on a terminal of its own, which is what it returns.
func terminal(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return tty
}

// until reads until a text is there.
func until(t *testing.T, tty io.Reader, want string) string {
	t.Helper()
	var got []byte
	buf := make([]byte, 1000)
	for !bytes.Contains(got, []byte(want)) {
		n, err := tty.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			t.Fatalf("%v behind %q, without %q", err, got, want)
		}
	}
	return string(got)
}

func TestTerminal(t *testing.T) {
	cmd := running(t, "sh", "-c", `test -t 0 && test -t 1 && test -t 2 && echo a terminal; stty size <&1; exec 3<&1; trap 's=$(stty size <&3); echo $s; test "$s" = "20 60" && exit 5' WINCH; echo ready; while :; do sleep 0.02; done`)
	tty := terminal(t, cmd)
	if got := until(t, tty, "ready"); !strings.HasPrefix(got, "a terminal\r\n30 100\r\nready") {
		t.Errorf("printed %q", got)
	}
	// The terminal tells it at once, and we once more when its own has that size.
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 20, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	until(t, tty, "20 60")
	if got := code(cmd.Wait()); got != 5 {
		t.Errorf("status %d", got)
	}
	pipe := running(t, "sh", "-c", "test -t 1 || echo no terminal")
	if out, err := pipe.Output(); string(out) != "no terminal\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestCtrlC: what a terminal sends to all, the command gets once.
func TestCtrlC(t *testing.T) {
	cmd := running(t, "sh", "-c", "n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.02; done; sleep 0.1; echo n=$n; exit 6")
	tty := terminal(t, cmd)
	until(t, tty, "ready")
	_, _ = tty.WriteString("\x03")
	until(t, tty, "n=1")
	if got := code(cmd.Wait()); got != 6 {
		t.Errorf("status %d", got)
	}
}

// TestCtrlZ stops the command in a shell, and goes on with it.
func TestCtrlZ(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	cmd := running(t)
	shell := exec.Command(bash, "--norc", "--noprofile", "--noediting", "-i")
	shell.Env = slices.Concat(cmd.Env, []string{"PS1=$ "})
	tty := terminal(t, shell)
	_, _ = fmt.Fprintf(tty, "%s sh -c 'echo rea''dy; sleep 0.3; echo on''ward'\n", os.Args[0])
	until(t, tty, "ready")
	_, _ = tty.WriteString("\x1a")
	until(t, tty, "Stopped")
	_, _ = tty.WriteString("fg\n")
	until(t, tty, "onward")
	_, _ = tty.WriteString("exit 0\n")
	if err := shell.Wait(); err != nil {
		t.Error(err)
	}
}

// TestNested runs a run.
func TestNested(t *testing.T) {
	cmd := running(t, os.Args[0], "sh", "-c", "echo inner; exit 9")
	if out, err := cmd.Output(); string(out) != "inner\n" || code(err) != 9 {
		t.Errorf("%q, %v", out, err)
	}
}

func TestQuote(t *testing.T) {
	if got := run.Quote([]string{"git", "commit", "-m", "it's done", ""}); got != `git commit -m 'it'\''s done' ''` {
		t.Error(got)
	}
}

// TestStartsBeforeItIsKnownWhatIsShown: the command runs while Show still thinks.
func TestStartsBeforeItIsKnownWhatIsShown(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	var out bytes.Buffer
	run.Run(run.Command{
		Args: []string{"sh", "-c", "echo > '" + begun + "'; echo shown"}, Env: os.Environ(), Stdout: &out, Stderr: io.Discard,
		Show: func(run.Stream) bool {
			for range 500 {
				if _, err := os.Stat(begun); err == nil {
					return true
				}
				time.Sleep(10 * time.Millisecond)
			}
			return false
		},
	})
	if out.String() != "shown\n" {
		t.Errorf("got %q: it was asked before the command began", out.String())
	}
}
