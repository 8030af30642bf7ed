package recall_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

func (p *place) why(target string) result.Recall {
	p.t.Helper()
	out, err := recall.Why(p.t.Context(), p.index, p.repo, recall.WhyRequest{Target: target})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// explained is an answer of why: "jwt [[1 2]], docs [[3 3]]".
func (p *place) explained(target string) string {
	p.t.Helper()
	var out []string
	for _, h := range p.why(target).Results {
		out = append(out, fmt.Sprint(p.names[h.ID], " ", h.Explains.Ranges))
	}
	return strings.Join(out, ", ")
}

const (
	first  = "the first line of all, long enough\n"
	second = "the second line, which is as long\n"
	third  = "the third line, and it is the last\n"
)

// Of several sessions behind a commit, those count whose the file is; of those, who wrote to it most
// often comes first.
func TestWhyAmongNeighbours(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", first+second, "docs/token.md", third)
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{
		chat("jwt", 0, "human the token", "Edit src/jwt.go"),
		chat("docs", 1, "human document it", "Edit docs/token.md"),
		chat("more", 2, "human and more", "Edit src/jwt.go", "Edit src/jwt.go"),
		chat("talk", 3, "human talk about it"),
	}})
	p.open()
	equal(t, "two owners", "more [[1 2]], jwt [[1 2]]", p.explained("src/jwt.go"))
	equal(t, "one owner", "docs [[1 1]]", p.explained("docs/token.md:1"))
	out := p.why("src/jwt.go:2")
	equal(t, "score", 1.0, out.Results[0].Score)
	equal(t, "commits", []string{cp.GitSHA[:7]}, out.Results[0].Explains.Commits)
	equal(t, "total", 2, out.Total)
	equal(t, "freshness", result.Fresh, out.Results[0].Freshness)
}

// Where a commit was made of several, each line is theirs who added it.
func TestWhyOfFixup(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	one := p.committed("one", "src/jwt.go", first+second)
	p.append(alice, 10, session.Entry{Checkpoint: one, Sessions: []session.Session{chat("one", 0, "human the second line", "Edit src/jwt.go")}})
	two := p.committed("two", "src/jwt.go", first+second+third)
	p.append(alice, 20, session.Entry{Checkpoint: two, Sessions: []session.Session{chat("two", 11, "human the third line", "Edit src/jwt.go")}})
	p.git("reset", "-q", "--soft", "HEAD~2")
	fixed := p.code("both")
	p.append(alice, 21, session.Entry{Rewrites: []session.Rewrite{{Old: one.GitSHA, New: fixed, TS: at(21)}, {Old: two.GitSHA, New: fixed, TS: at(21)}}})
	p.open()
	equal(t, "second", "one [[2 2]]", p.explained("src/jwt.go:2"))
	equal(t, "third", "two [[3 3]]", p.explained("src/jwt.go:3"))
	out := p.why("src/jwt.go")
	equal(t, "nobody's", []result.Source{{Commit: p.git("rev-parse", "--short=7", "HEAD~1"), Ranges: []result.Range{{1, 1}}}}, out.Why.Unexplained)
}

// A squash merge on a server is followed, and says that it is inferred.
func TestWhyOfSquash(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	p.git("checkout", "-qb", "topic")
	p.clock = 1
	one := p.committed("one", "src/jwt.go", first+second)
	p.append(alice, 2, session.Entry{Checkpoint: one, Sessions: []session.Session{chat("one", 0, "human the second line", "Edit src/jwt.go")}})
	p.clock = 3
	two := p.committed("two", "src/jwt.go", first+second+third)
	p.append(alice, 4, session.Entry{Checkpoint: two, Sessions: []session.Session{chat("two", 3, "human the third line", "Edit src/jwt.go")}})
	p.clock = 10
	p.git("checkout", "-q", "main")
	p.git("merge", "-q", "--squash", "topic")
	p.code("squashed (#1)")
	p.open()
	equal(t, "second", "one [[2 2]]", p.explained("src/jwt.go:2"))
	out := p.why("src/jwt.go:3")
	if len(out.Results) != 1 || p.names[out.Results[0].ID] != "two" || !out.Results[0].Inferred {
		t.Errorf("%+v, want two, inferred", out.Results)
	}
}

