package redact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

func entryOf(turns ...string) session.Entry {
	s := session.Session{ID: "01"}
	for i, c := range turns {
		s.Turns = append(s.Turns, session.Turn{Index: i, Role: session.RoleHuman, Content: c})
	}
	return session.Entry{Sessions: []session.Session{s}}
}

func apply(t testing.TB, r *redact.Redactor, e session.Entry) (session.Entry, redact.Report) {
	t.Helper()
	out, rep, err := r.Apply(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return out.Entry(), rep
}

func applyText(t testing.TB, r *redact.Redactor, s string) string {
	t.Helper()
	e, _ := apply(t, r, entryOf(s))
	return e.Sessions[0].Turns[0].Content
}

func TestSecretsInTurns(t *testing.T) {
	r := redact.New()
	for _, s := range samples(1) {
		t.Run(s.rule, func(t *testing.T) {
			want := strings.Replace(s.text, s.secret, "[REDACTED:"+s.rule+"]", 1)
			if diff := cmp.Diff(want, applyText(t, r, s.text)); diff != "" {
				t.Errorf("plain (-want +got):\n%s", diff)
			}
			quoted, err := json.Marshal(map[string]string{"output": s.text})
			if err != nil {
				t.Fatal(err)
			}
			inJSON := applyText(t, r, string(quoted))
			if !strings.Contains(inJSON, "[REDACTED:") || strings.Contains(inJSON, strings.Split(s.secret, "\n")[0]) {
				t.Errorf("inside JSON: %s", inJSON)
			}
			nested, err := json.Marshal(string(quoted))
			if err != nil {
				t.Fatal(err)
			}
			if deep := applyText(t, r, string(nested)); strings.Contains(deep, strings.Split(s.secret, "\n")[0]) {
				t.Errorf("inside JSON inside JSON: %s", deep)
			}
			twice := applyText(t, r, s.text+"\n\nagain, bare: "+s.secret+" and on")
			if strings.Contains(twice, s.secret) || strings.Count(twice, "[REDACTED:"+s.rule+"]") != 2 {
				t.Errorf("second occurrence: %s", twice)
			}
		})
	}
}

func TestEveryTextPasses(t *testing.T) {
	r := redact.New()
	for i, s := range samples(2) {
		if strings.Contains(s.secret, "\n") {
			continue
		}
		t.Run(s.rule, func(t *testing.T) {
			e := everywhere(s.text)
			before := fmt.Sprintf("%#v", e)
			got, rep := apply(t, r, e)
			dump, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(dump), s.secret) {
				t.Errorf("sample %d is still in %s", i, dump)
			}
			if want := map[string]int{s.rule: 13}; !cmp.Equal(want, rep.Rules) {
				t.Errorf("report (-want +got):\n%s", cmp.Diff(want, rep.Rules))
			}
			if after := fmt.Sprintf("%#v", e); after != before {
				t.Error("the entry handed in was changed")
			}
		})
	}
}

// everywhere puts s into all 13 texts of an entry.
func everywhere(s string) session.Entry {
	return session.Entry{
		Checkpoint: &session.Checkpoint{
			GitBranch: s,
			Files:     []session.File{{Path: s, OldPath: s}},
		},
		Sessions: []session.Session{{
			Branch: s, Title: s,
			Turns:     []session.Turn{{Content: s}, {Content: s}},
			ToolCalls: []session.ToolCall{{Tool: s, Path: s, Cmd: s}},
		}},
		Memories: []session.Memory{{Title: s, Content: s, Source: s}},
	}
}

