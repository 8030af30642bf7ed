package materialize_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// signedWorld is a world in which Alice signs with a key that git knows as hers.
func signedWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	w := newWorld(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	wire := func(texts ...string) (out []byte) {
		for _, s := range texts {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
		}
		return out
	}
	key := string(wire("ssh-ed25519", string(public)))
	allowed := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(allowed, []byte(alice+" ssh-ed25519 "+base64.StdEncoding.EncodeToString([]byte(key))),
		0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, w.dir, "config", "gpg.ssh.allowedSignersFile", allowed)
	// as ssh-keygen does, which takes a while for many
	w.repo.SignWith(func(_ context.Context, payload []byte) ([]byte, error) {
		sum := sha512.Sum512(payload)
		signed := ed25519.Sign(private, append([]byte("SSHSIG"), wire("git", "", "sha512", string(sum[:]))...))
		parts := wire(key, "git", "", "sha512", string(wire("ssh-ed25519", string(signed))))
		return pem.EncodeToMemory(&pem.Block{
			Type:  "SSH SIGNATURE",
			Bytes: append([]byte("SSHSIG\x00\x00\x00\x01"), parts...),
		}), nil
	})
	return w
}

// TestJudgedOnce: git is asked of each signature once, even where the index is made anew.
func TestJudgedOnce(t *testing.T) {
	w := signedWorld(t)
	var ids []string
	judge := func(minutes int, name string) []string {
		t.Helper()
		note := memory(minutes, name, "of "+name)
		ids = append(ids, note.ID)
		w.append(alice, minutes, session.Entry{Memories: []session.Memory{note}})
		m := w.materializer()
		if _, err := m.JudgeSignatures(t.Context(), "the same keys", true, math.MaxInt); err != nil {
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
	harness.Equal(t, "with a program that fails", map[string]session.Trust{
		ids[0]: session.Verified,
		ids[1]: session.Verified, ids[2]: session.Signed,
	}, got)
	w.noWarnings()
}

// TestNightTenThousandSignatures measures how long many signatures take the first time, and when there is one more.
func TestNightTenThousandSignatures(t *testing.T) {
	const days, each = 200, 50
	w := signedWorld(t)
	for day := range days {
		var notes []session.Entry
		for i := range each {
			text := fmt.Sprint("note ", i, " of day ", day)
			notes = append(notes, session.Entry{Memories: []session.Memory{memory(0, text, text)}})
		}
		w.append(alice, (day-days)*24*60, notes...)
	}
	w.catchUp(w.materializer())
	judge := func(when string) {
		t.Helper()
		began := time.Now()
		if _, err := w.materializer().JudgeSignatures(t.Context(), "the same keys", true, math.MaxInt); err != nil {
			t.Fatal(err)
		}
		t.Log(when, time.Since(began))
	}
	judge("the first time")
	w.append(alice, 2, session.Entry{Memories: []session.Memory{memory(2, "one more", "one more")}})
	w.catchUp(w.materializer())
	judge("one more")
	harness.Equal(t, "signatures", days*each+2, len(w.dump(w.materializer())["signatures"]))
}
