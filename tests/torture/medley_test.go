package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMedley runs three to six commands at the same moment, drawn from all that git-rekal has
// and from git's own, again and again: in a clone, in a worktree linked to it, and in another
// clone of the same author, which shares a remote with it. Nobody fails because of the others,
// and in the end all machines hold what was said, saved and marked, once.
func TestMedley(t *testing.T) {
	w := newWorld(t, seed(t))
	m := w.medley()
	for n := range pick(6, 150) {
		acts, names := m.draw()
		if os.Getenv("EXPLORE") != "" {
			fmt.Fprintln(os.Stderr, n, strings.Join(names, ", "))
		}
		if err := together(acts...); err != nil {
			t.Errorf("round %d, %s: %v", n, strings.Join(names, ", "), err)
			if os.Getenv("EXPLORE") == "" { t.FailNow() }
		}
		w.fatal(m.after())
		if every, _ := strconv.Atoi(os.Getenv("EVERY")); n%max(every, 1) == 0 && every > 0 || every == 0 && n%25 == 24 {
			m.settle()
			if t.Failed() && os.Getenv("KEEP") != "" {
				exec.Command("cp", "-a", w.dir, os.Getenv("KEEP")).Run()
			}
			if t.Failed() {
				t.Fatalf("round %d", n)
			}
		}
	}
	m.settle()
	for _, k := range slices.Sorted(maps.Keys(m.heard)) {
		t.Logf("%4d × %s", m.heard[k], k)
	}
}

// medley is what its commands work on.
type medley struct {
	*world
	pair   []*clone // of two machines
	places []*place
	notes  []*note
	gone   map[turn]bool // turns that were scrubbed
	count  int           // so that names differ
	heard  map[string]int
}

// place is a worktree, and what the draw must know of it.
type place struct {
	*clone
	machine int
	linked  bool
	rows    []row // what its machine's tables held a while ago
	staged  bool  // somebody writes the index in this round: git lets one at a time do so
}

// note is a memory.
type note struct {
	machine  int
	text, id string
	purged   bool
	scrubbed bool
	taken    bool // in this round
}

func (w *world) medley() *medley {
	w.t.Helper()
	m := &medley{world: w, pair: w.pairOfClones(false), gone: map[turn]bool{}, heard: map[string]int{}}
	m.pair[0].must("git", "-C", m.pair[0].dir+".git", "config", "receive.denyNonFastForwards", "false") // scrub --pushed forces
	for i, c := range m.pair {
		w.fatal(c.grow(w, 3, 10))
		for n := range 4 {
			c.write("file", fmt.Sprint(i, n))
			c.must("git", "commit", "-q", "-m", "base")
		}
		c.must("git", "rekal", "sync")
		m.places = append(m.places, &place{clone: c, machine: i})
	}
	m.places = append(m.places, &place{clone: m.pair[0].worktree("linked"), linked: true})
	return m
}

