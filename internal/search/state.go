package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// state says which runs make up the index. It is stored as JSON.
type state struct {
	NextRun int       `json:"next_run"` // the smallest ID that no run ever had
	Runs    []runInfo `json:"runs"`     // of postings, in the order of their units
	Removed []int     `json:"removed,omitempty"`
	Turns   int       `json:"turns"` // how many were ever added
	Model   modelInfo `json:"model"`
}

// runInfo is one run of postings: block 0 is its header.
type runInfo struct {
	ID    int `json:"id"`
	Units int `json:"units"`
}

// modelInfo is the semantic model and where its runs are. Block 0 of Terms is the fence of its
// other blocks; Windows has blocks of windows only, the newest last.
type modelInfo struct {
	Turns   int `json:"turns"` // how many turns it was trained on; 0: none yet
	Dim     int `json:"dim"`   // 0: those were too few for a model
	Terms   int `json:"terms"`
	Windows int `json:"windows"`
	Blocks  int `json:"blocks"` // how many blocks Windows has
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

// readHeaders reads the headers of the runs of postings, and the fence of the model's terms.
func readHeaders(ctx context.Context, r reader, st state) ([]*lexical.Header, block.Fence, error) {
	var wants []db.Want
	number := make(map[int]int, len(st.Runs))
	for i, run := range st.Runs {
		number[run.ID] = i
		wants = append(wants, db.Want{Run: run.ID, Blocks: []int{0}})
	}
	if st.Model.Dim > 0 {
		wants = append(wants, db.Want{Run: st.Model.Terms, Blocks: []int{0}})
	}
	headers := make([]*lexical.Header, len(st.Runs))
	var fence block.Fence
	err := db.ReadBlocks(ctx, r, wants, func(b db.Block) (err error) {
		if i, ok := number[b.Run]; ok {
			headers[i], err = lexical.DecodeHeader(b.Data)
		} else {
			fence, err = block.DecodeFence(b.Data)
		}
		return err
	})
	for i, h := range headers {
		if h == nil && err == nil {
			err = fmt.Errorf("run %d has no header: %w", st.Runs[i].ID, block.ErrFormat)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("search: read headers: %w", damaged(err))
	}
	return headers, fence, nil
}

// eachCurrent calls f for each window that no later block replaced; blocks come newest
// first. Sessions is how many there are.
//
// When a session grows, its windows from the first that changed are written again, so what an
// older block says of windows from there on is void.
func eachCurrent(blocks []db.Block, dim, sessions int, f func(semantic.Window)) error {
	void := make([]int, sessions) // by session: windows from here on
	for i := range void {
		void[i] = math.MaxInt
	}
	for _, b := range blocks {
		first := make(map[int]int)
		err := semantic.EachWindow(b.Data, dim, func(w semantic.Window) error {
			if w.Session >= sessions {
				return block.ErrFormat
			}
			if w.No >= void[w.Session] {
				return nil
			}
			if _, ok := first[w.Session]; !ok {
				first[w.Session] = w.No
			}
			f(w)
			return nil
		})
		if err != nil {
			return err
		}
		for s, no := range first {
			void[s] = no
		}
	}
	return nil
}
