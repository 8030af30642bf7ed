package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestRanges(t *testing.T) {
	r := session.RangesOf([]int{1, 2, 3, 7, 9, 10})
	if got, want := r.String(), "1-3,7,9-10"; got != want {
		t.Errorf("written as %q, want %q", got, want)
	}
	if r.Count() != 6 || !r.Has(2) || !r.Has(10) || r.Has(8) || r.Has(0) {
		t.Errorf("%v counts %d; has 2: %v, 10: %v, 8: %v, 0: %v", r, r.Count(), r.Has(2), r.Has(10), r.Has(8), r.Has(0))
	}
	back, err := session.ParseRanges(r.String())
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "read back", r, back)
}

func TestParseRangesRefuses(t *testing.T) {
	for _, s := range []string{
		"0", "2-1", "3,2", "1-3,3", "1,", ",1", "1-", "-1", "a", "1 ", "+1", "01", "1-1", "1048577",
		"1-3,4", "9999999999999999999999",
	} {
		if r, err := session.ParseRanges(s); err == nil {
			t.Errorf("%q is read as %v", s, r)
		}
	}
}
