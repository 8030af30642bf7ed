package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Trace follows lines of a file as a commit has them into another commit that may have them, too (the
// branch of which it is a squash), and there to the commits that brought them. A line that is not there, or
// came with what known leads to, has no Origin.
func (r *Repo) Trace(ctx context.Context, commit OID, file string, lines []int, in, known OID) ([]Origin, error) {
	out := make([]Origin, len(lines))
	there, err := r.matches(commit, file, lines, in)
	if err != nil {
		return out, err
	}
	var asked [][2]int
	for _, n := range there {
		switch last := len(asked) - 1; {
		case n == 0:
		case last >= 0 && asked[last][1] == n-1:
			asked[last][1] = n
		default:
			asked = append(asked, [2]int{n, n})
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	revs := []string{string(in)}
	if known != "" {
		revs = append(revs, "^"+string(known))
	}
	origins, err := r.blameByGit(ctx, revs, file, asked)
	for i, n := range there {
		out[i] = origins[n]
	}
	return out, err
}

// matches tells which lines of a file in another commit some of its lines in a commit are; 0 for none.
func (r *Repo) matches(commit OID, file string, lines []int, in OID) ([]int, error) {
	out := make([]int, len(lines))
	var texts [2][]byte
	for i, id := range [2]OID{in, commit} {
		c, err := r.Content(id)
		if err != nil {
			return out, err
		}
		texts[i], err = c.Text(file)
		c.Close()
		if err != nil {
			return out, err
		}
		switch {
		case len(texts[i]) > maxBlamed:
			return out, fmt.Errorf("git: %q: %w", file, ErrTooLarge)
		case bytes.IndexByte(texts[i], 0) >= 0:
			return out, fmt.Errorf("git: %q: %w", file, ErrBinary)
		}
	}
	all := make([]int, bytes.Count(texts[1], []byte("\n"))+1)
	if err := unchanged(texts[0], texts[1], SpacesAside, all); err != nil {
		return out, err
	}
	for i, n := range lines {
		if n >= 1 && n <= len(all) {
			out[i] = all[n-1]
		}
	}
	return out, nil
}

// blameByGit asks git for the origins of the lines of some ranges of a file, from the first to the last. Lines
// that came with what the revisions leave out have none.
func (r *Repo) blameByGit(ctx context.Context, revs []string, file string, ranges [][2]int) (map[int]Origin, error) {
	ctx, stop := context.WithTimeout(ctx, blamePatience)
	defer stop()
	root := cmp.Or(r.layout.WorkTree, r.layout.GitDir)
	ask := []string{"-C", root, "-c", "core.quotePath=true", "blame", "--porcelain", "--root", "-w", "--no-textconv", "--no-ignore-revs-file"}
	for _, lines := range ranges {
		ask = append(ask, "-L", fmt.Sprintf("%d,%d", lines[0], lines[1]))
	}
	what := slices.Concat(revs, []string{"--", file})
	text, err := "", error(nil)
	if name := r.lookedThrough(); name != "" {
		text, err = r.Run(ctx, slices.Concat(ask, []string{"--ignore-revs-file", name}, what)...)
	}
	if text == "" && ctx.Err() == nil { // git fails at a list of commits with a line that it does not understand
		text, err = r.Run(ctx, slices.Concat(ask, what)...)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("git: blame %q: %w", file, ErrTooLong)
	}
	if err != nil {
		return nil, fmt.Errorf("git: blame %q: %w", file, err)
	}
	cuts := cuts{}
	if r.shallow() {
		if cuts, err = r.cuts(); err != nil {
			return nil, err
		}
	}
	return readBlame(text, cuts)
}

// lookedThrough is the file with commits that only reformat, as the user configured it for git blame; "" for
// none. Git fails where it is not there.
func (r *Repo) lookedThrough() string {
	name := r.setting("blame.ignorerevsfile")
	if name == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(lookup(r.env, "HOME"), rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(r.layout.WorkTree, r.layout.GitDir), name)
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return name
}

func readBlame(text string, cuts cuts) (map[int]Origin, error) {
	out, named, left := map[int]Origin{}, map[OID]string{}, map[OID]bool{}
	var at OID
	for l := range strings.Lines(text) {
		f := strings.Fields(l)
		if name, ok := strings.CutPrefix(l, "filename "); ok {
			name = strings.TrimSuffix(name, "\n")
			if bare, err := strconv.Unquote(name); err == nil {
				name = bare
			}
			named[at] = name
		} else if l == "boundary\n" {
			left[at] = true
		} else if len(f) >= 3 && IsOID(f[0]) && l[0] != '\t' {
			was, err := strconv.Atoi(f[1])
			n, err2 := strconv.Atoi(f[2])
			if err := errors.Join(err, err2); err != nil {
				return nil, fmt.Errorf("git: blame: unexpected %q", l)
			}
			at = OID(f[0])
			out[n] = Origin{Commit: at, Line: was, Cut: cuts[at]}
		}
	}
	for n, o := range out {
		o.Path = named[o.Commit]
		if out[n] = o; left[o.Commit] && !o.Cut {
			delete(out, n)
		}
	}
	return out, nil
}
