package session

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID is a session's ID: the ULID of its first turn's time whose entropy is the
// first 10 bytes of SHA-256(source, native ID). Each part is preceded by its length,
// so no two pairs of parts hash alike.
func NewID(first time.Time, source, nativeID string) string {
	return derive(first, source, nativeID)
}

// NewMemoryID is a memory's ID: the ULID of the time when it was saved, with entropy from its
// author's address and what it says.
func NewMemoryID(saved time.Time, email, title, content string) string {
	return derive(saved, "memory", email, title, content)
}

// RowID is the ID of a turn ("turn"), tool call ("tool") or touched file ("file"):
// the ULID of its time whose entropy comes from SHA-256(owner, kind, index). The owner
// is a session's or a checkpoint's ID.
func RowID(ts time.Time, owner, kind string, index int) string {
	return derive(ts, owner, kind, fmt.Sprint(index))
}

// IDOfOthers is the ID of what the ledger of another author, by the name of its branch, says of a
// session whose ID is that of somebody else's.
func IDOfOthers(id, author string) string { return derive(TimeOfID(id), id, author) }

// TimeOfID is the time in an ID: when its session began or its memory was saved. The zero time for what
// is no ID.
func TimeOfID(id string) time.Time {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time())
}

func derive(ts time.Time, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		io.WriteString(h, p) //nolint:errcheck // a hash never fails
	}
	var id ulid.ULID
	// Times outside ULID's range (before 1970, after 10889) are clamped: a transcript
	// is untrusted input, and an ID only needs to be the same everywhere.
	ms := max(ts.UnixMilli(), 0)
	if err := id.SetTime(min(uint64(ms), ulid.MaxTime())); err != nil {
		panic(err) // unreachable: clamped above
	}
	copy(id[6:], h.Sum(nil)[:10])
	return id.String()
}

// IsID reports whether a text is an ID as a ledger has it.
func IsID(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}
