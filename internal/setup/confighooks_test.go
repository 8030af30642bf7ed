package setup_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/hooks"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Where git has configured hooks, ours go into the repository's configuration, and come out byte for byte.
func TestConfiguredHooks(t *testing.T) {
	for name, c := range map[string]struct {
		config func(string) string // made of git's own
		edit   string              // an option that is set meanwhile; git then writes it anew
	}{
		"as git makes it":      {},
		"without last newline": {config: func(s string) string { return strings.TrimSuffix(s, "\n") }},
		"with CRLF":            {config: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		"with a mark":          {config: func(s string) string { return "\ufeff" + s }},
		"with comments":        {config: func(s string) string { return "# mine\n" + s + "; and mine\n" }},
		"with hooks of a user": {config: func(s string) string {
			return s +
				"[hook \"lint\"]\n\tevent = pre-commit\n\tcommand = true\n"
		}},
		"with ours switched off": {edit: "hook.git-rekal-pre-push.enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, `it's "my" work`)
			config := r.at(".git/config")
			if c.config != nil {
				r.write(config, c.config(r.read(config)), 0o640)
			}
			before := r.snapshot()
			l := r.layout()
			l.Binary = filepath.Join(r.Root, `a "b" it's \c`, "git-rekal")
			runs := false
			l.Runs = func(event string) bool {
				_, status := r.exec(r.tree, "", "git", "config", "hook."+setup.ConfigName(event)+".command")
				return status == 0 && runs
			}
			install(t, l)
			for _, event := range hooks.Names() {
				harness.Equal(t, "event", event, r.git("config", "hook."+setup.ConfigName(event)+".event"))
				command := r.git("config", "hook."+setup.ConfigName(event)+".command")
				if out, status := r.exec(r.tree, "", "sh", "-c", command); status != 0 || out != "" {
					t.Errorf("without a binary: status %d: %s", status, out)
				}
			}
			first := r.snapshot()
			harness.Equal(t, "Done by the second Install", []string(nil), install(t, l).Done)
			harness.Equal(t, "tree after the second Install", first, r.snapshot())
			if c.edit != "" {
				r.git("config", c.edit, "false")
				harness.Equal(t, "mended", 1, len(install(t, l).Done))
				harness.Equal(t, "tree when mended", first, r.snapshot())
			}
			for n, at := range map[int]bool{len(hooks.Names()): false, 0: true} {
				runs = at
				if problems, err := setup.Inspect(l, true); err != nil || len(problems) != n {
					t.Errorf("git runs them: %v; %v, %v", at, problems, err)
				}
			}
			remove(t, l)
			harness.Equal(t, "tree after Remove", before, r.snapshot())
		})
	}
}

// While git has its lock, nothing is changed and all is said; nobody's lock is taken away.
func TestConfigurationThatGitLocks(t *testing.T) {
	r := newRepo(t, "work")
	l := r.layout()
	l.Runs = func(string) bool { return false }
	r.write(r.at(".git/config.lock"), "", 0o644)
	before := r.read(r.at(".git/config"))
	if _, err := setup.Install(l); err == nil || !strings.Contains(err.Error(), "config.lock") {
		t.Errorf("%v", err)
	}
	harness.Equal(t, "configuration", before, r.read(r.at(".git/config")))
	harness.Equal(t, "lock", "", r.read(r.at(".git/config.lock")))
}

// A configuration that another program wrote anew, without comments, still loses ours alone.
func TestCutConfigBlock(t *testing.T) {
	ours := setup.ConfigHooks("/bin/git-rekal", "", "")
	for _, text := range []string{"", "[core]\n\tbare = false\n", "[hook \"mine\"]\n\tevent = pre-push\n"} {
		for _, with := range []string{
			ours + text, text + ours,
			setup.WithConfigBlock(text, setup.ConfigBlock(ours, "git rekal clean")),
		} {
			harness.Equal(t, "without ours", text, setup.CutConfigBlock(with))
		}
	}
}
