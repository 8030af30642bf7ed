// Package tests tries git-rekal as its users meet it: the real binary, real git, the real
// hooks, one folder a case.
//
// A script is testdata/script/<command>_<case>.txtar (testscript's format), or lies in long/ there, with its
// fixtures inline; commands_test.go says what a script may call beside testscript's own
// commands. Each starts in an empty folder $WORK with a home of its own ($HOME), git
// settings of its own, UTC, and none of the environment that the tests run in but PATH: also
// under CI no CI variable is set, unless the script sets it.
package tests

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestScripts runs what lies in testdata/script, and TestLongScripts what takes long and lies in long/ there.
func TestScripts(t *testing.T) {
	runScripts(t, func(path string) bool { return !isLong(path) })
}

func TestLongScripts(t *testing.T) { runScripts(t, isLong) }

// asksGit are the scripts that ask git for what it stores: odd clones and worktrees, rewritten history, remotes, blame.
var asksGit = regexp.MustCompile(`^(commit_(am|bare|detached|linked|merge|nested|odd|root|sequences|sub)|sync_(in|rewritten|team)|scrub_|recall_(as_of|freshness|rebase|squash)|` +
	`show_commit|why_|log_|hook_|hostile_cut|init_(fresh|import|no)|doctor\.|push_by)`)

// TestLongSHA256Scripts runs these in repositories with SHA-256, and TestNightSHA256Scripts all.
func TestLongSHA256Scripts(t *testing.T) {
	runScripts(t, func(path string) bool { return asksGit.MatchString(filepath.Base(path)) }, "GIT_DEFAULT_HASH=sha256")
}

func TestNightSHA256Scripts(t *testing.T) {
	runScripts(t, func(string) bool { return true }, "GIT_DEFAULT_HASH=sha256")
}

func isLong(path string) bool { return filepath.Base(filepath.Dir(path)) == "long" }

// runScripts runs those of all scripts that are chosen, with more in their environment; none lies where nobody looks.
func runScripts(t *testing.T, chosen func(path string) bool, env ...string) {
	t.Helper()
	var scripts []string
	err := filepath.WalkDir("testdata", func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".txtar" && chosen(path) {
			scripts = append(scripts, path)
		}
		return err
	})
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts found (%v)", err)
	}
	bin := harness.Binary(t)
	testscript.RunT(brief{t}, testscript.Params{
		Files: scripts,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			return setUp(e, bin)
		},
		Cmds:               commands(),
		Condition:          condition,
		RequireUniqueNames: true,
	})
}

// brief has a script that fails print the section that failed: all of it is longer than what CI keeps.
type brief struct{ *testing.T }

func (b brief) Run(name string, f func(testscript.T)) {
	b.T.Run(name, func(t *testing.T) { f(brief{t}) })
}

func (b brief) Verbose() bool { return false }

// identity is what `git config` says in every script, before the script changes it.
const identity = `[user]
	name = Alice Example
	email = alice@example.com
[init]
	defaultBranch = main
[core]
	quotePath = false
[advice]
	detachedHead = false
[protocol "file"]
	allow = always
`

func setUp(e *testscript.Env, bin string) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	recipe, err := filepath.Abs(filepath.Join("..", "docs", "ci", "pull-request.sh"))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{
		"RECIPE":              recipe,
		"HOME":                home,
		"PATH":                bin + string(os.PathListSeparator) + e.Getenv("PATH"),
		"BIN":                 bin, // where git-rekal lies
		"GIT_CONFIG_NOSYSTEM": "1",
		"REKAL_EMBED":         "off", // whatever listens on this machine
		"GIT_TERMINAL_PROMPT": "0",
		"TZ":                  "UTC",
		"LC_ALL":              "C.UTF-8",
		"NOW":                 time.Now().UTC().Format(time.RFC3339),
		"KEY":                 key(),
		"ZEROS":               hex.EncodeToString(make([]byte, 20)),
	} {
		e.Setenv(k, v)
	}
	e.Values[embedderKey{}] = &embedder{}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(identity), 0o600)
}

// condition decides [root], [confighooks]: whether git runs hooks that its configuration names, and [freezes]: whether
// freeze can make files read-only here.
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
	case "confighooks":
		return git.SupportsConfiguredHooks(context.Background(), os.Environ()), nil
	case "freezes":
		return freezes()
	}
	return false, fmt.Errorf("no condition %q", name)
}

func freezes() (bool, error) {
	dir, err := os.MkdirTemp("", "rekal-freeze")
	if err != nil {
		return false, err
	}
	err = errors.Join(freeze(dir, true), freeze(dir, false))
	return err == nil, os.RemoveAll(dir)
}

// key looks like a GitHub token, and is none. It is put together here so that no file of
// this repository holds anything that looks like one.
func key() string { return "ghp" + "_" + "R7kQ2mZx9LtV4cWn8YbH3sDf6GjP1aEu5oXi" }
