package session_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/session"
)

var (
	first = time.UnixMilli(1795167667312).UTC() // 2026-11-20T09:41:07.312Z
	tz    = time.FixedZone("far", 9*3600)
)

const native = "5d0cf4a0-0000-4000-8000-000000000001"

// TestIDs holds IDs to values that were computed by another program from the format's
// words alone: every machine, and every later version, must come to the same.
func TestIDs(t *testing.T) {
	id := session.NewID(first, "claude-code", native)
	for _, tt := range []struct{ name, got, want string }{
		{"session", id, "01M7W59H3G669C5312M9CYEVJ5"},
		{"session in another zone", session.NewID(first.In(tz), "claude-code", native), "01M7W59H3G669C5312M9CYEVJ5"},
		{"below a millisecond", session.NewID(first.Add(999_999), "claude-code", native), "01M7W59H3G669C5312M9CYEVJ5"},
		{"first turn", session.RowID(first, id, "turn", 0), "01M7W59H3GWGTVQ7PM2KBATH08"},
		{"later turn", session.RowID(first, id, "turn", 12), "01M7W59H3GW8JW7NNA5RMRYC8P"},
		{"tool call", session.RowID(first, id, "tool", 0), "01M7W59H3G9SJW71ST88KN3GY8"},
		{"file", session.RowID(first, id, "file", 3), "01M7W59H3GM5SZWJ5AV1NY8P2V"},
		{"at the epoch", session.NewID(time.UnixMilli(0), "a", "b"), "00000000007JENJ425QJ47DYEG"},
		{"before the epoch", session.NewID(time.UnixMilli(-5), "ab", ""), "0000000000A9TWV0D7NE2WE8CW"},
		{"no time at all", session.NewID(time.Time{}, "ab", ""), "0000000000A9TWV0D7NE2WE8CW"},
		{"after ULID's time", session.NewID(time.UnixMilli(1<<50), "a", "b"), "7ZZZZZZZZZ7JENJ425QJ47DYEG"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("ID %s, want %s", tt.got, tt.want)
			}
			if _, err := ulid.ParseStrict(tt.got); err != nil {
				t.Errorf("ID %s: %v", tt.got, err)
			}
		})
	}
}

// TestIDsDiffer: parts that would run together without their lengths, and rows of one
// millisecond, have different IDs.
func TestIDsDiffer(t *testing.T) {
	seen := map[string]string{}
	for name, id := range map[string]string{
		"ab|c":    session.NewID(first, "ab", "c"),
		"a|bc":    session.NewID(first, "a", "bc"),
		"|abc":    session.NewID(first, "", "abc"),
		"abc|":    session.NewID(first, "abc", ""),
		"turn 1":  session.RowID(first, "abc", "turn", 1),
		"turn 11": session.RowID(first, "abc", "turn", 11),
		"tool 1":  session.RowID(first, "abc", "tool", 1),
		"file 1":  session.RowID(first, "abc", "file", 1),
	} {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the ID %s", name, other, id)
		}
		seen[id] = name
	}
}
