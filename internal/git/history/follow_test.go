package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// lineOf says which commit brought a line.
type lineOf struct {
	commit git.OID
	path   string
	line   int
}

// followAll follows every line.
func followAll(t *testing.T, r *git.Repo, tip git.OID) (of []lineOf, out history.Followed) {
	t.Helper()
	out, err := history.FollowLines(t.Context(), r, tip, 1000, history.Chooser{
		TooOld: func(git.Commit) bool { return false },
		Asks:   func(context.Context, git.Commit) (bool, error) { return true, nil },
		Choose: func(_ context.Context, c git.Commit, path string, lines []int, _ []string) ([]bool, error) {
			all := make([]bool, len(lines))
			for i, n := range lines {
				all[i], of = true, append(of, lineOf{c.OID, path, n})
			}
			return all, nil
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return of, out
}

// fates are the lines by the days on which commits brought and took them: "2-5" is gone, "2" lives, "2?" is lost.
func fates(out history.Followed, first time.Time) string {
	var all []string
	day := func(at time.Time) int { return int(at.Sub(first).Hours() / 24) }
	for _, l := range out.Lines {
		switch text := fmt.Sprint(day(l.From)); l.Fate {
		case history.Lives:
			all = append(all, text)
		case history.Gone:
			all = append(all, fmt.Sprintf("%s-%d", text, day(l.Until)))
		case history.Lost:
			all = append(all, text+"?")
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Lines live until a commit takes them out, through renames, new white space and merges.
func TestFollowLines(t *testing.T) {
	p := repos.New(t)
	p.Init("r")
	day := 0
	first := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	on := func() *repos.Place {
		at := first.Add(time.Duration(day) * 24 * time.Hour).Format(time.RFC3339)
		day++
		return &repos.Place{Place: p.With("GIT_COMMITTER_DATE="+at, "GIT_AUTHOR_DATE="+at)}
	}
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	on().Add("r", "zero", "a", text("one", "two", "three"), "b", text("bee")) // lines of day 0
	on().Add("r", "one", "a", text("one", "  two", "three", "four"))          // two is indented, four is new
	p.Git("r", "mv", "a", "c")
	on().Add("r", "two", "c", text("one", "  two", "three", "four", "five"))
	p.Git("r", "checkout", "-qb", "topic")
	on().Add("r", "three", "c", text("  two", "three", "four", "five"), "d", text("dee", "doo"))
	on().Add("r", "four", "d", text("dee"))
	p.Git("r", "checkout", "-q", "main")
	on().Add("r", "five", "e", text("eh"))
	on().Git("r", "merge", "-q", "--no-ff", "-m", "six", "topic")
	p.Git("r", "rm", "-q", "b")
	on().Add("r", "seven", "e", "eh\x00\n")

	_, out := followAll(t, p.Open("r"), p.Rev("r", "HEAD"))
	// one went on the branch, the file b at last, and e became binary
	harness.Equal(t, "lines", "0 0 0-3 0-7 1 2 3 3-4 5?", fates(out, first))
	harness.Equal(t, "commits", 8, out.Commits)
}

// In any history git blame names the same commits of the lines that live, in each of its commits.
func TestFollowLinesAsBlame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		p := repos.New(t)
		p.Init("r")
		grow := func(path string) string {
			lines := strings.Split(p.Git("r", "show", "HEAD:"+path), "\n")
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(lines))
				if lines[at] = fmt.Sprintf("line %d", rng.Int()); rng.IntN(3) > 0 {
					lines = append(lines[:at], append([]string{fmt.Sprintf("more %d", rng.Int())}, lines[at:]...)...)
				}
			}
			return strings.Join(lines, "\n") + "\n"
		}
		p.Add("r", "begin", "f0", "a\nb\n", "f1", "c\nd\n", "f2", "e\nf\n")
		for n := range 12 {
			p.Git("r", "checkout", "-q", "-B", "topic")
			for range rng.IntN(3) {
				path := fmt.Sprintf("f%d", rng.IntN(2))
				p.Add("r", "topic", path, grow(path))
			}
			p.Git("r", "checkout", "-q", "main")
			if rng.IntN(2) == 0 {
				p.Add("r", "main", "f2", grow("f2"))
			}
			p.Git("r", "merge", "-q", "--no-ff", "-m", fmt.Sprint(n), "topic")
		}
		r, tip := p.Open("r"), p.Rev("r", "HEAD")
		of, out := followAll(t, r, tip)
		got, want := map[lineOf]bool{}, map[lineOf]bool{}
		for i, l := range out.Lines {
			if l.Fate == history.Lives {
				got[of[i]] = true
			}
		}
		for _, path := range []string{"f0", "f1", "f2"} {
			for _, o := range repos.Must(history.BlameFile(t.Context(), r, tip, path, 0, 0))(t).Origins {
				want[lineOf{o.Commit, o.Path, o.Line}] = true
			}
		}
		harness.Equal(t, "lines", want, got)
	}
}
