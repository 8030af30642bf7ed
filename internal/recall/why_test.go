package recall_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/why"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func (p *place) why(target string) result.Recall {
	p.T.Helper()
	out, err := why.Lines(p.T.Context(), p.index, p.repo, why.Request{Target: target})
	if err != nil {
		p.T.Fatal(err)
	}
	return out
}

// explained is an answer of why: "jwt [[1 2]], docs [[3 3]]".
func (p *place) explained(target string) string {
	p.T.Helper()
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
	harness.Equal(t, "two owners", "more [[1 2]], jwt [[1 2]]", p.explained("src/jwt.go"))
	harness.Equal(t, "one owner", "docs [[1 1]]", p.explained("docs/token.md:1"))
	out := p.why("src/jwt.go:2")
	harness.Equal(t, "score", 0.5, out.Results[0].Score)
	harness.Equal(t, "commits", []string{cp.GitSHA[:7]}, out.Results[0].Explains.Commits)
	harness.Equal(t, "total", 2, out.Total)
	harness.Equal(t, "freshness", result.Fresh, out.Results[0].Freshness)
}

// Where a commit was made of several, each line is theirs who added it.
func TestWhyOfFixup(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	one := p.committed("one", "src/jwt.go", first+second)
	p.append(alice, 10, session.Entry{
		Checkpoint: one,
		Sessions:   []session.Session{chat("one", 0, "human the second line", "Edit src/jwt.go")},
	})
	two := p.committed("two", "src/jwt.go", first+second+third)
	p.append(alice, 20, session.Entry{
		Checkpoint: two,
		Sessions:   []session.Session{chat("two", 11, "human the third line", "Edit src/jwt.go")},
	})
	p.git("reset", "-q", "--soft", "HEAD~2")
	fixed := p.code("both")
	p.append(alice, 21, session.Entry{Rewrites: []session.Rewrite{
		{Old: one.GitSHA, New: fixed, TS: at(21)},
		{Old: two.GitSHA, New: fixed, TS: at(21)},
	}})
	p.open()
	harness.Equal(t, "second", "one [[2 2]]", p.explained("src/jwt.go:2"))
	harness.Equal(t, "third", "two [[3 3]]", p.explained("src/jwt.go:3"))
	out := p.why("src/jwt.go")
	harness.Equal(t, "nobody's", p.git("rev-parse", "--short=7", "HEAD~1")+" [[1 1]]", unexplained(out))
}

