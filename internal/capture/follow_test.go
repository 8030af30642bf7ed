package capture

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// machines are two machines of one author, whose ledgers fork and are merged, in one
// repository.
type machines struct {
	t    *testing.T
	repo *git.Repo
	own  *ledger.Ledger
	dir  string
	now  time.Time
	told map[string]int // turns of a session so far, as the machine that tells it knows
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newMachines(t *testing.T) *machines {
	t.Helper()
	m := &machines{t: t, dir: t.TempDir(), now: noon, told: map[string]int{}}
	m.git("init", "-q")
	var err error
	if m.repo, err = git.Open(t.Context(), m.dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.repo.Close)
	who := git.Signature{Name: "Dev", Email: "dev@example.com", When: noon}
	if m.own, err = ledger.OpenOwn(m.repo, who, rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, err = m.own.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machines) git(args ...string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = m.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (m *machines) tip() git.OID {
	m.t.Helper()
	tip, err := m.own.Tip()
	if err != nil {
		m.t.Fatal(err)
	}
	return tip
}

// add appends an entry to a tip, some time later than the last one.
func (m *machines) add(tip git.OID, later time.Duration, e session.Entry) git.OID {
	m.t.Helper()
	m.git("update-ref", m.own.Ref(), string(tip))
	when := m.now.Add(later)
	if e.Checkpoint != nil {
		e.Checkpoint.TS = when
	}
	clean, _, err := harness.Redactor().Apply(m.t.Context(), e)
	if err != nil {
		m.t.Fatal(err)
	}
	next, err := m.own.Append(m.t.Context(), tip, []ledger.Record{{Entry: clean, TS: when}})
	if err != nil {
		m.t.Fatal(err)
	}
	return next
}

// merge is the union of two tips.
func (m *machines) merge(a, b git.OID) git.OID {
	m.t.Helper()
	files := map[string][]byte{}
	for path := range strings.FieldsSeq(m.git("ls-tree", "-r", "--name-only", string(b), "segments/")) {
		files[path] = []byte(m.git("show", string(b)+":"+path) + "\n")
	}
	c, err := m.repo.Commit(a)
	if err != nil {
		m.t.Fatal(err)
	}
	id, err := m.repo.WriteCommit(git.Draft{
		Base: c.Tree, Files: files, Parents: []git.OID{a, b}, Message: "merge\n",
		Author: c.Author,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.git("update-ref", m.own.Ref(), string(id))
	return id
}

// part is the next turn of a session, with an edit.
func (m *machines) part(name string, first int, text string) session.Entry {
	started := noon.Add(-time.Hour)
	return session.Entry{Sessions: []session.Session{{
		ID: session.NewID(started, "agent", name), Source: "agent", NativeID: name, ActorType: session.ActorHuman,
		StartedAt: started, Title: text, Bytes: int64(100 * (first + 1)), Hash: "h" + text, FirstTurn: first,
		FirstTool: first,
		Turns: []session.Turn{{
			Index: first, Role: session.RoleHuman, TS: started.Add(time.Duration(first) * time.Second),
			Content: text,
		}},
		ToolCalls: []session.ToolCall{{Index: first, Turn: first, Tool: "Edit", Act: session.ActEdit, Path: name + ".go"}},
	}}}
}

// more is the part that goes on where a session ends, for the one machine that tells it.
func (m *machines) more(name string) session.Entry {
	m.told[name]++
	return m.part(name, m.told[name]-1, fmt.Sprint(name, m.told[name]))
}

// links is a checkpoint of a code commit that changed the file of a session.
func (m *machines) links(name string, sha int) session.Entry {
	return session.Entry{Checkpoint: &session.Checkpoint{
		GitSHA: fmt.Sprintf("%040x", sha), GitBranch: "main", UserEmail: "dev@example.com", ActorType: session.ActorHuman,
		Via:   session.ViaCommit,
		Files: []session.File{{Path: name + ".go", Change: "M"}},
		Links: []session.Link{{Session: session.NewID(noon.Add(-time.Hour), "agent", name)}},
	}}
}

// follows brings a state to a tip as load does, and reports whether it had to start over.
// It checks that the state is what a new one would be.
func (m *machines) follows(st **state, tip git.OID) (startedOver bool) {
	m.t.Helper()
	tips := map[string]git.OID{m.own.Ref(): tip}
	fresh := newState()
	if err := fresh.catchUp(context.Background(), m.repo, tips); err != nil {
		m.t.Fatal(err)
	}
	err := (*st).catchUp(context.Background(), m.repo, tips)
	if errors.Is(err, errStartOver) {
		*st = fresh
		return true
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if diff := cmp.Diff(fresh, *st, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(state{})); diff != "" {
		m.t.Fatalf("the state (-from the start +followed):\n%s", diff)
	}
	return false
}

// Two machines that fork and merge, round after round, each with sessions of its own, cost
// what is new and no more: the state never starts over.
func TestLongFollowsDisjointForks(t *testing.T) {
	m := newMachines(t)
	base := m.tip()
	st := newState()
	for round := range 8 {
		m.now = m.now.Add(time.Hour)
		ours := m.add(base, 1*time.Minute, m.more("ours"))
		theirs := m.add(base, 2*time.Minute, m.more("theirs"))
		ours = m.add(ours, 3*time.Minute, m.links("ours", 2*round))
		theirs = m.add(theirs, 4*time.Minute, m.links("theirs", 2*round+1))
		theirs = m.add(theirs, 5*time.Minute, session.Entry{Rewrites: []session.Rewrite{{
			Old: fmt.Sprintf("%040x", round),
			New: fmt.Sprintf("%040x", 99),
		}}})
		ours = m.add(ours, 6*time.Minute, m.more(fmt.Sprint("new", round)))
		ours = m.add(ours, 7*time.Minute, session.Entry{Rewrites: []session.Rewrite{{
			Old: fmt.Sprintf("%040x", 50-round),
			New: fmt.Sprintf("%040x", 99),
		}}})
		for _, tip := range []git.OID{ours, m.merge(ours, theirs)} {
			if m.follows(&st, tip) {
				t.Errorf("round %d: started over at %s", round, tip)
			}
			base = tip
		}
	}
	if k := st.Sessions[sessionKey("agent", "theirs")]; k == nil || k.Turns != 8 || len(k.Pending) != 0 {
		t.Errorf("their session: %+v", k)
	}
}

// Where both sides tell of one session, the order decides: what comes later is applied, what
// belongs before makes the state start over. In the end both are the same.
func TestFollowsOverlappingForks(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		ours, theirs          time.Duration
		oursSays, theirsSays  func(*machines) session.Entry
		wantOver, wantPending bool
	}{
		{"theirs goes on", 1, 2, says("s", 1, "a"), says("s", 2, "b"), false, true},
		{"theirs says the same, later", 1, 2, says("s", 1, "a"), says("s", 1, "a"), false, true},
		{"theirs says another thing, later", 1, 2, says("s", 1, "a"), says("s", 1, "b"), false, true},
		{"theirs says another thing, earlier", 2, 1, says("s", 1, "a"), says("s", 1, "b"), true, true},
		{"theirs edits before our commit", 2, 1, ties("s"), says("s", 1, "b"), true, false},
		{"theirs edits after our commit", 1, 2, ties("s"), says("s", 1, "b"), false, true},
		{"theirs commits before our edit", 2, 1, says("s", 1, "a"), ties("s"), true, true},
		{"theirs begins before our commit of it", 2, 1, ties("new"), says("new", 0, "b"), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachines(t)
			base := m.add(m.tip(), 0, m.part("s", 0, "first"))
			st := newState()
			m.follows(&st, base)
			ours := m.add(base, tt.ours*time.Minute, tt.oursSays(m))
			m.follows(&st, ours)
			theirs := m.add(base, tt.theirs*time.Minute, tt.theirsSays(m))
			if over := m.follows(&st, m.merge(ours, theirs)); over != tt.wantOver {
				t.Errorf("started over: %v", over)
			}
			if pending := len(st.Sessions[sessionKey("agent", "s")].Pending) > 0; pending != tt.wantPending {
				t.Errorf("an edit waits for its commit: %v", pending)
			}
		})
	}
}

func says(name string, first int, text string) func(*machines) session.Entry {
	return func(m *machines) session.Entry { return m.part(name, first, text) }
}

func ties(name string) func(*machines) session.Entry {
	return func(m *machines) session.Entry { return m.links(name, 7) }
}

// TestFarBehind: who has no time does not begin to read what the cache does not know, and without a bound all is read.
func TestFarBehind(t *testing.T) {
	m := newMachines(t)
	var tips []git.OID
	for n := range 5 {
		tip := m.add(m.tip(), time.Duration(n+1)*time.Minute, m.more("one"))
		tips = append(tips, tip)
	}
	dir := t.TempDir()
	at := func(tip git.OID, most int) (*state, error) {
		return load(t.Context(), m.repo, dir, map[string]git.OID{m.own.Ref(): tip}, most)
	}
	if _, err := at(tips[4], 3); !errors.Is(err, ErrBehind) {
		t.Errorf("without a cache: %v, want ErrBehind", err)
	}
	st, err := at(tips[3], 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(st, readCache(t.Context(), dir), cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(state{})); diff != "" {
		t.Errorf("the cache (-written +read):\n%s", diff)
	}
	if st, err := at(tips[4], 1); err != nil || len(st.Sessions) != 1 {
		t.Errorf("one commit behind the cache: %v", err)
	}
}
