package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of the page of a file.
const (
	nearShown  = 10
	linesShown = 400
	linesMost  = 1_000_000
)

// filePage is the page of a file: its lines, and the sessions behind them.
type filePage struct {
	Path           string
	Parts          []part
	Lines          int // of the file
	From, To       int
	Earlier, Later string
	Hits           []hit
	Near           []ask.Pair // with files that change with it
	Why            string     // why there are no lines
}

// part is consecutive lines of one commit.
type part struct {
	Commit   string      // abbreviated; "" where the lines are not committed
	Made     *git.Commit // nil where it can't be read
	At       string      // when
	From, To int
	Lines    []codeLine
	Hit      *hit   // the session that wrote most of the lines; nil: none is known to have written one
	Again    bool   // the part before has the same
	Asked    string // the prompt behind it
	Note     string
}

// codeLine is a line of a file, with the colour of the session that wrote it, from 1 on; 0 where none is known to.
type codeLine struct {
	Number int
	Color  int
	Code   template.HTML
	text   string
}

// colors is how many sessions of a file are told apart by a color, besides by their titles.
const colors = 6

func (s *Site) makeFile(r *request) (page, error) {
	name := r.query.Get("path")
	p := page{Template: "file", Title: name, Here: "files"}
	near, err := r.at.ChangedTogether(r, name, nearShown)
	if err != nil || name == "" {
		return p, cmp.Or(err, errNoFile)
	}
	out := filePage{Path: name, Near: near}
	text, err := r.at.Lines(r, name)
	switch {
	case errors.Is(err, git.ErrNotFound):
		out.Why = "The commit that is checked out does not hold this file."
	case errors.Is(err, history.ErrBinary):
		out.Why = "This file is binary."
	case errors.Is(err, history.ErrTooLarge):
		out.Why = "This file is too large to be shown."
	case err != nil:
		return p, err
	case len(text) == 0:
		out.Why = "This file is empty."
	}
	if out.Why == "" {
		// git may lack a part of the history, or take too long for it
		if err := out.explainLines(r, text, s.markdown); err != nil && r.Err() == nil {
			out.Why = fmt.Sprintf("Where its lines come from can't be told: %v.", err)
		}
	}
	if out.Why != "" {
		err = out.findMentioning(r)
	}
	if err == nil && len(out.Hits)+len(out.Parts) == 0 {
		err = errNoFile
	}
	p.Body = out
	return p, err
}

// errNoFile is a name of no file.
var errNoFile = fmt.Errorf("no file of that name, and no session that touched one: %w", git.ErrNotFound)

// findMentioning finds the sessions that touched a file whose lines can't be asked for.
func (f *filePage) findMentioning(r *request) error {
	found, err := r.at.Recall(r, ask.Question{
		Long:    true,
		Request: ask.Request{Path: []string{":(top,literal)" + f.Path}, Limit: foundShown, Stale: true},
	})
	f.Hits = hits(found.Recall, "")
	return err
}

// explainLines asks who wrote the lines of the page.
func (f *filePage) explainLines(r *request, text []string, colours *markdown.Renderer) error {
	from := max(1, r.queryNumber("from", 1, linesMost))
	if from > len(text) {
		from = 1
	}
	f.From, f.To, f.Lines = from, min(len(text), from+linesShown-1), len(text)
	if from > 1 {
		f.Earlier = r.To("file", "path", f.Path, "from", max(1, from-linesShown))
	}
	if f.To < len(text) {
		f.Later = r.To("file", "path", f.Path, "from", f.To+1)
	}
	why, err := r.at.Why(r, ask.WhyRequest{Target: fmt.Sprintf("%s:%d,%d", f.Path, f.From, f.To)})
	if err != nil {
		return err
	}
	exchanges, err := r.at.Exchanges(r, why.Results)
	if err != nil {
		return err
	}
	f.Hits = hits(why, "")
	f.groupLines(why, colours.Lines(f.Path, shownLines(text[f.From-1:f.To])), text)
	for i := range f.Parts {
		p := &f.Parts[i]
		f.label(p, why.Why)
		if p.Hit != nil {
			p.Again, p.Asked = i > 0 && f.Parts[i-1].Hit == p.Hit, nouns.Shorten(exchanges[p.Hit.ID].Asked, askedShown)
		}
		if id, err := r.Repo.Resolve(p.Commit); err == nil && p.Commit != "" {
			if c, err := r.Repo.Commit(id); err == nil {
				p.Made, p.At = &c, result.Time(c.Author.When)
			}
		}
	}
	return nil
}

// askedShown is how many characters of a prompt stand beside a line.
const askedShown = 280

// shownLines are lines as far as they are shown.
func shownLines(text []string) []string {
	out := make([]string, len(text))
	for i, l := range text {
		out[i] = l[:markdown.CutPosition(l, maxLine)]
	}
	return out
}

// groupLines puts consecutive lines of one commit together, as blame pages do. Filler belongs to the lines above it.
func (f *filePage) groupLines(why result.Recall, code []template.HTML, text []string) {
	commits := commitOfLine(why.Why)
	for n := f.From; n <= f.To; n++ {
		l := codeLine{Number: n, Color: f.colorOf(n), Code: code[n-f.From], text: text[n-1]}
		last := len(f.Parts) - 1
		if last < 0 || !nouns.IsFiller(l.text) && commits[n] != f.Parts[last].Commit {
			f.Parts = append(f.Parts, part{From: n, To: n, Lines: []codeLine{l}, Commit: commits[n]})
			continue
		}
		p := &f.Parts[last]
		if nouns.IsFiller(l.text) {
			l.Color = p.Lines[len(p.Lines)-1].Color
		}
		p.Lines, p.To = append(p.Lines, l), n
	}
}

// commitOfLine is the commit that brought each line; "" for a line that is not committed.
func commitOfLine(why *result.Why) map[int]string {
	out := map[int]string{}
	for _, s := range why.Brought {
		for _, r := range s.Ranges {
			for n := r[0]; n <= r[1]; n++ {
				out[n] = s.Commit
			}
		}
	}
	return out
}

// colorOf is the color of the first session that wrote a line; 0 where none is known to.
func (f *filePage) colorOf(line int) int {
	for i, h := range f.Hits {
		if h.Explains != nil && nouns.Ranges(h.Explains.Exact).Has(line) {
			return i%colors + 1
		}
	}
	return 0
}

// label names the session that wrote most of the lines of a part. Where none is known to have written any, the label is
// the commit's: who only made it, or wrote to the file, is in the list of sessions.
func (f *filePage) label(p *part, why *result.Why) {
	most := 0
	for i := range f.Hits {
		e, wrote := f.Hits[i].Explains, 0
		for _, l := range p.Lines {
			if e != nil && !nouns.IsFiller(l.text) && nouns.Ranges(e.Exact).Has(l.Number) {
				wrote++
			}
		}
		if wrote > most {
			most, p.Hit, p.Note = wrote, &f.Hits[i], nouns.TieWrote.Label()
		}
	}
	if p.Hit != nil {
		return
	}
	if p.Commit == "" {
		p.Note = "not committed"
	}
	for _, s := range why.Unexplained {
		if len(s.Named) > 0 && nouns.Ranges(s.Ranges).Has(p.From) {
			p.Note = s.Named[0].String()
		}
		for _, by := range s.Notes {
			if nouns.Ranges(by.Ranges).Has(p.From) {
				p.Note = by.String()
			}
		}
	}
}
