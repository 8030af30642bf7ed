package ask

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/statedb"
	"github.com/git-rekal/git-rekal/internal/why"
)

// linesName names, in package statedb, what Standing keeps: the files of HEAD by their paths, each a countedFile, in
// CBOR. JSON takes several times as long to read.
const linesName = "lines"

// countedFile is where the lines of a file come from, and whose they are.
type countedFile struct {
	Blob   git.OID `cbor:"said"` // by another name than while blank lines counted
	At     git.OID // the commit of which git was asked; in a commit behind it the same blob has the same origins
	From   []run
	State  string // of the ledgers of which the share is
	Share  why.Share
	stands bool // in HEAD
}

// run is lines that follow one another in a file, and did in the commit that they come from.
type run struct {
	Commit git.OID
	Path   string
	Line   int
	N      int
	Cut    bool
}

// Counted is who wrote the lines of files, by their paths.
type Counted struct {
	Files map[string]why.Share
	Head  git.Commit
	Left  int // files of which that is not known, or only as the ledgers were before
}

// maxCounted is how many files of a tree are counted.
const maxCounted = 200_000

// Counting says how Standing counts.
type Counting struct {
	Cached   bool                  // only what was counted before
	Progress func(done, total int) // may be nil
}

// ErrNoCommit is a branch on which nobody has committed.
var ErrNoCommit = errors.New("there is no commit yet whose lines could be counted")

// Standing says of the lines of HEAD's files below a path, "" for all, who wrote them. Git is asked once for each
// content of a file: where its lines come from is kept in a cache, also where ctx ends the count. Files that are binary
// or too large have no lines.
func (m *Moment) Standing(ctx context.Context, path string, mode Counting) (Counted, error) {
	out := Counted{Files: map[string]why.Share{}}
	head, err := m.w.Repo.Head()
	if err != nil || head.OID == "" {
		return out, cmp.Or(err, ErrNoCommit)
	}
	if out.Head, err = m.w.Repo.Commit(head.OID); err != nil {
		return out, err
	}
	all, err := m.w.Repo.Trees(1<<30).All(out.Head.Tree, maxCounted)
	if err != nil {
		return out, err
	}
	k := &counting{m: m, head: head.OID, known: m.readCounted(ctx), leads: map[git.OID]bool{}}
	if k.state, err = m.ledgerState(ctx); err != nil {
		return out, err
	}
	below := slices.DeleteFunc(slices.Clone(all), func(e git.Entry) bool {
		return path != "" && e.Path != path &&
			!strings.HasPrefix(e.Path, path+"/")
	})
	if len(below) == 0 {
		return out, fmt.Errorf("%q is no file or folder of HEAD: %w", path, git.ErrNotFound)
	}
	if !mode.Cached {
		err = k.count(ctx, below, mode.Progress)
		for _, e := range all {
			if f := k.known[e.Path]; f != nil {
				f.stands = true
			}
		}
		if k.changed {
			_ = m.writeCounted(ctx, k.known) // what can't be kept is counted again
		}
	}
	for _, e := range below {
		f := k.known[e.Path]
		if f != nil && f.Blob == e.OID && f.State != "" {
			out.Files[e.Path] = f.Share
		}
		if f == nil || f.Blob != e.OID || f.State != k.state {
			out.Left++
		}
	}
	return out, err
}

type counting struct {
	m       *Moment
	head    git.OID
	state   string
	known   map[string]*countedFile
	leads   map[git.OID]bool // whether HEAD came of a commit
	counter *why.Counter
	changed bool
}

func (k *counting) count(ctx context.Context, files []git.Entry, progress func(done, total int)) (err error) {
	if k.counter, err = why.NewCounter(ctx, k.m.DB, k.m.w.Repo); err != nil {
		return err
	}
	done := 0
	counted := func(f *countedFile) (err error) {
		if f.State != k.state {
			if f.Share, err = k.counter.Count(ctx, fromRuns(f.From)); err != nil {
				return err
			}
			f.State, k.changed = k.state, true
		}
		if done++; progress != nil {
			progress(done, len(files))
		}
		return nil
	}
	var unknown []string
	blobs := map[string]git.OID{}
	for _, e := range files {
		if f := k.known[e.Path]; f == nil || f.Blob != e.OID || !k.isAncestorOfHead(f.At) {
			unknown, blobs[e.Path] = append(unknown, e.Path), e.OID
		} else if err := counted(f); err != nil {
			return err
		}
	}
	return history.BlameFiles(ctx, k.m.w.Repo, k.head, unknown, func(path string, from []history.Origin) error {
		// none of a file that has no lines, or of which git can't tell
		k.known[path] = &countedFile{Blob: blobs[path], At: k.head, From: toRuns(from)}
		k.changed = true
		return counted(k.known[path])
	})
}

// isAncestorOfHead reports whether HEAD came of a commit.
func (k *counting) isAncestorOfHead(id git.OID) bool {
	leads, ok := k.leads[id]
	if !ok {
		var err error
		leads, err = k.m.w.Repo.IsAncestor(id, k.head)
		leads = leads && err == nil || id == k.head
		k.leads[id] = leads
	}
	return leads
}

func toRuns(origins []history.Origin) (out []run) {
	for _, o := range origins {
		if n := len(out) - 1; n >= 0 && out[n].Commit == o.Commit && out[n].Path == o.Path && out[n].Line+out[n].N == o.Line {
			out[n].N++
			continue
		}
		out = append(out, run{o.Commit, o.Path, o.Line, 1, o.Cut})
	}
	return out
}

func fromRuns(from []run) (out []history.Origin) {
	for _, r := range from {
		for i := range r.N {
			out = append(out, history.Origin{Commit: r.Commit, Path: r.Path, Line: r.Line + i, Cut: r.Cut})
		}
	}
	return out
}

