package search

import (
	"sync"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// Pool is what searches of several indexes tell each other of one question, so that each scores as if all were one
// index: how rare words are, by which score words are scarce, how near an ordinary session is, and what a strong answer
// is. What a search knows nothing of yet is zero.
type Pool struct {
	Counts   lexical.Counts // summed up
	Ordinary []Nearness     // of sessions evenly spread over all
	Lexical  lexicalBest    // of the best session by words
	Rivals   []float64      // the scores of the best sessions
	Strong   float64        // the best score of a session that answers; 0 where none does
}

// lexicalBest is what words say of a session: its score, and the share of the question's words that it holds.
type lexicalBest struct{ Score, Held float64 }

// best is the better one of two. Of equal scores, the one that holds more counts.
func (b lexicalBest) best(other lexicalBest) lexicalBest {
	if other.Score > b.Score || other.Score == b.Score && other.Held > b.Held {
		return other
	}
	return b
}

// Nearness is how near a session is to the question by an embedding model's cosines.
type Nearness struct {
	Whole, Passage float64 // as a whole, and its nearest passage
	Sessions       float64 // for how many sessions it stands
}

// add takes in what another search found.
func (p *Pool) add(other Pool) {
	p.Counts.Add(other.Counts)
	p.Ordinary = append(p.Ordinary, other.Ordinary...)
	p.Rivals = append(p.Rivals, other.Rivals...)
	p.Lexical, p.Strong = p.Lexical.best(other.Lexical), max(p.Strong, other.Strong)
}

// Exchange brings searches together, each in a goroutine of its own. Each calls Give as its Options.Pool, and Leave
// once, when it will give nothing more.
type Exchange struct {
	mu      sync.Mutex
	members int // that have not left
	given   Pool
	waiting []chan Pool
}

// NewExchange is one between so many searches.
func NewExchange(members int) *Exchange { return &Exchange{members: members} }

// Give hands in what one search found, and returns what all found, once each of the others gave something, too, or
// left.
func (x *Exchange) Give(p Pool) Pool {
	all := make(chan Pool, 1)
	x.mu.Lock()
	x.given.add(p)
	x.waiting = append(x.waiting, all)
	x.shareSum()
	x.mu.Unlock()
	return <-all
}

// Leave ends the part of one search.
func (x *Exchange) Leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.members--
	x.shareSum()
}

// shareSum gives the sum to all who wait, if nobody is missing. Nobody changes it any more.
func (x *Exchange) shareSum() {
	if len(x.waiting) < x.members {
		return
	}
	for _, to := range x.waiting {
		to <- x.given
	}
	x.given, x.waiting = Pool{}, nil
}

// pool is Pool, or what the search alone found.
func (o Options) pool(p Pool) Pool {
	if o.Pool == nil {
		return p
	}
	return o.Pool(p)
}

// counts are the counts of terms over all indexes that are asked; nil if this is the only index.
func (s *Searcher) counts(q query.Query, f lexical.Lists, opt Options) (*lexical.Counts, error) {
	if opt.Pool == nil {
		return nil, nil //nolint:nilnil // nil is how the scores of one index are asked for
	}
	own, err := s.index.Count(q, f)
	if err != nil {
		return nil, err
	}
	all := opt.Pool(Pool{Counts: own}).Counts
	return &all, nil
}
