package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/question"
)

// Without a named moment, a ledger's commit that is checked out as HEAD counts as named. Dates are read as everywhere
// (package question). A day without a time means its end. A date before one's first commit asks the others' ledgers,
// and imports.

// Moment is a past state of all ledgers: one's own at a commit, everybody else's as far as
// they went at a time. It is a function of the ledgers alone, and of no reflog or fetch.
type Moment struct {
	Ref   string    // one's own ledger
	OID   git.OID   // its commit; "" for nothing of it
	Until time.Time // of the others' ledgers count the commits up to then, and what these build on

	// Imports: of what imports stored later in any ledger counts what had been said by then. It is so for a moment of the
	// world (a date, a commit of code), and not for a commit of a ledger, which is what that ledger held.
	Imports bool
}

// ErrNoMoment is text that names no moment: no such commit, revision or date, or several.
var ErrNoMoment = advice.New("no such checkpoint or revision",
	`give a checkpoint ("git rekal log" lists them), a revision of the code, or a date as '@{2026-02-01}' or '@{3 days ago}'`)

// Ties lists the checkpoints of one's own ledger that captured a code commit, the first ones first. Those of an import
// captured nothing at the time.
type Ties func(code git.OID) ([]git.OID, error)

// Moment finds the moment that text names. What it begins with is one of these, the first that
// fits; @{DATE} and ~N, ^N, ^{…} may follow, which mean what they mean to git, but for the
// date, which goes by commit times and needs no reflog:
//
//   - HEAD, @ or nothing before a date: the ledger's tip;
//   - the SHA of a commit of one's own ledger, or its beginning;
//   - a commit of somebody else's ledger: when it was made;
//   - any other revision is one of code: the first checkpoint that captured it, else when it was made.
//
// A moment before one's own first commit is one with nothing of one's own. Dates are those of now, in its time zone.
func (l *Ledger) Moment(ctx context.Context, text string, now time.Time, ties Ties) (Moment, error) {
	tip, err := l.Tip()
	if err != nil {
		return Moment{}, err
	}
	w := &resolver{Ledger: l, tip: tip, now: now, ties: ties}
	return w.resolve(ctx, text)
}

// resolver is the work of one Moment.
type resolver struct {
	*Ledger
	tip  git.OID
	now  time.Time
	ties Ties
}

// momentForm takes "main@{yesterday}~2" apart.
var momentForm = lazy.Expr(`^([^~^]*?)(?:@\{([^{}]*)\})?([~^].*)?$`)

// branchWords stand in braces and are no date: main@{upstream}, @{-1}.
var branchWords = lazy.Expr(`^(u|upstream|push|-\d+)$`)

func (w *resolver) resolve(ctx context.Context, text string) (Moment, error) {
	form := momentForm.FindStringSubmatch(text)
	if form == nil || strings.HasPrefix(text, ":") || branchWords.MatchString(form[2]) {
		id, err := w.revision(text)
		if err != nil {
			return Moment{}, err
		}
		return w.atCommit(ctx, id)
	}
	base, way := form[1], form[3]
	dated := strings.Contains(text, "@{")
	if base == "" && !dated {
		return Moment{}, ErrNoMoment
	}
	id, err := w.baseCommit(base)
	if err == nil && dated {
		return w.asOfDate(ctx, id, form[2], way)
	}
	m, err := w.stepFrom(ctx, id, way, err)
	if isTip(base) && way != "" && errors.Is(err, ErrNoMoment) {
		err = fmt.Errorf("%w: HEAD is that of the ledger here; the code's goes by its branch, as main%s", err, way)
	}
	return m, err
}

// isTip reports whether a word means the ledger's tip.
func isTip(base string) bool { return base == "" || base == "HEAD" || base == "@" }

// stepFrom goes from a commit by ~N and the like.
func (w *resolver) stepFrom(ctx context.Context, id git.OID, steps string, err error) (Moment, error) {
	if err == nil && steps != "" {
		id, err = w.revision(string(id) + steps)
	}
	if err != nil {
		return Moment{}, err
	}
	return w.atCommit(ctx, id)
}

// asOfDate goes back from a commit to what was there at a date.
func (w *resolver) asOfDate(ctx context.Context, from git.OID, date, steps string) (Moment, error) {
	when, ok := question.At(date, question.Clock{Now: w.now})
	if !ok {
		return Moment{}, fmt.Errorf("%w: %q is no date", ErrNoMoment, date)
	}
	if from == w.tip && steps == "" {
		return w.atTimeWithImports(ctx, when)
	}
	id, err := w.lastBefore(ctx, from, when)
	if err == nil && id == "" {
		err = fmt.Errorf("%w: there was nothing yet", ErrNoMoment)
	}
	return w.stepFrom(ctx, id, steps, err)
}

// abbreviated is a commit's OID or its beginning, as git takes it.
var abbreviated = lazy.Expr(`^[0-9a-fA-F]{4,64}$`)

