package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestParts(t *testing.T) {
	long := strings.Repeat("0123456789\n", 500)
	for _, test := range []struct {
		name, content string
		head, rest    []block
	}{
		{"prose", "one\n\ntwo", []block{{false, "one\n\ntwo"}}, nil},
		{"code between prose", "see:\n```go\nx := 1\n```\nthere", []block{{false, "see:"}, {true, "x := 1"}, {false, "there"}}, nil},
		{"a fence that does not end", "a\n```\nb", []block{{false, "a"}, {true, "b"}}, nil},
		{"nothing", "", nil, nil},
		{"long code", "```\n" + long + "```\nend", []block{{true, strings.Repeat("0123456789\n", 163)}}, []block{{true, strings.TrimRight(strings.Repeat("0123456789\n", 337), "\n")}, {false, "end"}}},
		{"one long line", strings.Repeat("é", 2000), []block{{false, strings.Repeat("é", 900)}}, []block{{false, strings.Repeat("é", 1100)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := blocks(test.content)
			harness.Equal(t, "head", test.head, got.Head)
			harness.Equal(t, "rest", test.rest, got.Rest)
		})
	}
	harness.Equal(t, "marked", []piece{{"Why ", false}, {"Tokens", true}, {" of (", false}, {"jwt_check", true}, {")?", false}}, marked("Why Tokens of (jwt_check)?", `"token" is jwt_check`))
	harness.Equal(t, "marked in nothing", []piece(nil), marked("", "token"))
	harness.Equal(t, "spans", []piece{{"call ", false}, {"f(x)", true}, {" twice, ", false}, {"`not", false}}, spans("call `f(x)` twice, `not"))
	harness.Equal(t, "visible", "a⟨U+202E⟩b⟨U+0007⟩\tשלום 👩‍💻", string(visible([]byte("a\u202eb\a\tשלום 👩‍💻"))))
	for address, want := range map[string]string{"": "index.html", "timeline": "timeline.html", "session?from=30&id=01KJ": "session-30-01KJ.html"} {
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

// FuzzText parts any text: what is shown is what was there, but for fences.
func FuzzText(f *testing.F) {
	f.Add("see `x` and\n```\ncode\n```\n", "x code")
	f.Add(strings.Repeat("a\n", 3000), "a")
	f.Add("\u202e``\x00\xff`", "é")
	f.Fuzz(func(t *testing.T, content, question string) {
		var all strings.Builder
		for _, p := range marked(content, question) {
			all.WriteString(p.Text)
		}
		if all.String() != content {
			t.Errorf("marked: %q", all.String())
		}
		all.Reset()
		for _, p := range spans(content) {
			if p.Hit {
				all.WriteString("`" + p.Text + "`")
			} else {
				all.WriteString(p.Text)
			}
		}
		if all.String() != content {
			t.Errorf("spans: %q", all.String())
		}
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		all.Reset()
		got := blocks(content)
		for _, b := range append(got.Head, got.Rest...) {
			all.WriteString(b.Text)
		}
		var want strings.Builder
		for line := range strings.Lines(content) {
			if !strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				want.WriteString(line)
			}
		}
		if letters(all.String()) != letters(want.String()) {
			t.Errorf("blocks: %q, want %q", all.String(), want.String())
		}
		if utf8.ValidString(content) {
			for _, b := range got.Head {
				if !utf8.ValidString(b.Text) {
					t.Errorf("a character is cut: %q", b.Text)
				}
			}
		}
		if shown := visible([]byte(content)); strings.ContainsAny(string(shown), "\u202e\u2066\x00") {
			t.Errorf("visible: %q", shown)
		}
	})
}
