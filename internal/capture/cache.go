package capture

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/statedb"
)

// cacheName names the state of captures in package statedb. It holds nothing that the ledger and the transcripts do not
// say: without it, or when it is of other tips, the state is read from the ledgers.
const cacheName = "capture"

// cacheVersion changes with what state holds; a cache of another version is dropped.
const cacheVersion = 18

// cacheContent is what is kept, as CBOR.
type cacheContent struct {
	Version int
	State   *state
}

func readCache(ctx context.Context, dir string) *state {
	text, born := statedb.Text(ctx, dir, cacheName)
	st := decodeState(text)
	st.born = born
	return st
}

// readElsewhere is what the state says of other projects' transcripts; the rest of it, which grows with the ledgers, is
// not decoded.
func readElsewhere(ctx context.Context, dir string) (known map[string][]byte, others map[string]bool) {
	text, _ := statedb.Text(ctx, dir, cacheName)
	var c struct {
		Version int
		State   struct {
			Known  map[string][]byte
			Others map[string]bool
		}
	}
	if !decode(text, &c) || c.Version != cacheVersion {
		return nil, nil
	}
	return c.State.Known, c.State.Others
}

// decodeState is the state that a text holds; an empty one where it holds none of this version.
func decodeState(text []byte) *state {
	c := cacheContent{State: newState()}
	if !decode(text, &c) || c.Version != cacheVersion || !c.State.isInitialised() {
		return newState()
	}
	return c.State
}

// decode reports whether a text is what into holds. Paths may be no UTF-8, and a ledger may tell of more commits than
// CBOR's usual bounds allow.
func decode(text []byte, into any) bool {
	form, err := cbor.DecOptions{
		UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: math.MaxInt32,
		MaxMapPairs: math.MaxInt32,
	}.DecMode()
	return err == nil && form.Unmarshal(text, into) == nil
}

// LastTips are the ledgers on this machine as the last capture left them, by ref; none where no cache is.
func LastTips(ctx context.Context, dir string) map[string]git.OID { return readCache(ctx, dir).Tips }

// isInitialised reports whether nothing is missing that newState makes.
func (st *state) isInitialised() bool {
	return st != nil && st.Sessions != nil && st.Recorded != nil && st.Rewrites != nil && st.Memories != nil &&
		st.Marks != nil && st.Latest != nil &&
		st.Files != nil && st.Others != nil && st.Known != nil &&
		!slices.Contains(slices.Collect(maps.Values(st.Sessions)), nil)
}

func (st *state) encode() ([]byte, error) {
	form, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		return nil, err
	}
	return form.Marshal(cacheContent{cacheVersion, st})
}

func (st *state) save(ctx context.Context, dir string) error {
	text, err := st.encode()
	if err == nil {
		err = statedb.SetText(ctx, dir, cacheName, text, st.born) // else the edits that it calls known were lost
	}
	if err != nil {
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	return nil
}

// RemoveCache removes the state, and the prints of edits.
func RemoveCache(ctx context.Context, dir string) error {
	return statedb.Forget(ctx, dir, cacheName)
}
