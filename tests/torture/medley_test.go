package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNightMedley runs three to six commands at the same moment, drawn from all that git-rekal has
// and from git's own, again and again: in a clone, in a worktree linked to it, and in another
// clone of the same author, which shares a remote with it. Nobody fails because of the others,
// and in the end both machines hold what was said, saved, marked and scrubbed, once.
func TestNightMedley(t *testing.T) {
	w := newWorld(t, seed(t))
	m := w.medley()
	rounds := pick(4, 200)
	for n := range rounds {
		acts := m.draw()
		var do []func() error
		var names []string
		for _, a := range acts {
			names, do = append(names, a.String()), append(do, func() error { return a.run(m) })
		}
		if err := together(do...); err != nil {
			t.Fatalf("round %d (%s): %v", n, strings.Join(names, "; "), err)
		}
		m.after(acts)
		if n%25 == 24 || n == rounds-1 {
			if err := m.settle(); err != nil {
				t.Fatalf("behind round %d: %v", n, err)
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(m.heard)) {
		t.Logf("%d × %s", m.heard[line], line)
	}
}

// medley is what the commands work on.
type medley struct {
	*world
	pair     []*clone // of two machines
	places   []*place
	notes    []*note
	scrubbed map[turn]bool
	count    int // so that names differ
	heard    map[string]int
}

// place is a worktree, and what a draw must know of it.
type place struct {
	*clone
	machine int
	rows    []row // what its machine's tables held before this round
	staging bool  // somebody writes the index in this round: git lets one at a time do so
	bare    bool  // somebody takes git-rekal out in this round
}

func (p *place) String() string {
	return filepath.Base(filepath.Dir(p.dir)) + "/" + filepath.Base(p.dir)
}

// note is a memory.
type note struct {
	machine  int
	text, id string
	purged   bool
	scrubbed bool
	unsure   bool // whoever was about to change it was told that git-rekal is not set up
	taken    bool // in this round
}

// act is one command, or some one after the other, in a place.
type act struct {
	name   string
	place  *place
	do     func(m *medley, p *place) error
	undone func() // where git-rekal was not set up; nil: nothing to tell
	bare   bool
}

func (a *act) String() string { return fmt.Sprintf("%s in %v", a.name, a.place) }

func (w *world) medley() *medley {
	w.t.Helper()
	m := &medley{world: w, pair: w.pairOfClones(false), scrubbed: map[turn]bool{}, heard: map[string]int{}}
	// for scrub --pushed
	m.pair[0].must("git", "-C", m.pair[0].dir+".git", "config", "receive.denyNonFastForwards", "false")
	for i, c := range m.pair {
		w.fatal(c.grow(w, 3, 10))
		for n := range 4 {
			c.write("file", fmt.Sprint(i, n))
			c.must("git", "commit", "-q", "-m", "base")
		}
		m.places = append(m.places, &place{clone: c, machine: i})
	}
	m.places = append(m.places, &place{clone: m.pair[0].worktree("linked")})
	m.after(nil)
	return m
}

// draw lets sessions go on, and draws a round.
func (m *medley) draw() (acts []*act) {
	for _, p := range m.places {
		m.fatal(p.grow(m.world, 1, 3))
		p.staging, p.bare = false, false
	}
	for _, n := range m.notes {
		n.taken = false
	}
	names := slices.Sorted(maps.Keys(kinds))
	if m.rng.IntN(8) == 0 {
		acts = append(acts, m.act("clean", m.places[m.rng.IntN(len(m.places))]))
	}
	for want := 3 + m.rng.IntN(4); len(acts) < want; {
		if a := m.act(names[m.rng.IntN(len(names))], m.places[m.rng.IntN(len(m.places))]); a != nil {
			acts = append(acts, a)
		}
	}
	return acts
}

// act is one of a kind; nil where it has nothing to do here.
func (m *medley) act(name string, p *place) *act {
	m.count++
	a := &act{name: name, place: p}
	if name == "clean" {
		for _, other := range m.places {
			other.bare = other.bare || other.machine == p.machine
		}
		a.do = commands("git", "rekal", "clean")
		return a
	}
	if kinds[name](m, a); a.do == nil {
		return nil
	}
	return a
}

// run runs the act. Where somebody takes git-rekal out at the same time, it may find it gone.
func (a *act) run(m *medley) error {
	err := a.do(m, a.place)
	if a.bare = a.place.bare && errors.Is(err, errBare); a.bare || err == nil {
		return nil
	}
	return fmt.Errorf("%v: %w", a, err)
}

// after puts git-rekal back where it was taken out, and reads what the tables hold, for the next draw.
func (m *medley) after(acts []*act) {
	m.t.Helper()
	for _, a := range acts {
		if a.bare && a.undone != nil {
			a.undone()
		}
	}
	for i, c := range m.pair {
		if slices.ContainsFunc(m.places, func(p *place) bool { return p.machine == i && p.bare }) {
			c.must("git", "rekal", "init", "--remote", "origin")
		}
		rows, err := c.tabled()
		m.fatal(err)
		for _, p := range m.places {
			if p.machine == i {
				p.rows = rows
			}
		}
	}
}

// errBare is a command that found git-rekal not set up.
var errBare = errors.New("not set up")

// run runs a command that must succeed, and must not speak of databases and locks.
func (m *medley) run(p *place, args ...string) (ran, error) {
	res, err := p.clone.run(args...)
	if err == nil {
		err = m.judge(res)
	}
	return res, err
}

func (m *medley) judge(res ran) error {
	m.listen(res)
	switch own := res.args[1] == "rekal" || strings.Contains(res.stderr, "git-rekal"); {
	case !own && slices.Contains(gitsOwn, res.args[1]):
		return nil
	case strings.Contains(res.stderr, "not set up") && !internals.MatchString(res.stderr):
		return errors.Join(errBare, fmt.Errorf("%v", res))
	case res.code == 0 && strings.Contains(res.stderr, "the index is behind the ledger"):
		return nil // it answered, and others were at work for longer than it waits
	}
	return res.blame()
}

// gitsOwn are commands of git that fail, or complain, beside other commands of git.
var gitsOwn = []string{"gc", "repack", "fetch", "pack-refs", "config", "worktree"}

var varies = regexp.MustCompile(`[0-9a-f]{7,}|[0-9]+|"/.*"`)

// listen notes what commands said, for whoever reads the log.
func (m *medley) listen(res ran) {
	m.pair[0].mu.Lock()
	defer m.pair[0].mu.Unlock()
	for line := range strings.Lines(res.stderr) {
		line = strings.Join(res.args[:3], " ") + ": " + strings.TrimSpace(line)
		m.heard[varies.ReplaceAllString(line, "#")]++
	}
}

// settle brings the machines together, and looks whether everything is there.
func (m *medley) settle() error {
	for range 2 {
		for _, c := range m.pair {
			if err := errors.Join(c.mendAll(), c.quietly("git", "rekal", "sync", "--yes")); err != nil {
				return err
			}
		}
	}
	var want []turn
	for _, c := range m.pair {
		want = append(want, slices.DeleteFunc(c.held(), func(t turn) bool { return m.scrubbed[t] })...)
	}
	var tips []string
	var errs []error
	for _, c := range m.pair {
		tips = append(tips, c.must("git", "rev-parse", "refs/heads/rekal/"+c.email))
		if err := m.check(c, want); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.dir, err))
		}
	}
	if len(slices.Compact(tips)) != 1 {
		errs = append(errs, fmt.Errorf("the tips differ: %v", tips))
	}
	return errors.Join(errs...)
}

