package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/hooks"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/templates"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestInstallSays(t *testing.T) {
	r := newRepo(t, "work")
	r.write(r.at(".git/hooks/pre-push"), userHook, 0o755)
	want := setup.Report{Done: []string{
		"folder .git/rekal",
		"hooks post-commit, post-merge, post-applypatch, post-rewrite in .git/hooks",
		"hooks pre-push in .git/hooks; yours run first, from the same names with .pre-rekal",
		"skill .claude/skills/rekal/SKILL.md",
		"skill .agents/skills/rekal/SKILL.md",
	}}
	harness.Equal(t, "first report", want, install(t, r.layout()))
	harness.Equal(t, "second report", setup.Report{}, install(t, r.layout()))
	want = setup.Report{Done: []string{
		"hooks post-commit, post-merge, post-applypatch, post-rewrite, pre-push in .git/hooks",
		"skill .agents/skills/rekal/SKILL.md",
		"skill .claude/skills/rekal/SKILL.md",
		"folder .git/rekal",
	}}
	harness.Equal(t, "report of Remove", want, remove(t, r.layout()))
}

// What Install makes is invisible to git, and private.
func TestInstallLeavesNoTrace(t *testing.T) {
	r := newRepo(t, "work")
	l := r.layout()
	install(t, l)
	r.write(filepath.Join(l.RekalDir, "data.db"), "x", 0o600)
	harness.Equal(t, "git status", "", r.git("status", "--porcelain", "--untracked-files=all"))
	info, err := os.Stat(l.RekalDir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf(".git/rekal: %v, %v; want mode 0700", info.Mode(), err)
	}
	harness.Equal(t, "skill", templates.Skill(), r.read(r.at(".claude/skills/rekal/SKILL.md")))
}

