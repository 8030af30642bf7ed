package segment

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	idA = "01M7W59H3G669C5312M9CYEVJ5"
	idB = "01M7W59H3GWGTVQ7PM2KBATH08"
	idC = "01M7W59H3G9SJW71ST88KN3GY8"
)

var (
	sha1    = strings.Repeat("1a", 20)
	sha2    = strings.Repeat("2b", 20)
	morning = time.Date(2026, 11, 20, 9, 41, 7, 312_000_000, time.UTC)
)

// everything says all that an entry can say, in every field.
func everything() session.Entry {
	return session.Entry{
		Checkpoint: &session.Checkpoint{
			GitSHA: sha1, GitBranch: "main", UserEmail: "a@b.c", TS: morning, ActorType: "agent", AgentID: "ci",
			PatchID: sha2, Via: "commit",
			Files: []session.File{
				{Path: "src/a&b.go", OldPath: "src/a.go", Change: "R", Blob: sha1},
				{Path: "gone", Change: "D"},
			},
			Links: []session.Link{{Session: idB}, {Session: idC, Inferred: true}},
		},
		Sessions: []session.Session{
			{
				ID: idA, Source: "claude-code", NativeID: "5d0c", Parent: idB, ForkedFrom: idC, ActorType: "human",
				AgentID: "a1", Branch: "main", Title: "Why <early>?", StartedAt: morning, Hash: strings.Repeat("3c", 32),
				Bytes: 48213, FirstTurn: 2, FirstTool: 1,
				Turns: []session.Turn{
					{Index: 2, Role: "human", TS: morning, Content: "Why?\n\"quoted\" \\ ümläut \u2028 😀"},
					{Index: 3, Role: "assistant", TS: morning.Add(time.Second)},
				},
				ToolCalls: []session.ToolCall{
					{Index: 1, Turn: 1, Tool: "Read", Act: session.ActRead, Path: "src/a.go"},
					{Index: 2, Turn: 2, Tool: "Bash", Act: session.ActRun, Cmd: "go test ./... 2>&1"},
					{Index: 3, Turn: 3, Tool: "Edit", Act: session.ActEdit, Path: "/etc/hosts", Failed: true},
					{Index: 4, Turn: 3, Tool: "Bash", Act: session.ActRun, Cmd: "make", Failed: true, Exit: 2},
				},
				Usage: []session.Usage{
					{Request: "5f0c21d9", Turn: 1, Output: 7},
					{
						Request: "00ff00ff", Turn: 3, Model: "m", Input: 3, Output: 212, CacheRead: 18230, CacheWrite: 1 << 40,
						Cost: .25,
					},
				},
			},
			{ID: idB, Source: "codex", NativeID: "n", ActorType: "agent", Facts: session.Facts{Model: "gpt-5.4"}},
		},
		Memories: []session.Memory{
			{ID: idA, Title: "T", Content: "C", Source: "mcp", TS: morning, ActorType: "human"},
			{ID: idB},
		},
		Purges:   []session.Mark{{ID: idA, N: 1, TS: morning}},
		Restores: []session.Mark{{ID: idA, N: 2, TS: morning}},
		Rewrites: []session.Rewrite{{Old: sha1, New: sha2, TS: morning}},
		Wrote: []session.Wrote{
			{GitSHA: sha1, Blob: sha2, Session: idA, Path: "src/a&b.go", Lines: session.Ranges{{12, 20}, {33, 33}}, TS: morning},
			{GitSHA: sha1, Session: idA, Path: "gone", Gone: 3, TS: morning},
		},
		Scrubs: []session.Scrub{{Segment: "segments/2026/11/20/X.ndjson", TS: morning}},
		Removals: []session.Removal{
			{Session: idA, TS: morning},
			{Session: idA, Turn: new(int), TS: morning},
			{Session: idA, Title: true, TS: morning},
			{Entry: idC, TS: morning},
			{Segment: "segments/2026/11/20/X.ndjson", Blob: sha1, TS: morning},
		},
	}
}

