package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/git"
)

// cacheFile lies in .git/rekal/. It holds nothing that the ledger and the transcripts do not
// say: without it, or when it is of other tips, the state is read from the ledgers.
const cacheFile = "capture.cache"

// cacheVersion changes with what state holds; a cache of another version is dropped.
const cacheVersion = 17

// cacheContent is what the file holds behind a checksum of it, as CBOR.
type cacheContent struct {
	Version int
	State   *state
}

// sumSize is the checksum's, in bytes.
const sumSize = 4

func readCache(path string) *state {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sumSize || binary.BigEndian.Uint32(b) != crc32.ChecksumIEEE(b[sumSize:]) {
		return newState()
	}
	// Paths may be no UTF-8, and a ledger may tell of more commits than CBOR's usual bounds allow.
	form, err := cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode()
	c := cacheContent{State: newState()}
	if err != nil || form.Unmarshal(b[sumSize:], &c) != nil || c.Version != cacheVersion || !c.State.isInitialised() {
		return newState()
	}
	return c.State
}

// LastTips are the ledgers on this machine as the last capture left them, by ref; none where no cache is.
func LastTips(dir string) map[string]git.OID { return readCache(filepath.Join(dir, cacheFile)).Tips }

// isInitialised reports whether nothing is missing that newState makes.
func (st *state) isInitialised() bool {
	return st != nil && st.Sessions != nil && st.Recorded != nil && st.Rewrites != nil && st.Memories != nil && st.Marks != nil && st.Latest != nil &&
		st.Files != nil && st.Others != nil && st.Known != nil && !slices.Contains(slices.Collect(maps.Values(st.Sessions)), nil)
}

func (st *state) save(dir string) error { return st.saveAs(filepath.Join(dir, cacheFile)) }

// saveAs writes the state beside its name and renames it, so that a reader never sees half
// of it.
func (st *state) saveAs(path string) error {
	form, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	var b []byte
	if err == nil {
		b, err = form.Marshal(cacheContent{cacheVersion, st})
	}
	if err != nil {
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a clean took the folder away
	}
	if err != nil {
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	_, err = f.Write(append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)), b...))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	return nil
}
