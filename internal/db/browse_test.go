package db_test

import (
	stdcmp "cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// sessions creates an index with these sessions, three turns and two tool calls each.
func sessions(t *testing.T, ids ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recall.db")
	ctx := t.Context()
	d, err := db.Open(ctx, path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var rows []db.SessionRow
	var parts []session.Session
	for _, id := range ids {
		s := session.Session{
			ID: id, Source: "claude-code", NativeID: "n-" + id, ActorType: session.ActorHuman, StartedAt: noon,
			Turns: []session.Turn{
				{Index: 0, Role: session.RoleHuman, TS: noon, Content: "one"},
				{Index: 1, Role: session.RoleAssistant, TS: noon, Content: "two"},
				{Index: 2, Role: session.RoleHuman, Content: "three"},
			},
			ToolCalls: []session.ToolCall{
				{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"},
				{Index: 1, Turn: 1, Tool: "Bash", Cmd: "ls"},
			},
		}
		parts = append(parts, s)
		rows = append(rows, db.SessionRow{Session: s, CapturedAt: noon, NextTurn: 3, NextTool: 2})
	}
	err = errors.Join(tx.ReplaceSessions(ctx, rows), tx.AppendTurns(ctx, parts),
		tx.AppendTools(ctx, parts), tx.ReplaceFacets(ctx, rows), tx.Commit(ctx))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func openData(t *testing.T, path string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), path, db.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestReadOneSession(t *testing.T) {
	ctx := t.Context()
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
	row, err := d.Session(ctx, "01KAB3F9AAAAAAAAAAAAAAAAA1")
	if err != nil || row.NativeID != "n-01KAB3F9AAAAAAAAAAAAAAAAA1" || row.NextTurn != 3 || !row.StartedAt.Equal(noon) {
		t.Errorf("row %+v, %v", row, err)
	}
	if _, err := d.Session(ctx, "01KAB3F9"); !errors.Is(err, session.ErrNoID) {
		t.Errorf("a prefix is not enough: %v", err)
	}
	for _, c := range []struct {
		name        string
		from, limit int
		role        string
		want        []int
	}{
		{"all", 0, 9, "", []int{0, 1, 2}},
		{"a page", 1, 1, "", []int{1}},
		{"one role", 0, 9, session.RoleHuman, []int{0, 2}},
		{"behind the end", 3, 9, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns, err := d.Turns(ctx, row.ID, c.from, c.limit, c.role)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, u := range turns {
				got = append(got, u.Index)
			}
			harness.Equal(t, "turns", c.want, got)
		})
	}
	tools, err := d.Tools(ctx, row.ID, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "tools before the second turn", []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}},
		tools)
}

func TestSaid(t *testing.T) {
	const id = "01KAB3F9AAAAAAAAAAAAAAAAA1"
	d := openData(t, sessions(t, id))
	for _, c := range []struct {
		name string
		id   string
		turn int
		want map[string]int
	}{
		{"a turn", id, 1, map[string]int{id: 1}},
		{"the first", id, db.First, map[string]int{id: 0}},
		{"before all", id, -1, map[string]int{}},
		{"behind all", id, 3, map[string]int{}},
		{"of nobody", "nobody", db.First, map[string]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns, err := db.ReadTurnOf(t.Context(), d, map[string]int{c.id: c.turn})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for id, u := range turns {
				got[id] = u.Index
			}
			harness.Equal(t, "turns", c.want, got)
		})
	}
}

func TestExchange(t *testing.T) {
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
	for _, c := range []struct {
		name            string
		turn            int
		asked, answered string
	}{
		{"of a prompt", 0, "one", "two"},
		{"of an answer", 1, "one", "two"},
		{"not answered", 2, "three", ""},
		{"before all", -1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, answered, err := d.Exchange(t.Context(), "01KAB3F9AAAAAAAAAAAAAAAAA1", c.turn)
			if asked != c.asked || answered != c.answered || err != nil {
				t.Errorf("%q, %q, %v", asked, answered, err)
			}
		})
	}
}

