package redact_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// FuzzApply: any text, valid UTF-8 or not, comes out valid, and a second pass over the
// entry changes nothing.
func FuzzApply(f *testing.F) {
	for _, s := range samples(9) {
		f.Add(s.text, "a "+s.secret+" b", "run "+s.text)
	}
	f.Add("<private>a", "\xff\xfe", "</private><PRIVATE >")
	f.Add(`curl -u "[REDACTED:jwt]:abcdefgh" x`, `-u "a:[REDACTED:jwt]"`, "[REDACTED:")
	f.Add("api_key=[REDACTED:generic-api-key]abcdef123456xyz", "token: \u212aey", "key\\n=\\\"a1b2c3d4e5f6\\\"")
	r := redact.New()
	f.Fuzz(func(t *testing.T, turn, title, cmd string) {
		e := entryOf(turn)
		e.Sessions[0].Title = title
		e.Sessions[0].ToolCalls = []session.ToolCall{{Cmd: cmd, Path: title}}
		once, rep := apply(t, r, e)
		for _, s := range []string{
			once.Sessions[0].Turns[0].Content, once.Sessions[0].Title,
			once.Sessions[0].ToolCalls[0].Cmd, once.Sessions[0].ToolCalls[0].Path,
		} {
			if !utf8.ValidString(s) {
				t.Errorf("not UTF-8: %q", s)
			}
		}
		twice, again := apply(t, r, once)
		if diff := cmp.Diff(once, twice); diff != "" || again.Rules != nil || again.Private != 0 {
			t.Errorf("second pass: %+v (-once +twice):\n%s", again, diff)
		}
		other, rep2 := apply(t, r, e)
		if !cmp.Equal(once, other) || !cmp.Equal(rep, rep2) {
			t.Errorf("not the same twice: %s", cmp.Diff(once, other))
		}
	})
}
