// Package redact takes secrets out of everything that is about to be stored.
//
// In: a session.Entry as decoders and git made it. Out: an Entry with an unexported field. The codec accepts nothing
// else, so text that was not redacted cannot reach the ledger. IDs, hashes, e-mail addresses and times stay.
//
// The rules are gitleaks v8.30.1's default ones (gitleaks.go), formats that vendors document (vendors.go), detectors of
// our own (formats.go), and values that the machine knows to be secret, or that were found before. They see each text
// in several readings (forms.go). A found value is replaced by "[REDACTED:rule-id]" everywhere in the entry, unless it
// is an ordinary word. Before the rules, each text but a path is normalised, <private>…</private> becomes "[private]",
// text that names an excluded path "[excluded]", and a home folder "~".
//
// Promises: the same entry gives the same result; applying twice is applying once; the output is valid UTF-8; the given
// entry does not change; a normalised text (session.PlainText) without findings comes out byte for byte. A Redactor is
// safe for concurrent use. It reads no file, and never logs or stores a secret's value or hash.
package redact

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Entry is a session.Entry that has been through redaction. Only Apply makes one that says something; the zero value is
// an empty entry.
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
	Homes   []string         // the user's home folder by each of its paths, which become "~"
	// Remembered holds the values that were found earlier in this clone. nil: none.
	Remembered Remembered
	// Published reports who has the candidates anyway: as a whole word in a committed file, or as the name of a path, a
	// branch or an author. Each scan asks once, and only about what generic rules found. nil: nobody has.
	Published func(ctx context.Context, candidates []string) ([]Publicity, error)
	// Excused is told which values stay only because they are Committed: somebody has to look again before they are sent.
	// nil: nobody.
	Excused func(ctx context.Context, values []Value) error
}

// Publicity says who has a value, whatever becomes of the ledger.
type Publicity int

const (
	Unpublished Publicity = iota
	// it stands in commits here that no remote is known to have: that excuses a name of code, and no other value
	Committed
	Pushed // a remote has it
)

// Remembered finds values that an earlier Apply found, without knowing them. It is safe for concurrent use.
type Remembered interface {
	Find(text string) []Span                       // the places in text where such a value stands
	Add(ctx context.Context, values []Value) error // what one scan of an entry found
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
	public  func(ctx context.Context, candidates []string) ([]Publicity, error)
	excused func(ctx context.Context, values []Value) error
}

// New returns a Redactor with the rules alone. It costs nothing: their keywords are indexed (about 1 ms) at the first
// text, and each rule is compiled when a text first holds one of its keywords.
func New() *Redactor { return With(Settings{}) }

// With returns a Redactor with settings.
func With(s Settings) *Redactor {
	return &Redactor{
		rules: ruleset{secrets: s.Known, memory: s.Remembered, userAllow: s.Allow}, homes: newHomes(s.Homes),
		exclude: newExcluder(s.Exclude),
		memory:  s.Remembered, public: s.Published, excused: s.Excused,
	}
}

// maxRounds is how often an entry is scanned before its unsettled texts are given up.
// Nearly all entries need one scan, those with findings two.
const maxRounds = 10

// Apply returns e without its secrets, and what was replaced. Turns are then cut to session.MaxTurn bytes and commands
// to session.CmdPrefix runes, never inside a marker. It fails when ctx ends.
func (r *Redactor) Apply(ctx context.Context, e session.Entry) (Entry, Report, error) {
	e = clone(e)
	rep := Report{Marks: r.exclude.drop(&e)}
	rep.Excluded = len(rep.Marks)
	all, made := texts(&e)
	published := map[string]bool{} // of what was found
	err := eachText(ctx, all, func(i int) error { r.normalise(all[i]); return nil })
	if err == nil {
		err = r.settle(ctx, all, all, published)
	}
	n := len(all)
	for _, m := range made {
		all = append(all, m.remake())
	}
	if err == nil {
		err = r.settle(ctx, all[n:], all, published)
	}
	if err != nil {
		return Entry{}, Report{}, fmt.Errorf("redact: %w", err)
	}
	for _, t := range all {
		t.addTo(&rep)
	}
	dropRedactedTerms(&e)
	return Entry{entry: e}, rep, nil
}

// dropRedactedTerms leaves out terms of failures from which something was taken: what is left names nothing.
func dropRedactedTerms(e *session.Entry) {
	for i := range e.Sessions {
		for j := range e.Sessions[i].ToolCalls {
			if c := &e.Sessions[i].ToolCalls[j]; session.HasMark(string(c.Terms)) {
				c.Terms = session.TermsOf(slices.DeleteFunc(c.Terms.List(), session.HasMark))
			}
		}
	}
}

// normalise brings a text into its normal form, without what is private and whose home it was in.
func (r *Redactor) normalise(t *text) {
	clean := strings.ToValidUTF8(*t.at, "\uFFFD")
	if !t.path {
		clean = session.PlainText(clean)
	}
	visible, at := dropPrivate(r.homes.replace(clean))
	*t.at = visible
	for _, w := range at {
		t.marks = append(t.marks, span{lo: w.lo, hi: w.hi, rule: "private", trigger: "<private>"})
	}
}