// kinds are the commands of the medley. Each draws what it needs, and returns nil where there is
// nothing to do for it.
func (m *medley) kinds() map[string]func(*place) func() error {
	plain := func(args ...string) func(*place) func() error {
		return func(p *place) func() error { return func() error { return m.quiet(p, args...) } }
	}
	// git's own commands that write the index: one at a time in a worktree.
	staging := func(make func(p *place, n int) [][]string) func(*place) func() error {
		return func(p *place) func() error {
			if p.staged {
				return nil
			}
			p.staged = true
			m.count++
			all := make(p, m.count)
			return func() error {
				for _, args := range all {
					if err := m.quiet(p, args...); err != nil {
						return err
					}
				}
				return nil
			}
		}
	}
	return map[string]func(*place) func() error{
		"init":         plain("git", "rekal", "init"),
		"init --mcp":   plain("git", "rekal", "init", "--mcp"),
		"sync":         plain("git", "rekal", "sync"),
		"sync again":   plain("git", "rekal", "sync"),
		"push":         plain("git", "rekal", "push"),
		"checkpoint":   plain("git", "rekal", "checkpoint"),
		"dry run":      plain("git", "rekal", "checkpoint", "--dry-run"),
		"index":        plain("git", "rekal", "index"),
		"index --at":   plain("git", "rekal", "index", "--at", "HEAD~1"),
		"doctor":       plain("git", "rekal", "doctor"),
		"log":          plain("git", "rekal", "log"),
		"recall":       plain("git", "rekal", "parser cache"),
		"recall again": plain("git", "rekal", "retry", "token"),
		"recall past":  plain("git", "rekal", "--checkpoint", "HEAD~2", "parser cache"),
		"recall files": plain("git", "rekal", "--file", "src/file1", "parser"),
		"sql":          plain("git", "rekal", "query", "SELECT count(*) AS n FROM turns"),
		"sql index":    plain("git", "rekal", "query", "--index", "SELECT count(*) AS n FROM session_facets"),
		"why":          plain("git", "rekal", "why", "file"),
		"session": func(p *place) func() error {
			if len(p.rows) == 0 {
				return nil
			}
			id := p.rows[m.rng.IntN(len(p.rows))].Session
			return func() error { return m.quiet(p, "git", "rekal", "query", "--session", id, "--full") }
		},
		"save": func(p *place) func() error {
			m.count++
			text := fmt.Sprintf("what was learned as number %d", m.count)
			n := &note{machine: p.machine, text: text, taken: true}
			m.notes = append(m.notes, n)
			return func() error { return m.save(p, n) }
		},
		"save the same": func(p *place) func() error {
			text := fmt.Sprintf("what machine %d always learns", p.machine)
			return func() error { return m.quiet(p, "git", "rekal", "save", text) }
		},
		"purge": func(p *place) func() error {
			n := m.note(p, false)
			if n == nil {
				return nil
			}
			return func() error { return m.quiet(p, "git", "rekal", "purge", n.id) }
		},
		"restore": func(p *place) func() error {
			n := m.note(p, true)
			if n == nil {
				return nil
			}
			return func() error { return m.quiet(p, "git", "rekal", "restore", n.id) }
		},
		"purge a session": func(p *place) func() error {
			if len(p.rows) == 0 {
				return nil
			}
			id := p.rows[m.rng.IntN(len(p.rows))].Session
			return func() error {
				return errors.Join(m.quiet(p, "git", "rekal", "purge", id), m.quiet(p, "git", "rekal", "restore", id))
			}
		},
		"scrub a memory": func(p *place) func() error {
			n := m.note(p, false)
			if n == nil {
				return nil
			}
			n.purged, n.scrubbed = false, true
			return func() error { return m.quiet(p, "git", "rekal", "scrub", "--pushed", n.id) }
		},
		"scrub a turn": func(p *place) func() error {
			for _, at := range m.rng.Perm(len(p.rows)) {
				r := p.rows[at]
				if p.mayGo(r.turn) && !m.gone[r.turn] {
					m.gone[r.turn] = true
					return func() error { return m.quiet(p, "git", "rekal", "scrub", "--pushed", fmt.Sprintf("%s:%d", r.Session, r.Index)) }
				}
			}
			return nil
		},
		"mcp": func(p *place) func() error {
			m.count++
			n := &note{machine: p.machine, text: fmt.Sprintf("what an agent learned as number %d", m.count), taken: true}
			m.notes = append(m.notes, n)
			return func() error { return m.serve(p, n) }
		},

		"commit": staging(func(p *place, n int) [][]string {
			m.fatal(os.WriteFile(filepath.Join(p.dir, "file"), fmt.Appendln(nil, n), 0o600))
			m.fatal(os.MkdirAll(filepath.Join(p.dir, "src"), 0o700))
			m.fatal(os.WriteFile(filepath.Join(p.dir, "src", fmt.Sprintf("file%d.go", n%20)), fmt.Appendln(nil, n), 0o600))
			return [][]string{{"git", "add", "."}, {"git", "commit", "-q", "-m", fmt.Sprintf("commit %d", n)}}
		}),
		"amend": staging(func(_ *place, n int) [][]string {
			return [][]string{{"git", "commit", "-q", "--amend", "--allow-empty", "-m", fmt.Sprintf("amended %d", n)}}
		}),
		"rebase": staging(func(*place, int) [][]string {
			return [][]string{{"git", "rebase", "-q", "--force-rebase", "HEAD~3"}}
		}),
		"switch": staging(func(_ *place, n int) [][]string {
			return [][]string{{"git", "switch", "-q", "-c", fmt.Sprintf("branch-%d", n)}}
		}),
		"merge": staging(func(_ *place, n int) [][]string {
			side := fmt.Sprintf("side-%d", n)
			return [][]string{
				{"git", "switch", "-q", "-c", side}, {"git", "commit", "-q", "--allow-empty", "-m", "aside"},
				{"git", "switch", "-q", "-"}, {"git", "merge", "-q", "--no-ff", "-m", "merged", side},
			}
		}),
		"git push": func(p *place) func() error {
			m.count++
			to := fmt.Sprintf("HEAD:refs/heads/topic-%d", m.count)
			return func() error { return m.quiet(p, "git", "push", "-q", "origin", to) }
		},
		"gc":        plain("git", "gc", "--quiet"),
		"repack":    plain("git", "repack", "-q", "-A", "-d"),
		"fetch":     plain("git", "fetch", "-q"),
		"pack-refs": plain("git", "pack-refs", "--all"),
		"config":    plain("git", "config", "some.key", "value"),
		"status":    staging(func(*place, int) [][]string { return [][]string{{"git", "status", "-s"}} }),
		"worktree": func(p *place) func() error {
			m.count++
			name := fmt.Sprintf("tree-%d", m.count)
			dir := filepath.Join(p.home, name)
			return func() error {
				if err := m.quiet(p, "git", "worktree", "add", "-q", "-b", name, dir); err != nil {
					return err
				}
				there := &place{clone: &clone{p.machine_(), dir}, machine: p.machine}
				return errors.Join(m.quiet(there, "git", "commit", "-q", "--allow-empty", "-m", name), m.quiet(there, "git", "rekal", "parser"),
					m.quiet(p, "git", "worktree", "remove", "--force", dir))
			}
		},
	}
}

