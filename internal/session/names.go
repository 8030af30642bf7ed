package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MinPrefix is how many characters of an ID are enough to try. Shown is how many are at least shown: IDs that were made within
// days begin alike.
const (
	MinPrefix = 4
	shown     = 8
)

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

// Names tells sessions and memories apart by the beginnings of their IDs, or of those that agents gave them.
type Names struct {
	ids, short []string
	native     []native // in the order of their names
}

type native struct{ name, id string }

// NewNames takes all IDs there are, in any order, each with the ID that its agent gave it; "" for none.
func NewNames(all map[string]string) Names {
	ids := slices.Sorted(maps.Keys(all))
	n := Names{ids: ids, short: make([]string, len(ids))}
	for _, id := range ids {
		if name := all[id]; name != "" {
			n.native = append(n.native, native{strings.ToLower(name), id})
		}
	}
	slices.SortStableFunc(n.native, func(a, b native) int { return strings.Compare(a.name, b.name) })
	for i, id := range ids {
		most := shown
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

// Find completes the beginning of an ID, in either case; of one that an agent gave where no other begins so. It returns ErrShortID, ErrNoID or an AmbiguousError where that does not
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
		return n.ofAgent(prefix)
	case 1:
		return n.ids[from], nil
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: n.short[from:min(to, from+toldIDs+1)]}
}

// ofAgent completes the beginning of an ID that an agent gave.
func (n Names) ofAgent(prefix string) (string, error) {
	lower := strings.ToLower(prefix)
	from, _ := slices.BinarySearchFunc(n.native, lower, func(a native, name string) int { return strings.Compare(a.name, name) })
	to := from
	for to < len(n.native) && strings.HasPrefix(n.native[to].name, lower) && to-from <= toldIDs {
		to++
	}
	switch to - from {
	case 0:
		return "", fmt.Errorf("%q: %w", prefix, ErrNoID)
	case 1:
		return n.native[from].id, nil
	}
	var ids []string
	for _, a := range n.native[from:to] {
		ids = append(ids, n.Short(a.id))
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: ids}
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
