package session

import (
	"encoding/json"
	"slices"
	"strings"
)

// Terms are names by which a failure is known again: codes, types of exceptions, IDs of tests, symbols, and common
// words of errors. They never hold a line of an output. It is a text, so that calls can be compared: one term a line.
type Terms string

// What a call keeps of terms at most, and how long one is, in bytes.
const (
	MaxTerms = 10
	MaxTerm  = 80
)

// TermsOf are the first of some terms, each once; one that is too long is left out.
func TermsOf(all []string) Terms {
	var kept []string
	for _, t := range all {
		if t != "" && len(t) <= MaxTerm && !strings.ContainsFunc(t, isControl) && !slices.Contains(kept, t) &&
			len(kept) < MaxTerms {
			kept = append(kept, t)
		}
	}
	return Terms(strings.Join(kept, "\n"))
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// List are the terms one by one.
func (t Terms) List() []string {
	if t == "" {
		return nil
	}
	return strings.Split(string(t), "\n")
}

// MarshalJSON writes an array.
func (t Terms) MarshalJSON() ([]byte, error) { return json.Marshal(t.List()) }

// UnmarshalJSON reads an array. What is beyond the bounds is left out.
func (t *Terms) UnmarshalJSON(raw []byte) error {
	var all []string
	err := json.Unmarshal(raw, &all)
	*t = TermsOf(all)
	return err
}