// golden is everything as format 1 writes it. Old ledgers are read for ever: this text may
// get new keys and lines, but none of it may change.
var golden = strings.Join([]string{
	`{"t":"checkpoint","git_sha":"` + sha1 +
		`","git_branch":"main","user_email":"a@b.c","ts":"2026-11-20T09:41:07.312Z","actor_type":"agent","agent_id":"ci","patch_id":"` + sha2 + `","via":"commit"}`,
	`{"t":"file","path":"src/a&b.go","old_path":"src/a.go","change":"R","blob":"` + sha1 + `"}`,
	`{"t":"file","path":"gone","change":"D"}`,
	`{"t":"link","session":"01M7W59H3GWGTVQ7PM2KBATH08"}`,
	`{"t":"link","session":"01M7W59H3G9SJW71ST88KN3GY8","inferred":true}`,
	`{"t":"session","id":"01M7W59H3G669C5312M9CYEVJ5","source":"claude-code","native_id":"5d0c","parent":"01M7W59H3GWGTVQ7PM2KBATH08","forked_from":"01M7W59H3G9SJW71ST88KN3GY8","actor_type":"human","agent_id":"a1","branch":"main","title":"Why <early>?","started_at":"2026-11-20T09:41:07.312Z","session_hash":"` + strings.Repeat("3c", 32) + `","bytes":48213,"first_turn":2,"first_tool":1}`,
	`{"t":"tool","i":1,"turn":1,"tool":"Read","act":"read","path":"src/a.go"}`,
	`{"t":"turn","i":2,"role":"human","ts":"2026-11-20T09:41:07.312Z","content":"Why?\n\"quoted\" \\ ümläut \u2028 😀"}`,
	`{"t":"tool","i":2,"turn":2,"tool":"Bash","act":"run","cmd":"go test ./... 2>&1"}`,
	`{"t":"turn","i":3,"role":"assistant","ts":"2026-11-20T09:41:08.312Z","content":""}`,
	`{"t":"tool","i":3,"turn":3,"tool":"Edit","path":"/etc/hosts","failed":true}`,
	`{"t":"tool","i":4,"turn":3,"tool":"Bash","act":"run","cmd":"make","failed":true,"exit":2}`,
	`{"t":"usage","request":"5f0c21d9","turn":1,"output":7}`,
	`{"t":"usage","request":"00ff00ff","turn":3,"model":"m","input":3,"output":212,"cache_read":18230,"cache_write":1099511627776,"cost":0.25}`,
	`{"t":"session","id":"01M7W59H3GWGTVQ7PM2KBATH08","source":"codex","native_id":"n","actor_type":"agent","model":"gpt-5.4","bytes":0,"first_turn":0,"first_tool":0}`,
	`{"t":"memory","id":"01M7W59H3G669C5312M9CYEVJ5","title":"T","content":"C","source":"mcp","ts":"2026-11-20T09:41:07.312Z","actor_type":"human"}`,
	`{"t":"memory","id":"01M7W59H3GWGTVQ7PM2KBATH08","content":"","ts":""}`,
	`{"t":"purge","id":"01M7W59H3G669C5312M9CYEVJ5","n":1,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"restore","id":"01M7W59H3G669C5312M9CYEVJ5","n":2,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"rewrite","old":"` + sha1 + `","new":"` + sha2 + `","ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"wrote","git_sha":"` + sha1 + `","blob":"` + sha2 +
		`","session":"01M7W59H3G669C5312M9CYEVJ5","path":"src/a&b.go","lines":"12-20,33","gone":0,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"wrote","git_sha":"` + sha1 +
		`","session":"01M7W59H3G669C5312M9CYEVJ5","path":"gone","gone":3,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"scrub","segment":"segments/2026/11/20/X.ndjson","ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"removed","session":"01M7W59H3G669C5312M9CYEVJ5","ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"removed","session":"01M7W59H3G669C5312M9CYEVJ5","turn":0,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"removed","session":"01M7W59H3G669C5312M9CYEVJ5","title":true,"ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"removed","entry":"01M7W59H3G9SJW71ST88KN3GY8","ts":"2026-11-20T09:41:07.312Z"}`,
	`{"t":"removed","segment":"segments/2026/11/20/X.ndjson","blob":"` + sha1 + `","ts":"2026-11-20T09:41:07.312Z"}`,
}, "\n") + "\n"

// written is an entry as one segment.
func written(t *testing.T, e session.Entry) []byte {
	t.Helper()
	parts, err := encode(e, MaxSize)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d segments, %v", len(parts), err)
	}
	return parts[0]
}

func TestGolden(t *testing.T) {
	if diff := cmp.Diff(strings.SplitAfter(golden, "\n"),
		strings.SplitAfter(string(written(t, everything())), "\n")); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	got, err := Decode([]byte(golden))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything(), got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if again := string(written(t, got)); again != golden {
		t.Errorf("encoding what was decoded gives other bytes:\n%s", cmp.Diff(golden, again))
	}
}

func TestEncodeTakesWhatWasRedacted(t *testing.T) {
	e, _, err := harness.Redactor().Apply(context.Background(), everything())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Encode(e)
	if err != nil || len(parts) != 1 || string(parts[0]) != golden {
		t.Errorf("%d segments, %v; nothing of it is secret, so it is the golden one", len(parts), err)
	}
}

func TestNothing(t *testing.T) {
	if parts, err := encode(session.Entry{}, MaxSize); err != nil || len(parts) != 0 {
		t.Errorf("an empty entry gives %d segments, %v", len(parts), err)
	}
	if e, err := Decode(nil); err != nil || !cmp.Equal(e, session.Entry{}) {
		t.Errorf("an empty segment gives %v, %v", e, err)
	}
}

