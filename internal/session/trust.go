package session

// Trust is what the signatures of a ledger say of something in it; the lowest of its parts counts.
type Trust int

// What a signature is worth, the least first. The zero value is one that nobody has looked at so far.
const (
	Bad      Trust = iota + 1 // it does not fit what is signed, or its key was revoked
	Unsigned                  // there is none
	Signed                    // it is good, of a key that is not known to be the author's, or expired
	Verified                  // it is good, of a key of the author
)

// String is the word for it; "" for the zero value.
func (t Trust) String() string {
	return [...]string{"", "bad", "unsigned", "signed", "verified"}[max(0, min(t, Verified))]
}
