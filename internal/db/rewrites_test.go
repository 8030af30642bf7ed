package db_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/google/go-cmp/cmp"
)

// TestRewrites reads whole families, of the ledgers that have one of a commit, and what became of commits at last.
func TestRewrites(t *testing.T) {
	d, _ := crowd(t, 1)
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sha := func(digit string) string { return strings.Repeat(digit, 40) }
	rewrite := func(email, old, now, root, last string) attribution.Rewrite {
		return attribution.Rewrite{Email: email, Old: sha(old), New: sha(now), Root: sha(root), Latest: sha(last)}
	}
	hers := []attribution.Rewrite{
		rewrite("a@x", "1", "2", "1", "3"), rewrite("a@x", "2", "3", "1", "3"),
		rewrite("a@x", "7", "8", "7", "8"),
	}
	his := []attribution.Rewrite{rewrite("b@x", "2", "9", "2", "9")}
	for email, all := range map[string][]attribution.Rewrite{"a@x": hers, "b@x": his} {
		for range 2 { // what was there goes
			if err := tx.ReplaceLineage(t.Context(), email, all); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := func(all ...attribution.Rewrite) (out []attribution.Rewrite) {
		for _, r := range all {
			r.Root, r.Latest = "", ""
			out = append(out, r)
		}
		return out
	}
	for _, tt := range []struct {
		ask  []string
		want []attribution.Rewrite // small families first
	}{
		{nil, nil},
		{[]string{sha("c"), "00"}, nil},
		{[]string{sha("3")}, told(hers[0], hers[1])},
		{[]string{sha("2"), sha("8")}, told(hers[2], his[0], hers[0], hers[1])},
		{[]string{"999"}, told(his[0])},
	} {
		got, err := d.RewriteFamilies(t.Context(), tt.ask)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", tt.ask, err, diff)
		}
	}
	got, err := d.BecameAtLast(t.Context(), []string{sha("1"), sha("2"), sha("3")})
	want := map[attribution.Commit]string{
		{Email: "a@x", SHA: sha("1")}: sha("3"), {Email: "a@x", SHA: sha("2")}: sha("3"),
		{Email: "b@x", SHA: sha("2")}: sha("9"),
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
