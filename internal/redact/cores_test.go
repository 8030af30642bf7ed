package redact_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// However many cores look at an entry, the same comes out of it, also where one text says what is secret in another.
func TestCoresAgree(t *testing.T) {
	e := entryOf("the key is AKIAQ3EGRTYUI5WXCVBN")
	for n := range 400 {
		text := fmt.Sprintf("%d: %s /home/alice/src <private>%d</private>", n, strings.Repeat("all work and no play ", 50), n)
		switch n % 7 {
		case 0:
			text += fmt.Sprintf(" password: Nutmeg%d&Clove%d", n, n)
		case 3:
			text += fmt.Sprintf(" said Nutmeg%d&Clove%d", n-3, n-3)
		}
		e.Sessions[0].Turns = append(e.Sessions[0].Turns, session.Turn{Index: n + 1, Content: text})
	}
	at := func(procs int) (session.Entry, redact.Report) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return apply(t, redact.New(), e)
	}
	one, told := at(1)
	if told.Private != 400 || len(told.Rules) < 2 {
		t.Errorf("%+v", told)
	}
	for _, procs := range []int{2, 8} {
		got, rep := at(procs)
		if diff := cmp.Diff(one, got) + cmp.Diff(told, rep); diff != "" {
			t.Errorf("%d cores (-one +these):\n%.2000s", procs, diff)
		}
	}
}

// A long text is looked at in parts. A value is found wherever one of them ends.
func TestValueWhereAPartEnds(t *testing.T) {
	const partSize = 128 << 10
	r, filler := redact.New(), strings.Repeat("all work and no play ", 2*partSize/21)
	for before := range 34 {
		text := filler[:partSize-before] + " password: Nutmeg31&Clove77 " + filler
		if got := applyText(t, r, text); strings.Contains(got, "Nutmeg31") || strings.Contains(got, "Clove77") ||
			len(got) < len(text)-10 {
			t.Errorf("%d bytes before the end of a part: found %d bytes of %d", before, len(got), len(text))
		}
	}
}

// An encoded key of 40 KB whose end was cut off is taken out whole, also where a part of the text ends in it.
func TestKeyWhereAPartEnds(t *testing.T) {
	const partSize = 128 << 10
	r, filler := redact.New(), strings.Repeat("all work and no play ", 2*partSize/21)
	d := draw{rand.New(rand.NewPCG(1, 1))}
	plain := "-----BEGIN PRIVATE KEY-----\n"
	for len(plain) < 30_000 {
		plain += d.of(64, b64) + "\n"
	}
	key := base64.StdEncoding.EncodeToString([]byte(plain))
	for _, before := range []int{100, 1000, 20_000, 39_000} {
		got := applyText(t, r, filler[:partSize-before]+" "+key+" "+filler)
		for at := 0; at+100 < len(key); at += 1000 {
			if strings.Contains(got, key[at:at+100]) {
				t.Errorf("%d bytes before the end of a part: what stands at %d is left", before, at)
				break
			}
		}
	}
}
