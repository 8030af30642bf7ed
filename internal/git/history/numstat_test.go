package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatsOf(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Stat
	}{
		"nothing": {"", nil},
		"an edit": {"\n3\t1\tjwt.go\x00", []Stat{{Path: "jwt.go", Added: 3, Deleted: 1}}},
		"a rename": {
			"\n0\t2\t\x00old name\x00new\tname\x001\t0\tb\x00",
			[]Stat{{Path: "new\tname", OldPath: "old name", Deleted: 2}, {Path: "b", Added: 1}},
		},
		"a binary": {"-\t-\tx.png\x00", []Stat{{Path: "x.png", Binary: true}}},
	} {
		got := statsOf(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
