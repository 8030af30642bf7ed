package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBesideIDs(t *testing.T) {
	const id = "01KGGCRX"
	for _, tt := range []struct {
		name, question string
		unknown, ids   []string
		want           []string
	}{
		{"an ID alone", id, []string{"kggcrx"}, []string{id}, []string{}},
		{"words beside it", "frob 01kggcrx", []string{"frob", "kggcrx"}, []string{"01kggcrx"}, []string{"frob"}},
		{"a piece of it as a word", id + " kggcrx", []string{"kggcrx"}, []string{id}, []string{"kggcrx"}},
		{"the ID of nothing", id, []string{"kggcrx"}, nil, []string{"kggcrx"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wordsBesideIDs(tt.unknown, tt.question, tt.ids)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
