// Package redact takes secrets out of everything that is about to be stored.
//
// In: a session.Entry as decoders and git made it. Out: an Entry with an unexported field. The codec accepts nothing else, so text that
// was not redacted cannot reach the ledger. Turns, titles, branches, commands, paths, tool names and memories are redacted. IDs, hashes,
// e-mail addresses and times stay.
//
// The rules are gitleaks v8.30.1's default ones (gitleaks.go), detectors of our own (formats.go), and values that the machine knows to be
// secret, or that were found before. They see each text in several readings (forms.go). Each text except paths is first normalised. A title that begins a prompt is
// made of the redacted prompt, so that the rules see one text. A found value is replaced by "[REDACTED:rule-id]" everywhere in the entry,
// unless it is an ordinary word. Before the rules, <private>…</private> becomes "[private]", text that names an excluded path "[excluded]",
// and a home folder "~".
//
// Promises: the same entry gives the same result; applying twice is applying once; the output is valid UTF-8; the given entry does not change;
// a normalised text (session.Plain) without findings comes out byte for byte. A Redactor is safe for concurrent use. It reads no file, and
// never logs or stores a secret's value or hash.
package redact

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Entry is a session.Entry that has been through redaction. Only Apply makes one that
// says something; the zero value is an empty entry.
type Entry struct{ entry session.Entry }

// Entry returns the redacted entry. Its slices are shared: read them only.
func (e Entry) Entry() session.Entry { return e.entry }

// Report says what one Apply replaced.
type Report struct {
	Rules   map[string]int // places replaced, by rule; nil when there were none
	Private int            // texts from which <private> passages were dropped
	// Excluded counts the texts, tool calls and files that named a path of rekal.exclude.
	Excluded int
	Marks    []Mark // every place, in the order of the entry
}

// Settings are what the user and the machine add to the rules. The zero value adds nothing.
type Settings struct {
	Known   func() []string  // values known to be secret; asked once, at the first text. nil: none
	Allow   []*regexp.Regexp // a finding that one of these matches is none
	Exclude []string         // globs of paths of which nothing is stored; see docs/redaction.md
	Home    string           // the user's home folder, which becomes "~"
	// Remembered holds the values that were found earlier in this clone. nil: none.
	Remembered Remembered
	// Published reports which candidates the repository itself publishes: as a whole word in a committed file of HEAD, or as the name of
	// a path, a branch or an author. Each scan asks once, and only about what generic rules found. nil: none are.
	Published func(ctx context.Context, candidates []string) ([]bool, error)
}

// Remembered finds values that an earlier Apply found, without knowing them. It is safe for concurrent use.
type Remembered interface {
	Find(text string) []Span  // the places in text where such a value stands
	Add(values []Value) error // what one scan of an entry found
}

// Span is a part of a text, in bytes.
type Span struct {
	Lo, Hi int
	Rule   string
}

// Value is a secret that was found, and the rule that found it.
type Value struct {
	Text, Rule string
	// OnlyWhereNamed says that the value is short or an ordinary word: it is a secret only where a text calls it one.
	OnlyWhereNamed bool
}

// Redactor finds and replaces secrets. Make one with New or With and share it.
type Redactor struct {
	rules   ruleset
	homes   homes
	exclude excluder
	memory  Remembered
	public  func(ctx context.Context, candidates []string) ([]bool, error)
}

// New returns a Redactor with the rules alone. It costs nothing: their keywords are indexed (about
// 1 ms) at the first text, and each rule is compiled when a text first holds one of its
// keywords.
func New() *Redactor { return With(Settings{}) }

// With returns a Redactor with settings.
func With(s Settings) *Redactor {
	return &Redactor{rules: ruleset{secrets: s.Known, memory: s.Remembered, userAllow: s.Allow}, homes: newHomes(s.Home), exclude: newExcluder(s.Exclude), memory: s.Remembered, public: s.Published}
}

// maxRounds is how often an entry is scanned before its unsettled texts are given up.
// Nearly all entries need one scan, those with findings two.
const maxRounds = 10

