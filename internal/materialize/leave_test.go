package materialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// planOf is a plan of ledgers with one commit each of so many bytes. Those without a remote are one's own.
func planOf(sizes map[string]uint64) *plan {
	p := &plan{have: cursor{}, cursor: cursor{}, authors: map[string]string{}}
	for email, bytes := range sizes {
		ref := "refs/rekal/origin/" + email
		author := authorOf(email, ref)
		if strings.HasPrefix(email, "own") {
			ref = author
		}
		p.authors[ref] = author
		p.have[ref] = reach{applied: "old", tried: "old", bytes: 7}
		p.cursor[ref] = reach{applied: git.OID(email), tried: git.OID(email), bytes: 7 + bytes}
		p.commits = append(p.commits, commit{Commit: ledger.Commit{OID: git.OID(email)}, email: email, author: author, bytes: bytes})
		p.bytes += bytes
	}
	return p
}

// What fails for what somebody's ledger holds is written without it, the one that adds the most first; one's own never
// is left out, and what fails without them all fails.
func TestWithout(t *testing.T) {
	sizes := map[string]uint64{"own@x": 1000, "small@x": 1, "middle@x": 50, "large@x": 90}
	for _, c := range []struct {
		name  string
		bad   []string // authors with whom it fails
		err   error
		rests []string
		fails bool
	}{
		{name: "all is well", err: db.ErrRoom},
		{name: "the largest", bad: []string{"large@x"}, err: db.ErrRoom, rests: []string{"large@x"}},
		{name: "two", bad: []string{"middle@x", "large@x"}, err: db.ErrRoom, rests: []string{"large@x", "middle@x"}},
		{name: "for any reason", bad: []string{"large@x"}, err: errors.New("who knows"), rests: []string{"large@x"}},
		{name: "one's own", bad: []string{"own@x"}, err: db.ErrRoom, rests: []string{"large@x", "middle@x", "small@x"}, fails: true},
		{name: "a lock", bad: []string{"large@x"}, err: lock.ErrBusy, fails: true},
		{name: "a damaged file", bad: []string{"large@x"}, err: db.ErrCorrupt, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, m := planOf(sizes), &Materializer{}
			err := m.without(t.Context(), p, func() error {
				for _, k := range p.commits {
					if slices.Contains(c.bad, k.email) {
						return fmt.Errorf("write: %w", c.err)
					}
				}
				return nil
			})
			if (err != nil) != c.fails {
				t.Fatal(err)
			}
			bytes, left := uint64(0), len(p.commits)
			for _, k := range p.commits {
				bytes += k.bytes
			}
			if bytes != p.bytes || left+len(c.rests) != len(sizes) || len(p.failed) != len(c.rests) {
				t.Errorf("%d bytes of %d, %d commits, %v", p.bytes, bytes, left, p.failed)
			}
			for ref, r := range p.cursor {
				email := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/rekal/origin/"), "refs/heads/rekal/")
				want := reach{applied: git.OID(email), tried: git.OID(email), bytes: 7 + sizes[email]}
				if slices.Contains(c.rests, email) {
					want = reach{applied: "old", tried: git.OID(email), rests: true, bytes: 7}
				}
				if r != want {
					t.Errorf("%s: %+v, want %+v", ref, r, want)
				}
			}
		})
	}
}

func TestReachIsWhatWasWritten(t *testing.T) {
	for _, r := range []reach{
		{applied: "a", tried: "a"},
		{applied: "a", tried: "b"},
		{tried: "b"},
		{tried: "b", rests: true},
		{applied: "a", tried: "b", rests: true, bytes: 5, excess: 2},
		{applied: "a", tried: "a", bytes: 1 << 40, excess: 1},
	} {
		text := r.text()
		if got := parseReach(text); got != r {
			t.Errorf("%+v is %q, and reads %+v", r, text, got)
		}
	}
}
