package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/text/width"
)

// hostile is a session in which people and agents wrote all that a screen should not obey, wide text, and text from
// right to left.
const hostile = "7e0c1b1e-92e5-4f0a-8d0e-3b8f6d2a7c11"

func (w *tenants) attacks() {
	w.t.Helper()
	record := func(kind, uuid, at, message string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"sessionId":%q,"cwd":%q,"version":"2.1.37","gitBranch":"main","timestamp":"2026-03-16T11:0%s:00Z","message":%s}`+"\n",
			kind, uuid, hostile, w.dir, at, message)
	}
	w.transcript(hostile, record("user", "1", "0",
		`{"role":"user","content":"Clear \u001b[2J\u001b]0;owned\u0007 the hostile \u202edessecorp\u202c screen: 日本語の文字幅を数える 日本語の文字幅を数える, e\u0301\u0301 \ud83d\udc69\u200d\ud83d\udc69\u200d\ud83d\udc67 and\r\nהטקסט הזה נכתב מימין לשמאל\tend"}`)+
		record("assistant", "2", "1", `{"role":"assistant","content":[{"type":"text","text":"A hostile answer:\n\n\n    \u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\\n\ttab\u0008\u0008\u0008 back\u009b31m\n`+strings.Repeat("x", 150)+`"},`+
			`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"printf '\u001b[31m'"}}]}`))
}

// onTerminal runs a line on a terminal of its own, of some columns and rows, and returns what stands there and the exit
// status.
func (w *tenants) onTerminal(line string, columns, rows uint16, env ...string) (string, int) {
	w.t.Helper()
	clock := "2026-03-20T10:00:00Z"
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = append([]string{
		"PATH=" + w.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1",
		"REKAL_EMBED=off", "TZ=UTC", "LC_ALL=C.UTF-8", clockKey + "=" + clock, "TERM=xterm-256color", "GIT_PAGER=cat",
	}, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		w.t.Fatal(err)
	}
	defer tty.Close()
	out, err := io.ReadAll(tty)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		w.t.Fatal(err)
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(string(out), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// TestScreens holds what stands on terminals of three sizes, with and without colour. SCREENS=new writes it anew; look
// at it then.
func TestScreens(t *testing.T) {
	w := newTenants(t)
	w.must("git rekal init && git remote add origin git@github.com:example/tenants.git")
	w.works()
	w.must("git commit -qm 'Read expires_at as UTC, allow 30 s of leeway'")
	w.agent("jwt", -1)
	w.attacks()
	w.at("2026-03-18T10:00:00Z").must("printf x >'not\033[31m\342\200\256here.md'; git add . && git commit -qm 'Subject with \x1b[2J\x1b]0;owned\x07 and \u202e reordered, \u65e5\u672c\u8a9e \u05e2\u05d1\u05e8\u05d9\u05ea'")
	w.must("git rekal checkpoint && git rekal save --title 'Leeway of tokens' 'Tokens have 30 s of leeway, because clocks differ.' && git rekal index")
	const file = "testdata/screens.txtar"
	screens := []string{
		`git-rekal "JWT expiry"`, `git-rekal hostile answer`, `git-rekal why auth/jwt.go:21`, `git-rekal log`,
		`git-rekal log --oneline`,
		`git-rekal why not*here.md`, `git-rekal query --session 01KJW4MN --full --limit 4`,
		`git-rekal query --session ` + hostile + ` --full`,
		`git-rekal doctor`, `git-rekal show 01KJW4MN`, `git-rekal show HEAD~1`, `git-rekal show HEAD~1..HEAD`,
		`git-rekal show ` + hostile,
		`git-rekal show $(git-rekal --kind memory --json | sed 's/.*"id":"\([^"]*\).*/\1/')`, `git-rekal help`,
		`git-rekal help show`, `git-rekal stats`, `git-rekal stats --lines`,
	}
	had, got := sections(t, file), make([]txtar.File, 0, 4*len(screens))
	t.Run("on", func(t *testing.T) {
		for i, line := range screens {
			for _, size := range []struct {
				columns, rows uint16
				color         string
				all           bool // of the screens; else of the first one
			}{{80, 24, "auto", true}, {40, 20, "never", true}, {120, 40, "never", true}, {80, 24, "never", false}} {
				if i > 0 && !size.all {
					continue
				}
				name := fmt.Sprintf("%s, %dx%d, %s", line, size.columns, size.rows, size.color)
				got = append(got, txtar.File{Name: name})
				into := &got[len(got)-1]
				t.Run(name, func(t *testing.T) {
					if !strings.Contains(line, "doctor") { // it sees the locks of others
						t.Parallel()
					}
					own := *w
					own.t = t
					color := " --color=" + size.color
					if strings.Contains(line, " help") { // is in one colour
						color = ""
					}
					screen, status := own.onTerminal(line+color, size.columns, size.rows)
					if status != 0 {
						t.Errorf("status %d", status)
					}
					fits(t, screen, int(size.columns))
					into.Data = []byte(steady(screen))
					if diff := cmp.Diff(had[name], string(into.Data)); diff != "" && os.Getenv("SCREENS") != "new" {
						t.Errorf("-want +got:\n%s", diff)
					}
				})
			}
		}
	})
	if os.Getenv("SCREENS") == "new" {
		if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Files: got}), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func sections(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	raw, err := os.ReadFile(file)
	if err != nil && os.Getenv("SCREENS") != "new" {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(raw).Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

var (
	escape = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[!-~]*\x1b\\\\")
	sha    = regexp.MustCompile(`(checkpoint(?:\x1b\[m)? )[0-9a-f]{7,}`)
	system = regexp.MustCompile(`version [0-9.]+, libgit2 [0-9.]+`)
	memory = regexp.MustCompile(`(01K[0-9A-Z]{7})[0-9A-Z]{16}`)
	sizes  = regexp.MustCompile(`[0-9.]+ [KM]B`)
)

// steady is a screen without what differs from machine to machine, which has the same width.
func steady(screen string) string {
	screen = sha.ReplaceAllStringFunc(screen, func(s string) string {
		n := strings.LastIndexByte(s, ' ') + 1
		return s[:n] + strings.Repeat("0", len(s)-n)
	})
	screen = system.ReplaceAllString(screen, "version 0.0.0, libgit2 0.0.0")
	screen = memory.ReplaceAllString(screen, "${1}0000000000000000")
	screen = sizes.ReplaceAllString(screen, "000 KB")
	return strings.ReplaceAll(screen, "\x1b", "␛")
}

// fits fails where a line is wider than its terminal, or holds what a terminal obeys but colours and links.
func fits(t *testing.T, screen string, columns int) {
	t.Helper()
	for line := range strings.SplitSeq(escape.ReplaceAllString(screen, ""), "\n") {
		n := 0
		for _, r := range line {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%+q holds %+q", line, r)
			}
			switch kind := width.LookupRune(r).Kind(); {
			case unicode.In(r, unicode.Mn) || r == '\u200d':
			case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
				n += 2
			default:
				n++
			}
		}
		if n > columns {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
}

// TestPager tells which pager a terminal gets, and that none changes the exit status.
func TestPager(t *testing.T) {
	w := newTenants(t)
	w.must("git rekal init")
	w.works()
	w.must("git commit -qm 'Read expires_at as UTC'")
	w.write("bin/seen", "#!/bin/sh\necho \"pager $LESS\"; head -n 1 >/dev/null\n")
	w.write("bin/page", "#!/bin/sh\necho \"other pager\"; cat >/dev/null\n")
	w.must("chmod +x ../bin/seen ../bin/page")
	for _, tt := range []struct {
		name, line string
		env        []string
		status     int
		want       string // a part of it
	}{
		{
			"GIT_PAGER, with LESS as git sets it", `git-rekal log`,
			[]string{"GIT_PAGER=seen", "PAGER=page"},
			0,
			"^pager FRX\n$",
		},
		{"LESS of the user's", `git-rekal log`, []string{"GIT_PAGER=seen", "LESS=R"}, 0, "^pager R\n$"},
		{
			"core.pager before PAGER", `unset GIT_PAGER; git config core.pager "seen"; git-rekal log`,
			[]string{"PAGER=page"},
			0,
			"^pager FRX\n$",
		},
		{
			"pager.rekal before that", `unset GIT_PAGER; git config pager.rekal "page | cat"; git-rekal log`, nil, 0,
			"^other pager\n$",
		},
		{"the same, started by git", `unset GIT_PAGER; git rekal log`, nil, 0, "^other pager\n$"},
		{
			"none, as pager.rekal says", `unset GIT_PAGER; git config pager.rekal false; git-rekal log`, nil, 0,
			"^checkpoint [0-9a-f]{40}\n",
		},
		{
			"none, as git says", `unset GIT_PAGER; git config --unset pager.rekal; git --no-pager rekal log`, nil, 0,
			"^checkpoint [0-9a-f]{40}\n",
		},
		{
			"PAGER", `git config --unset core.pager; unset GIT_PAGER; git-rekal log`,
			[]string{"PAGER=page"},
			0,
			"^other pager\n$",
		},
		{
			"one that is not there", `git-rekal log`,
			[]string{"GIT_PAGER=nothing-of-that-name"},
			0,
			"^checkpoint [0-9a-f]{40}\n",
		},
		{
			"the status stays", `git config rekal.enabled maybe; git-rekal doctor`,
			[]string{"GIT_PAGER=seen"},
			1,
			"^pager FRX\ngit-rekal: something is wrong",
		},
		{
			"git -p gets text", `git config --unset rekal.enabled; git -p rekal log`,
			[]string{"GIT_PAGER=cat;true"},
			0,
			`(?m)^Date: .* ago\)$`,
		},
		{"an agent's terminal", `git-rekal JWT`, []string{"GIT_PAGER=seen", "CODEX_THREAD_ID=1"}, 0, `^\{"schema":1`},
		{"text, said outright", `git-rekal --text export | cat`, []string{"GIT_PAGER=seen"}, 0, `^1\. Stream the CSV`},
		{"JSON, said outright", `git-rekal --json JWT`, []string{"GIT_PAGER=seen"}, 0, `^\{"schema":1`},
		{"JSON in a pipe", `git-rekal JWT | cat`, []string{"GIT_PAGER=seen"}, 0, `^\{"schema":1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			got, status := w.onTerminal(tt.line, 80, 24, append([]string{"NO_COLOR=1"}, tt.env...)...)
			if status != tt.status || !regexp.MustCompile(tt.want).MatchString(got) {
				t.Errorf("status %d:\n%s", status, got)
			}
		})
	}
}
