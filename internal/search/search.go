// Package search finds the sessions that a question is about.
//
// In, inside the caller's transaction: Add takes new parts of sessions, Hide says which are hidden, Embed stores the
// vectors of an embedding model. Out: Open and Searcher.Search answer. Below it, analysis and query turn text into
// terms, lexical scores words, and semantic keeps vectors. Everything is stored through db, as bytes that only this
// package reads.
//
// Promises: the next Search finds what Add was given; the cost of Add follows what is new; scores depend to the bit on
// the parts added, their order, their vectors and what is hidden, not on how calls were split. A hidden session is no
// hit and counts for no word, but may still correct a misspelt word. Ties go to the smaller session ID.
//
// It never opens a file or reads the clock. Options.Allow decides what a user may see.
package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// The reasons in Hit.Matched.
const (
	MatchedContent  = "content"  // words of a turn
	MatchedTitle    = "title"    // words of the title
	MatchedFiles    = "files"    // words of the path of a tool call
	MatchedCommand  = "command"  // words of the command of a tool call
	MatchedTerms    = "terms"    // an identifier, path, hash or error code, whole
	MatchedNgram    = "ngram"    // a word that is like one of the question's, which stands nowhere
	MatchedSemantic = "semantic" // a passage that is near in meaning
)

// Options narrow a search.
type Options struct {
	K     int                         // at most so many hits; 0 for all
	Allow func(sessionID string) bool // which sessions may be hits; nil for all
	Weak  bool                        // all hits, and not only the strong ones, or the best weak ones
	Far   bool                        // also hits far below the best, where there are as many as are asked for
	Short bool                        // texts are short and few: a hit is not weak for words that stand nowhere, or apart
	Named func(sessionID string) bool // sessions that the question names, by a commit that they made; nil for none

	Prefer func(sessionID string) bool // which sessions come first where they answer about as well as others; nil for none

	// Pool makes the scores of searches in several indexes compare: each hands in what it found so far, and gets what all
	// did, five times at most (see Pool). Nil: nobody else is asked.
	Pool func(Pool) Pool

	// Embed returns the vector that a model makes of the question, or none. It is called once,
	// beside the search, and only where passages have vectors of that model. Nil: there is
	// nobody to ask.
	Embed func(ctx context.Context, model, text string) []float32
}

// Hit is one session that answers.
type Hit struct {
	Session   string
	Score     float64  // what hits are ordered by; above 0, about 1 to 3 for a strong match
	Lexical   float64  // the part of words, 0 and up
	Embedding float64  // the best passage's lift (see lift), up to 1; 0 without an embedding model
	Turn      int      // index of the turn that answers best; -1 where it is no turn that does
	Next      int      // index of the turn that answers best beside Turn, by words; -1 where none does
	Passage   string   // what answers best: MatchedContent (see Turn), MatchedFiles or MatchedCommand
	Matched   []string // why, in the order of the constants above
	Read      []string // what misspelt words of the question were read as
	Weak      bool     // little speaks for it, nor for any other
	// the score of the best session that answers, in whichever index; 0 where none does, or hits are not judged
	Best   float64
	Memory bool // it is a memory
}

// Answer is what a question found.
type Answer struct {
	Hits    []Hit    // best first
	Unknown []string // words of the question, in lower case, that stand nowhere, nor does one that is like them
}

// Searcher answers questions about one state of an index. It may be used by several
// goroutines as long as its database is open.
type Searcher struct {
	db    *db.DB
	state state
	heads *headers
	index *lexical.Index
}

// Open reads what every search needs. An empty index is no error.
func Open(ctx context.Context, d *db.DB) (*Searcher, error) {
	return openIndex(ctx, d, false)
}

// OpenWithHidden is Open for those who want to see hidden sessions, too: here they are like the others.
func OpenWithHidden(ctx context.Context, d *db.DB) (*Searcher, error) {
	return openIndex(ctx, d, true)
}