func TestWhyPastThatIsNotHere(t *testing.T) {
	p := files(t)
	_, err := recall.Why(t.Context(), p.index, p.repo, recall.WhyRequest{Target: "src/jwt.go", Checkpoint: "x", Tip: "0123456789012345678901234567890123456789"})
	var usage *recall.UsageError
	if err == nil || errors.As(err, &usage) || !strings.Contains(err.Error(), `--checkpoint "x"`) {
		t.Errorf("error %v", err)
	}
}

// What is purged explains nothing, and nobody else explains what it brought: neither today nor in the
// tables of a moment before it was purged.
func TestWhyOfPurged(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", first+second, "docs/token.md", third)
	jwt := chat("jwt", 0, "human the token", "Edit src/jwt.go")
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{jwt, chat("docs", 1, "human document it", "Edit docs/token.md")}})
	p.append(alice, 11, session.Entry{Checkpoint: checkpoint(cp.GitSHA), Sessions: []session.Session{chat("talk", 11, "human talk about it")}})
	p.open()
	equal(t, "before", "jwt [[1 2]]", p.explained("src/jwt.go"))
	nobody := func(name string, req recall.WhyRequest) {
		t.Helper()
		out, err := recall.Why(t.Context(), p.index, p.repo, req)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, 0, len(out.Results))
		equal(t, name+": unexplained", []result.Source{{Commit: cp.GitSHA[:7], Ranges: []result.Range{{1, 2}}}}, out.Why.Unexplained)
	}
	nobody("in the tables of a moment", recall.WhyRequest{Target: "src/jwt.go", Hidden: []string{jwt.ID}})
	p.append(alice, 12, session.Entry{Purges: []session.Mark{{ID: jwt.ID, N: 1, TS: at(12)}}})
	p.open()
	nobody("today", recall.WhyRequest{Target: "src/jwt.go"})
	equal(t, "others", "docs [[1 1]]", p.explained("docs/token.md"))
}

// Where a shallow clone ends, blame names its last commit for all that is older: whose that is brought
// none of it, as far as is known.
func TestWhyInShallowClone(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	last := p.committed("one", "README.md", second)
	p.append(alice, 10, session.Entry{Checkpoint: last, Sessions: []session.Session{chat("last", 0, "human write a page", "Edit README.md")}})
	now := p.committed("two", "src/jwt.go", first+third)
	p.append(alice, 20, session.Entry{Checkpoint: now, Sessions: []session.Session{chat("now", 11, "human the third line", "Edit src/jwt.go")}})
	p.write(".git/shallow", last.GitSHA+"\n")
	p.open()
	equal(t, "who", "now [[2 2]]", p.explained("src/jwt.go"))
	equal(t, "unexplained", []result.Source{{Commit: last.GitSHA[:7], Ranges: []result.Range{{1, 1}}, Cut: true}}, p.why("src/jwt.go").Why.Unexplained)
}

// A name need not be UTF-8, nor one line.
func TestWhyOfOddNames(t *testing.T) {
	p := newPlace(t)
	odd, lines := "odd\xff.go", "two\nlines.go"
	cp := p.committed("one", odd, first+second, lines, third)
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{chat("odd", 0, "human name it oddly")}})
	p.committed("two", odd, first+second+third)
	p.open()
	equal(t, "not UTF-8", "odd [[1 2]]", p.explained(odd))
	equal(t, "two lines", "odd [[1 1]]", p.explained(lines+":1"))
	equal(t, "freshness", "odd unknown", p.states(recall.Request{}))
	if _, err := recall.Recall(t.Context(), p.index, p.repo, recall.Request{Commit: "HEAD"}); err != nil {
		t.Error(err)
	}
}
