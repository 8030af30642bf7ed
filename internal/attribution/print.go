// Package attribution decides to which session a commit, a file or a line belongs. Every rule about that stands here
// once, as a pure function. capture, materialize and recall hand in what it needs.
//
//	Match                        who wrote the lines of a commit, by prints of lines, never the lines themselves
//	Evidence                     by which rule a session is tied to a commit, when that is captured and when it is read
//	Files                        what a checkpoint says of its sessions, and who owns its files
//	CredibleTies, CredibleLines  which statements of the ledgers count
//	Revision                     how a session is tied to a commit that somebody asks for
//	Resolve, Lineage             what amends and rebases made of commits
//
// What a commit that no hook saw was made of is found in package commits (squash.go).
package attribution

import "unicode"

// A Print is a hash of a line without its white space, so that a formatter does not change it. Its lowest bit is set
// for a distinctive line. Blank lines have the print Blank. Two different lines have the same print by chance
// once in 2^63.
type Print uint64

// Blank is the print of a line of white space.
const Blank Print = 0

// minDistinctive is how many letters and digits a distinctive line has at least: "end" and "else" are not distinctive.
const minDistinctive = 5

// FNV-1a for 64 bits (Fowler, Noll and Vo), a character at a time.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// PrintOf is the print of a line.
func PrintOf(line string) Print {
	h, all, words := uint64(fnvBasis), 0, 0
	for _, r := range line {
		if unicode.IsSpace(r) {
			continue
		}
		h, all = (h^uint64(r))*fnvPrime, all+1
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			words++
		}
	}
	switch {
	case all == 0:
		return Blank
	case words >= minDistinctive:
		return Print(h | 1)
	}
	return Print(h &^ 1)
}

func (p Print) isDistinctive() bool { return p&1 == 1 }

// Prints are the prints of some lines.
func Prints(lines []string) []Print {
	out := make([]Print, len(lines))
	for i, l := range lines {
		out[i] = PrintOf(l)
	}
	return out
}