// mayGo reports whether a turn may be scrubbed: it is of this machine, and no sample's word.
func (p *place) mayGo(t turn) bool {
	return slices.ContainsFunc(p.talks, func(talk *talk) bool {
		at := slices.Index(talk.turns, t)
		return at >= 0 && at < len(talk.turns)-1
	})
}

func (p *place) machine_() *machine { return p.clone.machine }

// draw lets sessions go on, and draws a round.
func (m *medley) draw() (acts []func() error, names []string) {
	for _, p := range m.places {
		m.fatal(p.grow(m.world, 1, 3))
		p.staged = false
	}
	kinds := m.kinds()
	list := slices.Sorted(maps.Keys(kinds))
	if only := os.Getenv("ONLY"); only != "" {
		list = strings.Split(only, ",")
	}
	n := 3 + m.rng.IntN(4)
	if many, err := strconv.Atoi(os.Getenv("MANY")); err == nil {
		n = many
	}
	for len(acts) < n {
		p, name := m.places[m.rng.IntN(len(m.places))], list[m.rng.IntN(len(list))]
		if do := kinds[name](p); do != nil {
			where := fmt.Sprintf("%s in %s", name, filepath.Base(filepath.Dir(p.dir))+"/"+filepath.Base(p.dir))
			names = append(names, where)
			acts = append(acts, func() error {
				if err := do(); err != nil {
					return fmt.Errorf("%s: %w", where, err)
				}
				return nil
			})
		}
	}
	return acts, names
}

// after reads what the tables hold now, for the next draws.
func (m *medley) after() error {
	for _, n := range m.notes {
		n.taken = false
	}
	for i, c := range m.pair {
		rows, err := c.tabled()
		if err != nil {
			return err
		}
		for _, p := range m.places {
			if p.machine == i {
				p.rows = rows
			}
		}
	}
	return nil
}

// note draws a memory of a place's machine that is purged or not, to have that changed.
func (m *medley) note(p *place, purged bool) *note {
	for _, i := range m.rng.Perm(len(m.notes)) {
		n := m.notes[i]
		if n.machine == p.machine && n.purged == purged && !n.scrubbed && !n.taken && n.id != "" {
			n.taken, n.purged = true, !purged
			return n
		}
	}
	return nil
}

func (m *medley) save(p *place, n *note) error {
	res, err := m.run(p, "git", "rekal", "save", n.text)
	if err != nil {
		return err
	}
	var saved struct{ ID string }
	err = json.Unmarshal([]byte(res.out), &saved)
	n.id = saved.ID
	return err
}

// serve lets an agent ask and save through a server of its own.
func (m *medley) serve(p *place, n *note) error {
	cmd := exec.Command("git", "rekal", "mcp")
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, &said
	ctx, stop := context.WithTimeout(m.ctx, m.patience)
	defer stop()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "medley", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	for _, call := range []mcp.CallToolParams{
		{Name: "recall", Arguments: map[string]any{"query": "parser cache"}},
		{Name: "save_memory", Arguments: map[string]any{"title": n.text, "content": n.text}},
		{Name: "recall", Arguments: map[string]any{"title": n.text, "detail": "full"}},
		{Name: "recall", Arguments: map[string]any{"files": []string{"src/file1.go"}}},
	} {
		res, err := session.CallTool(ctx, &call)
		if err == nil && res.IsError {
			text, _ := json.Marshal(res.Content)
			err = fmt.Errorf("%s %v: %s", call.Name, call.Arguments, text)
		}
		if err != nil {
			return errors.Join(err, session.Close(), fmt.Errorf("stderr: %s", said.String()))
		}
	}
	err = session.Close()
	res := ran{args: cmd.Args, stderr: said.String()}
	m.listen(cmd.Args, res)
	return errors.Join(err, res.blame())
}

