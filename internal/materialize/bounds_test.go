package materialize_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// small are limits that tests reach.
func small() materialize.Limits {
	return materialize.Limits{
		Bounds: ledger.Bounds{Entry: 64 << 10, Ledger: 128 << 10}, Step: 1 << 20, Recall: 1 << 20,
	}
}

// bounded are tables with limits.
func (w *world) bounded(l materialize.Limits, dir ...string) *materialize.Materializer {
	m := w.materializer(dir...)
	m.Limits = l
	return m
}

// said is a segment of one session, with a turn for each text.
func said(native string, minutes int, texts ...string) string {
	s := chat(native, minutes, "human "+native)
	var b strings.Builder
	b.WriteString(sessionLine(s))
	for i, text := range texts {
		fmt.Fprintf(&b, `{"t":"turn","i":%d,"role":"human","ts":%q,"content":%q}`+"\n", i, stamp(later(minutes)), text)
	}
	return b.String()
}

func stamp(ts time.Time) string { return ts.Format("2006-01-02T15:04:05.000Z") }

// segmentAt is the name of a segment, n of those at a time.
func segmentAt(n int) string { return fmt.Sprintf("segments/2026/03/04/01KJWGYKR%017d.ndjson", n) }

// repeated is a text that packs well.
func repeated(n, bytes int) string {
	return strings.Repeat(fmt.Sprintf("line %d once more ", n), bytes/16+1)[:bytes]
}

// random is one that does not.
func random(seed uint64, bytes int) string {
	r, b := rand.New(rand.NewPCG(seed, 0)), make([]byte, bytes)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ "[r.IntN(63)]
	}
	return string(b)
}

// hostile are pushes to a branch, each a list of commits, that are more than anybody is to read.
var hostile = map[string]func() []map[string]string{
	"much that packs well": func() (out []map[string]string) {
		for i := range 8 {
			out = append(out, map[string]string{segmentAt(10 + i): said(fmt.Sprint("bomb", i), 30+i, repeated(i, 20<<10))})
		}
		return out
	},
	"little by little": func() (out []map[string]string) {
		for i := range 30 {
			out = append(out, map[string]string{segmentAt(10 + i): said(fmt.Sprint("drop", i), 30+i, repeated(i, 6<<10))})
		}
		return out
	},
	"one text under many names": func() (out []map[string]string) {
		text := said("twin", 30, random(1, 30<<10))
		for i := range 20 {
			out = append(out, map[string]string{segmentAt(10 + i): text})
		}
		return out
	},
	"new words without end": func() (out []map[string]string) {
		for i := range 12 {
			out = append(out, map[string]string{segmentAt(10 + i): said(fmt.Sprint("words", i), 30+i,
				random(uint64(i), 30<<10))})
		}
		return out
	},
	"an entry of many segments": func() []map[string]string {
		files := map[string]string{}
		for i := range 5 {
			name := segmentAt(10)
			if i > 0 {
				name = strings.Replace(name, ".ndjson", fmt.Sprintf(".%d.ndjson", i), 1)
			}
			files[name] = said(fmt.Sprint("part", i), 30+i, random(uint64(i), 20<<10))
		}
		return []map[string]string{files}
	},
	"entries of one commit": func() []map[string]string {
		files := map[string]string{}
		for i := range 30 {
			files[segmentAt(10+i)] = said(fmt.Sprint("entry", i), 30+i, random(uint64(i), 20<<10))
		}
		return []map[string]string{files}
	},
	"a thousand segments and one": func() []map[string]string {
		files := map[string]string{}
		for i := range 1001 {
			files[segmentAt(10+i)] = said(fmt.Sprint("s", i), 30, fmt.Sprint(i))
		}
		return []map[string]string{files}
	},
}

// team is a repository with her own ledger, and those of bob and carol, which were fetched.
func team(t *testing.T) *world {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("hers", 0, "human hello")))
	w.arrives(20, entryOf(commit("2", bob), chat("his", 11, "human hello")))
	carol := "carol@example.com"
	w.point("refs/rekal/origin/"+carol, w.append(carol, 25,
		entryOf(commit("3", carol), chat("carols", 12, "human hello"))))
	runGit(t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+carol)
	return w
}