// baseCommit finds the commit that the first part of a text names.
func (w *resolver) baseCommit(base string) (git.OID, error) {
	switch {
	case isTip(base) && w.tip != "":
		return w.tip, nil
	case isTip(base):
		return "", fmt.Errorf("%w: there is no ledger %s yet", ErrNoMoment, strings.TrimPrefix(w.ref, "refs/heads/"))
	case abbreviated.MatchString(base):
		if id := w.ownCommit(base, w.tip); id != "" {
			return id, nil
		}
	}
	return w.revision(base)
}

// revision asks git.
func (w *resolver) revision(text string) (git.OID, error) {
	id, err := w.repo.Resolve(text)
	if errors.Is(err, git.ErrNotFound) {
		return "", ErrNoMoment
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoMoment, err)
	}
	return id, nil
}

// atCommit is the moment of a commit, whatever that is one of.
func (w *resolver) atCommit(ctx context.Context, id git.OID) (Moment, error) {
	c, err := w.repo.Commit(id)
	if err != nil {
		return Moment{}, fmt.Errorf("ledger: %w", err)
	}
	own, err := w.repo.IsAncestor(id, w.tip)
	switch {
	case err != nil:
		return Moment{}, fmt.Errorf("ledger: %w", err)
	case own:
		when, err := w.timeMade(ctx, c)
		return Moment{Ref: w.ref, OID: id, Until: when}, err
	case checkFormat(w.repo, c) == nil:
		return w.atTime(ctx, c.Committer.When)
	}
	return w.atCodeCommit(ctx, c)
}

// timeMade is when a commit of one's own ledger counts as made: see Bounds.Until.
func (w *resolver) timeMade(ctx context.Context, c git.Commit) (time.Time, error) {
	b := Bounds{}.AsOf(w.now)
	if !b.isFutureDated(c) {
		return c.Committer.When, nil
	}
	commits, err := b.Since(ctx, w.repo, w.tip, c.Parents...)
	if err != nil || len(commits) == 0 {
		return c.Committer.When, err
	}
	return commits[0].When, nil // parents come before children
}

// atTime is the moment of something else, at a time.
func (w *resolver) atTime(ctx context.Context, when time.Time) (Moment, error) {
	id, err := w.lastBefore(ctx, w.tip, when)
	return Moment{Ref: w.ref, OID: id, Until: when}, err
}

// atTimeWithImports is the moment of a time, with what was imported later.
func (w *resolver) atTimeWithImports(ctx context.Context, when time.Time) (Moment, error) {
	m, err := w.atTime(ctx, when)
	m.Imports = true
	return m, err
}

// lastBefore is the newest commit that is not later than a time, as `git rev-list -1 --before` tells
// it; "" when there is none.
func (w *resolver) lastBefore(ctx context.Context, from git.OID, when time.Time) (git.OID, error) {
	if from == "" {
		return "", nil
	}
	for c, err := range w.repo.Newest(ctx, []git.OID{from}, nil) {
		if err != nil {
			return "", fmt.Errorf("ledger: %w", err)
		}
		if !c.Committer.When.After(when) {
			return c.OID, nil
		}
	}
	return "", nil
}

// atCodeCommit is the moment of a code commit: that of the first of its checkpoints which is in the ledger. What the
// tables say may be behind it, or before a rewrite.
func (w *resolver) atCodeCommit(ctx context.Context, c git.Commit) (Moment, error) {
	if w.tip == "" {
		return w.atTimeWithImports(ctx, c.Committer.When)
	}
	tied, err := w.ties(c.OID)
	if err != nil {
		return Moment{}, err
	}
	for _, id := range tied {
		if own, err := w.repo.IsAncestor(id, w.tip); err == nil && own {
			m, err := w.atCommit(ctx, id)
			m.Imports = true
			return m, err
		}
	}
	return w.atTimeWithImports(ctx, c.Committer.When)
}

// maxTips is how many branches of one ledger are read as of a moment. Two machines make two, and each is walked by
// itself.
const maxTips = 100

// AsOf lists commits of a ledger, reachable from its tip. These and their ancestors are what the ledger held at a time:
// the commits that were made by then, and the commits that these build on.
func AsOf(ctx context.Context, repo *git.Repo, tip git.OID, until time.Time) ([]git.OID, error) {
	var out []git.OID
	seen := map[git.OID]bool{}
	for next := []git.OID{tip}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := repo.Commit(id)
		switch {
		case errors.Is(err, git.ErrNotFound) && id != tip:
			continue // cut off
		case err != nil:
			return nil, fmt.Errorf("ledger: %w", err)
		case c.Committer.When.After(until):
			next = append(next, c.Parents...)
		case len(out) < maxTips:
			out = append(out, id)
		}
	}
	return out, nil
}

// HasCommit reports whether a repository holds a commit that is one of a ledger.
func HasCommit(repo *git.Repo, id git.OID) bool {
	c, err := repo.Commit(id)
	return err == nil && checkFormat(repo, c) == nil
}
