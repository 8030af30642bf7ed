package commits

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// commitsOf writes a commit, one on top of it, and one of another history.
func commitsOf(t *testing.T, repo *git.Repo) (ancestor, end, other git.Commit) {
	made := map[string]git.Commit{}
	for _, name := range []string{"ancestor", "end", "other"} {
		d := git.Draft{Message: name, Author: git.Signature{Name: "Ann", Email: "ann@x", When: time.Unix(1, 0)}}
		if name == "end" {
			d.Parents = []git.OID{made["ancestor"].OID}
		}
		id, err := repo.WriteCommit(d)
		if err != nil {
			t.Fatal(err)
		}
		if made[name], err = repo.Commit(id); err != nil {
			t.Fatal(err)
		}
	}
	return made["ancestor"], made["end"], made["other"]
}

func TestSquash(t *testing.T) {
	repo, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	ancestor, end, other := commitsOf(t, repo)
	part := func(branch string, minute int, more func(*candidate)) *candidate {
		k := &candidate{
			CodeCommit: db.CodeCommit{Email: "ann@x", Branch: branch, Files: 1, Paths: []string{"a"}},
			when:       time.Unix(int64(60*minute), 0), present: []git.Commit{other},
		}
		more(k)
		return k
	}
	same := func(paths ...string) func(*candidate) {
		return func(k *candidate) { k.sameFiles, k.present = paths, []git.Commit{end} }
	}
	again := func(a lineMatch) func(*candidate) { return func(k *candidate) { k.lines = a } }
	gone := func(k *candidate) { k.present = nil }
	for _, c := range []struct {
		name  string
		parts []*candidate
		want  []bool
	}{
		{"the same content", []*candidate{part("b", 1, same("a"))}, []bool{true}},
		{"of two branches", []*candidate{part("b", 1, same("a")), part("c", 1, same("a"))}, []bool{false, false}},
		{"that stood there before", []*candidate{part("b", 1, same("stood"))}, []bool{false}},
		{
			"much else is in it",
			[]*candidate{part("b", 1, func(p *candidate) { p.sameFiles, p.Files = []string{"a"}, 9 })},
			[]bool{false},
		},
		{"most lines", []*candidate{part("b", 1, again(lineMatch{added: 4, found: 3, addedByCommit: 9}))}, []bool{true}},
		{"few lines", []*candidate{part("b", 1, again(lineMatch{added: 9, found: 3, addedByCommit: 9}))}, []bool{false}},
		{"two lines", []*candidate{part("b", 1, again(lineMatch{added: 2, found: 2, addedByCommit: 9}))}, []bool{false}},
		{"two lines, which are all", []*candidate{part("b", 1,
			again(lineMatch{added: 2, found: 2, addedByCommit: 2, everything: true}))}, []bool{true}},
		{"two lines of each of two", []*candidate{
			part("b", 1, again(lineMatch{added: 2, found: 2, addedByCommit: 9})),
			part("b", 2, again(lineMatch{added: 2, found: 2, addedByCommit: 9})),
		}, []bool{true, true}},
		{"on the way, gone", []*candidate{part("b", 1, gone), part("b", 2, same("a"))}, []bool{true, true}},
		{"on the way of another branch", []*candidate{part("c", 1, gone), part("b", 2, same("a"))}, []bool{false, true}},
		{
			"on the way, here and no ancestor",
			[]*candidate{part("b", 1, func(*candidate) {}), part("b", 2, same("a"))},
			[]bool{false, true},
		},
		{"an ancestor", []*candidate{
			part("c", 1, func(p *candidate) { p.present = []git.Commit{ancestor} }),
			part("b", 2, same("a")),
		}, []bool{true, true}},
		{"what arrived earlier", []*candidate{
			part("b", 1, func(p *candidate) { p.alreadyIn, p.present = true, nil }),
			part("b", 2, same("a")),
		}, []bool{false, true}},
		{"later than the end", []*candidate{part("b", 3, gone), part("b", 2, same("a"))}, []bool{false, true}},
	} {
		s := &squash{
			repo: repo, candidates: c.parts, blobs: map[string]git.OID{"a": "now", "stood": "then"},
			past: map[string][]history.Stay{"a": nil, "stood": {{OID: "then"}}},
		}
		s.matchFiles()
		s.matchLines()
		err := s.matchAncestors()
		var got []bool
		for _, k := range c.parts {
			got = append(got, k.matched)
		}
		harness.Equal(t, c.name, c.want, got)
		harness.Equal(t, c.name+": error", nil, err)
	}
	copies := []*candidate{part("b", 1, func(k *candidate) { k.SamePatch = true }), part("b", 2, same("a"))}
	if s := (&squash{candidates: copies}); !s.matchPatches() || !copies[0].matched || copies[1].matched {
		t.Error("a copy is a copy of that alone:", fmt.Sprint(*copies[0], *copies[1]))
	}
}
