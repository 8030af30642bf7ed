package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// check is what must hold after every blow, without anybody having repaired anything: after
// one `git rekal checkpoint`, every turn that the machine's transcripts hold is stored once,
// in the ledger as in the tables; git finds nothing wrong; recall finds a sample of the turns
// and answers as it does from caches built anew; nothing is left lying about.
func (c *clone) check() error {
	if _, err := c.clean("git", "rekal", "checkpoint"); err != nil {
		return err
	}
	return c.checkHolds(c.held())
}

// checkHolds is check for turns that other machines' transcripts hold as well, once they have
// been fetched.
func (c *clone) checkHolds(want []turn) error {
	rows, err := c.tabled()
	if err != nil {
		return err
	}
	tabled := want
	if c.jumps {
		tabled = slices.Clone(want)
		for i := range tabled {
			tabled[i].TS = 0
		}
		for i := range rows {
			rows[i].TS = 0
		}
	}
	return errors.Join(c.fsck(), c.checkLedger(want), checkTables(tabled, rows), c.checkRecall(rows), c.checkLeftovers(),
		c.checkLakes())
}

// held is every turn in the transcripts of the machine.
func (m *machine) held() []turn {
	var out []turn
	for _, t := range m.talks {
		out = append(out, t.turns...)
	}
	return out
}

func (c *clone) fsck() error {
	out, err := c.run("git", "fsck", "--strict", "--no-progress")
	if err == nil && (out.code != 0 || fsckTrouble.MatchString(out.stderr+out.out)) {
		err = fmt.Errorf("%v", out)
	}
	return err
}

var fsckTrouble = regexp.MustCompile(`(?m)^(error|warning|missing|broken)`)

// checkLedger compares the author's own ledger with what should be stored.
func (c *clone) checkLedger(want []turn) error {
	got, err := c.stored("refs/heads/rekal/" + c.email)
	if err != nil {
		return err
	}
	if c.overlaps {
		got = once(got)
	}
	return errors.Join(c.checkHistory(), compare("the ledger", want, got))
}

// checkHistory looks for commits that the ledger once had and has no more. A capture that
// loses a race would have its turns captured again by the next one, and so go unnoticed.
func (c *clone) checkHistory() error {
	ref := "refs/heads/rekal/" + c.email
	tips, err := c.feed(nil, "reflog", "show", "--format=%H", ref)
	if err != nil {
		return err
	}
	lost, err := c.feed(bytes.NewReader(append(tips, "^"+ref+"\n"...)), "rev-list", "--stdin")
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the ledger has lost commits: %s", lost)
	}
	return err
}

func once(turns []turn) []turn {
	seen := map[turn]bool{}
	for _, t := range turns {
		seen[t] = true
	}
	return slices.Collect(maps.Keys(seen))
}

