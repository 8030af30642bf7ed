package torture

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLongTeam measures what a large team costs: the first sync of somebody who has just cloned,
// the sync of one new session, a recall, the ledgers' bytes. `make team` runs it with 200
// authors of 50 sessions; TEAM=AUTHORSxSESSIONS with others.
func TestLongTeam(t *testing.T) {
	authors, sessions := 5, 4
	if text := os.Getenv("TEAM"); text != "" {
		if _, err := fmt.Sscanf(text, "%dx%d", &authors, &sessions); err != nil {
			t.Fatalf("TEAM=%q: %v", text, err)
		}
	}
	w := newWorld(t, seed(t))
	w.patience = 20 * time.Minute
	team := newTeam(w)
	began := time.Now()
	team.write(authors, 0, sessions)
	t.Logf("%d authors × %d sessions, written in %v", authors, sessions, round(time.Since(began)))
	team.must("git", "gc", "--quiet")
	t.Logf("ledgers: %s of segments, %s packed", size(team.plain()),
		strings.TrimSpace(team.must("git", "rev-list", "--disk-usage=human", "--objects", "--glob=refs/heads/rekal/")))

	me, plain := team.newcomer("me"), team.newcomer("git-alone")
	me.must("git", "rekal", "init")
	t.Logf("first sync: %v; git alone, for the same fetch: %v", me.timed("git", "rekal", "sync", "--yes"),
		plain.timed(fetchLedgers...))
	t.Logf("the caches: %s", size(below(me.rekal())))
	if got := me.count("sessions"); got != authors*sessions {
		t.Errorf("%d sessions, want %d", got, authors*sessions)
	}
	for n := range pick(1, 5) {
		team.write(1, sessions+n, 1)
		t.Logf("sync of one new session: %v; git alone: %v", me.timed("git", "rekal", "sync", "--yes"),
			plain.timed(fetchLedgers...))
		if got := me.count("sessions"); got != authors*sessions+n+1 {
			t.Errorf("%d sessions, want %d", got, authors*sessions+n+1)
		}
	}
	t.Logf("sync of nothing new: %v; git alone: %v", me.timed("git", "rekal", "sync", "--yes"),
		plain.timed(fetchLedgers...))
	for _, args := range [][]string{
		{"-n", "10", "receipts of the payment provider"},
		{"receipts of the payment provider"},
		{"--file", "^payments/", "receipts"},
	} {
		t.Logf("recall %q: %v", args, me.timed(append([]string{"git", "rekal"}, args...)...))
	}
	team.compare(me, authors)
}

var fetchLedgers = []string{"git", "fetch", "-q", "origin", "refs/heads/rekal/*:refs/remotes/origin/rekal/*"}

// team is the bare repository that everybody shares.
type team struct {
	*clone
}

func newTeam(w *world) *team {
	w.t.Helper()
	harness.Build(w.t, "tests/bench", w.dir)
	m := w.machine("server", "server@example.com")
	m.atHome().must("git", "init", "-q", "--bare", "team.git")
	return &team{&clone{m, filepath.Join(m.home, "team.git")}}
}

func (m *machine) atHome() *clone { return &clone{m, m.home} }

// write writes sessions of each of the first authors, behind those that they have already.
func (tm *team) write(authors, first, sessions int) {
	tm.t.Helper()
	cmd := exec.CommandContext(tm.ctx, filepath.Join(tm.world.dir, "bench"), "-team",
		fmt.Sprintf("%dx%d", authors, sessions), "-first", strconv.Itoa(first),
		"-data", filepath.Join(harness.Root(tm.t), "tests/testdata"), tm.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		tm.t.Fatalf("%v: %s", err, out)
	}
}

// clone is somebody new in the team, with the code only.
func (tm *team) newcomer(name string) *clone {
	m := tm.machine.machine(name, name+"@example.com")
	m.atHome().must("git", "clone", "-q", "--single-branch", "file://"+tm.dir, "repo")
	return &clone{m, filepath.Join(m.home, "repo")}
}

// plain is how many bytes the segments have.
func (tm *team) plain() int64 {
	tm.t.Helper()
	var sum int64
	for _, ref := range strings.Fields(tm.must("git", "for-each-ref", "--format=%(refname)", "refs/heads/rekal/")) {
		out, err := tm.feed(nil, "ls-tree", "-r", "--format=%(objectsize)", ref, "segments/")
		tm.fatal(err)
		for _, n := range strings.Fields(string(out)) {
			bytes, err := strconv.ParseInt(n, 10, 64)
			tm.fatal(err)
			sum += bytes
		}
	}
	return sum
}

// compare reads some authors' ledgers and compares them with what another's tables hold.
func (tm *team) compare(with *clone, authors int) {
	tm.t.Helper()
	rows, err := with.tabled()
	tm.fatal(err)
	held := map[string][]turn{}
	for _, r := range rows {
		held[r.Native] = append(held[r.Native], r.turn)
	}
	refs := strings.Fields(tm.must("git", "for-each-ref", "--format=%(refname)", "refs/heads/rekal/"))
	for i := 0; i < len(refs); i += max(1, authors/5) {
		want, err := tm.stored(refs[i])
		tm.fatal(err)
		var got []turn
		for _, native := range nativesOf(want) {
			got = append(got, held[native]...)
		}
		if err := compare("the tables of "+refs[i], want, got); err != nil {
			tm.t.Error(err)
		}
	}
}

func nativesOf(turns []turn) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range turns {
		if !seen[t.Native] {
			out = append(out, t.Native)
		}
		seen[t.Native] = true
	}
	return out
}

// timed says what a command took.
func (c *clone) timed(args ...string) string {
	c.t.Helper()
	res, err := c.clean(args...)
	c.fatal(err)
	return fmt.Sprintf("%v (CPU %v, %s)", round(res.took), round(res.cpu), size(res.memory))
}

func (c *clone) count(table string) int {
	c.t.Helper()
	out := c.must("git", "rekal", "query", "SELECT count(*) AS n FROM "+table)
	n, err := strconv.Atoi(strings.Trim(out, "{}\"n:\n"))
	c.fatal(err)
	return n
}

func below(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func size(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
