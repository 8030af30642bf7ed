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

// Segments and commits are removed one by one, after `git rev-list --all --reflog` has said that nothing leads to them. What else leads
// there (a tag, a branch) is named. What lies in a pack is left to `git gc --prune=now`: that would also remove objects of
// the user's own that nothing leads to. Whoever reads the ledger meanwhile looks again when it has moved. git's commit-graph is written
// anew afterwards.

// Leftovers is the part of a former history that is still in the repository.
type Leftovers struct {
	Refs    []string // that lead to it; then nothing was removed
	Objects int      // that nothing leads to and that lie in a pack
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
	copies, err := l.copies()
	if err != nil {
		return Leftovers{}, err
	}
	for _, ref := range copies {
		if strings.HasPrefix(ref, remotePrefix) {
			if _, _, err := take(ctx, l.repo, ref, tip); err != nil {
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
	former = append(former, l.begun()...)
	dead, err := l.dead(ctx, tip, former)
	if err != nil {
		return Leftovers{}, err
	}
	if len(dead) == 0 {
		return Leftovers{}, l.finish()
	}
	if err := l.begin(dead); err != nil {
		return Leftovers{}, err
	}
	for _, ref := range logs {
		if err := l.repo.ExpireReflog(ctx, ref); err != nil {
			return Leftovers{}, err
		}
	}
	left, err := l.discard(ctx, tip, dead)
	if err == nil && len(left.Refs) == 0 {
		err = l.finish()
	}
	return left, err
}

// notes is the file that names the commits which are to go, until they are gone: the reflogs that tell them are emptied before.
func (l *Ledger) notes() string { return filepath.Join(l.repo.Layout().CommonDir, "rekal-discard") }

// begun are the commits that an interrupted Discard left.
func (l *Ledger) begun() (ids []git.OID) {
	text, _ := os.ReadFile(l.notes()) // mostly there is none
	for id := range strings.FieldsSeq(string(text)) {
		ids = append(ids, git.OID(id))
	}
	return ids
}

// begin adds commits; what was written half is no commit.
func (l *Ledger) begin(dead []git.Commit) error {
	f, err := os.OpenFile(l.notes(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("ledger: note what is to go: %w", err)
	}
	text := "\n"
	for _, c := range dead {
		text += string(c.OID) + "\n"
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (l *Ledger) finish() error {
	if err := os.Remove(l.notes()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// copies are the other refs here that may hold one's own ledger.
func (l *Ledger) copies() ([]string, error) {
	refs, err := l.repo.Refs(l.tracking("*"), remotePrefix+"*/"+strings.TrimPrefix(l.ref, localPrefix))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return slices.Sorted(maps.Keys(refs)), nil
}

// dead are the commits that lead to former tips and not to today's.
func (l *Ledger) dead(ctx context.Context, tip git.OID, former []git.OID) ([]git.Commit, error) {
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

func (l *Ledger) discard(ctx context.Context, tip git.OID, dead []git.Commit) (left Leftovers, err error) {
	var ids []git.OID
	for _, c := range dead {
		ids = append(ids, c.OID)
	}
	reached, err := l.repo.Reachable(ctx, ids)
	if err != nil {
		return Leftovers{}, err
	}
	for _, id := range reached {
		refs, err := l.repo.RefsTo(ctx, id)
		if err != nil {
			return Leftovers{}, err
		}
		if len(refs) == 0 {
			refs = []string{"HEAD of a worktree, or a reflog, at " + string(id[:12])}
		}
		left.Refs = append(left.Refs, refs...)
	}
	if len(reached) > 0 {
		slices.Sort(left.Refs)
		left.Refs = slices.Compact(left.Refs)
		return left, nil
	}
	blobs, err := l.only(tip, dead)
	if err != nil {
		return Leftovers{}, err
	}
	still, err := l.repo.Discard(ctx, append(blobs, ids...))
	return Leftovers{Objects: len(still)}, err
}

// only lists the segments that commits added and a tip does not hold.
func (l *Ledger) only(tip git.OID, commits []git.Commit) ([]git.OID, error) {
	trees := l.repo.Trees(treeBytes)
	now, err := l.repo.Commit(tip)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	held, err := beyond(trees, "", now.Tree)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	blobs := map[git.OID]bool{}
	for _, c := range commits {
		trees.Allow(commitBytes)
		before := git.OID("")
		if len(c.Parents) > 0 {
			if p, err := l.repo.Commit(c.Parents[0]); err == nil {
				before = p.Tree
			}
		}
		added, err := beyond(trees, before, c.Tree)
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
	for _, f := range held {
		delete(blobs, f.OID)
	}
	return slices.Sorted(maps.Keys(blobs)), nil
}
