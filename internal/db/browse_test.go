package db_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

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
			ToolCalls: []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}, {Index: 1, Turn: 1, Tool: "Bash", Cmd: "ls"}},
		}
		parts = append(parts, s)
		rows = append(rows, db.SessionRow{Session: s, CapturedAt: noon, NextTurn: 3, NextTool: 2})
	}
	err = errors.Join(tx.ReplaceSessions(ctx, rows), tx.AppendTurns(ctx, parts),
		tx.AppendTools(ctx, parts, func(session.Session, session.ToolCall) time.Time { return noon }), tx.Commit(ctx))
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
	harness.Equal(t, "tools before the second turn", []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}}, tools)
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
