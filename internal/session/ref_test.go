package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

func TestRefs(t *testing.T) {
	const id = "01KJW4MN48AJBF1NFJ2X4RZ873"
	for _, tt := range []struct {
		text string
		want []session.Ref
	}{
		{"rekal:" + id, []session.Ref{{ID: id, Turn: -1}}},
		{"see rekal:" + id + "#8, and rekal:01KM.", []session.Ref{{ID: id, Turn: 8}, {ID: "01KM", Turn: -1}}},
		{"(REKAL:" + id + "#0)", []session.Ref{{ID: id, Turn: 0}}},
		{"rekal:" + id + " rekal:" + id, []session.Ref{{ID: id, Turn: -1}}},
		{"rekal:" + strings.Repeat("a", 40) + "#x", []session.Ref{{ID: strings.Repeat("a", 40), Turn: -1}}},
		{"git-rekal: no", nil},
		{"norekal:01KM", nil},
		{"rekal/alice@example.com", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(tt.want, session.FindRefs(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
	for _, text := range []string{id, "rekal:" + id, "rekal:" + id + "#8"} {
		if got := session.OnlyRef(text); got.ID != id || text != id && got.String() != text {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestWithoutHandoff(t *testing.T) {
	const page = session.HandoffHead + "Fix it\n\n- Session rekal:01KJW4MN48AJBF1NFJ2X4RZ873, of a\n\n> text\n" +
		session.HandoffEnd
	const short = "Going on with rekal:01KJW4MN48AJBF1NFJ2X4RZ873"
	for in, want := range map[string]string{
		page:                             short,
		page + "\n":                      short + "\n",
		"Do this.\n\n" + page + "\nNow.": "Do this.\n\n" + short + "\nNow.",
		`"` + page + `"`:                 `"` + short + `"`,
		"quoted " + page:                 "quoted " + page,
		session.HandoffHead + "x":        session.HandoffHead + "x",
		"nothing":                        "nothing",
	} {
		if got := session.WithoutHandoff(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestOnlyRef(t *testing.T) {
	for text, want := range map[string]session.Ref{
		"rekal:01KJW4MN#8": {ID: "01KJW4MN", Turn: 8}, "01KJW4MN:8": {ID: "01KJW4MN", Turn: 8},
		"01kjw4mn:0": {ID: "01kjw4mn", Turn: 0},
		"01KJW4MN":   {ID: "01KJW4MN", Turn: -1}, "01KJW4MN:": {ID: "01KJW4MN:", Turn: -1},
		"01KJW4MN:x": {ID: "01KJW4MN:x", Turn: -1},
		"Makefile:3": {ID: "Makefile:3", Turn: -1}, "01.txt:3": {ID: "01.txt:3", Turn: -1},
		"why 01KJW4MN:8": {ID: "why 01KJW4MN:8", Turn: -1},
	} {
		if got := session.OnlyRef(text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}
