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

// section is one stretch of an addition: a server, a hook, a few lines. What it adds to a text is one piece, and every
// other byte stays. Install notes the piece, so that Remove takes out the same bytes. If somebody has reformatted these
// bytes since, remove finds the section by its meaning.
type section interface {
	// pieceToAdd is the text to add to a file, given its text; nil if it is there already. An empty text may be a file
	// that is not there.
	pieceToAdd(text []byte) (*piece, error)
	// remove removes the section from a text, however it is written; removed is false if it is not there, or was edited.
	remove(text []byte) (rest []byte, removed bool)
	// find reports whether a text has an entry with our name, and what is wrong with that entry; "" if it does what ours
	// does.
	find(text []byte) (present bool, problem string)
}

// piece is a text that Install puts into a file, and the offset where it does so.
type piece struct {
	At   int    `json:"at"`
	Text string `json:"text"`
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
	more, pieces, err := a.addTo(text)
	if err != nil {
		return false, fmt.Errorf("setup: %s was left alone: %w: %s", a.path, err, a.byHand)
	}
	if len(pieces) == 0 {
		if _, wrong := a.has(text); wrong != "" {
			r.addHint("the %s in %s %s", a.what, a.path, wrong)
		}
		return false, nil
	}
	if err := made.noteAddition(path, pieces); err != nil {
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

// addTo puts all sections into a text that lacks them, one after another.
func (a addition) addTo(text []byte) (more []byte, pieces []piece, err error) {
	more = text
	for _, s := range a.sections {
		p, err := s.pieceToAdd(more)
		if err != nil {
			return nil, nil, err
		}
		if p != nil {
			more = slices.Concat(more[:p.At], []byte(p.Text), more[p.At:])
			pieces = append(pieces, *p)
		}
	}
	return more, pieces, nil
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
	if isLink(path) || isSpecialFile(path) {
		return nil
	}
	if err := removeHalfWritten(path); err != nil {
		return err
	}
	text, err := readIfThere(path)
	if err != nil {
		return fmt.Errorf("setup: read %s: %w", l.pathForUser(path), err)
	}
	all := additionsTo(path)
	rest := text
	for _, p := range slices.Backward(made.pieces[path]) {
		rest = p.removePiece(rest, all)
	}
	for _, a := range all {
		for _, s := range a.sections {
			rest, _ = s.remove(rest)
		}
	}
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

// removePiece takes the bytes that Install once put into a text out again: from where they were put, else, as somebody
// edited the text since, from where adding them would put them now.
func (p piece) removePiece(text []byte, all []addition) []byte {
	if rest, ok := p.removePieceAt(p.At, text, all); ok {
		return rest
	}
	for at := range text {
		if rest, ok := p.removePieceAt(at, text, all); ok {
			return rest
		}
	}
	return text
}

func (p piece) removePieceAt(at int, text []byte, all []addition) (rest []byte, ok bool) {
	if at < 0 || at > len(text) || !bytes.HasPrefix(text[at:], []byte(p.Text)) {
		return nil, false
	}
	rest = slices.Concat(text[:at], text[at+len(p.Text):])
	for _, a := range all {
		for _, s := range a.sections {
			if again, err := s.pieceToAdd(rest); err == nil && again != nil && *again == (piece{at, p.Text}) {
				return rest, true
			}
		}
	}
	return nil, false
}

// isEmptyConfig reports whether a file holds nothing, or an empty object.
func isEmptyConfig(text []byte) bool {
	return isBlank(text) || string(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(bom)))) == "{}"
}

func isBlank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, []byte(bom)), " \t\r\n")) == 0
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
