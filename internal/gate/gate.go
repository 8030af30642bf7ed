// Package gate decides what of an index leaves this clone: to a screen, an agent, a page, a file.
//
// In: who reads, and text that others wrote. Out: which sessions a reader may see at all (ask.Open keeps the rest out
// of the index), and the text as that reader may have it: quoted, and cut to a size. Every exit names its reader; one
// that names none is an agent, who is told least.
//
// Screens of people and JSON have their own forms for what is hidden (result.Printable, result.Write), pages that of
// html/template. What stands in the prompt or the context of an agent has the form of this package: agents expand what
// looks like a path, a command or a link of their user's.
package gate

// Reader is who reads what leaves.
type Reader int

// The readers.
const (
	Agent    Reader = iota // an agent, an editor, a script: whoever is not known to be a person
	Person                 // looks at a terminal, or at pages of the own machine
	Visitor                // looks at pages of a server, by the rights that a remote gives
	Stranger               // has a file or page that was made to be given away
)

// Rules are what a reader may see.
type Rules struct {
	Verified bool // nothing but what a key of its author signed, if rekal.require says so
	Public   bool // no private sessions, and no records
}

// RulesFor are the rules for a reader.
func RulesFor(r Reader) Rules {
	return Rules{Verified: r != Person, Public: r == Visitor || r == Stranger}
}
