package result_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/result"
)

var (
	zero = 0
	two  = 2
	noon = time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.FixedZone("", 3600))
)

// TestWrite holds shapes as they leave the process: what must stand when it is empty (an
// agent iterates over results), and what is left out.
func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{
			"a recall that found nothing",
			result.Recall{Schema: result.Schema, Results: []result.Hit{}},
			`{"schema":1,"total":0,"results":[]}`,
		},
		{
			"a recall",
			result.Recall{
				Schema: 1, Query: `<a> & "b"`, Filters: result.Filters{File: "x.go"}, Total: 7,
				Results: []result.Hit{{
					ID: "id", Kind: "session", Score: 1.5, Matched: []string{"content"}, Title: "t", Snippet: "s", Turn: &zero,
					Role:   "human",
					Author: "a@b.c", Actor: "human", Source: "claude-code", Branch: "main", CapturedAt: "2026-11-20T11:00:00Z",
					LastTurnAt: "2026-11-20T10:00:00Z",
					Commits:    []string{"3f2a111"}, Checkpoint: "cp", Turns: &two, ToolCalls: &zero, Files: []string{"x.go"},
					FilesTotal: 1,
				}},
			},
			`{"schema":1,"query":"<a> & \"b\"","filters":{"file":"x.go"},"total":7,"results":[{"id":"id","kind":"session","score":1.5,"matched":["content"],"title":"t","snippet":"s","turn":0,"role":"human","author":"a@b.c","actor":"human","source":"claude-code","branch":"main","last_turn_at":"2026-11-20T10:00:00Z","captured_at":"2026-11-20T11:00:00Z","commits":["3f2a111"],"checkpoint":"cp","turns":2,"tool_calls":0,"files":["x.go"],"files_total":1}]}`,
		},
		{
			"a memory among hits",
			result.Hit{ID: "id", Kind: "memory", Purged: true},
			`{"id":"id","kind":"memory","captured_at":"","purged":true}`,
		},
		{
			"a memory",
			result.Memory{
				Schema: 1, ID: "id", Kind: "memory", Title: "t", Content: "c", Author: "a", Actor: "human",
				Source: "s", CapturedAt: "w", Existing: true,
			},
			`{"schema":1,"id":"id","kind":"memory","title":"t","content":"c","author":"a","actor":"human","source":"s","captured_at":"w","existing":true}`,
		},
		{
			"a bare session",
			result.Session{Schema: 1, ID: "id", Page: []result.Turn{}},
			`{"schema":1,"id":"id","kind":"","actor":"","source":"","native_id":"","captured_at":"","turns":0,"tool_calls":0,"page":[]}`,
		},
		{
			"a page",
			result.Session{
				Page: []result.Turn{{Role: "human", Content: "x"}}, Next: &zero, Tools: []result.Tool{{Turn: -1, Tool: "Read"}},
				Files:   []result.File{{Path: "p", Change: "M", Commit: "c"}},
				Commits: []result.Commit{{Commit: "c", Checkpoint: "k", TS: "t", Inferred: true}},
				Related: []result.Related{{Path: "q", Sessions: 2}},
			},
			`{"schema":0,"id":"","kind":"","actor":"","source":"","native_id":"","captured_at":"","turns":0,"tool_calls":0,"page":[{"turn":0,"role":"human","content":"x"}],"next":0,"tools":[{"turn":-1,"tool":"Read"}],"files":[{"path":"p","change":"M","commit":"c"}],"commits":[{"commit":"c","checkpoint":"k","ts":"t","inferred":true}],"related":[{"path":"q","sessions":2}]}`,
		},
		{
			"a checkpoint",
			result.Checkpoint{Checkpoint: "k", Commit: "c", Sessions: []result.LogSession{{ID: "id"}}},
			`{"checkpoint":"k","commit":"c","branch":"","author":"","actor":"","ts":"","files":0,"sessions":[{"id":"id","source":"","actor":"","turns":0,"tool_calls":0}]}`,
		},
		{
			"an import",
			result.Import{Schema: 1, From: "entire", Transcripts: 2, Agents: map[string]int{"codex": 1}, Others: 3},
			`{"schema":1,"from":"entire","transcripts":2,"sessions":0,"turns":0,"tool_calls":0,"commits":0,"agents":{"codex":1},"others":3}`,
		},
		{"a version", result.Version{Version: "v", Ledger: 1}, `{"version":"v","libgit2":"","ledger_format":1,"go":""}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := result.Write(&b, tt.v); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want+"\n" {
				t.Errorf("\n%swant\n%s", b.String(), tt.want)
			}
		})
	}
}

func TestWriteRow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		columns []string
		values  []any
		want    string
	}{
		{"no column", nil, nil, `{}`},
		{"the columns' order", []string{"z", "a", "z"}, []any{1, "x", nil}, `{"z":1,"a":"x","z":null}`},
		{"names and texts that need escaping", []string{`a"b<`}, []any{"<&>\n\u2028"}, `{"a\"b<":"<&>\n\u2028"}`},
		{
			"numbers",
			[]string{"i", "u", "f", "big"},
			[]any{int64(math.MaxInt64), uint64(math.MaxUint64), 0.1, big.NewInt(7)},
			`{"i":9223372036854775807,"u":18446744073709551615,"f":0.1,"big":7}`,
		},
		{
			"what JSON has no number for",
			[]string{"nan", "inf", "f"},
			[]any{math.NaN(), math.Inf(-1), float32(math.Inf(1))},
			`{"nan":null,"inf":null,"f":null}`,
		},
		{"single precision", []string{"f"}, []any{float32(0.1)}, `{"f":0.1}`},
		{"a time, in UTC", []string{"ts"}, []any{noon}, `{"ts":"2026-11-20T11:00:00.123Z"}`},
		{"a whole second", []string{"ts"}, []any{noon.Truncate(time.Second)}, `{"ts":"2026-11-20T11:00:00Z"}`},
		{"bytes", []string{"b"}, []any{[]byte{1, 2}}, `{"b":"AQI="}`},
		{
			"a list",
			[]string{"l"},
			[]any{[]any{"a", nil, 1, []any{math.NaN(), noon}}},
			`{"l":["a",null,1,[null,"2026-11-20T11:00:00.123Z"]]}`,
		},
		{"what JSON can't say", []string{"c"}, []any{complex(1, 2)}, `{"c":"(1+2i)"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := result.WriteRow(&b, tt.columns, tt.values); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want+"\n" {
				t.Errorf("\n%swant\n%s", b.String(), tt.want)
			}
		})
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed pipe") }

