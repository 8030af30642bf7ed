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
	path   string // slash-separated, below the worktree
	what   string // "MCP server", "brief" or "pointer"
	byHand string // what the user may do where it can't be added
	form   form
}

// form is how a file is written. add and cut leave every byte that is not ours.
type form interface {
	// add adds ours; where it is there, the text stays as it is. nil is a file that is not there.
	add(text []byte) ([]byte, error)
	// cut undoes add; ours is whether it was there, as add writes it. nil is a file that was not there.
	cut(text []byte) (rest []byte, ours bool)
	// named reports whether a text has something by our name, and what is wrong with that; "" where it does what ours does.
	named(text []byte) (is bool, wrong string)
}

// additionsAt are those that are known of a path.
func additionsAt(path string) (all []addition) {
	for _, f := range briefFiles() {
		all = append(all, f.addition(Brief{true, true, true}))
	}
	for _, p := range pointers() {
		all = append(all, pointerIn(p))
	}
	for _, c := range configs() {
		all = append(all, c.addition())
	}
	return slices.DeleteFunc(all, func(a addition) bool { return !hasTail(path, a.path) })
}

// hasTail reports whether a path ends with a slash-separated one.
func hasTail(path, tail string) bool {
	return strings.HasSuffix(filepath.ToSlash(path), "/"+tail)
}

// asked are the additions that the user asks for, in the files of the agents that are used here.
func (l Layout) asked() (all []addition) {
	if l.MCP {
		for _, c := range l.wanted() {
			all = append(all, c.addition())
		}
	}
	if l.Brief != (Brief{}) {
		for _, f := range briefFiles() {
			all = append(all, f.addition(l.Brief))
		}
	}
	if l.Pointer {
		all = append(all, l.pointed()...)
	}
	return all
}

// installAdditions adds what was asked for, and leaves every other byte of the files.
func installAdditions(l Layout, made *record, r *Report) error {
	all := l.asked()
	if len(all) > 0 && l.WorkTree == "" {
		r.hint("a bare repository has no files of agents: run `git rekal init` with --mcp, --brief or --pointer in a worktree")
		return nil
	}
	var errs []error
	var servers []string
	for _, a := range all {
		wrote, err := a.install(l, made, r)
		errs = append(errs, err)
		if wrote && a.what == serverWhat {
			servers = append(servers, a.path)
		}
	}
	if servers != nil {
		r.hint("agents that read %s now start git-rekal, some after they asked you or if you trust the folder; commit a file to share it with the team",
			strings.Join(servers, ", "))
	}
	return errors.Join(errs...)
}

func (a addition) install(l Layout, made *record, r *Report) (wrote bool, err error) {
	path := filepath.Join(l.WorkTree, filepath.FromSlash(a.path))
	if link := l.linkOn(a.path); link != "" {
		r.hint("%s is a link, and its target may serve other repositories: %s there", l.show(link), a.byHand)
		return false, nil
	}
	if isSpecial(path) { // to read a pipe is to wait
		r.hint("%s is no file and was left alone", a.path)
		return false, nil
	}
	text, err := read(path)
	if err != nil {
		return false, fmt.Errorf("setup: read %s: %w", a.path, err)
	}
	more, err := a.form.add(text)
	if err != nil {
		return false, fmt.Errorf("setup: %s was left alone: %w: %s", a.path, err, a.byHand)
	}
	if text != nil && bytes.Equal(more, text) {
		if _, wrong := a.form.named(text); wrong != "" {
			r.hint("the %s in %s %s", a.what, a.path, wrong)
		}
		return false, nil
	}
	if err := made.noteFile(path); err != nil {
		return false, err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = writeFile(path, more, 0o666)
	}
	if err != nil {
		return false, fmt.Errorf("setup: write %s: %w", a.path, err)
	}
	r.done("%s in %s", a.what, a.path)
	switch {
	case a.what != briefWhat:
	case strings.HasPrefix(a.path, ".codex/"):
		r.hint("Codex runs hooks of a project only when you trust them: /hooks shows them")
	case strings.HasPrefix(a.path, ".claude/") && text == nil:
		r.hint("%s is for you alone: don't commit it", a.path)
	}
	return true, nil
}

// removeAdded takes all that Install added out of a file that others write, too, and the file where Install made it.
func removeAdded(l Layout, path string, r *Report) error {
	if isLink(path) || isSpecial(path) {
		return nil
	}
	text, err := read(path)
	if err != nil {
		return fmt.Errorf("setup: read %s: %w", l.show(path), err)
	}
	all := additionsAt(path)
	rest, gone := cutAll(text, all)
	if string(bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(bom)))) == "{}" { // what was added first may have made the file, and is cut last
		slices.Reverse(all)
		if before, also := cutAll(text, all); isBlank(before) {
			rest, gone = before, also
		}
	}
	switch {
	case len(gone) == 0:
	case rest == nil:
		err = os.Remove(path)
	default:
		err = writeFile(path, rest, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: take the %s out of %s: %w", gone[0].what, l.show(path), err)
	}
	for _, a := range gone {
		r.done("%s in %s", a.what, l.show(path))
	}
	for _, a := range all {
		if still, _ := a.form.named(rest); still {
			r.hint("the %s in %s was edited and stays", a.what, l.show(path))
		}
	}
	return nil
}

// cutAll takes additions out of a text, one after another, and tells which were there; nil is no file.
func cutAll(text []byte, all []addition) (rest []byte, gone []addition) {
	for _, a := range all {
		if text == nil {
			break
		}
		if rest, ours := a.form.cut(text); ours {
			text, gone = rest, append(gone, a)
		}
	}
	return text, gone
}

// linkOn is the first link on the way to a path below the worktree; "" where there is none.
func (l Layout) linkOn(path string) string {
	at := l.WorkTree
	for name := range strings.SplitSeq(path, "/") {
		if at = filepath.Join(at, name); isLink(at) {
			return at
		}
	}
	return ""
}

// isSpecial reports whether something is there that is neither a file nor a folder nor a link.
func isSpecial(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice) != 0
}