// compare reports lost and doubled turns.
func compare(where string, want, got []turn) error {
	count := map[turn]int{}
	for _, t := range got {
		count[t]++
	}
	for _, t := range want {
		count[t]--
	}
	var bad []string
	for t, n := range count {
		switch {
		case n < 0:
			bad = append(bad, fmt.Sprintf("lost (%d times) %v", -n, t))
		case n > 0:
			bad = append(bad, fmt.Sprintf("stored %d times too often %v", n, t))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return fmt.Errorf("%s: %d turns wrong of %d:\n  %s", where, len(bad), len(want),
		strings.Join(bad[:min(5, len(bad))], "\n  "))
}

// row is a turn in the tables.
type row struct {
	turn
	Session string
	Index   int
}

// checkTables compares the tables with what should be stored: the turns, and that each
// session numbers its own from 0 without a gap.
func checkTables(want []turn, rows []row) error {
	var got []turn
	next := map[string]int{}
	for _, r := range rows {
		if r.Index != next[r.Session] {
			return fmt.Errorf("session %s has turn %d where %d comes", r.Session, r.Index, next[r.Session])
		}
		next[r.Session]++
		got = append(got, r.turn)
	}
	return compare("the tables", want, got)
}

// tabled reads every turn of the tables, in order.
func (c *clone) tabled() ([]row, error) {
	res, err := c.clean("git", "rekal", "query", `SELECT native_id AS native, epoch_ms(ts) AS ts, role, content AS text,
		session_id AS session, turn_index AS index FROM turns JOIN sessions ON sessions.id = session_id ORDER BY session_id, turn_index`)
	if err != nil {
		return nil, err
	}
	var out []row
	for line := range strings.Lines(res.out) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// checkRecall asks for a sample of unique words, deletes the caches, and asks again.
func (c *clone) checkRecall(rows []row) error {
	questions := [][]string{{"-n", "50"}, {"-n", "50", "--file", "src/file1", "parser cache schema"}}
	told := c.sample(2)
	for _, t := range told {
		questions = append(questions, []string{"-n", "9", t.words[len(t.turns)-1]})
	}
	lived, err := c.answers(questions)
	if err != nil {
		return err
	}
	for i, t := range told {
		if !leads(lived[len(lived)-len(told)+i], t.id, rows) {
			return fmt.Errorf("recall %q does not lead to session %s: %s", questions[len(lived)-len(told)+i], t.id, lived[i])
		}
	}
	if err := os.RemoveAll(c.rekal()); err != nil {
		return err
	}
	rebuilt, err := c.answers(questions)
	if err != nil {
		return fmt.Errorf("without .git/rekal: %w", err)
	}
	for i, q := range questions {
		if c.jumps { // which dates are believed, and so what is the latest, is a matter of the clock
			lived[i], rebuilt[i] = found(lived[i]), found(rebuilt[i])
		}
		if lived[i] != rebuilt[i] {
			return fmt.Errorf("recall %q, grown:\n%s\nrebuilt:\n%s", q, lived[i], rebuilt[i])
		}
	}
	return nil
}

// found are the IDs of an answer, sorted.
func found(answer string) string {
	var a struct{ Results []struct{ ID string } }
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		return answer
	}
	slices.SortFunc(a.Results, func(a, b struct{ ID string }) int { return strings.Compare(a.ID, b.ID) })
	return fmt.Sprint(a.Results)
}

// leads reports whether the best answer is the session with this ID of its agent.
func leads(answer, native string, rows []row) bool {
	var a struct{ Results []struct{ ID string } }
	if json.Unmarshal([]byte(answer), &a) != nil || len(a.Results) == 0 {
		return false
	}
	return slices.ContainsFunc(rows, func(r row) bool { return r.Session == a.Results[0].ID && r.Native == native })
}

func (c *clone) answers(questions [][]string) ([]string, error) {
	var out []string
	for _, q := range questions {
		res, err := c.clean(append([]string{"git", "rekal"}, q...)...)
		if err != nil {
			return nil, err
		}
		out = append(out, res.out)
	}
	return out, nil
}

// sample picks sessions that hold something: the latest and some others.
func (c *clone) sample(n int) []*talk {
	told := slices.DeleteFunc(slices.Clone(c.talks), func(t *talk) bool { return len(t.turns) == 0 })
	if len(told) > n {
		last := told[len(told)-1]
		rand.New(rand.NewPCG(uint64(len(told)), 2)).Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		told = append(told[:n-1], last)
	}
	return told
}

// commonDir is the git directory that all worktrees share, rekal the folder of the caches.
func (c *clone) commonDir() (string, error) {
	out, err := c.feed(nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	return strings.TrimSpace(string(out)), err
}

func (c *clone) rekal() string {
	dir, err := c.commonDir()
	if err != nil {
		return filepath.Join(c.dir, ".git/rekal")
	}
	return filepath.Join(dir, "rekal")
}

// caches are the names that may stand in .git/rekal/ when nobody works there.
var caches = []string{
	"lock.decisions", "lock.embed", "lock.questions", "records", "remembered", "words", "data.db",
	"index.db", "lock", "lock.state", "lock.tables", "lock.writer", "made", "recall.db", "recall.db-shm", "recall.db-wal",
	"state.db", "sync",
}

// checkLeftovers looks for what a dead process left: locks anywhere, strange files among the
// caches.
func (c *clone) checkLeftovers() error {
	found := map[string]bool{}
	entries, err := os.ReadDir(c.rekal())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); e.Name() == "state.db-journal" && err == nil && info.Size() == 0 {
			continue // killed before its first byte: the next change takes it
		}
		if !slices.Contains(caches, e.Name()) {
			found[filepath.Join(".git/rekal", e.Name())] = true
		}
	}
	dir, err := c.commonDir()
	if err != nil {
		return err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, ".new")) {
			found[path] = true
		}
		return err
	})
	if len(found) > 0 {
		err = errors.Join(err, fmt.Errorf("left behind: %v", slices.Sorted(maps.Keys(found))))
	}
	return err
}

// dropGitsLocks removes the lock files that git itself leaves when it is killed, as it tells
// its user to. They are none of git-rekal's; those of a ledger's ref stay.
func (c *clone) dropGitsLocks() error {
	out, err := c.feed(nil, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
	if err != nil {
		return err
	}
	for _, dir := range strings.Fields(string(out)) {
		for _, name := range []string{
			"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/*.lock",
			"refs/remotes/*/*.lock",
		} {
			locks, err := filepath.Glob(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			for _, l := range locks {
				if err := os.Remove(l); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}
