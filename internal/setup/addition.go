package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// addition is something of ours in a file of a worktree that others write, too. It is added where the user asks for it.
type addition struct {
	path string // slash-separated, below the worktree
	what string // "brief" or "pointer"
	form interface {
		// add adds ours; where it is there, the text stays as it is. nil is a file that is not there.
		add(text []byte) ([]byte, error)
		// cut undoes add; ours is whether it was there. nil is a file that was not there.
		cut(text []byte) (rest []byte, ours bool)
		// named reports whether a text has ours, as it is or edited.
		named(text []byte) bool
	}
}

// additionsAt are those that are known of a path.
func additionsAt(path string) (out []addition) {
	everything := Layout{Agents: []string{"codex", "gemini-cli", "copilot-cli"}}
	all := everything.briefs(Brief{true, true, true})
	for _, p := range pointers() {
		all = append(all, addition{p, "pointer", pointer{}})
	}
	return slices.DeleteFunc(all, func(a addition) bool { return !hasTail(path, a.path) })
}

// installAdditions adds what was asked for to the files of the agents that are used here, and leaves every other byte of them.
func installAdditions(l Layout, made *record, r *Report) error {
	var all []addition
	if l.Brief != (Brief{}) {
		all = l.briefs(l.Brief)
	}
	if l.Pointer {
		all = append(all, l.pointed()...)
	}
	if len(all) > 0 && l.WorkTree == "" {
		r.hint("a bare repository has no files of agents: run `git rekal init` with --brief or --pointer in a worktree")
		return nil
	}
	var errs []error
	for _, a := range all {
		errs = append(errs, a.install(l, made, r))
	}
	return errors.Join(errs...)
}

// pointed are the pointers into the files that are there, and into the first where none is.
func (l Layout) pointed() (out []addition) {
	for _, p := range pointers() {
		if exists(filepath.Join(l.WorkTree, p)) {
			out = append(out, addition{p, "pointer", pointer{}})
		}
	}
	if out == nil {
		out = []addition{{pointers()[0], "pointer", pointer{}}}
	}
	return out
}

func (a addition) install(l Layout, made *record, r *Report) error {
	path := filepath.Join(l.WorkTree, filepath.FromSlash(a.path))
	if link := l.linkOn(a.path); link != "" || isSpecial(path) {
		r.hint("%s is a link or no file and was left alone", a.path)
		return nil
	}
	text, err := os.ReadFile(path)
	if absentIsFine(err) != nil {
		return fmt.Errorf("setup: read %s: %w", a.path, err)
	}
	if err != nil {
		text = nil
	}
	more, err := a.form.add(text)
	if err != nil {
		return fmt.Errorf("setup: %s was left alone: %w: mend it, and run `git rekal init` again", a.path, err)
	}
	if text != nil && bytes.Equal(more, text) {
		r.already("%s in %s", a.what, a.path)
		return nil
	}
	if err := made.noteFile(path); err != nil {
		return err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = writeFile(path, more, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: write %s: %w", a.path, err)
	}
	r.done("%s in %s", a.what, a.path)
	switch {
	case strings.HasPrefix(a.path, ".codex/"):
		r.hint("Codex runs hooks of a project only when you trust them: /hooks shows them")
	case strings.HasPrefix(a.path, ".claude/") && text == nil:
		r.hint("%s is for you alone: don't commit it", a.path)
	}
	return nil
}

// remove takes what Install added out of a file, and the file where that made it.
func (a addition) remove(l Layout, path string, r *Report) error {
	text, err := l.ownFile(path)
	if text == nil {
		return err
	}
	rest, ours := a.form.cut(text)
	switch {
	case !ours:
	case rest == nil:
		err = os.Remove(path)
	default:
		err = writeFile(path, rest, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: take the %s out of %s: %w", a.what, l.show(path), err)
	}
	if ours {
		r.done("%s in %s", a.what, l.show(path))
	}
	if a.form.named(rest) {
		r.hint("the %s in %s was edited and stays", a.what, l.show(path))
	}
	return nil
}