// settle replaces in all texts what stands in those to do, and cuts, until another scan finds
// nothing more: a replacement or a cut can bring a value to the end of a text, where a rule accepts it that did not
// before. Each round takes away bytes that are not markers, so it ends.
func (r *Redactor) settle(ctx context.Context, todo, all []*text, published map[string]bool) error {
	for round := 0; len(todo) > 0 && round < maxRounds; round++ {
		found, err := r.scanAll(ctx, todo, published)
		if err == nil {
			err = found.prepareValues(ctx)
		}
		if err == nil {
			err = found.replace(ctx, all)
		}
		if err != nil {
			return err
		}
		todo = nil
		for _, t := range all {
			if short := t.cut(); short != *t.at {
				t.marks = slices.DeleteFunc(t.marks, func(m span) bool { return m.hi > len(short) })
				*t.at, t.changed = short, true
			}
			if t.changed {
				todo = append(todo, t)
			}
			t.changed = false
		}
	}
	for _, t := range todo {
		t.marks = []span{{lo: 0, hi: len(Unsettled), rule: "unsettled", value: *t.at}}
		*t.at = Unsettled
	}
	return nil
}

// text is one string of an entry that may hold a secret.
type text struct {
	at      *string
	place   Mark   // without what was replaced
	title   bool   // may itself be the cut beginning of another text
	path    bool   // names a file, so its bytes say which
	changed bool   // in this round
	marks   []span // what was replaced so far, in order, where it stands now
}

// cut is the text at the length that is kept; for what redaction has left.
func (t *text) cut() string {
	switch {
	case t.title:
		return session.Truncate(session.OneLine(*t.at), session.MaxTitle)
	case t.place.In == InTurn:
		return cutTurn(*t.at)
	case t.place.In == InCommand:
		return cutCommand(*t.at)
	}
	return *t.at
}

// texts lists every text of e, in a fixed order, but for titles that are made of a prompt.
func texts(e *session.Entry) (out []*text, made []madeTitle) {
	at := Mark{Turn: -1}
	add := func(in string, as text, all ...*string) {
		at.In = in
		for _, s := range all {
			if t := as; *s != "" {
				t.at, t.place = s, at
				out = append(out, &t)
			}
		}
	}
	add(InSubject, text{}, &e.Subject)
	if c := e.Checkpoint; c != nil {
		add(InBranch, text{}, &c.GitBranch)
		for i := range c.Files {
			add(InFile, text{path: true}, &c.Files[i].Path, &c.Files[i].OldPath)
		}
	}
	for i := range e.Sessions {
		s := &e.Sessions[i]
		at = Mark{Session: s.ID, Turn: -1}
		add(InBranch, text{}, &s.Branch)
		for _, f := range session.AllFacts() {
			add(f.Name, text{}, f.Of(&s.Facts))
		}
		prompt := -1
		if s.Title != "" {
			prompt = session.TitleTurn(s.Turns)
		}
		if prompt < 0 || s.Title != session.PromptTitle(s.Turns[prompt].Content) {
			prompt = -1
			add(InTitle, text{title: true}, &s.Title)
		}
		for j := range s.Turns {
			at.Turn = s.Turns[j].Index
			add(InTurn, text{}, &s.Turns[j].Content)
			if j == prompt {
				made = append(made, madeTitle{&s.Title, out[len(out)-1]})
			}
		}
		for j := range s.ToolCalls {
			c := &s.ToolCalls[j]
			at.Turn = c.Turn
			add(InPath, text{}, &c.Tool)
			add(InPath, text{path: true}, &c.Path)
			add(InCommand, text{}, &c.Cmd)
			add(InPath, text{}, (*string)(&c.Terms))
		}
	}
	at = Mark{Turn: -1}
	for i := range e.Wrote {
		add(InFile, text{path: true}, &e.Wrote[i].Path)
	}
	for i := range e.Memories {
		m := &e.Memories[i]
		add(InMemory, text{title: true}, &m.Title) // an agent may have cut it from the content
		add(InMemory, text{}, &m.Content, &m.Source, &m.Rejects)
	}
	return out, made
}

// madeTitle is a title that is the beginning of a prompt in the same entry. What is cut off a secret, no rule knows, so
// it is not redacted by itself.
type madeTitle struct {
	title  *string
	prompt *text
}

func (m madeTitle) place() Mark { return Mark{Session: m.prompt.place.Session, In: InTitle, Turn: -1} }

// remake makes the title of what redaction left of the prompt. A mark of the prompt that stands in its title is one of
// the title, too.
func (m madeTitle) remake() *text {
	*m.title = session.PromptTitle(*m.prompt.at)
	t := &text{at: m.title, place: m.place()}
	markers := markerForm.FindAllStringIndex(*m.title, -1)
	for _, p := range m.prompt.marks {
		n := len(markerForm.FindAllStringIndex((*m.prompt.at)[:p.lo], -1))
		if n >= len(markers) {
			break
		}
		p.lo, p.hi = markers[n][0], markers[n][1]
		t.marks = append(t.marks, p)
	}
	return t
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