func openIndex(ctx context.Context, d *db.DB, all bool) (s *Searcher, err error) {
	s = &Searcher{db: d}
	if s.state, err = readState(ctx, d); err != nil {
		return nil, err
	}
	if all {
		s.state.Hidden = nil
	}
	if s.heads, err = readHeaders(ctx, d, s.state); err != nil {
		return nil, err
	}
	s.hideMissing(d.Later().Missing)
	if s.index, err = lexical.NewIndexAsOf(s.heads.runs, s.state.Hidden, d.Later().Units); err != nil {
		return nil, fmt.Errorf("search: open: %w", asCorrupt(err))
	}
	return s, nil
}

// hideMissing hides what was not there yet at the moment that is asked.
func (s *Searcher) hideMissing(missing []string) {
	if len(missing) == 0 {
		return
	}
	n := 0
	for _, h := range s.heads.runs {
		for _, id := range h.Sessions {
			if _, is := slices.BinarySearch(missing, id); is {
				s.state.Hidden = append(s.state.Hidden, n)
			}
			n++
		}
	}
}

// Search finds the sessions that answer text. Text without a letter or digit has no answer.
func (s *Searcher) Search(ctx context.Context, text string, opt Options) (Answer, error) {
	q := query.Parse(text)
	if len(q.Terms) == 0 || len(s.heads.runs) == 0 {
		return Answer{}, nil
	}
	vector := s.embed(ctx, text, opt)
	found, err := s.fetch(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	others, err := s.counts(q, found, opt)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", asCorrupt(err))
	}
	gist, long := s.rarestTerms(q, found)
	if q = gist; !long {
		if q, found, err = s.correctSpelling(ctx, q, found, others); err != nil {
			return Answer{}, err
		}
	}
	scored, err := s.index.Score(q, found, others)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", asCorrupt(err))
	}
	m, err := s.scoreByModel(ctx, vector(), scored.Matches, opt)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", asCorrupt(err))
	}
	return Answer{s.hits(q, scored, m, opt), scored.Unknown}, nil
}

// fetch reads the blocks of q's terms.
func (s *Searcher) fetch(ctx context.Context, q query.Query) (lexical.Lists, error) {
	asked := make(map[string]bool, len(q.Terms))
	for _, t := range q.Terms {
		asked[t.Text] = true
	}
	lists := make(lexical.Lists)
	var spans []db.Span
	var runs []int // by span
	for i, h := range s.heads.runs {
		for _, span := range spansOf(s.state.Runs[i].ID, h.Fence, asked) {
			spans, runs = append(spans, span), append(runs, i)
		}
	}
	data, err := db.ReadSpans(ctx, s.db, spans)
	for n := 0; err == nil && n < len(data); n++ {
		err = lexical.Decode(s.heads.runs[runs[n]], data[n], func(t []byte) bool { return asked[string(t)] },
			func(t string, l *lexical.List) { lists.Put(t, runs[n], len(s.heads.runs), l) })
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", asCorrupt(err))
	}
	return lists, nil
}

// candidate is a session, by number, with what it is ordered by.
type candidate struct {
	n     int
	score float64
}

// compare puts the better one first; ties go to the smaller session ID.
func (s *Searcher) compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(s.index.Sessions[a.n], s.index.Sessions[b.n]))
}

// addBest adds to wanted the numbers of k more sessions, those with the highest scores above 0.
func (s *Searcher) addBest(k int, opt Options, score func(n int) float64, wanted map[int]bool) {
	var best []candidate // in order
	for n, id := range s.index.Sessions {
		c := candidate{n, score(n)}
		if c.score <= 0 || len(best) == k && s.compare(best[k-1], c) < 0 || wanted[n] || s.index.IsHidden(n) ||
			opt.Allow != nil && !opt.Allow(id) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, s.compare)
		best = slices.Insert(best[:min(len(best), k-1)], min(at, k-1), c)
	}
	for _, c := range best {
		wanted[c.n] = true
	}
}
