package ledger

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/git"
)

// FuzzRefName: every address has a branch that git takes, and comes back from it; two addresses
// have two, and one in capitals has the same.
func FuzzRefName(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b string) {
		ref, err := RefName(a)
		if err != nil {
			if a != "" && len(a) < maxBranch/3 {
				t.Fatalf("%q: %v", a, err)
			}
			return
		}
		if !git.ValidRef(ref) || !utf8.ValidString(ref) || strings.ContainsAny(ref[len(localPrefix):], "/ \\\x00\n") {
			t.Fatalf("%q has the ref %q", a, ref)
		}
		if back := emailOf(ref[len(localPrefix):]); back != strings.ToLower(a) {
			t.Fatalf("%q has the ref %q and comes back as %q", a, ref, back)
		}
		lowA, lowB := strings.ToLower(a), strings.ToLower(b)
		if other, err := RefName(b); err == nil && (other == ref) != (lowA == lowB) {
			t.Fatalf("%q has the ref %q, and %q has %q", a, ref, b, other)
		}
		if strings.HasSuffix(strings.ToLower(ref), ".lock") || len(ref) > len(localPrefix)+maxBranch {
			t.Fatalf("%q has the file %q", a, ref)
		}
	})
}

// FuzzEmailOf: whatever a ref is called, it has an owner, and asking for the owner's own ref
// never fails but for none.
func FuzzEmailOf(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		email := emailOf(name)
		if len(email) > len(name) {
			t.Fatalf("%q is of %q", name, email)
		}
		if ref, err := RefName(email); err == nil && !git.ValidRef(ref) {
			t.Fatalf("%q is of %q, who has %q", name, email, ref)
		}
	})
}

// FuzzSegmentPath: a path is a segment's only where it lies in its day's folder, and segments have one
// order.
func FuzzSegmentPath(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b string) {
		sa, sb := Segment{Path: a}, Segment{Path: b}
		if isSegment(a) {
			if strings.Contains(a, "..") || filepath.IsAbs(a) || sa.Time().IsZero() {
				t.Fatalf("%q counts as a segment", a)
			}
		}
		if again := (Segment{Path: a}); sa.Compare(again) != 0 || (sa.Compare(sb) > 0) != (sb.Compare(sa) < 0) {
			t.Fatalf("%q and %q have no order", a, b)
		}
	})
}
