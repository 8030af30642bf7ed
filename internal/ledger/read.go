package ledger

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
)

// The bounds within which a ledger is read. An honest one is far inside: a commit adds one
// segment, or one for each 8 MB of a very large entry, and a day has less than 8,000 commits.
const (
	maxParts    = 1000      // segments that one commit may add
	maxSegments = 1 << 20   // segments in the tree of a commit whose history was cut off
	maxFormat   = 64        // bytes of the format file
	treeBytes   = 128 << 20 // trees to look at in one read of a ledger …
	commitBytes = 512 << 10 // … and for each of its commits
)

// dayDepth is how many folders lie between segments/ and a segment: 2026/11/20.
const dayDepth = 3

// Errors that callers decide on.
var (
	// a ledger of a format that this version does not know
	ErrFormat = advice.New("unknown ledger format", "update git-rekal if a newer one wrote it, else rename the branch")
	// a segment that is there but can't be decoded
	ErrUnreadable = errors.New("unreadable segment")
)

// checkFormat returns ErrFormat when this program can't read the ledger that a commit is of.
func checkFormat(repo *git.Repo, tip git.Commit) error {
	got, err := readFormat(repo, tip)
	if err != nil {
		return fmt.Errorf("ledger: commit %s: %w", tip.OID, err)
	}
	if got != formatText() {
		return fmt.Errorf("ledger: commit %s: %w: %.20q", tip.OID, ErrFormat, got)
	}
	return nil
}

func readFormat(repo *git.Repo, tip git.Commit) (string, error) {
	blob, err := repo.Trees(treeBytes).File(tip.Tree, formatFile)
	if err != nil {
		return "", err
	}
	if blob == "" {
		return "", fmt.Errorf("%w: no format file", ErrFormat)
	}
	size, err := repo.BlobSize(blob)
	if err != nil {
		return "", err
	}
	if size > maxFormat {
		return "", fmt.Errorf("%w: %d bytes", ErrFormat, size)
	}
	b, err := repo.Blob(blob)
	return string(b), err
}

// Commit is one commit of a ledger, with the segments of one entry. A commit that adds nothing (the first, a merge) has
// no segments.
type Commit struct {
	OID      git.OID // where several entries came by one commit: their first segment's blob
	In       git.OID // the commit, which a signature is of
	When     time.Time
	Segments []Segment
	Root     bool   // no parent is here: it adds its whole tree, and may repeat what was read
	Cut      bool   // a parent is not here: what it adds may be older than it is
	By       string // the committer's address
}

// IsAhead reports whether a clock that was wrong named the segments of a commit, or somebody who means harm.
func (c Commit) IsAhead() bool { return c.Segments[0].Time().After(c.When.Add(MaxAhead)) }

// Segment names one segment of a ledger.
type Segment struct {
	Path string // in the ledger's tree
	Blob git.OID
	Size uint64 // in bytes; 0 where nobody asked yet, see Bytes
}

// Bytes is the size of a segment in bytes, which is asked once: it takes git as long as to find the segment. It fails
// as BlobSize does.
func (s *Segment) Bytes(repo *git.Repo) (size uint64, err error) {
	if s.Size == 0 {
		s.Size, err = repo.BlobSize(s.Blob)
	}
	return s.Size, err
}

// Since lists the commits that are reachable from tip and not from any of have (where "" is none), parents
// before children. It returns ErrFormat for a ledger of another format, git.ErrMalformed for
// one that can't be read within the bounds, and git.ErrNotFound where a part of it is missing.
//
// A segment counts where it first appears. A commit that changes, removes or repeats one
// changes nothing.
//
// In a shallow clone the history begins at commits whose parents are not here. Such a commit adds
// all segments of its tree.
func Since(ctx context.Context, repo *git.Repo, tip git.OID, have ...git.OID) ([]Commit, error) {
	return Bounds{}.Since(ctx, repo, tip, have...)
}

