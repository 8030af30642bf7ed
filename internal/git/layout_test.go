package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestLongLayout(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
		dir  string
		env  []string // $ROOT stands for the place
		want git.Layout
	}{
		{
			name: "main worktree",
			make: func(p *repos.Place) { p.Start("r") },
			dir:  "r",
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "subdirectory",
			make: func(p *repos.Place) { p.Start("r"); p.Write("r/a/b/c", "") },
			dir:  "r/a/b",
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "before the first commit",
			make: func(p *repos.Place) { p.Git(".", "init", "-q", "r") },
			dir:  "r",
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "through a symbolic link",
			make: func(p *repos.Place) { p.Start("r"); _ = os.Symlink("r", p.At("s")) },
			dir:  "s",
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "linked worktree",
			make: func(p *repos.Place) { p.Start("r"); p.Git("r", "worktree", "add", "-q", "../w") },
			dir:  "w",
			want: git.Layout{WorkTree: "w", MainTree: "r", GitDir: "r/.git/worktrees/w", CommonDir: "r/.git"},
		},
		{
			name: "bare",
			make: func(p *repos.Place) { p.Start("r"); p.Git(".", "clone", "-q", "--bare", "r", "b.git") },
			dir:  "b.git",
			want: git.Layout{GitDir: "b.git", CommonDir: "b.git"},
		},
		{
			name: "worktree of a bare repository",
			make: func(p *repos.Place) {
				p.Start("r")
				p.Git(".", "clone", "-q", "--bare", "r", "all/.bare")
				p.Git("all/.bare", "worktree", "add", "-q", "../w", "main")
			},
			dir:  "all/w",
			want: git.Layout{WorkTree: "all/w", GitDir: "all/.bare/worktrees/w", CommonDir: "all/.bare"},
		},
		{
			name: "separate git directory",
			make: func(p *repos.Place) { p.Start("r", "--separate-git-dir=store") },
			dir:  "r",
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "store", CommonDir: "store"},
		},
		{
			name: "submodule",
			make: func(p *repos.Place) {
				p.Start("lib")
				p.Start("r")
				p.Git("r", "submodule", "--quiet", "add", p.At("lib"), "sub")
			},
			dir: "r/sub",
			want: git.Layout{
				WorkTree: "r/sub", MainTree: "r/sub", GitDir: "r/.git/modules/sub",
				CommonDir: "r/.git/modules/sub",
			},
		},
		{
			name: "GIT_DIR, as hooks have it",
			make: func(p *repos.Place) { p.Start("r") },
			dir:  "r", env: []string{"GIT_DIR=.git"},
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "GIT_DIR, as hooks of a linked worktree have it",
			make: func(p *repos.Place) { p.Start("r"); p.Git("r", "worktree", "add", "-q", "../w") },
			dir:  "w", env: []string{"GIT_DIR=$ROOT/r/.git/worktrees/w"},
			want: git.Layout{WorkTree: "w", MainTree: "r", GitDir: "r/.git/worktrees/w", CommonDir: "r/.git"},
		},
		{
			name: "GIT_DIR of another repository",
			make: func(p *repos.Place) { p.Start("r"); p.Start("other") },
			dir:  "other", env: []string{"GIT_DIR=$ROOT/r/.git"},
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "GIT_DIR and GIT_WORK_TREE of a repository for dot files",
			make: func(p *repos.Place) { p.Start("r"); p.Git(".", "clone", "-q", "--bare", "r", "dots") },
			dir:  "home", env: []string{"GIT_DIR=$ROOT/dots", "GIT_WORK_TREE=."},
			want: git.Layout{WorkTree: "home", MainTree: "home", GitDir: "dots", CommonDir: "dots"},
		},
		{
			name: "GIT_WORK_TREE alone",
			make: func(p *repos.Place) { p.Start("r"); p.Write("tree/x", "") },
			dir:  "r", env: []string{"GIT_WORK_TREE=../tree"},
			want: git.Layout{WorkTree: "tree", MainTree: "tree", GitDir: "r/.git", CommonDir: "r/.git"},
		},
		{
			name: "no GIT_DIR, as an empty one counts",
			make: func(p *repos.Place) { p.Start("r") },
			dir:  "r", env: []string{"GIT_DIR="},
			want: git.Layout{WorkTree: "r", MainTree: "r", GitDir: "r/.git", CommonDir: "r/.git"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			tt.make(p)
			for _, kv := range tt.env {
				p.Env = append(p.Env, strings.ReplaceAll(kv, "$ROOT", p.Root))
			}
			want := tt.want
			for _, path := range []*string{&want.WorkTree, &want.MainTree, &want.GitDir, &want.CommonDir} {
				if *path != "" {
					*path = p.At(*path)
				}
			}
			harness.Equal(t, "layout", want, p.Open(tt.dir).Layout())
		})
	}
}

func TestOpenFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, p *repos.Place)
		env  string
		want error
	}{
		{"no repository", func(_ *testing.T, p *repos.Place) { p.Write("r/x", "") }, "", git.ErrNotRepository},
		{"GIT_DIR to nowhere", func(_ *testing.T, p *repos.Place) { p.Start("r") }, "GIT_DIR=/nowhere", git.ErrNotRepository},
		{"objects of the future", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.objectFormat", "sha3")
		}, "", git.ErrUnsupported},
		{"refs of the future", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.refStorage", "holographic")
		}, "", git.ErrUnsupported},
		{"an extension of the future", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.holographic", "true")
		}, "", git.ErrUnsupported},
		{"what a SHA-1 repository with SHA-256 names has", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.compatObjectFormat", "sha256")
		}, "", git.ErrUnsupported},
		{"an extension in a repository of the first format", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "0")
			p.Git("r", "config", "extensions.objectFormat", "sha256")
		}, "", git.ErrUnsupported},
		{"a format of the future", func(_ *testing.T, p *repos.Place) {
			p.Start("r")
			p.Write("r/.git/config", "[core]\n\trepositoryFormatVersion = 9\n")
		}, "", git.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			tt.make(t, p)
			r, err := git.Open(t.Context(), p.At("r"), append(p.Environ(), tt.env))
			if r != nil || !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "git: open ") {
				t.Errorf("Open: %v, want %v", err, tt.want)
			}
		})
	}
}

// TestExtensions: what git itself writes into a repository's configuration, and what
// libgit2 1.5 refuses unless it is told.
func TestExtensions(t *testing.T) {
	for _, tt := range []struct {
		name, key string
		make      func(p *repos.Place)
	}{
		{"sparse-checkout", "extensions.worktreeconfig", func(p *repos.Place) {
			p.Start("r")
			p.Git("r", "sparse-checkout", "set", "--cone", "a")
		}},
		{"sparse-checkout with SHA-256", "extensions.worktreeconfig", func(p *repos.Place) {
			p.Start("r", "--object-format=sha256")
			p.Git("r", "sparse-checkout", "set", "--cone", "a")
		}},
		{"partial clone", "extensions.partialclone", func(p *repos.Place) {
			p.Start("origin")
			p.Git("origin", "config", "uploadpack.allowFilter", "true")
			p.Git(".", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+p.At("origin"), "r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.partialClone", "origin") // as git before 2.24 wrote it
		}},
		{"partial clone with SHA-256", "extensions.objectformat", func(p *repos.Place) {
			p.Start("origin", "--object-format=sha256")
			p.Git("origin", "config", "uploadpack.allowFilter", "true")
			p.Git(".", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+p.At("origin"), "r")
		}},
		{"precious objects", "extensions.preciousobjects", func(p *repos.Place) {
			p.Start("r")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions.preciousObjects", "true")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			tt.make(p)
			if p.Git("r", "config", "--get", tt.key) == "" {
				t.Fatalf("%s is not set", tt.key)
			}
			r := p.Open("r")
			head := repos.Must(r.Head())(t)
			harness.Equal(t, "HEAD", git.Head{OID: p.Rev("r", "HEAD"), Branch: "main"}, head)
			id := draft(t, r, "written", head.OID)
			if err := r.CompareAndSwap(t.Context(), "refs/heads/new", "", id, "test"); err != nil {
				t.Error(err)
			}
			harness.Equal(t, "what git reads", id, p.Rev("r", "new"))
		})
	}
}

