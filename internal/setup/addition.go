package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// serverName is what our server is called in every configuration, and serverWhat what a Report calls it.
const (
	serverName = "git-rekal"
	serverWhat = "MCP server"
)

// addition is something of ours in a file of a worktree that others write, too. It is added where the user asks for it.
type addition struct {
	path      string // slash-separated, below the worktree
	what      string // "MCP server", "brief" or "pointer"
	byHand    string // what the user may do where it can't be added
	hint      string // what the user should know once it is there
	hintIfNew string // the same where the file was not there before
	sections  []section
}

// section is one stretch of an addition: a server, a hook, a few lines.
type section interface {
	// add puts the section into a text, and leaves every other byte. A text that has it stays as it is. An empty text may
	// be a file that is not there.
	add(text []byte) (more []byte, err error)
	// remove brings back the text of before add; what somebody has formatted anew since, or a former version added, it
	// finds by its meaning. at is where the section stood, -1 if it is not there, or was edited.
	remove(text []byte, former bool) (rest []byte, at int)
	// find reports whether a text has an entry with our name, and what is wrong with that entry; "" if it does what ours
	// does.
	find(text []byte) (present bool, problem string)
}

// installAdditions adds what was asked for, and leaves every other byte of the files.
func installAdditions(l Layout, made *record, r *Report) error {
	all := l.requestedAdditions()
	if len(all) > 0 && l.WorkTree == "" {
		r.addHint("a bare repository has no files of agents: run `git rekal init` with --mcp, --brief or --pointer in a worktree")
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
		r.addHint("agents that read %s now start git-rekal, some after they asked you or if you trust the folder; commit a file to share it with the team",
			strings.Join(servers, ", "))
	}
	return errors.Join(errs...)
}

func (a addition) install(l Layout, made *record, r *Report) (wrote bool, err error) {
	path := filepath.Join(l.WorkTree, filepath.FromSlash(a.path))
	if link := l.firstLinkTo(a.path); link != "" {
		r.addHint("%s is a link, and its target may serve other repositories: %s there", l.pathForUser(link), a.byHand)
		return false, nil
	}
	if isSpecialFile(path) { // to read a pipe is to wait
		r.addHint("%s is no file and was left alone", a.path)
		return false, nil
	}
	text, err := readIfThere(path)
	if err != nil {
		return false, fmt.Errorf("setup: read %s: %w", a.path, err)
	}
	more, err := a.addTo(text)
	if err != nil {
		return false, fmt.Errorf("setup: %s was left alone: %w: %s", a.path, err, a.byHand)
	}
	if bytes.Equal(more, text) {
		if _, wrong := a.has(text); wrong != "" {
			r.addHint("the %s in %s %s", a.what, a.path, wrong)
		}
		return false, nil
	}
	if err := made.noteAddition(path); err != nil {
		return false, err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = writeFile(path, more, 0o666)
	}
	if err != nil {
		return false, fmt.Errorf("setup: write %s: %w", a.path, err)
	}
	r.addDone("%s in %s", a.what, a.path)
	if a.hint != "" {
		r.addHint("%s", a.hint)
	}
	if a.hintIfNew != "" && text == nil {
		r.addHint("%s", a.hintIfNew)
	}
	return true, nil
}

// addTo puts all sections into a text that lacks them, one after another. JSON in a file of its own has a line for each
// value.
func (a addition) addTo(text []byte) (more []byte, err error) {
	more = text
	for _, s := range a.sections {
		if more, err = s.add(more); err != nil {
			return nil, err
		}
	}
	var pretty bytes.Buffer
	if text == nil && json.Indent(&pretty, more, "", "  ") == nil {
		return pretty.Bytes(), nil
	}
	return more, nil
}

func (a addition) has(text []byte) (present bool, problem string) {
	for _, s := range a.sections {
		if present, problem = s.find(text); present {
			break
		}
	}
	return present, problem
}

// removeAdditions takes all that Install added out of a file that others write, too; and the file, if Install made it
// and nothing else is in it.
func removeAdditions(l Layout, path string, made *record, r *Report) error {
	all := additionsTo(path)
	if all == nil || isLink(path) || isSpecialFile(path) {
		return nil
	}
	if err := removeHalfWritten(path); err != nil {
		return err
	}
	text, err := readIfThere(path)
	if err != nil {
		return fmt.Errorf("setup: read %s: %w", l.pathForUser(path), err)
	}
	rest := text
	for _, p := range slices.Backward(made.pieces[path]) {
		rest = p.cut(rest)
	}
	rest = withoutSections(rest, all, !slices.Contains(made.addedTo, path))
	switch {
	case bytes.Equal(rest, text):
	case made.has(path) && isEmptyConfig(rest):
		err = os.Remove(path)
	default:
		err = writeFile(path, rest, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: take git-rekal out of %s: %w", l.pathForUser(path), err)
	}
	for _, a := range all {
		was, _ := a.has(text)
		still, _ := a.has(rest)
		switch {
		case still:
			r.addHint("the %s in %s was edited and stays", a.what, l.pathForUser(path))
		case was:
			r.addDone("%s in %s", a.what, l.pathForUser(path))
		}
	}
	return nil
}

// withoutSections takes all sections out of a text, that before the others first: each was put before those that were
// there.
func withoutSections(text []byte, all []addition, former bool) []byte {
	for {
		first, rest := -1, text
		for _, a := range all {
			for _, s := range a.sections {
				if without, at := s.remove(text, former); at >= 0 && (first < 0 || at < first) {
					first, rest = at, without
				}
			}
		}
		if first < 0 {
			return text
		}
		text = rest
	}
}

// isEmptyConfig reports whether a file holds nothing, or an empty object.
func isEmptyConfig(text []byte) bool {
	words := bytes.Join(bytes.Fields(withoutBOM(text)), nil)
	return len(words) == 0 || string(words) == "{}"
}

func isBlank(text []byte) bool {
	return len(bytes.Trim(withoutBOM(text), " \t\r\n")) == 0
}

// withLineEndsOf gives a text of ours the line ends of another one.
func withLineEndsOf(other []byte, text string) string {
	if bytes.Contains(other, []byte("\r\n")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// firstLinkTo is the first link on the way to a path below the worktree; "" where there is none.
func (l Layout) firstLinkTo(path string) string {
	at := l.WorkTree
	for name := range strings.SplitSeq(path, "/") {
		if at = filepath.Join(at, name); isLink(at) {
			return at
		}
	}
	return ""
}

// isSpecialFile reports whether something is there that is neither a file nor a folder nor a link.
func isSpecialFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice) != 0
}
