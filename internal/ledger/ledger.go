// Package ledger is the append-only log on the orphan branch rekal/<email>: the only data of git-rekal that cannot be
// rebuilt. docs/ledger-format.md specifies it. It joins git, which knows only bytes, to segment, which knows only
// sessions.
//
// In: redacted entries. Out: one git commit an entry, with one immutable segment or several; and the entries again, in
// order. Somebody else's ledger is read within bounds of time and memory (read.go). A fault in it costs that ledger or
// segment only.
//
// Promises: an append is there whole or not at all, because objects are written before the ref moves by
// compare-and-swap; what was written never changes, unless its author scrubs it (scrub.go); the loser of a race gets
// git.ErrMoved and starts again from the new tip; a ref gives up only scrubbed history.
//
// It never reads a transcript or opens a database.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/templates"
)

// Format is the version of the ledger that this program writes, and the only one it reads.
const Format = segment.Version

const (
	formatFile = "format"
	readmeFile = "README.md"
	segmentDir = "segments/"
)

// formatText is what the format file holds.
func formatText() string { return fmt.Sprintf("%d\n", Format) }

// Ledger is one author's own log.
type Ledger struct {
	Ignore Ignore // other people's ledgers that Adopt leaves where they are
	// Adopt takes in all that a remote holds of one's own; else what is within the bounds for other people's
	Unbounded bool

	repo *git.Repo
	ref  string
	who  git.Signature
	rand io.Reader
}

// OpenOwn opens the ledger that belongs to an identity. Nothing is read or written yet.
// Names of segments take their entropy from rand.
func OpenOwn(repo *git.Repo, who git.Signature, rand io.Reader) (*Ledger, error) {
	ref, err := RefName(who.Email)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(who.Email, isControl) { // no segment with it would be read
		return nil, fmt.Errorf("ledger: the address %q holds control characters", who.Email)
	}
	return &Ledger{repo: repo, ref: ref, who: who, rand: ulid.Monotonic(rand, 0)}, nil
}

// OpenPrivate opens the ledger of what an identity sends nobody, in a repository of its own.
func OpenPrivate(repo *git.Repo, who git.Signature, rand io.Reader) (*Ledger, error) {
	l, err := OpenOwn(repo, who, rand)
	if err == nil {
		l.ref = privatePrefix + strings.TrimPrefix(l.ref, localPrefix)
	}
	return l, err
}

// Ref is the full name of the ledger's branch.
func (l *Ledger) Ref() string { return l.ref }

// Tip is the ledger's newest commit, "" before the first.
func (l *Ledger) Tip() (git.OID, error) {
	tip, err := l.repo.Ref(l.ref)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return tip, err
}

// BlockedError is a branch that stands where a ledger has to be: here, or on a remote.
type BlockedError struct{ Ref, By, Remote string }

func (e *BlockedError) Error() string {
	on := ""
	if e.Remote != "" {
		on = fmt.Sprintf("on %q ", e.Remote)
	}
	return fmt.Sprintf("ledger: %sthe branch %q is in the way of %q", on,
		strings.TrimPrefix(e.By, "refs/heads/"), strings.TrimPrefix(e.Ref, "refs/heads/"))
}

// Hint says what to do.
func (e *BlockedError) Hint() string {
	if e.Remote == "" {
		return fmt.Sprintf(`rename it: "git branch -m %s NAME"`, strings.TrimPrefix(e.By, "refs/heads/"))
	}
	return fmt.Sprintf(`rename it there: "git fetch %[1]s '%[2]s' && git push %[1]s FETCH_HEAD:refs/heads/NAME ':%[2]s'"`,
		e.Remote, strings.ReplaceAll(e.By, "'", `'\''`))
}

// Check is the ledger's tip. It returns a BlockedError where another branch keeps it from being
// made, and ErrFormat where the branch is something else.
func (l *Ledger) Check() (git.OID, error) {
	tip, err := l.Tip()
	if err != nil {
		return "", err
	}
	if tip == "" {
		if by := l.repo.ConflictingRef(l.ref); by != "" {
			return "", &BlockedError{Ref: l.ref, By: by}
		}
		return "", nil
	}
	if _, err := l.baseToBuildOn(tip); err != nil {
		return "", fmt.Errorf("ledger: branch %q: %w", strings.TrimPrefix(l.ref, "refs/heads/"), err)
	}
	return tip, nil
}

// Create makes the branch, with its README and format, when it does not exist.
func (l *Ledger) Create(ctx context.Context) (created bool, err error) {
	tip, err := l.Check()
	if err != nil || tip != "" {
		return false, err
	}
	_, err = l.Append(ctx, "", nil)
	if errors.Is(err, git.ErrMoved) {
		return false, nil // somebody else was first, with the same content
	}
	return err == nil, err
}

// Record is one entry to append.
type Record struct {
	Entry redact.Entry
	TS    time.Time // names the segment: the checkpoint's time
}

