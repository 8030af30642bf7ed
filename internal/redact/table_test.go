package redact

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestTable: of each rule of the tables a drawn token is taken out, and words behind the same beginning, or name, stay.
func TestTable(t *testing.T) {
	var s ruleset
	s.load()
	if len(s.table) < 290 {
		t.Errorf("%d rules", len(s.table))
	}
	r := New()
	for i := range s.table {
		rule := &s.table[i]
		t.Run(fmt.Sprint(rule.id, " ", rule.keywords), func(t *testing.T) {
			d := tokenDraw{rand.New(rand.NewPCG(uint64(i), 3))}
			for range 5 {
				text, token := d.met(t, rule)
				if got := redacted(t, r, text); strings.Contains(got, token) {
					t.Errorf("%q became %q", text, got)
				}
				near := d.nearMiss(rule)
				if got := redacted(t, r, near); got != near {
					t.Errorf("near-miss %q became %q", near, got)
				}
			}
		})
	}
}

func redacted(t *testing.T, r *Redactor, text string) string {
	t.Helper()
	e, _, err := r.Apply(t.Context(), session.Entry{Sessions: []session.Session{{
		ID:    "01",
		Turns: []session.Turn{{Content: text}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return e.Entry().Sessions[0].Turns[0].Content
}

// tokenDraw draws what an expression matches.
type tokenDraw struct{ *rand.Rand }

// met is a text with a token of a rule, and the token.
func (d tokenDraw) met(t *testing.T, r *rule) (text, token string) {
	t.Helper()
	parsed, err := syntax.Parse(r.regex.String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if r.begins == named {
			token = d.of(firstCaptureOf(parsed))
			text = "set " + d.name(r) + " = '" + token + "' there"
		} else {
			text = d.of(parsed)
			token = text
			if g := firstCaptureOf(parsed); g != nil {
				_, token = text, ""
			}
			text = "at " + r.keywords[0] + " debug " + strings.TrimRight(text, " ") + " sent"
		}
		_, after, _ := strings.Cut(text, " debug ")
		if m := r.regex.FindStringSubmatch(after); token == "" && m != nil {
			token = m[slices.IndexFunc(m[1:], func(g string) bool { return g != "" })+1]
		}
		if token != "" && (r.entropy == 0 || entropy(token) > r.entropy) && !isAllowed(allowedAnywhere, token, token) &&
			!isAllowed(r.allow, token, token) {
			return text, token
		}
	}
	t.Fatal("nothing drawn")
	return "", ""
}

// name is that of a setting for a named rule's value.
func (d tokenDraw) name(r *rule) string {
	k := r.keywords[d.IntN(len(r.keywords))]
	if isUpper(r.regex.String()[0]) || strings.HasSuffix(k, "key") || strings.HasSuffix(k, "token") {
		return k
	}
	return k + []string{"_api_key", "_token", "_secret_key", "-client-secret"}[d.IntN(4)]
}

// nearMiss is what is no token, though it begins as one or is given to its name: words.
func (d tokenDraw) nearMiss(r *rule) string {
	words := []string{"harbour", "account", "button", "garden", "yellow", "letter", "window", "silver"}
	w := func() string { return words[d.IntN(len(words))] }
	text := strings.Join([]string{w(), w(), w()}, []string{"_", "-"}[d.IntN(2)])
	if r.begins == named {
		return "set " + d.name(r) + " = '" + text + "' there"
	}
	begins := r.keywords[0]
	if isAlphanumeric(begins[len(begins)-1]) {
		begins += "-"
	}
	return "at 10:00 debug " + begins + text + " sent"
}

func firstCaptureOf(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, sub := range re.Sub {
		if g := firstCaptureOf(sub); g != nil {
			return g
		}
	}
	return nil
}

// of draws a text that an expression matches.
func (d tokenDraw) of(re *syntax.Regexp) string {
	repeat := func(least, most int) string {
		if most < 0 || most > least+20 {
			most = least + 20
		}
		var b strings.Builder
		for range least + d.IntN(most-least+1) {
			if re.Sub[0].Op == syntax.OpAnyCharNotNL {
				b.WriteByte(byte('a' + d.IntN(26)))
			} else {
				b.WriteString(d.of(re.Sub[0]))
			}
		}
		return b.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		var all []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for c := max(re.Rune[i], ' '); c <= min(re.Rune[i+1], '~'); c++ {
				all = append(all, c)
			}
		}
		if len(all) == 0 {
			return "\n"
		} else if all[0] == ' ' {
			return " "
		}
		return string(all[d.IntN(len(all))])
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar: // mostly a point, which nobody escaped
		return "."
	case syntax.OpCapture:
		return d.of(re.Sub[0])
	case syntax.OpStar:
		return repeat(0, 3)
	case syntax.OpPlus:
		return repeat(1, 20)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpRepeat:
		return repeat(re.Min, re.Max)
	case syntax.OpAlternate:
		return d.of(re.Sub[d.IntN(len(re.Sub))])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(d.of(sub))
		}
		return b.String()
	}
	return ""
}
