package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// kinds are the commands of the medley; `clean` is drawn apart. Each fills in what to do, unless
// there is nothing.
var kinds = map[string]func(*medley, *act){
	"init":         plain("git", "rekal", "init"),
	"init --mcp":   plain("git", "rekal", "init", "--mcp"),
	"sync":         plain("git", "rekal", "sync", "--yes"),
	"push":         plain("git", "rekal", "push", "--yes"),
	"checkpoint":   plain("git", "rekal", "checkpoint"),
	"dry run":      plain("git", "rekal", "checkpoint", "--dry-run"),
	"index":        plain("git", "rekal", "index"),
	"doctor":       looks("git", "rekal", "doctor"),
	"log":          plain("git", "rekal", "log"),
	"recall":       plain("git", "rekal", "parser", "cache"),
	"recall past":  plain("git", "rekal", "--checkpoint", "HEAD~2", "parser"),
	"recall files": plain("git", "rekal", "--file", "src/file1", "parser"),
	"sql":          plain("git", "rekal", "query", "SELECT count(*) AS n FROM turns"),
	"sql index":    plain("git", "rekal", "query", "--index", "SELECT count(*) AS n FROM session_facets"),
	"why":          plain("git", "rekal", "why", "file"),

	"session":         readSession,
	"purge a session": purgeSession,
	"scrub a turn":    scrubTurn,
	"save":            saveNote,
	"save the same":   func(_ *medley, a *act) { a.do = commands("git", "rekal", "save", always(a.place.machine)) },
	"purge":           markNote("purge", false),
	"restore":         markNote("restore", true),
	"scrub a memory":  scrubNote,
	"mcp":             askAgent,

	"commit": staging(commit),
	"amend":  staging(commands("git", "commit", "-q", "--amend", "--allow-empty", "-m", "amended")),
	"rebase": staging(commands("git", "rebase", "-q", "--force-rebase", "HEAD~3")),
	"status": staging(commands("git", "status", "-s")),
	"switch": func(m *medley, a *act) {
		staging(commands("git", "switch", "-q", "-c", fmt.Sprint("branch-", m.count)))(m, a)
	},
	"merge": staging(merge),

	"git push": func(m *medley, a *act) {
		a.do = commands("git", "push", "-q", "origin", fmt.Sprint("HEAD:refs/heads/topic-", m.count))
	},
	"gc":        plain("git", "gc", "--quiet"),
	"repack":    plain("git", "repack", "-q", "-A", "-d"),
	"fetch":     plain("git", "fetch", "-q"),
	"pack-refs": plain("git", "pack-refs", "--all"),
	"config":    plain("git", "config", "some.key", "value"),
	"worktree":  linkedTree,
}

// commands runs some after the other; "\n" stands between them.
func commands(args ...string) func(*medley, *place) error {
	return func(m *medley, p *place) error {
		for rest := args; len(rest) > 0; {
			var one []string
			if at := slices.Index(rest, "\n"); at >= 0 {
				one, rest = rest[:at], rest[at+1:]
			} else {
				one, rest = rest, nil
			}
			if _, err := m.run(p, one...); err != nil {
				return err
			}
		}
		return nil
	}
}

func plain(args ...string) func(*medley, *act) {
	return func(_ *medley, a *act) { a.do = commands(args...) }
}

// looks is plain for what may find something wrong while somebody takes git-rekal out.
func looks(args ...string) func(*medley, *act) {
	return func(_ *medley, a *act) {
		if !a.place.bare {
			a.do = commands(args...)
		}
	}
}

// staging is for git's own commands that write the index.
func staging(do func(*medley, *place) error) func(*medley, *act) {
	return func(_ *medley, a *act) {
		if !a.place.staging {
			a.place.staging, a.do = true, do
		}
	}
}

func commit(m *medley, p *place) error {
	n := m.word.Add(1)
	name := filepath.Join(p.dir, "src", fmt.Sprintf("file%d.go", n%20))
	err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, fmt.Appendln(nil, n), 0o600),
		os.WriteFile(filepath.Join(p.dir, "file"), fmt.Appendln(nil, n), 0o600))
	if err != nil {
		return err
	}
	return commands("git", "add", "src", "file", "\n", "git", "commit", "-q", "-m", "work")(m, p)
}

func merge(m *medley, p *place) error {
	side := fmt.Sprint("side-", m.word.Add(1))
	return commands("git", "switch", "-q", "-c", side, "\n", "git", "commit", "-q", "--allow-empty", "-m", "aside", "\n",
		"git", "switch", "-q", "-", "\n", "git", "merge", "-q", "--no-ff", "-m", "merged", side)(m, p)
}

