package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/notes"
)

// A file is merged by its sections. What is compared is the text as the ledger would hold it, so that a secret and the
// mark that stands for it are the same. What is written are the bytes that stand here, wherever those lines stay. A
// line with a secret stays in any case: where a merge would lose it, the section is left as it is.

// merged is a file as a pull would leave it.
type merged struct {
	text       string
	sections   []capture.NoteSection // of text: which versions they hold
	taken      []string              // headings
	removed    []string
	left       []string // with the reason
	inConflict []string // headings that hold marks of conflicts
	conflicts  int
}

// piece is a section of the file to be.
type piece struct {
	source, text string
	at           int
	ids          []string // versions that it holds
	sum          string   // of the text, where a capture need not look at it
}

// merge merges one file here, perhaps none, with what the ledger says of it. had are the versions that the file held
// when it was last captured or pulled, by source.
func (n Notes) merge(ctx context.Context, here local, s *stored,
	had map[string]capture.NoteSection,
) (out merged, err error) {
	var pieces []piece
	for _, sec := range here.all {
		if !slices.Contains(here.sections, sec) { // another repository's
			pieces = append(pieces, piece{text: sec.Text})
			continue
		}
		p, err := n.mergeSection(ctx, here, sec, s.section(sec.Source), had[sec.Source], &out)
		if err != nil {
			return out, err
		}
		if p.text != "" {
			pieces = append(pieces, p)
		}
	}
	for _, v := range s.sections {
		isOf := func(sec notes.Section) bool { return sec.Source == v.source }
		isHere, heads := slices.ContainsFunc(here.sections, isOf), v.heads()
		if old := had[v.source]; !isHere && wasDeletedHere(v, old.IDs) && slices.ContainsFunc(here.all, isOf) {
			out.sections = append(out.sections, old) // of a folder that is gone: a capture says what becomes of it
		}
		if isHere || len(heads) == 0 || wasDeletedHere(v, had[v.source].IDs) {
			continue
		}
		p, conflicts, err := n.joinHeads(ctx, v, nil, nil)
		if err != nil {
			return out, err
		}
		out.noteTaken(headingIn(v.source), conflicts)
		if here.Shared {
			if p.text = n.withRoot(p.text); p.sum != "" {
				p.sum = capture.NoteSum(p.text)
			}
		}
		pieces = insertByPlace(pieces, p)
	}
	out.text = joinPieces(pieces)
	for _, p := range pieces {
		if p.source == "" {
			continue
		}
		out.sections = append(out.sections, capture.NoteSection{Source: p.source, Sum: p.sum, At: p.at, IDs: p.ids})
	}
	return out, nil
}

// withRoot puts this repository's folder where the ledger says so: a work tree, of which a bare repository has others.
func (n Notes) withRoot(text string) string {
	if roots := n.W.Repo.Worktrees(); len(roots) > 0 {
		text = strings.ReplaceAll(text, notes.Root, roots[0])
	}
	return text
}

// headingIn is what a section is called.
func headingIn(source string) string {
	_, file, heading, _ := notes.Parse(source)
	if heading == "" {
		return file
	}
	return heading
}

// wasDeletedHere reports whether a section that is not here was, in a version that still stands: then it was deleted
// here, and the next capture says so.
func wasDeletedHere(v *versions, had []string) bool {
	heads := v.heads()
	return len(heads) == 1 && slices.Contains(had, heads[0].ID)
}

// mergeSection merges a section that is here.
func (n Notes) mergeSection(ctx context.Context, f local, sec notes.Section, v *versions, had capture.NoteSection,
	out *merged,
) (piece, error) {
	p := piece{source: sec.Source, text: sec.Text, ids: had.IDs, sum: had.Sum, at: had.At}
	if v == nil {
		return p, nil
	}
	p.at = v.place()
	clean, err := n.clean(ctx, f, sec)
	if err != nil {
		return p, err
	}
	heads := v.heads()
	switch {
	case len(heads) == 0 && v.was(clean): // it was deleted elsewhere, and nothing changed here since
		if clean != sec.Text && hasMark(clean) {
			out.left = append(out.left, sec.Title+": deleted elsewhere, but it holds what redaction took out")
			return p, nil
		}
		out.removed = append(out.removed, sec.Title)
		return piece{}, nil
	case len(heads) == 0:
		return p, nil
	case len(heads) == 1 && heads[0].Content == clean:
		p.ids, p.sum = []string{heads[0].ID}, capture.NoteSum(sec.Text)
		return p, nil
	}
	mine := &ask.NoteRow{}
	mine.Content, mine.ID = clean, "here"
	next, conflicts, err := n.joinHeads(ctx, v, mine, had.IDs)
	if err != nil {
		return p, err
	}
	text, ok := withLinesOf(next.text, sec.Text, clean)
	if !ok {
		out.left = append(out.left, sec.Title+": it holds what redaction took out, and a merge would lose that")
		return p, nil
	}
	if f.Shared {
		text = n.withRoot(text)
	}
	if p.ids, p.sum = next.ids, ""; next.sum != "" {
		p.sum = capture.NoteSum(text)
	}
	if text != sec.Text {
		p.text = text
		out.noteTaken(sec.Title, conflicts)
	}
	return p, nil
}

