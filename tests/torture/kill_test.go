package torture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// victim is a command that is killed.
type victim struct {
	name   string
	before func(*clone) error // puts the command before some work
	args   []string
	again  []string // what the user runs when it died; nil: nothing
}

// victims are the commands of the issue.
func victims() []victim {
	behind := func(c *clone) error { return c.quietly("git", "commit", "-q", "--allow-empty", "-m", "behind") }
	return append(exports(), []victim{
		{name: "commit", args: []string{"git", "commit", "-q", "--allow-empty", "-m", "killed"}},
		{name: "checkpoint", args: []string{"git", "rekal", "checkpoint"}},
		{name: "checkpoint without caches", before: dropCaches, args: []string{"git", "rekal", "checkpoint"}},
		{name: "import", before: dropCaches, args: []string{"git", "rekal", "import", "--specstory"}},
		{name: "recall", before: behind, args: []string{"git", "rekal", "parser cache"}},
		{name: "recall without caches", before: dropCaches, args: []string{"git", "rekal", "parser cache"}},
		{name: "index", args: []string{"git", "rekal", "index"}},
		{
			name: "init", before: func(c *clone) error { return c.quietly("git", "rekal", "clean") },
			args: []string{"git", "rekal", "init"}, again: []string{"git", "rekal", "init"},
		},
		{name: "clean", args: []string{"git", "rekal", "clean"}, again: []string{"git", "rekal", "init"}},
		{name: "push", before: behind, args: []string{"git", "rekal", "push", "--yes"}},
		{name: "sync", before: behind, args: []string{"git", "rekal", "sync", "--yes"}},
		{
			name: "pause", args: []string{"git", "rekal", "pause"},
			again: []string{"sh", "-c", "git rekal pause && git rekal resume"},
		},
		{name: "run", args: []string{"git", "rekal", "run", "--", "echo", "parser"}},
		{name: "recall with records", before: func(c *clone) error {
			return c.quietly("git", "rekal", "run", "--", "echo",
				"cache")
		}, args: []string{"git", "rekal", "parser cache"}},
		{name: "trailers", before: behind, args: []string{"git", "rekal", "trailers", "--rewrite", "HEAD"}},
		{name: "git push", before: behind, args: []string{"git", "push", "-q", "origin", "HEAD"}},
	}...)
}

func (c *clone) quietly(args ...string) error {
	_, err := c.clean(args...)
	return err
}

// answer is clean for a command that reads: where others are at work for longer than it waits,
// which is a matter of the machine, it says that it answers from the state before.
func (c *clone) answer(args ...string) (ran, error) {
	res, err := c.run(args...)
	if behind := res.code == 0 && strings.Contains(res.stderr, "the index is behind the ledger"); err == nil && !behind {
		err = res.blame()
	}
	return res, err
}

// TestLongKills kills commands at moments that are uniform over the time that they usually take.
// Whatever they were doing: nothing is lost, nothing doubled, and nobody has to repair anything.
func TestLongKills(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.shared("home")
	list := victims()
	usual := make([]time.Duration, len(list))
	killed, survived := map[string]int{}, map[string]int{}
	rounds := pick(2*len(list), 400)
	for n := range rounds {
		if n > 0 && n%(8*len(list)) == 0 { // a ledger that grows for ever makes only the checks slow
			c = w.shared(fmt.Sprintf("home%d", n))
		}
		i := n % len(list)
		v := list[i]
		measured := usual[i] > 0
		died, moment, err := w.strike(c, v, &usual[i])
		if err == nil && measured {
			err = c.check()
		}
		if err != nil {
			t.Fatalf("blow %d, %s killed after %v (usually %v): %v", n, v.name, moment, usual[i], err)
		}
		if died {
			killed[v.name]++
		} else {
			survived[v.name]++
		}
	}
	for i, v := range list {
		t.Logf("%-26s usually %6s: %3d killed, %3d were done before", v.name,
			usual[i].Round(time.Millisecond), killed[v.name], survived[v.name])
	}
}

// shared is a repository with some sessions and a remote.
func (w *world) shared(home string) *clone {
	w.t.Helper()
	c := w.machine(home, "alice@example.com").repo()
	c.must("git", "init", "-q", "--bare", c.dir+".git")
	c.must("git", "-C", c.dir+".git", "config", "receive.denyNonFastForwards", "true")
	c.must("git", "-C", c.dir+".git", "config", "receive.denyDeletes", "true")
	c.must("git", "remote", "add", "origin", c.dir+".git")
	c.must("git", "config", "rekal.remote", "origin")
	w.fatal(c.grow(w, 8, 30))
	c.must("git", "rekal", "checkpoint")
	return c
}

