package transcript_test

import (
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// call is an assistant's call of a tool at second 1; done is its result at second 2, with what Claude Code says of it
// beside.
func call(tool, input string) string {
	return assistant(1, fmt.Sprintf(`[{"type":"tool_use","id":"t","name":%q,"input":%s}]`, tool, input))
}

func done(result string, extra ...string) string {
	return user(2, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t","content":"ok"%s}]`, result), extra...)
}

func TestEdits(t *testing.T) {
	const edit, write = `{"file_path":"/work/shop/a.go","old_string":"one\ntwo","new_string":"one\nnew"}`,
		`{"file_path":"/work/shop/a.go","content":"one\ntwo\n"}`
	patch := func(path, lines string) string {
		return fmt.Sprintf(`"toolUseResult":{"filePath":%q,"structuredPatch":[{"oldStart":1,"lines":[%s]}],"userModified":true}`, path, lines)
	}
	asked := transcript.Hunk{Old: []string{"one", "two"}, New: []string{"one", "new"}}
	for _, c := range []struct {
		name  string
		lines []string
		want  []transcript.Edit
	}{
		{
			"what the result says",
			[]string{call("Edit", edit), done("", patch("/work/shop/a.go", `" one","-two","+mine","\\ No newline"`))},
			[]transcript.Edit{{Path: "a.go", Hunks: []transcript.Hunk{{
				Old: []string{"one", "two"},
				New: []string{"one", "mine"},
			}}}},
		},
		{
			"without it, what was asked for",
			[]string{call("Edit", edit), done("")},
			[]transcript.Edit{{Path: "a.go", Hunks: []transcript.Hunk{asked}}},
		},
		{
			"several at once",
			[]string{call("MultiEdit", `{"file_path":"/work/shop/a.go","edits":[{"old_string":"one\ntwo","new_string":"one\nnew"},{"old_string":"x","new_string":""}]}`), done("")},
			[]transcript.Edit{{Path: "a.go", Hunks: []transcript.Hunk{asked, {Old: []string{"x"}}}}},
		},
		{
			"a file that was made",
			[]string{call("Write", write), done("",
				`"toolUseResult":{"type":"create","filePath":"/work/shop/a.go","content":"one\ntwo\n","structuredPatch":[],"originalFile":null}`)},
			[]transcript.Edit{{Path: "a.go", Hunks: []transcript.Hunk{{New: []string{"one", "two"}}}}},
		},
		{
			"a file of which nobody says what it was",
			[]string{call("Write", write), done("")},
			[]transcript.Edit{{Path: "a.go", FullContent: true, Hunks: []transcript.Hunk{{New: []string{"one", "two"}}}}},
		},
		{"a file that is as it was", []string{
			call("Write", write),
			done("", `"toolUseResult":{"type":"update","filePath":"/work/shop/a.go","content":"one\ntwo\n","structuredPatch":[]}`),
		}, nil},
		{"one that failed", []string{call("Edit", edit), done(`,"is_error":true`, `"toolUseResult":"Error: no"`)}, nil},
		{"one without a result", []string{call("Edit", edit)}, nil},
		{
			"a result alone, whose call an earlier read had",
			[]string{done("", patch("/work/shop/a.go", `"+mine"`))},
			[]transcript.Edit{{Path: "a.go", Hunks: []transcript.Hunk{{New: []string{"mine"}}}}},
		},
		{"elsewhere", []string{
			say(0, "x"), call("Edit", `{"file_path":"/etc/x","old_string":"","new_string":"x"}`),
			done("", patch("/etc/x", `"+mine"`)),
		}, nil},
		{"what is only read", []string{
			call("Read", `{"file_path":"/work/shop/a.go"}`),
			done("", `"toolUseResult":{"type":"text","file":{"filePath":"/work/shop/a.go"}}`),
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []transcript.Edit
			for _, s := range decode(t, transcript.Options{}, c.lines...).Sessions {
				got = append(got, s.Edits...)
			}
			for i := range got {
				if got[i].TS.Second() != 2 {
					t.Errorf("done at %v, want the result's time", got[i].TS)
				}
				c.want[i].TS = got[i].TS
			}
			harness.Equal(t, "edits", c.want, got)
		})
	}
}
