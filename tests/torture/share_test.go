package torture

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNightTwoClones lets one author work on two machines in turns, each time with a commit and a
// push whose hook sends the ledger along. In the end both hold the same ledger, and nothing
// was forced.
func TestNightTwoClones(t *testing.T) {
	for _, v := range []struct {
		name     string
		overlaps bool // both see the same transcript grow; otherwise each has sessions of its own
	}{{"own sessions", false}, {"one session on both", true}} {
		t.Run(v.name, func(t *testing.T) {
			w := newWorld(t, seed(t))
			pair := w.pairOfClones(v.overlaps)
			var mirrored []*talk // in the other variant, nobody may see it grow
			if v.overlaps {
				mirrored = w.mirrored(pair)
			}
			rounds := pick(6, 50)
			var took []time.Duration
			for n := range rounds {
				c := pair[n%2]
				if v.overlaps {
					talk := mirrored[n%2]
					w.fatal(talk.say(len(mirrored[1-n%2].turns) - len(talk.turns) + 1 + w.rng.IntN(4)))
				} else {
					w.fatal(c.grow(w, 2, 6))
				}
				began := time.Now()
				c.must("git", "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("round %d", n))
				c.pushed()
				took = append(took, time.Since(began))
			}
			edge := max(1, rounds/5)
			t.Logf("%d rounds: a commit and push took %v in the first %d, %v in the last: ×%.2f", rounds,
				mean(took[:edge]), edge, mean(took[rounds-edge:]), float64(mean(took[rounds-edge:]))/float64(mean(took[:edge])))
			w.meet(pair)
		})
	}
}

// pairOfClones are two machines of one author that share a remote.
func (w *world) pairOfClones(overlaps bool) []*clone {
	w.t.Helper()
	first := w.shared("desk")
	remote := first.dir + ".git"
	first.must("git", "push", "-q", "origin", "HEAD:main")
	m := w.machine("lap", first.email)
	first.overlaps, m.overlaps = overlaps, overlaps
	m.atHome().must("git", "clone", "-q", remote, "repo")
	second := &clone{m, filepath.Join(m.home, "repo")}
	second.must("git", "rekal", "init")
	second.must("git", "config", "rekal.remote", "origin")
	for i, c := range []*clone{first, second} {
		c.must("git", "switch", "-q", "-c", fmt.Sprintf("of-machine-%d", i))
	}
	return []*clone{first, second}
}

// mirrored is one session of which both machines write the same records.
func (w *world) mirrored(pair []*clone) []*talk {
	n := w.word.Add(1)
	id := fmt.Sprintf("%08x-0000-4000-9000-%012x", n, n)
	out := make([]*talk, len(pair))
	for i, c := range pair {
		out[i] = c.retell(id, w.born, n)
		c.talks = append(c.talks, out[i])
	}
	return out
}

// pushed pushes the branch; the ledger must have gone along without a word.
func (c *clone) pushed() {
	c.t.Helper()
	res, err := c.clean("git", "push", "-q", "origin", "HEAD")
	if err == nil && strings.Contains(res.stderr, "git-rekal") {
		err = fmt.Errorf("%v", res)
	}
	c.fatal(err)
}

// meet syncs all machines of an author until nothing is left to tell, and compares them.
func (w *world) meet(pair []*clone) {
	w.t.Helper()
	for range 2 {
		for _, c := range pair {
			w.fatal(c.mendAll())
			c.must("git", "rekal", "sync", "--yes")
		}
	}
	var want []turn
	for _, c := range pair {
		want = append(want, c.held()...)
	}
	want = once(want)
	var tips, answers []string
	for _, c := range pair {
		tips = append(tips, c.must("git", "rev-parse", "refs/heads/rekal/"+c.email))
		answers = append(answers, everywhere(w.t, c.must("git", "rekal", "-n", "40", "parser cache")))
		if err := c.checkHolds(want); err != nil {
			w.t.Errorf("%s: %v", c.dir, err)
		}
	}
	if len(slices.Compact(tips)) != 1 {
		w.t.Errorf("the tips differ: %v", tips)
	}
	if len(slices.Compact(answers)) != 1 {
		w.t.Errorf("the answers differ:\n%s", strings.Join(answers, ""))
	}
}

func (m *machine) mendAll() error {
	for _, t := range m.talks {
		if err := t.mend(); err != nil {
			return err
		}
	}
	return nil
}

// TestNightMachinesAtOnce lets the machines of one author commit, push and sync at the same
// moment, and nobody waits for anybody.
func TestNightMachinesAtOnce(t *testing.T) {
	w := newWorld(t, seed(t))
	machines := w.pairOfClones(false)
	for n := range pick(2, 20) {
		var do []func() error
		for i, c := range machines {
			w.fatal(c.grow(w, 2, 6))
			c.must("git", "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("round %d", n))
			how := [][]string{
				{"git", "push", "-q", "origin", "HEAD"},
				{"git", "rekal", "sync", "--yes"},
				{"git", "rekal", "push", "--yes"},
			}
			for _, args := range how[w.rng.IntN(2):] {
				do = append(do, func() error {
					if err := c.quietly(args...); err != nil {
						return fmt.Errorf("machine %d: %w", i, err)
					}
					return nil
				})
			}
		}
		if err := together(do...); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
	w.meet(machines)
}

// everywhere is an answer without what says which commits are in this clone.
func everywhere(t *testing.T, answer string) string {
	t.Helper()
	var all struct {
		Total   int
		Results []map[string]any
	}
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatal(err)
	}
	for _, hit := range all.Results {
		delete(hit, "missing")
		commits, _ := hit["commits"].([]any)
		slices.SortFunc(commits, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mean(of []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range of {
		sum += d
	}
	return (sum / time.Duration(len(of))).Round(time.Millisecond)
}
