package materialize_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	mallory = "mallory@evil.example"
	eve     = "eve@evil.example"
	branch  = "refs/heads/rekal/"
)

// dated appends an entry to the ledger of an author as it was fetched, with a segment and a commit of any time.
func (w *world) dated(email string, said, committed time.Time, e session.Entry) {
	w.t.Helper()
	l, err := ledger.OpenOwn(w.repo, git.Signature{Name: "Somebody", Email: email, When: committed}, w.rand)
	if err != nil {
		w.t.Fatal(err)
	}
	if e.Checkpoint != nil {
		e.Checkpoint.TS = said
	}
	clean, _, err := redact.New().Apply(w.t.Context(), e)
	if err != nil {
		w.t.Fatal(err)
	}
	ref := "refs/rekal/origin/" + email
	tip, err := w.repo.Ref(ref)
	if err == nil {
		w.point(l.Ref(), tip)
	}
	if tip, err = l.Append(w.t.Context(), tip, []ledger.Record{{Entry: clean, TS: said}}); err != nil {
		w.t.Fatal(err)
	}
	w.point(ref, tip)
	runGit(w.t, w.dir, "update-ref", "-d", l.Ref())
}

// forged is what a ledger says in the name of another's session or memory.
func forged(email string, s session.Session, note session.Memory) session.Entry {
	s.Turns = []session.Turn{{Role: session.RoleHuman, TS: s.StartedAt, Content: "forged by " + email}}
	s.ToolCalls, note.Content = nil, "forged note by "+email
	return session.Entry{
		Checkpoint: commit("6", email, "M x.go"), Sessions: []session.Session{s},
		Memories: []session.Memory{note},
	}
}

// texts are who says what by which ID.
func (w *world) texts(m *materialize.Materializer) []string {
	w.t.Helper()
	return w.data(m, `SELECT id, user_email AS by, content FROM (
		SELECT s.id, s.user_email, t.content FROM turns t JOIN sessions s ON s.id = t.session_id
		UNION ALL SELECT id, user_email, content FROM memories) ORDER BY ALL`)
}

func text(id, by, content string) string {
	return fmt.Sprintf(`{"id":%q,"by":%q,"content":%q}`, id, by, content)
}

// attacks are ways to name somebody else's session, which began at dawn and was captured 20 minutes later.
var attacks = []struct {
	name            string
	said, committed time.Time
	taken           bool // in the clones of those who were not there
}{
	{"later", later(40), later(40), false},
	{"1970, committed today", time.Unix(1000, 0), later(40), false},
	{"1970", time.Unix(1000, 0), time.Unix(1000, 0), false},
	{"the day before the day before", later(-2881), later(-2881), false},
	{"just before, committed a month later", later(10), later(43_200), false},
	{"far ahead of its commit", later(43_200), later(40), false},
	{"2999", time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC), false},
	{"just before", later(10), later(10), true},
}

// Whatever somebody's ledger says by the ID of my session, mine is called so here; elsewhere, too, unless all
// of the other's dates are forged to fit. What I purge stays purged, and nobody is asked about it but me.
func TestNobodyTakesAnID(t *testing.T)      { nobodyTakes(t, "1970, committed today", "just before") }
func TestNightNobodyTakesAnID(t *testing.T) { nobodyTakes(t) }

// nobodyTakes tries the attacks of some names, or all in both ways.
func nobodyTakes(t *testing.T, some ...string) {
	for i, attack := range attacks {
		for _, mine := range []bool{true, false} {
			if len(some) > 0 && (mine == attack.taken || !slices.Contains(some, attack.name)) {
				continue
			}
			late := (i%2 == 0) == mine // her ledger comes after the others
			t.Run(fmt.Sprintf("%s, mine %t, late %t", attack.name, mine, late), func(t *testing.T) {
				w := newWorld(t)
				w.now = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) // whatever was committed has come
				m := w.materializer()
				s, note := chat("one", 0, "human hello", "Edit a.go"), memory(15, "note", "hello")
				steps := []func(){
					func() {
						w.append(alice, 20, session.Entry{
							Checkpoint: commit("1", alice, "M a.go"), Sessions: []session.Session{s},
							Memories: []session.Memory{note},
						})
						w.append(alice, 30, purge(1, s.ID, note.ID))
						if !mine {
							w.pastRemote(alice)
						}
					},
					func() {
						w.dated(mallory, attack.said, attack.committed, forged(mallory, s, note))
						w.dated(mallory, attack.said, attack.committed, restore(9, s.ID, note.ID))
						w.dated(eve, later(45), later(45), forged(eve, s, note))
					},
				}
				if late {
					slices.Reverse(steps)
				}
				for _, step := range steps {
					step()
					w.catchUp(m)
				}
				var want, hers []string
				for _, item := range []struct{ id, forged string }{{s.ID, "forged by "}, {note.ID, "forged note by "}} {
					names := map[string]string{
						mallory: session.IDOfOthers(item.id, branch+mallory),
						eve:     session.IDOfOthers(item.id, branch+eve), alice: item.id,
					}
					if attack.taken && !mine {
						names[mallory], names[alice] = item.id, session.IDOfOthers(item.id, branch+alice)
					}
					want = append(want, text(names[alice], alice, "hello"), text(names[mallory], mallory, item.forged+mallory),
						text(names[eve], eve, item.forged+eve))
					hers = append(hers, names[alice])
				}
				slices.Sort(want)
				harness.Equal(t, "who says what", want, w.texts(m))
				harness.Equal(t, "purged", hers, w.purgedIn(m))
				same(t, "lived", w.rebuilt(), w.catchUp(m))
			})
		}
	}
}

