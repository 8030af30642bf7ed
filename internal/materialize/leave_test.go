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

// ledgers are some of one commit each, of so many bytes; those that begin with own are one's own.
type ledgers map[string]uint64

func (l ledgers) ref(email string) string {
	if strings.HasPrefix(email, "own") {
		return authorOf(email, "")
	}
	return "refs/rekal/origin/" + email
}

// plan is one of what is new beyond have, but for what is put off.
func (l ledgers) plan(have cursor, off map[string]bool) *plan {
	p := &plan{have: have, was: have, cursor: cursor{}, authors: map[string]string{}, tips: map[string]git.OID{}}
	for email, bytes := range l {
		ref, author := l.ref(email), authorOf(email, "")
		p.authors[ref], p.tips[ref], p.cursor[ref] = author, git.OID(email), have[ref]
		if r := have[ref]; !off[ref] && !r.rests && r.applied != git.OID(email) {
			p.cursor[ref] = reach{applied: git.OID(email), tried: git.OID(email), bytes: bytes}
			p.commits = append(p.commits, commit{Commit: ledger.Commit{OID: git.OID(email)}, email: email, bytes: bytes})
		}
	}
	return p
}

// Where what ledgers hold can't be written, those with which it fails rest, and all others come in, one's own in the
// first go; nothing leaves that was in the tables.
func TestWithout(t *testing.T) {
	all := ledgers{"own@x": 1000, "a@x": 1, "b@x": 50, "c@x": 90, "d@x": 20, "e@x": 30}
	for _, c := range []struct {
		name  string
		bad   []string // authors with whom it fails
		err   error
		fails bool
	}{
		{name: "all is well", err: db.ErrRoom},
		{name: "the largest", bad: []string{"c@x"}, err: db.ErrRoom},
		{name: "the smallest", bad: []string{"a@x"}, err: db.ErrRoom},
		{name: "two", bad: []string{"b@x", "d@x"}, err: db.ErrRoom},
		{name: "all", bad: []string{"a@x", "b@x", "c@x", "d@x", "e@x"}, err: db.ErrRoom},
		{name: "for any reason", bad: []string{"e@x"}, err: errors.New("who knows")},
		{name: "one's own", bad: []string{"own@x"}, err: db.ErrRoom, fails: true},
		{name: "a lock", bad: []string{"c@x"}, err: lock.ErrBusy, fails: true},
		{name: "a damaged file", bad: []string{"c@x"}, err: db.ErrCorrupt, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			have, m := cursor{}, &Materializer{}
			for round, off := 0, true; off; round++ {
				var err error
				off, err = m.writeBisecting(t.Context(), func(off map[string]bool) (*plan, error) {
					return all.plan(have, off),
						nil
				}, func(p *plan) error {
					for _, k := range p.commits {
						if slices.Contains(c.bad, k.email) {
							return fmt.Errorf("write: %w", c.err)
						}
					}
					have = p.cursor
					return nil
				})
				if (err != nil) != c.fails || round > len(all) {
					t.Fatalf("go %d: %v", round, err)
				}
				if c.fails {
					return
				}
				if own := have[all.ref("own@x")]; own.applied != "own@x" {
					t.Errorf("go %d: one's own is at %+v", round, own)
				}
			}
			for email := range all {
				r, bad := have[all.ref(email)], slices.Contains(c.bad, email)
				if r.rests != bad || r.tried != git.OID(email) || (r.applied == git.OID(email)) == bad {
					t.Errorf("%s: %+v", email, r)
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
		{applied: "a", tried: "b", rests: true, bytes: 5},
		{applied: "a", tried: "a", bytes: 1 << 40},
	} {
		text := r.text()
		if got := parseReach(text); got != r {
			t.Errorf("%+v is %q, and reads %+v", r, text, got)
		}
	}
}