// Append writes one commit a record on top of tip and moves the branch there in a single
// step. It returns the new tip, or git.ErrMoved when the branch is not at tip any more.
// Without records it only makes the branch.
func (l *Ledger) Append(ctx context.Context, tip git.OID, records []Record) (git.OID, error) {
	next, err := l.baseToBuildOn(tip)
	if err != nil {
		return "", err
	}
	for _, rec := range records {
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("ledger: append: %w", err)
		}
		if next, err = l.write(next, rec); err != nil {
			return "", err
		}
	}
	if next == tip {
		return tip, nil
	}
	if err := l.repo.CompareAndSwap(ctx, l.ref, tip, next, appendMessage); err != nil {
		return "", fmt.Errorf("ledger: append to %s: %w", l.ref, err)
	}
	return next, nil
}

// appendMessage is what the reflog of a ledger's branch says of a commit that was made here.
const appendMessage = "rekal: append"

// FutureDate is the date of the ledger's newest commit where that is in the future, by a wrong clock or because
// somebody pushed such a commit: others don't read it before a commit with a believable date follows. The zero time
// where it is not.
func (l *Ledger) FutureDate(now time.Time) (time.Time, error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return time.Time{}, err
	}
	c, err := l.repo.Commit(tip)
	if err != nil || !(Bounds{}.AsOf(now)).isFutureDated(c) {
		return time.Time{}, err
	}
	return c.Committer.When, nil
}

// MendFutureDate puts an empty commit with the date of now behind one with a date in the future, and returns that date:
// see FutureDate.
func (l *Ledger) MendFutureDate(ctx context.Context, now time.Time) (ahead time.Time, err error) {
	who := l.who
	who.When = now
	err = l.retryWhileMoved(func() (err error) {
		if ahead, err = l.FutureDate(now); err != nil || ahead.IsZero() {
			return err
		}
		tip, err := l.Check()
		if err != nil {
			return err
		}
		return l.appendEmpty(ctx, tip, "rekal date\n", who, false)
	})
	return ahead, err
}

// appendEmpty appends to a tip a commit that adds no segment. It returns git.ErrMoved where the branch is not at the
// tip any more, and ErrUnsigned where the commit is to be signed and was not.
func (l *Ledger) appendEmpty(ctx context.Context, tip git.OID, message string, who git.Signature, sign bool) error {
	c, err := l.repo.Commit(tip)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	next, err := l.repo.WriteCommit(git.Draft{
		Base: c.Tree, Parents: []git.OID{tip}, Message: message, Author: who,
		Signed: sign,
	})
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if c, err = l.repo.Commit(next); err != nil || sign && !c.Signed {
		return errors.Join(err, ErrUnsigned)
	}
	return l.repo.CompareAndSwap(ctx, l.ref, tip, next, strings.Replace(strings.TrimSpace(message), " ", ": ", 1))
}

// tries bounds how often something starts again because another process or machine was first.
const tries = 10

// retryWhileMoved does something that moves the branch, again and again while another process is first.
func (l *Ledger) retryWhileMoved(do func() error) error {
	for range tries {
		if err := do(); !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
	return fmt.Errorf("ledger: %s: %w: gave up after %d tries", l.ref, git.ErrMoved, tries)
}

// baseToBuildOn is the commit to build on: the tip, after a check that this program may write to
// it, or a new root.
func (l *Ledger) baseToBuildOn(tip git.OID) (git.OID, error) {
	if tip == "" {
		return l.repo.WriteCommit(git.Draft{
			Files: map[string][]byte{
				formatFile: []byte(formatText()),
				readmeFile: []byte(templates.LedgerReadme()),
			},
			Message: "rekal ledger\n",
			Author:  l.who,
		})
	}
	c, err := l.repo.Commit(tip)
	if err != nil {
		return "", fmt.Errorf("ledger: %w", err)
	}
	return tip, checkFormat(l.repo, c)
}

func (l *Ledger) write(parent git.OID, rec Record) (git.OID, error) {
	parts, err := segment.Encode(rec.Entry)
	if err != nil {
		return "", fmt.Errorf("ledger: %w", err)
	}
	return l.writeParts(parent, parts, rec.TS, rec.Entry.Entry().Subject, l.who)
}

// writeParts adds a commit with the segments of one entry.
func (l *Ledger) writeParts(parent git.OID, parts [][]byte, ts time.Time, subject string,
	who git.Signature,
) (git.OID, error) {
	name, err := l.name(ts)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for i, data := range parts {
		files[name.path(i)] = data
	}
	p, err := l.repo.Commit(parent)
	if err != nil {
		return "", fmt.Errorf("ledger: %w", err)
	}
	id, err := l.repo.WriteCommit(git.Draft{
		Base: p.Tree, Files: files, Parents: []git.OID{parent}, Message: subject + "\n", Author: who, Signed: true,
	})
	if err != nil {
		return "", fmt.Errorf("ledger: append to %s: %w", l.ref, err)
	}
	return id, nil
}

func (l *Ledger) name(ts time.Time) (segmentName, error) {
	id, err := ulid.New(ulid.Timestamp(ts), l.rand)
	if err != nil {
		return segmentName{}, fmt.Errorf("ledger: name a segment: %w", err)
	}
	return segmentName{ID: id.String(), TS: ts.UTC()}, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
