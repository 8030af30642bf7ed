package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWordsOf(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"src/auth_test.go", []string{"src", "auth", "test", "go"}},
		{"getHTTPStatus404 X", []string{"get", "HTTP", "Status", "404", "X"}},
		{"Überlauf, naïve", []string{"berlauf", "na", "ve"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, at := range wordsOf(tt.text) {
				got = append(got, tt.text[at[0]:at[1]])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTongue lets two sessions of a project say the same: what the project has its own word for
// is the same in both, in every case and place.
func TestTongue(t *testing.T) {
	lex := &lexicon{df: map[string]int{}, sources: 100, words: []string{"other"}}
	renamed := 0
	for _, word := range []string{
		"checkpoint", "strategy", "transcript", "hooks", "session", "trailer", "shadow", "summary", "metadata", "branch",
		"condense", "attribution", "wingman", "settings", "commit", "prompt", "worktree", "agent", "gemini", "rewind",
		"stage", "resume",
	} {
		for project := range uint64(20) {
			a, b := newTongue(lex, project, 1), newTongue(lex, project, 2)
			if chance(project, word) >= projectRenames {
				continue
			}
			renamed++
			said := a.say(word)
			if said == word || said != b.say(word) {
				t.Errorf("project %d says %q and %q for %q", project, said, b.say(word), word)
			}
			title := string(word[0]-'a'+'A') + word[1:]
			if got, want := a.say("new"+title+".go"), "new"+string(said[0]-'a'+'A')+said[1:]+".go"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	if renamed < 10 {
		t.Errorf("only %d renamed", renamed)
	}
}