// Each state is what is in the hooks folder; want is what Install makes of it. "ours" stands
// for our script of this release, "stale" for the one with another binary's path.
func TestLongInstallRepairsHooks(t *testing.T) {
	const entire = "#!/bin/sh\n# Entire CLI hooks\n\"$(dirname \"$0\")/post-commit.pre-entire\" \"$@\"\n"
	for name, c := range map[string]struct {
		state, want, cleaned map[string]string
		hint                 string
	}{
		"nothing": {
			want: files{"post-commit": "ours"},
		},
		"deleted by hand": {
			state:   files{"post-commit.pre-rekal": userHook},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": userHook},
			cleaned: files{"post-commit": userHook},
		},
		"binary moved": {
			state:   files{"post-commit": "stale", "post-commit.pre-rekal": userHook},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": userHook},
			cleaned: files{"post-commit": userHook},
		},
		"regenerated, the same": {
			state:   files{"post-commit": lfsHook, "post-commit.pre-rekal": lfsHook},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": lfsHook},
			cleaned: files{"post-commit": lfsHook},
		},
		"replaced by another": {
			state:   files{"post-commit": lfsHook, "post-commit.pre-rekal": userHook},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": lfsHook, "post-commit.pre-rekal.1": userHook},
			hint:    "the former one is kept as .git/hooks/post-commit.pre-rekal.1 and does not run",
			cleaned: files{"post-commit": lfsHook, "post-commit.pre-rekal.1": userHook},
		},
		"replaced twice": {
			state: files{"post-commit": lfsHook, "post-commit.pre-rekal": userHook, "post-commit.pre-rekal.1": "first"},
			want: files{
				"post-commit": "ours", "post-commit.pre-rekal": lfsHook,
				"post-commit.pre-rekal.1": "first", "post-commit.pre-rekal.2": userHook,
			},
			hint:    "post-commit.pre-rekal.2",
			cleaned: files{"post-commit": lfsHook, "post-commit.pre-rekal.1": "first", "post-commit.pre-rekal.2": userHook},
		},
		"chained to itself": {
			state: files{"post-commit": "ours", "post-commit.pre-rekal": "stale"},
			want:  files{"post-commit": "ours"},
		},
		"foreign over a copy of ours": {
			state:   files{"post-commit": userHook, "post-commit.pre-rekal": "ours"},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": userHook},
			cleaned: files{"post-commit": userHook},
		},
		"lefthook took it over, and does not run ours": {
			state:   files{"post-commit": "#!/bin/sh\ncall_lefthook run\n", "post-commit.old": "ours"},
			want:    files{"post-commit": "ours", "post-commit.pre-rekal": "#!/bin/sh\ncall_lefthook run\n"},
			cleaned: files{"post-commit": "#!/bin/sh\ncall_lefthook run\n"},
		},
		"pre-commit took it over, and runs ours": {
			state:   files{"post-commit": preCommitHook, "post-commit.legacy": "stale", "post-commit.pre-rekal": userHook},
			want:    files{"post-commit": preCommitHook, "post-commit.legacy": "ours", "post-commit.pre-rekal": userHook},
			cleaned: files{"post-commit": preCommitHook, "post-commit.legacy": userHook},
		},
		"pre-commit dropped ours": {
			state:   files{"post-commit": preCommitHook},
			want:    files{"post-commit": preCommitHook, "post-commit.legacy": "ours"},
			cleaned: files{"post-commit": preCommitHook},
		},
		"prek took it over": {
			state:   files{"post-commit": prekHook, "post-commit.legacy": "stale"},
			want:    files{"post-commit": prekHook, "post-commit.legacy": "ours"},
			cleaned: files{"post-commit": prekHook},
		},
		"pre-commit was uninstalled": {
			state: files{"post-commit": "ours", "post-commit.legacy": "stale"},
			want:  files{"post-commit": "ours"},
		},
		"Entire took it over, and runs ours": {
			state:   files{"post-commit": entire, "post-commit.pre-entire": "ours", "post-commit.pre-rekal": userHook},
			want:    files{"post-commit": entire, "post-commit.pre-entire": "ours", "post-commit.pre-rekal": userHook},
			cleaned: files{"post-commit": entire, "post-commit.pre-entire": userHook},
		},
		"the user calls us": {
			state:   files{"post-commit": userHook + "git rekal hook post-commit\n"},
			want:    files{"post-commit": userHook + "git rekal hook post-commit\n"},
			cleaned: files{"post-commit": userHook + "git rekal hook post-commit\n"},
		},
		"the user edited ours": {
			state:   files{"post-commit": "ours+"},
			want:    files{"post-commit": "ours+"},
			cleaned: files{"post-commit": "ours+"},
		},
		"it looks at its own name": {
			state:   files{"post-commit": "#!/usr/bin/env ruby\nhook = File.basename($0)\n"},
			want:    files{"post-commit": "#!/usr/bin/env ruby\nhook = File.basename($0)\n"},
			hint:    `command -v git-rekal >/dev/null && git-rekal hook post-commit "$@" || true`,
			cleaned: files{"post-commit": "#!/usr/bin/env ruby\nhook = File.basename($0)\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			expand := scripts(t, r, "post-commit")
			for file, text := range c.state {
				r.write(filepath.Join(l.HooksDir, file), expand(text), 0o755)
			}
			rep := install(t, l)
			harness.Equal(t, "hooks after Install", c.want, r.hooks("post-commit", expand))
			contains(t, rep.Hints, c.hint)
			again := install(t, l)
			harness.Equal(t, "Done by the second Install", []string(nil), again.Done)
			harness.Equal(t, "hooks after the second Install", c.want, r.hooks("post-commit", expand))
			remove(t, l)
			if c.cleaned == nil {
				c.cleaned = files{}
			}
			harness.Equal(t, "hooks after Remove", c.cleaned, r.hooks("post-commit", expand))
		})
	}
}

