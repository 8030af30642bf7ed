package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const mallory = "mallory@evil.example"

// rewrites is what a ledger says of commits that became one another, in a chain.
func rewrites(shas ...string) (e session.Entry) {
	for i := range len(shas) - 1 {
		e.Rewrites = append(e.Rewrites, session.Rewrite{Old: shas[i], New: shas[i+1], TS: at(40)})
	}
	return e
}

// made are n commits that nobody has.
func made(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%040x", 0xabc0000000+i)
	}
	return out
}

// ties tells of each result of --commit whether its tie is inferred.
func (p *place) ties(rev string) string {
	p.T.Helper()
	var out []string
	for _, h := range p.recall(recall.Request{Commit: rev}).Results {
		out = append(out, p.names[h.ID]+map[bool]string{true: "?"}[h.Inferred])
	}
	return strings.Join(out, " ")
}

// desk is a line that alice wrote, and the commit that she amended once, with her sessions, of which one was
// imported.
func desk(t *testing.T) (p *place, head, before string) {
	p = newPlace(t)
	cp := p.committed("one", "a.go", "package a\n")
	before = cp.GitSHA
	p.append(alice, 10, session.Entry{
		Checkpoint: cp,
		Sessions:   []session.Session{chat("first", 0, "human begin", "Edit a.go")},
	})
	p.git("commit", "-q", "--amend", "-m", "two")
	head = p.git("rev-parse", "HEAD")
	imported := chat("imported", 1, "human long ago")
	p.append(alice, 11, session.Entry{Sessions: []session.Session{imported}})
	cp = checkpoint(head, "a.go")
	cp.Links = []session.Link{{Session: imported.ID, Inferred: true, Tie: session.TieInferred}}
	p.append(alice, 20, session.Entry{
		Checkpoint: cp,
		Sessions:   []session.Session{chat("second", 11, "human amend it", "Edit a.go")},
	})
	p.append(alice, 21, rewrites(before, head))
	return p, head, before
}

// Whatever somebody's ledger says became of commits: what a session is behind because of it is inferred, and last,
// where somebody else made the commit; nobody else's sessions are found by it, named by it, or hidden.
func TestRewritesOfOthers(t *testing.T) {
	own := made(3)
	for _, c := range []struct {
		name string
		says func(head, before string) []session.Entry
		want string // of HEAD, inferred with ?
	}{
		{"nothing", func(string, string) []session.Entry { return nil }, "second first"},
		{"of a commit that it does not name", func(head, _ string) []session.Entry {
			return []session.Entry{rewrites(own[1], head)}
		}, "second first"},
		{
			"of its own", func(head, _ string) []session.Entry { return []session.Entry{rewrites(own[0], head)} },
			"second first his?",
		},
		{"of its own, in steps", func(head, _ string) []session.Entry {
			return []session.Entry{rewrites(own[1], own[2], head), rewrites(own[0], own[1])}
		}, "second first his?"},
		{"in a ring", func(head, _ string) []session.Entry {
			return []session.Entry{rewrites(own[0], own[1], own[2], own[0], head, own[1])}
		}, "second first his?"},
		{"of hers, as its own", func(head, before string) []session.Entry {
			return []session.Entry{
				{Checkpoint: checkpoint(before)},
				{Checkpoint: checkpoint(head)},
				rewrites(before, own[0]),
				rewrites(head, own[0], own[2]),
			}
		}, "second first his?"},
		{"by another session of the same", func(head, _ string) []session.Entry {
			return []session.Entry{
				rewrites(own[0], own[1]),
				{Checkpoint: checkpoint(own[1]), Sessions: []session.Session{chat("other", 31, "human hm")}},
				rewrites(own[1], head),
			}
		}, "second first other? his?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, head, before := desk(t)
			p.append(mallory, 30, session.Entry{
				Checkpoint: checkpoint(own[0], "a.go"),
				Sessions:   []session.Session{chat("his", 29, "human me", "Edit a.go")},
			})
			for i, e := range c.says(head, before) {
				p.append(mallory, 41+i, e)
			}
			p.open()
			harness.Equal(t, "HEAD", c.want, p.ties("HEAD"))
			harness.Equal(t, "before", c.want[:len("second first")], strings.Join(strings.Fields(p.ties(before))[:2], " "))
			harness.Equal(t, "why", "first [[1 1]]", p.explained("a.go"))
			for _, h := range p.recall(recall.Request{Author: alice}).Results {
				if p.names[h.ID] != "imported" && !slices.Equal(h.Commits, []string{result.ShortOID(head)}) {
					t.Errorf("%s has the commits %q", p.names[h.ID], h.Commits)
				}
			}
			if got := p.found(p.recall(recall.Request{Query: head})); strings.Contains(got, "his") {
				t.Errorf("named: %s", got)
			}
		})
	}
}

// A chain without an end, and a ring, of very many rewrites ends, and takes nothing from what others say.
func TestManyRewrites(t *testing.T) {
	p, head, _ := desk(t)
	chain := made(20_000)
	p.append(mallory, 30, session.Entry{
		Checkpoint: checkpoint(chain[0], "a.go"),
		Sessions:   []session.Session{chat("his", 29, "human me", "Edit a.go")},
	})
	p.append(mallory, 41, rewrites(append(slices.Clone(chain), chain[0])...))
	p.append(mallory, 42, rewrites(chain[1], head, chain[2]))
	p.open()
	harness.Equal(t, "HEAD", "second first", strings.Join(strings.Fields(p.ties("HEAD"))[:2], " "))
	harness.Equal(t, "why", "first [[1 1]]", p.explained("a.go"))
	harness.Equal(t, "of the chain", "his", p.ties(chain[0]))
	harness.Equal(t, "what became of it", 1, len(p.recall(recall.Request{Author: mallory}).Results[0].Commits))
	rows, err := p.index.RewriteFamilies(t.Context(), []string{chain[0], head})
	if err != nil || len(rows) > 5000 {
		t.Errorf("%d rewrites are read for one question (%v)", len(rows), err)
	}
}
