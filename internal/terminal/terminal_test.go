package terminal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/git-rekal/git-rekal/internal/terminal"
)

// pair is a terminal, as a process has it.
func pair(t *testing.T, columns uint16) *os.File {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	return theirs
}

func TestColor(t *testing.T) {
	tty := pair(t, 80)
	for _, tt := range []struct {
		name  string
		given terminal.Output
		want  bool
	}{
		{"a terminal", terminal.Output{Stdout: tty}, true},
		{"a file", terminal.Output{Stdout: &bytes.Buffer{}}, false},
		{"a file, and always", terminal.Output{Stdout: &bytes.Buffer{}, Color: "always"}, true},
		{"never", terminal.Output{Stdout: tty, Color: "never"}, false},
		{"color.ui", config(tty, "color.ui", "false"), false},
		{"color.ui always, into a file", config(&bytes.Buffer{}, "color.ui", "always"), true},
		{"color.rekal before color.ui", config(tty, "color.ui", "false", "color.rekal", "auto"), true},
		{"--color before both", terminal.Output{
			Stdout: tty, Color: "auto",
			Config: map[string][]string{"color.ui": {"never"}},
		}, true},
		{"the last value", terminal.Output{Stdout: tty, Config: map[string][]string{"color.ui": {"never", "true"}}}, true},
		{"NO_COLOR", terminal.Output{Stdout: tty, Env: []string{"NO_COLOR=1"}}, false},
		{"an empty NO_COLOR", terminal.Output{Stdout: tty, Env: []string{"NO_COLOR="}}, true},
		{"NO_COLOR, and always", terminal.Output{Stdout: tty, Env: []string{"NO_COLOR=1"}, Color: "always"}, true},
		{
			"NO_COLOR, and color.ui true, which is auto",
			terminal.Output{Stdout: tty, Env: []string{"NO_COLOR=1"}, Config: map[string][]string{"color.ui": {"true"}}},
			false,
		},
		{"a dumb terminal", terminal.Output{Stdout: tty, Env: []string{"TERM=dumb"}}, false},
		{"a pager without colours", paged(config(tty, "color.pager", "false"), "page it"), false},
		{"no pager, and it is without colours", paged(config(tty, "color.pager", "false"), "cat"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.given.Env = append([]string{"TERM=xterm"}, tt.given.Env...)
			if got := tt.given.Screen().Color; got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func config(out interface{ Write([]byte) (int, error) }, pairs ...string) terminal.Output {
	all := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = []string{pairs[i+1]}
	}
	return terminal.Output{Stdout: out, Config: all}
}

func paged(given terminal.Output, pager string) terminal.Output {
	given.Env = append(given.Env, "GIT_PAGER="+pager)
	return given
}

func TestWidthAndLocale(t *testing.T) {
	tty := pair(t, 57)
	for _, tt := range []struct {
		given terminal.Output
		width int
		utf8  bool
	}{
		{terminal.Output{Stdout: tty, Env: []string{"LANG=de_DE.UTF-8"}}, 57, true},
		{terminal.Output{Stdout: tty, Env: []string{"COLUMNS=31", "LANG=de_DE.UTF-8", "LC_ALL=C"}}, 31, false},
		{terminal.Output{Stdout: tty, Env: []string{"COLUMNS=wide", "LC_CTYPE=C.utf8", "LANG=C"}}, 57, true},
		{terminal.Output{Stdout: &bytes.Buffer{}}, 80, false},
	} {
		if got := tt.given.Screen(); got.Width != tt.width || got.UTF8 != tt.utf8 {
			t.Errorf("%q: %d columns, UTF-8 %v", tt.given.Env, got.Width, got.UTF8)
		}
	}
}

func TestShown(t *testing.T) {
	read, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer pipe.Close()
	paged := []string{"GIT_PAGER_IN_USE=true"}
	for _, tt := range []struct {
		name  string
		given terminal.Output
		want  bool
	}{
		{"a terminal", terminal.Output{Stdout: pair(t, 80)}, true},
		{"a buffer", terminal.Output{Stdout: &bytes.Buffer{}}, false},
		{"a pipe", terminal.Output{Stdout: pipe, Stderr: pipe}, false},
		{"git's pager", terminal.Output{Stdout: pipe, Stderr: pipe, Env: paged}, true},
		{"a pipe behind git's pager", terminal.Output{Stdout: pipe, Stderr: os.Stderr, Env: paged}, false},
	} {
		if got := tt.given.SeenByPerson(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestPagerThatQuits: it takes a line of a megabyte, and nothing is wrong.
func TestPagerThatQuits(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	given := terminal.Output{Stdout: pair(t, 80), Env: []string{
		"GIT_PAGER=head -c 3 >" + said,
		"PATH=" + os.Getenv("PATH"),
	}}
	if err := given.Screen().Print(strings.Repeat("x", 1<<20), 0); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(said); string(got) != "xxx" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPagerOpensAtALine: less is told where to begin, behind what the user tells it.
func TestPagerOpensAtALine(t *testing.T) {
	for _, tt := range []struct{ set, want string }{{"PAGES=1", "FRX$+8g"}, {"LESS=-R -S", "-R -S$+8g"}} {
		said := filepath.Join(t.TempDir(), "said")
		given := terminal.Output{Stdout: pair(t, 80), Env: []string{
			tt.set, `GIT_PAGER=printf %s "$LESS" >` + said,
			"PATH=" + os.Getenv("PATH"),
		}}
		if err := given.Screen().Print("text", 7); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(said); string(got) != tt.want {
			t.Errorf("%s: %q, %v", tt.set, got, err)
		}
	}
}
