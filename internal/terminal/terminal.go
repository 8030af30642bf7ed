// Package terminal tells whether stdout is a terminal, git's pager in front of one, or neither; and how git would write
// there.
//
// In: both output streams, the environment, git's configuration. Out: a Screen with width, colours and pager, on which
// a text is printed. git's own order of settings counts (git-config(1), "color.ui"; git-var(1), "GIT_PAGER"), with
// color.rekal and pager.rekal for the command's own. A pager that ends early or cannot start is no error. It knows no
// result, and changes nothing about a terminal.
package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/git-rekal/git-rekal/internal/run"
)

// Output is what a process was given.
type Output struct {
	Stdout, Stderr io.Writer
	Env            []string            // "KEY=value"
	Config         map[string][]string // all of git's configuration
	Color          string              // what --color says: always, never or auto; "" for nothing
}

// Screen is where a text is printed.
type Screen struct {
	Width int  // columns; narrow, where nothing tells
	Color bool // colours and links are wanted
	UTF8  bool // so the locale says
	pager string
	given Output
}

// defaultWidth is the width if neither COLUMNS nor the terminal says one: git's (pager.c, term_columns).
const defaultWidth = 80

// SeenByPerson reports whether a person reads stdout: it is a terminal, or the pipe to a pager that git started for us.
func (g Output) SeenByPerson() bool { return g.isTerminal() || g.isPagedByGit() }

// Screen is how to print for a person, also where stdout is a file.
func (g Output) Screen() Screen {
	s := Screen{Width: g.width(), UTF8: g.isUTF8(), given: g}
	if g.isTerminal() {
		s.pager = g.pagerCommand()
	}
	s.Color = g.wantsColor(s.pager != "" || g.isPagedByGit())
	return s
}

func (g Output) isTerminal() bool {
	f, ok := g.Stdout.(*os.File)
	return ok && run.IsTerminal(f)
}

// isPagedByGit reports whether git has started a pager in front of us (git -p, pager.rekal): git sets a variable then,
// and both streams lead into one pipe.
func (g Output) isPagedByGit() bool {
	if on, ok := parseGitBool(g.getenv("GIT_PAGER_IN_USE")); !on || !ok {
		return false
	}
	out, err := statStream(g.Stdout)
	other, err2 := statStream(g.Stderr)
	return err == nil && err2 == nil && out.Mode()&os.ModeNamedPipe != 0 && os.SameFile(out, other)
}

func statStream(w io.Writer) (os.FileInfo, error) {
	f, ok := w.(*os.File)
	if !ok {
		return nil, os.ErrInvalid
	}
	return f.Stat()
}

func (g Output) width() int {
	if n, err := strconv.Atoi(g.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := g.Stdout.(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
			return int(size.Col)
		}
	}
	return defaultWidth
}

// wantsColor follows git's want_color; NO_COLOR (no-color.org) counts where nothing is said but "auto".
func (g Output) wantsColor(pager bool) bool {
	when := strings.ToLower(cmp.Or(g.Color, g.value("color.rekal"), g.value("color.ui")))
	if when == "always" {
		return true
	}
	if on, ok := parseGitBool(when); when == "never" || when != "" && ok && !on {
		return false
	}
	if on, ok := parseGitBool(g.value("color.pager")); pager && ok && !on && g.value("color.pager") != "" {
		return false
	}
	term := g.getenv("TERM")
	return g.SeenByPerson() && term != "" && term != "dumb" && g.getenv("NO_COLOR") == ""
}

// isUTF8 is what the locale's variables say, in the order of setlocale(3).
func (g Output) isUTF8() bool {
	locale := strings.ToLower(cmp.Or(g.getenv("LC_ALL"), g.getenv("LC_CTYPE"), g.getenv("LANG")))
	return strings.Contains(strings.ReplaceAll(locale, "-", ""), "utf8")
}

// pagerCommand is the command to print through, as git says it; "" for none.
func (g Output) pagerCommand() string {
	ask := exec.Command("git", "var", "GIT_PAGER")
	if said := g.value("pager.rekal"); said != "" {
		on, plain := parseGitBool(said)
		if plain && !on {
			return ""
		}
		if !plain { // a command, which takes the place of core.pager
			ask.Args = []string{"git", "-c", "core.pager=" + said, "var", "GIT_PAGER"}
		}
	}
	ask.Env = g.Env
	out, _ := ask.Output() // without an answer nothing is paged
	pager := strings.TrimSpace(string(out))
	if pager == "cat" || !isInstalled(pager) {
		return ""
	}
	return pager
}

// isInstalled reports whether a pager is there, as far as that can be told: a shell finds one with arguments.
func isInstalled(pager string) bool {
	if strings.ContainsAny(pager, " \t\n|&;<>()$`\\\"'*?[#~=%") { // git's run-command.c
		return true
	}
	_, err := exec.LookPath(pager)
	return err == nil
}

// Pages reports whether a pager shows what is printed.
func (s Screen) Pages() bool { return s.pager != "" }

// Print prints a text, through the pager where there is one, which opens at a line (counted from 0 on) if it is less.
// The pager's end is no matter of the text's.
func (s Screen) Print(text string, line int) error {
	if s.pager == "" || text == "" {
		_, err := io.WriteString(s.given.Stdout, text)
		return err
	}
	pager := exec.Command("sh", "-c", s.pager)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), s.given.Stdout, s.given.Stderr
	pager.Env = s.given.Env
	for _, said := range []string{"LESS=FRX", "LV=-c"} { // git's defaults (Makefile, PAGER_ENV)
		name, _, _ := strings.Cut(said, "=")
		if _, ok := s.given.lookup(name); !ok {
			pager.Env = append(pager.Env[:len(pager.Env):len(pager.Env)], said)
		}
	}
	if line > 0 {
		pager.Env = append(pager.Env[:len(pager.Env):len(pager.Env)],
			fmt.Sprintf("LESS=%s$+%dg", cmp.Or(s.given.getenv("LESS"), "FRX"), line+1))
	}
	if err := pager.Start(); err != nil {
		s.pager = ""
		return s.Print(text, line)
	}
	_ = pager.Wait() // whoever quits a pager has enough
	return nil
}

func (g Output) getenv(key string) string {
	v, _ := g.lookup(key)
	return v
}

// lookup finds a variable; the last one of a name wins.
func (g Output) lookup(key string) (string, bool) {
	for i := len(g.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(g.Env[i], key+"="); ok {
			return v, true
		}
	}
	return "", false
}

// value is the last value of a key of git's configuration; "" for none.
func (g Output) value(key string) string {
	if values := g.Config[key]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// parseGitBool is what git takes for one.
func parseGitBool(s string) (on, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0", "":
		return false, true
	}
	return false, false
}
