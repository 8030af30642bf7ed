package web

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of the pages of files and time.
const (
	filesShown  = 200
	pairsShown  = 100
	nearShown   = 10
	linesShown  = 400
	linesMost   = 1_000_000
	eventsShown = 50
	eventsMost  = 100_000
)

// timelinePage is the page of what happened when.
type timelinePage struct {
	Days         []day
	Form         form
	Newer, Older string
	Failed       string
}

type day struct {
	Date    string
	Authors []authorsDay
}

type authorsDay struct {
	Author string
	Events []event
}

// event is a checkpoint.
type event struct {
	result.Checkpoint
	At, Subject string
	Tied        bool // to a commit, that is
}

func makeTimeline(r *request) (page, error) {
	f := readForm(r)
	from := r.queryNumber("from", 0, eventsMost)
	out := timelinePage{Form: f}
	p := page{Template: "timeline", Title: "Timeline", Here: "timeline"}
	all, err := r.at.Log(r, ask.LogRequest{
		Limit: from + eventsShown + 1, Agent: f.Agent, Author: f.Author, Verified: f.verified(),
		Times: ask.Times{Since: f.Since, Until: f.Until},
	})
	if usage := (*ask.UsageError)(nil); errors.As(err, &usage) {
		out.Failed = usage.Error()
	} else if err != nil {
		return p, err
	}
	link := func(from int) string {
		return r.To("timeline", "from", from, "author", f.Author, "agent", f.Agent, "since", f.Since, "until", f.Until,
			"signature", f.Signature)
	}
	shown := all[min(from, len(all)):]
	if len(shown) > eventsShown {
		shown, out.Older = shown[:eventsShown], link(from+eventsShown)
	}
	if from > 0 {
		out.Newer = link(max(0, from-eventsShown))
	}
	zone := r.Now().Location()
	for _, c := range shown {
		out.add(event{
			Checkpoint: c, At: cmp.Or(c.LastTurnAt, c.TS), Subject: r.Subject(c.Commit),
			Tied: c.Commit != nouns.ZeroSHA,
		},
			func(stamp string) string { return result.FormatTime(stamp, zone, "Monday, 2 January 2006") })
	}
	if !r.Static {
		if out.Form.Authors, err = r.at.Authors(r); err != nil {
			return p, err
		}
	}
	p.Body = out
	return p, nil
}

// add puts an event into its day, at its author.
func (d *timelinePage) add(e event, date func(string) string) {
	on := date(e.At)
	if len(d.Days) == 0 || d.Days[len(d.Days)-1].Date != on {
		d.Days = append(d.Days, day{Date: on})
	}
	last := &d.Days[len(d.Days)-1]
	i := slices.IndexFunc(last.Authors, func(a authorsDay) bool { return a.Author == e.Author })
	if i < 0 {
		i = len(last.Authors)
		last.Authors = append(last.Authors, authorsDay{Author: e.Author})
	}
	last.Authors[i].Events = append(last.Authors[i].Events, e)
}

// filesPage is the page of all files.
type filesPage struct {
	Name  string // a part of the paths
	Files []ask.Touched
	Cut   bool
}

func makeFiles(r *request) (page, error) {
	out := filesPage{Name: r.query.Get("name")}
	var err error
	if out.Files, err = r.at.TouchedFiles(r, out.Name, filesShown+1); err != nil {
		return page{}, err
	}
	if out.Cut = len(out.Files) > filesShown; out.Cut {
		out.Files = out.Files[:filesShown]
	}
	return page{Template: "files", Title: "Files", Here: "files", Body: out}, nil
}

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
	Commit   string
	From, To int
	Lines    []codeLine
	Hit      *hit // nil: no session is known
	Color    int  // of the session, from 1 on; 0 for none
	Note     string
}

type codeLine struct {
	Number int
	Text   string
}

// colors is how many sessions of a file are told apart by a color, besides by their titles.
const colors = 6

func makeFile(r *request) (page, error) {
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
		if err := out.explainLines(r, text); err != nil && r.Err() == nil {
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
func (f *filePage) explainLines(r *request, text []string) error {
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
	f.Hits = hits(why, "")
	f.groupLines(why, text)
	return nil
}

// groupLines puts consecutive lines of one commit together, as blame pages do, and names the session that wrote most of
// them. Filler belongs to the lines above it.
func (f *filePage) groupLines(why result.Recall, text []string) {
	commits := commitOfLine(why.Why)
	for n := f.From; n <= f.To; n++ {
		l := codeLine{n, text[n-1][:markdown.CutPosition(text[n-1], maxLine)]}
		if len(f.Parts) > 0 && (nouns.IsFiller(l.Text) || commits[n] == f.Parts[len(f.Parts)-1].Commit) {
			last := &f.Parts[len(f.Parts)-1]
			last.Lines, last.To = append(last.Lines, l), n
		} else {
			f.Parts = append(f.Parts, part{From: n, To: n, Lines: []codeLine{l}, Commit: commits[n]})
		}
	}
	for i := range f.Parts {
		f.label(&f.Parts[i], why.Why)
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

// label names the session that wrote most of the lines of a part. Where none is known to have written any, the label is
// empty: who only made the commit, or wrote to the file, is in the list of sessions.
func (f *filePage) label(p *part, why *result.Why) {
	most := 0
	for i := range f.Hits {
		e, wrote := f.Hits[i].Explains, 0
		for _, l := range p.Lines {
			if e != nil && !nouns.IsFiller(l.Text) && nouns.Ranges(e.Exact).Has(l.Number) {
				wrote++
			}
		}
		if wrote > most {
			most, p.Hit, p.Color, p.Note = wrote, &f.Hits[i], i%colors+1, nouns.TieWrote.Label()
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

// makeTogether is the page of files that change together.
func makeTogether(r *request) (page, error) {
	pairs, err := r.at.ChangedTogether(r, "", pairsShown)
	return page{Template: "together", Title: "Files that change together", Here: "together", Body: pairs}, err
}