// Apply returns e without its secrets, and what was replaced. Turns are then cut to
// session.MaxTurn bytes and commands to session.CmdPrefix runes, never inside a
// marker. It fails when ctx ends.
func (r *Redactor) Apply(ctx context.Context, e session.Entry) (Entry, Report, error) {
	e = clone(e)
	var rep Report
	rep.Excluded = r.exclude.drop(&e, &rep)
	made := madeTitles(&e)
	all := texts(&e)
	var private atomic.Int64
	err := each(ctx, all, func(i int) error {
		if r.normalise(all[i]) {
			private.Add(1)
		}
		return nil
	})
	if err != nil {
		return Entry{}, Report{}, fmt.Errorf("redact: %w", err)
	}
	rep.Private = int(private.Load())
	public := map[string]bool{} // what the repository publishes of what was found
	if err := r.settle(ctx, all, all, public, &rep); err != nil {
		return Entry{}, Report{}, fmt.Errorf("redact: %w", err)
	}
	titles := made.again(all, &rep)
	if err := r.settle(ctx, titles, append(all, titles...), public, &rep); err != nil {
		return Entry{}, Report{}, fmt.Errorf("redact: %w", err)
	}
	for _, t := range append(all, titles...) {
		rep.Marks = append(rep.Marks, t.report()...)
	}
	return Entry{entry: e}, rep, nil
}

// normalise brings a text into its normal form, without what is private and whose home it was in. It reports whether something
// private was there.
func (r *Redactor) normalise(t *text) (private bool) {
	clean := strings.ToValidUTF8(*t.at, "\uFFFD")
	if !t.path {
		clean = session.Plain(clean)
	}
	clean = r.homes.replace(clean)
	visible, at := dropPrivate(clean)
	*t.at = visible
	for _, w := range at {
		t.marks = append(t.marks, mark{span: span{lo: w.lo, hi: w.hi, rule: "private", trigger: "<private>"}})
	}
	return visible != clean
}

// madeTitle is a title that is the beginning of a prompt, which is in the same entry.
type madeTitle struct {
	title, prompt *string
	was, session  string
}

type titles []madeTitle

// madeTitles takes away the titles that are made of a prompt. What is cut off a secret, no rule
// knows, so such a title is not redacted by itself.
func madeTitles(e *session.Entry) titles {
	var out titles
	for i := range e.Sessions {
		s := &e.Sessions[i]
		n := session.TitleTurn(s.Turns)
		if s.Title == "" || n < 0 || s.Title != session.PromptTitle(s.Turns[n].Content) {
			continue
		}
		out = append(out, madeTitle{&s.Title, &s.Turns[n].Content, s.Title, s.ID})
		s.Title = ""
	}
	return out
}

// again makes them of what redaction left of the prompts. A mark of the prompt that stands in its title is one of the title, too.
func (all titles) again(of []*text, rep *Report) []*text {
	var out []*text
	for _, m := range all {
		*m.title = session.PromptTitle(*m.prompt)
		t := &text{at: m.title, cut: whole, place: place{m.session, InTitle, -1}}
		i := slices.IndexFunc(of, func(p *text) bool { return p.at == m.prompt })
		for _, at := range markerForm.FindAllStringIndex(*m.title, -1) {
			if i < 0 || len(of[i].marks) <= len(t.marks) || strings.Contains(m.was, (*m.title)[at[0]:at[1]]) {
				continue
			}
			found := of[i].marks[len(t.marks)]
			found.lo, found.hi = at[0], at[1]
			t.marks = append(t.marks, found)
			rep.count(found.rule)
		}
		out = append(out, t)
	}
	return out
}

// settle replaces in all texts what stands in those to do, and cuts, until another scan finds
// nothing more: a replacement or a cut can bring a value to the end of a text, where a rule accepts it that did not
// before. Each round takes away bytes that are not markers, so it ends.
func (r *Redactor) settle(ctx context.Context, todo, all []*text, public map[string]bool, rep *Report) error {
	for round := 0; len(todo) > 0; round++ {
		if round == maxRounds {
			giveUp(todo, rep)
			return nil
		}
		found, err := r.scanAll(ctx, todo, public)
		if err != nil {
			return err
		}
		if err := found.weigh(ctx); err != nil {
			return err
		}
		changed, err := found.replace(ctx, all, rep)
		if err != nil {
			return err
		}
		for i, t := range all {
			if short := t.cut(*t.at); short != *t.at {
				t.marks = slices.DeleteFunc(t.marks, func(m mark) bool { return m.hi > len(short) })
				*t.at = short
				changed[i] = true
			}
		}
		todo = nil
		for i, t := range all {
			if changed[i] {
				todo = append(todo, t)
			}
		}
	}
	return nil
}

