package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// replay is a team's history: alice's own ledger, of two machines that merge, and what she
// fetches of carol's and of bob's, whose two machines each push to a remote of their own.
type replay struct {
	*place
	rand  *rand.Rand
	clock int
	open  map[string]session.Session // by author and machine: what goes on
	asked []recalled
}

// recalled is what recall answered when a commit was the tip of alice's ledger.
type recalled struct {
	tip     git.OID
	answers []result.Recall
}

const (
	ownRef = "refs/heads/rekal/" + alice
	fork   = "refs/rekal/fork/bob@example.com"
)

func newReplay(t *testing.T, seed uint64) *replay {
	t.Helper()
	return &replay{place: newPlace(t), rand: rand.New(rand.NewPCG(seed, 2)), open: map[string]session.Session{}}
}

var subjects = []string{
	"token expiry and the clock skew of the auth server", "pagination of the search endpoint with cursors",
	"flaky integration test that waits for postgres", "memory leak in the image resizer cache",
	"dark mode colours of the settings page", "retry with backoff on webhook delivery",
}

var requests = []recall.Request{
	{},
	{Query: "token expiry"},
	{Query: "why does the flaky test wait"},
	{Query: "src/f3.go"},
	{Query: "ErrBadToken colours", File: `f[24]\.go$`},
	{Query: "cursors", Author: bob},
	{Commit: digits("4")},
	{Query: "question on the leak", Commit: digits("4")},
	{File: "gen", Actor: session.ActorHuman},
	{Author: alice, Limit: 3},
}

func digits(d string) string { return strings.Repeat(d, 40) }

// say begins a session, or goes on with the one that is open.
func (r *replay) say(who string) session.Session {
	s, goesOn := r.open[who]
	if goesOn {
		delete(r.open, who)
		s.Turns, s.ToolCalls, s.FirstTurn, s.FirstTool = s.Turns[3:], s.ToolCalls[1:], 3, 1
		return s
	}
	topic := func() string { return subjects[r.rand.IntN(len(subjects))] }
	s = chat(fmt.Sprintf("%s-%d", who, r.clock), r.clock,
		"human question on the "+topic(), fmt.Sprintf("Edit src/f%d.go", r.rand.IntN(6)), "assistant it is because "+topic(),
		"human then fix the "+topic(), fmt.Sprintf("Read src/f%d.go", r.rand.IntN(6)), "Bash make test",
		"assistant done, ErrBadToken is gone", "human thanks for "+topic(), "assistant and "+topic())
	if r.rand.IntN(2) == 0 {
		r.open[who] = s
		s.Turns, s.ToolCalls = s.Turns[:3], s.ToolCalls[:1]
	}
	return s
}

// entry is one commit's: mostly a session that is tied to a code commit.
func (r *replay) entry(who string) session.Entry {
	if r.rand.IntN(6) == 0 {
		pair := r.rand.Perm(6)
		return session.Entry{Rewrites: []session.Rewrite{{
			Old: digits(fmt.Sprintf("%x", pair[0])),
			New: digits(fmt.Sprintf("%x", pair[1])), TS: at(r.clock),
		}}}
	}
	e := session.Entry{Sessions: []session.Session{r.say(who)}}
	switch r.rand.IntN(5) {
	case 0:
		e.Memories = []session.Memory{{
			ID:    session.NewID(at(r.clock), who, "memory"),
			Title: "on " + subjects[r.rand.IntN(len(subjects))], Content: "a question on the cursors", TS: at(r.clock),
		}}
	case 1:
		e.Wrote = []session.Wrote{{
			GitSHA: digits(fmt.Sprintf("%x", r.rand.IntN(6))), Blob: digits("b"), Session: e.Sessions[0].ID, Path: "src/f1.go",
			Lines: session.Ranges{{1, 3}}, TS: at(r.clock),
		}}
	}
	if r.rand.IntN(6) > 0 {
		e.Checkpoint = checkpoint(digits(fmt.Sprintf("%x", r.rand.IntN(6))), fmt.Sprintf("src/f%d.go", r.rand.IntN(6)),
			"gen.go")
		if s, ok := r.open[who]; ok && s.ID != e.Sessions[0].ID {
			e.Checkpoint.Links = []session.Link{{Session: s.ID}}
		}
	}
	return e
}

