package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// signMessage is the message of the commit by which the author signs all unsigned commits before it.
const signMessage = "rekal sign\n"

// ErrUnsigned is a commit that could not be signed.
var ErrUnsigned = errors.New("ledger: the commit could not be signed")

// Unsigned is a commit of the ledger that says something, and that no signature covers.
type Unsigned struct {
	git.Commit
	Here bool // this clone made it, by the reflog of the branch
}

// StrangeError is a Sign that would cover commits which this clone did not make.
type StrangeError struct{ Commits []Unsigned }

func (e *StrangeError) Error() string {
	return fmt.Sprintf("ledger: %s of it not made in this clone", session.CountNoun(len(e.Commits), "commit"))
}

// Unsigned are the commits of the ledger that say something and are covered by no signature, neither their own, nor
// that of a commit of Sign; the first ones first. Whether signatures are good is not looked at.
func (l *Ledger) Unsigned(ctx context.Context) (all []Unsigned, err error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return nil, err
	}
	here, err := l.madeHere()
	if err != nil {
		return nil, err
	}
	var covers []git.OID
	for c, err := range l.repo.Walk(ctx, []git.OID{tip}, nil) {
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		if c.Signed && c.Message == signMessage {
			covers = append(covers, c.OID)
		}
	}
	err = eachCommit(ctx, l.repo, tip, covers, func(c git.Commit, adds []Commit) error {
		if !c.Signed && slices.ContainsFunc(adds, func(a Commit) bool { return len(a.Segments) > 0 }) {
			all = append(all, Unsigned{c, here[c.OID]})
		}
		return nil
	})
	return all, err
}

// madeHere are the commits that this clone appended to the ledger, as far as the reflog of its branch tells. What a
// fetch brought is not among them, whoever calls himself its committer.
func (l *Ledger) madeHere() (map[git.OID]bool, error) {
	made := map[git.OID]bool{}
	err := l.repo.EachMove(l.ref, func(old, now git.OID, what string) error {
		if what != appendMessage {
			return nil
		}
		for id := now; id != old && id != "" && !made[id]; {
			c, err := l.repo.Commit(id)
			if errors.Is(err, git.ErrNotFound) { // a scrub took it away
				return nil
			}
			if err != nil {
				return fmt.Errorf("ledger: %w", err)
			}
			made[id], id = true, ""
			if len(c.Parents) > 0 {
				id = c.Parents[0]
			}
		}
		return nil
	})
	return made, err
}

// Sign appends a signed commit that covers all that was written unsigned, and returns what that is; nothing is written
// where there is nothing. It returns a StrangeError where that is something which neither this clone made nor isNamed
// knows, and ErrUnsigned where git.Repo.SignWith named no way, or one that failed.
func (l *Ledger) Sign(ctx context.Context, isNamed func(git.OID) bool) (covered []Unsigned, err error) {
	err = l.retryWhileMoved(func() (err error) {
		tip, err := l.Check()
		if err != nil || tip == "" {
			return err
		}
		if covered, err = l.Unsigned(ctx); err != nil || len(covered) == 0 {
			return err
		}
		strange := slices.DeleteFunc(slices.Clone(covered), func(u Unsigned) bool { return u.Here || isNamed(u.OID) })
		if len(strange) > 0 {
			return &StrangeError{strange}
		}
		return l.appendEmpty(ctx, tip, signMessage, l.who, true)
	})
	if err != nil {
		covered = nil
	}
	return covered, err
}

// CheckKey returns an error where git knows a commit of one's own ledger to be signed by somebody else: what it takes
// away, others don't.
func (l *Ledger) CheckKey(ctx context.Context, id git.OID) error {
	c, err := l.repo.Commit(id)
	if err != nil || !c.Signed {
		return err
	}
	said, err := l.repo.Verdicts(ctx, []git.OID{c.OID}, false)
	if j := judge(said[c.OID], l.who.Email); err == nil && j.isSomebodyElses() {
		err = fmt.Errorf("ledger: git knows your key as that of %s, not of %s, so nobody would follow",
			cmp.Or(j.Signer, "nobody any more"), l.who.Email)
	}
	return err
}

// Judgement is what a signature is worth, and what git said of it.
type Judgement struct {
	git.Verdict
	Trust session.Trust
}

// JudgeSignatures says what the signature of each commit of a ledger is worth. ask returns git's verdicts on signed
// commits: git.Repo.Verdicts, or verdicts that were stored. A commit without a verdict was not looked at. A commit of
// Sign by a key of the author covers the unsigned ones that it builds on.
func JudgeSignatures(ctx context.Context, repo *git.Repo, head Head,
	ask func(context.Context, []git.OID) (map[git.OID]git.Verdict, error),
) (map[git.OID]Judgement, error) {
	var all []git.Commit
	var signed []git.OID
	for c, err := range repo.Walk(ctx, []git.OID{head.OID}, nil) {
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		if all = append(all, c); c.Signed {
			signed = append(signed, c.OID)
		}
	}
	said, err := ask(ctx, signed)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	out := make(map[git.OID]Judgement, len(all))
	covered := map[git.OID]git.Verdict{}
	for _, c := range slices.Backward(all) { // children come first
		s := git.Verdict{Letter: "N"}
		if c.Signed {
			if s = said[c.OID]; s.Letter == "N" { // git says so where it has no keys to check it with
				s.Letter = "E"
			}
		}
		j := judge(s, head.Email)
		cover, ok := covered[c.OID]
		if j.Trust == session.Unsigned && ok {
			j = Judgement{cover, session.Verified}
		}
		if j.Trust == session.Verified && c.Message == signMessage {
			cover, ok = s, true
		}
		if out[c.OID] = j; ok {
			for _, p := range c.Parents {
				covered[p] = cover
			}
		}
	}
	return out, nil
}

func judge(s git.Verdict, author string) Judgement { return Judgement{s, trustOf(s, author)} }

// isSomebodyElses reports whether something is known not to be the author's.
func (j Judgement) isSomebodyElses() bool {
	return j.Trust == session.Bad || j.Trust == session.Signed && j.Letter == "G"
}

func trustOf(s git.Verdict, author string) session.Trust {
	switch s.Letter {
	case "": // nobody has asked
		return 0
	case "N":
		return session.Unsigned
	case "B", "R":
		return session.Bad
	case "G":
		if isSignedBy(s.Signer, author) {
			return session.Verified
		}
	}
	return session.Signed
}

// isSignedBy reports whether a signer is the author: by the address of a key's user ID ("Alice <alice@example.com>"),
// or by one of the principals of a line of allowed signers, which may be patterns ("alice@example.com,*@corp.example").
func isSignedBy(signer, author string) bool {
	if _, rest, ok := strings.Cut(signer, " <"); ok {
		return strings.EqualFold(strings.TrimSuffix(rest, ">"), author)
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(signer), ","), func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(author))
		return ok && err == nil && strings.Contains(pattern, "@")
	})
}

// Foreign are the commits of somebody's ledger that a key which is not the author's signed, or whose signature is bad;
// the latest first. A key that git does not know is the author's as long as none is known as such.
func Foreign(ctx context.Context, repo *git.Repo, head Head, judged map[git.OID]Judgement) (out []git.OID, err error) {
	known := false
	for _, j := range judged {
		known = known || j.Trust == session.Verified
	}
	for c, err := range repo.Newest(ctx, []git.OID{head.OID}, nil) {
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		if j := judged[c.OID]; j.isSomebodyElses() || known && j.Trust == session.Signed {
			out = append(out, c.OID)
		}
	}
	return out, nil
}
