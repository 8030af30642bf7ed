// Package advice lets an error say what to do about it. Whoever shows an error to a person asks Of, and need not know
// whose it is. A type of error with fields has its own method Hint; a kind of error without any is made by New.
package advice

import "errors"

// kind is an error that is compared with errors.Is.
type kind struct{ what, hint string }

// New returns a kind of error, with what to do about it.
func New(message, hint string) error { return &kind{message, hint} }

func (k *kind) Error() string { return k.what }

// Hint says what to do.
func (k *kind) Hint() string { return k.hint }

// Of is the hint of an error: of the outermost error in its chain that has one; "" if none has.
func Of(err error) string {
	var knows interface {
		error
		Hint() string
	}
	if errors.As(err, &knows) {
		return knows.Hint()
	}
	return ""
}