// Who takes an ID, and the one that its owner falls back on, takes nothing more, and puts no words into anybody's
// mouth.
func TestNobodyTakesTheOtherID(t *testing.T) {
	w := newWorld(t)
	s, note := chat("one", 0, "human hello"), memory(15, "note", "hello")
	child := chat("child", 1, "human hello")
	child.Parent = s.ID
	w.append(alice, 20, session.Entry{
		Checkpoint: commit("1", alice), Sessions: []session.Session{s, child},
		Memories: []session.Memory{note},
	})
	w.pastRemote(alice)
	m := w.materializer()
	w.catchUp(m)
	w.dated(mallory, later(10), later(10), forged(mallory, s, note))
	w.catchUp(m)
	other, otherNote := s, note
	other.ID, otherNote.ID = session.IDOfOthers(s.ID, branch+alice), session.IDOfOthers(note.ID, branch+alice)
	w.dated(eve, later(10), later(10), forged(eve, other, otherNote))
	w.dated(mallory, later(11), later(11), forged(mallory, other, otherNote))
	same(t, "lived", w.rebuilt(), w.catchUp(m))
	for _, id := range []string{other.ID, otherNote.ID} {
		if want := text(id, alice, "hello"); !slices.Contains(w.texts(m), want) {
			t.Errorf("%q, without %s", w.texts(m), want)
		}
	}
	harness.Equal(t, "her child's parent", []string{fmt.Sprintf(`{"parent_session_id":%q}`, other.ID)},
		w.data(m, `SELECT parent_session_id FROM sessions WHERE native_id = 'child'`))
}

// Who points at somebody else's commits does not come to own what is said there.
func TestNobodyClaimsByPointing(t *testing.T) {
	w := newWorld(t)
	s, note := chat("one", 0, "human hello"), memory(15, "note", "hello")
	w.append(alice, 20, session.Entry{Sessions: []session.Session{s}}, session.Entry{Memories: []session.Memory{note}})
	w.pastRemote(alice)
	w.point(evil, w.tipOf(there)) // whose name comes first
	for _, id := range []string{s.ID, note.ID} {
		if want, got := text(id, alice, "hello"), w.texts(w.materializer()); !slices.Contains(got, want) {
			t.Errorf("%q, without %s", got, want)
		}
	}
}

// A purge by the name that somebody's own session had when another ledger had taken the ID counts still.
func TestPurgeByTheOtherID(t *testing.T) {
	w := newWorld(t)
	s := chat("one", 0, "human hello")
	w.append(alice, 20, entryOf(commit("1", alice), s))
	w.append(alice, 30, purge(1, session.IDOfOthers(s.ID, branch+alice)))
	w.dated(mallory, time.Unix(1000, 0), later(40), forged(mallory, s, memory(1, "x", "y")))
	harness.Equal(t, "purged", []string{s.ID}, w.purgedIn(w.materializer()))
}

// Where a history is cut off, what stands behind the cut counts as it is dated.
func TestClaimsBehindACut(t *testing.T) {
	w := newWorld(t)
	s := chat("one", 0, "human hello")
	w.append(alice, 20, entryOf(commit("1", alice), s))
	w.pastRemote(alice)
	for _, days := range []int{40, 41} {
		w.dated(alice, later(days*1440), later(days*1440),
			entryOf(commit("2", alice), chat(fmt.Sprint(days), days*1440, "human bye")))
	}
	w.point("refs/heads/hers", w.tipOf(there))
	dir := filepath.Join(t.TempDir(), "clone")
	runGit(t, w.dir, "clone", "-q", "--depth=1", "--branch=hers", "file://"+w.dir, dir)
	clone := openWorld(t, dir)
	clone.now = later(60 * 1440)
	clone.point(there, clone.tipOf("refs/heads/hers"))
	clone.dated(mallory, later(50*1440), later(50*1440), forged(mallory, s, memory(1, "x", "y")))
	if want, got := text(s.ID, alice, "hello"), clone.texts(clone.materializer()); !slices.Contains(got, want) {
		t.Errorf("%q, without %s", got, want)
	}
}

// Whose an ID is does not depend on how many cores read the ledgers.
func TestClaimsOnAllCores(t *testing.T) {
	w := newWorld(t)
	m, note, much := w.materializer(), memory(15, "note", "hello"), strings.Repeat("and more ", session.MaxTurn/9)
	w.append(alice, 19, forged(alice, chat("0", 0, "human hello"), note))
	w.catchUp(m)
	for i := range 5 {
		s := chat(fmt.Sprint(i), i, "human "+much, "assistant "+much)
		w.append(bob, 20+7*i%4, entryOf(nil, s))
		w.append(alice, 20+5*i%7, forged(alice, s, note))
		w.dated(mallory, later(20+i%2), later(20+i), forged(mallory, s, note))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	lived := w.catchUp(m)
	many := w.rebuilt()
	runtime.GOMAXPROCS(1)
	one := w.rebuilt()
	same(t, "lived", one, lived)
	same(t, "on four cores", one, many)
}
