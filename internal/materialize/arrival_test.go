package materialize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Whatever the order in which ledgers arrive, and in whichever pieces, the tables and the
// answers are those of a rebuild. REKAL_ARRIVALS says how many teams to try.
func TestLongEveryArrivalOrderIsARebuild(t *testing.T) {
	teams := 1
	if n, err := strconv.Atoi(os.Getenv("REKAL_ARRIVALS")); err == nil {
		teams = n
	}
	compared := 0
	for seed := range teams {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compared += arrive(t, uint64(seed)) })
	}
	t.Logf("%d arrival orders, %d states compared", teams, compared)
	if compared < 2*teams {
		t.Errorf("%d states compared of %d teams", compared, teams)
	}
}

// chain is a ledger that is yet to arrive, commit by commit.
type chain struct {
	ref, email string
	commits    []git.OID
	at         []int // of each commit: when it was made
	arrived    int
	told       map[string]int // of each session: how many turns, and tool calls
}

func (c *chain) tip() git.OID {
	if len(c.commits) == 0 {
		return ""
	}
	return c.commits[len(c.commits)-1]
}

// arrive lets the ledgers of one team arrive, and returns how many states it compared.
func arrive(t *testing.T, seed uint64) int {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(seed, 7))
	chains := w.team(r)
	m := w.materializer()
	compared := 0
	for {
		waiting := slices.DeleteFunc(slices.Clone(chains), func(c *chain) bool { return c.arrived == len(c.commits) })
		if len(waiting) == 0 {
			return compared
		}
		// Mostly what is older comes first, as in life.
		c := waiting[r.IntN(len(waiting))]
		if r.IntN(4) > 0 {
			c = slices.MinFunc(waiting, func(a, b *chain) int { return a.at[a.arrived] - b.at[b.arrived] })
		}
		c.arrived = min(c.arrived+1+r.IntN(4), len(c.commits))
		w.point(c.ref, c.commits[c.arrived-1])
		if len(waiting) > 1 && r.IntN(3) > 0 {
			continue
		}
		compared++
		lived, rebuilt := w.catchUp(m), w.rebuilt()
		same(t, fmt.Sprintf("state %d: rebuilt", compared), rebuilt, lived)
		anew := w.materializer("anew", t.Name())
		harness.Equal(t, fmt.Sprintf("state %d: found", compared), w.found(anew, questions...), w.found(m, questions...))
		if t.Failed() {
			return compared
		}
	}
}

// team makes the ledgers of a team: alice works on two machines, each of which captures the same
// sessions, a copycat's ledger points at hers, and two name what is others'. Nothing has arrived.
func (w *world) team(r *rand.Rand) []*chain {
	w.t.Helper()
	carol := "carol@example.com"
	chains := []*chain{{ref: here, email: alice}, {ref: there, email: alice}}
	for _, email := range []string{bob, carol} {
		chains = append(chains, &chain{ref: "refs/rekal/origin/" + email, email: email})
	}
	var sessions []session.Session
	for i := range 10 {
		topic := func() string { return topics[r.IntN(len(topics))] }
		var lines []string
		for j := range 4 + r.IntN(8) {
			lines = append(lines, fmt.Sprintf("human question %d on the %s", j, topic()),
				fmt.Sprintf("Edit src/f%d.go", r.IntN(7)))
			if r.IntN(3) == 0 {
				lines = append(lines, "assistant it is because "+topic(), fmt.Sprintf("Read src/f%d.go", r.IntN(9)))
			}
		}
		sessions = append(sessions, chat(fmt.Sprintf("team-%d", i), 5*i, lines...))
	}
	for _, c := range chains {
		c.told = map[string]int{}
	}
	for at := 20; at < 90; at += r.IntN(3) {
		c := chains[r.IntN(len(chains))]
		// Sessions 0 to 3 are alice's, on both machines, and bob says that two of them are his.
		own := map[string][]session.Session{alice: sessions[:4], bob: sessions[2:7], carol: sessions[7:]}
		w.tell(r, c, at, own[c.email])
	}
	// Much was said before.
	dave := &chain{ref: "refs/rekal/origin/dave@example.com", email: "dave@example.com", told: map[string]int{}}
	var lines []string
	for i := range 130 {
		lines = append(lines, fmt.Sprintf("human note %d on the %s", i, topics[r.IntN(len(topics))]))
	}
	w.appendChain(dave, 1, entryOf(nil, chat("dave", 0, lines...)))
	chains = append(chains, dave)
	copycat := &chain{ref: "refs/rekal/origin/copycat@example.com", email: "copycat@example.com"}
	copycat.commits, copycat.at = chains[0].commits[:len(chains[0].commits)/2], chains[0].at
	chains = append(chains, copycat)
	for _, email := range []string{mallory, eve} {
		chains = append(chains, w.usurper(r, email, sessions))
	}
	return chains
}