func (w *world) sessions(m *materialize.Materializer) []string {
	w.t.Helper()
	return w.data(m, `SELECT native_id AS s FROM sessions WHERE native_id IN ('hers', 'his', 'carols', 'more') ORDER BY s`)
}

// What somebody pushes to a branch freezes nobody: what he said before, what others said, and what is one's own is
// found, one line says what is left out, and it is not tried again. The tables are the same however it arrived.
func TestLongLedgersBeyondTheBounds(t *testing.T) {
	for name, pushes := range hostile {
		t.Run(name, func(t *testing.T) {
			w := team(t)
			m, stepwise := w.bounded(small()), w.bounded(small(), "stepwise")
			w.catchUp(m)
			for _, files := range pushes() {
				w.raw(bobs, files)
				w.catchUp(stepwise)
			}
			w.warnings = nil
			w.append(alice, 50, entryOf(commit("4", alice), chat("more", 40, "human hello")))
			want := []string{`{"s":"carols"}`, `{"s":"hers"}`, `{"s":"his"}`, `{"s":"more"}`}
			harness.Equal(t, "sessions", want, w.sessions(m))
			w.warnedOnce("skipped what " + bobs + " holds behind commit ")
			before := w.files(m)
			harness.Equal(t, "once more", want, w.sessions(m))
			w.warnedOnce("skipped what " + bobs)
			harness.Equal(t, "files", before, w.files(m))
			lived := w.dump(m)
			same(t, "rebuilt", w.catchUp(w.bounded(small(), "anew")), lived)
			same(t, "step by step", w.catchUp(stepwise), lived)
			var left int
			if _, err := fmt.Sscanf(w.data(m, `SELECT sum(length(content))::BIGINT AS n FROM turns`)[0], `{"n":%d}`,
				&left); err != nil || left > 128<<10 {
				t.Errorf("%d bytes of it are there, %v", left, err)
			}
		})
	}
}

// Where many ledgers are left out, an answer comes with a few lines.
func TestLongManyLedgersLeftOut(t *testing.T) {
	w := team(t)
	m := w.bounded(small())
	w.catchUp(m)
	for i := range 6 {
		email := fmt.Sprintf("p%d@example.com", i)
		w.point("refs/rekal/origin/"+email, w.append(email, 26+i, entryOf(commit("5", email), chat(email, i, "human hello"))))
		runGit(t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+email)
		for _, files := range hostile["much that packs well"]() {
			w.raw(fmt.Sprintf("refs/rekal/origin/p%d@example.com", i), files)
		}
	}
	w.warnings = nil
	w.sessions(m)
	if n := len(w.warnings); n != 4 || !strings.Contains(w.warnings[n-1],
		"skipped 3 more ledgers (git rekal index says which, and why)") {
		t.Errorf("warned %q", w.warnings)
	}
	w.warnings = nil
	if w.catchUp(m); len(w.warnings) != 6 {
		t.Errorf("asked, warned %q", w.warnings)
	}
}

// One's own ledger is read whatever its size.
func TestOwnLedgerHasNoBounds(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("hers", 0, "human hello")))
	for _, files := range hostile["much that packs well"]() {
		w.raw("refs/heads/rekal/"+alice, files)
	}
	m := w.bounded(small())
	harness.Equal(t, "sessions", 9, w.count(m))
	w.noWarnings()
}