func TestOrdinaryTextsSurvive(t *testing.T) {
	texts := []string{
		"commit 3f2a91bc0d4e5f60718293a4b5c6d7e8f9012345 fixes it",
		"SHA-256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"trace 7c9e6679-7425-40de-944b-e07fc1f90ae7, session 01ARZ3NDEKTSV4RRFFQ69G5FAV",
		`"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`,
		"github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBu83RLg=",
		"feature/JIRA-1234-token-refresh", "internal/auth/token_key.go", "secrets/README.md",
		"docs/api-keys.md", "D:\\work\\src\\key.go", "src/über/ключ.go",
		"", "\u212aelvin \u017fecret \u0130",
		"go test ./internal/redact -run 'TestKey' -count=1", "[REDACTED:generic-api-key]",
		"api_key = os.Getenv(\"API_KEY\")", "token := ctx.Value(tokenKey).(string)",
	}
	r := redact.New()
	for _, s := range texts {
		t.Run(s, func(t *testing.T) {
			want := everywhere(s)
			cmd := []rune(s)
			want.Sessions[0].ToolCalls[0].Cmd = string(cmd[:min(len(cmd), session.CmdPrefix)])
			got, rep := apply(t, r, everywhere(s))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if rep.Rules != nil || rep.Private != 0 {
				t.Errorf("report: %+v", rep)
			}
		})
	}
}