// grow lets some sessions go on and others begin, each by up to most turns; a transcript may
// end in the middle of a record.
func (c *clone) grow(w *world, sessions, most int) error {
	for range sessions {
		t := c.someTalk(w)
		if err := t.mend(); err != nil {
			return err
		}
		if err := t.say(1 + w.rng.IntN(most)); err != nil {
			return err
		}
		if w.rng.IntN(4) == 0 {
			if err := t.tear(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *clone) someTalk(w *world) *talk {
	if len(c.talks) > 0 && w.rng.IntN(2) == 0 {
		return c.talks[w.rng.IntN(len(c.talks))]
	}
	return c.talk()
}

// strike lets sessions grow and kills a command. The first time it is only measured.
func (w *world) strike(c *clone, v victim, usual *time.Duration) (died bool, moment time.Duration, err error) {
	most := 8
	if w.rng.IntN(5) == 0 {
		most = 150 // so that a write of megabytes is hit as well
	}
	if err := c.grow(w, 1+w.rng.IntN(3), most); err != nil {
		return false, 0, err
	}
	if v.before != nil {
		if err := v.before(c); err != nil {
			return false, 0, err
		}
		if err := c.grow(w, 1, 4); err != nil {
			return false, 0, err
		}
	}
	res := ran{}
	if *usual == 0 {
		res, err = c.clean(v.args...)
		*usual = res.took
	} else {
		moment = time.Duration(w.rng.Float64() * float64(*usual))
		res, err = c.killAfter(moment, v.args...)
	}
	if err != nil {
		return res.code == -1, moment, err
	}
	if died = res.code == -1; !died {
		*usual = (*usual + res.took) / 2 // the machine has other things to do as well
	}
	if err := c.dropGitsLocks(); err != nil {
		return died, moment, err
	}
	if v.again == nil {
		return died, moment, nil
	}
	_, err = c.clean(v.again...)
	return died, moment, err
}

// killAfter starts a command and kills it, with all that it started, at a moment. What it
// said until then may hold nothing of locks either; if it was done before, it succeeded.
func (c *clone) killAfter(moment time.Duration, args ...string) (ran, error) {
	r, err := c.start(nil, args...)
	if err != nil {
		return ran{}, err
	}
	time.Sleep(moment)
	_ = r.kill() // it may be done
	res, err := r.wait()
	if err == nil && res.code != -1 || internals.MatchString(res.stderr) {
		err = res.blame()
	}
	return res, err
}

func dropCaches(c *clone) error {
	_, err := c.run("rm", "-rf", c.rekal())
	return err
}

// Two of each kind at the same time, and every kind beside every other.
func TestNightPairs(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.shared("home")
	var pairs [][2]victim
	for i, a := range victims() {
		for _, b := range victims()[i:] {
			pairs = append(pairs, [2]victim{a, b})
		}
	}
	w.rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for _, p := range pairs[:min(len(pairs), pick(4, len(pairs)))] {
		if err := w.pair(c, p[0], p[1]); err != nil {
			t.Fatalf("%s beside %s: %v", p[0].name, p[1].name, err)
		}
	}
}

func (w *world) pair(c *clone, a, b victim) error {
	for _, v := range []victim{a, b} {
		if err := c.grow(w, 2, 10); err != nil {
			return err
		}
		if v.before != nil {
			if err := v.before(c); err != nil {
				return err
			}
		}
	}
	one := func(v victim) func() error {
		return func() error {
			res, err := c.run(v.args...)
			if err == nil && !excused(res, a, b) {
				err = res.blame()
			}
			return err
		}
	}
	if err := together(one(a), one(b)); err != nil {
		return err
	}
	for _, v := range []victim{a, b} {
		if v.again != nil {
			if _, err := c.clean(v.again...); err != nil {
				return err
			}
		}
	}
	return c.check()
}

// excused are failures that the pair explains: git's own locks, when two commits want the
// index or two pushes the same branch at once, and a repository that `clean` or a missing
// `init` has just left bare, and what a pause keeps out.
func excused(res ran, pair ...victim) bool {
	bare := slices.ContainsFunc(pair, func(v victim) bool { return v.name == "clean" || v.name == "init" })
	paused := slices.ContainsFunc(pair, func(v victim) bool { return v.name == "pause" })
	return paused && strings.Contains(res.stderr, "paused since") ||
		bare && strings.Contains(res.stderr, "not set up") && !internals.MatchString(res.stderr) ||
		res.args[1] == "commit" && (strings.Contains(res.stderr, "index.lock") ||
			strings.Contains(res.stderr, "cannot lock ref 'HEAD'")) ||
		res.args[1] == "push" && strings.Contains(res.stderr, "cannot lock ref 'refs/heads/main'") &&
			!strings.Contains(res.stderr, "git-rekal")
}
