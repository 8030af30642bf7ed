package cli_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/cli"
)

var update = flag.Bool("update", false, "write the manual pages anew")

// The manual pages in docs/man say what -h says.
func TestManuals(t *testing.T) {
	const dir = "../../docs/man"
	want := cli.Manuals()
	there, err := filepath.Glob(dir + "/*.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, ok := want[filepath.Base(path)]; !ok {
			t.Errorf("%s is the page of no command", path)
		}
	}
	_, noMan := exec.LookPath("man")
	if noMan != nil {
		t.Log("there is no man here that would read the pages")
	}
	for name, text := range want {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := os.ReadFile(path)
		if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s differs; go test ./internal/cli -run TestManuals -update writes it:\n%s", path, diff)
		}
		if out, err := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Z", path).CombinedOutput(); noMan == nil &&
			(err != nil || strings.Contains(string(out), "warning:")) {
			t.Errorf("%s: %v %.300s", path, err, out)
		}
	}
}

// A topic explains itself also in the form of a command.
func TestTopics(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"recall", "config", "words"} {
		if got, want := d.must(name, "-h"), d.must("help", name); got != want ||
			strings.Contains(got, "or: git rekal COMMAND") {
			t.Errorf("%s -h: %s", name, got)
		}
	}
}

// No page ends in an empty line, and each tells the values that flags take and have.
func TestFlagsInHelp(t *testing.T) {
	d := newDesk(t)
	for page, says := range map[string]string{
		"completion": "zsh", "log": "--color WHEN[=always]  ",
		"init": "--brief MOMENTS[=start]  ", "compress": "(default 2000)", "why": "[FILTER…]",
	} {
		got := d.must(page, "-h")
		if !strings.Contains(got, says) || strings.Contains(got, "\n\n\n") || strings.HasSuffix(got, "\n\n") {
			t.Errorf("%s: %q is not in %s", page, says, got)
		}
	}
	if roff := cli.Manuals()["git-rekal-compress.1"]; !strings.Contains(roff, "(default 2000)") {
		t.Errorf("the manual page of compress does not tell the default: %s", roff)
	}
}

// TestGroups: the overview names each command once.
func TestGroups(t *testing.T) {
	got, want := cli.Groups(), cli.Typed()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What is printed fits the narrowest common terminal, and the overview its height.
func TestHelpFits(t *testing.T) {
	d := newDesk(t)
	pages := [][]string{{"-h"}, {"help", "recall"}, {"help", "config"}}
	for _, name := range names[1:] {
		pages = append(pages, []string{name, "-h"})
	}
	for _, args := range pages {
		text := d.must(args...)
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%v: %q is longer than 80 columns", args, line)
			}
		}
	}
	if lines := strings.Count(d.must("-h"), "\n"); lines > 24 {
		t.Errorf("the overview has %d lines", lines)
	}
	for _, short := range cli.Shorts() {
		if n := utf8.RuneCountInString(short); n == 0 || n > 26 {
			t.Errorf("%q has %d columns", short, n)
		}
	}
}