func TestPrivate(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"inside", "a <private>b</private> c", "a [private] c"},
		{"all", "<private>b</private>", "[private]"},
		{"case and lines", "a\n<PRIVATE>\nb\n</Private>\nc", "a\n[private]\nc"},
		{"unclosed", "a <private>b c", "a [private]"},
		{"two", "<private>a</private>b<private>c</private>", "[private]b[private]"},
		{"nested", "<private>a<private>b</private>c</private>d", "[private]d"},
		{"nested unclosed", "<private>a<private>b</private>c", "[private]"},
		{"opened elsewhere", "a</private>b", "[private]b"},
		{"opened elsewhere, behind another", "a<private>b</private>c</private>d<private>e", "[private]d[private]"},
		{"blanks", "a< private >b</ private>c< / private >d", "[private]d"},
		{"escaped", "a&lt;private&gt;b&lt;/Private&gt;c", "a[private]c"},
		{
			"HTML's numbers", "a&#60;private&#62;b&#x3C;/private&#x3e;c&#060;private>d&#60;&#47;private>e",
			"a[private]c[private]e",
		},
		{"URL", "a%3Cprivate%3Eb%3c%2Fprivate%3ec", "a[private]c"},
		{"JSON", `a\u003cprivate\u003eb\u003C/private\u003Ec`, "a[private]c"},
		{"shell", `a\<private\>b\</private\>c`, `a\[private]c`},
		{"full width", "a＜ｐｒｉｖａｔｅ＞b＜／ｐｒｉｖａｔｅ＞c", "a[private]c"},
		{"Cyrillic letters", "a<рrіvаtе>b</рrіvаtе>c", "a[private]c"},
		{"Greek letters", "a<ρrινατε>b</ρrινατε>c", "a[private]c"},
		{"two ways", "a%3Cprivate>b&lt;/private\\u003ec", "a[private]c"},
		{"empty", "a<private/>b", "a<private/>b"},
		{"attribute", `<private why="x">a</private >b`, "[private]b"},
		{"joins to no tag", "<pri<private>x</private>vate>y", "<pri[private]vate>y"},
		{"other word", "<privateer>a", "<privateer>a"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, applyText(t, r, tt.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	e, rep := apply(t, r, entryOf("a", "<private>b</private>", "c"))
	if rep.Private != 1 || len(e.Sessions[0].Turns) != 3 {
		t.Errorf("%d private, turns %v", rep.Private, e.Sessions[0].Turns)
	}
}

func TestCommandIsRedactedBeforeItIsCut(t *testing.T) {
	r := redact.New()
	for _, s := range samples(3) {
		t.Run(s.rule, func(t *testing.T) {
			for pad := range session.CmdPrefix + 2 {
				cmd := strings.Repeat("é", max(pad-1, 0)) + " " + s.text
				e, _ := apply(t, r, session.Entry{Sessions: []session.Session{{ToolCalls: []session.ToolCall{{Cmd: cmd}}}}})
				got := e.Sessions[0].ToolCalls[0].Cmd
				if n := utf8.RuneCountInString(got); n > session.CmdPrefix {
					t.Fatalf("pad %d: %d runes", pad, n)
				}
				if strings.Contains(got, s.secret[:8]) && s.rule != "private-key" {
					t.Fatalf("pad %d: a part is left: %q", pad, got)
				}
				if i := strings.LastIndex(got, "[RED"); i >= 0 && !strings.Contains(got[i:], "]") {
					t.Fatalf("pad %d: half a marker: %q", pad, got)
				}
			}
		})
	}
}

func TestTitleThatEndsInsideASecret(t *testing.T) {
	s := samples(4)[1]
	e := entryOf("deploy with " + s.secret + " now")
	e.Sessions[0].Title = "deploy with " + s.secret[:20] + "…"
	got, _ := apply(t, redact.New(), e)
	if want := "deploy with [REDACTED:github-pat]…"; got.Sessions[0].Title != want {
		t.Errorf("got %q, want %q", got.Sessions[0].Title, want)
	}
}

func TestLongTurnIsCut(t *testing.T) {
	s := samples(5)[0]
	for _, pad := range []int{0, 30, 60, 64, 70, 4000} {
		t.Run(fmt.Sprint(pad), func(t *testing.T) {
			in := strings.Repeat("é", session.MaxTurn/2-pad) + " " + s.secret + strings.Repeat(" ü", 4000)
			got := applyText(t, redact.New(), in)
			if len(got) > session.MaxTurn || !utf8.ValidString(got) {
				t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			var missing int
			body, note, ok := strings.Cut(got, "\n[cut: ")
			if _, err := fmt.Sscanf(note, "%d bytes]", &missing); !ok || err != nil {
				t.Fatalf("no note at the end: %q", got[len(got)-60:])
			}
			full := strings.Replace(in, s.secret, "[REDACTED:aws-access-token]", 1)
			if len(body)+missing != len(full) || !strings.HasPrefix(full, body) {
				t.Errorf("%d bytes kept + %d missing of %d", len(body), missing, len(full))
			}
			if i := strings.LastIndex(body, "[RED"); i >= 0 && !strings.Contains(body[i:], "]") {
				t.Errorf("half a marker: %q", body[i:])
			}
			if again := applyText(t, redact.New(), got); again != got {
				t.Error("a second time it is cut again")
			}
		})
	}
}

func TestForgedMarkers(t *testing.T) {
	s := samples(6)[1]
	got := applyText(t, redact.New(), "[REDACTED:"+s.secret+"] and gitleaks:allow "+s.secret)
	if strings.Contains(got, s.secret) {
		t.Errorf("hidden in a marker or by a comment: %q", got)
	}
}

func TestOverlappingFindingsBecomeOne(t *testing.T) {
	s := samples(7)[1]
	got := applyText(t, redact.New(), `api_key = "`+s.secret+`"`)
	if want := `api_key = "[REDACTED:github-pat]"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, _, err := redact.New().Apply(ctx, entryOf("hello"))
	if !errors.Is(err, context.Canceled) || len(out.Entry().Sessions) != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	r := redact.New()
	want := make(chan string, 4)
	for range cap(want) {
		go func() {
			var all strings.Builder
			for _, s := range samples(8) {
				out, _, err := r.Apply(context.Background(), entryOf(s.text))
				if err != nil {
					all.WriteString(err.Error())
					continue
				}
				all.WriteString(out.Entry().Sessions[0].Turns[0].Content)
			}
			want <- all.String()
		}()
	}
	first := <-want
	for range cap(want) - 1 {
		if got := <-want; got != first {
			t.Errorf("(-first +other):\n%s", cmp.Diff(first, got))
		}
	}
}
