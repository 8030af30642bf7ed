package session

import (
	"cmp"
	"strings"
)

// Facts are texts about a session as a whole, on one line each, that only some agents tell; "" where nothing says. What
// a session takes from one, it keeps until another part of it says otherwise.
//
// A fact is described here and nowhere else: it has the same name in the ledger, in the index, in SQL and in JSON, is
// redacted and scrubbed, and people and agents are shown it beside the agent. A new one needs its field, its line in
// AllFacts, a decoder that fills it in, and a line each in docs/ledger-format.md and docs/json.md.
type Facts struct {
	Model string `json:"model,omitzero"` // the language model that spoke last in this part, as the agent names it
	// Person is who talked with the agent, by e-mail address, where another tool kept the session and names somebody else
	// than the ledger's author. It is that tool's word, and the author's who imported it.
	Person string `json:"person,omitzero"`
}

// Fact describes one of Facts.
type Fact struct {
	Name  string // a word in lower case
	Of    func(*Facts) *string
	Label string // stands before it where it is shown; "" where it says what it is
}

// AllFacts describes Facts, in their order. One is only ever added, at the end: rows of the index have this order.
func AllFacts() []Fact {
	return []Fact{
		{Name: "model", Of: func(f *Facts) *string { return &f.Model }},
		{Name: "person", Of: func(f *Facts) *string { return &f.Person }, Label: "with "},
	}
}

// FactList is a list of the facts in their order, each made by a format: of "s.%" with "model" "s.model", and so on,
// between commas.
func FactList(format string) string {
	var out []string
	for _, f := range AllFacts() {
		out = append(out, strings.ReplaceAll(format, "%", f.Name))
	}
	return strings.Join(out, ", ")
}

// Texts are the places of all facts, in their order.
func (f *Facts) Texts() (out []*string) {
	for _, fact := range AllFacts() {
		out = append(out, fact.Of(f))
	}
	return out
}

// Take has what a later part says replace what f says.
func (f *Facts) Take(later Facts) {
	texts := later.Texts()
	for i, text := range f.Texts() {
		*text = cmp.Or(*texts[i], *text)
	}
}

// Shown are the facts that are known as people are shown them.
func (f Facts) Shown() (out []string) {
	for _, fact := range AllFacts() {
		if text := *fact.Of(&f); text != "" {
			out = append(out, fact.Label+text)
		}
	}
	return out
}