// What is new and much waits for somebody who asks for it, a step at a time, and is there in the end as if it had been
// read at once.
func TestStepsOfALedger(t *testing.T) {
	w := team(t)
	limits := small()
	limits.Bounds = ledger.DefaultBounds()
	limits.Step, limits.Recall = 100<<10, 40<<10
	m := w.bounded(limits)
	w.catchUp(m)
	const texts = 8
	for i := range texts {
		w.raw(bobs, map[string]string{segmentAt(10 + i): said(fmt.Sprint("long", i), 30+i, random(uint64(i), 30<<10))})
	}
	w.append(alice, 50, entryOf(commit("4", alice), chat("more", 40, "human hello")))
	long := func() []string {
		return w.data(m, `SELECT count(*) AS n FROM sessions WHERE starts_with(native_id, 'long')`)
	}
	for range 2 {
		harness.Equal(t, "a recall", []string{`{"n":1}`}, long())
		w.warnedOnce("more is new than is read at once")
	}
	harness.Equal(t, "one's own", []string{`{"n":1}`},
		w.data(m, `SELECT count(*) AS n FROM sessions WHERE native_id = 'more'`))
	for _, n := range []int{4, 7, texts} {
		w.warnings = nil
		w.catchUp(m)
		harness.Equal(t, "a catch-up", []string{fmt.Sprintf(`{"n":%d}`, n)}, long())
	}
	w.noWarnings()
	same(t, "rebuilt", w.rebuilt(), w.dump(m))
	// A rebuild that is due goes as far as the tables did, and a step further.
	w.raw(bobs, map[string]string{segmentAt(1): said("early", 5, "turns that come late")})
	w.catchUp(m)
	same(t, "rebuilt with what came late", w.rebuilt(), w.dump(m))
	w.noWarnings()
}

// A ledger that the user leaves out is as if it were not there, and back when he takes it in.
func TestIgnoredLedgers(t *testing.T) {
	for _, glob := range []string{bob, "BOB@*", "refs/rekal/*/bob@example.com", "refs/rekal/origin/b*"} {
		w := team(t)
		m := w.materializer()
		all := w.catchUp(m)
		m.Ignore = func() (ledger.Ignore, error) { return ledger.Ignore{"nobody@*", glob}, nil }
		harness.Equal(t, glob, []string{`{"s":"carols"}`, `{"s":"hers"}`}, w.sessions(m))
		m.Ignore = func() (ledger.Ignore, error) { return ledger.Ignore{"*"}, nil }
		harness.Equal(t, "only one's own", []string{`{"s":"hers"}`}, w.sessions(m))
		m.Ignore = nil
		same(t, "taken in", all, w.catchUp(m))
		w.noWarnings()
	}
}

// Nobody said today what is dated tomorrow: it is believed to be as late as its commit, and a commit as late as now.
func TestTimesAreNotLaterThanTheirCommit(t *testing.T) {
	future := time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
	text := fmt.Sprintf(`{"t":"checkpoint","git_sha":%q,"git_branch":"main","user_email":%q,"ts":%q,"actor_type":"human","via":"commit"}`+"\n",
		strings.Repeat("7", 40), bob, stamp(future)) +
		strings.ReplaceAll(said("late", 30, "first", "second"), stamp(later(30)), stamp(future)) +
		fmt.Sprintf(`{"t":"memory","id":%q,"title":"late","content":"late","source":"x","ts":%q,"actor_type":"human"}`+"\n",
			session.NewMemoryID(future, bob, "late", "late"), stamp(future))
	name := "segments/2999/01/01/" + session.NewID(future, "a", "segment") + ".ndjson"
	for _, c := range []struct {
		name      string
		made, now time.Time
		want      string
	}{
		{"an honest commit", later(40), later(1000), "2026-03-04 10:40:00"},
		{"a clock that is ahead", later(40), later(60), "2026-03-04 10:40:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := team(t)
			w.point(bobs, w.again(w.raw(bobs, map[string]string{name: text}), c.made))
			m := w.materializer()
			m.Now = func() time.Time { return c.now }
			for what, from := range map[string]string{
				"checkpoint": `max(ts) AS ts FROM checkpoints`, "memory": `ts FROM memories`, "turns": `max(ts) AS ts FROM turns`,
				"session":   `started_at AS ts FROM sessions WHERE native_id = 'late'`,
				"captured":  `captured_at AS ts FROM sessions WHERE native_id = 'late'`,
				"last turn": `last_turn_at AS ts FROM sessions WHERE native_id = 'late'`,
			} {
				harness.Equal(t, what, []string{fmt.Sprintf(`{"ts":%q}`, c.want)},
					w.data(m, `SELECT ts::VARCHAR AS ts FROM (SELECT `+from+`)`))
			}
			harness.Equal(t, "turns", []string{`{"n":2}`},
				w.data(m, `SELECT count(*) AS n FROM turns t JOIN sessions s ON s.id = t.session_id WHERE native_id = 'late'`))
			w.noWarnings()
		})
	}
}