// lefthook puts our hooks aside when it installs itself; its configuration is where a call lasts.
func TestLefthook(t *testing.T) {
	const lefthook = "#!/bin/sh\ncall_lefthook run \"post-commit\" \"$@\"\n"
	r := newRepo(t, "work [x]")
	l := r.layout()
	r.write(r.at(".git/hooks/post-commit"), lefthook, 0o755)
	hints := install(t, l).Hints
	contains(t, hints, "lefthook takes git-rekal's hooks away")
	contains(t, hints, "post-commit:\n      commands:\n        rekal:\n          run: command -v git-rekal >/dev/null && git-rekal hook post-commit {0} || true\n          use_stdin: true\n    post-merge:")

	var config strings.Builder
	for _, hook := range hooks.Names() {
		config.WriteString(hook + ": {commands: {rekal: {run: 'git-rekal hook " + hook + " {0}'}}}\n")
	}
	for _, name := range []string{"lefthook-local.yml", ".lefthook.yml", ".config/lefthook.json"} {
		r.write(r.at(name), config.String(), 0o644)
		harness.Equal(t, "hints with "+name, []string(nil), install(t, l).Hints)
		r.remove(r.at(name))
	}
	r.write(r.at("lefthook.yml"), config.String(), 0o644)
	for _, hook := range hooks.Names() { // as lefthook does it
		r.rename(r.at(".git/hooks/"+hook), r.at(".git/hooks/"+hook+".old"))
		r.write(r.at(".git/hooks/"+hook), lefthook, 0o755)
	}
	rep := install(t, l)
	harness.Equal(t, "done when lefthook calls", []string(nil), rep.Done)
	harness.Equal(t, "hints when lefthook calls", []string(nil), rep.Hints)
	remove(t, l)
	for _, hook := range hooks.Names() {
		harness.Equal(t, hook, lefthook, r.read(r.at(".git/hooks/"+hook)))
		for _, mark := range []string{".old", ".pre-rekal"} {
			if _, err := os.Lstat(r.at(".git/hooks/" + hook + mark)); err == nil {
				t.Errorf("%s is left", hook+mark)
			}
		}
	}
}

// files are names and contents in the hooks folder.
type files = map[string]string

// scripts returns what turns "ours", "ours+" (edited) and "stale" into the named hook's text.
func scripts(t *testing.T, r *repo, name string) func(string) string {
	t.Helper()
	l := r.layout()
	install(t, l)
	ours := r.read(filepath.Join(l.HooksDir, name))
	l.Binary = "/opt/it's elsewhere/git-rekal"
	install(t, l)
	stale := r.read(filepath.Join(l.HooksDir, name))
	remove(t, l)
	if ours == stale || ours == "" {
		t.Fatalf("scripts of two binaries are equal: %q", ours)
	}
	return func(text string) string {
		switch text {
		case "ours":
			return ours
		case "ours+":
			return ours + "echo mine\n"
		case "stale":
			return stale
		}
		return text
	}
}

// hooks are the files of the hooks folder that belong to one hook, our texts abbreviated.
func (r *repo) hooks(name string, expand func(string) string) files {
	r.T.Helper()
	entries, err := os.ReadDir(r.at(".git/hooks"))
	if err != nil {
		r.T.Fatal(err)
	}
	found := files{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		text := r.read(r.at(".git/hooks/" + e.Name()))
		for _, short := range []string{"ours", "ours+", "stale"} {
			if text == expand(short) {
				text = short
			}
		}
		found[e.Name()] = text
	}
	return found
}

// A hook whose script lost its executable bit is mended; the chained one's bit is its own.
func TestInstallMakesExecutable(t *testing.T) {
	r := newRepo(t, "work")
	l := r.layout()
	r.write(r.at(".git/hooks/post-commit"), userHook, 0o644)
	install(t, l)
	for file, want := range map[string]bool{"post-commit": true, "post-commit.pre-rekal": false} {
		info, err := os.Stat(filepath.Join(l.HooksDir, file))
		if err != nil || (info.Mode()&0o111 != 0) != want {
			t.Errorf("%s: mode %v, %v; want executable %v", file, info.Mode(), err, want)
		}
	}
	r.write(r.at(".git/hooks/pre-push"), r.read(r.at(".git/hooks/pre-push")), 0o644)
	contains(t, install(t, l).Done, "hooks pre-push")
}

