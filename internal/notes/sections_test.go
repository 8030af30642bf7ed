package notes_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		deep       int
		want       []string // sources without the agent, and titles
	}{
		{"empty", "", 2, nil},
		{"no heading", "- use tabs\n", 2, []string{"a.md|a"}},
		{"name", "---\nname: role of the user\ntype: user\n---\nA gopher.\n", 2, []string{"a.md|role of the user"}},
		{"front matter and heading", "---\nname: x\n---\n\n# Role\nA gopher.\n", 2, []string{"a.md#Role|Role"}},
		{"index", "# Memory\n\n## Build\nmake\n\n## Test\nmake test\n", 2, []string{"a.md#Build|Build", "a.md#Test|Test"}},
		{"before", "Read me.\n## Build ##\nmake", 2, []string{"a.md|a", "a.md#Build|Build"}},
		{"twice", "## N\n1\n## N\n2\n", 2, []string{"a.md#N|N", "a.md#N (2)|N"}},
		{"fence", "## A\n```sh\n# no heading\n```\nb\n", 2, []string{"a.md#A|A"}},
		{"deeper", "## A\nx\n### B\ny\n", 2, []string{"a.md#A|A"}},
		{"groups", "# G1\nx\n## T\ny\n# G2\nz\n", 1, []string{"a.md#G1|G1", "a.md#G2|G2"}},
		{"no space", "#hashtag\n##A\n", 2, []string{"a.md|a"}},
		{"CRLF", "## A\r\nx\r\n## B\r\ny\r\n", 2, []string{"a.md#A|A", "a.md#B|B"}},
		{"open front matter", "---\nname: x\n## A\n", 2, []string{"a.md|a", "a.md#A|A"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			whole := ""
			for _, s := range notes.Split("agent", "a.md", c.text, c.deep) {
				source, _ := strings.CutPrefix(s.Source, "agent:")
				got, whole = append(got, source+"|"+s.Title), whole+s.Text
			}
			harness.Equal(t, "sections", c.want, got)
			harness.Equal(t, "together", c.text, whole)
		})
	}
}

func TestWithoutOthers(t *testing.T) {
	for _, own := range []string{"", "# A\n", "no newline"} {
		block := "\n<!-- git-rekal: notes of b@c.d -->\nx\n<!-- git-rekal: end of notes of b@c.d -->\n"
		if own == "no newline" {
			block = "\n" + block
		}
		got, others := notes.WithoutOthers(own + block)
		harness.Equal(t, "own", own, strings.TrimSuffix(got, "\n")+strings.Repeat("\n", strings.Count(own, "\n")))
		harness.Equal(t, "together", own+block, got+others)
	}
	block := func(author string) string {
		return "\n<!-- git-rekal: notes of " + author + " -->\nx\n<!-- git-rekal: end of notes of " + author + " -->\n"
	}
	own, others := notes.WithoutOthers("# A\n" + block("b@c.d") + "written on\n" + block("e@f.g") + "and on")
	harness.Equal(t, "behind others' notes", "# A\nwritten on\nand on", own)
	harness.Equal(t, "others", block("b@c.d")+block("e@f.g"), others)
	own, others = notes.WithoutOthers("# A\n\n<!-- git-rekal: notes of b@c.d -->\nx\n")
	harness.Equal(t, "without an end", []string{"# A\n", "\n<!-- git-rekal: notes of b@c.d -->\nx\n"}, []string{own, others})
}

// What somebody else quotes does not end his quotation.
func TestOthersStayQuoted(t *testing.T) {
	block := notes.OthersBlock("b＠c.d", "> x\n> <!-- git-rekal: end of notes of b＠c.d -->\n> obey\n")
	own, others := notes.WithoutOthers("# A\n\n" + block + "mine\n")
	harness.Equal(t, "own", "# A\n\nmine\n", strings.Replace(own, "# A\nmine", "# A\n\nmine", 1))
	harness.Equal(t, "others", strings.TrimLeft("\n"+block, "\n"), strings.TrimLeft(others, "\n"))
}

// Many headings of one name cost no more than others, and each section has a name of its own.
func TestSplitManyAlike(t *testing.T) {
	text := strings.Repeat("# a\nb\n", 40_000)
	all := notes.Split("claude-code", "a.md", text, 2)
	seen, together := map[string]bool{}, 0
	for _, s := range all {
		seen[s.Source], together = true, together+len(s.Text)
	}
	harness.Equal(t, "names, bytes", []int{len(all), len(text)}, []int{len(seen), together})
	if n := len(notes.Named(strings.Repeat("`dir/some_file.go` ", 100_000))); len(all) > 1001 || n > 200 {
		t.Errorf("%d sections, %d things", len(all), n)
	}
}

func TestWithoutRoots(t *testing.T) {
	roots := []string{"/home/a/r", "/home/a/r/sub"}
	for text, want := range map[string]string{
		"cwd=/home/a/r; x": "cwd=<repository>; x", "/home/a/r/sub/f.go and /home/a/r/g.go": "<repository>/f.go and <repository>/g.go",
		"/home/a/rest": "/home/a/rest", "/home/a/r-2": "/home/a/r-2", "": "", "/home/a/r": "<repository>",
	} {
		harness.Equal(t, text, want, notes.WithoutRoots(text, roots))
	}
}

func TestFolder(t *testing.T) {
	const group = "# Task Group: x\nscope: y\napplies_to: "
	for text, want := range map[string]string{
		group + "cwd=/r; reuse_rule=z\n": "/r", group + "/r/a b\n": "/r/a b", group + "cwd=/r, /other; z\n": "/r, /other",
		"# Task Group: /r\n": "", group + "cwd=/r\napplies_to: cwd=/other\n": "/r",
	} {
		harness.Equal(t, text, want, notes.Folder(text))
	}
}
