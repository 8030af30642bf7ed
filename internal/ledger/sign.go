package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
)

// signMessage is that of a commit with which the author signs what was written unsigned: all that it builds on.
const signMessage = "rekal sign\n"

// ErrUnsigned is a commit that could not be signed.
var ErrUnsigned = errors.New("ledger: the commit could not be signed")

// Unsigned is how many commits of the ledger say something and are covered by no signature: neither their own, nor that of a commit of Sign.
// Whether signatures are good is not looked at.
func (l *Ledger) Unsigned(ctx context.Context) (n int, err error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return 0, err
	}
	var covers []git.OID
	for c, err := range l.repo.Walk(ctx, []git.OID{tip}, nil) {
		if err != nil {
			return 0, fmt.Errorf("ledger: %w", err)
		}
		if c.Signed && c.Message == signMessage {
			covers = append(covers, c.OID)
		}
	}
	err = eachCommit(ctx, l.repo, tip, covers, func(c git.Commit, adds []Commit) error {
		if !c.Signed && slices.ContainsFunc(adds, func(a Commit) bool { return len(a.Segments) > 0 }) {
			n++
		}
		return nil
	})
	return n, err
}

// Sign appends a signed commit that covers all that was written unsigned, and returns how many commits these are; nothing is written where
// there are none. It returns ErrUnsigned where git.Repo.SignWith named no way, or one that failed.
func (l *Ledger) Sign(ctx context.Context) (n int, err error) {
	for range tries {
		tip, err := l.Check()
		if err != nil || tip == "" {
			return 0, err
		}
		if n, err = l.Unsigned(ctx); err != nil || n == 0 {
			return 0, err
		}
		c, err := l.repo.Commit(tip)
		if err != nil {
			return 0, fmt.Errorf("ledger: %w", err)
		}
		next, err := l.repo.WriteCommit(git.Draft{Base: c.Tree, Parents: []git.OID{tip}, Message: signMessage, Author: l.who, Signed: true})
		if err != nil {
			return 0, fmt.Errorf("ledger: %w", err)
		}
		if c, err = l.repo.Commit(next); err != nil || !c.Signed {
			return 0, errors.Join(err, ErrUnsigned)
		}
		if err = l.repo.CompareAndSwap(ctx, l.ref, tip, next, "rekal: sign"); !errors.Is(err, git.ErrMoved) {
			return n, err
		}
	}
	return 0, fmt.Errorf("ledger: %s: %w", l.ref, git.ErrMoved)
}
