package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
)

// MinPrefix is how many characters of an ID are enough to try. Shown is how many are at least shown: IDs that were made
// within days begin alike.
const (
	MinPrefix = 4
	minShown  = 8
)

// ErrNoID says that nothing has the ID that was asked for.
var ErrNoID = advice.New("nothing has that ID",
	`IDs are in the answers of recall; "git rekal -n 5" lists the latest, "git rekal sync" fetches the team's`)

// ErrShortID says that so little of an ID was given that it is not tried.
var ErrShortID = fmt.Errorf("give at least %d characters", MinPrefix)

// AmbiguousError says that several IDs begin alike.
type AmbiguousError struct {
	Prefix string
	IDs    []string // the candidates, each as short as is unique; of many, one more than are told
}

// maxCandidates is how many candidates an AmbiguousError tells.
const maxCandidates = 10

func (e *AmbiguousError) Error() string {
	candidates := strings.Join(e.IDs[:min(len(e.IDs), maxCandidates)], ", ")
	if len(e.IDs) > maxCandidates {
		candidates += " and more"
	}
	return fmt.Sprintf("%q is ambiguous: %s", e.Prefix, candidates)
}

// Hint says what to do.
func (*AmbiguousError) Hint() string { return "give more of the ID" }

// Names tells sessions and memories apart by the beginnings of their IDs, or of those that agents gave them.
type Names struct {
	ids, native []named // in the order of their names
}

// named is an ID with one of its names: the ID itself, or the agent's ID of the session in lower case.
type named struct{ name, id, short string }

// NewNames takes all IDs there are, in any order, each with the ID that its agent gave it; "" for none.
func NewNames(all map[string]string) Names {
	ids := slices.Sorted(maps.Keys(all))
	n := Names{ids: make([]named, len(ids))}
	for i, id := range ids {
		most := minShown
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(ids) {
				most = max(most, commonPrefix(id, ids[j])+1)
			}
		}
		n.ids[i] = named{id, id, id[:min(most, len(id))]}
		if name := all[id]; name != "" {
			n.native = append(n.native, named{strings.ToLower(name), id, n.ids[i].short})
		}
	}
	slices.SortStableFunc(n.native, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// searchName is where a name stands among others, or belongs.
func searchName(all []named, name string) (int, bool) {
	return slices.BinarySearchFunc(all, name, func(n named, name string) int { return strings.Compare(n.name, name) })
}

// withPrefix are the entries whose names begin with a prefix.
func withPrefix(all []named, prefix string) []named {
	from, _ := searchName(all, prefix)
	to := from
	for to < len(all) && strings.HasPrefix(all[to].name, prefix) {
		to++
	}
	return all[from:to]
}

// CompleteID completes the beginning of an ID, in either case, also in a link. If no ID begins so, the beginning may be
// that of an agent's ID of a session. It returns ErrShortID, ErrNoID or an AmbiguousError if not exactly one ID is
// meant; each names the beginning.
func (n Names) CompleteID(prefix string) (string, error) {
	prefix = OnlyRef(prefix).ID
	if len(prefix) < MinPrefix {
		return "", fmt.Errorf("%q: %w", prefix, ErrShortID)
	}
	found := withPrefix(n.ids, strings.ToUpper(prefix))
	if len(found) == 0 {
		found = withPrefix(n.native, strings.ToLower(prefix))
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%q: %w", prefix, ErrNoID)
	case 1:
		return found[0].id, nil
	}
	var ids []string
	for _, f := range found[:min(len(found), maxCandidates+1)] {
		ids = append(ids, f.short)
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: ids}
}

// Len is how many there are.
func (n Names) Len() int { return len(n.ids) }

// Short is the shortest beginning of an ID that means it alone.
func (n Names) Short(id string) string {
	if i, found := searchName(n.ids, id); found {
		return n.ids[i].short
	}
	return id
}
