package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
)

// state says which runs make up the index. It is stored as JSON.
type state struct {
	NextRun  int       `json:"next_run"`         // the smallest ID that no run ever had
	Runs     []runInfo `json:"runs"`             // of postings, in the order of their units
	Hidden   []int     `json:"hidden,omitempty"` // sessions, by number
	Embedded embedInfo `json:"embedded,omitzero"`
}

// runInfo is a run that ends with a header: of postings, whose size is counted in units, or of
// passages.
type runInfo struct {
	ID   int   `json:"id"`
	Size int   `json:"size"`
	Head int64 `json:"head"` // where the header begins
	End  int64 `json:"end"`  // how many bytes there are
}

func (r runInfo) header() db.Span { return db.Span{Run: r.ID, From: r.Head, To: r.End} }

func (s *state) newRun() int {
	s.NextRun++
	return s.NextRun - 1
}

func readState(ctx context.Context, r db.Querier) (state, error) {
	var st state
	text, err := db.SearchState(ctx, r)
	if err != nil {
		return st, fmt.Errorf("search: %w", err)
	}
	if text == "" {
		return st, nil
	}
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		return st, fmt.Errorf("search: state: %w: %w", db.ErrCorrupt, err)
	}
	return st, nil
}

// asCorrupt marks an error of malformed bytes as db.ErrCorrupt, which calls for a rebuild.
func asCorrupt(err error) error {
	if errors.Is(err, block.ErrFormat) {
		return fmt.Errorf("%w: %w", db.ErrCorrupt, err)
	}
	return err
}

func writeState(ctx context.Context, tx *db.Tx, st state) error {
	text, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("search: state: %w", err)
	}
	return tx.WriteSearchState(ctx, string(text))
}

// headers is what every use of an index reads first.
type headers struct {
	runs     []*lexical.Header // the oldest first
	embedded embeddings        // the passages of an embedding model
}

func readHeaders(ctx context.Context, r db.Querier, st state) (*headers, error) {
	var spans []db.Span
	for _, runs := range [][]runInfo{st.Runs, st.Embedded.Passages} {
		for _, run := range runs {
			spans = append(spans, run.header())
		}
	}
	data, err := db.ReadSpans(ctx, r, spans)
	if err != nil {
		return nil, fmt.Errorf("search: read headers: %w", err)
	}
	h, err := decodeHeaders(st, data)
	if err != nil {
		return nil, fmt.Errorf("search: read headers: %w", asCorrupt(err))
	}
	return h, nil
}

// decodeHeaders takes the headers in the order in which readHeaders asks for them.
func decodeHeaders(st state, data [][]byte) (h *headers, err error) {
	h = &headers{runs: make([]*lexical.Header, len(st.Runs))}
	for i := range st.Runs {
		if h.runs[i], err = lexical.DecodeHeader(data[i]); err != nil {
			return nil, err
		}
	}
	h.embedded, err = newEmbeddings(st.Embedded.Dim, st.Embedded.Passages, data[len(h.runs):])
	return h, err
}
