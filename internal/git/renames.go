package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TreePair is two trees that are compared, the older one first.
type TreePair [2]OID

// Renames tells what files that went from an older tree to a newer one are called there, by their former names, for
// each of some pairs: as git finds them, which is asked once, and only if in one of the pairs a file went and another
// one came.
func (r *Repo) Renames(pairs ...TreePair) map[TreePair]map[string]string {
	return r.askRenames(slices.DeleteFunc(slices.Clone(pairs), func(p TreePair) bool {
		changes, err := r.Diff(p[0], p[1])
		return err != nil || !mayRename(changes)
	}))
}

// mayRename reports whether a file went and another one came.
func mayRename(changes []Change) bool {
	has := func(kind string) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return c.Kind == kind })
	}
	return has("D") && has("A")
}

func (r *Repo) askRenames(pairs []TreePair) map[TreePair]map[string]string {
	if len(pairs) == 0 || r.ctx.Err() != nil {
		return nil
	}
	var asked strings.Builder
	for _, p := range pairs {
		fmt.Fprintln(&asked, p[0], p[1])
	}
	args := []string{"diff-tree", "-r", "--diff-filter=R", "--name-status", "--stdin"}
	if len(pairs) == 1 {
		out, _ := r.compareTrees(r.ctx, asked.String(), args...)
		return parseRenames(out)
	}
	out, err := r.compareTreesBy(r.ctx, alike, asked.String(), args...)
	if err == nil {
		return parseRenames(out)
	}
	found := map[TreePair]map[string]string{} // git ends at the first file that it can't read
	for _, half := range [][]TreePair{pairs[:len(pairs)/2], pairs[len(pairs)/2:]} {
		maps.Copy(found, r.askRenames(half))
	}
	return found
}

// RenamesTold are the renames, by former names, that a git command tells which compares the working tree or the index
// with a commit; none where it fails. What options there are stand before it.
func (r *Repo) RenamesTold(options []string, command ...string) map[string]string {
	out, _ := r.compareTrees(r.ctx, "", slices.Concat(options, command, []string{"--diff-filter=R", "--name-status"})...)
	return parseRenames(out)[TreePair{}]
}

// alike is how much of the larger one of two files stands in the other, so that one became the other: less than git
// asks for by default, as a file that grew to twice its size is the same one.
const alike = "-M40%"

// compareTrees is what git prints that compares trees, with renames. Where it can't read a file, because that is not in
// this clone, only files of the same content are renames.
func (r *Repo) compareTrees(ctx context.Context, input string, args ...string) (out string, err error) {
	if out, err = r.compareTreesBy(ctx, alike, input, args...); err == nil || ctx.Err() != nil {
		return out, err
	}
	return r.compareTreesBy(ctx, "-M100%", input, args...)
}

func (r *Repo) compareTreesBy(ctx context.Context, renames, input string, args ...string) (string, error) {
	cmd := withoutFetching(r.Command(ctx, append(slices.Clone(args), "-z", "-l1000", renames)...))
	cmd.Stdin = strings.NewReader(input)
	return runGit(ctx, cmd, lastLine)
}

// parseRenames reads "R087 NUL OLD NUL NEW NUL", with a line "TREE TREE" before the first of a pair that was asked for.
func parseRenames(text string) map[TreePair]map[string]string {
	out, pair := map[TreePair]map[string]string{}, TreePair{}
	for f := range slices.Chunk(strings.Split(text, "\x00"), 3) {
		for line := range strings.Lines(f[0]) {
			if older, newer, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
				pair = TreePair{OID(older), OID(newer)}
			}
		}
		if len(f) < 3 {
			break // the end
		}
		if out[pair] == nil {
			out[pair] = map[string]string{}
		}
		out[pair][f[1]] = f[2]
	}
	return out
}
