package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// fetchedName names, in package statedb, the remote-tracking refs of ledgers that a question has taken in or left to a
// sync, with their OIDs. As long as the refs are unchanged, a question does no more than compare them.
const fetchedName = "fetched"

// takeInTime is how long a question takes to take in fetched ledgers. A hostile ledger takes longer, and is left to a
// sync.
const takeInTime = 3 * time.Second

// adoptFetched takes in ledgers that `git fetch` or `git pull` brought since the last time, from the remote of the
// agreement, or from the only remote. It returns no error, because the question can be answered without.
func (w *Workspace) adoptFetched(ctx context.Context) {
	all, err := ledger.Fetched(w.Repo, "*")
	if err != nil || len(all) == 0 {
		return
	}
	known := map[string]git.OID{}
	// mostly: which remote counts need not be asked
	if json.Unmarshal(w.noted.Text(ctx, fetchedName), &known) == nil && maps.Equal(all, known) {
		return
	}
	conf, err := w.Settings()
	remote := w.fetchedRemote(ctx, conf)
	if err != nil || remote == "" {
		return
	}
	tips, err := ledger.Fetched(w.Repo, remote)
	if err != nil || len(tips) == 0 || maps.Equal(tips, known) {
		return
	}
	author, err := w.Author(ctx)
	if author.Ledger == nil || err != nil {
		return // doctor tells
	}
	within, cancel := context.WithTimeout(ctx, takeInTime)
	defer cancel()
	moved := false
	for _, ref := range slices.Sorted(maps.Keys(tips)) {
		if tips[ref] == known[ref] {
			continue
		}
		taken, err := author.Ledger.AdoptAdded(within, remote, ref)
		if err = errors.Join(append(taken.Refused, err)...); err != nil {
			w.Warn(fmt.Errorf(`a fetch brought a ledger that is left to "git rekal sync": %w`, err))
		}
		moved = moved || taken.Own != ""
		w.tookIn = w.tookIn || taken.Ledgers > 0
		for c, err := range w.Repo.Newest(within, []git.OID{tips[ref]}, []git.OID{known[ref]}) {
			if w.tookInSigned = w.tookInSigned || err == nil && c.Signed; err != nil || w.tookInSigned {
				break
			}
		}
	}
	if ctx.Err() != nil {
		return
	}
	if moved { // the next hook has less to read
		_ = capture.UpdateCache(within, w.Repo, w.RekalDir())
	}
	_ = w.noteFetched(ctx, tips) // where that can't be, the next question looks again
}

// fetchedRemote is the remote whose ledgers are read as soon as a fetch brings them: the one that was agreed to, or the
// only one; "" for none.
func (w *Workspace) fetchedRemote(ctx context.Context, conf config.Config) string {
	if conf.Remote == "" && len(conf.Remotes) == 1 {
		return conf.Remotes[0]
	}
	if from, err := w.Repo.FetchAddress(ctx, conf.Remote); err != nil ||
		!conf.Agreed(conf.Remote, config.WithoutCredentials(from)) {
		return ""
	}
	return conf.Remote
}

// NoteSynced notes that a sync has taken in the fetched ledgers of a remote, or said why not, so that no question does
// it again.
func (w *Workspace) NoteSynced(ctx context.Context, remote string) {
	conf, err := w.Settings()
	if err != nil || w.fetchedRemote(ctx, conf) != remote {
		return
	}
	if tips, err := ledger.Fetched(w.Repo, remote); err == nil {
		_ = w.noteFetched(ctx, tips) // as above
	}
}

func (w *Workspace) noteFetched(ctx context.Context, tips map[string]git.OID) error {
	text, err := json.Marshal(tips)
	if err != nil {
		return err
	}
	return w.noted.set(ctx, fetchedName, text)
}
