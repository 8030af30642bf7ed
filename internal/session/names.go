package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MinPrefix is how many characters of an ID are enough to try.
const MinPrefix = 8

// ErrNoID says that nothing has the ID that was asked for.
var ErrNoID = errors.New("nothing has that ID")

// ErrShortID says that so little of an ID was given that it is not tried.
var ErrShortID = fmt.Errorf("give at least %d characters", MinPrefix)

// AmbiguousError says that several IDs begin alike.
type AmbiguousError struct {
	Prefix string
	IDs    []string // the candidates, each as short as is unique; of many, one more than are told
}

// toldIDs is how many candidates an AmbiguousError tells.
const toldIDs = 10

func (e *AmbiguousError) Error() string {
	told := strings.Join(e.IDs[:min(len(e.IDs), toldIDs)], ", ")
	if len(e.IDs) > toldIDs {
		told += " and more"
	}
	return fmt.Sprintf("%q is ambiguous: %s", e.Prefix, told)
}

// Names tells sessions and memories apart by the beginnings of their IDs.
type Names struct{ ids, short []string }

// NewNames takes all IDs there are, in any order.
func NewNames(ids []string) Names {
	ids = slices.Sorted(slices.Values(ids))
	n := Names{ids, make([]string, len(ids))}
	for i, id := range ids {
		most := MinPrefix
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(ids) {
				most = max(most, common(id, ids[j])+1)
			}
		}
		n.short[i] = id[:min(most, len(id))]
	}
	return n
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Find completes the beginning of an ID, in either case. It returns ErrShortID, ErrNoID or an AmbiguousError where that does not
// mean exactly one; each names the beginning.
func (n Names) Find(prefix string) (string, error) {
	if len(prefix) < MinPrefix {
		return "", fmt.Errorf("%q: %w", prefix, ErrShortID)
	}
	upper := strings.ToUpper(prefix)
	from, _ := slices.BinarySearch(n.ids, upper)
	to := from
	for to < len(n.ids) && strings.HasPrefix(n.ids[to], upper) {
		to++
	}
	switch to - from {
	case 0:
		return "", fmt.Errorf("%q: %w", prefix, ErrNoID)
	case 1:
		return n.ids[from], nil
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: n.short[from:min(to, from+toldIDs+1)]}
}

// Len is how many there are.
func (n Names) Len() int { return len(n.ids) }

// Short is the shortest beginning of an ID that means it alone.
func (n Names) Short(id string) string {
	if i, found := slices.BinarySearch(n.ids, id); found {
		return n.short[i]
	}
	return id
}
