package memory

import (
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestWithLinesOf(t *testing.T) {
	const mark = "[REDACTED:github-pat]"
	for _, c := range []struct {
		name, text, raw, clean, want string
		ok                           bool
	}{
		{"nothing redacted", "a\nb\n", "a\n", "a\n", "a\nb\n", true},
		{
			"the line with the secret stays", "new\nkey " + mark + "\n", "old\nkey s3\n", "old\nkey " + mark + "\n",
			"new\nkey s3\n", true,
		},
		{"it would be lost", "new\n", "key s3\n", "key " + mark + "\n", "new\n", false},
		{
			"it would be another line", "key " + mark + " now\n", "key s3\n", "key " + mark + "\n",
			"key " + mark + " now\n", false,
		},
		{"twice", mark + "\n" + mark + "\n", "s1\ns2\n", mark + "\n" + mark + "\n", "s1\ns2\n", true},
		{"a home folder may go", "else\n", "/home/a/x\n", "~/x\n", "else\n", true},
		{"a home folder stays", "~/x\nelse\n", "/home/a/x\n", "~/x\n", "/home/a/x\nelse\n", true},
		{"a secret of several lines", "x\n", "-----BEGIN\nk\n-----END\n", mark + "\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := withLinesOf(c.text, c.raw, c.clean)
			harness.Equal(t, "text", c.want, got)
			harness.Equal(t, "nothing is lost", c.ok, ok)
		})
	}
}

func TestInsertByPlace(t *testing.T) {
	at := func(places ...int) (all []piece) {
		for _, n := range places {
			all = append(all, piece{at: n})
		}
		return all
	}
	for _, c := range []struct{ have, want []int }{
		{nil, []int{5}},
		{[]int{1, 9}, []int{1, 5, 9}},
		{[]int{9}, []int{5, 9}},
		{[]int{0, 0}, []int{0, 0, 5}}, // nothing is known of them
		{[]int{0, 5}, []int{0, 5, 5}},
		{[]int{9, 1}, []int{9, 1, 5}}, // moved here
	} {
		var got []int
		for _, p := range insertByPlace(at(c.have...), piece{at: 5}) {
			got = append(got, p.at)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("into %v: %v, want %v", c.have, got, c.want)
		}
	}
}

func TestBase(t *testing.T) {
	row := func(id, text string, purged bool) (r ask.NoteRow) {
		r.ID, r.Content, r.Purged, r.Entry = id, text, purged, id
		return r
	}
	v := &versions{all: []ask.NoteRow{
		row("1", "one", true), row("2", "two", true), row("3", "three", false), row("4", "four", false),
	}}
	for _, c := range []struct {
		name, text, want string
		had              []string
	}{
		{"a former version is here", "one", "one", nil},
		{"made of a known one", "mine", "one", []string{"1"}},
		{"made of one that stands still", "mine", "two", []string{"3"}},
		{"nothing is known", "mine", "two", nil},
	} {
		harness.Equal(t, c.name, c.want, v.baseOf(c.text, v.all[3], c.had))
	}
}

// A name in somebody's ledger, as one's own on a remote to which others push, leads nowhere else.
func TestHostileNames(t *testing.T) {
	n := Notes{}
	for _, name := range []string{
		"../x.md", "/etc/x.md", "a/../../x.md", ".ssh/x.md", "a/.x.md", "x.sh", "", ".md", "a\x00.md", "a\n.md",
		"a\\b.md", "a//b.md",
		"C:x.md", "a/b/c/d/e.md", "x.md/",
	} {
		f := local{}
		f.Dir, f.Name = t.TempDir(), name
		if err := n.write(f, "text"); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}

// TestPatchStaysInItsFolder: a ledger names files, and no name leads a comparison elsewhere.
func TestPatchStaysInItsFolder(t *testing.T) {
	for _, name := range []string{"../../x", "../../../x", "claude-code/../../../x"} {
		if _, err := (Notes{}).patch(t.Context(), []pair{{name, "before", "after"}}); err == nil {
			t.Errorf("%q was compared", name)
		}
	}
}
