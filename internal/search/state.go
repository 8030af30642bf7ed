package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
)

// state says which runs make up the index. It is stored as JSON.
type state struct {
	NextRun int       `json:"next_run"` // the smallest ID that no run ever had
	Runs    []runInfo `json:"runs"`     // of postings, in the order of their units
	Removed []int     `json:"removed,omitempty"`
	Turns   int       `json:"turns"` // how many were ever added
	Model   modelInfo `json:"model"`
}

// runInfo is one run of postings: block 0 is its header, then come the postings by term, then its
// vocabulary.
type runInfo struct {
	ID    int `json:"id"`
	Units int `json:"units"`
}

// modelInfo is the semantic model and where its runs are. Block 0 of Terms is the fence of its
// other blocks.
type modelInfo struct {
	Turns   int         `json:"turns"` // how many turns it was trained on; 0: none yet
	Dim     int         `json:"dim"`   // 0: those were too few for a model
	Terms   int         `json:"terms"`
	Windows []windowRun `json:"windows,omitempty"` // the oldest first
}

func (s *state) newRun() int {
	s.NextRun++
	return s.NextRun - 1
}

// reader is what db.DB and db.Tx have in common.
type reader interface {
	Query(ctx context.Context, query string, args ...any) (*db.Rows, error)
}

func readState(ctx context.Context, r reader) (state, error) {
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

// damaged marks an error of malformed bytes as db.ErrCorrupt, which calls for a rebuild.
func damaged(err error) error {
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
	runs    []*lexical.Header // the oldest first
	terms   block.Fence       // of the model's terms
	windows windows
}

func readHeaders(ctx context.Context, r reader, st state) (*headers, error) {
	h := &headers{runs: make([]*lexical.Header, len(st.Runs))}
	h.windows = windows{dim: st.Model.Dim, headers: make([]*windowHeader, len(st.Model.Windows))}
	read := make(map[int]func(data []byte) error) // by run
	for i, run := range st.Runs {
		read[run.ID] = func(data []byte) (err error) {
			h.runs[i], err = lexical.DecodeHeader(data)
			return err
		}
	}
	for i, run := range st.Model.Windows {
		read[run.ID] = func(data []byte) (err error) {
			h.windows.headers[i], err = decodeWindowHeader(run.ID, data)
			return err
		}
	}
	if st.Model.Dim > 0 {
		read[st.Model.Terms] = func(data []byte) (err error) {
			h.terms, err = block.DecodeFence(data)
			return err
		}
	}
	var wants []db.Want
	for _, run := range slices.Sorted(maps.Keys(read)) {
		wants = append(wants, db.Some(run, []int{0}))
	}
	err := db.ReadBlocks(ctx, r, wants, func(b db.Block) error {
		f := read[b.Run]
		delete(read, b.Run)
		return f(b.Data)
	})
	if err == nil && len(read) > 0 {
		err = fmt.Errorf("%d runs have no header: %w", len(read), block.ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("search: read headers: %w", damaged(err))
	}
	return h, nil
}