// unexplained are the commits behind which no session is known, with their lines.
func unexplained(out result.Recall) string {
	var all []string
	for _, s := range out.Why.Unexplained {
		text := fmt.Sprint(s.Commit, " ", s.Ranges)
		if s.Cut {
			text += ", cut"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// What somebody else's ledger says of a commit's lines is a guess at most, and says nothing against what its author
// knows.
func TestWhyByOthers(t *testing.T) {
	for _, tt := range []struct {
		name string
		hers func(cp *session.Checkpoint) session.Entry
		want string
	}{
		{"hers wrote it", func(cp *session.Checkpoint) session.Entry {
			return session.Entry{
				Checkpoint: cp, Sessions: []session.Session{chat("hers", 0, "human go", "Edit src/jwt.go")},
				Wrote: []session.Wrote{
					{
						GitSHA: cp.GitSHA, Blob: cp.Files[0].Blob, Session: chat("hers", 0).ID, Path: "src/jwt.go",
						Lines: session.RangesOf([]int{1}), TS: at(1),
					},
				},
			}
		}, "hers [[1 2]] exact [[1 1]], his? [[2 2]] by bob@example.com"},
		{"hers edited it", func(cp *session.Checkpoint) session.Entry {
			return session.Entry{Checkpoint: cp, Sessions: []session.Session{chat("hers", 0, "human go", "Edit src/jwt.go")}}
		}, "hers [[1 2]]"},
		{"hers had another file", func(cp *session.Checkpoint) session.Entry {
			return session.Entry{Checkpoint: cp, Sessions: []session.Session{chat("hers", 0, "human go", "Edit docs/token.md")}}
		}, "his? [[1 2]] by bob@example.com"},
		{"nobody's", func(*session.Checkpoint) session.Entry { return session.Entry{} }, "his? [[1 2]] by bob@example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.clock = 5
			cp := p.committed("one", "src/jwt.go", first+second, "docs/token.md", third)
			sha, file := cp.GitSHA, cp.Files[slices.IndexFunc(cp.Files,
				func(f session.File) bool { return f.Path == "src/jwt.go" })]
			cp.Files = []session.File{file, cp.Files[0]}
			p.append(alice, 10, tt.hers(cp))
			p.append(bob, 20, session.Entry{
				Sessions: []session.Session{chat("his", 0, "human go", "Edit src/jwt.go")},
				Wrote: []session.Wrote{
					{
						GitSHA: sha, Blob: file.Blob, Session: chat("his", 0).ID, Path: "src/jwt.go", Lines: session.RangesOf([]int{1, 2}),
						TS: at(2),
					},
				},
			})
			p.git("update-ref", "refs/rekal/origin/bob@example.com", "refs/heads/rekal/bob@example.com") // as a sync brings it
			p.git("update-ref", "-d", "refs/heads/rekal/bob@example.com")
			p.open()
			var got []string
			for _, h := range p.why("src/jwt.go").Results {
				text := p.names[h.ID]
				if h.Inferred {
					text += "?"
				}
				text += fmt.Sprint(" ", h.Explains.Ranges)
				if len(h.Explains.Exact) > 0 {
					text += fmt.Sprint(" exact ", h.Explains.Exact)
				}
				if text[:3] == "his" {
					text += " by " + h.Author
				}
				got = append(got, text)
			}
			harness.Equal(t, "why", tt.want, strings.Join(got, ", "))
			for _, h := range p.recall(recall.Request{Commit: sha}).Results {
				if p.names[h.ID] == "his" && !h.Inferred {
					t.Error("his is recorded at her commit")
				}
			}
		})
	}
}

// A squash merge on a server is followed, and says that it is inferred.
func TestWhyOfSquash(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	p.git("checkout", "-qb", "topic")
	p.clock = 1
	one := p.committed("one", "src/jwt.go", first+second)
	p.append(alice, 2, session.Entry{
		Checkpoint: one,
		Sessions:   []session.Session{chat("one", 0, "human the second line", "Edit src/jwt.go")},
	})
	p.clock = 3
	two := p.committed("two", "src/jwt.go", first+second+third)
	p.append(alice, 4, session.Entry{
		Checkpoint: two,
		Sessions:   []session.Session{chat("two", 3, "human the third line", "Edit src/jwt.go")},
	})
	p.clock = 10
	p.git("checkout", "-q", "main")
	p.git("merge", "-q", "--squash", "topic")
	p.code("squashed (#1)")
	p.open()
	harness.Equal(t, "second", "one [[2 2]]", p.explained("src/jwt.go:2"))
	out := p.why("src/jwt.go:3")
	if len(out.Results) != 1 || p.names[out.Results[0].ID] != "two" || !out.Results[0].Inferred {
		t.Errorf("%+v, want two, inferred", out.Results)
	}
}

// block is a function whose lines, but for the first, stand in all of them.
func block(name string) string {
	return "func " + name + "() error {\n\tif err := try(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n"
}

// sure is an answer of why like explained, with what is shared behind it: "one [[1 2]] ~[[2 2]]".
func (p *place) sure(target string) string {
	p.T.Helper()
	var out []string
	for _, h := range p.why(target).Results {
		text := fmt.Sprint(p.names[h.ID], " ", h.Explains.Ranges)
		if len(h.Explains.Shared) > 0 {
			text += fmt.Sprint(" ~", h.Explains.Shared)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// Each line of a squash is whose commit it was, also one that stands there often, and nobody's where no session
// is behind that commit. Where the commits are not here it is one of several, and the answer says so.
func TestLongWhyOfSquashedLines(t *testing.T) {
	s := newShop(t)
	a, z := block("a"), block("z")
	s.write("f.go", a+z)
	s.commit("base")
	s.branch("topic", "main")
	s.work("one", "f.go", a+block("b")+z)
	s.write("f.go", a+block("b")+block("by_hand")+z)
	s.commit("by hand")
	s.work("two", "f.go", a+block("b")+block("by_hand")+block("c")+"var two = 2\n"+z)
	s.git("checkout", "-q", "main")
	s.write("f.go", "package f\n"+a+z)
	s.commit("meanwhile")
	s.squash("topic")
	s.open()
	harness.Equal(t, "lines", "two [[23 30]], one [[9 15]]", s.sure("f.go"))
	harness.Equal(t, "a brace", "two [[28 28]]", s.sure("f.go:28"))
	harness.Equal(t, "by hand", "", s.sure("f.go:18"))
	s.forget()
	harness.Equal(t, "elsewhere", "", s.sure("f.go")) // nothing of it is as a commit of the branch left it
}

func TestLongWhyOfSquashThatIsNotHere(t *testing.T) {
	s := newShop(t)
	s.branch("topic", "main")
	s.work("one", "f.go", block("a"))
	s.work("two", "f.go", block("a")+block("b"))
	s.work("three", "f.go", block("a")+block("b")+block("c"), "g.go", block("g"))
	s.squash("topic")
	s.open()
	harness.Equal(t, "here", "one [[1 7]], three [[15 21]], two [[8 14]]", byID(s, "f.go"))
	s.forget()
	out := s.why("f.go:8")
	harness.Equal(t, "how many", 3, len(out.Results))
	for _, h := range out.Results {
		harness.Equal(t, "score", 0.3333, h.Score)
		harness.Equal(t, "shared", []result.Range{{8, 8}}, h.Explains.Shared)
		harness.Equal(t, "inferred", true, h.Inferred)
	}
	harness.Equal(t, "another file", "three [[1 7]]", s.sure("g.go"))
}

// byID is sure where the order of those that explain as much is not of interest.
func byID(s *shop, target string) string {
	parts := strings.Split(s.sure(target), ", ")
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// Of small commits, which share their files with what main did meanwhile, the lines of all together tell.
func TestLongWhyOfSmallCommits(t *testing.T) {
	s := newShop(t)
	s.branch("topic", "main")
	s.work("one", "a.go", text("a", 40, "5 the first of few"))
	s.work("two", "a.go", text("a", 40, "5 the first of few", "20 and the second"))
	s.work("three", "b.go", text("b", 40, "5 the third of them"))
	s.git("checkout", "-q", "main")
	s.write("a.go", text("a", 40, "7 meanwhile in a"))
	s.write("b.go", text("b", 40, "7 meanwhile in b"))
	s.commit("meanwhile")
	s.squash("topic")
	s.branch("alone", "main~2")
	s.work("four", "log.md", text("log", 40, "5 one line alone"))
	s.git("checkout", "-q", "main")
	s.write("log.md", text("log", 40, "7 meanwhile in the log"))
	s.commit("meanwhile")
	s.squash("alone")
	s.open()
	harness.Equal(t, "a.go", "one [[6 6]]", s.sure("a.go:6"))
	harness.Equal(t, "a.go", "two [[21 21]]", s.sure("a.go:21"))
	harness.Equal(t, "b.go", "three [[6 6]]", s.sure("b.go:6"))
	harness.Equal(t, "log.md", "four [[6 6]]", s.sure("log.md:6"))
	harness.Equal(t, "meanwhile", "", s.sure("a.go:8"))
}

// A line that a revert brought back is whose it was before, also where that was a squash.
func TestLongWhyOfReverted(t *testing.T) {
	s := newShop(t)
	s.branch("topic", "main")
	s.work("one", "f.go", block("a")+block("b"))
	s.git("checkout", "-q", "main")
	s.squash("topic")
	s.work("two", "f.go", block("b"))
	s.clock++
	s.git("revert", "--no-edit", "HEAD")
	s.open()
	harness.Equal(t, "reverted", "one [[1 14]]", s.sure("f.go"))
	s.clock++
	s.git("revert", "--no-edit", "HEAD")
	s.clock++
	s.git("revert", "--no-edit", "HEAD")
	s.reopen()
	harness.Equal(t, "and again, twice", "one [[1 14]]", s.sure("f.go"))
}

// A line that an amend added is of the session of the amend.
func TestWhyOfAmended(t *testing.T) {
	s := newShop(t)
	old := s.work("one", "f.go", block("a"))
	s.write("f.go", block("a")+block("b"))
	s.git("add", "-A")
	s.clock++
	s.git("commit", "-q", "--amend", "-m", "amended")
	now := s.git("rev-parse", "HEAD")
	s.capture("two", now, session.ViaCommit)
	s.clock++
	s.append(alice, s.clock, session.Entry{Rewrites: []session.Rewrite{{Old: old, New: now, TS: at(s.clock)}}})
	s.open()
	harness.Equal(t, "lines", "one [[1 7]], two [[8 14]]", byID(s, "f.go"))
}

// Agents that edit something else when a person commits are not behind the commit, nor behind what it changed: they
// talked meanwhile. An old ledger links them without saying why.
func TestLongCommittedMeanwhile(t *testing.T) {
	p := newPlace(t)
	hand := p.committed("by hand", "docs/hand.md", first)
	busy := chat("busy", 0, "human speed the tests up", "Edit reset_test.go")
	hand.Links = []session.Link{{Session: busy.ID}}
	p.append(alice, 10, session.Entry{Checkpoint: hand, Sessions: []session.Session{busy}})
	more := chat("busy", 0, "human speed the tests up", "Edit reset_test.go", "human more")
	more.FirstTurn, more.Turns, more.FirstTool, more.ToolCalls = 1, more.Turns[1:], 1, nil
	again := checkpoint(hand.GitSHA)
	again.Links = []session.Link{{Session: busy.ID}}
	p.append(alice, 20, session.Entry{Checkpoint: again, Sessions: []session.Session{more}})
	two := p.committed("by hand, too", "docs/more.md", first)
	both := []session.Session{
		chat("painter", 20, "human paint it", "Edit paint.go"),
		chat("tester", 21, "human test it", "Edit paint_test.go"),
	}
	two.Links = []session.Link{{Session: both[0].ID}, {Session: both[1].ID}}
	p.append(alice, 30, session.Entry{Checkpoint: two, Sessions: both})
	p.open()
	for i, cp := range []*session.Checkpoint{hand, two} {
		file := cp.Files[0].Path
		harness.Equal(t, "why "+file, "", p.found(p.why(file)))
		harness.Equal(t, "file "+file, "", p.found(p.recall(recall.Request{File: file})))
		out := p.recall(recall.Request{Commit: cp.GitSHA})
		harness.Equal(t, "behind "+file, "", p.found(out))
		harness.Equal(t, "talked before "+file, 1+i, out.Talked)
	}
}

// Of a session that is behind several commits the part of the one that is asked for is shown, where nothing
// in it is nearer to the lines.
func TestPartOfTheCommit(t *testing.T) {
	p := newPlace(t)
	whole := chat("long", 0, "human retry uploads seven times", "Edit a.txt", "assistant sure", "human no paint please",
		"Edit b.txt", "assistant fine")
	one, two := whole, whole
	one.Turns, one.ToolCalls = whole.Turns[:2], whole.ToolCalls[:1]
	two.FirstTurn, two.Turns, two.FirstTool, two.ToolCalls = 2, whole.Turns[2:], 1, whole.ToolCalls[1:]
	p.append(alice, 10, session.Entry{Checkpoint: p.committed("one", "a.txt", first), Sessions: []session.Session{one}})
	last := p.committed("two", "b.txt", "NO_COLOR = 1\n")
	p.append(alice, 20, session.Entry{Checkpoint: last, Sessions: []session.Session{two}})
	p.open()
	for name, out := range map[string]result.Recall{
		"why":    p.why("b.txt"),
		"commit": p.recall(recall.Request{Commit: last.GitSHA}),
	} {
		if len(out.Results) != 1 || *out.Results[0].Turn != 2 || out.Results[0].Snippet != "no paint please" {
			t.Errorf("%s: %+v", name, out.Results)
		}
	}
}

func TestWhyPastThatIsNotHere(t *testing.T) {
	p := files(t)
	_, err := why.Lines(t.Context(), p.index, p.repo,
		why.Request{Target: "src/jwt.go", Checkpoint: "x", Tip: "0123456789012345678901234567890123456789"})
	var usage *name.UsageError
	if err == nil || errors.As(err, &usage) || !strings.Contains(err.Error(), `--checkpoint "x"`) {
		t.Errorf("error %v", err)
	}
}

// What is purged explains nothing, and nobody else explains what it brought: neither today nor in the
// tables of a moment before it was purged.
func TestLongWhyOfPurged(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", first+second, "docs/token.md", third)
	jwt := chat("jwt", 0, "human the token", "Edit src/jwt.go")
	p.append(alice, 10, session.Entry{
		Checkpoint: cp,
		Sessions:   []session.Session{jwt, chat("docs", 1, "human document it", "Edit docs/token.md")},
	})
	p.append(alice, 11, session.Entry{
		Checkpoint: checkpoint(cp.GitSHA),
		Sessions:   []session.Session{chat("talk", 11, "human talk about it")},
	})
	p.open()
	harness.Equal(t, "before", "jwt [[1 2]]", p.explained("src/jwt.go"))
	nobody := func(name string, req why.Request) {
		t.Helper()
		out, err := why.Lines(t.Context(), p.index, p.repo, req)
		if err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, name, 0, len(out.Results))
		harness.Equal(t, name+": unexplained", cp.GitSHA[:7]+" [[1 2]]", unexplained(out))
	}
	if err := p.index.Bar(t.Context(), []string{jwt.ID}); err != nil {
		t.Fatal(err)
	}
	nobody("barred", why.Request{Target: "src/jwt.go"})
	p.append(alice, 12, session.Entry{Purges: []session.Mark{{ID: jwt.ID, N: 1, TS: at(12)}}})
	p.open()
	nobody("today", why.Request{Target: "src/jwt.go"})
	harness.Equal(t, "others", "docs [[1 1]]", p.explained("docs/token.md"))
}

// Where a shallow clone ends, blame names its last commit for all that is older: whose that is brought
// none of it, as far as is known.
func TestWhyInShallowClone(t *testing.T) {
	p := newPlace(t)
	p.committed("base", "src/jwt.go", first)
	last := p.committed("one", "README.md", second)
	p.append(alice, 10, session.Entry{
		Checkpoint: last,
		Sessions:   []session.Session{chat("last", 0, "human write a page", "Edit README.md")},
	})
	now := p.committed("two", "src/jwt.go", first+third)
	p.append(alice, 20, session.Entry{
		Checkpoint: now,
		Sessions:   []session.Session{chat("now", 11, "human the third line", "Edit src/jwt.go")},
	})
	p.write(".git/shallow", last.GitSHA+"\n")
	p.open()
	harness.Equal(t, "who", "now [[2 2]]", p.explained("src/jwt.go"))
	harness.Equal(t, "unexplained", last.GitSHA[:7]+" [[1 1]], cut", unexplained(p.why("src/jwt.go")))
}

// A name need not be UTF-8, nor one line.
func TestWhyOfOddNames(t *testing.T) {
	p := newPlace(t)
	odd, lines := "odd\xff.go", "two\nlines.go"
	cp := p.committed("one", odd, first+second, lines, third)
	p.append(alice, 10, session.Entry{
		Checkpoint: cp,
		Sessions:   []session.Session{chat("odd", 0, "human name it oddly", "Bash make && git commit -qam one")},
	})
	p.committed("two", odd, first+second+third)
	p.open()
	harness.Equal(t, "not UTF-8", "odd [[1 2]]", p.explained(odd))
	harness.Equal(t, "two lines", "odd [[1 1]]", p.explained(lines+":1"))
	harness.Equal(t, "freshness", "odd unknown", p.states(recall.Request{}))
	if _, err := recall.Recall(t.Context(), p.index, p.repo, recall.Request{Commit: "HEAD"}); err != nil {
		t.Error(err)
	}
}

// Who talks while the user types stands behind nothing: neither the commit nor its lines.
func TestTalkStandsBehindNothing(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "src/jwt.go", first+second, "src/clock.go", third)
	talk := chat("talk", 0, "human write the token", "Read docs/token.md", "assistant so")
	cp.Links = []session.Link{{Session: talk.ID, Tie: session.TieTalked, Evidence: "prompt"}}
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{talk}})
	p.open()
	harness.Equal(t, "freshness", "talk unverifiable", p.states(recall.Request{}))
	harness.Equal(t, "by its commit", "", p.states(recall.Request{Commit: "HEAD"}))
	harness.Equal(t, "how many talked", 1, p.recall(recall.Request{Commit: "HEAD"}).Talked)
	harness.Equal(t, "by a file of that", "", p.states(recall.Request{File: `src/`}))
	harness.Equal(t, "by what it read", "talk unverifiable", p.states(recall.Request{File: `docs/token`}))
	harness.Equal(t, "who", "", p.explained("src/jwt.go"))
}

// TestWhyAsks: a line shows the prompt before the edit that wrote it, of a plan its reason, and what the session began
// with. What was asked later, though it reads like the line, does not.
func TestWhyAsks(t *testing.T) {
	p := newPlace(t)
	p.clock = 5
	cp := p.committed("one", "src/jwt.go", first+second+third, "docs/token.md", first)
	plan := "Implement the following plan:\n\n# Zones\n\n## Context\n\nServers differ.\n\n## Steps\n\n1. Edit it"
	s := chat("s", 0, "human "+plan, "Edit src/jwt.go", "assistant Done.", "human the last one, too", "Edit src/jwt.go",
		"assistant It is there.",
		"human "+third, "Edit docs/token.md")
	wrote := func(line, second int) session.Wrote {
		return session.Wrote{
			GitSHA: cp.GitSHA, Session: s.ID, Path: "src/jwt.go", Lines: session.RangesOf([]int{line}),
			TS: at(0).Add(time.Duration(second) * time.Second),
		}
	}
	p.append(alice, 10, session.Entry{
		Checkpoint: cp, Sessions: []session.Session{s},
		Wrote: []session.Wrote{wrote(1, 1), wrote(3, 4)},
	})
	p.open()
	for line, want := range map[string]string{
		"1": "0 human Servers differ.",
		"3": "2 human the last one, too (Servers differ.)",
		"2": "2 human the last one, too (Servers differ.)", // it wrote to the file; its last edit
	} {
		h := p.why("src/jwt.go:" + line).Results[0]
		got := fmt.Sprint(*h.Turn, " ", h.Role, " ", h.Snippet)
		if h.Explains.Purpose != "" {
			got += " (" + h.Explains.Purpose + ")"
		}
		harness.Equal(t, "line "+line, want, got)
	}
	docs := p.why("docs/token.md").Results[0]
	harness.Equal(t, "by its last edit of the file", "4 (Servers differ.)",
		fmt.Sprint(*docs.Turn, " (", docs.Explains.Purpose, ")"))
	harness.Equal(t, "--commit", "Servers differ.", p.recall(recall.Request{Commit: cp.GitSHA}).Results[0].Snippet)
	asked, answered, err := recall.ReadExchange(t.Context(), p.index, p.why("src/jwt.go:1").Results[0])
	harness.Equal(t, "said", "Servers differ. Done. <nil>", fmt.Sprint(asked, " ", answered, " ", err))
}

// TestWhyOfFiller: a blank line or a lone bracket belongs to who wrote the block around it, not to who has most of the
// file.
func TestWhyOfFiller(t *testing.T) {
	p := newPlace(t)
	p.clock = 5
	cp := p.committed("one", "a.go", "func A() int {\n\treturn 1\n}\n\nfunc B() int {\n\treturn 2\n}\n")
	one, two := chat("one", 0, "human a", "Edit a.go"), chat("two", 1, "human b", "Edit a.go")
	var wrote []session.Wrote
	for line, s := range map[int]session.Session{1: one, 2: one, 5: two, 6: two} {
		wrote = append(wrote, session.Wrote{
			GitSHA: cp.GitSHA, Session: s.ID, Path: "a.go",
			Lines: session.RangesOf([]int{line}), TS: at(2),
		})
	}
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{one, two}, Wrote: wrote})
	p.open()
	for line, want := range map[string]string{"3": "one [[3 3]]", "4": "one [[4 4]]", "7": "two [[7 7]]"} {
		harness.Equal(t, "line "+line, want, p.explained("a.go:"+line))
	}
}