// formerBlock is what versions before 0.2 wrote into info/exclude.
const formerBlock = "# git-rekal: begin (`git rekal clean` removes these lines)\n.rekal/\n.claude/skills/rekal/\n.agents/skills/rekal/\n# git-rekal: end\n"

func TestLongRemoveAfterEdits(t *testing.T) {
	const skill = ".claude/skills/rekal/SKILL.md"
	for name, c := range map[string]struct {
		edit func(*repo)
		want files  // path to content; "" for a path that must be gone
		hint string // of Remove
	}{
		"lines of a former version": {
			edit: func(r *repo) { r.write(r.at(".git/info/exclude"), formerBlock+"*.log\nbuild", 0o644) },
			want: files{".git/info/exclude": "*.log\nbuild"},
		},
		"lines around the block": {
			edit: func(r *repo) { r.write(r.at(".git/info/exclude"), "above\n"+formerBlock+"*.log\nbuildbelow", 0o644) },
			want: files{".git/info/exclude": "above\n*.log\nbuildbelow"},
		},
		"lines inside the block": {
			edit: func(r *repo) {
				r.write(r.at(".git/info/exclude"), strings.Replace(formerBlock, ".agents", "mine\n.agents", 1)+"*.log\nbuild",
					0o644)
			},
			want: files{".git/info/exclude": "mine\n*.log\nbuild"},
		},
		"end of the block deleted": {
			edit: func(r *repo) {
				r.write(r.at(".git/info/exclude"), strings.Replace(formerBlock, "# git-rekal: end\n", "", 1)+"*.log\nbuild", 0o644)
			},
			want: files{".git/info/exclude": "*.log\nbuild"},
		},
		"block with other skills": {
			edit: func(r *repo) {
				r.write(r.at(".git/info/exclude"), strings.Replace(formerBlock, ".agents", ".later/skills/rekal/\n.agents",
					1)+"*.log\nbuild", 0o644)
			},
			want: files{".git/info/exclude": "*.log\nbuild"},
		},
		"newlines of the file changed": {
			edit: func(r *repo) {
				r.write(r.at(".git/info/exclude"), strings.ReplaceAll(formerBlock+"*.log\nbuild", "\n", "\r\n"), 0o644)
			},
			want: files{".git/info/exclude": "*.log\r\nbuild"},
		},
		"skill edited": {
			edit: func(r *repo) { r.write(r.at(skill), templates.Skill()+"more\n", 0o644) },
			want: files{skill: templates.Skill() + "more\n"},
			hint: skill + " was edited and stays",
		},
		"file beside the skill": {
			edit: func(r *repo) { r.write(r.at(".claude/skills/rekal/notes.md"), "mine\n", 0o644) },
			want: files{skill: "", ".claude/skills/rekal/notes.md": "mine\n"},
		},
		"agent settings added": {
			edit: func(r *repo) { r.write(r.at(".claude/settings.json"), "{}\n", 0o644) },
			want: files{".claude/settings.json": "{}\n", ".claude/skills": ""},
		},
		"hook replaced": {
			edit: func(r *repo) { r.write(r.at(".git/hooks/post-commit"), lfsHook, 0o755) },
			want: files{".git/hooks/post-commit": lfsHook, ".git/hooks/post-commit.pre-rekal": userHook},
			hint: "the former one stays as .git/hooks/post-commit.pre-rekal",
		},
		"hook regenerated": {
			edit: func(r *repo) { r.write(r.at(".git/hooks/post-commit"), userHook, 0o755) },
			want: files{".git/hooks/post-commit": userHook, ".git/hooks/post-commit.pre-rekal": ""},
		},
		"hook deleted": {
			edit: func(r *repo) { r.remove(r.at(".git/hooks/post-commit")) },
			want: files{".git/hooks/post-commit": userHook, ".git/hooks/post-commit.pre-rekal": ""},
		},
		"chained hook edited": {
			edit: func(r *repo) { r.write(r.at(".git/hooks/post-commit.pre-rekal"), lfsHook, 0o755) },
			want: files{".git/hooks/post-commit": lfsHook, ".git/hooks/post-commit.pre-rekal": ""},
		},
		"chained hook deleted": {
			edit: func(r *repo) { r.remove(r.at(".git/hooks/post-commit.pre-rekal")) },
			want: files{".git/hooks/post-commit": "", ".git/hooks/post-commit.pre-rekal": ""},
		},
		"husky came later": {
			edit: husky,
			want: files{".git/hooks/post-commit": userHook, ".git/hooks/post-merge": ""},
		},
		"killed while writing": {
			edit: func(r *repo) {
				r.write(r.at(".git/hooks/post-commit.rekal-tmp7"), "#!/bi", 0o755)
				r.write(r.at(".git/info/exclude.rekal-tmp7"), "# gi", 0o644)
				r.write(r.at(skill+".rekal-tmp7"), "--", 0o644)
			},
			want: files{".git/hooks/post-commit.rekal-tmp7": "", ".git/info/exclude.rekal-tmp7": "", ".claude": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "work")
			r.write(r.at(".git/info/exclude"), "*.log\nbuild", 0o644)
			r.write(r.at(".git/hooks/post-commit"), userHook, 0o755)
			install(t, r.layout())
			c.edit(r)
			rep := remove(t, r.layout())
			contains(t, rep.Hints, c.hint)
			for path, want := range c.want {
				if _, err := os.Lstat(r.at(path)); want == "" && err == nil {
					t.Errorf("%s is still there", path)
				} else if want != "" {
					harness.Equal(t, path, want, r.read(r.at(path)))
				}
			}
			if _, err := os.Lstat(r.at(".git/rekal")); err == nil {
				t.Error(".git/rekal is still there")
			}
		})
	}
}

