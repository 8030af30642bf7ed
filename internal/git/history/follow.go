package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Fate is what became of a line.
type Fate int

// A line that is Lost stands in a file that can't be compared any more: it became binary or large, or is not here.
const (
	Lives Fate = iota // in the commit up to which lines were followed
	Gone              // a commit took it out
	Lost
)

// Lifetime is how long a line lived: from the commit that brought it to the first one that took it out, by the times of
// their committers. Until is zero for one that Lives.
type Lifetime struct {
	From, Until time.Time
	Fate        Fate
}

// Followed is what became of lines in a history.
type Followed struct {
	Lines   []Lifetime // in the order in which they were chosen
	Commits int        // that were looked into
	Cut     bool       // older commits were left out: there are too many, or a shallow clone ends
}

// Chooser says which lines are followed. Asks and Choose are called with parents before their children.
type Chooser struct {
	// TooOld reports whether a commit brought none of the lines, nor did one before it.
	TooOld func(git.Commit) bool
	// Asks reports whether Choose is to be asked about a commit. To compare all of its files takes long.
	Asks func(context.Context, git.Commit) (bool, error)
	// Choose says which lines of a file are followed that a commit brought: those whose place in the result is true.
	// Lines are numbered from 1 on.
	Choose func(ctx context.Context, c git.Commit, path string, lines []int, text []string) ([]bool, error)
}

// FollowLines follows lines through all of a history up to a commit, as git blame does backwards: white space does not
// count, renamed files are followed, and a line of a merge comes from the first parent that has it. It begins behind
// the newest commit that is too old, and of the others the newest are looked into, at most so many.
func FollowLines(ctx context.Context, r *git.Repo, tip git.OID, most int, choose Chooser,
	progress func(done, total int),
) (Followed, error) {
	f := &follower{repo: r, choose: choose, states: map[git.OID]followedTree{}, waiting: map[git.OID]int{}}
	cuts, err := r.ShallowCuts()
	if err != nil {
		return f.out, err
	}
	order, err := f.parentsFirst(ctx, tip, most, cuts)
	for i := 0; i < len(order) && err == nil; i++ {
		if err = f.take(ctx, order[i]); progress != nil {
			progress(i+1, len(order))
		}
	}
	if err != nil {
		return f.out, fmt.Errorf("git: follow lines: %w", err)
	}
	for _, file := range f.states[tip] {
		for _, id := range file.ids {
			if id > 0 {
				f.out.Lines[id-1].Fate, f.out.Lines[id-1].Until = Lives, time.Time{}
			}
		}
	}
	return f.out, nil
}

// followedFile is the lines of a file: of each the number of its Lifetime, from 1 on; 0: it is not followed.
type followedFile struct {
	blob git.OID
	ids  []int32
}

// followedTree is the files of a commit with lines that are followed, by their paths.
type followedTree map[string]followedFile

type follower struct {
	repo    *git.Repo
	choose  Chooser
	states  map[git.OID]followedTree // of commits whose children are not all taken
	waiting map[git.OID]int          // how many children are not
	out     Followed
}

// parentsFirst are the commits to look into.
func (f *follower) parentsFirst(ctx context.Context, tip git.OID, most int,
	cuts map[git.OID]bool,
) (order []git.Commit, err error) {
	all, pending := map[git.OID]git.Commit{}, []git.OID{tip}
	for c, err := range f.repo.Newest(ctx, []git.OID{tip}, nil) {
		if errors.Is(err, git.ErrNotFound) {
			f.out.Cut = true
			break
		}
		if err != nil {
			return nil, err
		}
		if f.choose.TooOld(c) {
			break
		}
		if f.out.Cut = f.out.Cut || cuts[c.OID] || len(all) == most; len(all) == most {
			break
		}
		all[c.OID] = c
	}
	f.out.Commits = len(all)
	done := map[git.OID]bool{}
	for len(pending) > 0 {
		c, is := all[pending[len(pending)-1]]
		before := len(pending)
		for _, p := range slices.Backward(c.Parents) {
			if _, is := all[p]; is && !done[p] {
				pending = append(pending, p)
			}
		}
		if len(pending) > before {
			continue
		}
		if pending = pending[:before-1]; is && !done[c.OID] {
			done[c.OID], order = true, append(order, c)
			for _, p := range c.Parents {
				f.waiting[p]++
			}
		}
	}
	return order, nil
}

// release gives up what is known of a parent, unless other children of it wait. The first one may go on with it.
func (f *follower) release(id git.OID) (state followedTree, mine bool) {
	state = f.states[id]
	if f.waiting[id]--; f.waiting[id] > 0 {
		return state, false
	}
	delete(f.states, id)
	return state, true
}

// take goes on from the parents of a commit to the commit.
func (f *follower) take(ctx context.Context, c git.Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	changes, err := f.repo.Changes(c.OID)
	if err != nil {
		return err
	}
	asks, err := f.choose.Asks(ctx, c)
	if err != nil {
		return err
	}
	t := &step{follower: f, ctx: ctx, commit: c, asks: asks, now: followedTree{}}
	for i, p := range c.Parents {
		state, mine := f.release(p)
		if i == 0 && mine && state != nil {
			t.now = state
		} else if i == 0 && state != nil {
			t.now = maps.Clone(state)
		}
		if i > 0 {
			t.others = append(t.others, parent{id: p, state: state})
		}
	}
	if err := t.apply(changes); err != nil {
		return err
	}
	f.states[c.OID] = t.now
	return nil
}

// parent is a further parent of a merge.
type parent struct {
	id    git.OID
	state followedTree
}