// usurper makes the ledger of somebody who names what is others', at times of all kinds: sessions, what these are
// called when they are somebody else's, links, marks, and what became of commits.
func (w *world) usurper(r *rand.Rand, email string, sessions []session.Session) *chain {
	w.t.Helper()
	c := &chain{ref: "refs/rekal/origin/" + email, email: email}
	for _, at := range []int{-29_000_000, -2000, 1 + r.IntN(40), 50 + r.IntN(40), 39_000_000} {
		s := sessions[r.IntN(len(sessions))]
		e := forged(email, s, memory(r.IntN(90), "note", "of somebody"))
		other := session.IDOfOthers(s.ID, "refs/heads/rekal/"+[]string{alice, bob, mallory}[r.IntN(3)])
		if r.IntN(2) == 0 {
			e.Sessions = append(e.Sessions, e.Sessions[0])
			e.Sessions[1].ID, e.Sessions[1].Parent, e.Sessions[1].ForkedFrom = other, s.ID, sessions[r.IntN(len(sessions))].ID
		}
		e.Checkpoint.Links = []session.Link{{Session: sessions[r.IntN(len(sessions))].ID}, {Session: other}}
		e.Purges = []session.Mark{{ID: s.ID, N: 1 + r.IntN(3), TS: dawn}}
		e.Restores = []session.Mark{{ID: other, N: 1 << 28, TS: dawn}}
		e.Rewrites = amends("61", "12", "26").Rewrites
		e.Wrote = []session.Wrote{wrote(s.ID, "1", "src/f1.go", 3, 30), wrote(other, "2", "src/f2.go", 4, 30)}
		w.appendChain(c, at, e)
	}
	return c
}

// tell appends what one commit of the ledger says: more of a session, links, files, notes.
func (w *world) tell(r *rand.Rand, c *chain, at int, own []session.Session) {
	w.t.Helper()
	var e session.Entry
	if r.IntN(4) > 0 {
		e.Checkpoint = commit(fmt.Sprintf("%x", 1+r.IntN(15)), c.email, fmt.Sprintf("M src/f%d.go", r.IntN(7)),
			fmt.Sprintf("R src/f%d.go src/g%d.go", r.IntN(7), r.IntN(7)), "A gen.go")
		if r.IntN(2) == 0 {
			e.Checkpoint.Links = []session.Link{{Session: own[r.IntN(len(own))].ID, Inferred: r.IntN(2) == 0}}
		}
	}
	for range r.IntN(3) {
		s := own[r.IntN(len(own))]
		from := c.told[s.ID]
		to := min(from+1+r.IntN(4), len(s.Turns), len(s.ToolCalls))
		if from >= to || slices.ContainsFunc(e.Sessions, func(o session.Session) bool { return o.ID == s.ID }) {
			continue
		}
		c.told[s.ID] = to
		p := slice(s, from, to)
		p.Title = fmt.Sprintf("Title %d", r.IntN(3))
		if r.IntN(5) == 0 { // the machines do not agree on everything
			p.Turns = slices.Clone(p.Turns)
			p.Turns[0].Content += " as " + c.ref
			p.ToolCalls = p.ToolCalls[1:]
			p.FirstTool++
		}
		e.Sessions = append(e.Sessions, p)
	}
	if r.IntN(6) == 0 {
		e.Rewrites = []session.Rewrite{{Old: fmt.Sprintf("%040d", at), New: fmt.Sprintf("%040d", at+1), TS: later(at)}}
	}
	for range r.IntN(3) { // of the checkpoint's commit or another, of sessions that are there or come later
		e.Wrote = append(e.Wrote, wrote(own[r.IntN(len(own))].ID, fmt.Sprintf("%x", 1+r.IntN(15)),
			fmt.Sprintf("src/f%d.go", r.IntN(7)), 1+r.IntN(9), at))
	}
	if len(e.Sessions) == 0 && e.Checkpoint == nil && len(e.Rewrites)+len(e.Wrote) == 0 {
		return
	}
	w.appendChain(c, at, e)
}

// wrote is that a session wrote a line of a commit, which a digit names.
func wrote(id, commit, path string, line, at int) session.Wrote {
	return session.Wrote{
		GitSHA: strings.Repeat(commit, 40), Blob: strings.Repeat("b", 40), Session: id, Path: path,
		Lines: session.RangesOf([]int{line}), TS: later(at),
	}
}

// appendChain writes a commit that has not arrived yet.
func (w *world) appendChain(c *chain, at int, e session.Entry) {
	w.t.Helper()
	l := w.own(c.email)
	if c.tip() != "" {
		runGit(w.t, w.dir, "update-ref", l.Ref(), string(c.tip()))
	}
	tip, err := appendTo(w.t.Context(), l, c.tip(), at, e)
	if err != nil {
		w.t.Fatal(err)
	}
	c.commits, c.at = append(c.commits, tip), append(c.at, at)
	runGit(w.t, w.dir, "update-ref", "-d", l.Ref())
}
