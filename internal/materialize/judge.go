package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// JudgeSignatures notes what the signatures of the ledgers' commits are worth. keys and sameForKey are of
// signature.KeysFingerprint: what was found with other keys is looked at again. Git is asked of at most so many
// commits, the latest of each ledger first; all is whether none is left.
func (m *Materializer) JudgeSignatures(ctx context.Context, keys string, sameForKey bool,
	limit int,
) (all bool, err error) {
	for moves := 0; ; moves++ {
		all, err = m.judgeSignatures(ctx, keys, sameForKey, limit)
		if !errors.Is(err, errMoved) || moves == maxMoves {
			return all, err
		}
	}
}

// judgeSignatures returns errMoved where a ledger moved meanwhile: another process may have judged what is new.
func (m *Materializer) judgeSignatures(ctx context.Context, keys string, sameForKey bool,
	limit int,
) (all bool, err error) {
	index := embeddable{m}
	heads, err := m.ledgersRead()
	if err != nil {
		return false, err
	}
	var tips []string // a commit of Sign says nothing itself, and changes what those before it are worth
	for _, h := range heads {
		tips = append(tips, string(h.OID))
	}
	var known []db.SignatureRow
	missing := 0
	err = index.Read(ctx, func(q db.Querier) (err error) {
		if missing, err = db.CountUnjudged(ctx, q, keys, tips); err == nil && missing > 0 {
			known, err = db.Signatures(ctx, q, keys)
		}
		return err
	})
	if err != nil || missing == 0 {
		return err == nil, err
	}
	all = true
	before, rows := map[git.OID]git.Verdict{}, map[[2]string]db.SignatureRow{}
	for _, r := range known {
		before[git.OID(r.Commit)] = git.Verdict{Letter: r.Letter, Signer: r.Signer}
	}
	for _, h := range heads {
		judged, err := ledger.JudgeSignatures(ctx, m.Repo, h,
			func(ctx context.Context, ids []git.OID) (map[git.OID]git.Verdict, error) {
				ids = slices.DeleteFunc(ids, func(id git.OID) bool { return before[id] != git.Verdict{} })
				all = all && len(ids) <= limit
				ids = ids[max(0, len(ids)-limit):]
				limit -= len(ids)
				more, err := m.Repo.Verdicts(ctx, ids, sameForKey)
				maps.Copy(before, more)
				return before, err
			})
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil { // the others are no worse for it
			all = false
			m.Warn(fmt.Errorf("the signatures of %s were not looked at: %w", h.Ref, err))
			continue
		}
		for id, j := range judged {
			key := [2]string{string(id), address(h.Email)}
			// of several branches of one ledger the best one counts, which a commit of Sign may cover
			if j.Trust > rows[key].Trust {
				rows[key] = db.SignatureRow{Commit: key[0], Email: key[1], Letter: j.Letter, Signer: j.Signer, Trust: j.Trust}
			}
		}
	}
	return all, index.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if now, err := m.ledgersRead(); err != nil || !slices.Equal(now, heads) {
			return cmp.Or(err, errMoved)
		}
		if err := tx.ReplaceSignatures(ctx, keys, slices.Collect(maps.Values(rows))); err != nil {
			return err
		}
		return m.judgePurges(ctx, tx)
	})
}

// readSignatures is what the index knows of signatures, for one that is made anew: git takes long for many. Where it
// can't be read, they are judged anew.
func (m *Materializer) readSignatures(ctx context.Context) (keys string, all []db.SignatureRow) {
	old, err := db.OpenReplaced(ctx, m.filePath(indexFile))
	if err != nil {
		return "", nil // there is none, or it is why a new one is made
	}
	defer func() { _ = old.Close() }() // it was only read
	if keys, err = old.SigningKeys(ctx); err == nil {
		all, err = db.Signatures(ctx, old, keys)
	}
	if err != nil {
		return "", nil // the same
	}
	return keys, all
}

// judgePurges takes back what marks of others did, as far as signatures tell, and has those count that do.
func (m *Materializer) judgePurges(ctx context.Context, tx *db.Tx) error {
	at, err := readCursor(ctx, tx)
	if err != nil {
		return err
	}
	said, err := readClaims(ctx, tx, nil)
	if err != nil {
		return err
	}
	s := m.newStore(nil)
	s.claims = newClaims(said, at)
	if err := s.loadPurged(ctx, tx); err != nil {
		return err
	}
	return s.updatePurged(ctx, tx, at)
}

// ForeignCommit is a commit in one's own ledger that is not one's own, as far as signatures say.
type ForeignCommit struct {
	OID    git.OID
	Signer string // "" where git knows none
	Trust  session.Trust
}

// String says whose it is, as far as git knows.
func (f ForeignCommit) String() string {
	switch {
	case f.Trust == session.Bad:
		return "whose signature is bad"
	case f.Signer != "":
		return "signed by " + f.Signer
	}
	return "signed by a key that git does not know"
}

// ForeignCommits lists such commits of a ledger, the latest first, by what Judge noted.
func (m *Materializer) ForeignCommits(ctx context.Context, ref, keys string) (out []ForeignCommit, err error) {
	heads, err := m.ledgersRead()
	if err != nil {
		return nil, err
	}
	r, err := m.OpenExisting(ctx)
	if err != nil {
		return nil, err
	}
	known, err := db.Signatures(ctx, r, keys)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	for _, h := range heads {
		if h.Ref != ref {
			continue
		}
		judged := map[git.OID]ledger.Judgement{}
		for _, r := range known {
			if r.Email == address(h.Email) {
				judged[git.OID(r.Commit)] = ledger.Judgement{
					Verdict: git.Verdict{Letter: r.Letter, Signer: r.Signer}, Trust: r.Trust,
				}
			}
		}
		ids, err := ledger.Foreign(ctx, m.Repo, h, judged)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, ForeignCommit{id, judged[id].Signer, judged[id].Trust})
		}
	}
	return out, nil
}
