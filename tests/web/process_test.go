package web_test

import (
	"bufio"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/web/world"
)

// start runs the real `git rekal web`, and returns the address that it prints.
func start(t *testing.T, w *world.World, errs string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(harness.Binary(t), "git-rekal"), "web")
	cmd.Dir, cmd.Env = w.Dir, w.Environ()
	said, err := os.Create(errs)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v\n%s", err, told(errs))
	}
	return cmd, strings.TrimSpace(line)
}

// told is what a file holds; "" for none.
func told(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

func status(t *testing.T, client *http.Client, address string) int {
	t.Helper()
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func stranger(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// TestLongBrowserAndSignal has git open the address, in a browser that writes it down, and ends the server.
func TestLongBrowserAndSignal(t *testing.T) {
	w := world.Team(t)
	seen := w.At("address")
	w.Git(w.Dir, "config", "instaweb.browser", "pen")
	w.Git(w.Dir, "config", "browser.pen.cmd", "printf %s >"+seen)
	errs := w.At("stderr")
	cmd, printed := start(t, w, errs)
	opened := ""
	for end := time.Now().Add(10 * time.Second); opened == "" && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		opened = told(seen)
	}
	if opened == "" || opened == printed || !strings.HasPrefix(opened, strings.Split(printed, "?")[0]) {
		t.Fatalf("opened %q, printed %q: another token of the same pages\n%s", opened, printed, told(errs))
	}
	if got := status(t, stranger(t), opened); got != http.StatusOK {
		t.Errorf("the address that was opened: %d", got)
	}
	if got := status(t, stranger(t), opened); got != http.StatusForbidden {
		t.Errorf("the address that was opened, by the next one: %d", got)
	}
	for range 2 {
		if got := status(t, stranger(t), printed); got != http.StatusOK {
			t.Errorf("the address that was printed: %d", got)
		}
	}
	before := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || time.Since(before) > 2*time.Second {
		t.Errorf("ended with %v after %s\n%s", err, time.Since(before), told(errs))
	}
	if told(errs) != "" {
		t.Errorf("it said %s", told(errs))
	}
}

// TestLongNoBrowser goes on where no browser is to be had.
func TestLongNoBrowser(t *testing.T) {
	w := world.Team(t)
	w.Git(w.Dir, "config", "instaweb.browser", "pen")
	w.Git(w.Dir, "config", "browser.pen.cmd", "false")
	errs := w.At("stderr")
	cmd, printed := start(t, w, errs)
	if got := status(t, stranger(t), printed); got != http.StatusOK {
		t.Errorf("%d", got)
	}
	hint := "git-rekal: hint: no browser could be started: open the address above\n"
	for end := time.Now().Add(10 * time.Second); told(errs) != hint &&
		time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || told(errs) != hint {
		t.Errorf("%v, %s", err, told(errs))
	}
}
