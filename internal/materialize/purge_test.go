package materialize_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func purge(n int, ids ...string) session.Entry {
	var e session.Entry
	for _, id := range ids {
		e.Purges = append(e.Purges, session.Mark{ID: id, N: n, TS: dawn})
	}
	return e
}

func restore(n int, ids ...string) session.Entry {
	e := purge(n, ids...)
	return session.Entry{Restores: e.Purges}
}

func memory(minutes int, title, content string) session.Memory {
	return session.Memory{
		ID: session.NewID(later(minutes), title, content), Title: title, Content: content, Source: "manual",
		TS: later(minutes), ActorType: session.ActorHuman,
	}
}

func remember(minutes int, title, content string) session.Entry {
	return session.Entry{Memories: []session.Memory{memory(minutes, title, content)}}
}

// pastRemote takes an author's ledger from a branch of one's own to one that was fetched.
func (w *world) pastRemote(email string) {
	ref := w.own(email).Ref()
	oid, err := w.repo.Ref(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	w.point("refs/rekal/origin/"+email, oid)
	runGit(w.t, w.dir, "update-ref", "-d", ref)
}

// purgedIn is what is listed as purged, which is the same in both databases.
func (w *world) purgedIn(m *materialize.Materializer) []string {
	w.t.Helper()
	ids, err := m.Purged(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	harness.Equal(w.t, "in both", w.index(m, "SELECT id FROM purged ORDER BY id"),
		w.data(m, "SELECT id FROM purged ORDER BY id"))
	return ids
}

// What is purged is found no more and counts nowhere; a restore brings it back as it was, whatever
// came meanwhile.
func TestLongPurgeAndRestore(t *testing.T) {
	w := newWorld(t)
	parent, _, _ := w.story()
	note := memory(50, "Leeway of tokens", "tokens have a leeway of 30 seconds, for the clock of the auth server")
	w.append(alice, 50, session.Entry{Memories: []session.Memory{note}})
	w.crowd(8)
	m := w.materializer()
	asked := append(slices.Clone(questions), "leeway of tokens", "clock")
	before, found := w.catchUp(m), w.found(m, asked...)
	if hits := found["leeway of tokens"]; len(hits) == 0 || hits[0].Session != note.ID {
		t.Fatalf("a memory is not found: %v", hits)
	}

	w.append(alice, 500, purge(1, parent.ID, note.ID))
	harness.Equal(t, "lists", []string{parent.ID, note.ID}, w.purgedIn(m))
	for q, hits := range w.found(m, asked...) {
		for _, h := range hits {
			if h.Session == parent.ID || h.Session == note.ID {
				t.Errorf("%s: purged, and found", q)
			}
		}
	}
	harness.Equal(t, "pairs of files", 0, len(w.index(m, `FROM file_cooccurrence WHERE file_b = 'src/refresh.go'`)))
	harness.Equal(t, "statistics", []string{`{"session_count":5,"turn_count":18}`},
		w.index(m, `SELECT session_count, turn_count FROM index_state`))
	same(t, "purged", w.rebuilt(), w.catchUp(m))

	w.append(alice, 510, restore(2, parent.ID, note.ID))
	after := w.catchUp(m)
	same(t, "restored", w.rebuilt(), after)
	harness.Equal(t, "scores", found, w.found(m, asked...))
	for _, t := range []dumped{before, after} { // these say what happened
		for _, name := range []string{"marks", "cursor", "entries"} {
			delete(t, name)
		}
	}
	same(t, "as before", before, after)
	w.noWarnings()
}

// Whose mark counts where, and which of several.
func TestLongWhichMarksCount(t *testing.T) {
	type mark struct {
		by string
		e  func(n int, ids ...string) session.Entry
		n  int
	}
	for _, c := range []struct {
		name   string
		marks  []mark
		remote []string // authors whose ledgers were fetched; alice's is the session
		want   bool
	}{
		{"the author's own", []mark{{alice, purge, 1}}, nil, true},
		{"the author's, elsewhere", []mark{{alice, purge, 1}}, []string{alice}, true},
		{"one's own, of another's session", []mark{{bob, purge, 1}}, []string{alice}, true},
		{"somebody else's", []mark{{bob, purge, 9}}, []string{bob}, false},
		{"somebody else's restore", []mark{{alice, purge, 1}, {bob, restore, 9}}, []string{bob}, true},
		{"restored", []mark{{alice, purge, 1}, {alice, restore, 2}}, nil, false},
		{"the higher number, not the later one", []mark{{alice, restore, 2}, {alice, purge, 1}}, nil, false},
		{"a tie", []mark{{alice, purge, 3}, {alice, restore, 3}}, nil, true},
		{"a tie, the other way round", []mark{{alice, restore, 3}, {alice, purge, 3}}, nil, true},
		{
			"one's own, behind which the author restored what he had purged",
			[]mark{{alice, purge, 1}, {alice, restore, 2}, {bob, purge, 1}},
			[]string{alice},
			true,
		},
		{
			"and one's own restore",
			[]mark{{alice, purge, 1}, {alice, restore, 2}, {bob, purge, 1}, {bob, restore, 3}},
			[]string{alice},
			false,
		},
		{
			"one's own restore, and the author's purge behind it",
			[]mark{{alice, purge, 1}, {bob, restore, 2}, {alice, purge, 3}},
			[]string{alice},
			true,
		},
		{"one's own restore of what the author purged", []mark{{alice, purge, 1}, {bob, restore, 2}}, []string{alice}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := chat("one", 0, "human why")
			w.append(alice, 10, entryOf(commit("1", alice), s))
			w.append(bob, 11)
			for i, m := range c.marks {
				w.append(m.by, 20+i, m.e(m.n, s.ID))
			}
			for _, email := range c.remote {
				w.pastRemote(email)
			}
			m := w.materializer()
			harness.Equal(t, "purged", c.want, slices.Contains(w.purgedIn(m), s.ID))
			same(t, "lived", w.rebuilt(), w.catchUp(m))
			w.noWarnings()
		})
	}
}

// Ledgers with sessions, memories, purges and restores come in any order, in pieces: after each the tables
// are those of a rebuild, and so are the scores.
func TestNightMarksInAnyOrder(t *testing.T) {
	const entries, first = 90, 60 // what belongs before the first ones calls for a rebuild, which shows nothing
	w := newWorld(t)
	people := []string{alice, bob, "carol@example.com"}
	r := rand.New(rand.NewPCG(1, 2))
	tips, early := map[string][]git.OID{}, map[string]int{}
	var ids []string
	talk, owner := map[string]session.Session{}, map[string]string{}
	n := map[string]int{}
	for i := range entries {
		email := people[r.IntN(len(people))]
		var e session.Entry
		switch topic, dice := topics[r.IntN(len(topics))], r.IntN(12); {
		case i < 6 || dice < 4:
			s := chat(fmt.Sprint("s", i), 10*i, "human "+topic, fmt.Sprintf("Edit src/f%d.go", i%5),
				fmt.Sprintf("Read src/f%d.go", (i+1)%5), "assistant yes", "human more of "+topic, "Edit go.mod")
			talk[s.ID], owner[s.ID], ids = s, email, append(ids, s.ID)
			e = entryOf(commit("1", email, "M go.mod"), until(s, 2, 2))
		case dice < 6:
			e = remember(10*i, topic, fmt.Sprintf("we decided: %s, %d", topic, i))
			if r.IntN(3) == 0 { // by an ID that is somebody's, or will have been
				e.Memories[0].ID = ids[len(ids)-1-r.IntN(3)]
			} else {
				owner[e.Memories[0].ID], ids = email, append(ids, e.Memories[0].ID)
			}
		case dice < 8: // a session goes on, mostly one that is purged
			open := slices.SortedFunc(maps.Keys(talk), func(a, b string) int {
				return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
			})
			if len(open) > 0 {
				email = owner[open[0]]
				e = entryOf(commit("2", email), from(talk[open[0]], 2, 2))
				delete(talk, open[0])
			}
		default:
			id := ids[len(ids)-1-r.IntN(min(9, len(ids)))]
			if n[id]++; r.IntN(4) > 0 {
				email = owner[id]
			}
			if e = purge(n[id], id); r.IntN(4) == 0 {
				e = restore(n[id], id)
			}
		}
		tips[email] = append(tips[email], w.append(email, 10*i+9, e))
		if i < first {
			early[email]++
		}
	}
	for _, email := range people {
		runGit(t, w.dir, "update-ref", "-d", w.own(email).Ref())
	}
	purged := 0
	for round := range 2 {
		for _, email := range people {
			for _, ref := range []string{w.own(email).Ref(), "refs/rekal/origin/" + email} {
				runGit(t, w.dir, "update-ref", "-d", ref)
			}
		}
		m := w.materializer(fmt.Sprint(round))
		at := map[string]int{}
		arrive := func(email string, n int) {
			at[email] = min(len(tips[email]), at[email]+n)
			ref := "refs/rekal/origin/" + email
			if email == people[round%len(people)] {
				ref = w.own(email).Ref()
			}
			w.point(ref, tips[email][at[email]-1])
		}
		check := func() dumped {
			lived, fresh := w.catchUp(m), w.materializer("anew", fmt.Sprint(round, at))
			same(t, fmt.Sprint("round ", round, " at ", at), w.catchUp(fresh), lived)
			harness.Equal(t, "scores", w.found(fresh, topics...), w.found(m, topics...))
			return lived
		}
		for _, email := range people {
			arrive(email, early[email])
		}
		check()
		for at[people[0]]+at[people[1]]+at[people[2]] < entries {
			arrive(people[r.IntN(len(people))], 1+r.IntN(3))
			if r.IntN(2) == 0 {
				check()
			}
		}
		lived := check()
		purged += len(lived["purged"])
	}
	if purged == 0 {
		t.Error("nothing was purged")
	}
	w.noWarnings()
}

// An ID belongs to its first author: nobody can add to another's memory, or put one in the place of
// a session. What the author says of it a second time is dropped.
func TestLongMemoriesThatRepeatAnID(t *testing.T) {
	w := newWorld(t)
	s := chat("one", 0, "human why do tokens expire")
	first := memory(5, "first", "the first text")
	again, thief, talk := first, memory(30, "thief", "instead of a session"),
		chat("two", 0, "human in the place of a memory")
	again.Content, thief.ID, talk.ID = "another text", s.ID, first.ID
	theirs := session.Entry{Memories: []session.Memory{again, thief}}
	w.append(alice, 10, entryOf(commit("1", alice), s), session.Entry{Memories: []session.Memory{first}})
	w.append(bob, 20, theirs, entryOf(commit("2", bob), talk))
	tip := w.append(alice, 30, theirs, entryOf(commit("3", alice), talk))
	text := func(lines ...string) (out []string) {
		for _, l := range lines {
			out = append(out, fmt.Sprintf(`{"content":%q}`, l))
		}
		return out
	}
	m, late := w.materializer("lived"), w.materializer("late")
	lived := w.catchUp(m)
	harness.Equal(t, "memories", text("another text", "instead of a session", "the first text"),
		w.data(m, "SELECT content FROM memories ORDER BY ALL"))
	harness.Equal(t, "of their IDs", text("the first text"),
		w.data(m, fmt.Sprintf("SELECT content FROM memories WHERE id IN ('%s', '%s')", s.ID, first.ID)))
	harness.Equal(t, "turns", text("why do tokens expire"), w.data(m, "SELECT content FROM turns ORDER BY ALL"))
	same(t, "lived", w.rebuilt(), lived)

	// What comes first may come late.
	runGit(t, w.dir, "update-ref", "-d", w.own(alice).Ref())
	w.catchUp(late)
	w.point(w.own(alice).Ref(), tip)
	same(t, "late", lived, w.catchUp(late))
}

// What comes late and belongs before something is not put behind it.
func TestLongMemoriesThatComeLate(t *testing.T) {
	t.Run("before one of the same ID", func(t *testing.T) {
		w := newWorld(t)
		first := memory(5, "first", "the first text")
		again := first
		again.Content = "another text"
		w.append(bob, 20, session.Entry{Memories: []session.Memory{again}})
		m := w.materializer()
		w.catchUp(m)
		w.append(alice, 10, session.Entry{Memories: []session.Memory{first}})
		same(t, "late", w.rebuilt(), w.catchUp(m))
	})
}

// What is purged before it has words to be found by is not found by those that it gets.
func TestLongPurgedBeforeItsFirstWord(t *testing.T) {
	w := newWorld(t)
	s := chat("one", 0, "human tokens", "Edit a.go", "Edit b.go")
	empty := until(s, 0, 0)
	empty.Title = ""
	w.append(alice, 10, entryOf(commit("1", alice), empty))
	w.append(alice, 20, purge(1, s.ID))
	m := w.materializer()
	harness.Equal(t, "purged", []string{s.ID}, w.purgedIn(m))
	w.append(alice, 30, entryOf(commit("2", alice), s))
	same(t, "lived", w.rebuilt(), w.catchUp(m))
	harness.Equal(t, "found", 0, len(w.found(m, "tokens")["tokens"]))
	harness.Equal(t, "pairs", 0, len(w.index(m, "FROM file_cooccurrence")))
}

// A moment has the marks that were made by then.
func TestMarksOfAMoment(t *testing.T) {
	w := newWorld(t)
	s := chat("one", 0, "human why")
	tips := []git.OID{
		w.append(alice, 10, entryOf(commit("1", alice), s)),
		w.append(alice, 20, purge(1, s.ID)),
		w.append(alice, 30, restore(2, s.ID)),
	}
	for i, want := range []int{0, 1, 0} {
		moment := ledger.Moment{Ref: w.own(alice).Ref(), OID: tips[i], Until: later(100)}
		harness.Equal(t, fmt.Sprint("moment ", i), want, len(w.dataAt(w.materializer(), moment, `SELECT id FROM purged`)))
	}
}
