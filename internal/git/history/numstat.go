package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Stat is how many lines of one file a commit changed against its first parent.
type Stat struct {
	Path, OldPath  string // the latter of a rename
	Added, Deleted int
	Binary         bool // lines are not counted
	Uncounted      bool // lines are not counted: a version of the file is not in this clone
}

// Stats counts what commits changed, as `git show --numstat` does: nothing of a merge. Of a commit whose files can't be
// read here, the paths are told alone, with no look for renames, and where not even its folders can be read, nothing. A
// commit at which a shallow clone ends seems to have brought all of its files.
func Stats(ctx context.Context, r *git.Repo, commits []git.OID) (map[git.OID][]Stat, error) {
	out := map[git.OID][]Stat{}
	return out, addStats(ctx, r, commits, out)
}

// addStats asks one git process for all commits. A single missing object makes it fail: then each half of the commits
// is asked for by itself.
func addStats(ctx context.Context, r *git.Repo, commits []git.OID, out map[git.OID][]Stat) error {
	if len(commits) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, id := range commits {
		fmt.Fprintln(&ids, id)
	}
	text, err := r.Feed(ctx, ids.String(), "log", "--no-walk=unsorted", "-M", "--no-ext-diff", "--no-textconv",
		"--no-color", "--no-show-signature", "--numstat", "-z", "--format=%x01%H", "--stdin")
	switch half := len(commits) / 2; {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && half > 0:
		return errors.Join(addStats(ctx, r, commits[:half], out), addStats(ctx, r, commits[half:], out))
	case err != nil:
		out[commits[0]] = filesWithoutCounts(r, commits[0])
	}
	for commit := range strings.SplitSeq(text, "\x01") {
		if id, rest, ok := strings.Cut(commit, "\x00"); ok {
			out[git.OID(id)] = statsOf(rest)
		}
	}
	return nil
}

// filesWithoutCounts are the files that a commit changed, as far as its folders can be read.
func filesWithoutCounts(r *git.Repo, id git.OID) (out []Stat) {
	c, err := r.Commit(id)
	if err != nil || len(c.Parents) > 1 {
		return nil
	}
	changes, err := r.CommitDiff(c)
	if err != nil {
		return nil
	}
	for _, change := range changes {
		out = append(out, Stat{Path: change.Path, Uncounted: true})
	}
	return out
}

// statsOf reads "ADDED TAB DELETED TAB PATH NUL", where of a rename PATH is empty and the old and the new one follow.
func statsOf(text string) (out []Stat) {
	fields := strings.Split(strings.TrimLeft(text, "\n\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		counts := strings.SplitN(strings.TrimLeft(fields[i], "\n"), "\t", 3)
		if len(counts) < 3 {
			continue
		}
		s := Stat{Path: counts[2], Binary: counts[0] == "-"}
		s.Added, _ = strconv.Atoi(counts[0])
		s.Deleted, _ = strconv.Atoi(counts[1])
		if s.Path == "" && i+2 < len(fields) {
			s.OldPath, s.Path = fields[i+1], fields[i+2]
			i += 2
		}
		out = append(out, s)
	}
	return out
}
