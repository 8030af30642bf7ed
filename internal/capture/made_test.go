package capture_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// committer is a scribe of an agent that has git make commits.
type committer interface {
	scribe
	calls(w *world, sec int, command string)
	ends(w *world, sec int, output string)
}

func (c codexScribe) calls(w *world, sec int, command string) {
	c.put(w, sec, "response_item", map[string]any{
		"type": "function_call", "call_id": "c", "name": "exec_command",
		"arguments": quoted(map[string]any{"cmd": command}),
	})
}

func (c codexScribe) ends(w *world, sec int, output string) {
	c.put(w, sec, "response_item", map[string]any{
		"type": "function_call_output", "call_id": "c",
		"output": "Process exited with code 0\nOutput:\n" + output,
	})
}

func (c openCodeScribe) calls(w *world, sec int, command string) {
	c.message(w, sec, "assistant", map[string]any{"type": "tool", "tool": "bash", "callID": "c", "state": map[string]any{
		"status": "running", "input": map[string]any{"command": command},
	}})
}

func (c openCodeScribe) ends(w *world, sec int, output string) {
	c.do(w, run(`UPDATE part SET time_updated = ?, data = json_set(data, '$.state.status', 'completed', '$.state.time.end', ?, '$.state.output', ?)
		WHERE session_id = ? AND data LIKE '%"running"%'`, second(sec).UnixMilli(), second(sec).UnixMilli(), output, c.id))
	c.do(w, run(`UPDATE session SET time_updated = ? WHERE id = ?`, second(sec).UnixMilli(), c.id))
}

// claudeScribe writes a session of Claude Code.
type claudeScribe struct{ id string }

func (c claudeScribe) native() string                     { return c.id }
func (c claudeScribe) begin(*world, int)                  {}
func (c claudeScribe) ask(w *world, sec int, text string) { w.add(c.id, ask(c.id, sec, text)) }

