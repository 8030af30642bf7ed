package search_test

import (
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/google/go-cmp/cmp"
)

// Words that stand nowhere are named; where they carry the question, or where no two of its words stand together and
// others score about as well, what is found is weak.
func TestUnknown(t *testing.T) {
	d := newIndex(t)
	titled := talk("S1", "We cut the timeout of the upload to a second, because the proxy gives up after two.")
	titled.Title = "Postponed uploads"
	add(t, d, titled, talk("S2", "The bracket of the shelf is loose."),
		talk("S3", "Ingress rules of kubernetes clusters."))
	for n := range 40 { // without which three sessions say little of what is rare
		add(t, d, talk(fmt.Sprintf("T%02d", n), fmt.Sprintf("Step %d of the migration: tables, rows and columns.", n),
			"The upload works. A longer text, and at its end a shelf of other matters; some timeout too."))
	}
	hide(t, d, "S3")
	for _, tt := range []struct {
		name, query string
		unknown     []string
		weak, none  bool
	}{
		{"all known", "timeout of the upload", nil, false, false},
		{"what carries it is nowhere", "timeout of the Websocket", []string{"websocket"}, true, false},
		{
			"what is nowhere is little of it", "cut the timeout of the upload, because the proxy gives up: websocket",
			[]string{"websocket"},
			false, false,
		},
		{"nothing is known", "Websocket frames", []string{"frames", "websocket"}, false, true},
		{
			"what is hidden is nowhere", "kubernetes clusters, ingress rules and the loose bracket",
			[]string{"clusters", "ingress", "kubernetes", "rules"},
			true, false,
		},
		{"a title is somewhere", "postponed", nil, false, false},
		{"misspelt", "brakcet", nil, false, false},
		{"misspelt in its ending, and all answer as well", "migratoin tables", nil, true, false},
		{"no two stand together", "matters of rows, works of migration, text of steps", nil, true, false},
		{"scattered, and found all the same", "bracket loose", nil, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := search.Open(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Search(t.Context(), tt.query, search.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.unknown, got.Unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if none := len(got.Hits) == 0; none != tt.none || !none && got.Hits[0].Weak != tt.weak {
				t.Errorf("want weak %v, none %v: %+v", tt.weak, tt.none, got.Hits)
			}
		})
	}
}
