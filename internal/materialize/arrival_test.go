package materialize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Whatever the order in which ledgers arrive, and in whichever pieces, the tables and the
// answers are those of a rebuild. REKAL_ARRIVALS says how many teams to try.
func TestEveryArrivalOrderIsARebuild(t *testing.T) {
	teams := 5
	if n, err := strconv.Atoi(os.Getenv("REKAL_ARRIVALS")); err == nil {
		teams = n
	}
	compared := 0
	for seed := range teams {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compared += arrive(t, uint64(seed)) })
	}
	t.Logf("%d arrival orders, %d states compared", teams, compared)
}

// chain is a ledger that is yet to arrive, commit by commit.
type chain struct {
	ref, email string
	commits    []git.OID
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
	left := 0
	for _, c := range chains {
		left += len(c.commits)
	}
	compared := 0
	for left > 0 {
		c := chains[r.IntN(len(chains))]
		n := min(1+r.IntN(8), len(c.commits)-c.arrived)
		if n == 0 {
			continue
		}
		c.arrived, left = c.arrived+n, left-n
		w.point(c.ref, c.commits[c.arrived-1])
		if r.IntN(3) > 0 && left > 0 {
			continue
		}
		compared++
		lived, rebuilt := w.catchUp(m), w.rebuilt()
		same(t, fmt.Sprintf("%d left: rebuilt", left), rebuilt, lived)
		anew := w.materializer("anew", t.Name())
		equal(t, fmt.Sprintf("%d left: found", left), w.found(anew, questions...), w.found(m, questions...))
		if t.Failed() {
			break
		}
	}
	return compared
}

// team makes the ledgers of a team: alice works on two machines, each of which captures the same
// sessions, and mallory's ledger points at hers. Nothing has arrived.
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
			lines = append(lines, fmt.Sprintf("human question %d on the %s", j, topic()), fmt.Sprintf("Edit src/f%d.go", r.IntN(7)))
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
		// Sessions 0 to 3 are alice's, on both machines.
		own := sessions[:4]
		if c.email == bob {
			own = sessions[4:7]
		} else if c.email == carol {
			own = sessions[7:]
		}
		w.tell(r, c, at, own)
	}
	mallory := &chain{ref: "refs/rekal/origin/mallory@example.com", email: "mallory@example.com"}
	mallory.commits = slices.Clone(chains[0].commits[:len(chains[0].commits)/2])
	return append(chains, mallory)
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
	if len(e.Sessions) == 0 && e.Checkpoint == nil && len(e.Rewrites) == 0 {
		return
	}
	own1 := w.own(c.email)
	branch := own1.Ref()
	if c.tip() != "" {
		runGit(w.t, w.dir, "update-ref", branch, string(c.tip()))
	}
	tip, err := appendTo(w.t.Context(), own1, c.tip(), at, e)
	if err != nil {
		w.t.Fatal(err)
	}
	c.commits = append(c.commits, tip)
	runGit(w.t, w.dir, "update-ref", "-d", branch)
}
