package cli_test

import (
	"net"
	"strings"
	"testing"
)

// What is said about a set-up is true: what is shared, what is tied, and what to try next.
func TestInitTells(t *testing.T) {
	d := newDesk(t)
	d.say("one", "human why does the token expire early?", "assistant The clock is local.")
	if d.run("init"); !strings.Contains(d.stdout, "; none is tied to a commit yet\n") {
		t.Errorf("init says %q", d.stdout)
	}
	if d.run("init", "--from", "nope"); !strings.Contains(d.stderr, "no such folder") {
		t.Errorf("init --from nope says %q", d.stderr)
	}
	d.Git(d.dir, "init", "-q", "--bare", "../team.git")
	d.Git(d.dir, "remote", "add", "origin", "../team.git")
	if d.run("init"); !strings.Contains(d.stderr, "nothing is shared yet") {
		t.Errorf("before a push init says %q", d.stderr)
	}
	d.run("push", "--yes")
	d.run("clean")
	if d.run("init"); strings.Contains(d.stderr, "nothing is shared") ||
		!strings.Contains(d.stderr, "origin has all of your ledger") {
		t.Errorf("after clean and init it says %q", d.stderr)
	}
	d.person = true
	if d.run("init"); !strings.Contains(d.stderr, `hint: ask what was said: git rekal "`) {
		t.Errorf("init tells a person %q", d.stderr)
	}
	d.run("push", "--yes") // which has agreed again, with nothing to send
	if d.run("push"); d.stdout+d.stderr != "" {
		t.Errorf("push with nothing to send says %q %q", d.stdout, d.stderr)
	}
}

// A message says what to do, and names no package.
func TestMessages(t *testing.T) {
	d := ready(t)
	d.fails(1, `git-rekal: "01ZZZZZZ": nothing has that ID`, "purge", "01ZZZZZZ")
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	_, port, _ := net.SplitHostPort(busy.Addr().String())
	d.fails(1, "give another port, or none for a free one", "web", "--no-open", "--port="+port)
	d.fails(1, "name an empty or a new one", "web", "--export", ".")
	id := strings.Split(d.must("query", "SELECT id FROM sessions"), `"`)[3]
	if d.run("query", "--session", id, "--offset", "999"); !strings.Contains(d.stderr,
		"the session has 2 turns, 0 to 1: --offset 999") {
		t.Errorf("query says %q", d.stderr)
	}
	d.dir = t.TempDir()
	if d.run("why", "a"); !strings.HasPrefix(d.stderr, `git-rekal: "`) {
		t.Errorf("outside of a repository: %q", d.stderr)
	}
}
