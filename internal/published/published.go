// Package published tells what a repository publishes by itself: whatever stands in its committed files, or is the name
// of a path, a branch of a remote, or an author. Its ledger is pushed where the code is pushed, so none of that is a
// secret of the ledger, once a remote has it.
//
// In: candidates, as redaction finds them. Out: for each one the place where it stands as a whole word, if any, and
// whether a remote has that: as a remote-tracking ref says, or because a push under way brings it. It reads HEAD's
// tree, those of remote-tracking refs where they differ, and the newest commits. In a large tree it keeps which word
// stands in which files, of one tree, in a cache of the repository (words.go). A place is always looked at before it is
// told, so a stale cache makes nothing public.
//
// Promises: no git is started; what can't be read, is binary or larger than maxFile publishes nothing; who is in a
// hurry gets ErrLater instead of waiting until a large tree is read. A Check is safe for concurrent use.
package published

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// ErrLater says that a large tree must be read first, for which a hook has no time.
var ErrLater = errors.New("the words of a large repository are not known yet")

// The bounds of what is read.
const (
	maxFile    = 1 << 20 // bytes of a file
	maxFiles   = 200_000 // files of a tree, in their order
	maxCommits = 200     // the newest, for their authors

	maxPushed = 16    // trees that a remote has
	fewFiles  = 100   // are read each time
	someFiles = 1_000 // are read at most by who is in a hurry
)

// hurry is how long those have at most who are in a hurry.
const hurry = 10 * time.Second

// Check asks one repository.
type Check struct {
	Repo *git.Repo
	Dir  string           // of the cache
	Keep bool             // what is read of a large tree is kept there for later processes
	Now  func() time.Time // to tell how much time a ctx leaves
	// Pushing are commits that a push under way brings to a remote.
	Pushing []git.OID

	mu    sync.Mutex
	known map[string]Place // by candidate
	tree  *tree            // as of the first question
}

// Place is where a candidate stands; the zero value is nowhere.
type Place struct {
	At     string // a path, or "branch …", "author …"
	Pushed bool   // a remote has it
}

// Places tells where each candidate stands.
func (c *Check) Places(ctx context.Context, candidates []string) ([]Place, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]Place{}
	}
	out := make([]Place, len(candidates))
	opened := false
	for i, v := range candidates {
		at, known := c.known[v]
		if !known {
			var err error
			if !opened {
				err, opened = c.open(ctx), true
			}
			if err = cmp.Or(err, ctx.Err()); err == nil {
				at, err = c.findPlace(ctx, v)
			}
			if err != nil {
				return nil, fmt.Errorf("published: %w", err)
			}
			c.known[v] = at
		}
		out[i] = at
	}
	return out, nil
}

// Each shows the paths and texts of HEAD's files, as far as they are read.
func (c *Check) Each(ctx context.Context, show func(path, text string)) error {
	root, _, err := c.head()
	if err != nil || root == "" {
		return err
	}
	files, err := filesBeyond(ctx, c.Repo, "", root, maxFiles)
	for _, f := range files {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		show(f.Path, textOf(c.Repo, f.OID))
	}
	return err
}

func (c *Check) findPlace(ctx context.Context, v string) (Place, error) {
	if c.tree == nil {
		return Place{}, nil
	}
	if at := c.tree.branchOrAuthor(v); at != "" {
		return Place{at, true}, nil
	}
	return c.tree.fileHolding(ctx, v)
}

// open reads HEAD once.
func (c *Check) open(ctx context.Context) error {
	if c.tree != nil {
		return nil
	}
	root, commit, err := c.head()
	if err != nil || root == "" {
		return err
	}
	t := &tree{repo: c.Repo, root: root}
	if err := t.read(ctx, c.Dir, c.isHurried(ctx)); err != nil {
		return err
	}
	if err := t.readPeople(ctx, commit); err != nil {
		return err
	}
	if err := t.readPushed(ctx, commit, c.Pushing); err != nil {
		return err
	}
	if c.tree = t; c.Keep {
		t.words.save(c.Dir)
	}
	return nil
}

// head is HEAD's commit and its tree; nothing where there is none.
func (c *Check) head() (root, commit git.OID, err error) {
	head, err := c.Repo.Head()
	if err != nil || head.OID == "" {
		return "", "", err
	}
	at, err := c.Repo.Commit(head.OID)
	return at.Tree, head.OID, err
}

func (c *Check) isHurried(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && end.Sub(c.Now()) < hurry
}

// readPeople are the authors of the newest commits, and the branches of remotes.
func (t *tree) readPeople(ctx context.Context, head git.OID) error {
	n := 0
	for commit, err := range t.repo.Newest(ctx, []git.OID{head}, nil) {
		if n++; err != nil || n > maxCommits { // something is not here, or that is enough
			break
		}
		for _, by := range []git.Signature{commit.Author, commit.Committer} {
			if who := by.Name + " <" + by.Email + ">"; !slices.Contains(t.authors, who) {
				t.authors = append(t.authors, who)
			}
		}
	}
	refs, err := t.repo.Refs("refs/remotes/*")
	if err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		_, branch, _ := strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
		if !strings.HasPrefix(branch, "rekal/") {
			t.branches, t.tips = append(t.branches, branch), append(t.tips, refs[ref])
		}
	}
	return ctx.Err()
}

// branchOrAuthor is the branch or author that has a name. A branch of this clone alone is not published.
func (t *tree) branchOrAuthor(v string) string {
	for _, b := range t.branches {
		if b == v || slices.Contains(strings.Split(b, "/"), v) {
			return "branch " + b
		}
	}
	for _, a := range t.authors {
		if hasWord(a, v) {
			return "author " + a
		}
	}
	return ""
}

// fileHolds reports whether a candidate stands in a file, or in its name.
func (t *tree) fileHolds(f git.Entry, v string) bool {
	return hasWord(f.Path, v) || path.Base(f.Path) == v || hasWord(t.text(f.OID), v)
}

// hasWord reports whether v stands in a text with no letter, digit or underscore before it and behind it. A byte of a
// character beyond ASCII counts as a letter.
func hasWord(text, v string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], v)
		if i < 0 || v == "" {
			return false
		}
		lo, hi := from+i, from+i+len(v)
		if (lo == 0 || !isWordByte(text[lo-1])) && (hi == len(text) || !isWordByte(text[hi])) {
			return true
		}
		from = lo + 1
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
