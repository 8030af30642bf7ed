package result_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/result"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "größe 日本 e\u0301 \"x\"", "größe 日本 e\u0301 \"x\""},
		{"white space", "a\nb\tc\r\nd", "a b c  d"},
		{"an escape sequence", "\x1b[2Jx\x1b]0;title\x07", "\uFFFD[2Jx\uFFFD]0;title\uFFFD"},
		{"C1", "a\u009b2Jb\u0085c\u007f", "a\uFFFD2Jb\uFFFDc\uFFFD"},
		{"a raw C1 byte", "a\x9bb", "a\uFFFDb"},
		{"bidi", "\u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c", "\uFFFDevil\uFFFD \uFFFDx\uFFFD \uFFFD\uFFFD\uFFFD"},
		{"zero width", "al\u200bi\u2060c\ufeffe\u00ad", "al\uFFFDi\uFFFDc\uFFFDe\uFFFD"},
		{"joiners", "al\u200dice\u200c", "al\uFFFDice\uFFFD"},
		{"joiners where they belong", "👩\u200d👩\u200d👧 می\u200cخواهم ❤\ufe0f", "👩\u200d👩\u200d👧 می\u200cخواهم ❤\ufe0f"},
		{"tags", "x\U000E0041\U000E007F\U000E0100", "x\uFFFD\uFFFD\uFFFD"},
		{"line separators", "a\u2028b\u2029c", "a\uFFFDb\uFFFDc"},
		{"an Arabic number sign", "\u0600١", "\u0600١"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := result.Printable(tt.in); got != tt.want {
				t.Errorf("%+q, want %+q", got, tt.want)
			}
		})
	}
}

func TestWriteEscapes(t *testing.T) {
	const text = "a\u009b\u202eb\u200b\U000E0041\u2028\x7f\n\"<é>👩\u200d👧"
	const want = `{"title":"a\u009b\u202eb\u200b\udb40\udc41\u2028\u007f\n\"<é>👩‍👧"}` + "\n"
	var b bytes.Buffer
	if err := result.WriteRow(&b, []string{"title"}, []any{text}); err != nil || b.String() != want {
		t.Errorf("row %s, %v, want %s", b.String(), err, want)
	}
	b.Reset()
	if err := result.WriteRow(&b, []string{"x\u202e"}, []any{1}); err != nil || b.String() != `{"x\u202e":1}`+"\n" {
		t.Errorf("row %s, %v", b.String(), err)
	}
	b.Reset()
	if err := result.Write(&b, map[string]string{"title": text}); err != nil || b.String() != want {
		t.Errorf("answer %s, %v, want %s", b.String(), err, want)
	}
}

// FuzzWrite: whatever a text holds, the JSON is one line of what a screen only shows, and says
// the same; and so is what is printed.
func FuzzWrite(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		if err := result.Write(&b, s); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(b.String(), "\n")
		if bad := obeyed(line); bad >= 0 {
			t.Fatalf("%+q at %d of %+q", line[bad:bad+1], bad, line)
		}
		var back string
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("%v: %+q came back as %+q", err, s, back)
		}
		if p := result.Printable(s); obeyed(p) >= 0 || !utf8.ValidString(p) || result.Printable(p) != p {
			t.Fatalf("%+q is printed as %+q", s, p)
		}
	})
}

// obeyed is where a screen would do something else than show a text; -1: nowhere.
func obeyed(s string) int {
	return strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\u2028' ||
			r == '\u2029' || r>>8 == 0xe00
	})
}
