package session

// TieKind says how it is known that a session stands behind a code commit. The strongest comes first; attribution has the rules.
type TieKind int

// TieUnknown is a kind that a later version knows.
const TieUnknown TieKind = -1

// The kinds of ties, in one vocabulary for the ledger, SQL, JSON, screens and pages.
const (
	TieWrote    TieKind = iota + 1 // lines that the commit brought are its
	TieEdited                      // it wrote to files of the commit, which no commit before took
	TieTalked                      // it was in use here between the commit before and this one
	TieInferred                    // times, names or content alone say so, found later
)

// String is the word; "" where nothing is known.
func (k TieKind) String() string {
	switch {
	case k <= 0:
		return ""
	case k >= TieInferred:
		return "inferred"
	}
	return [...]string{"wrote", "edited", "talked"}[k-1]
}

// ParseTie is the kind with a word.
func ParseTie(word string) (k TieKind, ok bool) {
	for k = TieWrote; k <= TieInferred; k++ {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}

// IsWeak reports whether nothing says that the session changed what the commit did.
func (k TieKind) IsWeak() bool { return k >= TieTalked }

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