// step is the way from the parents of a commit to the commit.
type step struct {
	*follower
	ctx    context.Context
	commit git.Commit
	asks   bool
	now    followedTree // as in the first parent, and in the end as in the commit
	others []parent
}

func (t *step) apply(changes []git.Change) error {
	before := followedTree{} // what stood in files that change
	for _, ch := range changes {
		for _, path := range []string{ch.Path, ch.OldPath} {
			if file, ok := t.now[path]; ok {
				before[path] = file
				delete(t.now, path)
			}
		}
	}
	stands := map[int32]bool{}
	for _, ch := range changes {
		if ch.OID == "" {
			continue
		}
		old := ch.Path
		if ch.OldPath != "" {
			old = ch.OldPath
		}
		file, err := t.fileAfter(ch, before[old])
		if err != nil {
			return err
		}
		if slices.ContainsFunc(file.ids, func(id int32) bool { return id > 0 }) {
			t.now[ch.Path] = file
		}
		for _, id := range file.ids {
			stands[id] = true
		}
	}
	for _, p := range t.others { // what the merge does not take from them
		for path, file := range p.state {
			if t.now[path].blob == file.blob {
				continue
			}
			before[path+"\x00"+string(p.id)] = file
			for _, id := range t.now[path].ids {
				stands[id] = true
			}
		}
	}
	for _, file := range before {
		for _, id := range file.ids {
			if id > 0 && !stands[id] {
				t.end(id, Gone)
			}
		}
	}
	return nil
}

// end says that a line does not stand in the commit. The first commit that says so counts.
func (t *step) end(id int32, fate Fate) {
	l, at := &t.out.Lines[id-1], t.commit.Committer.When
	if l.Fate == Lives || at.Before(l.Until) {
		l.Until, l.Fate = at, fate
	}
}

// fileAfter is a file that a commit changed. Before is as it is in the first parent.
func (t *step) fileAfter(ch git.Change, before followedFile) (followedFile, error) {
	file := followedFile{blob: ch.OID}
	sources := t.sources(ch, before)
	isFollowed := slices.ContainsFunc(sources, func(s followedFile) bool { return len(s.ids) > 0 })
	if !t.asks && !isFollowed {
		return file, nil
	}
	for _, s := range sources {
		if s.blob == ch.OID {
			file.ids = s.ids
			return file, nil
		}
	}
	text, err := textWithin(t.repo, ch.OID, MaxPatched)
	if err != nil {
		t.lose(sources)
		return file, nil //nolint:nilerr // what can't be compared is lost
	}
	lines := splitLines(text)
	file.ids = make([]int32, len(lines))
	known := make([]bool, len(lines))
	for _, s := range sources {
		if err := t.carry(s, text, file.ids, known); err != nil {
			return file, err
		}
	}
	if t.asks {
		err = t.chooseLines(ch.Path, lines, known, file.ids)
	}
	return file, err
}

// sources are a file as it is in each parent that has it.
func (t *step) sources(ch git.Change, before followedFile) (out []followedFile) {
	if ch.Before != "" {
		out = append(out, followedFile{ch.Before, before.ids})
	}
	for _, p := range t.others {
		c, err := t.repo.Commit(p.id)
		if err != nil {
			continue
		}
		path := ch.Path
		if t.repo.EntryAt(c.Tree, path).Name == "" {
			path = t.formerName(c.Tree, ch)
		}
		if path != "" {
			out = append(out, followedFile{t.repo.EntryAt(c.Tree, path).ID(), p.state[path].ids})
		}
	}
	return out
}

// formerName is what a file was called in a tree; "" if it was not there.
func (t *step) formerName(tree git.OID, ch git.Change) string {
	if ch.OldPath != "" && t.repo.EntryAt(tree, ch.OldPath).Name != "" {
		return ch.OldPath
	}
	pair := git.TreePair{tree, t.commit.Tree}
	for old, now := range t.repo.Renames(pair)[pair] {
		if now == ch.Path {
			return old
		}
	}
	return ""
}

// lose says that what became of lines can't be told.
func (t *step) lose(sources []followedFile) {
	for _, s := range sources {
		for _, id := range s.ids {
			if id > 0 {
				t.end(id, Lost)
			}
		}
	}
}

// carry takes over the lines that stood in a file, and says which they are.
func (t *step) carry(from followedFile, text []byte, ids []int32, known []bool) error {
	old, err := textWithin(t.repo, from.blob, MaxPatched)
	if err != nil {
		old = nil // it was binary, or is not here: all lines are new
	}
	was := make([]int, len(ids))
	if bytes.Equal(old, nil) {
		return nil
	}
	if err := mapUnchangedLines(old, text, git.SpacesAside, was); err != nil {
		return err
	}
	for i, n := range was {
		if n == 0 || known[i] {
			continue
		}
		if known[i] = true; n <= len(from.ids) {
			ids[i] = from.ids[n-1]
		}
	}
	return nil
}

// chooseLines begins to follow lines that no parent has.
func (t *step) chooseLines(path string, text []string, known []bool, ids []int32) error {
	var lines []int
	for i := range text {
		if !known[i] {
			lines = append(lines, i+1)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	chosen, err := t.choose.Choose(t.ctx, t.commit, path, lines, text)
	for i, line := range lines {
		if err == nil && chosen[i] {
			t.out.Lines = append(t.out.Lines, Lifetime{From: t.commit.Committer.When})
			ids[line-1] = int32(len(t.out.Lines)) //nolint:gosec // there are fewer lines
		}
	}
	return err
}
