package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/git-rekal/git-rekal/templates"
)

// TestSkill runs every command that the skill shows, in its order, in the repository of tenants,
// and compares what they print with what the skill shows.
func TestSkill(t *testing.T) {
	w := newTenants(t)
	told := readTold(t, templates.Skill())
	if len(told) < 15 {
		t.Fatalf("only %d commands: is this how the skill shows them?", len(told))
	}
	for _, c := range told {
		out, errs, err := w.sh(c.line)
		switch {
		case err != nil:
			t.Errorf("%s: %v\n%s", c.line, err, errs)
		case out == "" || strings.Contains(out, `"results":[]`):
			t.Errorf("%s finds nothing", c.line)
		case c.output != "" && !alike(c.output, out):
			t.Errorf("%s\nshows\n%s\nand prints\n%s", c.line, c.output, out)
		}
	}
}

// told is a command that a document shows, and what it shows of its output; "" where it shows none.
type told struct{ line, output string }

// span is code in a sentence. What begins as a command or a flag is one: a flag stands for a recall with
// it, unless it is a mere name.
var span = regexp.MustCompile("`(git rekal[^`]*|-[^`]* [^`]*)`")

// readTold finds the commands of a document: lines of an indented block that begin with "$ ", below
// which stands the output, and code in sentences.
func readTold(t *testing.T, text string) []told {
	t.Helper()
	var out []told
	shown := false // whether the block that we are in has had a command
	for line := range strings.Lines(text) {
		code, block := strings.CutPrefix(line, "    ")
		command, is := strings.CutPrefix(code, "$ ")
		switch {
		case block && is:
			out, shown = append(out, told{line: strings.TrimSpace(command)}), true
		case block && shown:
			out[len(out)-1].output += code
		case block:
			t.Errorf("output of no command: %s", line)
		default:
			shown = false
		}
		if block {
			continue
		}
		if strings.Count(line, "`")%2 != 0 {
			t.Errorf("code that goes over two lines is not seen: %s", line)
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			if c := m[1]; strings.HasPrefix(c, "-") {
				out = append(out, told{line: "git rekal " + c})
			} else {
				out = append(out, told{line: c})
			}
		}
	}
	return out
}

// alike compares an output with what a document shows of it, in which an ellipsis stands for
// whatever is there on that line.
func alike(shown, printed string) bool {
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
