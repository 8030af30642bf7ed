package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// ErrCut is history that would have to be written anew and is not all here.
var ErrCut = advice.New("a part of its history is not in this clone", `run "git fetch --unshallow" first`)

// rewriter writes the history of a ledger anew, with other segments in the place of some. A commit stays as it is if
// neither it nor its ancestors hold a replaced segment. The new commits depend on nothing else: two machines that take
// the same out of the same history write the same commits, but for signatures. So if another tip has such a commit
// already, the rewriter takes it.
type rewriter struct {
	repo   *git.Repo
	author string  // whose commits are signed again, where they were; "" for nobody's
	beside git.OID // the other tip; "" for none
	// stays are commits that are not rewritten, nor what is behind them.
	stays []git.OID
	// replace tells what stands in the place of an entry's segments: nothing where it is dropped. The subject of its
	// commit is the entry's, which replace may change. changed is false where all stays.
	replace func(c Commit, e *session.Entry) (now []Segment, changed bool, err error)

	trees    *git.Trees
	instead  map[string][]Segment        // by the path of a segment
	subjects map[git.OID]string          // of commits that get another one
	now      map[git.OID]git.OID         // what became of the commits that were rewritten
	sign     map[git.OID]bool            // commits to be signed again
	standIns map[git.OID]git.OID         // see git.Draft
	changed  map[git.OID]bool            // commits of which an entry is replaced
	held     map[git.OID]map[string]bool // which of the replaced paths each commit holds
}

// rewriteHistory rewrites what leads to a tip, and returns what the tip has become.
func (w *rewriter) rewriteHistory(ctx context.Context, tip git.OID) (git.OID, error) {
	w.trees, w.instead, w.subjects = w.repo.Trees(treeBytes), map[string][]Segment{}, map[git.OID]string{}
	w.now, w.held, w.changed = map[git.OID]git.OID{}, map[git.OID]map[string]bool{}, map[git.OID]bool{}
	commits, err := Since(ctx, w.repo, tip, w.stays...)
	if err == nil {
		err = eachEntry(ctx, w.repo, commits, w.entry)
	}
	if err != nil {
		return "", err
	}
	if len(w.instead) == 0 {
		return tip, nil
	}
	if err := w.signatures(ctx, tip); err != nil {
		return "", fmt.Errorf("ledger: rewrite: %w", err)
	}
	for c, err := range w.repo.Walk(ctx, []git.OID{tip}, w.stays) {
		if err == nil {
			err = w.commit(c)
		}
		if err != nil {
			return "", fmt.Errorf("ledger: rewrite commit %.12s: %w", c.OID, err)
		}
	}
	return w.rewritten(tip), nil
}

// signatures finds out which commits are signed again, and which stand in for others. What somebody else signed gets no
// signature of the author's.
func (w *rewriter) signatures(ctx context.Context, tip git.OID) error {
	w.sign, w.standIns = map[git.OID]bool{}, map[git.OID]git.OID{}
	if w.beside != "" {
		for c, err := range w.repo.Walk(ctx, []git.OID{w.beside}, []git.OID{tip}) {
			if err != nil {
				return err
			}
			if !c.Signed {
				continue
			}
			unsigned, err := w.repo.Unsigned(c.OID)
			if err != nil {
				return err
			}
			w.standIns[unsigned] = c.OID
		}
	}
	if w.author == "" || !w.repo.IsSigning() {
		return nil
	}
	var signed []git.OID
	for c, err := range w.repo.Walk(ctx, []git.OID{tip}, w.stays) {
		if err != nil {
			return err
		}
		w.changed[c.OID] = w.changed[c.OID] || slices.ContainsFunc(c.Parents, func(p git.OID) bool { return w.changed[p] })
		if c.Signed && w.changed[c.OID] {
			signed = append(signed, c.OID)
		}
	}
	said, err := w.repo.Verdicts(ctx, signed, false)
	for _, id := range signed {
		w.sign[id] = !judge(said[id], w.author).isSomebodyElses()
	}
	return err
}

// entry asks what stands in the place of one entry.
func (w *rewriter) entry(c Commit, e session.Entry) error {
	subject := e.Subject
	now, changed, err := w.replace(c, &e)
	if err != nil || !changed {
		return err
	}
	for _, s := range c.Segments {
		w.instead[s.Path] = nil
	}
	w.instead[c.Segments[0].Path], w.changed[c.In] = now, true
	if e.Subject != subject {
		w.subjects[c.OID] = e.Subject
	}
	return nil
}

func (w *rewriter) rewritten(id git.OID) git.OID {
	if now, ok := w.now[id]; ok {
		return now
	}
	return id
}

func (w *rewriter) commit(c git.Commit) error {
	held, complete, err := w.pathsHeld(c)
	if err != nil {
		return err
	}
	w.held[c.OID] = held
	d := git.Draft{
		Base: c.Tree, Blobs: map[string]git.OID{}, Message: c.Message, Author: c.Committer,
		Signed: w.sign[c.OID], StandIns: w.standIns,
	}
	for path := range held {
		for _, s := range w.instead[path] {
			d.Blobs[s.Path] = s.Blob
		}
	}
	for path := range held {
		if _, stays := d.Blobs[path]; !stays {
			d.Remove = append(d.Remove, path)
		}
	}
	changed := len(held) > 0
	for _, p := range c.Parents {
		d.Parents = append(d.Parents, w.rewritten(p))
		changed = changed || w.rewritten(p) != p
	}
	if subject, ok := w.subjects[c.OID]; ok {
		d.Message, changed = subject+"\n", true
	}
	if !changed {
		return nil
	}
	if !complete {
		return ErrCut
	}
	w.now[c.OID], err = w.repo.WriteCommit(d)
	return err
}

// pathsHeld are the replaced paths that a commit holds: those that its parents hold, and those that the commit adds.
// complete says whether its parents are in this clone.
func (w *rewriter) pathsHeld(c git.Commit) (held map[string]bool, complete bool, err error) {
	before, cut, err := treeBefore(w.repo, c)
	if err != nil {
		return nil, false, err
	}
	for _, id := range c.Parents {
		held = union(held, w.held[id])
	}
	w.trees.AllowMore(commitBytes)
	added, err := segmentsBeyond(w.trees, before, c.Tree)
	if err != nil {
		return nil, false, err
	}
	own := map[string]bool{}
	for _, f := range added {
		if _, replaced := w.instead[f.Path]; replaced {
			own[f.Path] = true
		}
	}
	return union(held, own), !cut, nil
}

// union is the union of two sets. It changes neither set, and copies nothing if one of them is empty.
func union(a, b map[string]bool) map[string]bool {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// write stores an entry's content under its names, which stay: the time in them is that of the entry, and a merge knows
// by them that two entries are the same one.
func (w *rewriter) write(c Commit, parts [][]byte) ([]Segment, error) {
	name := segmentName{ID: c.Segments[0].entryID(), TS: c.Segments[0].Time()}
	var now []Segment
	for i, data := range parts {
		id, err := w.repo.WriteBlob(data)
		if err != nil {
			return nil, fmt.Errorf("ledger: rewrite: %w", err)
		}
		now = append(now, Segment{Path: name.path(i), Blob: id})
	}
	return now, nil
}