// Since is the function of that name, with the dates that are believed: see Bounds.Until.
func (b Bounds) Since(ctx context.Context, repo *git.Repo, tip git.OID, have ...git.OID) ([]Commit, error) {
	return b.since(ctx, repo, tip, have, func(Commit) error { return nil })
}

// since is Since until an error of check, which sees each commit as it comes.
func (b Bounds) since(ctx context.Context, repo *git.Repo, tip git.OID, have []git.OID,
	check func(Commit) error,
) ([]Commit, error) {
	var out []Commit
	var read []git.Commit // what was visited, and …
	var begins []int      // … where each begins in out
	err := eachCommit(ctx, repo, tip, have, func(c git.Commit, adds []Commit) error {
		read, begins = append(read, c), append(begins, len(out))
		for _, entry := range adds {
			if err := check(entry); err != nil {
				return err
			}
		}
		out = append(out, adds...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	built := map[git.OID]time.Time{} // by parent: when the first was made that builds on it
	for i, c := range slices.Backward(read) {
		when := c.Committer.When
		if b.isFutureDated(c) {
			when = b.Until.Add(-Leeway)
			if next, ok := built[c.OID]; ok {
				when = next.Add(-time.Millisecond) // a run of such commits keeps its order
			}
			for k := begins[i]; k < len(out) && (i+1 == len(begins) || k < begins[i+1]); k++ {
				out[k].When = when
			}
		}
		for _, p := range c.Parents {
			if had, ok := built[p]; !ok || when.Before(had) {
				built[p] = when
			}
		}
	}
	return out, nil
}

// eachCommit visits the commits of Since, with what each adds, until an error.
func eachCommit(ctx context.Context, repo *git.Repo, tip git.OID, have []git.OID,
	visit func(c git.Commit, adds []Commit) error,
) error {
	head, err := repo.Commit(tip)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := checkFormat(repo, head); err != nil {
		return err
	}
	rd := reader{repo: repo, trees: repo.Trees(treeBytes), seen: map[string]bool{}}
	for c, err := range repo.Walk(ctx, []git.OID{tip}, have) {
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		adds, err := rd.read(c)
		if err != nil {
			return fmt.Errorf("ledger: commit %.12s: %w", c.OID, err)
		}
		if err := visit(c, adds); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the commits of one ledger, parents before children.
type reader struct {
	repo  *git.Repo
	trees *git.Trees
	seen  map[string]bool // file names of the segments so far
}

// read lists what one commit adds. A merge is the union of what its parents already said.
func (r *reader) read(c git.Commit) ([]Commit, error) {
	r.trees.AllowMore(commitBytes)
	before, cut, err := treeBefore(r.repo, c)
	if err != nil {
		return nil, err
	}
	one := Commit{OID: c.OID, In: c.OID, When: c.Committer.When, Root: before == "", Cut: cut, By: c.Committer.Email}
	if len(c.Parents) > 1 && !cut {
		return []Commit{one}, nil
	}
	limit := maxParts
	if cut {
		limit = maxSegments
	}
	files, err := r.trees.Added(before, c.Tree, strings.TrimSuffix(segmentDir, "/"), dayDepth, limit)
	if err != nil {
		return nil, err
	}
	entries := r.newEntries(files)
	if len(entries) < 2 {
		one.Segments = slices.Concat(entries...)
		return []Commit{one}, nil
	}
	var out []Commit
	for _, e := range entries {
		one.OID, one.Segments = e[0].Blob, e
		out = append(out, one)
	}
	return out, nil
}

// treeBefore is the tree that a commit's own is compared with, its first parent's that is here,
// and whether there is a parent that is not. A walk has made sure that it was cut off.
func treeBefore(repo *git.Repo, c git.Commit) (tree git.OID, cut bool, err error) {
	for _, id := range c.Parents {
		p, err := repo.Commit(id)
		switch {
		case errors.Is(err, git.ErrNotFound):
			cut = true
		case err != nil:
			return "", false, err
		case tree == "":
			tree = p.Tree
		}
	}
	return tree, cut, nil
}

// newEntries are the segments among one commit's new files that did not count yet, those of one
// entry together. What stands there twice under two names counts once.
func (r *reader) newEntries(files []git.Entry) [][]Segment {
	var all []Segment
	twice := map[git.OID]bool{}
	for _, f := range files {
		name := path.Base(f.Path)
		if isSegment(f.Path) && !r.seen[name] && !twice[f.OID] {
			r.seen[name], twice[f.OID] = true, true
			all = append(all, Segment{Path: f.Path, Blob: f.OID})
		}
	}
	slices.SortFunc(all, Segment.Compare)
	var out [][]Segment
	for i, s := range all {
		if i > 0 && s.entryID() == all[i-1].entryID() {
			out[len(out)-1] = append(out[len(out)-1], s)
		} else {
			out = append(out, []Segment{s})
		}
	}
	return out
}

// ReadSegment reads one segment. It returns ErrUnreadable for one that
// can't be decoded, and git.ErrNotFound for one that is not here.
func ReadSegment(repo *git.Repo, s Segment) (session.Entry, error) {
	return readAs(repo, s, segment.Decode)
}

// eachEntry hands on what each of some commits of a ledger says.
func eachEntry(ctx context.Context, repo *git.Repo, commits []Commit, each func(Commit, session.Entry) error) error {
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		e, err := readEntry(repo, c.Segments)
		if err != nil {
			return err
		}
		if c.OID == c.In { // else it is one of several entries of a commit, and has no subject of its own
			if commit, err := repo.Commit(c.OID); err == nil {
				e.Subject = commit.Subject()
			}
		}
		if err := each(c, e); err != nil {
			return err
		}
	}
	return nil
}

// readEntry is what the segments of an entry say together. One that can't be read counts as something unknown.
func readEntry(repo *git.Repo, segments []Segment) (e session.Entry, err error) {
	for _, s := range segments {
		part, err := ReadSegment(repo, s)
		if errors.Is(err, ErrUnreadable) { // what it holds can't be told apart
			part, err = session.Entry{Unknown: 1}, nil
		}
		if err != nil {
			return session.Entry{}, err
		}
		e.Join(part)
	}
	return e, nil
}

// allEntries is eachEntry for all that leads to a tip.
func allEntries(ctx context.Context, repo *git.Repo, tip git.OID, each func(Commit, session.Entry) error) error {
	commits, err := Since(ctx, repo, tip)
	if err != nil {
		return err
	}
	return eachEntry(ctx, repo, commits, each)
}

// ReadSession reads the parts of one session that a segment holds, and fails as ReadSegment does.
func ReadSession(repo *git.Repo, blob git.OID, id string) ([]session.Session, error) {
	return readAs(repo, Segment{Blob: blob}, func(data []byte) ([]session.Session,
		error,
	) {
		return segment.DecodeSession(data, id)
	})
}

func readAs[T any](repo *git.Repo, s Segment, decode func([]byte) (T, error)) (out T, err error) {
	data, err := segmentBytes(repo, s)
	if err != nil {
		return out, err
	}
	if out, err = decode(data); err != nil {
		return out, fmt.Errorf("ledger: blob %.12s: %w: %w", s.Blob, ErrUnreadable, err)
	}
	return out, nil
}

func segmentBytes(repo *git.Repo, s Segment) (data []byte, err error) {
	size, err := s.Bytes(repo)
	if err == nil && size > segment.MaxRead {
		return nil, fmt.Errorf("ledger: blob %.12s: %w: %d bytes", s.Blob, ErrUnreadable, size)
	}
	if err == nil {
		data, err = repo.Blob(s.Blob)
	}
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, fmt.Errorf("ledger: a segment is not in this clone (a partial one leaves blobs out): %w", err)
	case errors.Is(err, git.ErrMalformed):
		return nil, fmt.Errorf("ledger: %w: %w", ErrUnreadable, err)
	case err != nil:
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return data, nil
}