// linkedTree adds a worktree, works in it, and takes it away.
func linkedTree(m *medley, a *act) {
	name := fmt.Sprint("tree-", m.count)
	dir := filepath.Join(a.place.home, name)
	a.do = func(m *medley, p *place) error {
		there := &place{clone: &clone{p.clone.machine, dir}, machine: p.machine}
		return errors.Join(commands("git", "worktree", "add", "-q", "-b", name, dir)(m, p),
			commands("git", "commit", "-q", "--allow-empty", "-m", name, "\n", "git", "rekal", "parser")(m, there),
			commands("git", "worktree", "remove", "--force", dir)(m, p))
	}
}

func (m *medley) someRow(p *place) (r row, ok bool) {
	if len(p.rows) == 0 {
		return r, false
	}
	return p.rows[m.rng.IntN(len(p.rows))], true
}

func readSession(m *medley, a *act) {
	if r, ok := m.someRow(a.place); ok {
		a.do = commands("git", "rekal", "query", "--session", r.Session, "--full")
	}
}

// purgeSession hides a session and shows it again.
func purgeSession(m *medley, a *act) {
	if r, ok := m.someRow(a.place); ok && !a.place.bare {
		a.do = commands("git", "rekal", "purge", r.Session, "\n", "git", "rekal", "restore", r.Session)
	}
}

// scrubTurn takes one of the machine's turns out, but none whose word the checks may ask for: they ask for
// a session's last one.
func scrubTurn(m *medley, a *act) {
	p := a.place
	for _, at := range m.rng.Perm(len(p.rows)) {
		r := p.rows[at]
		within := slices.ContainsFunc(p.talks, func(t *talk) bool {
			i := slices.Index(t.turns, r.turn)
			return i >= 0 && i < len(t.turns)-1
		})
		if within && !m.scrubbed[r.turn] && !p.bare {
			m.scrubbed[r.turn] = true
			a.do = commands("git", "rekal", "scrub", "--pushed", fmt.Sprintf("%s:%d", r.Session, r.Index))
			return
		}
	}
}

// always is what every agent of a machine saves.
func always(machine int) string { return fmt.Sprintf("what machine %d always learns", machine) }

func (m *medley) newNote(a *act) *note {
	n := &note{machine: a.place.machine, text: fmt.Sprintf("what was learned as number %d", m.count), taken: true}
	m.notes = append(m.notes, n)
	a.undone = func() { n.unsure = true }
	return n
}

func saveNote(m *medley, a *act) {
	n := m.newNote(a)
	a.do = func(m *medley, p *place) error {
		res, err := m.run(p, "git", "rekal", "save", n.text)
		if err != nil {
			return err
		}
		var saved struct{ ID string }
		err = json.Unmarshal([]byte(res.out), &saved)
		n.id = saved.ID
		return err
	}
}

// someNote draws a memory that a place's machine saved and nobody else works on.
func (m *medley) someNote(a *act, purged bool) *note {
	for _, i := range m.rng.Perm(len(m.notes)) {
		n := m.notes[i]
		if n.machine == a.place.machine && n.id != "" && n.purged == purged && !n.scrubbed && !n.unsure && !n.taken {
			n.taken = true
			a.undone = func() { n.unsure = true }
			return n
		}
	}
	return nil
}

func markNote(command string, purged bool) func(*medley, *act) {
	return func(m *medley, a *act) {
		if n := m.someNote(a, purged); n != nil {
			n.purged = !purged
			a.do = commands("git", "rekal", command, n.id)
		}
	}
}

func scrubNote(m *medley, a *act) {
	if a.place.bare {
		return
	}
	if n := m.someNote(a, false); n != nil {
		n.scrubbed = true
		a.do = commands("git", "rekal", "scrub", "--pushed", n.id)
	}
}

// askAgent lets an agent recall and save through a server of its own.
func askAgent(m *medley, a *act) {
	n := m.newNote(a)
	a.do = func(m *medley, p *place) error {
		var said bytes.Buffer
		cmd := exec.Command("git", "rekal", "mcp")
		cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, &said
		ctx, stop := context.WithTimeout(m.ctx, m.patience)
		defer stop()
		session, err := mcp.NewClient(&mcp.Implementation{Name: "medley", Version: "1"}, nil).Connect(ctx,
			&mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			return err
		}
		err = errors.Join(call(ctx, session, "recall", map[string]any{"query": "parser cache"}),
			call(ctx, session, "save_memory", map[string]any{"title": n.text, "content": n.text}),
			call(ctx, session, "recall", map[string]any{"files": []string{"src/file1.go"}}))
		return errors.Join(err, session.Close(), m.judge(ran{args: cmd.Args, stderr: said.String()}))
	}
}

func call(ctx context.Context, session *mcp.ClientSession, tool string, args map[string]any) error {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || !res.IsError {
		return err
	}
	text, err := json.Marshal(res.Content)
	if strings.Contains(string(text), "not set up") {
		err = errors.Join(err, errBare)
	}
	return errors.Join(err, fmt.Errorf("%s %v: %s", tool, args, text))
}
