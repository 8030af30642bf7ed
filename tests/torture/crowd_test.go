package torture

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestLongCrowd lets 20 recalls, 5 checkpoints and a sync start at the same moment, again and
// again, while sessions grow: nobody fails, and what is new is found afterwards.
func TestLongCrowd(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.shared("home")
	for n := range pick(1, 20) {
		fresh := c.talk()
		w.fatal(fresh.say(3))
		w.fatal(c.grow(w, 3, 20))
		var do []func() error
		for i := range 20 {
			do = append(do, func() error {
				_, err := c.answer("git", "rekal", common[i%len(common)])
				return err
			})
		}
		for range 5 {
			do = append(do, func() error { return c.quietly("git", "rekal", "checkpoint") })
		}
		do = append(do, func() error { return c.quietly("git", "rekal", "sync", "--yes") })
		began := time.Now()
		if err := together(do...); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		t.Logf("round %d: %d processes in %v", n, len(do), time.Since(began).Round(time.Millisecond))
		rows, err := c.tabled()
		w.fatal(err)
		if answer := c.must("git", "rekal", fresh.words[0]); !leads(answer, fresh.id, rows) {
			t.Fatalf("round %d: session %s is not found: %s", n, fresh.id, answer)
		}
		w.fatal(compare("the tables", c.held(), turnsIn(rows)))
	}
	w.fatal(c.check())
}

// TestLongWorktrees lets eight worktrees of a repository commit at the same moment, each with a
// session of its own, while garbage is collected.
func TestLongWorktrees(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.machine("home", "alice@example.com").repo()
	trees := make([]*clone, 8)
	talks := make([]*talk, len(trees))
	for i := range trees {
		trees[i] = c.worktree(fmt.Sprintf("tree%d", i))
		talks[i] = trees[i].talk()
	}
	for n := range pick(2, 10) {
		var do []func() error
		for i, tree := range trees {
			tree.write(fmt.Sprintf("file%d", i), fmt.Sprint(n))
			do = append(do, func() error { return tree.work(talks[i], 4) })
		}
		do = append(do, func() error {
			_, err := c.run("git", "gc", "--quiet") // may say that refs moved meanwhile
			return err
		})
		if err := together(do...); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		// Every hook ran to its end, so nothing is left for a checkpoint.
		if err := c.checkLedger(c.held()); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
	w.fatal(c.check())
}

// work commits several times, each time right after the session has gone on.
func (c *clone) work(t *talk, commits int) error {
	for range commits {
		if err := t.say(1); err != nil {
			return err
		}
		if err := c.quietly("git", "commit", "-q", "--allow-empty", "-m", "work"); err != nil {
			return err
		}
	}
	return nil
}

// TestNightReadWhileRebuilding asks while the caches of a few thousand turns are made anew: there
// is always an answer.
func TestNightReadWhileRebuilding(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.machine("home", "alice@example.com").repo()
	for range pick(20, 60) {
		w.fatal(c.talk().say(100))
	}
	c.must("git", "rekal", "checkpoint")
	fresh := c.talk()
	rebuilt := 0
	var longest, alone time.Duration
	for range pick(2, 10) {
		res, err := c.clean("git", "rekal", "parser cache")
		w.fatal(err)
		alone = max(alone, res.took)
		waited, n, err := c.readDuring(fresh, "git", "rekal", "index")
		w.fatal(err)
		longest, rebuilt = max(longest, waited), rebuilt+n
	}
	t.Logf("longest wait while an index was rebuilt: %v (%d recalls); with nothing to wait for: %v",
		longest.Round(time.Millisecond), rebuilt, alone.Round(time.Millisecond))
	w.fatal(c.check())
}

// readDuring asks for as long as a command runs, while the ledger moves on as well.
func (c *clone) readDuring(fresh *talk, args ...string) (longest time.Duration, n int, err error) {
	done := make(chan struct{})
	var mu sync.Mutex
	reader := func() error {
		for {
			res, err := c.answer("git", "rekal", "parser cache")
			mu.Lock()
			longest, n = max(longest, res.took), n+1
			mu.Unlock()
			if err != nil {
				return err
			}
			select {
			case <-done:
				return nil
			default:
			}
		}
	}
	err = together(reader, reader, func() error {
		defer close(done)
		return c.quietly(args...)
	}, func() error {
		if err := fresh.say(2); err != nil {
			return err
		}
		return c.quietly("git", "commit", "-q", "--allow-empty", "-m", "meanwhile")
	})
	return longest, n, err
}

func turnsIn(rows []row) []turn {
	out := make([]turn, len(rows))
	for i, r := range rows {
		out[i] = r.turn
	}
	return out
}