func (c claudeScribe) say(w *world, sec int, text string)           { w.add(c.id, say(c.id, sec, text)) }
func (c claudeScribe) edit(*world, int, string, []string, []string) {}
func (c claudeScribe) calls(w *world, sec int, command string) {
	w.add(c.id, rec(c.id, "assistant", sec,
		fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":%q}}]}`, command)))
}

func (c claudeScribe) ends(w *world, sec int, output string) {
	w.add(c.id, rec(c.id, "user", sec,
		fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":%q}]}`, output)))
}

// makers are the sessions that made commits, as the ledger says: "<subject> <native ID> <evidence>".
func (w *world) makers() (out []string) {
	w.T.Helper()
	h := w.held()
	for _, cp := range h.checkpoints {
		for _, l := range cp.Links {
			for native, s := range h.sessions {
				if s.ID == l.Session && l.Tie == session.TieMade {
					out = append(out, strings.TrimSpace(fmt.Sprint(w.subject(cp.GitSHA), " ", native, " ",
						strings.TrimRight(l.Evidence, " 0123456789"))))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestMadeByAnswer: agents say nowhere in the environment which session they are. Git's answer in the transcript says
// whose shell made a commit, behind the hook and at an import; once, and not in a copy of it, nor of a commit with
// another subject.
func TestMadeByAnswer(t *testing.T) {
	const one, two = sidA, "bbbbbbbb-0000-4000-8000-00000000000b"
	for name, scribes := range map[string][2]committer{
		"claude":   {claudeScribe{one}, claudeScribe{two}},
		"codex":    {codexScribe{one}, codexScribe{two}},
		"opencode": {openCodeScribe{"opencode", "ses_one"}, openCodeScribe{"opencode", "ses_two"}},
	} {
		a, b := scribes[0], scribes[1]
		start := func(t *testing.T) *world {
			w := newWorld(t)
			for i, s := range scribes {
				s.begin(w, i)
				s.ask(w, i, "commit what is there, "+s.native())
			}
			return w
		}
		answer := func(sha, subject string) string {
			return fmt.Sprintf("[main %.7s] %s\n 1 file changed\n", sha, subject)
		}
		want := []string{"by one " + a.native() + " answer", "by two " + b.native() + " answer"}
		t.Run(name+", behind the hooks", func(t *testing.T) {
			w := start(t)
			a.calls(w, 3, "git commit -m 'by one'")
			b.calls(w, 3, "git commit -m 'by two'")
			first := w.commit(4, "by one", "one", "1")
			w.at(4)
			w.capture()
			second := w.commit(5, "by two", "two", "2")
			w.at(5)
			w.capture()
			a.ends(w, 6, answer(first, "by one"))
			b.ends(w, 6, answer(second, "by two")+answer(first, "another subject"))
			a.say(w, 7, "done")
			b.say(w, 7, "done")
			w.commit(9, "by hand", "hand", "3")
			w.at(10)
			w.capture()
			w.capture()
			harness.Equal(t, "made", want, w.makers())
		})
		t.Run(name+", at an import", func(t *testing.T) {
			w := start(t)
			a.calls(w, 3, "git commit -m 'by one'")
			first := w.commit(4, "by one", "one", "1")
			a.ends(w, 5, answer(first, "by one"))
			b.calls(w, 6, "git commit -m 'by two'")
			second := w.commit(7, "by two", "two", "2")
			b.ends(w, 8, answer(second, "by two"))
			a.say(w, 9, "done")
			b.say(w, 9, "done")
			w.commit(10, "by hand", "hand", "3")
			w.imports()
			w.imports()
			harness.Equal(t, "made", want, w.makers())
		})
	}
}

// TestMadeByACopy: a session that goes on from a copy of another one did not make its commits.
func TestMadeByACopy(t *testing.T) {
	for _, imported := range []bool{true, false} {
		t.Run(fmt.Sprint("imported ", imported), func(t *testing.T) {
			w := newWorld(t)
			sha := w.commit(2, "by one", "one", "1")
			told := func(sid string) {
				c := claudeScribe{sid}
				c.ask(w, 0, "commit what is there")
				c.calls(w, 1, "git commit -m 'by one'")
				c.ends(w, 3, fmt.Sprintf("[main %.7s] by one\n", sha))
				c.say(w, 4, "done")
			}
			told(sidA)
			if !imported {
				w.capture()
			}
			told(sidB)
			claudeScribe{sidB}.ask(w, 5, "and go on")
			if w.commit(10, "by hand", "hand", "3"); imported {
				w.imports()
			} else {
				w.capture()
			}
			claudeScribe{sidB}.ask(w, 15, "and on")
			w.commit(20, "by hand again", "hand", "4")
			w.capture()
			harness.Equal(t, "made", []string{"by one " + sidA + " answer"}, w.makers())
		})
	}
}

// TestMadeByQuietCommand: git answers nothing to `git commit -q`. It is the session's commit if that was made while the
// command ran that asked for it, and no other session asked for it then; not before, not behind it, and no commit with
// another subject.
func TestMadeByQuietCommand(t *testing.T) {
	const other = "bbbbbbbb-0000-4000-8000-00000000000b"
	for _, tt := range []struct {
		name, command string
		at            int // the second of the commit; the command runs from 3 to 6
		twice         bool
		want          []string
	}{
		{"while it ran", "git commit -q -m 'by one'", 5, false, []string{"by one " + sidA + " command"}},
		{"before", "git commit -q -m 'by one'", 2, false, nil},
		{"behind", "git commit -q -m 'by one'", 8, false, nil},
		{"another subject", "git commit -q -m 'of one'", 5, false, nil},
		{"no commit", "grep -r 'by one'", 5, false, nil},
		{"asked of two", "git commit -q -m 'by one'", 5, true, nil},
	} {
		for _, imported := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, ", imported ", imported), func(t *testing.T) {
				w := newWorld(t)
				if tt.at < 3 {
					w.commit(tt.at, "by one", "one", "1")
				}
				for _, id := range []string{sidA, other}[:map[bool]int{false: 1, true: 2}[tt.twice]] {
					c := claudeScribe{id}
					c.ask(w, 0, "commit what is there, "+id)
					c.calls(w, 3, tt.command)
					c.ends(w, 6, "")
					c.say(w, 7, "done")
				}
				if tt.at >= 3 {
					w.commit(tt.at, "by one", "one", "1")
				}
				if w.commit(10, "by hand", "hand", "2"); imported {
					w.imports()
				} else {
					w.at(10)
					w.capture()
				}
				harness.Equal(t, "made", tt.want, w.makers())
			})
		}
	}
}

// TestMadeBehindACommit: a call that has ended has git make no further commit, also where nothing was said behind it.
func TestMadeBehindACommit(t *testing.T) {
	for name, a := range map[string]committer{
		"claude": claudeScribe{sidA}, "codex": codexScribe{sidA},
		"opencode": openCodeScribe{"opencode", "ses_one"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a.begin(w, 0)
			a.ask(w, 0, "commit what is there")
			a.calls(w, 3, "git commit -m 'by one'")
			sha := w.commit(4, "by one", "one", "1")
			w.at(4)
			w.capture()
			a.ends(w, 5, fmt.Sprintf("[main %.7s] by one\n", sha))
			w.commit(9, "by hand", "hand", "2")
			w.at(9)
			w.capture()
			harness.Equal(t, "made", []string{"by one " + a.native() + " call"}, w.makers())
		})
	}
}
