package db

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// NeedingVectors lists the sessions and memories with another number of turns than was embedded, or all, those with the
// latest IDs first.
func NeedingVectors(ctx context.Context, q Querier, all bool) ([]string, error) {
	return readTexts(query(ctx, q, `SELECT session FROM turns t GROUP BY session
		HAVING ? OR count(*) IS NOT (SELECT e.turns FROM embedded e WHERE e.session = t.session) ORDER BY session DESC`, all))
}

// TurnsOf reads the turns of sessions and memories, in their order.
func TurnsOf(ctx context.Context, q Querier, ids []string) (map[string][]session.Turn, error) {
	out := make(map[string][]session.Turn, len(ids))
	for _, id := range ids {
		all, err := turns(ctx, q, `WHERE session = ? ORDER BY i`, id)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			out[id] = all
		}
	}
	return out, nil
}

// Embedded says of which passages of a session there are vectors of an embedding model.
type Embedded struct {
	Session string
	Turns   int    // how many it had then; 0 where some passages have none yet
	Hashes  []byte // of the passages, 8 bytes each
}

// PassageHashes reads the hashes of the passages of sessions that have vectors.
func PassageHashes(ctx context.Context, q Querier, ids []string) (map[string][]byte, error) {
	return readMap[string, []byte](query(ctx, q,
		"SELECT session, hashes FROM embedded WHERE session IN (SELECT value FROM json_each(?))", ids))
}

// ReplaceEmbeddedPassages notes what has vectors now.
func (t *Tx) ReplaceEmbeddedPassages(ctx context.Context, rows []Embedded) error {
	return t.insert(ctx, "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", func(row func(...any)) {
		for _, e := range rows {
			if e.Hashes == nil {
				e.Hashes = []byte{}
			}
			row(e.Session, e.Turns, e.Hashes)
		}
	})
}

// ForgetEmbeddedPassages removes what ReplaceEmbeddedPassages noted.
func (t *Tx) ForgetEmbeddedPassages(ctx context.Context) error {
	return t.Exec(ctx, "DELETE FROM embedded")
}

// Embedding is the vector of a session under a model.
type Embedding struct {
	Session string
	Vector  []float32
}

// ReplaceEmbeddings writes the vectors of sessions under a model.
func (t *Tx) ReplaceEmbeddings(ctx context.Context, model string, rows []Embedding, now time.Time) error {
	return t.insert(ctx, "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, ?)", func(row func(...any)) {
		for _, e := range rows {
			blob := make([]byte, 0, 4*len(e.Vector))
			for _, x := range e.Vector {
				blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
			}
			row(e.Session, model, blob, now)
		}
	})
}

// ForgetEmbeddings removes the vectors of a model.
func (t *Tx) ForgetEmbeddings(ctx context.Context, model string) error {
	return t.Exec(ctx, "DELETE FROM embeddings WHERE model = ?", model)
}
