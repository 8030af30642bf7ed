package signature_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/signature"
)

// home is a folder with keys, and an environment without anything of the machine's.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T, programs ...string) home {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	dir, err := os.MkdirTemp("", "k") // short: an agent's socket lies there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := home{t, dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GNUPGHOME=" + filepath.Join(dir, "gnupg")}}
	if err := os.Mkdir(h.at("gnupg"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h home) at(name string) string { return filepath.Join(h.dir, name) }

func (h home) run(stdin string, args ...string) {
	h.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdin = h.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// sign signs quietly, and checks with the program's own check that the signature is of that text.
func (h home) sign(conf map[string][]string) ([]byte, error) {
	s := signature.NewSigner(conf, true, "Alice <alice@example.com>", h.dir, h.env)
	s.Quiet = true
	return s.Sign(context.Background(), []byte("a commit\n"))
}

func TestSSH(t *testing.T) {
	h := newHome(t, "ssh-keygen")
	h.run("", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "alice", "-f", h.at("open"))
	h.run("", "ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-C", "alice", "-f", h.at("locked"))
	public, err := os.ReadFile(h.at("open.pub"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.at("allowed"), []byte("alice@example.com "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, conf := range map[string]map[string][]string{
		"a path":             {"gpg.format": {"ssh"}, "user.signingkey": {h.at("open")}},
		"below the home":     {"gpg.format": {"ssh"}, "user.signingkey": {"~/open"}},
		"the last one holds": {"gpg.format": {"openpgp", "ssh"}, "user.signingkey": {"x", h.at("open")}},
	} {
		t.Run(name, func(t *testing.T) {
			signed, err := h.sign(conf)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.at("sig"), signed, 0o600); err != nil {
				t.Fatal(err)
			}
			h.run("a commit\n", "ssh-keygen", "-Y", "verify", "-f", h.at("allowed"), "-I", "alice@example.com", "-n", "git",
				"-s", h.at("sig"))
		})
	}
	for name, c := range map[string]struct {
		conf map[string][]string
		says string
	}{
		"a passphrase that nobody types": {
			map[string][]string{"gpg.format": {"ssh"}, "user.signingkey": {h.at("locked")}},
			"passphrase",
		},
		"no such file": {
			map[string][]string{"gpg.format": {"ssh"}, "user.signingkey": {h.at("none")}},
			"No such file",
		},
		"an agent that is not there": {map[string][]string{
			"gpg.format":      {"ssh"},
			"user.signingkey": {"key::" + string(public)},
		}, "agent"},
		"a program that is not there": {map[string][]string{
			"gpg.format": {"ssh"}, "user.signingkey": {"x"},
			"gpg.ssh.program": {h.at("none")},
		}, "none"},
		"a program that signs nothing": {map[string][]string{
			"gpg.format": {"ssh"}, "user.signingkey": {"x"},
			"gpg.ssh.program": {"true"},
		}, "no signature"},
		"a command that prints no key": {map[string][]string{
			"gpg.format":                {"ssh"},
			"gpg.ssh.defaultkeycommand": {"echo none"},
		}, "no key"},
		"a command that does not end": {map[string][]string{
			"gpg.format":                {"ssh"},
			"gpg.ssh.defaultkeycommand": {"sleep 60"},
		}, "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := h.sign(c.conf); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if _, err := h.sign(map[string][]string{"gpg.format": {"ssh"}}); !errors.Is(err, signature.ErrNoKey) {
		t.Error(err)
	}
}

// TestSSHAgent: a key that stands in the configuration is used by the agent that holds it.
func TestSSHAgent(t *testing.T) {
	h := newHome(t, "ssh-keygen", "ssh-agent", "ssh-add")
	h.run("", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", h.at("key"))
	socket := h.at("agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	for { // it makes its socket at once
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	h.env = append(h.env, "SSH_AUTH_SOCK="+socket)
	h.run("", "ssh-add", "-q", h.at("key"))
	public, err := os.ReadFile(h.at("key.pub"))
	if err != nil || os.Remove(h.at("key")) != nil {
		t.Fatal(err)
	}
	for name, conf := range map[string]map[string][]string{
		"the key itself": {"gpg.format": {"ssh"}, "user.signingkey": {"key::" + strings.TrimSpace(string(public))}},
		"by a command":   {"gpg.format": {"ssh"}, "gpg.ssh.defaultkeycommand": {"ssh-add -L"}},
	} {
		if signed, err := h.sign(conf); err != nil || !strings.HasPrefix(string(signed), "-----BEGIN SSH SIGNATURE-----") {
			t.Errorf("%s: %q %v", name, signed, err)
		}
	}
}

func TestOpenPGP(t *testing.T) {
	h := newHome(t, "gpg", "gpgconf")
	t.Cleanup(func() { h.run("", "gpgconf", "--kill", "all") })
	h.run("", "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "Alice <alice@example.com>",
		"ed25519", "sign", "0")
	h.run("", "gpg", "--batch", "--quiet", "--pinentry-mode=loopback", "--passphrase", "secret", "--quick-generate-key",
		"Bob <bob@example.com>", "ed25519", "sign", "0")
	h.run("", "gpgconf", "--kill", "gpg-agent") // which knows Bob's passphrase
	signed, err := h.sign(nil)                  // by the committer's name
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(h.at("sig"), signed, 0o600),
		os.WriteFile(h.at("text"), []byte("a commit\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h.run("", "gpg", "--verify", h.at("sig"), h.at("text"))
	for name, key := range map[string]string{
		"a passphrase that nobody types": "bob@example.com",
		"no such key":                    "carol@example.com",
	} {
		if _, err := h.sign(map[string][]string{"user.signingkey": {key}}); err == nil {
			t.Errorf("%s: it signed", name)
		}
	}
}
