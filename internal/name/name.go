// Package name is the one resolver: it tells what a word names that a user typed or a link holds.
//
// In: a word, an open index, the repository. Out: what is named: a session or memory, perhaps with a turn; a commit, a
// range, or a checkpoint of a ledger; lines of a file. It reads only.
package name

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Why a word names nothing.
var (
	ErrNoRevision = advice.New("no such revision",
		"give a branch, a tag or a SHA of the code; a checkpoint's SHA goes with --checkpoint")
	ErrNothing = advice.New("neither a revision, nor a session or memory, nor a line of a file",
		`give a commit, a range, PATH:LINE, or an ID from an answer of recall; "git rekal -n 5" lists the latest`)
)

// UsageError is a request that can't be answered because of what it says.
type UsageError struct {
	Err    error
	Filter string // the filter that says it, which its reader may write otherwise; "" for another part
}

func (e *UsageError) Error() string {
	if e.Filter != "" {
		return e.Filter + " " + e.Err.Error()
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// WrongFilter is a UsageError of a filter.
func WrongFilter(filter string, err error) error { return &UsageError{err, filter} }

// AmbiguousError is a word that names a commit, and a session or memory as well.
type AmbiguousError struct {
	Word           string
	Commit, Rev    string // what to type for the commit; its subject
	Kind, ID, Name string // what to type for the other one; its title
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is a commit (%s) and a %s (%s): type %s or %s", e.Word, e.Rev, e.Kind, e.Name, e.Commit, e.ID)
}

// Thing is what a word names.
type Thing struct {
	Kind string // db.KindSession, db.KindMemory, result.ShowCommit, ShowRange or ShowLines
	ID   string // of a session or memory, whole
	Turn int    // of a session the one that the word names; -1 for none
	Rev  string // of a commit or range: what git and ledgers know it by
	OID  string // of a commit that is here, and may be one of a ledger; "" for others
}

// ParseID takes a word apart that names something by an ID: "01KJW4MN", "01KJW4MN:8", or a link, "rekal:01KJW4MN#8".
// Turn is -1 for none.
func ParseID(word string) (session.Ref, error) {
	ref := session.OnlyRef(word)
	id, turn, ok := strings.Cut(ref.ID, ":")
	if !ok || ref.Turn >= 0 || !idLike.MatchString(id) {
		return ref, nil
	}
	n, err := strconv.Atoi(turn)
	if err != nil || n < 0 {
		return ref, &UsageError{Err: fmt.Errorf("%q: the turn is a number from 0 on", word)}
	}
	return session.Ref{ID: id, Turn: n}, nil
}

// CompleteIDs completes the IDs of sessions and memories, each once, and gives an error for each word that names none.
func CompleteIDs(names session.Names, words []string) (ids []string, failed []error) {
	ids = []string{}
	for _, word := range words {
		id, err := names.CompleteID(word)
		switch {
		case err != nil:
			failed = append(failed, err)
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, failed
}

// LooksLikeLines reports whether a word is meant as lines of a file.
func LooksLikeLines(word string) bool { return linesLike.MatchString(word) }

// SplitLines takes a file and its lines apart; the first line is 0 where they are not of such a form.
func SplitLines(word string) (file string, from, to int) {
	m := linesForm.FindStringSubmatch(word)
	if m == nil {
		return "", 0, 0
	}
	from, err := strconv.Atoi(m[2])
	to, err2 := strconv.Atoi(cmp.Or(m[3], m[2]))
	if err != nil || err2 != nil {
		return "", 0, 0
	}
	if strings.HasPrefix(m[3], "+") {
		to += from - 1
	}
	return m[1], from, to
}

var (
	// idLike is what may be the beginning of an ID.
	idLike = lazy.Expr(`^[0-9A-Za-z-]+$`)
	// linesForm takes "jwt.go:10,20" apart, also as "jwt.go:10-20" and "jwt.go:10,+11".
	linesForm = lazy.Expr(`(?s)^(.+):(\d+)(?:[,-](\+?\d+))?$`)
	// linesLike is what was meant as lines, and may be not of that form: "jwt.go:10,", "jwt.go:+3".
	linesLike = lazy.Expr(`(?s)^.+:[-+,]?\d[-+,\d]*$`)
	// abbreviated is a beginning of a commit's OID as git takes it, also of one that is gone.
	abbreviated = lazy.Expr(`^[0-9a-fA-F]{4,64}$`)
	// tooShort is what may be the beginning of an ID or of a commit, if there were more of it.
	tooShort = lazy.Expr(`^(?:0[0-9A-Za-z]{0,2}|[0-9a-fA-F]{1,3})$`)
)

// Resolver looks words up.
type Resolver struct {
	Index  *db.DB
	Repo   *git.Repo
	Names  session.Names // all IDs there are
	Purged []string      // the IDs of what is not shown, in any order
	Code   git.OID       // the commit whose files count; "" for those of the worktree
}

// Find tells what a word names: a range, a revision, a session or memory by the beginning of its ID or of the one that
// its agent gave it, or lines of a file.
func (r Resolver) Find(ctx context.Context, word string) (Thing, error) {
	if strings.Contains(word, "..") && !LooksLikeLines(word) && !worktree.HasTyped(r.Repo, r.Code, word) {
		return Thing{Kind: result.ShowRange, Rev: word, Turn: -1}, nil
	}
	ref := session.OnlyRef(word)
	id, noID := r.Names.CompleteID(ref.ID)
	oid, isRev := r.revision(ctx, ref.ID)
	switch {
	case isRev && noID == nil:
		return Thing{}, r.ambiguous(ctx, ref.ID, oid, id)
	case isRev:
		rev := ref.ID
		code, err := r.Index.CommitOf(ctx, []string{oid}) // a checkpoint stands for the commit that it captured
		if code != "" {
			rev = code
		}
		return Thing{Kind: result.ShowCommit, Rev: rev, OID: oid, Turn: ref.Turn}, err
	case noID == nil:
		kind, _, err := r.kindAndTitle(ctx, id)
		return Thing{Kind: kind, ID: id, Turn: ref.Turn}, err
	case errors.As(noID, new(*session.AmbiguousError)):
		return Thing{}, noID
	case LooksLikeLines(ref.ID) || worktree.HasTyped(r.Repo, r.Code, ref.ID):
		return Thing{Kind: result.ShowLines, Turn: -1}, nil
	case tooShort.MatchString(ref.ID):
		return Thing{}, noID
	}
	return Thing{}, fmt.Errorf("%q: %w", ref.ID, ErrNothing)
}

// Commit asks git for a revision. What ":/text" finds is code, and no commit of a ledger, whose subject is that of the
// code commit.
func Commit(repo *git.Repo, rev string) (git.OID, error) {
	if text, ok := strings.CutPrefix(rev, ":/"); ok {
		if id, err := repo.Resolve("HEAD^{/" + text + "}"); err == nil {
			return id, nil
		}
	}
	return repo.Resolve(rev)
}

// LooksLikeCommit reports whether a word may be the beginning of a commit's OID.
func LooksLikeCommit(word string) bool { return abbreviated.MatchString(word) }

// revision is the commit that a word names, also one that is gone and that a ledger knows.
func (r Resolver) revision(ctx context.Context, word string) (oid string, ok bool) {
	id, err := r.Repo.Resolve(word)
	if err == nil {
		return string(id), true
	}
	if !LooksLikeCommit(word) { // of a path with a line, the path may begin as several objects do
		return "", false
	}
	if errors.Is(err, git.ErrAmbiguous) {
		return "", true
	}
	start := strings.ToLower(word)
	known, err := r.Index.KnowsCommit(ctx, start)
	return start, err == nil && known
}

// kindAndTitle is the kind and the title of what has an ID.
func (r Resolver) kindAndTitle(ctx context.Context, id string) (kind, title string, err error) {
	if m, ok, err := r.Index.Memory(ctx, id); ok || err != nil {
		return db.KindMemory, session.InformativePart(m.Title), err
	}
	s, err := r.Index.Session(ctx, id)
	return db.KindSession, session.InformativePart(s.Title), err
}

// ambiguous says what to type for each of the two.
func (r Resolver) ambiguous(ctx context.Context, word, oid, id string) error {
	kind, title, err := r.kindAndTitle(ctx, id)
	if err != nil {
		return err
	}
	e := &AmbiguousError{
		Word: word, Commit: oid, Rev: result.ShortOID(oid), Kind: kind, ID: r.Names.Short(id),
		Name: session.Shorten(title, 50),
	}
	if c, err := r.Repo.Commit(git.OID(oid)); err == nil {
		e.Rev += " " + session.Shorten(c.Subject(), 50)
	}
	if slices.Contains(r.Purged, id) {
		e.Name = "purged"
	}
	if strings.EqualFold(word, e.ID) {
		e.ID = id
	}
	return e
}
