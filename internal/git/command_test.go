package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestIdentity: what git would commit with, wherever that is said.
func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
		want git.Signature
	}{
		{"the user's configuration", func(*repos.Place) {}, git.Signature{Name: "A U Thor", Email: "a@example.com"}},
		{
			"the repository's", func(p *repos.Place) { p.Git("r", "config", "user.email", "here@example.com") },
			git.Signature{Name: "A U Thor", Email: "here@example.com"},
		},
		{"the environment", func(p *repos.Place) {
			p.Env = []string{
				"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=c@example.com",
				"GIT_AUTHOR_EMAIL=other@example.com",
			}
		}, git.Signature{Name: "C O Mitter", Email: "c@example.com"}},
		{"git -c", func(p *repos.Place) {
			p.Env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.email", "GIT_CONFIG_VALUE_0=count@example.com"}
		}, git.Signature{Name: "A U Thor", Email: "count@example.com"}},
		{"git -c, as git hands it to hooks", func(p *repos.Place) {
			p.Env = []string{"GIT_CONFIG_PARAMETERS='user.email'='param@example.com'"}
		}, git.Signature{Name: "A U Thor", Email: "param@example.com"}},
		{"another global file", func(p *repos.Place) {
			p.Write("global", "[user]\nname = G\nemail = g@example.com\n")
			p.Env = []string{"GIT_CONFIG_GLOBAL=" + p.At("global")}
		}, git.Signature{Name: "G", Email: "g@example.com"}},
		{"an include by folder", func(p *repos.Place) {
			p.Write("home/work", "[user]\nemail = work@example.com\n")
			p.Git("r", "config", "--global", "includeIf.gitdir:"+p.At("r")+"/.path", "work")
		}, git.Signature{Name: "A U Thor", Email: "work@example.com"}},
		{"an include by remote", func(p *repos.Place) {
			p.Write("home/work", "[user]\nemail = remote@example.com\n")
			p.Git("r", "remote", "add", "origin", "https://example.com/x")
			p.Git("r", "config", "--global", "includeIf.hasconfig:remote.*.url:https://example.com/**.path", "work")
		}, git.Signature{Name: "A U Thor", Email: "remote@example.com"}},
		{
			"a name with brackets' neighbours", func(p *repos.Place) { p.Git("r", "config", "user.name", "O'Neil, \"X\" Ü") },
			git.Signature{Name: "O'Neil, \"X\" Ü", Email: "a@example.com"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			tt.make(p)
			p.Env = append(p.Env, "GIT_COMMITTER_DATE=1800000000 -0330")
			got := repos.Must(p.Open("r").Identity(background))(t)
			if !got.When.Equal(time.Unix(1_800_000_000, 0)) || got.When.Format("-0700") != "-0330" {
				t.Errorf("time %v, want that of GIT_COMMITTER_DATE", got.When)
			}
			got.When = time.Time{}
			harness.Equal(t, "identity", tt.want, got)
		})
	}
}

func TestNoIdentity(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Write("home/.gitconfig", "[user]\nuseConfigOnly = true\n")
	got, err := p.Open("r").Identity(background)
	if !errors.Is(err, git.ErrNoIdentity) || got != (git.Signature{}) {
		t.Errorf("%+v, %v; want ErrNoIdentity", got, err)
	}
}

func TestConfig(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "config", "rekal.actor", "human")
	p.Git("r", "config", "--add", "rekal.actor", "agent")
	p.Git("r", "config", "X.Middle PART.Key", "a\nb=c\n\nd")
	p.Git("r", "config", "x.empty", "")
	p.Write("r/.git/config", p.Git("r", "config", "--list",
		"--local")[:0]+string(repos.Must(os.ReadFile(p.At("r/.git/config")))(t))+"[x]\n\tbare\n")
	p.Env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x.count", "GIT_CONFIG_VALUE_0=1"}
	got := repos.Must(p.Open("r").Config(background))(t)
	for key, want := range map[string]string{
		"rekal.actor": "agent", "x.Middle PART.key": "a\nb=c\n\nd", "x.empty": "", "x.bare": "true", "x.count": "1",
		"user.email": "a@example.com", "core.bare": "false",
	} {
		if v := got[key]; len(v) == 0 || v[len(v)-1] != want {
			t.Errorf("%s = %q; want %q", key, v, want)
		}
	}
}

