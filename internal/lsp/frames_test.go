package lsp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func frame(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

// TestFrames: a frame that is none costs its sender that one.
func TestFrames(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"two":                      {frame(`{"a":1}`) + frame(`{}`), `{"a":1} {}`},
		"a type":                   {"Content-Type: x\r\n" + frame(`{}`), `{}`},
		"a length beyond all":      {"Content-Length: 99999999999\r\n\r\n{}\r\n" + frame(`{"b":2}`), `{"b":2}`},
		"a negative length":        {"Content-Length: -1\r\n\r\n" + frame(`{}`), `{}`},
		"no number":                {"Content-Length: x\r\n\r\n" + frame(`{}`), `{}`},
		"no header":                {"GET / HTTP/1.1\r\n\r\n" + frame(`{}`), `{}`},
		"a line without an end":    {strings.Repeat("x", 3*maxHeader) + "\r\n" + frame(`{}`), `{}`},
		"an end before the length": {"Content-Length: 100\r\n\r\n{}", ""},
		"nothing":                  {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, got := newFrames(strings.NewReader(tt.in), io.Discard), []string{}
			for {
				m, err := f.Recv()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Error(err)
					}
					break
				}
				got = append(got, string(m))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzFrames: whatever comes before a frame that begins on a line of its own, that frame is read, unless a frame that
// claims its bytes stands there.
func FuzzFrames(f *testing.F) {
	f.Add("Content-Length: 5\r\n\r\n")
	f.Add("Content-Length: 99999999999\r\n\r\n{")
	f.Add("\r\n\r\nContent-Type: x")
	f.Fuzz(func(t *testing.T, before string) {
		in := newFrames(strings.NewReader(before+"\n"+frame(`{"id":7}`)), io.Discard)
		for range len(before) + 2 {
			m, err := in.Recv()
			if err != nil || string(m) == `{"id":7}` {
				if err != nil && !strings.Contains(strings.ToLower(before), "content-length") {
					t.Errorf("lost behind %q", before)
				}
				return
			}
		}
		t.Error("it does not end")
	})
}
