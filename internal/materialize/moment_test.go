package materialize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// code makes a commit of code, as many minutes past dawn.
func (w *world) code(minutes int) string {
	w.t.Helper()
	at := git.Signature{Name: "S", Email: alice, When: later(minutes)}
	id, err := w.repo.WriteCommit(git.Draft{Message: "code\n", Author: at, Files: map[string][]byte{"a.go": nil}})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(id)
}

// A date, or a commit of code, also has what was imported later, turn by turn up to then; what was captured later, it
// has not. Tables that grew are tables that were made anew.
func TestMomentHasWhatWasImportedLater(t *testing.T) {
	w := newWorld(t)
	first, second := w.code(4), w.code(40)
	ended := chat("ended", 0, "human about parsers", "Edit a.go", "assistant well")
	goesOn := chat("goes on", 3, "human about lexers", "Edit a.go", "assistant well", "human and trees", "Edit late.go",
		"assistant well")
	began := chat("began", 30, "human about printers", "assistant well")
	captured := chat("captured", 1, "human about hooks", "assistant well")
	behind := func(sha string) *session.Checkpoint {
		cp := commit("0", alice, "M a.go")
		cp.GitSHA = sha
		return cp
	}
	w.append(alice, 60, entryOf(behind(second), captured))
	w.dated(bob, later(70), later(70), entryOf(nil, ended, goesOn, began))
	tie := func(sha string, s session.Session) session.Entry {
		cp := behind(sha)
		cp.UserEmail, cp.Via, cp.Links = bob, session.ViaImport, []session.Link{{Session: s.ID}}
		return entryOf(cp)
	}
	w.dated(bob, later(71), later(71), tie(first, goesOn))
	moment := ledger.Moment{Ref: here, Until: later(5), Imports: true}
	want := []string{
		`{"native_id":"ended","turns":2,"calls":1,"ties":0}`,
		`{"native_id":"goes on","turns":2,"calls":1,"ties":1}`,
	}
	ask := func(dir string) []string {
		return w.dataAt(w.materializer(dir), moment, `SELECT native_id, (SELECT count(*) FROM turns WHERE session_id = s.id) AS turns,
			(SELECT count(*) FROM tool_calls WHERE session_id = s.id) AS calls,
			(SELECT count(*) FROM checkpoint_sessions WHERE session_id = s.id) AS ties FROM sessions s ORDER BY native_id`)
	}
	harness.Equal(t, "then", want, ask("grown"))
	w.dated(bob, later(80), later(80), tie(second, ended))
	w.dated(bob, later(81), later(81), entryOf(nil, chat("again", 2, "human more", "assistant well")))
	want = append([]string{`{"native_id":"again","turns":2,"calls":0,"ties":0}`}, want...)
	harness.Equal(t, "grown", want, ask("grown"))
	harness.Equal(t, "anew", want, ask("anew"))
	w.noWarnings()
}

// What one batch was read for is looked up while the next one is read. Where git itself answers, both ask one process.
func TestLongMomentOfManyBatchesWithSHA256(t *testing.T) {
	p := harness.New(t)
	p.Init(p.Root, "--object-format=sha256")
	w := openWorld(t, p.Root)
	early := w.code(4)
	w.append(alice, 60, entryOf(nil, chat("began later", 30, "human about hooks", "assistant well")))
	long := "human " + strings.Repeat("a word of many that were said ", session.MaxTurn/32)
	const commits, looks = 5, 500
	for i := range commits {
		s := chat(fmt.Sprint("imported ", i), 1, long, long, long, long)
		e := entryOf(nil, s)
		for n := range looks {
			e.Wrote = append(e.Wrote, session.Wrote{
				GitSHA: early, Blob: strings.Repeat("ab", 32), Session: s.ID, Path: fmt.Sprint(n, ".go"),
				Lines: session.Ranges{{1, 2}}, TS: later(2),
			})
		}
		w.dated(bob, later(70+i), later(70+i), e)
	}
	moment := ledger.Moment{Ref: here, Until: later(5), Imports: true}
	harness.Equal(t, "then", []string{fmt.Sprintf(`{"sessions":%d,"wrote":%d}`, commits, commits*looks)},
		w.dataAt(w.materializer(), moment,
			`SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM wrote) AS wrote`))
	w.noWarnings()
}