// writes appends to somebody's ledger and puts it where ref says.
func (r *replay) writes(ref, email string, e session.Entry) {
	own := "refs/heads/rekal/" + strings.ToLower(email)
	if ref != own {
		kept := r.git("for-each-ref", "--format=%(objectname)", own)
		if tip := r.git("for-each-ref", "--format=%(objectname)", ref); tip != "" {
			r.git("update-ref", own, tip)
		}
		defer func() {
			r.git("update-ref", ref, own)
			if r.git("update-ref", "-d", own); kept != "" {
				r.git("update-ref", own, kept)
			}
		}()
	}
	r.append(email, r.clock, e)
}

// merges takes in what stands at a ref as alice's sync does.
func (r *replay) merges(from, name string) {
	r.git("update-ref", "refs/remotes/origin/rekal/"+name, from)
	l, err := ledger.OpenOwn(r.repo, git.Signature{Name: "S", Email: alice, When: at(r.clock)},
		rand.NewChaCha8([32]byte{}))
	if err == nil {
		_, err = l.Adopt(r.T.Context(), "origin")
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// step is what somebody does next.
func (r *replay) step() {
	r.clock += 10
	switch n := r.rand.IntN(14); {
	case n < 3:
		r.writes("refs/rekal/origin/bob@example.com", bob, r.entry("bob"))
	case n < 5:
		r.writes(fork, bob, r.entry("bob-2"))
	case n == 5 && r.git("for-each-ref", fork) != "":
		r.merges(fork, "bob@example.com")
	case n == 6 && r.clock > 50:
		r.writes("refs/other/alice", alice, r.entry("alice-2"))
		r.merges("refs/other/alice", alice)
	case n > 11:
		r.writes("refs/rekal/origin/carol@example.com", "carol@example.com", r.entry("carol"))
	default:
		r.writes(ownRef, alice, r.entry("alice"))
	}
}

func (r *replay) tip() git.OID {
	return git.OID(r.git("for-each-ref", "--format=%(objectname)", ownRef))
}

// opener opens the index, as of today or of a moment.
type opener func(context.Context) (*materialize.Reader, error)

// ask asks everything.
func (r *replay) ask(open opener) []result.Recall {
	r.T.Helper()
	index, err := open(r.T.Context())
	if err != nil {
		r.T.Fatal(err)
	}
	defer index.Close()
	var out []result.Recall
	for _, req := range requests {
		answer, err := recall.Recall(r.T.Context(), index.DB, r.repo, req)
		if err != nil && !errors.Is(err, name.ErrNoRevision) { // which is an answer, too: nobody knew it then
			r.T.Fatal(err)
		}
		out = append(out, answer)
	}
	return out
}

func (r *replay) materializer() *materialize.Materializer {
	dir := filepath.Join(r.dir, ".git/rekal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.T.Fatal(err)
	}
	return &materialize.Materializer{
		Repo: r.repo, Dir: dir, Now: func() time.Time { return at(r.clock) },
		Warn: func(err error) { r.T.Errorf("warned: %v", err) },
	}
}

// past opens the index as of a moment.
func (r *replay) past(m *materialize.Materializer, text string) opener {
	r.T.Helper()
	l, err := ledger.OpenOwn(r.repo, git.Signature{Name: "S", Email: alice, When: at(0)}, rand.NewChaCha8([32]byte{}))
	if err != nil {
		r.T.Fatal(err)
	}
	moment, err := l.Moment(r.T.Context(), text, at(1000), nil)
	if err != nil {
		r.T.Fatal(err)
	}
	return func(ctx context.Context) (*materialize.Reader, error) { return m.OpenAt(ctx, moment) }
}

// Each answer of recall can be had again, to the last digit of its scores: as of that
// moment, here and in a fresh clone.
func TestLongEveryAnswerAgain(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) { answersAgain(t, seed+1) })
	}
}