func TestCommandsEndWithTheContext(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := p.Open("r").Config(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestStopped: a git that is stopped because time is up has refused nothing.
func TestStopped(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	if err := syscall.Mkfifo(p.At("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Git("r", "config", "include.path", p.At("pipe"))
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer stop()
		f, err := os.OpenFile(p.At("pipe"), os.O_WRONLY, 0) // waits until git reads it
		if err != nil {
			t.Error(err)
			return
		}
		stop()
		<-stopped
		_ = f.Close()
	}()
	_, err := r.Identity(ctx)
	close(stopped)
	if !errors.Is(err, context.Canceled) || errors.Is(err, git.ErrNoIdentity) {
		t.Errorf("error %v", err)
	}
}

func TestHooks(t *testing.T) {
	for _, tt := range []struct {
		name      string
		make      func(p *repos.Place)
		dir, want string
		scope     string
	}{
		{"plain", func(*repos.Place) {}, "r", "r/.git/hooks", ""},
		{"a subdirectory", func(p *repos.Place) { p.Write("r/sub/x", "") }, "r/sub", "r/.git/hooks", ""},
		{"a linked worktree", func(p *repos.Place) { p.Git("r", "worktree", "add", "-q", "../w") }, "w", "r/.git/hooks", ""},
		{
			"core.hooksPath", func(p *repos.Place) { p.Git("r", "config", "core.hooksPath", ".husky") }, "r", "r/.husky",
			"local",
		},
		{
			"core.hooksPath for all", func(p *repos.Place) { p.Git("r", "config", "--global", "core.hooksPath", p.At("hooks")) },
			"r", "hooks", "global",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			tt.make(p)
			for _, off := range [][]string{nil, geminiGit()} {
				p.Env = off
				got, err := p.Open(tt.dir).Hooks(background)
				if want := (git.Hooks{Dir: p.At(tt.want), Scope: tt.scope, Off: off != nil}); err != nil || got != want {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
			}
		})
	}
}

func TestWorktrees(t *testing.T) {
	const r = "r [x]" // no pattern
	p := repos.New(t)
	p.Start(r)
	p.Git(r, "worktree", "add", "-q", "../w")
	p.Git(r, "worktree", "add", "-q", "../gone")
	p.Git(r, "worktree", "add", "-q", "inside/r")
	p.Git(".", "clone", "-q", "--bare", r, "b/.bare")
	p.Git("b/.bare", "worktree", "add", "-q", "../w", "main")
	if err := os.RemoveAll(p.At("gone")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		// One that was removed by hand is still one: sessions were held there.
		r: {r, "gone", r + "/inside/r", "w"}, "w": {r, "gone", r + "/inside/r", "w"}, "b/w": {"b/w"}, "b/.bare": {"b/w"},
	} {
		got := p.Open(dir).Worktrees()
		for i := range want {
			want[i] = p.At(want[i])
		}
		slices.Sort(want)
		slices.Sort(got)
		harness.Equal(t, "from "+dir, want, got)
	}
	// git 2.48 can write the path relative to the file.
	p.Write(r+"/.git/worktrees/w/gitdir", "../../../../w/.git\n")
	if got := p.Open(r).Worktrees(); !slices.Contains(got, p.At("w")) {
		t.Errorf("with a relative path: %q", got)
	}
}

// TestConfigureAtOnce lets many write the configuration at the same moment, beside git itself,
// which gives up at the first lock in its way.
func TestConfigureAtOnce(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 3 {
				_, unset := r.UnsetConfig(background, "rekal.url")
				if err := errors.Join(r.SetConfig(background, "rekal.remote", fmt.Sprint(i)), unset,
					r.SetConfig(background, "rekal.url", "here")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got := repos.Must(r.Config(background))(t)
	if len(got["rekal.remote"]) != 1 || !slices.Equal(got["rekal.url"], []string{"here"}) {
		t.Errorf("%q, %q", got["rekal.remote"], got["rekal.url"])
	}
}

func TestConfigLeftLocked(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Write("r/.git/config.lock", "")
	err := p.Open("r").SetConfig(background, "rekal.remote", "origin")
	if err == nil || !strings.Contains(err.Error(), "remove "+p.At("r/.git/config.lock")) {
		t.Errorf("error %v; want it to say what to remove", err)
	}
}

// geminiGit is what Gemini CLI (0.61, shellExecutionService.ts) adds to the environment of the commands that it runs:
// git reads the repository's configuration only, and runs no hooks.
func geminiGit() []string {
	out := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GEMINI_CLI=1"}
	set := []string{
		"credential.helper=", "core.fsmonitor=", "core.hooksPath=", "core.sshCommand=", "core.pager=cat", "core.editor=",
		"sequence.editor=", "diff.external=",
	}
	for i, s := range set {
		key, value, _ := strings.Cut(s, "=")
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(set)))
}
