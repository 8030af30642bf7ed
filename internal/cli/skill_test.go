package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/git-rekal/git-rekal/templates"
)

// TestLongSkill runs every command that the skill shows, in its order, in the repository of tenants,
// and compares what they print with what the skill shows.
func TestLongSkill(t *testing.T) {
	w := newTenants(t)
	w.must(`git rekal init`)
	w.works()
	w.must(`git commit -qm "Read expires_at as UTC, allow 30 s of leeway"`)
	w.rests()
	for line := range strings.Lines(templates.Skill()) {
		if strings.Count(line, "`")%2 != 0 {
			t.Errorf("code that goes over two lines is not seen: %s", line)
		}
	}
	told := readTold(t, templates.Skill())
	if len(told) < 15 {
		t.Fatalf("only %d commands: is this how the skill shows them?", len(told))
	}
	for _, c := range told {
		c.check(w)
	}
}

// TestLongReadme does the same with what the README and the pages for users show. The README's first command
// comes last: it shows what will be.
func TestLongReadme(t *testing.T) {
	var told []told
	for _, page := range []string{"README.md", "docs/recall.md", "docs/sharing.md", "docs/redaction.md"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, readTold(t, string(text))...)
	}
	w := newTenants(t)
	before := map[string]func(){
		"git commit": w.works, `git rekal "why`: w.rests, "git rekal sync": w.teams,
		"git rekal --checkpoint v1.2.0": func() { w.must("git tag v1.2.0") },
		"git rekal checkpoint --dry":    w.leaks, "git rekal scrub": func() { w.must("git rekal checkpoint") },
	}
	elsewhere := regexp.MustCompile(`^(make|cd|codex|gemini)\b`)
	ran := 0
	for _, c := range append(told[1:], told[0]) {
		if c.inline || elsewhere.MatchString(c.line) {
			continue
		}
		for start, do := range before {
			if strings.HasPrefix(c.line, start) {
				do()
				delete(before, start)
			}
		}
		c.check(w)
		ran++
	}
	if ran < 25 {
		t.Errorf("only %d commands: is this how the pages show them?", ran)
	}
}

// check runs the command, which must do something, and compares.
func (c told) check(w *tenants) {
	w.t.Helper()
	// a person on a terminal would be asked
	out, errs, err := w.sh(strings.Replace(c.line, "rekal sync", "rekal sync --yes", 1))
	if strings.Contains(c.output, "git-rekal: ") { // it shows stderr, too
		out += errs
	}
	switch {
	case err != nil:
		w.t.Errorf("%s: %v\n%s", c.line, err, errs)
	case out == "" || strings.Contains(out, `"results":[]`):
		w.t.Errorf("%s finds nothing", c.line)
	case c.output != "" && !alike(c.output, out):
		w.t.Errorf("%s\nshows\n%s\nand prints\n%s", c.line, c.output, out)
	}
}

// told is a command that a document shows, and what it shows of its output; "" where it shows none.
type told struct {
	line, output string
	inline       bool // in a sentence
}

// span is code in a sentence. What begins as a command or a flag is one: a flag stands for a recall with
// it, unless it is a mere name.
var span = regexp.MustCompile("`(git rekal[^`]*|-[^`]* [^`]*)`")

// readTold finds the commands of a document: lines of an indented block that begin with "$ ", below
// which stands the output, and code in sentences.
func readTold(t *testing.T, text string) []told {
	t.Helper()
	var out []told
	shown, blank := false, 0 // whether the block that we are in has had a command, and empty lines in it
	for line := range strings.Lines(text) {
		code, block := strings.CutPrefix(line, "    ")
		command, is := strings.CutPrefix(code, "$ ")
		switch {
		case block && is:
			out, shown = append(out, told{line: strings.TrimSpace(command)}), true
		case block && shown:
			out[len(out)-1].output += strings.Repeat("\n", blank) + code
		case shown && line == "\n":
			blank++
			continue
		default:
			shown = false
		}
		blank = 0
		if block {
			continue
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			c := m[1]
			if strings.HasPrefix(c, "-") {
				c = "git rekal " + c
			}
			out = append(out, told{line: c, inline: true})
		}
	}
	return out
}

// alike compares an output with what a document shows of it, in which an ellipsis stands for
// whatever is there on that line. JSON, which is one line, may be shown on several: the others begin
// with a space.
func alike(shown, printed string) bool {
	if strings.HasPrefix(shown, "{") {
		shown = strings.ReplaceAll(shown, "\n ", "")
	}
	parts := strings.Split(shown, "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, ".*") + `\z`).MatchString(printed)
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\n", "a\n", true},
		{"a.\n", "ab\n", false},
		{"a…d\n", "abcd\n", true},
		{"a…d\n", "abc\n", false},
		{"a…d\n", "a\nd\n", false},
		{"a\n", "a\nb\n", false},
		{"{1,\n 2}\n", "{1,2}\n", true},
		{"a\n b\n", "ab\n", false},
	} {
		if got := alike(tt.shown, tt.printed); got != tt.want {
			t.Errorf("%q and %q: %v", tt.shown, tt.printed, got)
		}
	}
}

// What is read into an agent's context every day is small.
func TestSkillIsShort(t *testing.T) {
	for _, encoding := range []tokenizer.Encoding{tokenizer.Cl100kBase, tokenizer.O200kBase} {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		n, err := codec.Count(templates.Skill())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tokens", encoding, n)
		if n > 1500 {
			t.Errorf("the skill has %d tokens of %s, and at most 1500 are allowed", n, encoding)
		}
	}
}
