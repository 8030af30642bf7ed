package materialize_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestJudgedOnce: git is asked of each signature once, even where the index is made anew.
func TestJudgedOnce(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	w := newWorld(t)
	key := filepath.Join(t.TempDir(), "key")
	keygen := func(args ...string) *exec.Cmd { return exec.CommandContext(t.Context(), "ssh-keygen", args...) }
	if out, err := keygen("-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key+".allowed", append([]byte(alice+" "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, w.dir, "config", "gpg.ssh.allowedSignersFile", key+".allowed")
	w.repo.SignWith(func(ctx context.Context, payload []byte) ([]byte, error) {
		text := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(text, payload, 0o600); err != nil {
			return nil, err
		}
		if err := keygen("-q", "-Y", "sign", "-n", "git", "-f", key, text).Run(); err != nil {
			return nil, err
		}
		return os.ReadFile(text + ".sig")
	})
	var ids []string
	judge := func(minutes int, name string) []string {
		t.Helper()
		note := memory(minutes, name, "of "+name)
		ids = append(ids, note.ID)
		w.append(alice, minutes, session.Entry{Memories: []session.Memory{note}})
		m := w.materializer()
		if err := m.Judge(t.Context(), "the same keys", math.MaxInt); err != nil {
			t.Fatal(err)
		}
		return w.dump(m)["signatures"]
	}
	judge(1, "one")
	before := judge(2, "two")
	harness.Equal(t, "signatures, of the ledger's first commit, too", 3, len(before))
	w.append(bob, 3)
	w.catchUp(w.materializer())
	runGit(t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+bob) // what was read is gone: the index is made anew
	harness.Equal(t, "signatures of an index made anew", before, w.catchUp(w.materializer())["signatures"])

	runGit(t, w.dir, "config", "gpg.ssh.program", "/dev/null")
	judge(4, "three")
	r, err := w.materializer().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Trust(t.Context(), ids)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "with a program that fails", map[string]session.Trust{ids[0]: session.Verified, ids[1]: session.Verified, ids[2]: session.Signed}, got)
	w.noWarnings()
}
