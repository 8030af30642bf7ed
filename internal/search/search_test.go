package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/google/go-cmp/cmp"
)

func ids(hits []search.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Session)
	}
	return out
}

// Sessions that hold no word, only hashes, have no length.
func TestSearchWithoutWords(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "3f2a91bcde"), talk("S2", "abcdef1234"))
	if diff := cmp.Diff([]string{"S1"}, ids(find(t, d, "3f2a91bcde", search.Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a memory is called is what it is about: among long sessions that come back to the matter again and
// again, and of which none is called so, it is the first.
func TestSearchFindsMemoryByItsTitle(t *testing.T) {
	d := newIndex(t)
	memory := session.Memory{
		ID: "M1", Title: "Linter version",
		Content: "Pinned to 2.1, because 2.2 reports false positives.",
	}
	parts := []session.Session{memory.AsSession()}
	for n := range 10 {
		said := make([]string, 20)
		for i := range said {
			said[i] = fmt.Sprintf("In step %d of %d we looked at what the build does on each machine and in each folder.", i, n)
			if i%5 == 0 {
				said[i] += " Then the linter complained, and we asked for the version of the compiler."
			}
		}
		parts = append(parts, talk(fmt.Sprint("S", n), said...))
	}
	add(t, d, parts...)
	hits := find(t, d, "linter version", search.Options{})
	if len(hits) != 11 {
		t.Errorf("%d hits: a memory hides no session", len(hits))
	}
	if len(hits) == 0 || hits[0].Session != "M1" || hits[0].Turn != 0 {
		t.Fatalf("%+v", hits)
	}
	if diff := cmp.Diff([]string{"content", "title"}, hits[0].Matched[:2]); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
}

func TestSearchFinds(t *testing.T) {
	d := newIndex(t)
	other := talk("S4", "Something else entirely.")
	other.ToolCalls = []session.ToolCall{
		{Tool: "Edit", Act: session.ActEdit, Path: "src/auth/jwt_test.go"},
		{Tool: "Bash", Cmd: "kubectl rollout restart"},
	}
	other.Title = "Quarterly bookkeeping"
	add(t, d,
		talk("S1", "Why does getHTTPStatus return 404 for E4042?", "It compares PostHog keys."),
		talk("S2", "Первый запрос про кафе: Café crème", "設定ファイルを読み込む"),
		talk("S3", "the of and", "APIs were tested with 50 widgets since 3f2a91bcdef0123456789abcdef0123456789abc"),
		other)
	tests := []struct {
		name, query string
		want        []string
		matched     []string // of the first
	}{
		{"word", "widgets", []string{"S3"}, []string{"content"}},
		{"another form", "widgeting", []string{"S3"}, []string{"content"}},
		{"plural of an acronym", "API", []string{"S3"}, []string{"content"}},
		{"number", "404", []string{"S1"}, []string{"content"}},
		{"error code", "E4042", []string{"S1"}, []string{"content", "terms"}},
		{"identifier in another case", "posthog", []string{"S1"}, []string{"content"}},
		{"part of an identifier", "status", []string{"S1"}, []string{"content"}},
		{"Cyrillic", "запрос", []string{"S2"}, []string{"content"}},
		{"Cyrillic in another form", "запросами", []string{"S2"}, []string{"content"}},
		{"without accents", "cafe creme", []string{"S2"}, []string{"content"}},
		{"Japanese", "ファイル", []string{"S2"}, []string{"content"}},
		{"one character", "設", []string{}, nil},
		{"only a path", "jwt", []string{"S4"}, []string{"files"}},
		{"a whole path", "src/auth/jwt_test.go", []string{"S4"}, []string{"files", "terms"}},
		{"a file's name", "jwt_test.go", []string{"S4"}, []string{"files", "terms"}},
		{"a line of a file", "auth/jwt_test.go:12", []string{"S4"}, []string{"files", "terms"}},
		{"only a command", "kubectl", []string{"S4"}, []string{"command"}},
		{"only a title", "bookkeeping", []string{"S4"}, []string{"title"}},
		{"function words only", "the of", []string{"S3"}, []string{"content"}},
		{"nothing but punctuation", "?! -- …", []string{}, nil},
		{"empty", "", []string{}, nil},
		{"unknown", "zzzz", []string{}, nil},
		{"a short hash", "3f2a91b", []string{"S3"}, []string{"content", "terms"}},
		{"another hash", "3f2a91c", []string{}, nil},
		{"swapped letters", "widgtes", []string{"S3"}, []string{"content", "ngram"}},
		{"a letter too many", "kubecttl", []string{"S4"}, []string{"command", "ngram"}},
		{"a letter too few", "bookeeping", []string{"S4"}, []string{"title", "ngram"}},
		{"not like any word", "widows", []string{}, nil},
		{"what stands somewhere is not guessed at", "widgets kubectl", []string{"S4", "S3"}, nil},
		{"not a word is required", "zzzz widgets", []string{"S3"}, []string{"content"}},
		{"no syntax", `content:"widgets" AND (NOT`, []string{"S3"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hits := find(t, d, tt.query, search.Options{})
			if diff := cmp.Diff(tt.want, ids(hits)); diff != "" {
				t.Fatalf("hits (-want +got):\n%s", diff)
			}
			if tt.matched != nil {
				if diff := cmp.Diff(tt.matched, hits[0].Matched); diff != "" {
					t.Errorf("matched (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestSearchEmptyIndex(t *testing.T) {
	d := newIndex(t)
	if hits := find(t, d, "anything", search.Options{}); len(hits) != 0 {
		t.Errorf("hits = %v, want none", hits)
	}
	add(t, d) // adding nothing changes nothing
	if hits := find(t, d, "anything", search.Options{}); len(hits) != 0 {
		t.Errorf("hits = %v, want none", hits)
	}
}

// TestDamagedBlocks checks that bytes which search did not write are reported as damage, not
// believed.
func TestDamagedBlocks(t *testing.T) {
	for _, statement := range []string{
		"UPDATE search_state SET state = '{'",
		"UPDATE runs SET data = x'' WHERE page >> 32 = 0",
		"DELETE FROM runs WHERE page >> 32 = 0",
		"UPDATE runs SET data = zeroblob(4000) WHERE page >> 32 = 0",
	} {
		t.Run(statement, func(t *testing.T) {
			d := newIndex(t)
			add(t, d, filler(20)...)
			change(t, d, func(ctx context.Context, tx *db.Tx) error { return tx.Exec(ctx, statement) })
			s, err := search.Open(context.Background(), d)
			if err == nil {
				_, err = s.Search(context.Background(), "login token", search.Options{})
			}
			if !errors.Is(err, db.ErrCorrupt) {
				t.Errorf("error = %v, want ErrCorrupt", err)
			}
		})
	}
}

func TestSearchOptions(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S3", "alpha"), talk("S1", "alpha"), talk("S2", "alpha"), talk("S4", "alpha alpha"))
	if diff := cmp.Diff([]string{"S4", "S1", "S2", "S3"}, ids(find(t, d, "alpha", search.Options{}))); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	got := find(t, d, "alpha", search.Options{K: 1, Allow: func(id string) bool { return id != "S4" }})
	if diff := cmp.Diff([]string{"S1"}, ids(got)); diff != "" {
		t.Errorf("one allowed (-want +got):\n%s", diff)
	}
}

// TestStrongAndWeak checks what is left out: what is far behind the best, and where little speaks for that, all but the
// best six.
func TestStrongAndWeak(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "The parser loses a comma after the last bracket."), talk("S2", "Why is the parser slow?"),
		talk("S3", "A comma in the changelog."), talk("S4", "the"),
		talk("S5", "lex.go"), talk("S6", "Other words, many of them, "+strings.Repeat("more words still ", 40)+"and lex.go"),
		talk("S7", "go"))
	for _, tt := range []struct {
		name, query string
		want        []string
		weak        bool
	}{
		{"all words, and some of them", "parser comma", []string{"S1", "S2", "S3"}, false},
		{"far behind the best", "parser loses comma bracket", []string{"S1"}, false},
		{"one word of many", "where is the parser of kubernetes ingress annotations tested", []string{"S2", "S1"}, true},
		{"function words", "is the", []string{"S2", "S1", "S4", "S3"}, true},
		{"nothing", "kubernetes", []string{}, false},
		{"all that hold a name", "lex.go", []string{"S5", "S6"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits := find(t, d, tt.query, search.Options{})
			if diff := cmp.Diff(tt.want, ids(hits)); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			for _, h := range hits {
				if h.Weak != tt.weak {
					t.Errorf("%s: weak %v, want %v", h.Session, h.Weak, tt.weak)
				}
			}
			if all := find(t, d, tt.query, search.Options{Weak: true}); len(all) < len(hits) {
				t.Errorf("with the weak ones %v, without %v", ids(all), ids(hits))
			}
		})
	}
}

// TestPastedText checks that a log is asked by what tells most of it: 200 lines of noise, of which others have more,
// put none of them first.
func TestPastedText(t *testing.T) {
	d := newIndex(t)
	parts := []session.Session{talk("S1", "checkLease in lease_store.go panics with ErrLeaseGone after the renewal",
		"The renewal reads a closed channel.")}
	for i := range 30 {
		parts = append(parts, talk(fmt.Sprintf("T%02d", i), "the test suite ran ok again",
			fmt.Sprintf("goroutine %d was running in package number%d", i, i)))
	}
	add(t, d, parts...)
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "2026-03-04T10:%02d:%02dZ ok test zork%d/frob%d running goroutine %d [chan receive, %d minutes]\n",
			i/60, i%60, i, i*7, i, i)
	}
	log.WriteString("panic: ErrLeaseGone\n\tcheckLease(0xc000123456)\n\t\t/src/store/lease_store.go:214 +0x1d\n")
	hits := find(t, d, log.String(), search.Options{})
	if len(hits) == 0 || hits[0].Session != "S1" {
		t.Errorf("hits = %v, want S1 first", hits)
	}
	nothing := strings.Builder{}
	for i := range 300 {
		fmt.Fprintf(&nothing, "qw%dz ", i)
	}
	for _, h := range find(t, d, nothing.String(), search.Options{}) {
		if !h.Weak || math.IsNaN(h.Score) {
			t.Errorf("%+v of words that stand nowhere", h)
		}
	}
}

// TestEditedBeforeRead checks that who changed a file comes before who read it.
func TestEditedBeforeRead(t *testing.T) {
	d := newIndex(t)
	reads, edits := talk("S1", "look at it"), talk("S2", "look at it")
	reads.ToolCalls = []session.ToolCall{{Tool: "Read", Path: "src/lexer.go"}}
	edits.ToolCalls = []session.ToolCall{
		{Tool: "Read", Path: "src/lexer.go"},
		{Tool: "Edit", Act: session.ActEdit, Path: "src/lexer.go"},
	}
	add(t, d, reads, edits)
	hits := find(t, d, "lexer.go", search.Options{})
	if diff := cmp.Diff([]string{"S2", "S1"}, ids(hits)); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
	for _, h := range hits {
		if h.Turn != -1 || h.Passage != search.MatchedFiles {
			t.Errorf("%s: turn %d of %s, want the path to answer", h.Session, h.Turn, h.Passage)
		}
	}
}

// TestNamed checks that a session which the question names is found, and lifted.
func TestNamed(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "parser comma"), talk("S2", "parser comma"), talk("S3", "hello"))
	isNamed := func(id string) bool { return id >= "S2" }
	hits := find(t, d, "3f2a91b", search.Options{Named: isNamed})
	if diff := cmp.Diff([]string{"S2", "S3"}, ids(hits)); diff != "" {
		t.Fatalf("hits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"terms"}, hits[0].Matched); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
	if hits := find(t, d, "parser of 3f2a91b", search.Options{Named: isNamed}); len(hits) == 0 || hits[0].Session != "S2" {
		t.Errorf("hits = %v, want S2 first", ids(hits))
	}
}

func TestSearchTurn(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "first", "second thing", "the thing with a needle", "more"))
	if hits := find(t, d, "needle thing", search.Options{}); len(hits) != 1 || hits[0].Turn != 2 {
		t.Errorf("hits = %+v, want turn 2", hits)
	}
}

// Where nothing is strong, all come whose scores are near the best one's.
func TestRunnersUp(t *testing.T) {
	d := newIndex(t)
	var all []session.Session
	for i := range 9 {
		all = append(all, talk(fmt.Sprintf("S%d", i), "the parser "+strings.Repeat("of words ", i)))
	}
	add(t, d, all...)
	hits := find(t, d, "where is the parser of kubernetes ingress annotations tested", search.Options{})
	if len(hits) != 9 || slices.ContainsFunc(hits, func(h search.Hit) bool { return !h.Weak }) {
		t.Errorf("%+v, want nine weak hits", hits)
	}
	if hits := find(t, d, "where is the parser of kubernetes ingress annotations tested",
		search.Options{Short: true}); len(hits) != 1 {
		t.Errorf("%+v, want one of short texts", hits)
	}
}

// A question of nothing but names that stand nowhere has no strong answer.
func TestNamesThatStandNowhere(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "the payment service has a side effect", "E 308 of them"),
		talk("S2", "payment_service.go was moved"), talk("S3", "service effect"))
	for query, want := range map[string]bool{
		"useEffect": true, "E0308": true, "src/payment/service.ts": true,
		"payment_service.go": false, "payment service": false,
	} {
		hits := find(t, d, query, search.Options{})
		if len(hits) == 0 || hits[0].Weak != want {
			t.Errorf("%q: %+v, want weak %v", query, hits, want)
		}
	}
}

func TestTitleIsReplaced(t *testing.T) {
	d := newIndex(t)
	first := talk("S1", "hello")
	first.Title = "Aardvark"
	add(t, d, first)
	add(t, d, session.Session{ID: "S1", Title: "Buffalo", FirstTurn: 1})
	if hits := find(t, d, "aardvark", search.Options{}); len(hits) != 0 {
		t.Errorf("the old title still finds: %+v", hits)
	}
	if diff := cmp.Diff([]string{"S1"}, ids(find(t, d, "buffalo", search.Options{}))); diff != "" {
		t.Errorf("the new title (-want +got):\n%s", diff)
	}
}

func BenchmarkAddAll(b *testing.B) {
	parts := realParts(b)
	for b.Loop() {
		add(b, newIndex(b), parts...)
	}
}

func BenchmarkAddOne(b *testing.B) {
	parts := realParts(b)
	d := newIndex(b)
	add(b, d, parts[1:]...)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		p := parts[0]
		p.ID = fmt.Sprint("copy", i)
		tx, err := d.Begin(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if err := search.Add(context.Background(), tx, []session.Session{p}); err != nil {
			b.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	d := newIndex(b)
	add(b, d, realParts(b)...)
	s, err := search.Open(context.Background(), d)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Search(context.Background(), "make sure we compare the right parts of commit hashes",
			search.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