func answersAgain(t *testing.T, seed uint64) {
	t.Helper()
	const steps = 24
	r := newReplay(t, seed)
	m := r.materializer()
	for range steps {
		r.step()
		now := r.ask(m.Open)
		if tip := r.tip(); tip != "" && (len(r.asked) == 0 || r.asked[len(r.asked)-1].tip != tip) {
			r.asked = append(r.asked, recalled{tip, now})
		}
	}
	if len(r.asked) < steps/4 {
		t.Fatalf("only %d states", len(r.asked))
	}
	for i, req := range requests {
		if !slices.ContainsFunc(r.asked, func(a recalled) bool { return len(a.answers[i].Results) > 1 }) {
			t.Errorf("%+v finds next to nothing in any state", req)
		}
	}
	r.again(m, "as of then")
	clone := t.TempDir()
	r.git("clone", "-q", "--mirror", r.dir, clone)
	r.dir = clone
	r.reopen()
	r.again(r.materializer(), "in a clone")
}

func (r *replay) again(m *materialize.Materializer, where string) {
	r.T.Helper()
	for i, a := range r.asked {
		harness.Equal(r.T, fmt.Sprintf("%s, state %d", where, i), a.answers, r.ask(r.past(m, string(a.tip))))
	}
}

// What a fetch brings of earlier commits belongs to the moments that were asked before.
func TestLongEarlierCommitsArrive(t *testing.T) {
	const third = "refs/rekal/third/bob@example.com"
	for name, arrive := range map[string]func(r *replay, ref string){
		"in a ledger of their own": func(r *replay, ref string) { r.git("update-ref", third, ref) },
		"by a merge":               func(r *replay, ref string) { r.merges(ref, "bob@example.com") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplay(t, 1)
			m := r.materializer()
			for range 8 {
				r.step()
			}
			r.writes("refs/rekal/origin/bob@example.com", bob, r.entry("bob"))
			r.writes(ownRef, alice, r.entry("alice"))
			moment, early := string(r.tip()), r.clock
			for range 4 {
				r.step()
			}
			r.writes("refs/rekal/origin/bob@example.com", bob, r.entry("bob"))
			before := r.ask(r.past(m, moment))
			for _, at := range []int{early - 5, early + 95} {
				r.clock = at
				r.writes("refs/other/bob", bob, entryWith(chat(fmt.Sprint("late-", at), at, "human a word on flaky things")))
			}
			arrive(r, "refs/other/bob")
			after := r.ask(r.past(m, moment))
			if want, got := before[0].Total+1, after[0].Total; got != want {
				t.Errorf("%d sessions, want %d: the early one, too", got, want)
			}
			fresh := r.materializer()
			fresh.Dir = t.TempDir()
			harness.Equal(t, "made anew", r.ask(r.past(fresh, moment)), after)
		})
	}
}

func entryWith(s session.Session) session.Entry { return session.Entry{Sessions: []session.Session{s}} }

// What was answered when the files lay there as committed is answered again, freshness and order
// included, whatever lies there now.
func TestLongFreshnessAgain(t *testing.T) {
	r := newReplay(t, 1)
	m := r.materializer()
	ask := func(open opener, req recall.Request) []result.Hit {
		index, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer index.Close()
		answer, err := recall.Recall(t.Context(), index.DB, r.repo, req)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Results
	}
	type then struct {
		tip  git.OID
		hits []result.Hit
	}
	var asked []then
	for i := range 6 {
		r.clock += 10
		file := fmt.Sprintf("src/f%d.go", i%3)
		cp := r.committed("work", file, fmt.Sprintln("text", i), "gen.go", fmt.Sprintln("made", i))
		r.append(alice, r.clock, session.Entry{Checkpoint: cp, Sessions: []session.Session{
			chat(fmt.Sprint(i), r.clock, "human a word on the token expiry", "Edit "+file, "Edit gen.go",
				"assistant it is done"),
		}})
		asked = append(asked, then{r.tip(), ask(m.Open, recall.Request{Query: "token expiry"})})
	}
	r.write("src/f0.go", "something else")
	r.git("rm", "-qf", "gen.go", "src/f1.go")
	r.code("gone")
	for i, a := range asked {
		tip := string(a.tip)
		harness.Equal(t, fmt.Sprint("state ", i), a.hits,
			ask(r.past(m, tip), recall.Request{Query: "token expiry", Checkpoint: tip, Tip: a.tip}))
	}
	if now := ask(m.Open, recall.Request{Query: "token expiry"}); now[0].Freshness != result.StaleDeleted {
		t.Errorf("now: %+v", now[0])
	}
}
