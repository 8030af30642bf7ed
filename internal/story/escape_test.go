package story

import (
	"regexp"
	"strings"
	"testing"
)

// alive finds in a line of Markdown, outside of code, what a host would make something of: each is preceded by no
// backslash or split by no space.
var alive = map[string]*regexp.Regexp{
	"HTML":       regexp.MustCompile(`<`),
	"an entity":  regexp.MustCompile(`&`),
	"a mention":  regexp.MustCompile(`@[A-Za-z0-9]`),
	"an issue":   regexp.MustCompile(`(?i)#[0-9]|\bgh-[0-9]`),
	"an address": regexp.MustCompile(`(?i)://|www\.|mailto:[^•]`),
	"a commit":   regexp.MustCompile(`\b[0-9a-f]{7,64}\b`),
	"emphasis":   regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*[*_~]`),
	"a link":     regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*[\[\]]`),
	"a table":    regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\|`),
	"a formula":  regexp.MustCompile(`\$`),
	"a block":    regexp.MustCompile(`^(?:[#+=:-]|\d{1,9}[.)])`),
	"a line":     regexp.MustCompile(`\n`),
}

// code is a span of code as inert leaves it, behind an escaped backtick, or such a backtick alone: in a span no
// backslash escapes.
var code = regexp.MustCompile("\\\\`|`[^`]+`")

func checkInert(t *testing.T, text string) {
	t.Helper()
	got := inlineText(text)
	outside := code.ReplaceAllString(got, "x")
	if strings.Contains(outside, "`") {
		t.Errorf("%q: code does not end: %q", text, got)
	}
	// what inert itself writes
	outside = strings.NewReplacer("&#8203;", "\u2022", "&lt;", "x", "&gt;", "x", "&amp;", "x", "&#36;",
		"x").Replace(outside)
	for what, re := range alive {
		if found := re.FindString(outside); found != "" {
			t.Errorf("%q: %s comes alive: %q in %q", text, what, found, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e\u200b") {
		t.Errorf("%q: what is hidden stays: %q", text, got)
	}
}

func hostile() []string {
	return []string{
		"@alice please look, and @org/team too", "fixes #12, GH-7 and a/b#9", "<img src=x onerror=alert(1)>",
		"<!-- hidden -->", "![x](https://evil.example/p.png)",
		"[click](javascript:alert(1))", "see https://evil.example and www.evil.example or a@b.example", "mailto:a@b.example",
		"**bold** _it_ ~~gone~~ ***", "`code @alice` and `` two ``",
		"``` fence", "`open", "` `", "``", "a `b` c ` d", "# heading", "- list", "1. list", "1) list", "+ x", "=== ", "--- ",
		"> quote", "| a | b |", "$x^2$ and $$y$$",
		"commit 70ee311aa5 and 1234567890", "\x1b[31mred\x1b[0m \u202eevil", "line\nbreak\r\nmore",
		"&amp; &#64;alice &lt;b&gt;", "\\", "\\`", "\\[x](y)", "a\\", "<https://x.example>", "[^1]: note", "~~~", ":::", "@",
		"#", "://",
		"`a`@b`c`", "x`@y", "[!NOTE]", "a_b_c snake_case", "http`s://e.example`", "www`.`evil.example",
	}
}

func TestInert(t *testing.T) {
	for _, text := range hostile() {
		checkInert(t, text)
	}
	for text, want := range map[string]string{
		"keep `jwt.go` as it is": "keep `jwt.go` as it is",
		"ask @bob":               "ask @&#8203;bob",
		"1. first":               `1\. first`,
		"a <b>":                  "a &lt;b&gt;",
		"see https://x.y":        "see https:&#8203;//x.y",
	} {
		if got := inlineText(text); got != want {
			t.Errorf("inert(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFence(t *testing.T) {
	for _, text := range []string{"plain", "```\ncode\n```", "````` five", "a\x1b[31mb"} {
		got := fence(text)
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		bar := strings.TrimSuffix(lines[0], "text")
		if lines[len(lines)-1] != bar || strings.Contains(strings.Join(lines[1:len(lines)-1], "\n"), bar) ||
			strings.Contains(got, "\x1b") {
			t.Errorf("fence(%q) = %q", text, got)
		}
	}
}

func FuzzInert(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(checkInert)
}
