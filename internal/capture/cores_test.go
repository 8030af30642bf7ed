package capture_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// However many cores read and redact, the ledger is the same, byte for byte.
func TestCoresWriteTheSameLedger(t *testing.T) {
	w := newWorld(t)
	const sessions = 10
	for n := range sessions {
		// their names stand in another order than their times
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", uint32(n)*0x9e3779b1)
		var records []string
		for i := range 1 + n%4*12 {
			text := fmt.Sprintf("prompt %d of %d: %s", i, n, strings.Repeat("why is it so ", 100))
			if i%9 == n%9 {
				text += fmt.Sprintf("\npassword: Nutmeg%d-Clove%d", n, i)
			}
			records = append(records, ask(id, 100*n+2*i, text), use(id, 100*n+2*i+1, "Edit", fmt.Sprintf("f%d.go", n%3)))
		}
		if n == 0 {
			records = append(records, edit(id, 40, "f0.go", added(first)...)...)
		}
		w.add(id, records...)
	}
	for n := range 3 {
		w.commit(50+n, "of the first session, alone", fmt.Sprintf("f%d.go", n), first)
	}
	ledgerOf := func(procs, kept int) git.OID {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		w.at(7200)
		out := w.try(func(c *capture.Capturer) (_ capture.Outcome, err error) {
			c.Round.Kept = kept
			if c.Ledger, err = ledger.OpenOwn(c.Repo, signature, rand.NewChaCha8([32]byte{})); err != nil {
				return capture.Outcome{}, err
			}
			return c.Import(t.Context())
		})
		if out.Sessions != sessions || len(out.Redacted) == 0 || len(out.Warnings) > 0 {
			t.Errorf("%d cores: %+v", procs, out)
		}
		w.startOver()
		return out.Tip
	}
	for _, kept := range []int{0, 100 << 10} {
		if one, many := ledgerOf(1, kept), ledgerOf(8, kept); one != many {
			t.Errorf("in rounds of %d bytes, one core writes %s, and eight write %s", kept, one, many)
		}
	}
}
