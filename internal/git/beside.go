package git

import "errors"

// AlsoReadFrom has r also find the objects of other, which Close closes, too. Each repository writes only to itself,
// and no git process of one knows the other: so a push of r sends nothing of other.
func (r *Repo) AlsoReadFrom(other *Repo) {
	r.beside = other
	r.store = joinedStores{r.store, other.store}
}

// RefsOfBeside is Refs of the repository that is read beside this one.
func (r *Repo) RefsOfBeside(globs ...string) (map[string]OID, error) {
	if r.beside == nil {
		return nil, nil
	}
	return r.beside.Refs(globs...)
}

// joinedStores is a store with the objects of another one.
type joinedStores struct {
	store
	beside store
}

func (j joinedStores) header(id OID) (Kind, uint64, error) {
	kind, size, err := j.store.header(id)
	if errors.Is(err, ErrNotFound) {
		return j.beside.header(id)
	}
	return kind, size, err
}

func (j joinedStores) object(id OID) (Kind, []byte, error) {
	kind, data, err := j.store.object(id)
	if errors.Is(err, ErrNotFound) {
		return j.beside.object(id)
	}
	return kind, data, err
}