func (m *medley) quiet(p *place, args ...string) error {
	_, err := m.run(p, args...)
	return err
}

// run runs a command that must succeed, and may say nothing of git-rekal that is no hint.
func (m *medley) run(p *place, args ...string) (ran, error) {
	res, err := p.clone.run(args...)
	if err != nil {
		return res, err
	}
	m.listen(args, res)
	if ownFault(res) {
		return res, nil
	}
	return res, res.blame()
}

var digits = regexp.MustCompile(`[0-9a-f]{7,}|[0-9]+|"/.*"`)

func (m *medley) listen(args []string, res ran) {
	m.pair[0].mu.Lock()
	defer m.pair[0].mu.Unlock()
	for line := range strings.Lines(res.stderr) {
		m.heard[fmt.Sprint(res.code, " ", digits.ReplaceAllString(strings.Join(args[:min(3, len(args))], " ")+": "+strings.TrimSpace(line), "#"))]++
	}
}

// ownFault are failures of git's own commands that other git commands explain as well.
func ownFault(res ran) bool {
	if res.args[1] == "rekal" || strings.Contains(res.stderr, "git-rekal") {
		return strings.Contains(res.stderr, "the index is behind the ledger") && res.code == 0
	}
	return slices.Contains([]string{"gc", "repack", "fetch", "pack-refs", "config", "worktree"}, res.args[1])
}

// settle brings the machines together, and looks whether everything is there.
func (m *medley) settle() {
	m.t.Helper()
	for range 2 {
		for _, c := range m.pair {
			m.fatal(c.mendAll())
			c.must("git", "rekal", "sync")
		}
	}
	var want []turn
	for _, c := range m.pair {
		want = append(want, c.held()...)
	}
	want = slices.DeleteFunc(want, func(t turn) bool { return m.gone[t] })
	var tips []string
	for _, c := range m.pair {
		tips = append(tips, c.must("git", "rev-parse", "refs/heads/rekal/"+c.email))
		rows, err := c.tabled()
		m.fatal(err)
		stored, err := c.stored("refs/heads/rekal/" + c.email)
		if err != nil {
			m.t.Errorf("%s: %v", c.dir, err)
		}
		left := func(t turn) bool { return t.Text == "[REDACTED:scrubbed]" }
		leftRow := func(r row) bool { return left(r.turn) }
		err = errors.Join(c.fsck(), m.left(stored, left), compare("the ledger", want, slices.DeleteFunc(stored, left)), c.checkRecall(rows), c.checkLeftovers(),
			compare("the tables", want, turnsIn(slices.DeleteFunc(rows, leftRow))), m.checkNotes(c))
		if err != nil {
			m.t.Errorf("%s: %v", c.dir, err)
		}
	}
	if len(slices.Compact(tips)) != 1 {
		m.t.Errorf("the tips differ: %v", tips)
	}
}

// checkNotes compares the memories of a machine with what was saved and marked.
func (m *medley) checkNotes(c *clone) error {
	res, err := c.clean("git", "rekal", "query", "SELECT content, count(*) AS n, max(purged.id) IS NOT NULL AS purged FROM memories LEFT JOIN purged USING (id) GROUP BY content")
	if err != nil {
		return err
	}
	type said struct {
		Content string
		N       int
		Purged  bool
	}
	there := map[string]said{}
	for line := range strings.Lines(res.out) {
		var s said
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return err
		}
		there[s.Content] = s
	}
	var errs []error
	for _, n := range m.notes {
		s := there[n.text]
		switch {
		case n.scrubbed && s.N > 0, !n.scrubbed && s.N != 1:
			errs = append(errs, fmt.Errorf("%q, scrubbed: %v, is there %d times", n.text, n.scrubbed, s.N))
		case !n.scrubbed && s.Purged != n.purged:
			errs = append(errs, fmt.Errorf("%q is purged: %v, want %v", n.text, s.Purged, n.purged))
		}
	}
	for i := range m.pair {
		if s := there[fmt.Sprintf("what machine %d always learns", i)]; s.N > 1 {
			errs = append(errs, fmt.Errorf("%q is there %d times", s.Content, s.N))
		}
	}
	return errors.Join(errs...)
}

func (m *medley) left(all []turn, left func(turn) bool) error {
	n := 0
	for _, t := range all {
		if left(t) {
			n++
		}
	}
	if n != len(m.gone) {
		return fmt.Errorf("%d turns scrubbed, want %d", n, len(m.gone))
	}
	return nil
}
