package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/hooks"
)

// Problem is something that Install would mend, or says how to mend.
type Problem struct {
	What string
	Fix  string // what the user is to do; "" where Install mends it
	Hint bool   // it is the user's choice, or somebody else's file: nothing is broken
}

// Inspect says what is not as Install leaves it. onPath tells whether PATH holds a git-rekal,
// which hooks try first. It changes nothing.
func Inspect(l Layout, onPath bool) ([]Problem, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	var out []Problem
	wrong := func(format string, a ...any) { out = append(out, Problem{What: fmt.Sprintf(format, a...)}) }
	if info, err := os.Stat(l.RekalDir); err == nil && info.Mode().Perm()&0o077 != 0 {
		wrong("%s may be read by others than its owner: it holds conversations", l.pathForUser(l.RekalDir))
	}
	if l.HooksOff && l.Runs == nil {
		out = append(out, Problem{What: l.hooksOffNote(), Fix: "git rekal checkpoint", Hint: true})
	}
	out = append(out, l.hookProblems(onPath)...)
	if l.WorkTree == "" {
		return out, nil
	}
	made, err := readRecord(l)
	if err != nil {
		return nil, err
	}
	for _, root := range skillRoots() {
		if p := inspectSkill(l, root, made); p != nil {
			out = append(out, *p)
		}
	}
	return out, nil
}

// hookProblems says what keeps hooks from calling git-rekal.
func (l Layout) hookProblems(onPath bool) (out []Problem) {
	if l.Runs != nil {
		for _, name := range l.hookNames() {
			if !l.Runs(name) {
				out = append(out, Problem{What: fmt.Sprintf("git hook list %s does not name %s", name, ConfigName(name))})
			}
		}
		if !onPath && !isExecutableFile(l.Binary) {
			out = append(out, Problem{What: fmt.Sprintf("hooks find no git-rekal: none is on PATH, and %q is not there",
				l.Binary)})
		}
		return out
	}
	if p := l.noHooks(); p != nil {
		return []Problem{*p}
	}
	for _, name := range l.hookNames() {
		if what := (hook{l.editableHooksDir(), name}).inspect(l, onPath); what != "" {
			out = append(out, Problem{What: what, Fix: l.manualStep(name)})
		}
	}
	if hint := l.simpleGitHooksHint(); hint != "" && l.inGit(l.HooksDir) {
		what, fix, _ := strings.Cut(hint, ": ")
		out = append(out, Problem{What: what, Fix: fix, Hint: true})
	}
	return out
}

// HookFileCalls reports whether a hook that is a file calls git-rekal.
func HookFileCalls(l Layout, name string) bool {
	path := filepath.Join(l.editableHooksDir(), name)
	return mayExecute(path) && callsRekal(readText(path), name)
}

// LostHooks says which hooks call git-rekal no more, and what to do about it; "" where all do. What git-rekal they find
// is not its business.
func LostHooks(l Layout) string {
	var lost []string
	dir := l.editableHooksDir()
	for _, name := range l.hookNames() {
		h := hook{dir, name}
		runs := l.Runs != nil && l.Runs(name) || HookFileCalls(l, name) // each question looks: at little
		if !runs && h.inspect(l, true) != "" {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	if p := l.noHooks(); p != nil {
		return p.What + ": " + p.Fix
	}
	what := fmt.Sprintf(`git no longer calls git-rekal in the hooks %s: somebody took them away; "git rekal init" mends it`, strings.Join(lost, ", "))
	if !l.inGit(l.HooksDir) {
		what = strings.Replace(what, "mends it", "says what to add", 1)
	}
	if hint := l.simpleGitHooksHint(); hint != "" {
		what += "; " + hint
	}
	return what
}

// manualStep says what the user is to do about a hook that Install does not write; as hintMissingCalls does.
func (l Layout) manualStep(name string) string {
	switch path := filepath.Join(l.editableHooksDir(), name); {
	case l.inGit(l.HooksDir):
		return ""
	case exists(path) && !mayExecute(path) && callsRekal(readText(path), name):
		return fmt.Sprintf("chmod +x %q", path)
	default:
		return fmt.Sprintf("%s: add this line at the end of %s%s: %s", l.whyNoHooks(), l.pathForUser(path),
			l.executableNote(), callLine(name))
	}
}

// inspect says what keeps a hook from calling git-rekal; "" when nothing does.
func (h hook) inspect(l Layout, onPath bool) string {
	slot := h.path()
	if l.inGit(h.dir) {
		slot = h.scriptFile(readText(h.path()))
	}
	text := readText(slot)
	switch {
	case !exists(slot):
		return fmt.Sprintf("hook %s is not in %s", h.name, l.pathForUser(h.dir))
	case !mayExecute(slot) && !isLink(slot) && l.executableNote() != "":
		return fmt.Sprintf("hook %s in %s is not executable", h.name, l.pathForUser(h.dir))
	case h.isUneditedScript(slot):
		if bin := binaryOf(text); !onPath && !isExecutableFile(bin) {
			return fmt.Sprintf("hook %s finds no git-rekal: none is on PATH, and %q is not there", h.name, bin)
		}
		return ""
	case callsRekal(text, h.name), isLefthook(text) && l.lefthookCalls(h.name):
		return ""
	}
	return fmt.Sprintf("hook %s in %s does not call git-rekal", h.name, l.pathForUser(h.dir))
}

// binaryOf is the path of git-rekal that a script of ours falls back to.
func binaryOf(text string) string {
	_, rest, _ := strings.Cut(text, "\n"+hooks.BinaryLine)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.ReplaceAll(strings.Trim(line, "'"), `'\''`, "'")
}

func isExecutableFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o100 != 0
}
