package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Another spelling of an author's branch is another branch, which others may be allowed to push. It is no ledger.
func TestOtherSpellings(t *testing.T) {
	remote, clones := machines(t, 1)
	c := clones[0]
	tip := string(c.writes("bob@example.com", 1))
	c.git("update-ref", "refs/heads/rekal/bob@example.com", tip)
	c.git("push", "-q", "origin", "refs/heads/rekal/bob@example.com")
	c.git("update-ref", "-d", "refs/heads/rekal/bob@example.com")
	aliases := []string{
		"Bob@example.com", "bob%40example.com", "%62ob@example.com", "bob@example%2ecom",
		"bob%0a@example.com", "%0A",
	}
	for _, alias := range aliases {
		remote.git("update-ref", "refs/heads/rekal/"+alias, tip)
		c.git("update-ref", "refs/rekal/old/"+alias, tip) // as a former version took it in
	}
	l := c.own()
	if err := ledger.Fetch(t.Context(), c.repo(), "origin", false); err != nil {
		t.Fatal(err)
	}
	taken, err := l.Adopt(t.Context(), "origin")
	if err != nil || taken.Ledgers != 1 || len(taken.Refused) != len(aliases) ||
		!errors.Is(taken.Refused[0], ledger.ErrRefused) {
		t.Errorf("%+v, %v", taken, err)
	}
	heads, err := ledger.Heads(c.repo())
	want := []ledger.Head{{
		Ref: "refs/rekal/origin/bob@example.com", Email: "bob@example.com", Remote: "origin",
		OID: git.OID(tip),
	}}
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "ledgers", want, slices.DeleteFunc(heads, func(h ledger.Head) bool { return h.Remote == "" }))
	misnamed, err := ledger.Misnamed(c.repo())
	if err != nil || len(misnamed) != len(aliases) {
		t.Errorf("%v, %v", misnamed, err)
	}
	for _, alias := range aliases {
		if !slices.Contains(misnamed, fmt.Sprint("refs/rekal/old/", alias)) {
			t.Errorf("%s is not among %v", alias, misnamed)
		}
	}
}
