package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestVerdicts: what is worked out of signatures is what git says of each, and git is asked less.
func TestVerdicts(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	keygen := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("ssh-keygen", args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("ssh-keygen %q: %v", args, err)
		}
		return string(out)
	}
	allowed := ""
	names := []string{
		"alice.ed25519", "bob.ed25519", "revoked.ed25519", "unknown.ed25519", "alice.ecdsa", "unknown.ecdsa",
		"alice.rsa",
	}
	for _, name := range names {
		who, kind, _ := strings.Cut(name, ".")
		keygen("", "-q", "-t", kind, "-N", "", "-f", p.At(name))
		public, err := os.ReadFile(p.At(name + ".pub"))
		if err != nil {
			t.Fatal(err)
		}
		if who != "unknown" {
			allowed += who + "@example.com " + string(public)
		}
	}
	keygen("", "-q", "-k", "-f", p.At("revocations"), p.At("revoked.ed25519.pub"))
	p.Write("allowed", allowed)
	// It reads all that git writes: a git that dies of a broken pipe is asked again, and would be counted twice.
	p.Write("counts", "#!/bin/sh\necho >>"+p.At("calls")+"\ncat >\"$0.$$\"\nexec ssh-keygen \"$@\" <\"$0.$$\"\n")
	if err := os.Chmod(p.At("counts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for key, file := range map[string]string{
		"allowedSignersFile": "allowed", "revocationFile": "revocations",
		"program": "counts",
	} {
		p.Git("r", "config", "gpg.ssh."+key, p.At(file))
	}

	tree := p.Git("r", "mktree")
	payload := func(text string) string {
		return fmt.Sprintf("tree %s\nauthor A <a@example.com> 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n\n%s\n", tree, text)
	}
	header := func(payload, namespace, key string) string {
		return "gpgsig " + strings.ReplaceAll(strings.TrimSpace(keygen(payload, "-q", "-Y", "sign", "-n", namespace, "-f",
			p.At(key))), "\n", "\n ") + "\n"
	}
	signed := func(payload, headers string) git.OID {
		return p.Object("r", "commit", strings.Replace(payload, "\n\n", "\n"+headers+"\n", 1))
	}
	ids := []git.OID{p.Object("r", "commit", payload("not signed"))}
	for _, key := range names {
		for i := range 3 {
			text := payload(fmt.Sprint(key, i))
			ids = append(ids, signed(text, header(text, "git", key)))
		}
	}
	text := payload("once")
	garbage := signed(text, "gpgsig nonsense\n") // at which git dies
	hers, his := header(text, "git", "alice.ed25519"), header(text, "git", "bob.ed25519")
	ids = append(ids,
		signed(payload("rewritten"), hers), signed(text, hers), signed(text, his), signed(text, hers+his),
		signed(text, header(text, "file", "alice.ed25519")), signed(text, "change-id x\n"+hers),
		signed(text, strings.Replace(hers, "gpgsig", "gpgsig-sha256", 1)),
		signed(text, strings.Replace(hers, "\n ", "\n x", 1)),
		signed(text, strings.Replace(hers, "\n ", "\n Key: value\n ", 1)))

	calls := func(alike bool) (said map[git.OID]git.Verdict, n int) {
		t.Helper()
		_ = os.Remove(p.At("calls"))
		said, err := r.Verdicts(t.Context(), ids, alike)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(p.At("calls"))
		if err != nil {
			t.Fatal(err)
		}
		return said, strings.Count(string(text), "\n")
	}
	want, each := calls(false)
	got, fewer := calls(true)
	harness.Equal(t, "verdicts", want, got)
	letters := map[string]int{}
	for _, v := range want {
		letters[v.Letter+" "+v.Signer]++
	}
	for _, some := range []string{"N ", "G alice@example.com", "G bob@example.com", "B ", "U "} {
		if letters[some] == 0 {
			t.Errorf("nothing is %q: %v", some, letters)
		}
	}
	if fewer >= each {
		t.Errorf("ssh-keygen ran %d times, and %d times where keys are alike", each, fewer)
	}
	ids = append(ids, garbage)
	got, _ = calls(true)
	want[garbage] = git.Verdict{Letter: "B"}
	harness.Equal(t, "verdicts beside one that git does not read", want, got)
	for i, id := range ids {
		unsigned, err := r.Unsigned(id)
		if err != nil || (unsigned == id) != (i == 0) {
			t.Errorf("%s unsigned is %s, %v", id, unsigned, err)
		}
	}
}