// Where the hooks are not the repository's own, Install names the lines, and is content
// when they are there.
func TestHooksElsewhere(t *testing.T) {
	for name, c := range map[string]struct{ folder, why string }{
		"husky": {".husky", "core.hooksPath is .husky/_, which a hook manager overwrites"},
		"tracked hooks": {
			".githooks",
			"core.hooksPath is .githooks, which belongs to the project's files",
		},
		"global hooks":                {"../shared", "in the global configuration, which serves every repository"},
		"hooks folder that is a link": {".git/hooks", "the hooks folder is a link to githooks"},
		"no hooks at all":             {"", "core.hooksPath is /dev/null, so git runs no hooks here"},
		"worktree inside a bare repository": {
			"inside/.githooks",
			"core.hooksPath is .githooks, which belongs to the project's files",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, l := starts()[name].begin(t)
			rep := install(t, l)
			contains(t, rep.Hints, c.why)
			if c.folder == "" {
				return
			}
			for _, hook := range hooks.Names() {
				line := `command -v git-rekal >/dev/null && git-rekal hook ` + hook + ` "$@" || true`
				contains(t, rep.Hints, filepath.Base(c.folder)+"/"+hook+":  "+line)
				r.write(r.at(c.folder+"/"+hook), "#!/bin/sh\n"+line+"\n", 0o755)
			}
			rep = install(t, l)
			harness.Equal(t, "hints when the lines are there", []string(nil), rep.Hints)
			contains(t, remove(t, l).Hints, "in a line that you added")
		})
	}
}

// One clean takes the skill out of every worktree in which init was run.
func TestRemoveFromAllWorktrees(t *testing.T) {
	r := newRepo(t, "work")
	linked(r)
	before := r.snapshot()
	install(t, r.layout())
	install(t, r.layoutAt(filepath.Join(r.Root, "linked")))
	remove(t, r.layout())
	harness.Equal(t, "tree after Remove", before, r.snapshot())
}

// What Install made moves with the repository.
func TestRemoveAfterMove(t *testing.T) {
	r := newRepo(t, "work")
	install(t, r.layout())
	r.rename(r.tree, filepath.Join(r.Root, "moved"))
	r.tree = filepath.Join(r.Root, "moved")
	remove(t, r.layout())
	if _, err := os.Lstat(r.at(".claude")); err == nil {
		t.Error(".claude is still there")
	}
}