// TestNamesAsked checks that the IDs beside what is asked tell as much of it as all do. A scrubbed memory has no
// facets, and still an ID.
func TestNamesAsked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ids := []string{"lower"}
	for range 300 {
		ids = append(ids, fmt.Sprintf("01K%04b%02d%s", rng.IntN(16), rng.IntN(20), "AAAAAAAA"[:rng.IntN(8)]))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var said []string
	var memories []db.MemoryRow
	for i, id := range ids {
		if i%3 == 0 {
			memories = append(memories, db.MemoryRow{Memory: session.Memory{ID: id, TS: noon}})
		} else {
			said = append(said, id)
		}
	}
	d, err := db.Open(t.Context(), sessions(t, said...), db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(t.Context())
	if err == nil {
		err = errors.Join(tx.AppendMemories(t.Context(), memories), tx.Commit(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Names(t.Context())
	if err != nil || all.Len() != len(ids) {
		t.Fatalf("%d names, %v", all.Len(), err)
	}
	say := func(n session.Names, asked string) string {
		id, err := n.CompleteID(asked)
		return fmt.Sprint(id, err)
	}
	for _, asked := range append(ids, "01K", "01K0101", "01k01", "01K1111199", "01K1", "n-01K00", "N-01k0101", "n-lower",
		"none", "", "~", "01K'") {
		near, err := d.Names(t.Context(), asked, "01K0000")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(say(all, asked), say(near, asked)); diff != "" || all.Short(asked) != near.Short(asked) {
			t.Errorf("%q: short %q and %q; (-all +near)\n%s", asked, all.Short(asked), near.Short(asked), diff)
		}
	}
}

// TestLogOrder compares the order and the choice of checkpoints, imports among them, with the rule.
func TestLogOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	path := sessions(t)
	d, err := db.Open(t.Context(), path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var rows []db.SessionRow
	var cps []session.Checkpoint
	at := map[string]time.Time{} // by checkpoint
	for i := range 40 {
		id := fmt.Sprintf("%040d", i)
		cp := session.Checkpoint{
			ID: id, GitSHA: id, UserEmail: "a@example.com",
			TS:  noon.Add(time.Duration(rng.IntN(30)) * time.Minute),
			Via: []string{session.ViaCommit, session.ViaImport, ""}[i%3],
		}
		at[id] = cp.TS
		for n := range rng.IntN(3) {
			row := db.SessionRow{
				Session: session.Session{ID: fmt.Sprint(i, n), Source: "codex"}, CapturedAt: noon,
				LastTurnAt: noon.Add(time.Duration(rng.IntN(30)) * time.Minute),
			}
			cp.Links = append(cp.Links, session.Link{Session: row.ID})
			if took := row.LastTurnAt; cp.Via == session.ViaImport && (n == 0 || took.After(at[id])) {
				at[id] = took
			}
			rows = append(rows, row)
		}
		cps = append(cps, cp)
	}
	if err := errors.Join(tx.ReplaceSessions(t.Context(), rows), tx.AppendCheckpoints(t.Context(), cps),
		tx.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 45; limit += 3 {
		until := noon.Add(time.Duration(limit) * time.Minute)
		var want, got []string
		for _, cp := range cps {
			if at[cp.ID].Before(until) {
				want = append(want, cp.ID)
			}
		}
		slices.SortFunc(want, func(a, b string) int { return stdcmp.Or(at[b].Compare(at[a]), stdcmp.Compare(a, b)) })
		out, err := d.Log(t.Context(), db.LogQuery{Limit: limit, Period: db.Period{Until: until}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(want[:min(limit, len(want))], slices.Compact(got)); diff != "" {
			t.Errorf("the last %d (-want +got)\n%s", limit, diff)
		}
	}
}

// TestPassedLast: the last call of a command says how it ended, in its session alone.
func TestPassedLast(t *testing.T) {
	const id, other = "01KAB3F9AAAAAAAAAAAAAAAAA1", "01KAB3F9AAAAAAAAAAAAAAAAA2"
	d, err := db.Open(t.Context(), sessions(t, id, other), db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(t.Context())
	if err == nil {
		err = errors.Join(tx.AppendTools(t.Context(), []session.Session{{ID: id, ToolCalls: []session.ToolCall{
			{Index: 2, Tool: "Bash", Cmd: "go test", Failed: true},
			{Index: 3, Tool: "Bash", Cmd: "go vet", Failed: true},
			{Index: 4, Tool: "Bash", Cmd: "go test"},
		}}}), tx.Commit(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	for cmd, want := range map[string]bool{"go test": true, "go vet": false, "make": false} {
		if passed, err := d.PassedLast(t.Context(), id, cmd); passed != want || err != nil {
			t.Errorf("%s: %t, %v", cmd, passed, err)
		}
	}
	if passed, err := d.PassedLast(t.Context(), other, "go test"); passed || err != nil {
		t.Errorf("another session: %t, %v", passed, err)
	}
}
