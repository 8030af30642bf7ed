package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Segments and commits are removed one by one, after `git rev-list --objects` has said that nothing leads to them: a
// branch may have the ledger's tree and none of its commits. What leads to others is named, and they stay. What lies in
// a pack is left to `git gc --prune=now`: that would also remove objects of the user's own that nothing leads to.
// Whoever reads the ledger meanwhile looks again when it has moved. git's commit-graph is written anew afterwards.

// Leftovers is the part of a former history that is still in the repository.
type Leftovers struct {
	Refs    []string // that lead to a part of it, or what else does
	Objects int      // that nothing leads to, and that lie in a pack
}

// Discard removes from the repository what one's own ledger held and does not hold any more: other
// copies of the ledger here follow it, the reflogs are emptied, and the objects go that only the
// former history had, but for trees, which hold names alone. It does nothing where nothing is left,
// so an interrupted Scrub, or Discard, can be done again.
func (l *Ledger) Discard(ctx context.Context, former ...git.OID) (Leftovers, error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return Leftovers{}, err
	}
	logs := []string{l.ref}
	copies, err := l.copyRefs()
	if err != nil {
		return Leftovers{}, err
	}
	for _, ref := range copies {
		if strings.HasPrefix(ref, remotePrefix) {
			if _, _, err := mergeIntoRef(ctx, l.repo, owner{l.who.Email, true}, ref, tip, anyChange); err != nil {
				return Leftovers{}, err
			}
		}
		logs = append(logs, ref)
	}
	for _, ref := range logs {
		ids, err := l.repo.Reflog(ref)
		if err != nil {
			return Leftovers{}, err
		}
		former = append(former, ids...)
	}
	noted := l.notedObjects()
	former = append(former, noted...)
	commits, err := l.formerCommits(ctx, tip, former)
	if err != nil {
		return Leftovers{}, err
	}
	gone, err := l.formerSegments(tip, commits, noted)
	if err != nil {
		return Leftovers{}, err
	}
	for _, c := range commits {
		gone = append(gone, c.OID)
	}
	if len(gone) == 0 {
		return Leftovers{}, l.dropNotes()
	}
	if err := l.noteObjects(gone); err != nil {
		return Leftovers{}, err
	}
	for _, ref := range logs {
		if err := l.repo.ExpireReflog(ctx, ref); err != nil {
			return Leftovers{}, err
		}
	}
	left, err := l.removeObjects(ctx, gone)
	if err == nil && len(left.Refs) == 0 {
		err = l.dropNotes()
	}
	return left, err
}

// notesFile is the file that names the objects which are to go, until they are gone: the reflogs that tell of them are
// emptied before.
func (l *Ledger) notesFile() string { return filepath.Join(l.repo.Layout().CommonDir, "rekal-discard") }

// notedObjects are the objects that an earlier Discard left.
func (l *Ledger) notedObjects() (ids []git.OID) {
	text, _ := os.ReadFile(l.notesFile()) // mostly there is none
	for id := range strings.FieldsSeq(string(text)) {
		ids = append(ids, git.OID(id))
	}
	return ids
}

// noteObjects adds objects; what was written half is none.
func (l *Ledger) noteObjects(gone []git.OID) error {
	f, err := os.OpenFile(l.notesFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("ledger: note what is to go: %w", err)
	}
	text := "\n"
	for _, id := range gone {
		text += string(id) + "\n"
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (l *Ledger) dropNotes() error {
	if err := os.Remove(l.notesFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// copyRefs are the other refs here that may hold one's own ledger.
func (l *Ledger) copyRefs() ([]string, error) {
	refs, err := l.repo.Refs(l.trackingRef("*"), remotePrefix+"*/"+strings.TrimPrefix(l.ref, localPrefix))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return slices.Sorted(maps.Keys(refs)), nil
}

// formerCommits are the commits that lead to former tips and not to today's.
func (l *Ledger) formerCommits(ctx context.Context, tip git.OID, former []git.OID) ([]git.Commit, error) {
	seen := map[git.OID]bool{}
	var out []git.Commit
	for _, id := range former {
		if _, err := l.repo.Commit(id); err != nil || seen[id] {
			continue // it is gone already
		}
		for c, err := range l.repo.Walk(ctx, []git.OID{id}, []git.OID{tip}) {
			if errors.Is(err, git.ErrNotFound) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("ledger: %w", err)
			}
			if !seen[c.OID] {
				seen[c.OID] = true
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func (l *Ledger) removeObjects(ctx context.Context, gone []git.OID) (left Leftovers, err error) {
	reached, err := l.repo.Reachable(ctx, gone)
	if err != nil {
		return Leftovers{}, err
	}
	kept := map[git.OID]bool{}
	for _, id := range reached {
		kept[id] = true
	}
	if len(reached) > 0 {
		if left.Refs, err = l.repo.RefsHolding(ctx, reached); err != nil {
			return Leftovers{}, err
		}
	}
	gone = slices.DeleteFunc(gone, func(id git.OID) bool { return kept[id] })
	still, err := l.repo.Discard(ctx, gone)
	left.Objects = len(still)
	return left, err
}

// formerSegments lists the segments that commits added, or that an earlier Discard left, and that a tip does not hold.
func (l *Ledger) formerSegments(tip git.OID, commits []git.Commit, noted []git.OID) ([]git.OID, error) {
	held, err := l.heldBlobs(tip)
	if err != nil {
		return nil, err
	}
	trees, blobs := l.repo.Trees(treeBytes), map[git.OID]bool{}
	for _, id := range noted {
		if _, err := l.repo.BlobSize(id); err == nil {
			blobs[id] = true
		}
	}
	for _, c := range commits {
		trees.AllowMore(commitBytes)
		before := git.OID("")
		if len(c.Parents) > 0 {
			if p, err := l.repo.Commit(c.Parents[0]); err == nil {
				before = p.Tree
			}
		}
		added, err := segmentsBeyond(trees, before, c.Tree)
		if errors.Is(err, git.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		for _, f := range added {
			blobs[f.OID] = true
		}
	}
	maps.DeleteFunc(blobs, func(id git.OID, _ bool) bool { return held[id] })
	return slices.Sorted(maps.Keys(blobs)), nil
}