func TestWriteErrors(t *testing.T) {
	if err := result.Write(broken{}, 1); err == nil {
		t.Error("Write: no error")
	}
	if err := result.WriteRow(broken{}, []string{"a"}, []any{1}); err == nil {
		t.Error("WriteRow: no error")
	}
}

func TestTime(t *testing.T) {
	for want, ts := range map[string]time.Time{"": {}, "2026-11-20T11:00:00Z": noon} {
		if got := result.Time(ts); got != want {
			t.Errorf("Time(%v) = %q, want %q", ts, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for oid, want := range map[string]string{"": "", "abc": "abc", "0123456789": "0123456"} {
		if got := result.ShortOID(oid); got != want {
			t.Errorf("Short(%q) = %q, want %q", oid, got, want)
		}
	}
}

// TestEveryFieldHasAName: no field of a shape goes by its Go name; one that is in no JSON says so.
func TestEveryFieldHasAName(t *testing.T) {
	name := regexp.MustCompile(`^(?:[a-z][a-z0-9_]*|-)$`)
	for _, v := range []any{
		result.Recall{},
		result.Filters{},
		result.AsOf{},
		result.Hit{},
		result.Session{},
		result.Turn{},
		result.Tool{},
		result.File{},
		result.Commit{},
		result.Related{},
		result.Checkpoint{},
		result.LogSession{},
		result.Version{},
	} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !name.MatchString(tag) && !typ.Field(i).Anonymous { // its own fields have names
				t.Errorf("%s.%s is %q in JSON", typ.Name(), typ.Field(i).Name, tag)
			}
		}
	}
}

// TestFolded: of sessions that begin alike a checkpoint shows the first, with how many others there are.
func TestFolded(t *testing.T) {
	c := result.Checkpoint{Sessions: []result.LogSession{
		{ID: "1"},
		{ID: "2", Begins: "review the"},
		{ID: "3"},
		{ID: "4", Begins: "review the"},
	}}
	want := []result.LogSession{{ID: "1"}, {ID: "2", Begins: "review the", Alike: 1}, {ID: "3"}}
	if diff := cmp.Diff(want, c.Folded()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
