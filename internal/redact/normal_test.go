package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// disguise writes a secret as terminals, editors and clipboards do, or as somebody who hides it.
func (d draw) disguise(secret string) string {
	colour := func() string { return fmt.Sprintf("\x1b[%dm", d.IntN(100)) }
	between := func(sign string) string {
		at := 2 + d.IntN(len(secret)-4)
		return secret[:at] + sign + secret[at:]
	}
	switch d.IntN(14) {
	case 0:
		return colour() + secret + "\x1b[0m"
	case 1:
		return between(colour())
	case 2:
		return between("\x1b]8;;https://acme.dev\x1b\\")
	case 3:
		return between("\u200b")
	case 4:
		return between("\u00ad")
	case 5:
		return between("\ufeff\u2060")
	case 6:
		return between("\x00\x07")
	case 7:
		return between("\u009b1m")
	case 8:
		return between("\\\r\n")
	case 9:
		return between("\r\n")
	case 10:
		return between("\n  ")
	case 11:
		return strings.Map(func(r rune) rune { return r - '!' + 0xff01 }, secret)
	case 12:
		return between(`\u200b`)
	}
	return secret
}

// TestOneSecretOnePlace: what is redacted in one text of an entry stands in no other, however it is written
// there: in a title made of the prompt or given, in the commit's subject, a branch, a command, another turn.
// Titles are cut at every length within the secret.
func TestOneSecretOnePlace(t *testing.T) {
	r := redact.New()
	said := []string{
		"password=%s ok", "use the token %s for it", "DB_PASSWORD: %s\nthen go on",
		"curl -H 'Authorization: Bearer %s' x", "%s",
	}
	for seed := range uint64(300) {
		d := draw{rand.New(rand.NewPCG(seed, 17))}
		secret := "gh" + "p_" + d.of(36, alnum)
		frame := said[d.IntN(len(said))]
		if frame != "%s" {
			secret = "Xk9" + d.of(8+d.IntN(12), alnum) + "4q"
		}
		tell := func() string { return fmt.Sprintf(frame, d.disguise(secret)) }
		prompt := strings.Repeat("word ", d.IntN(16)) + tell()
		e := entryOf(prompt, "as you said: "+d.disguise(secret)+" it is", tell())
		s := &e.Sessions[0]
		s.Title = session.PromptTitle(prompt)
		if d.IntN(3) == 0 {
			s.Title = strings.Repeat("title ", 20+d.IntN(16)) + tell()
		}
		s.Branch = "fix/" + secret
		s.ToolCalls = []session.ToolCall{{Tool: "Bash", Cmd: strings.Repeat("x ", d.IntN(40)) + d.disguise(secret)}}
		s.Turns = append(s.Turns, session.Turn{Index: 3, Role: session.RoleHuman, Content: "password: " + secret})
		e.Subject = "3f2a91b Remove " + d.disguise(secret)
		e.Memories = []session.Memory{{Title: "the " + d.disguise(secret), Content: tell()}}
		got, _ := apply(t, r, e)
		for where, text := range textsOf(got) {
			if piece := left(visible(text), secret); piece != "" {
				t.Errorf("seed %d: %q of %q is left in the %s: %q", seed, piece, secret, where, text)
			}
		}
		if again, rep := apply(t, r, got); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("seed %d: a second time: %v", seed, rep)
		}
	}
}

// visible is a text as somebody reads it who wants to know.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xff01 && r <= 0xff5e {
			r += '!' - 0xff01
		}
		if r < 0x80 && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, strings.ReplaceAll(session.PlainText(s), `\u200b`, ""))
}

func textsOf(e session.Entry) map[string]string {
	out := map[string]string{"subject": e.Subject, "memory's title": e.Memories[0].Title, "memory": e.Memories[0].Content}
	for _, s := range e.Sessions {
		out["title"], out["branch"], out["command"] = s.Title, s.Branch, s.ToolCalls[0].Cmd
		for _, turn := range s.Turns {
			out[fmt.Sprintf("turn %d", turn.Index)] = turn.Content
		}
	}
	return out
}

// TestStoredInNormalForm: texts lose what nobody sees; paths are names and keep their bytes.
func TestStoredInNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31mred\x1b[0m\t\r\n  trailing":           "red\t\n  trailing",
		"10%\r20%\rdone\x07":                           "10%\n20%\ndone",
		"\x1b]0;title\agreen\x1b(B \x1b":               "green ",
		"می\u200cخواهم 👩\u200d🚀 a\u200bb \u200f":       "می\u200cخواهم 👩\u200d🚀 ab ",
		"\x1b\x1b[0m[31mtwice\x1b]8;;not closed\nhere": "[31mtwice]8;;not closed\nhere",
	} {
		e := entryOf(in)
		e.Sessions[0].ToolCalls = []session.ToolCall{{Path: in}}
		got, _ := apply(t, redact.New(), e)
		if turn := got.Sessions[0].Turns[0].Content; turn != want || session.PlainText(want) != want {
			t.Errorf("%q became %q, want %q, which becomes %q", in, turn, want, session.PlainText(want))
		}
		if path := got.Sessions[0].ToolCalls[0].Path; path != in {
			t.Errorf("path %q became %q", in, path)
		}
	}
}

// TestTitleOfAPromptIsCutBehindRedaction: no rule knows the beginning of a secret.
func TestTitleOfAPromptIsCutBehindRedaction(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("aB3dE5", 6)
	for pad := range 80 {
		prompt := strings.Repeat("x", pad) + " " + secret + " is the token"
		e := entryOf(prompt)
		e.Sessions[0].Title = session.PromptTitle(prompt)
		got, _ := apply(t, redact.New(), e)
		title := got.Sessions[0].Title
		if strings.Contains(title, secret[:5]) || strings.Count(title, "[") != strings.Count(title, "]") ||
			title != session.PromptTitle(got.Sessions[0].Turns[0].Content) {
			t.Errorf("pad %d: %q", pad, title)
		}
	}
}