// What was committed in the future is not read before that comes.
func TestCommitsOfTheFuture(t *testing.T) {
	w := team(t)
	future := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	honest := w.raw(bobs, map[string]string{segmentAt(10): said("before", 20, "yesterday")})
	w.point(bobs, w.again(w.raw(bobs, map[string]string{segmentAt(11): said("late", 30, "tomorrow")}), future))
	m := w.materializer()
	now := later(1000)
	m.Now = func() time.Time { return now }
	there := func() []string {
		return w.data(m, `SELECT native_id AS id FROM sessions WHERE native_id IN ('before', 'late') ORDER BY 1`)
	}
	harness.Equal(t, "read", []string{`{"id":"before"}`}, there())
	if len(w.warnings) != 1 || !strings.Contains(w.warnings[0],
		fmt.Sprintf("behind commit %.12s: what was committed on 2099-01-01 waits until then", honest)) {
		t.Errorf("warned %q", w.warnings)
	}
	now = future
	if err := m.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "read when it has come", []string{`{"id":"before"}`, `{"id":"late"}`}, there())
}

// A date in the future, by a wrong clock or by anybody's one commit, holds up only what nobody built on: what comes
// later counts, in its order, as of a moment, too, and each reader has the same tables.
func TestCommitsBehindTheFuture(t *testing.T) {
	w := team(t)
	future := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	m := w.materializer()
	const long = `SELECT content AS c FROM turns t JOIN sessions s ON s.id = t.session_id WHERE native_id = 'long' ORDER BY turn_index`
	turns := func(m *materialize.Materializer) []string { return w.data(m, long) }
	w.point(bobs, w.again(w.raw(bobs, map[string]string{segmentAt(10): said("long", 20, "one")}), later(20)))
	harness.Equal(t, "before", []string{`{"c":"one"}`}, turns(m))
	name := "segments/2099/01/01/" + session.NewID(future, "a", "segment") + ".ndjson"
	w.point(bobs, w.again(w.raw(bobs, map[string]string{name: said("long", 20, "one", "two")}), future))
	harness.Equal(t, "at the tip", []string{`{"c":"one"}`}, turns(m))
	w.warnings = nil
	w.point(bobs, w.again(w.raw(bobs, map[string]string{segmentAt(40): said("long", 20, "one", "two", "three")}),
		later(40)))
	all := []string{`{"c":"one"}`, `{"c":"two"}`, `{"c":"three"}`}
	harness.Equal(t, "behind it", all, turns(m))
	w.point(bobs, w.again(w.raw(bobs, map[string]string{segmentAt(50): said("other", 50, "more")}), later(50)))
	same(t, "rebuilt", w.rebuilt(), w.catchUp(m))
	w.noWarnings()
	harness.Equal(t, "as of a moment", all, w.dataAt(m, ledger.Moment{Ref: "refs/heads/rekal/nobody", Until: later(45)},
		long))
}

// A day ahead is a clock's business, and stands as it is.
func TestTimesWithinADay(t *testing.T) {
	w := team(t)
	w.point(bobs, w.again(w.raw(bobs, map[string]string{segmentAt(10): said("near", 23*60, "tomorrow")}), dawn))
	harness.Equal(t, "a turn", []string{`{"ts":"2026-03-05 09:00:00"}`},
		w.data(w.materializer(), `SELECT ts::VARCHAR AS ts FROM turns WHERE content = 'tomorrow'`))
}

// again is a commit with another date.
func (w *world) again(id git.OID, when time.Time) git.OID {
	w.t.Helper()
	c, err := w.repo.Commit(id)
	if err == nil {
		id, err = w.repo.WriteCommit(git.Draft{
			Base: c.Tree, Parents: c.Parents, Message: "again\n", Author: git.Signature{Name: "Bob", Email: bob, When: when},
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}