func giveUp(todo []*text, rep *Report) {
	for _, t := range todo {
		t.marks = []mark{{span{lo: 0, hi: len(Unsettled), rule: "unsettled", value: *t.at}}}
		*t.at = Unsettled
		rep.count("unsettled")
	}
}

func (r *Report) count(rule string) {
	if r.Rules == nil {
		r.Rules = map[string]int{}
	}
	r.Rules[rule]++
}

// text is one string of an entry that may hold a secret.
type text struct {
	at  *string
	cut func(string) string // to the length that is kept; applied after redaction
	// title marks a text that may itself be the cut beginning of another one.
	title bool
	path  bool // names a file, so its bytes say which
	place place
	marks []mark // what was replaced so far, in order, where it stands now
}

func whole(s string) string { return s }

func cutTitle(s string) string { return session.Shorten(session.OneLine(s), session.MaxTitle) }

// texts lists every text of e, in a fixed order.
func texts(e *session.Entry) []*text {
	var out []*text
	put := func(p place, t text) {
		if t.place = p; *t.at != "" {
			out = append(out, &t)
		}
	}
	add := func(p place, at *string) { put(p, text{at: at, cut: whole}) }
	addPath := func(p place, at *string) { put(p, text{at: at, cut: whole, path: true}) }
	add(place{"", InSubject, -1}, &e.Subject)
	if c := e.Checkpoint; c != nil {
		add(place{"", InBranch, -1}, &c.GitBranch)
		for i := range c.Files {
			addPath(place{"", InFile, -1}, &c.Files[i].Path)
			addPath(place{"", InFile, -1}, &c.Files[i].OldPath)
		}
	}
	for i := range e.Sessions {
		s := &e.Sessions[i]
		add(place{s.ID, InBranch, -1}, &s.Branch)
		add(place{s.ID, InModel, -1}, &s.Model)
		put(place{s.ID, InTitle, -1}, text{at: &s.Title, cut: cutTitle, title: true})
		for j := range s.Turns {
			put(place{s.ID, InTurn, s.Turns[j].Index}, text{at: &s.Turns[j].Content, cut: cutTurn})
		}
		for j := range s.ToolCalls {
			c := &s.ToolCalls[j]
			add(place{s.ID, InPath, c.Turn}, &c.Tool)
			addPath(place{s.ID, InPath, c.Turn}, &c.Path)
			put(place{s.ID, InCommand, c.Turn}, text{at: &c.Cmd, cut: cutCommand})
		}
	}
	for i := range e.Wrote {
		addPath(place{"", InFile, -1}, &e.Wrote[i].Path)
	}
	for i := range e.Memories {
		m := &e.Memories[i]
		put(place{"", InMemory, -1}, text{at: &m.Title, cut: cutTitle, title: true}) // an agent may have cut it from the content
		add(place{"", InMemory, -1}, &m.Content)
		add(place{"", InMemory, -1}, &m.Source)
	}
	return out
}

// clone copies what texts points into, so that the caller's entry stays as it is.
func clone(e session.Entry) session.Entry {
	if e.Checkpoint != nil {
		c := *e.Checkpoint
		c.Files = slices.Clone(c.Files)
		e.Checkpoint = &c
	}
	e.Sessions = slices.Clone(e.Sessions)
	for i := range e.Sessions {
		s := &e.Sessions[i]
		s.Turns = slices.Clone(s.Turns)
		s.ToolCalls = slices.Clone(s.ToolCalls)
	}
	e.Memories, e.Wrote = slices.Clone(e.Memories), slices.Clone(e.Wrote)
	return e
}
