package signature_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/signature"
)

// TestKeys: whatever decides which signatures are good changes the sum, and a key that holds for a time only, or
// another program, makes its signatures differ.
func TestKeys(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{}
	for _, c := range []struct {
		name  string
		do    func()
		conf  map[string][]string
		alike bool
	}{
		{"nothing", func() {}, nil, true},
		{"no such file", func() {}, map[string][]string{"gpg.ssh.allowedsignersfile": {"keys/allowed"}}, false},
		{
			"relative to the worktree", func() { write(filepath.Join(dir, "allowed"), "alice@example.com ssh-ed25519 AAAA\n") },
			map[string][]string{"gpg.ssh.allowedsignersfile": {"allowed"}},
			true,
		},
		{
			"it changed", func() { write(filepath.Join(dir, "allowed"), "bob@example.com ssh-ed25519 AAAA\n") },
			map[string][]string{"gpg.ssh.allowedsignersfile": {"allowed"}},
			true,
		},
		{"for a time", func() {
			write(filepath.Join(dir, "allowed"), "bob@example.com valid-before=\"20300101\" ssh-ed25519 AAAA\n")
		}, map[string][]string{"gpg.ssh.allowedsignersfile": {"allowed"}}, false},
		{
			"at home", func() { write(filepath.Join(home, "allowed"), "carla@example.com ssh-ed25519 AAAA\n") },
			map[string][]string{"gpg.ssh.allowedsignersfile": {"~/allowed"}},
			true,
		},
		{"by another program", func() {}, map[string][]string{
			"gpg.ssh.allowedsignersfile": {filepath.Join(home, "allowed")},
			"gpg.ssh.program":            {"x"},
		}, false},
		{
			"revoked", func() { write(filepath.Join(dir, "revoked"), "x") },
			map[string][]string{"gpg.ssh.allowedsignersfile": {"~/allowed"}, "gpg.ssh.revocationfile": {"revoked"}},
			true,
		},
		{"a keyring", func() {
			if err := os.Mkdir(filepath.Join(home, ".gnupg"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(filepath.Join(home, ".gnupg", "pubring.kbx"), "x")
		}, nil, true},
		{"what is trusted", func() { write(filepath.Join(home, ".gnupg", "trustlist.txt"), "x") }, nil, true},
		{"another keyring", func() {}, map[string][]string{"": {"GNUPGHOME=" + dir}}, true},
	} {
		c.do()
		print, alike := signature.KeysFingerprint(c.conf, dir, home, c.conf[""])
		if other := seen[print]; other != "" && c.name != "another keyring" {
			t.Errorf("%s: as %s", c.name, other)
		}
		if alike != c.alike {
			t.Errorf("%s: alike is %v", c.name, alike)
		}
		seen[print] = c.name
	}
}
