package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Lines that are right, for the tables to bend.
const (
	checkpointOK = `{"t":"checkpoint","git_sha":"1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","user_email":"a@b.c","ts":"2026-11-20T09:41:07.312Z","actor_type":"human","via":"commit"}`
	sessionOK    = `{"t":"session","id":"` + idA +
		`","source":"s","native_id":"n","actor_type":"human","bytes":0,"first_turn":2,"first_tool":1}`
	turnOK    = `{"t":"turn","i":2,"role":"human","ts":"2026-11-20T09:41:07.312Z","content":"x"}`
	toolOK    = `{"t":"tool","i":1,"turn":1,"tool":"Read"}`
	usageOK   = `{"t":"usage","request":"5f0c21d9","turn":1,"model":"m","input":3,"cost":0.5}`
	fileOK    = `{"t":"file","path":"p","change":"A"}`
	linkOK    = `{"t":"link","session":"` + idA + `"}`
	memoryOK  = `{"t":"memory","id":"` + idA + `","content":"x","ts":""}`
	purgeOK   = `{"t":"purge","id":"` + idA + `","n":1,"ts":""}`
	rewriteOK = `{"t":"rewrite","old":"1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","new":"2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b","ts":""}`
	wroteOK   = `{"t":"wrote","git_sha":"1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","session":"` + idA +
		`","path":"p","lines":"1-3,7","gone":0,"ts":"2026-11-20T09:41:07.312Z"}`
	removedOK = `{"t":"removed","session":"` + idA + `","turn":2,"ts":""}`
	scrubOK   = `{"t":"scrub","segment":"s","ts":""}`
)

func TestDecodeAcceptsTheLinesThatTheTableBends(t *testing.T) {
	all := []string{
		checkpointOK, fileOK, linkOK, sessionOK, toolOK, turnOK, usageOK, memoryOK, purgeOK, rewriteOK,
		wroteOK, scrubOK, removedOK,
	}
	if _, err := Decode([]byte(strings.Join(all, "\n") + "\n")); err != nil {
		t.Error(err)
	}
}

