package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// count is the words w<from> to w<to-1>.
func count(from, to int) string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("w%d", i))
	}
	return strings.Join(out, " ")
}

// turnsOf makes turns of texts: those that begin with ">" are prompts.
func turnsOf(texts ...string) []session.Turn {
	var out []session.Turn
	for i, text := range texts {
		content, isPrompt := strings.CutPrefix(text, ">")
		role := session.RoleAssistant
		if isPrompt {
			role = session.RoleHuman
		}
		out = append(out, session.Turn{Index: 2 * i, Role: role, Content: content})
	}
	return out
}

func TestModelPassages(t *testing.T) {
	long := strings.Repeat("x", 79)
	for _, tt := range []struct {
		name  string
		texts []string
		want  []modelPassage
	}{
		{"nothing", nil, nil},
		{"blanks", []string{"> \n", ""}, nil},
		{"a word", []string{"> hello\n"}, []modelPassage{{0, "hello", 1}}},
		{
			"prompts and last answers",
			[]string{">why?", "let me look", "it  is\nlocal", ">now?", "done", "tested"},
			[]modelPassage{{4, "why? it is local now? tested", 3}},
		},
		{
			"a rest and what follows, which fit together",
			[]string{">" + count(0, 130), count(200, 240), ">" + count(300, 331), count(400, 500)},
			[]modelPassage{
				{0, count(0, 100), 100},
				{2, count(100, 130) + " " + count(200, 240), 40},
				{4, count(300, 331), 31},
				{6, count(400, 500), 100},
			},
		},
		{
			"the beginning of a long turn",
			[]string{">" + count(0, 500)},
			[]modelPassage{{0, count(0, 100), 100}, {0, count(100, 200), 100}, {0, count(200, 300), 100}},
		},
		{
			"as many words as fit",
			[]string{">" + count(0, 130)},
			[]modelPassage{{0, count(0, 100), 100}, {0, count(100, 130), 30}},
		},
		{
			"as many bytes as fit",
			[]string{">" + strings.Repeat(long+" ", 11)},
			[]modelPassage{{0, strings.TrimSpace(strings.Repeat(long+" ", 10)), 10}, {0, long, 1}},
		},
		{
			"a long word",
			[]string{">a " + strings.Repeat("0", 1000) + " b"},
			[]modelPassage{{0, "a " + strings.Repeat("0", 160) + " b", 3}},
		},
		{
			"text without blanks",
			[]string{">" + strings.Repeat("語", 30)},
			[]modelPassage{{0, strings.Repeat("語", 26) + " " + strings.Repeat("語", 4), 2}},
		},
		{"what is no text", []string{">a\xff b"}, []modelPassage{{0, "a b", 2}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, modelPassages(turnsOf(tt.texts...)), cmp.AllowUnexported(modelPassage{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the text: passages are bounded, and a session that grows keeps all but the last one, and those of its last
// answer.
func TestModelPassagesGrow(t *testing.T) {
	var texts []string
	for i := range 40 {
		prompt := []string{">", "", ""}[i%3]
		texts = append(texts, prompt+count(i*i, i*i+3*i)+" "+strings.Repeat("é", i*9)+strings.Repeat("/a/b", i*7))
	}
	all := modelPassages(turnsOf(texts...))
	for n := 1; n < len(texts); n++ {
		had := modelPassages(turnsOf(texts[:n]...))
		if answer := texts[n-1]; !strings.HasPrefix(answer, ">") {
			had = had[:len(had)-len(passageTexts(answer))]
		}
		had = had[:max(0, len(had)-1)]
		if len(had) > 0 && !cmp.Equal(had, all[:len(had)], cmp.AllowUnexported(modelPassage{})) {
			t.Errorf("%d turns: had %v, has %v", n, had, all[:len(had)])
		}
	}
	for _, p := range all {
		if len(p.text) > passageBytes+1 || !utf8.ValidString(p.text) {
			t.Errorf("%d bytes: %q", len(p.text), p.text)
		}
	}
}
