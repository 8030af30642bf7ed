package git_test

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	git2 "github.com/libgit2/git2go/v34"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestPlainConfig: what is read without git is what git says, and what would not be is left to git.
func TestPlainConfig(t *testing.T) {
	const several = "[rekal]\n\tignore = a/*\n\tIgnore = \"b # c\" ; of others\n[url \"https://X.example/\"]\n\tinsteadOf = gh:\n[core]\n\tpager = less \\\n -R\n"
	for _, tt := range []struct {
		name, global, local, env string
		plain                    bool
	}{
		{"nothing of the user's", "", "", "", true},
		{"several values, in both files", several, several, "", true},
		{"an include", "[include]\n\tpath = more\n[rekal]\n\tremote = last\n", "", "", true},
		{"an include by folder", "[includeIf \"gitdir:**\"]\n\tpath = more\n", "", "", false},
		{"an include by remote", "", "[includeIf \"hasconfig:remote.*.url:https://x/**\"]\n\tpath = more\n", "", false},
		{"a key without a value", "[rekal]\n\tenabled\n", "", "", false},
		{"an empty value", "[core]\n\teditor =\n", "", "", false},
		{"an empty credential helper", "[credential \"https://x.example\"]\n\thelper =\n\thelper = !x\n[credential]\n\thelper =\n", "", "", true},
		{"nothing of the system's", several, "", "GIT_CONFIG_NOSYSTEM=1", true},
		{"perhaps nothing of the system's", several, "", "GIT_CONFIG_NOSYSTEM=maybe", false},
		{"settings of a worktree", "", "[extensions]\n\tworktreeConfig = true\n", "", false},
		{"git -c", "", "", "GIT_CONFIG_PARAMETERS='rekal.enabled'='false'", false},
		{"another global file", "", "", "GIT_CONFIG_GLOBAL=/dev/null", false},
		{"a hook", "", "", "PATH=/usr/lib/git-core:/usr/local/bin:/usr/bin", true},
		{"another git", "", "", "PATH=" + t.TempDir() + ":/usr/local/sbin", false},
		{"another home", "", "", "HOME=/nowhere", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Write("home/more", "[rekal]\n\tremote = included\n\texclude = x\n")
			p.Write("home/.gitconfig", "[user]\n\tname = A U Thor\n\temail = a@example.com\n"+tt.global)
			p.Write("r/.git/config", string(repos.Must(os.ReadFile(p.At("r/.git/config")))(t))+tt.local)
			t.Setenv("HOME", p.At("home"))
			t.Setenv("XDG_CONFIG_HOME", "")
			before := repos.Must(git2.SearchPath(git2.ConfigLevelGlobal))(t)
			t.Cleanup(func() { _ = git2.SetSearchPath(git2.ConfigLevelGlobal, before) })
			if err := git2.SetSearchPath(git2.ConfigLevelGlobal, p.At("home")); err != nil {
				t.Fatal(err)
			}
			env := append(os.Environ(), "PATH=/usr/bin:/bin")
			if tt.env != "" {
				env = append(env, tt.env)
			}
			r := repos.Must(git.Open(t.Context(), p.At("r"), env))(t)
			defer r.Close()
			got, plain := r.PlainConfig()
			if plain != tt.plain {
				t.Fatalf("plain %v, want %v", plain, tt.plain)
			}
			if !plain {
				return
			}
			want := repos.Must(r.AskConfig())(t)
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("got %v\nwant %v", got, want)
			}
			who := repos.Must(r.Identity(background))(t)
			if who.Name != "A U Thor" || who.Email != "a@example.com" || time.Since(who.When).Abs() > time.Hour {
				t.Errorf("the committer is %+v", who)
			}
		})
	}
}
