// Package brief_test replays real sessions: what a brief would have told at each prompt, with only what came before,
// and whether that was right.
package brief_test

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// replay is a ledger that grows as sessions go on.
type replay struct {
	t        *testing.T
	sessions []session.Session // in the order in which they began
	repo     *git.Repo
	tip      git.OID
	place    *workspace.Workspace
	redactor *redact.Redactor
	turns    map[string]int // by session: how many of its turns are in the ledger
	calls    map[string]int
	whole    bool // a session is captured when it has ended: the times of its turns are not known
}

// asked is a prompt with what was told at it.
type asked struct {
	session *session.Session
	turn    int
	when    time.Time
	right   map[string]bool // by session that had begun: whether it touched a file that this one changes from here on
	latest  string          // of these the one that spoke last
	strong  []string        // what is strong, told before or not
	told    []string        // what was told
	branch  string          // what the brief at a start says of the branch; "" for nothing
}

func newReplay(t *testing.T, sessions []session.Session) *replay {
	t.Helper()
	p := harness.New(t)
	p.Init("project")
	w, err := workspace.Open(t.Context(), workspace.Process{
		Dir: p.At("project"), Env: p.Environ(), Home: p.Home(), Now: time.Now, Rand: rand.Reader,
		Warn: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	p.Write("project/.git/rekal/made", "")
	slices.SortFunc(sessions, func(a, b session.Session) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return &replay{
		t: t, sessions: sessions, repo: w.Repo, place: w, redactor: redact.New(), turns: map[string]int{},
		calls: map[string]int{},
	}
}

// prompts are those of all sessions in the order of time, with what was told at each.
func (r *replay) prompts(only func(turn int) bool) []asked {
	var out []asked
	for i := range r.sessions {
		s := &r.sessions[i]
		for n, turn := range s.Turns {
			if turn.Role == session.RoleHuman && only(n) {
				out = append(out, asked{session: s, turn: n, when: turn.TS})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b asked) int { return a.when.Compare(b.when) })
	told := map[string]map[string]bool{}
	for i := range out {
		a := &out[i]
		if told[a.session.ID] == nil {
			told[a.session.ID] = map[string]bool{}
		}
		r.capture(a.when)
		r.judge(a)
		r.ask(a, told[a.session.ID])
	}
	return slices.DeleteFunc(out, func(a asked) bool { return len(a.right) == 0 }) // nobody was there before
}

// capture takes into the ledger what was said before a moment.
func (r *replay) capture(before time.Time) {
	var parts []session.Session
	for _, s := range r.sessions {
		from, to := r.turns[s.ID], r.turns[s.ID]
		for to < len(s.Turns) && s.Turns[to].TS.Before(before) {
			to++
		}
		first, last := r.calls[s.ID], r.calls[s.ID]
		for last < len(s.ToolCalls) && s.ToolCalls[last].Turn < to-1 || to == len(s.Turns) && last < len(s.ToolCalls) {
			last++
		}
		if to == from || r.whole && to < len(s.Turns) {
			continue
		}
		s.FirstTurn, s.FirstTool, s.Turns, s.ToolCalls, s.Usage = from, first, s.Turns[from:to], s.ToolCalls[first:last], nil
		r.turns[s.ID], r.calls[s.ID] = to, last
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return
	}
	entry, _, err := r.redactor.Apply(context.Background(), session.Entry{Sessions: parts})
	var own *ledger.Ledger
	if err == nil { // a reader believes no time that is later than the commit's
		own, err = ledger.OpenOwn(r.repo, git.Signature{Name: "Replay", Email: "replay@example.com", When: before},
			rand.Reader)
	}
	if err == nil {
		r.tip, err = own.Append(context.Background(), r.tip, []ledger.Record{{Entry: entry, TS: before}})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// judge says which sessions it would be right to tell of.
func (r *replay) judge(a *asked) {
	changes := map[string]bool{}
	for _, c := range a.session.ToolCalls {
		if c.Turn >= a.turn && session.IsPathInTree(c.EditedPath()) {
			changes[c.EditedPath()] = true
		}
	}
	a.right = map[string]bool{}
	var latest time.Time
	for _, s := range r.sessions {
		n := r.turns[s.ID]
		if s.ID == a.session.ID || n == 0 {
			continue
		}
		if at := s.Turns[n-1].TS; !at.Before(latest) {
			latest, a.latest = at, s.ID
		}
		a.right[s.ID] = slices.ContainsFunc(s.ToolCalls[:r.calls[s.ID]], func(c session.ToolCall) bool {
			return (c.Act == session.ActEdit || c.Act == session.ActRead) && changes[c.TouchedPath()]
		})
	}
}

// ask asks what the hook at a prompt asks, twice: of what is strong, and of what is told of it.
func (r *replay) ask(a *asked, told map[string]bool) {
	ctx := context.Background()
	r.place.Now = func() time.Time { return a.when }
	index, err := ask.Open(ctx, r.place, ask.Opening{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer index.Close()
	var changed []string
	for _, c := range a.session.ToolCalls {
		if p := c.EditedPath(); c.Turn < a.turn && session.IsPathInTree(p) && !slices.Contains(changed, p) {
			changed = append(changed, p)
		}
	}
	source := brief.Source{Index: index, Repo: r.repo, Now: a.when, Native: a.session.NativeID}
	strong, err := source.Prompt(ctx, a.session.Turns[a.turn].Content, changed)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, l := range strong {
		if a.strong = append(a.strong, l.ID); !told[l.ID] {
			told[l.ID], a.told = true, append(a.told, l.ID)
		}
	}
	start, err := source.Start(ctx, a.session.Branch, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, l := range start {
		if l.About == brief.AboutBranch {
			a.branch = l.ID
		}
	}
}

// score is how often something was told, and how often that was right.
type score struct{ prompts, covered, told, right int }

func (s score) coverage() float64  { return float64(s.covered) / float64(max(1, s.prompts)) }
func (s score) precision() float64 { return float64(s.right) / float64(max(1, s.told)) }

func scoreOf(all []asked, of func(asked) []string) (s score) {
	for _, a := range all {
		ids := of(a)
		if s.prompts++; len(ids) > 0 {
			s.covered++
		}
		for _, id := range ids {
			if s.told++; a.right[id] {
				s.right++
			}
		}
	}
	return s
}

func one(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// report prints the figures of docs/lab/agents.md.
func report(t *testing.T, name string, all []asked) (told, strong score) {
	t.Helper()
	chance, n := 0.0, 0
	for _, a := range all {
		right := 0
		for _, is := range a.right {
			if is {
				right++
			}
		}
		chance, n = chance+float64(right)/float64(len(a.right)), n+1
	}
	told, strong = scoreOf(all, func(a asked) []string { return a.told }),
		scoreOf(all, func(a asked) []string { return a.strong })
	latest, branch := scoreOf(all, func(a asked) []string { return one(a.latest) }),
		scoreOf(all, func(a asked) []string { return one(a.branch) })
	t.Logf("%s: %d prompts; chance %.2f; the latest session %.2f; the branch's last: coverage %.2f, precision %.2f; strong: coverage %.2f, precision %.2f (%d); told, each once: coverage %.2f, precision %.2f (%d)",
		name, n, chance/float64(max(1, n)), latest.precision(), branch.coverage(), branch.precision(), strong.coverage(),
		strong.precision(), strong.told, told.coverage(), told.precision(), told.told)
	return told, strong
}

// half parts sessions by their names.
func half(a asked, which byte) bool { return md5.Sum([]byte(a.session.NativeID))[0]%2 == which }

func keep(all []asked, is func(asked) bool) (out []asked) {
	for _, a := range all {
		if is(a) {
			out = append(out, a)
		}
	}
	return out
}