// check is what must hold on each machine.
func (m *medley) check(c *clone, want []turn) error {
	rows, err := c.tabled()
	if err != nil {
		return err
	}
	stored, err := c.stored("refs/heads/rekal/" + c.email)
	if err != nil {
		return err
	}
	gone := func(t turn) bool { return t.Text == "[REDACTED:scrubbed]" }
	kept, shown := slices.DeleteFunc(slices.Clone(stored), gone), slices.DeleteFunc(turnsIn(rows), gone)
	if n := len(stored) - len(kept); n != len(m.scrubbed) {
		err = fmt.Errorf("%d turns are scrubbed, want %d", n, len(m.scrubbed))
	}
	return errors.Join(err, c.fsck(), compare("the ledger", want, kept), compare("the tables", want, shown),
		m.checkNotes(c), c.checkRecall(rows), c.checkLeftovers())
}

// checkNotes compares the memories of a machine with what was saved, marked and scrubbed.
func (m *medley) checkNotes(c *clone) error {
	res, err := c.clean("git", "rekal", "query", `SELECT content, count(*) AS n, max(purged.id) IS NOT NULL AS purged
		FROM memories LEFT JOIN purged USING (id) GROUP BY content`)
	if err != nil {
		return err
	}
	type state struct {
		Content string
		N       int
		Purged  bool
	}
	there := map[string]state{}
	for line := range strings.Lines(res.out) {
		var s state
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		there[s.Content] = s
	}
	var errs []error
	for _, n := range m.notes {
		want, got := state{n.text, 1, n.purged}, there[n.text]
		if n.scrubbed {
			want = state{}
		}
		if unsure := n.unsure && got.N < 2; got != want && !unsure {
			errs = append(errs, fmt.Errorf("memory %+v is %+v", *n, got))
		}
	}
	for i := range m.pair {
		if s := there[always(i)]; s.N > 1 {
			errs = append(errs, fmt.Errorf("%q is there %d times", s.Content, s.N))
		}
	}
	return errors.Join(errs...)
}