// ledgerState is a sum of what decides whose lines are: how far each ledger was read, and what is purged.
func (m *Moment) ledgerState(ctx context.Context) (string, error) {
	cursor, err := db.Cursor(ctx, m.DB)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, ref := range slices.Sorted(maps.Keys(cursor)) {
		fmt.Fprintln(sum, ref, cursor[ref])
	}
	fmt.Fprintln(sum, m.Barred(), "named") // what shares say by now
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

func (m *Moment) readCounted(ctx context.Context) map[string]*countedFile {
	out := map[string]*countedFile{}
	text, _ := statedb.Text(ctx, m.w.RekalDir(), linesName)
	// a path may be any bytes
	form, err := cbor.DecOptions{
		UTF8: cbor.UTF8DecodeInvalid, MaxMapPairs: math.MaxInt32,
		MaxArrayElements: math.MaxInt32,
	}.DecMode()
	// it is made anew
	if err != nil || form.Unmarshal(text, &out) != nil {
		return map[string]*countedFile{}
	}
	return out
}

// writeCounted replaces what is kept. Files that do not stand in HEAD are left out.
func (m *Moment) writeCounted(ctx context.Context, known map[string]*countedFile) error {
	maps.DeleteFunc(known, func(_ string, f *countedFile) bool { return !f.stands })
	text, err := cbor.Marshal(known)
	if err != nil {
		return err
	}
	return statedb.SetText(ctx, m.w.RekalDir(), linesName, text, "")
}

// LineStats says who wrote the lines of a file, of a folder with what is in it, or those that the commits of a range
// brought, with each. What is "" for all of HEAD.
func (m *Moment) LineStats(ctx context.Context, word string, limit int,
	progress func(done, total int),
) (result.LineStats, error) {
	out := result.LineStats{Schema: result.Schema, Of: word, Results: []result.Lines{}}
	path, ok := m.w.Repo.PathInside(word)
	if word == "" || path == "." {
		path = ""
	}
	var err error
	if ids := []string(nil); word != "" && m.isRevision(word) {
		if ids, err = commits.Revisions(ctx, m.DB, m.w.Repo, word); err == nil {
			err = m.countCommits(ctx, &out, ids, progress)
		}
	} else if word != "" && !ok {
		err = &name.UsageError{Err: fmt.Errorf("%q is no path inside of this repository", word)}
	} else {
		err = m.countTree(ctx, &out, path, progress)
	}
	slices.SortStableFunc(out.Results, byLines)
	if n := len(out.Results); limit > 0 && n > limit {
		out.Results, out.More = out.Results[:limit], n-limit
	}
	return out, err
}

// isRevision reports whether a word rather names commits than a path.
func (m *Moment) isRevision(word string) bool {
	rev, paths, err := m.Operands([]string{word})
	return err == nil && rev != "" && len(paths) == 0
}

// countCommits counts the lines that commits brought, of each that brought some; a merge brings what its parents have.
func (m *Moment) countCommits(ctx context.Context, out *result.LineStats, ids []string,
	progress func(done, total int),
) error {
	counter, err := why.NewCounter(ctx, m.DB, m.w.Repo)
	sum := why.Share{Wrote: map[string]int{}}
	for i := 0; i < len(ids) && err == nil; i++ {
		var c git.Commit
		if c, err = m.w.Repo.Commit(git.OID(ids[i])); err != nil || len(c.Parents) > 1 {
			continue
		}
		var share why.Share
		if share, err = counter.CountCommit(ctx, c.OID); err == nil && share.Lines > 0 {
			sum.Add(share)
			one := lineCounts(ids[i], share)
			one.Title = c.Subject()
			out.Results = append(out.Results, one)
		}
		if progress != nil {
			progress(i+1, len(ids))
		}
	}
	out.Total = lineCounts("", sum)
	return err
}

func (m *Moment) countTree(ctx context.Context, out *result.LineStats, path string,
	progress func(done, total int),
) error {
	counted, err := m.Standing(ctx, path, Counting{Progress: progress})
	if err != nil {
		return err
	}
	if out.Total, out.Results = counted.Below(path); path == "" {
		out.Writers, err = m.CountWriters(ctx)
	}
	return err
}

// Below sums up what is below a folder, and each file and folder that lies in it, those with the most lines first.
func (c Counted) Below(path string) (total result.Lines, each []result.Lines) {
	sum, parts := why.Share{Wrote: map[string]int{}}, map[string]*why.Share{}
	for file, share := range c.Files {
		rest := strings.TrimPrefix(strings.TrimPrefix(file, path), "/")
		key := file
		if folder, _, ok := strings.Cut(rest, "/"); ok {
			key = strings.TrimSuffix(file, rest) + folder + "/"
		}
		if parts[key] == nil {
			parts[key] = &why.Share{Wrote: map[string]int{}}
		}
		parts[key].Add(share)
		sum.Add(share)
	}
	each = []result.Lines{}
	for key, share := range parts {
		if share.Lines > 0 {
			each = append(each, lineCounts(key, *share))
		}
	}
	slices.SortFunc(each, byLines)
	return lineCounts("", sum), each
}

func byLines(a, b result.Lines) int {
	return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Key, b.Key))
}

func lineCounts(key string, s why.Share) result.Lines {
	out := result.Lines{Key: key, Lines: s.Lines, NoSession: s.NoSession, Named: s.Named, Sessions: len(s.Wrote)}
	for _, n := range s.Wrote {
		out.Wrote += n
	}
	out.Unknown = out.Lines - out.Wrote - out.NoSession
	return out
}
