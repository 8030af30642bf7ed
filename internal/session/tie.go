package session

// TieKind says how it is known that a session stands behind a code commit. The strongest comes first; attribution has
// the rules.
type TieKind int

// TieUnknown is a kind that a later version knows.
const TieUnknown TieKind = -1

// The kinds of ties, in one vocabulary for the ledger, SQL, JSON, screens and pages. A session that only talked stands
// behind nothing.
const (
	TieWrote  TieKind = iota + 1 // lines that the commit brought are its
	TieEdited                    // it wrote to files of the commit, which no commit before took
	TieMade                      // its own shell made the commit
	TieNamed                     // the commit's message, or another tool's record, names it
	// what the commit was made of, or became, is tied to it by content or by the word of others
	TieInferred
	TieAlleged // a ledger says so that is not of the commit's maker; people see an inferred tie
	TieTalked  // it was asked something, or did something, between the commit before and this one
)

// kindNames are the words of the kinds, and what people read of them.
//
//nolint:gochecknoglobals // a table
var kindNames = [...]struct{ word, label string }{
	{},
	{"wrote", "wrote lines"},
	{"edited", "wrote to its files"},
	{"made", "made the commit"},
	{"named", "is named by it"},
	{"inferred", "inferred from content"},
	{"inferred", "inferred from another's ledger"},
	{"talked", "talked meanwhile"},
}

// String is the word; "" where nothing is known.
func (k TieKind) String() string { return kindNames[max(k, 0)].word }

// Label says to people what a session has to do with a commit: "wrote to its files".
func (k TieKind) Label() string { return kindNames[max(k, 0)].label }

// LabelOf is the label of a kind with a word.
func LabelOf(word string) string {
	k, _ := ParseTie(word)
	return k.Label()
}

// ParseTie is the kind with a word.
func ParseTie(word string) (k TieKind, ok bool) {
	for k = TieWrote; k <= TieTalked; k++ {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}

// IsOfWhole reports whether a kind speaks of the commit, and of none of its files.
func (k TieKind) IsOfWhole() bool { return k > TieEdited && k < TieInferred }

// IsWeak reports whether nothing that was recorded at the commit says that the session changed what it did.
func (k TieKind) IsWeak() bool { return k >= TieInferred }

// MarshalText is String.
func (k TieKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a word; one that is not known is TieUnknown.
func (k *TieKind) UnmarshalText(word []byte) error {
	kind, known := ParseTie(string(word))
	if *k = kind; !known && len(word) > 0 {
		*k = TieUnknown
	}
	return nil
}
