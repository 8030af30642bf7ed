package history

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

	"github.com/git-rekal/git-rekal/internal/git"
)

// Trace follows lines of a file as a commit has them into another commit that may have them, too (the
// branch of which it is a squash), and there to the commits that brought them. A line that is not there, or
// came with what known leads to, has no Origin.
func Trace(ctx context.Context, r *git.Repo, commit git.OID, file string, lines []int, in,
	known git.OID,
) ([]Origin, error) {
	out := make([]Origin, len(lines))
	there, err := matchingLines(r, commit, file, lines, in)
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
	b, err := newBlamer(r)
	if err != nil {
		return out, err
	}
	origins, err := b.run(ctx, nil, revs, file, nil, asked)
	for i, n := range there {
		out[i] = origins[n]
	}
	return out, err
}

// matchingLines tells which lines of a file in another commit some of its lines in a commit are; 0 for none.
func matchingLines(r *git.Repo, commit git.OID, file string, lines []int, in git.OID) ([]int, error) {
	out := make([]int, len(lines))
	var texts [2][]byte
	for i, id := range [2]git.OID{in, commit} {
		blob, err := r.FileAt(id, file)
		if err == nil {
			texts[i], err = textWithin(r, blob, maxBlamed)
		}
		if err != nil {
			return out, err
		}
	}
	all := make([]int, bytes.Count(texts[1], []byte("\n"))+1)
	if err := mapUnchangedLines(texts[0], texts[1], git.SpacesAside, all); err != nil {
		return out, err
	}
	for i, n := range lines {
		if n >= 1 && n <= len(all) {
			out[i] = all[n-1]
		}
	}
	return out, nil
}

// blamer runs git blame. It may be used by several goroutines.
type blamer struct {
	repo   *git.Repo
	ignore string // as of ignoreRevsFile
	cuts   map[git.OID]bool
}

func newBlamer(r *git.Repo) (blamer, error) {
	cuts, err := r.ShallowCuts()
	return blamer{r, ignoreRevsFile(r), cuts}, err
}

// run asks git for the origins of the lines of some ranges of a file, from the first to the last. Lines that came with
// what the revisions leave out have none. libgit2 has a blame of its own, which gives lines to other commits than git
// does where a change can be told in several ways, and gives up where the history is cut. Without a revision, it is the
// file in the working tree that is asked of, or what it is to become, where options are those of its Content. It
// returns ErrNotFound for a file that git does not know.
func (b blamer) run(ctx context.Context, options, revs []string, file string, unsaved []byte,
	ranges [][2]int,
) (map[int]Origin, error) {
	ctx, stop := context.WithTimeout(ctx, blamePatience)
	defer stop()
	root := cmp.Or(b.repo.Layout().WorkTree, b.repo.Layout().GitDir)
	ask := slices.Concat(options, []string{
		"-C", root, "-c", "core.quotePath=true", "blame", "--porcelain", "--root", "-w",
		"--no-textconv", "--no-ignore-revs-file",
	})
	for _, lines := range ranges {
		ask = append(ask, "-L", fmt.Sprintf("%d,%d", lines[0], lines[1]))
	}
	if unsaved != nil {
		ask = append(ask, "--contents", "-")
	}
	what := slices.Concat(revs, []string{"--", file})
	text, err := "", error(nil)
	if b.ignore != "" {
		text, err = b.repo.Feed(ctx, string(unsaved), slices.Concat(ask, []string{"--ignore-revs-file", b.ignore}, what)...)
	}
	if text == "" && ctx.Err() == nil { // git fails at a list of commits with a line that it does not understand
		text, err = b.repo.Feed(ctx, string(unsaved), slices.Concat(ask, what)...)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("git: blame %q: %w", file, ErrTooLong)
	}
	if err != nil && strings.Contains(err.Error(), "no such path") {
		err = git.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("git: blame %q: %w", file, err)
	}
	return readBlame(text, b.cuts)
}

// ignoreRevsFile is the file with commits that only reformat, as the user configured it for git blame; "" for
// none. Git fails where it is not there.
func ignoreRevsFile(r *git.Repo) string {
	name := r.Setting("blame.ignorerevsfile")
	if name == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(r.Variable("HOME"), rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(r.Layout().WorkTree, r.Layout().GitDir), name)
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return name
}

func readBlame(text string, cuts map[git.OID]bool) (map[int]Origin, error) {
	out, named, left := map[int]Origin{}, map[git.OID]string{}, map[git.OID]bool{}
	var at git.OID
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
		} else if len(f) >= 3 && git.IsOID(f[0]) && l[0] != '\t' {
			was, err := strconv.Atoi(f[1])
			n, err2 := strconv.Atoi(f[2])
			if err := errors.Join(err, err2); err != nil {
				return nil, fmt.Errorf("git: blame: unexpected %q", l)
			}
			at = git.OID(f[0])
			out[n] = Origin{Commit: at, Line: was, Cut: cuts[at]}
		}
	}
	for n, o := range out {
		o.Path = named[o.Commit]
		// the latter is what nobody committed
		if out[n] = o; left[o.Commit] && !o.Cut || strings.Trim(string(o.Commit), "0") == "" {
			delete(out, n)
		}
	}
	return out, nil
}
