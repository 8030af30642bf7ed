package history

import (
	"context"
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
}

// Stats counts what commits changed, as `git show --numstat` does, in one process: nothing of a merge. A commit that is not here is an
// error; one at which a shallow clone ends seems to have brought all of its files.
func Stats(ctx context.Context, r *git.Repo, commits []git.OID) (map[git.OID][]Stat, error) {
	out := map[git.OID][]Stat{}
	if len(commits) == 0 {
		return out, nil
	}
	var ids strings.Builder
	for _, id := range commits {
		fmt.Fprintln(&ids, id)
	}
	text, err := r.Feed(ctx, ids.String(), "log", "--no-walk=unsorted", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "--numstat", "-z", "--format=%x01%H", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("git: count changed lines: %w", err)
	}
	for commit := range strings.SplitSeq(text, "\x01") {
		if id, rest, ok := strings.Cut(commit, "\x00"); ok {
			out[git.OID(id)] = statsOf(rest)
		}
	}
	return out, nil
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