// What later gits write and this one may not know: the repository is made by git, and marked
// by hand.
func TestExtensionsOfLaterGits(t *testing.T) {
	for key, value := range map[string]string{
		"noop-v1": "true", "relativeWorktrees": "true", "submodulePathConfig": "true", "objectFormat": "sha1",
		"refStorage": "files",
	} {
		t.Run(key, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Git("r", "worktree", "add", "-q", "../w")
			head := p.Rev("w", "HEAD")
			p.Write("w/.git", "gitdir: ../r/.git/worktrees/w\n")
			p.Write("r/.git/worktrees/w/gitdir", "../../../../w/.git\n")
			p.Git("r", "config", "core.repositoryFormatVersion", "1")
			p.Git("r", "config", "extensions."+key, value)
			r := p.Open("w")
			harness.Equal(t, "HEAD", git.Head{OID: head, Branch: "w"}, repos.Must(r.Head())(t))
			harness.Equal(t, "worktrees", []string{p.At("r"), p.At("w")}, r.Worktrees())
			id := draft(t, r, "written", head)
			if _, old := p.Try("w", "rev-parse", "HEAD"); old != nil {
				return // git moves refs, and this one does not know the extension
			}
			if err := r.CompareAndSwap(background, "refs/heads/new", "", id, "test"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A bare repository is git's to judge where the user is careful with these: it must be named.
func TestBareRepository(t *testing.T) {
	p := repos.New(t)
	p.Git(".", "init", "-q", "--bare", "b.git")
	p.Git(".", "config", "--global", "safe.bareRepository", "explicit")
	_, err := git.Open(t.Context(), p.At("b.git"), p.Environ())
	if err == nil || !strings.Contains(err.Error(), "safe.bareRepository") {
		t.Errorf("found: %v", err)
	}
	r, err := git.Open(t.Context(), p.At("."), append(p.Environ(), "GIT_DIR="+p.At("b.git")))
	if err != nil {
		t.Fatalf("named: %v", err)
	}
	r.Close()
}

// A bare repository that a clone carries as files is found bare, whatever its configuration says of a worktree; one
// with a .git is not.
func TestFoundBare(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "worktree", "add", "-q", "../linked")
	p.Git(".", "init", "-q", "--bare", "r/vendor/kit")
	p.Git("r/vendor/kit", "config", "core.bare", "false")
	p.Git("r/vendor/kit", "config", "core.worktree", ".")
	p.Git(".", "init", "-q", "--bare", "b.git")
	p.Git("b.git", "config", "--unset", "core.bare")
	for dir, want := range map[string]bool{
		"r": false, "linked": false, "r/.git": false, "r/vendor": false,
		"r/vendor/kit": true, "r/vendor/kit/refs": true, "b.git": true,
	} {
		r, err := git.Open(t.Context(), p.At(dir), p.Environ())
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		harness.Equal(t, dir, want, r.IsFoundBare())
		r.Close()
	}
	p.Git(".", "config", "--global", "safe.bareRepository", "explicit")
	if _, err := git.Open(t.Context(), p.At("r/vendor/kit"), p.Environ()); err == nil ||
		!strings.Contains(err.Error(), "safe.bareRepository") {
		t.Errorf("against safe.bareRepository: %v", err)
	}
}

// Of a repository that nobody set up, no program starts that its own configuration names: a signature is looked at by
// the user's.
func TestUntrustedPrograms(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	id := p.Git("r", "rev-parse", "HEAD")
	raw := p.Git("r", "cat-file", "commit", "HEAD")
	headers, rest, _ := strings.Cut(raw, "\n\n")
	p.Write("signed", headers+"\ngpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n\n"+rest+"\n")
	signed := p.Git("r", "hash-object", "-t", "commit", "-w", "--literally", p.At("signed"))
	for _, name := range []string{"theirs", "mine"} {
		p.Write(name, "#!/bin/sh\n: >"+p.At(name+".ran")+"\n")
		if err := os.Chmod(p.At(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.Write("r/.git/hooks/reference-transaction", "#!/bin/sh\nexec "+p.At("theirs")+"\n")
	for _, key := range []string{"gpg.ssh.program", "gpg.program", "core.fsmonitor"} {
		p.Git("r", "config", key, p.At("theirs"))
	}
	p.Git("r", "config", "gpg.ssh.allowedSignersFile", p.At("signed"))
	if err := os.Chmod(p.At("r/.git/hooks/reference-transaction"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Git(".", "config", "--global", "gpg.ssh.program", p.At("mine"))
	ask := func(trusted bool) (ran []string) {
		r, err := git.Open(t.Context(), p.At("r"), p.Environ())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.TrustIf(func() bool { return trusted })
		_, err = r.Verdicts(t.Context(), []git.OID{git.OID(signed)}, false)
		if _, err2 := r.Run(t.Context(), "status"); errors.Join(err, err2) != nil {
			t.Fatal(err, err2)
		}
		if _, err := r.Run(t.Context(), "update-ref", "refs/heads/x", id); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"theirs", "mine"} {
			if os.Remove(p.At(name+".ran")) == nil {
				ran = append(ran, name)
			}
		}
		return ran
	}
	harness.Equal(t, "not trusted", []string{"mine"}, ask(false))
	harness.Equal(t, "trusted", []string{"theirs"}, ask(true))
}

// A repository of another user is git's to judge.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const other = 12345
	for _, tt := range []struct {
		name  string
		safe  string // safe.directory
		env   string
		trust bool
	}{
		{"not trusted", "", "", false},
		{"another one is trusted", "/elsewhere", "", false},
		{"trusted", "$R", "", true},
		{"all are trusted", "*", "", true},
		{"named by GIT_DIR, which git does not doubt", "", "GIT_DIR=.git", true},
		{"under sudo", "", "SUDO_UID=12345", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			if tt.safe != "" {
				p.Git(".", "config", "--global", "safe.directory", strings.ReplaceAll(tt.safe, "$R", p.At("r")))
			}
			err := filepath.WalkDir(p.At("r"), func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, other, other))
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := git.Open(t.Context(), p.At("r"), append(p.Environ(), tt.env))
			if err == nil {
				r.Close()
			}
			var refused *git.OwnerError
			switch {
			case tt.trust && err != nil:
				t.Errorf("Open: %v", err)
			case !tt.trust && !errors.As(err, &refused):
				t.Errorf("Open: %v, want an OwnerError", err)
			case !tt.trust:
				harness.Equal(t, "advice", "git config --global --add safe.directory "+p.At("r"), refused.Advice)
			}
		})
	}
}

func TestLibraryVersion(t *testing.T) {
	if v := git.LibraryVersion(); !strings.HasPrefix(v, "1.5.") {
		t.Errorf("libgit2 %q; it was built for 1.5", v)
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func(p *repos.Place)
		branch string
		none   bool
	}{
		{"on a branch", func(*repos.Place) {}, "main", false},
		{"on a branch with slashes", func(p *repos.Place) { p.Git("r", "checkout", "-q", "-b", "a/b/c") }, "a/b/c", false},
		{"detached", func(p *repos.Place) { p.Git("r", "checkout", "-q", "--detach") }, "HEAD", false},
		{"on an orphan branch", func(p *repos.Place) { p.Git("r", "checkout", "-q", "--orphan", "new") }, "new", true},
		{"packed", func(p *repos.Place) { p.Git("r", "pack-refs", "--all") }, "main", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			tt.make(p)
			want := git.Head{Branch: tt.branch}
			if !tt.none {
				want.OID = p.Rev("r", "HEAD")
			}
			harness.Equal(t, "HEAD", want, repos.Must(p.Open("r").Head())(t))
		})
	}
	t.Run("of a linked worktree", func(t *testing.T) {
		p := repos.New(t)
		p.Start("r")
		p.Git("r", "worktree", "add", "-q", "-b", "side", "../w")
		id := p.Add("w", "two", "file", "2\n")
		harness.Equal(t, "HEAD there", git.Head{OID: id, Branch: "side"}, repos.Must(p.Open("w").Head())(t))
		harness.Equal(t, "HEAD here", git.Head{OID: p.Rev("r", "main"), Branch: "main"}, repos.Must(p.Open("r").Head())(t))
	})
}

func TestInside(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "one", "a/b/f", "1\n")
	repos.Must(0, os.Symlink(p.At("r"), p.At("link")))(t)
	for _, tt := range []struct {
		dir, name, want string
		ok              bool
	}{
		{"r", "a/b/f", "a/b/f", true},
		{"r/a", "b/f", "a/b/f", true},
		{"r/a/b", "../../file", "file", true},
		{"r/a", "./b//f", "a/b/f", true},
		{"link/a", "b/f", "a/b/f", true},
		{"r", "../out", "", false},
		{"r", ".", "", false},
		{"r/a", p.At("r/file"), "file", true},
		{"r/a", "/etc/passwd", "", false},
		{"r", ".git/config", "", false},
		{"r", "..odd", "..odd", true},
	} {
		got, ok := p.Open(tt.dir).PathInside(tt.name)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s in %s: %q, %v, want %q", tt.name, tt.dir, got, ok, tt.want)
		}
	}
}
