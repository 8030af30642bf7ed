package history_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// block is a function of lines that also stand elsewhere.
func block(name string) string {
	return "func " + name + "() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n"
}

// A squash brings the lines of a branch's commits: each, also a brace, is traced to the one that wrote it,
// and what it brought besides to none.
func TestTrace(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	base := p.Add("r", "base", "f", block("a")+block("z"))
	p.Git("r", "checkout", "-qb", "topic")
	one := p.Add("r", "one", "f", block("a")+block("b")+block("z"))
	two := p.Add("r", "two", "f", block("a")+block("b")+block("c")+block("z"))
	three := p.Add("r", "three", "f", block("a")+strings.Replace(block("b"), "nil {", "io.EOF {", 1)+block("c")+block("z"))
	p.Git("r", "checkout", "-q", "main")
	before := p.Add("r", "meanwhile", "f", "package f\n\n"+block("a")+block("z"))
	p.Git("r", "merge", "-q", "--squash", "topic")
	// Re-indented, and with a line of its own.
	text := strings.Replace(p.Git("r", "show", ":f"), "\t\treturn err\n", "\t\t\treturn err\n", 2) + "\n// squashed\n"
	squash := p.Add("r", "squash", "f", text)

	names := map[git.OID]string{one: "1", two: "2", three: "3", base: "base", before: "before", squash: "squash", "": "-"}
	r := p.Open("r")
	var lines []int
	for i := range strings.Count(text, "\n") {
		lines = append(lines, i+1)
	}
	got := ""
	for _, o := range repos.Must(history.Trace(t.Context(), r, squash, "f", lines, three, before))(t) {
		got += names[o.Commit]
	}
	harness.Equal(t, "commits", "--"+"-------"+"1311111"+"2222222"+"------"+"-", got)
	some := repos.Must(history.Trace(t.Context(), r, squash, "f", []int{11, 25, 999}, three, before))(t)
	harness.Equal(t, "some lines", []history.Origin{{Commit: three, Path: "f", Line: 9}, {}, {}}, some)

	if _, err := history.Trace(t.Context(), r, squash, "g", lines, three, before); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := history.Trace(t.Context(), r, squash, "f", lines, "0123456789012345678901234567890123456789",
		before); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("no such commit: %v", err)
	}
	p.Git("r", "branch", "-D", "topic")
	p.Git("r", "checkout", "-q", "--orphan", "other")
	root := p.Add("r", "root", "f", text)
	all := repos.Must(history.Trace(t.Context(), r, squash, "f", lines, root, ""))(t)
	for i, o := range all {
		harness.Equal(t, fmt.Sprint("line ", i+1), history.Origin{Commit: root, Path: "f", Line: i + 1}, o)
	}
}

// What stands in the files is traced, not what a program of the user's shows of them; also where git puts
// their names in quotes. A broken list of commits to look through is in nobody's way.
func TestTraceOddly(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "config", "diff.shown.textconv", "sh -c 'touch "+p.At("ran")+"; echo only'")
	name := "j\"t\t\xc3\xbc.go"
	p.Write("r/.gitattributes", "* diff=shown\n")
	first := p.Add("r", "first", name, block("a"))
	p.Git("r", "checkout", "-qb", "topic")
	topic := p.Add("r", "topic", name, block("a")+block("b"))
	p.Git("r", "checkout", "-q", "main")
	p.Git("r", "merge", "-q", "--squash", "topic")
	squash := p.Add("r", "squash", name, block("a")+block("b"))
	want := []history.Origin{{Commit: first, Path: name, Line: 1}, {Commit: topic, Path: name, Line: 9}}
	harness.Equal(t, "traced", want, repos.Must(history.Trace(t.Context(), p.Open("r"), squash, name, []int{1, 9}, topic,
		""))(t))
	p.Write("r/odd", "no commit\n")
	p.Git("r", "config", "blame.ignoreRevsFile", "odd")
	harness.Equal(t, "blamed", want[:1], repos.Must(history.BlameFile(t.Context(), p.Open("r"), topic, name, 1,
		1))(t).Origins)
	if _, err := os.Stat(p.At("ran")); err == nil {
		t.Error("a program of the user's was run")
	}
}