// noteTaken notes that a section says what other machines say, or what they say beside what is here.
func (m *merged) noteTaken(heading string, conflicts int) {
	if conflicts == 0 {
		m.taken = append(m.taken, heading)
		return
	}
	m.inConflict = append(m.inConflict, heading)
	m.conflicts += conflicts
}

// hasMark reports whether redaction took something out of a text.
func hasMark(clean string) bool {
	return strings.Contains(clean, "[REDACTED:") || strings.Contains(clean, "[private]")
}

// joinHeads is what a section's heads say together, and what stands here, if that is not nil: it was made of the
// versions had.
func (n Notes) joinHeads(ctx context.Context, v *versions, mine *ask.NoteRow,
	had []string,
) (p piece, conflicts int, err error) {
	heads := v.heads()
	p = piece{source: v.source, at: v.place()}
	sides := heads
	if mine != nil {
		sides = append([]ask.NoteRow{*mine}, slices.DeleteFunc(slices.Clone(heads), func(h ask.NoteRow) bool {
			isIn := h.Content == mine.Content || slices.Contains(had, h.ID)
			if isIn {
				p.ids = append(p.ids, h.ID)
			}
			return isIn
		})...)
	}
	p.text = sides[0].Content
	for i, side := range sides {
		if side.ID != "here" {
			p.ids = append(p.ids, side.ID)
		}
		if i == 0 {
			continue
		}
		base := v.baseOf(p.text, side, had)
		if base == p.text { // unchanged on this side since
			p.text = side.Content
			continue
		}
		var more int
		when := side.TS.UTC().Format("2006-01-02 15:04")
		if p.text, more, err = n.mergeTexts(ctx, p.text, base, side.Content, when); err != nil {
			return p, 0, err
		}
		conflicts += more
	}
	if len(heads) == 1 && heads[0].Content == p.text {
		p.sum = capture.NoteSum(p.text)
	}
	return p, conflicts, nil
}

// baseOf is the version from which two texts went apart: the former one that is one of them, else the one of which the
// text here was made, else the last that is hidden and came before the head.
func (v *versions) baseOf(text string, head ask.NoteRow, had []string) (base string) {
	if slices.ContainsFunc(v.all, func(r ask.NoteRow) bool { return r.Purged && r.Content == text }) {
		return text
	}
	for _, r := range v.all {
		if r.Purged && slices.Contains(had, r.ID) {
			return r.Content
		}
		if r.Purged && r.Entry < head.Entry {
			base = r.Content
		}
	}
	return base
}

// mergeTexts has git merge two texts, with its marks of conflicts.
func (n Notes) mergeTexts(ctx context.Context, ours, base, theirs, when string) (text string, conflicts int,
	err error,
) {
	dir, err := os.MkdirTemp("", "rekal-memory-")
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{"merge-file", "-p", "-q", "-L", "here", "-L", "before", "-L", "the ledger, " + when}
	for name, text := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", 0, err
		}
	}
	for _, name := range []string{"ours", "base", "theirs"} {
		args = append(args, filepath.Join(dir, name))
	}
	out, err := n.W.Repo.Command(ctx, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		return string(out), exit.ExitCode(), nil
	}
	if err != nil {
		err = fmt.Errorf("memory: git merge-file: %w", err)
	}
	return string(out), 0, err
}

// withLinesOf gives a text the lines of raw where clean has the same ones; ok is false where one is lost that clean has
// otherwise.
func withLinesOf(text, raw, clean string) (out string, ok bool) {
	if raw == clean {
		return text, true
	}
	rawLines, cleanLines := strings.SplitAfter(raw, "\n"), strings.SplitAfter(clean, "\n")
	if len(rawLines) != len(cleanLines) {
		return "", false
	}
	own := map[string][]string{}
	lost := 0
	for i, line := range cleanLines {
		if line != rawLines[i] {
			own[line] = append(own[line], rawLines[i])
			if hasMark(line) {
				lost++
			}
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if all := own[line]; len(all) > 0 {
			if hasMark(line) {
				lost--
			}
			line, own[line] = all[0], all[1:]
		}
		b.WriteString(line)
	}
	return b.String(), lost <= 0
}

// insertByPlace puts a section behind those that stand before it in the ledger.
func insertByPlace(all []piece, p piece) []piece {
	at, isBefore := len(all), func(q piece) bool { return q.at > p.at }
	if i := slices.IndexFunc(all, isBefore); i >= 0 {
		at = i
	}
	for i, q := range all {
		if q.at > 0 && q.at <= p.at {
			at = i + 1
		}
	}
	return slices.Insert(all, at, p)
}

// joinPieces is the file. A section that ended the file, and has another behind it now, ends with a line.
func joinPieces(all []piece) string {
	var b strings.Builder
	for i, p := range all {
		b.WriteString(p.text)
		if i+1 < len(all) && !strings.HasSuffix(p.text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
