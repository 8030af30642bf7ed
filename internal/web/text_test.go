package web

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestParts(t *testing.T) {
	harness.Equal(t, "marked", []piece{
		{"Why ", false},
		{"Tokens", true},
		{" of (", false},
		{"jwt_check", true},
		{")?", false},
	}, splitAtMatches("Why Tokens of (jwt_check)?", `"token" is jwt_check`))
	harness.Equal(t, "marked in nothing", []piece(nil), splitAtMatches("", "token"))
	harness.Equal(t, "visible", "a⟨U+202E⟩b⟨U+0007⟩\tשלום 👩‍💻", string(escapeInvisible([]byte("a\u202eb\a\tשלום 👩‍💻"))))
	for address, want := range map[string]string{
		"": "index.html", "timeline": "timeline.html",
		"session?from=30&id=01KJ": "session-30-01KJ.html",
	} {
		if got := fileName(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	if got := fileName("commit?rev=..%2F..%2Fx"); !strings.HasPrefix(got, "commit-") || strings.ContainsAny(got, "/%?&") {
		t.Errorf("a name that leads elsewhere: %q", got)
	}
	if fileName("file?path=README") == fileName("file?path=readme") {
		t.Error("two files have one page where the case of names does not count")
	}
}

// TestOutside: what lies outside of the repository, and a commit that this clone lacks, are text and no links.
func TestOutside(t *testing.T) {
	links := servedLinks()
	links.resolve = func(sha string) (git.OID, error) {
		if sha == "1234567" {
			return "1234567890", nil
		}
		return "", git.ErrNotFound
	}
	for path, want := range map[string]string{
		"src/a.go": "file?path=src%2Fa.go", ".github/x.yml": "file?path=.github%2Fx.yml",
		"/etc/passwd": "", "~/.claude/plans/x.md": "", "../b/c.go": "", ".git/hooks/pre-push": "",
	} {
		harness.Equal(t, path, want, links.File(path))
	}
	harness.Equal(t, "a commit", "commit?rev=1234567890", links.Commit("1234567"))
	harness.Equal(t, "a commit that is not here", "", links.Commit("7654321"))
}

// FuzzText parts any text: what is shown is what was there.
func FuzzText(f *testing.F) {
	f.Add("see `x` and\n```\ncode\n```\n", "x code")
	f.Add(strings.Repeat("a\n", 3000), "a")
	f.Add("\u202e``\x00\xff`", "é")
	f.Fuzz(func(t *testing.T, content, question string) {
		var all strings.Builder
		for _, p := range splitAtMatches(content, question) {
			all.WriteString(p.Text)
		}
		if all.String() != content {
			t.Errorf("marked: %q", all.String())
		}
		if shown := escapeInvisible([]byte(content)); strings.ContainsAny(string(shown), "\u202e\u2066\x00") {
			t.Errorf("visible: %q", shown)
		}
	})
}