// TestDecodeRefuses: a teammate's ledger is untrusted input. Each case is one thing wrong
// in the last of otherwise right lines.
func TestDecodeRefuses(t *testing.T) {
	bent := func(line, old, new string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%q is not in %s", old, line)
		}
		return strings.Replace(line, old, new, 1)
	}
	hex := strings.Repeat("1a", 20)
	for _, tt := range []struct {
		name  string
		lines []string
		cause string
	}{
		{"not JSON", []string{`hello`}, "invalid character"},
		{"an empty line", []string{``}, "unexpected EOF"},
		{"an array", []string{`[]`}, "unmarshal JSON"},
		{"two records on a line", []string{turnOK + turnOK}, "after top-level value"},
		{"something behind a record", []string{scrubOK + " x"}, "after top-level value"},
		{"a kind that stands twice", []string{sessionOK, bent(turnOK, `"turn"`, `"tool","t":"turn"`)}, "duplicate"},
		{"the second escaped", []string{sessionOK, bent(turnOK, `"turn"`, `"tool","\u0074":"turn"`)}, "duplicate"},
		{"a key that stands twice", []string{bent(purgeOK, `"n":1`, `"n":9,"n":1`)}, "duplicate"},
		{"no kind", []string{`{"id":"x"}`}, `kind ""`},
		{"a kind that is no word", []string{`{"t":"Turn"}`}, `kind "Turn"`},
		{"an unknown kind, and more behind it", []string{`{"t":"turns"} x`}, "after top-level value"},
		{"an unknown kind that is cut off", []string{`{"t":"turns","x":[`}, "unexpected"},
		{"an unknown key, and what is wrong", []string{bent(purgeOK, `"n":1`, `"why":"x","n":"1"`)}, "unmarshal JSON string"},
		{"a need of no version", []string{`{"t":"needs","version":""}`}, "no version"},
		{"a need in colour", []string{`{"t":"needs","version":"\u001b[31m"}`}, "control characters"},
		{"a number for a text", []string{bent(scrubOK, `"s"`, `7`)}, "unmarshal JSON number"},
		{"a fraction for a number", []string{bent(purgeOK, `"n":1`, `"n":1.5`)}, "unmarshal JSON number"},
		{"a number out of range", []string{bent(purgeOK, `"n":1`, `"n":99999999999999999999`)}, "unmarshal JSON number"},

		{"a second checkpoint", []string{checkpointOK, checkpointOK}, "a second checkpoint"},
		{"a checkpoint of no commit", []string{bent(checkpointOK, hex, "")}, "git_sha"},
		{"a short git_sha", []string{bent(checkpointOK, hex, hex[1:])}, "git_sha"},
		{"a git_sha of 52 digits", []string{bent(checkpointOK, hex, hex+hex[:12])}, "git_sha"},
		{"a git_sha in capitals", []string{bent(checkpointOK, hex, strings.ToUpper(hex))}, "git_sha"},
		{"a git_sha with a line behind it", []string{bent(checkpointOK, hex, hex+`\n`)}, "git_sha"},
		{"a checkpoint's actor", []string{bent(checkpointOK, `"human"`, `"Robot!"`)}, `actor_type "Robot!"`},
		{"a checkpoint's time", []string{bent(checkpointOK, `.312Z`, `Z`)}, `time "2026-11-20T09:41:07Z"`},
		{"a time in a zone", []string{bent(checkpointOK, `Z"`, `+01:00"`)}, "time"},
		{"a day that is none", []string{bent(checkpointOK, `11-20`, `02-30`)}, "time"},

		{"a checkpoint without a time", []string{bent(checkpointOK, "2026-11-20T09:41:07.312Z", "")}, "no time"},
		{
			"a checkpoint of no time",
			[]string{bent(checkpointOK, "2026-11-20T09:41:07.312Z", "0001-01-01T00:00:00.000Z")},
			"no time",
		},
		{"a checkpoint of nobody", []string{bent(checkpointOK, "a@b.c", "")}, `user_email ""`},
		{"a checkpoint's author in colour", []string{bent(checkpointOK, "a@b.c", `\u001b[31ma@b.c`)}, "control characters"},
		{
			"a checkpoint's author without end",
			[]string{bent(checkpointOK, "a@b.c", strings.Repeat("a", maxName+1))},
			"user_email of 8193 bytes",
		},
		{"a checkpoint for no reason", []string{bent(checkpointOK, `"commit"`, `""`)}, `via ""`},
		{"a checkpoint's reason in colour", []string{bent(checkpointOK, `"commit"`, `"\u001b[31m"`)}, `via "\x1b`},
		{
			"a checkpoint's branch of two lines",
			[]string{bent(checkpointOK, `"ts"`, `"git_branch":"a\nb","ts"`)},
			"control characters",
		},
		{"a checkpoint's agent", []string{bent(checkpointOK, `"ts"`, `"agent_id":"\u007f","ts"`)}, "control characters"},
		{"a checkpoint's patch", []string{bent(checkpointOK, `"ts"`, `"patch_id":"\b","ts"`)}, "control characters"},

		{"a file outside", []string{checkpointOK, bent(fileOK, `"p"`, `"../p"`)}, `path "../p"`},
		{"a file that comes back in", []string{checkpointOK, bent(fileOK, `"p"`, `"a/../p"`)}, `path "a/../p"`},
		{"a file from the root", []string{checkpointOK, bent(fileOK, `"p"`, `"/etc/passwd"`)}, `path "/etc/passwd"`},
		{"a file with NUL", []string{checkpointOK, bent(fileOK, `"p"`, `"p\u0000"`)}, `path "p\x00"`},
		{
			"a file without end",
			[]string{checkpointOK, bent(fileOK, `"p"`, `"`+strings.Repeat("p", maxLine+1)+`"`)},
			"path of 16385 bytes",
		},
		{"a former name outside", []string{checkpointOK, bent(fileOK, `"change"`, `"old_path":"..","change"`)}, `path ".."`},
		{"a file of no checkpoint", []string{fileOK}, "a file without a checkpoint"},
		{"a file without a path", []string{checkpointOK, bent(fileOK, `"p"`, `""`)}, `path ""`},
		{"an unknown change", []string{checkpointOK, bent(fileOK, `"A"`, `"copied"`)}, `change "copied"`},
		{"a file's blob", []string{checkpointOK, bent(fileOK, `"change"`, `"blob":"xyz","change"`)}, `blob "xyz"`},
		{"a link of no checkpoint", []string{linkOK}, "a link without a checkpoint"},
		{"a link to no session", []string{checkpointOK, bent(linkOK, idA, "")}, `ID ""`},
		{"a link's session", []string{checkpointOK, bent(linkOK, idA, "../../etc")}, `ID "../../etc"`},

		{"a session without an ID", []string{bent(sessionOK, idA, "")}, `ID ""`},
		{"a session's ID", []string{bent(sessionOK, idA, idA[1:]+"U")}, "ID"},
		{"an ID beyond 128 bits", []string{bent(sessionOK, idA, "8"+idA[1:])}, "ID"},
		{"a session's parent", []string{bent(sessionOK, `"bytes"`, `"parent":"x","bytes"`)}, `ID "x"`},
		{"a session's origin", []string{bent(sessionOK, `"bytes"`, `"forked_from":"x","bytes"`)}, `ID "x"`},
		{"a session without a source", []string{bent(sessionOK, `"s"`, `""`)}, "source"},
		{"a session without a native ID", []string{bent(sessionOK, `"n"`, `""`)}, "native_id"},
		{"a session's actor", []string{bent(sessionOK, `"human"`, `""`)}, `actor_type ""`},
		{"a session's start", []string{bent(sessionOK, `"bytes"`, `"started_at":"now","bytes"`)}, `time "now"`},
		{"a cursor below zero", []string{bent(sessionOK, `"bytes":0`, `"bytes":-1`)}, "bytes"},
		{"a first turn below zero", []string{bent(sessionOK, `"first_turn":2`, `"first_turn":-2`)}, "first_turn"},
		{"a first turn without end", []string{bent(sessionOK, `"first_turn":2`, `"first_turn":268435457`)}, "first_turn"},
		{"a first tool below zero", []string{bent(sessionOK, `"first_tool":1`, `"first_tool":-1`)}, "first_tool"},

		{"a session's source", []string{bent(sessionOK, `"s"`, `"\u001b]0;x\u0007"`)}, "control characters"},
		{"a session's native ID", []string{bent(sessionOK, `"n"`, `"\r"`)}, "control characters"},
		{"a session's agent", []string{bent(sessionOK, `"bytes"`, `"agent_id":"\n","bytes"`)}, "control characters"},
		{"a session's model", []string{bent(sessionOK, `"bytes"`, `"model":"\u001b","bytes"`)}, "control characters"},
		{"a session's branch", []string{bent(sessionOK, `"bytes"`, `"branch":"\n","bytes"`)}, "control characters"},
		{"a session's hash", []string{bent(sessionOK, `"bytes"`, `"session_hash":"\n","bytes"`)}, "control characters"},
		{"a title with NUL", []string{bent(sessionOK, `"bytes"`, `"title":"\u0000","bytes"`)}, "title holds NUL"},
		{
			"a title without end",
			[]string{bent(sessionOK, `"bytes"`, `"title":"`+strings.Repeat("p", maxLine+1)+`","bytes"`)},
			"title of 16385 bytes",
		},

		{"a turn with NUL", []string{sessionOK, bent(turnOK, `"x"`, `"\u0000"`)}, "content holds NUL"},
		{
			"a turn without end",
			[]string{sessionOK, bent(turnOK, `"x"`, `"`+strings.Repeat("x", maxText+1)+`"`)},
			"content of 2097153 bytes",
		},
		{"a tool in colour", []string{sessionOK, bent(toolOK, `"Read"`, `"\u001b[31mRead"`)}, "control characters"},
		{
			"a tool's file outside",
			[]string{sessionOK, bent(toolOK, `"Read"`, `"Read","path":"a/../../b"`)},
			`path "a/../../b"`,
		},
		{"a tool's file with NUL", []string{sessionOK, bent(toolOK, `"Read"`, `"Read","path":"/a\u0000"`)}, "path holds NUL"},
		{"a command with NUL", []string{sessionOK, bent(toolOK, `"Read"`, `"Bash","cmd":"\u0000"`)}, "cmd holds NUL"},
		{"a command without end", []string{sessionOK, bent(toolOK, `"Read"`,
			`"Bash","cmd":"`+strings.Repeat("x", maxLine+1)+`"`)}, "cmd of 16385 bytes"},
		{
			"what is deeply nested",
			[]string{bent(scrubOK, `"s"`, strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000))},
			"exceeded max depth",
		},
		{
			"a number of many digits",
			[]string{bent(purgeOK, `"n":1`, `"n":1`+strings.Repeat("0", 100_000))},
			"unmarshal JSON number",
		},
		{"a kind without end", []string{`{"t":"` + strings.Repeat("x", 100_000) + `"}`}, "kind"},
		{"deep nesting in an unknown kind", []string{`{"t":"x","x":` + strings.Repeat("[", 20_000) +
			strings.Repeat("]", 20_000) + `}`}, "exceeded max depth"},
		{"an ID without end", []string{bent(purgeOK, idA, strings.Repeat("x", 100_000))}, "ID"},

		{"a turn of no session", []string{turnOK}, "a turn, tool or usage without a session"},
		{"a turn twice", []string{sessionOK, turnOK, turnOK}, "turn 2 where 3 follows"},
		{"a turn left out", []string{sessionOK, bent(turnOK, `"i":2`, `"i":3`)}, "turn 3 where 2 follows"},
		{"a turn's role", []string{sessionOK, bent(turnOK, `"human"`, `"a system"`)}, `role "a system"`},
		{"a cursor without end", []string{bent(sessionOK, `"bytes"`,
			`"cursor":"`+strings.Repeat("x", maxCursor+1)+`","bytes"`)}, "cursor of 4097 bytes"},
		{"a turn's time", []string{sessionOK, bent(turnOK, `09:41`, `25:41`)}, "time"},
		{"a tool of no session", []string{toolOK}, "a turn, tool or usage without a session"},
		{"a tool left out", []string{sessionOK, bent(toolOK, `"i":1`, `"i":2`)}, "tool 2 where 1 follows"},
		{"a tool without a name", []string{sessionOK, bent(toolOK, `"Read"`, `""`)}, `name ""`},
		{"a tool behind a turn to come", []string{sessionOK, bent(toolOK, `"turn":1`, `"turn":2`)}, "turn 2"},
		{"a tool behind turn -2", []string{sessionOK, bent(toolOK, `"turn":1`, `"turn":-2`)}, "turn -2"},

		{"a count of no session", []string{usageOK}, "a turn, tool or usage without a session"},
		{"a count of no request", []string{sessionOK, bent(usageOK, "5f0c21d9", "x")}, `request "x"`},
		{"a count behind a turn to come", []string{sessionOK, bent(usageOK, `"turn":1`, `"turn":2`)}, "turn 2"},
		{"a count below zero", []string{sessionOK, bent(usageOK, `"input":3`, `"input":-3`)}, "-3 tokens"},
		{
			"a count without end",
			[]string{sessionOK, bent(usageOK, `"input":3`, `"input":1099511627777`)},
			"1099511627777 tokens",
		},
		{"a cost below zero", []string{sessionOK, bent(usageOK, `0.5`, `-0.5`)}, "a cost of -0.5"},
		{"a count's model", []string{sessionOK, bent(usageOK, `"m"`, `"\u001b"`)}, "control characters"},

		{"a memory's title", []string{bent(memoryOK, `"content"`, `"title":"\u0000","content"`)}, "title holds NUL"},
		{"a memory's content", []string{bent(memoryOK, `"x"`, `"\u0000"`)}, "content holds NUL"},
		{"a memory's source", []string{bent(memoryOK, `"ts"`, `"source":"\n","ts"`)}, "control characters"},
		{"a memory's ID", []string{bent(memoryOK, idA, "x")}, `ID "x"`},
		{"a memory's time", []string{bent(memoryOK, `"ts":""`, `"ts":"x"`)}, `time "x"`},
		{"a purge's ID", []string{bent(purgeOK, idA, "x")}, `ID "x"`},
		{"a purge's time", []string{bent(purgeOK, `"ts":""`, `"ts":"x"`)}, `time "x"`},
		{"a restore's ID", []string{strings.Replace(bent(purgeOK, idA, "x"), "purge", "restore", 1)}, `ID "x"`},
		{"lines of nothing", []string{bent(wroteOK, hex, "")}, `git_sha ""`},
		{"lines that are none", []string{bent(wroteOK, "1-3,7", "3-1")}, `lines "3-1"`},
		{"lines of a path outside", []string{bent(wroteOK, `"p"`, `"../p"`)}, `path "../p"`},
		{"lines of no session", []string{bent(wroteOK, idA, "x")}, `ID "x"`},
		{"lines at no time", []string{bent(wroteOK, "2026-11-20T09:41:07.312Z", "")}, "no time"},
		{"fewer lines gone than none", []string{bent(wroteOK, `"gone":0`, `"gone":-1`)}, "gone -1"},
		{"a rewrite of nothing", []string{bent(rewriteOK, hex, "")}, `old ""`},
		{"a rewrite to nothing", []string{bent(rewriteOK, strings.Repeat("2b", 20), "")}, `new ""`},
		{"a rewrite's time", []string{bent(rewriteOK, `"ts":""`, `"ts":"x"`)}, `time "x"`},
		{"a scrub of nothing", []string{bent(scrubOK, `"s"`, `""`)}, "without a segment"},
		{"a scrub's segment", []string{bent(scrubOK, `"s"`, `"\n"`)}, "control characters"},
		{"a removal of nothing", []string{bent(removedOK, `"session":"`+idA+`",`, "")}, "a removal of nothing"},
		{"a removal of no session", []string{bent(removedOK, idA, "x")}, `ID "x"`},
		{"a removal of turn -2", []string{bent(removedOK, `"turn":2`, `"turn":-2`)}, "turn -2"},
		{"a removal of no entry", []string{bent(removedOK, `"session":"`+idA, `"entry":"x`)}, `ID "x"`},
		{
			"a removal with a blob that is none",
			[]string{bent(removedOK, `"session":"`+idA+`"`, `"segment":"s","blob":"x"`)},
			`blob "x"`,
		},
		{"a scrub's time", []string{bent(scrubOK, `"ts":""`, `"ts":"x"`)}, `time "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(strings.Join(tt.lines, "\n") + "\n"))
			if err == nil || !strings.Contains(err.Error(), tt.cause) {
				t.Errorf("error %v, want one with %q", err, tt.cause)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if want := "segment: line " + string(rune('0'+len(tt.lines))) + ":"; err != nil &&
				!strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %q does not begin with %q", err, want)
			}
			if diff := cmp.Diff(session.Entry{}, got); diff != "" {
				t.Errorf("an error comes with content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefusesTheWhole(t *testing.T) {
	for name, data := range map[string][]byte{
		"no newline at the end": []byte(scrubOK),
		"a torn last line":      []byte(golden[:len(golden)-20]),
		"not UTF-8":             []byte(strings.Replace(memoryOK, "x", "\xff", 1) + "\n"),
		"too large":             bytes.Repeat([]byte(scrubOK+"\n"), MaxRead/len(scrubOK)),
	} {
		if e, err := Decode(data); err == nil || !cmp.Equal(e, session.Entry{}) {
			t.Errorf("%s: no error, or content with it: %v", name, err)
		}
	}
}

// TestDecodeAccepts: what looks odd but does no harm, and what a later version or a careful
// user may write.
func TestDecodeAccepts(t *testing.T) {
	for name, lines := range map[string][]string{
		"a reason of a later version":   {strings.Replace(checkpointOK, `"commit"`, `"stash-pop"`, 1)},
		"a branch in another script":    {strings.Replace(checkpointOK, `"ts"`, `"git_branch":"größe/日本\u0085","ts"`, 1)},
		"a path with dots and newlines": {checkpointOK, strings.Replace(fileOK, `"p"`, `"..a/.../b..\n\u001b"`, 1)},
		"a tool's file elsewhere":       {sessionOK, strings.Replace(toolOK, `"Read"`, `"Read","path":"/home/x/../y"`, 1)},
		"a tool's file at home":         {sessionOK, strings.Replace(toolOK, `"Read"`, `"Read","path":"~/x"`, 1)},
		"the root itself":               {sessionOK, strings.Replace(toolOK, `"Read"`, `"Read","path":"."`, 1)},
		"colour in what was said":       {sessionOK, strings.Replace(turnOK, `"x"`, `"\u001b[31mred"`, 1)},
		"an escaped kind":               {sessionOK, strings.Replace(turnOK, `"turn"`, `"tur\u006e"`, 1)},
		"keys in another order":         {`{"ts":"","id":"` + idA + `","t":"purge","n":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDecodeLeavesOut: of what a later version writes the rest is read, and counted; nobody writes it again without.
func TestDecodeLeavesOut(t *testing.T) {
	sha256 := strings.Repeat("ab", 32)
	bent := func(line, old, new string) string { return strings.Replace(line, old, new, 1) }
	for _, c := range []struct {
		name    string
		lines   []string
		unknown int
		as      []string // what is read as the same
	}{
		{"a kind", []string{scrubOK, `{"t":"output","exit":1}`, purgeOK}, 1, []string{scrubOK, purgeOK}},
		{"a kind within a session", []string{sessionOK, `{"t":"output","turn":2}`, turnOK}, 1, []string{sessionOK, turnOK}},
		{
			"a kind within a checkpoint",
			[]string{checkpointOK, `{"t":"trailer","x":{"t":"file"}}`, fileOK},
			1,
			[]string{checkpointOK, fileOK},
		},
		{"a key", []string{bent(scrubOK, `"ts"`, `"why":"x","ts"`)}, 1, []string{scrubOK}},
		{
			"keys of a line",
			[]string{sessionOK, bent(turnOK, `"i"`, `"model":{"name":"x"},"cost":1,"i"`)},
			1,
			[]string{sessionOK, turnOK},
		},
		{"a key of another kind", []string{sessionOK, bent(turnOK, `"i"`, `"tool":"x","i"`)}, 1, []string{sessionOK, turnOK}},
		{
			"nesting",
			[]string{bent(scrubOK, `"ts"`, `"x":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`,"ts"`)},
			1,
			[]string{scrubOK},
		},
		{"a long key", []string{bent(scrubOK, `"ts"`, `"`+strings.Repeat("x", 100_000)+`":1,"ts"`)}, 1, []string{scrubOK}},
		{"words", []string{
			bent(checkpointOK, `"human"`, `"service"`), bent(fileOK, `"A"`, `"C"`), sessionOK,
			bent(turnOK, `"human"`, `"system"`),
		}, 0, nil},
		{"SHA-256", []string{
			bent(checkpointOK, strings.Repeat("1a", 20), sha256),
			bent(fileOK, `"A"`, `"A","blob":"`+sha256+`"`),
		}, 0, nil},
		{"a cursor", []string{bent(sessionOK, `"bytes"`, `"cursor":"opaque","bytes"`)}, 0, nil},
		{"a need", []string{scrubOK, `{"t":"needs","version":"0.9.0"}`}, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Join(c.lines, "\n") + "\n"
			got, err := Decode([]byte(text))
			if err != nil || got.Unknown != c.unknown {
				t.Fatalf("%d unknown, want %d; %v", got.Unknown, c.unknown, err)
			}
			parts, err := encode(got, MaxSize)
			if c.unknown == 0 {
				if err != nil || string(parts[0]) != text {
					t.Errorf("written again: %v (-want +got):\n%s", err, cmp.Diff(text, string(bytes.Join(parts, nil))))
				}
				return
			}
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("written again: %v", err)
			}
			want, err := Decode([]byte(strings.Join(c.as, "\n") + "\n"))
			want.Unknown = c.unknown
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// FuzzDecode: whatever comes in, an error comes with nothing, and what was understood is
// understood the same when it was written again.
func FuzzDecode(f *testing.F) {
	if seeds, err := filepath.Glob("testdata/fuzz/FuzzDecode/*"); err != nil || len(seeds) == 0 {
		f.Fatalf("no committed seeds: %v", err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Decode(data)
		if err != nil {
			if !cmp.Equal(e, session.Entry{}) {
				t.Fatalf("%v comes with %+v", err, e)
			}
			return
		}
		for _, of := range e.Sessions {
			want := slices.DeleteFunc(slices.Clone(e.Sessions), func(s session.Session) bool { return s.ID != of.ID })
			if got, err := DecodeSession(data, of.ID); err != nil || !cmp.Equal(got, want) {
				t.Fatalf("%v; alone (-want +got):\n%s", err, cmp.Diff(want, got))
			}
		}
		if parts, err := encode(e, MaxSize); e.Unknown > 0 && (err == nil || parts != nil) {
			t.Fatalf("what is not known was lost: %s", parts)
		}
		e.Unknown = 0
		parts, err := encode(e, MaxSize)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) > 1 || len(data) > MaxSize/8 {
			return // TestLongSplit's matter
		}
		again, err := Decode(bytes.Join(parts, nil))
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, parts)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatalf("(-read +read again):\n%s", diff)
		}
		if twice, err := encode(again, MaxSize); err != nil || !cmp.Equal(parts, twice) {
			t.Fatalf("%v; other bytes:\n%s\n%s", err, parts, twice)
		}
	})
}

// TestSeeds keeps the golden segment among the seeds.
func TestSeeds(t *testing.T) {
	seed, err := os.ReadFile("testdata/fuzz/FuzzDecode/everything")
	if err != nil {
		t.Fatal(err)
	}
	if want := "go test fuzz v1\n[]byte(" + strconv.Quote(golden) + ")\n"; string(seed) != want {
		t.Errorf("the seed is not the golden segment (-want +got):\n%s", cmp.Diff(want, string(seed)))
	}
}