func TestTimesAreWrittenInUTCToTheMillisecond(t *testing.T) {
	far := time.FixedZone("far", -5*3600)
	e := session.Entry{Purges: []session.Mark{{ID: idA, TS: time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, far)}}}
	want := `{"t":"purge","id":"` + idA + `","n":0,"ts":"2026-01-02T08:04:05.006Z"}` + "\n"
	if got := string(written(t, e)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// big is a session of about n times 64 KiB.
func big(n int) session.Session {
	s := session.Session{
		ID: idA, Source: "s", NativeID: "n", ActorType: "human", Title: "big", Bytes: 9, FirstTurn: 3,
		FirstTool: 5,
	}
	for i := range n {
		s.Turns = append(s.Turns, session.Turn{
			Index: 3 + i, Role: session.RoleHuman, TS: morning.Add(time.Duration(i) * time.Millisecond),
			Content: strings.Repeat("word ", 13107),
		})
		for range i % 3 {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{
				Index: 5 + len(s.ToolCalls), Turn: 3 + i, Tool: "Edit",
				Act: session.ActEdit, Path: fmt.Sprint("f", i),
			})
		}
	}
	return s
}

func other(id string, s session.Session) session.Session { s.ID = id; return s }

// manyFiles is a checkpoint of about n KiB.
func manyFiles(n int) *session.Checkpoint {
	cp := &session.Checkpoint{GitSHA: sha1, UserEmail: "a@b.c", TS: morning, ActorType: "human", Via: "commit"}
	for i := range n {
		cp.Files = append(cp.Files, session.File{
			Path: fmt.Sprintf("%s/%d", strings.Repeat("dir/", 230), i), Change: "A",
			Blob: sha1,
		})
	}
	return cp
}

// TestSplit holds that what is too large for one segment lies in several, each of which
// reads by itself, and that together they say the same. The long form has segments of the real size.
func TestSplit(t *testing.T)     { checkSplit(t, MaxSize/8) }
func TestLongSplit(t *testing.T) { checkSplit(t, MaxSize) }

func checkSplit(t *testing.T, size int) {
	t.Helper()
	turns := size >> 16 // of a big session fill a segment
	for _, tt := range []struct {
		name string
		e    session.Entry
		min  int // segments at least
	}{
		{"a long session", session.Entry{Sessions: []session.Session{big(7 * turns / 3)}}, 3},
		{"many sessions", session.Entry{Sessions: []session.Session{
			big(turns / 2),
			{ID: idB, Source: "s", NativeID: "m", ActorType: "human"},
			other(idC, big(3*turns/4)),
		}}, 2},
		{"a commit of very many files", session.Entry{
			Checkpoint: manyFiles(size * 9 / 4 >> 10),
			Sessions:   []session.Session{big(2)},
		}, 3},
		{"many links", session.Entry{Checkpoint: manyLinks(size / 40)}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parts, err := encode(tt.e, size)
			if err != nil || len(parts) < tt.min {
				t.Fatalf("%d segments, %v; want %d at least", len(parts), err, tt.min)
			}
			var got session.Entry
			for i, p := range parts {
				if len(p) > size {
					t.Errorf("segment %d has %d bytes", i, len(p))
				}
				e, err := Decode(p)
				if err != nil {
					t.Fatalf("segment %d: %v", i, err)
				}
				got.Join(e)
			}
			if diff := cmp.Diff(joined(t, tt.e), joined(t, got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("rejoined (-want +got):\n%.2000s", diff)
			}
		})
	}
}

func manyLinks(n int) *session.Checkpoint {
	cp := manyFiles(0)
	cp.Links = make([]session.Link, n)
	for i := range cp.Links {
		cp.Links[i].Session = idA
	}
	return cp
}

// joined is an entry in which the parts of one session that follow each other are one. Each
// must go on where the one before ends.
func joined(t *testing.T, e session.Entry) session.Entry {
	t.Helper()
	out := session.Entry{Checkpoint: e.Checkpoint}
	for _, part := range e.Sessions {
		n := len(out.Sessions)
		if n == 0 || out.Sessions[n-1].ID != part.ID {
			out.Sessions = append(out.Sessions, part)
			continue
		}
		last := &out.Sessions[n-1]
		if turn, tool := last.FirstTurn+len(last.Turns),
			last.FirstTool+len(last.ToolCalls); part.FirstTurn != turn || part.FirstTool != tool {
			t.Errorf("goes on with turn %d and call %d, where %d and %d follow", part.FirstTurn, part.FirstTool, turn, tool)
		}
		last.Absorb(part, session.Piece)
	}
	return out
}
