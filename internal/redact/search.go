package redact

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// searcher finds any of many words in a text. It asks a table for the first bytes at each place (the head), and only
// where some words begin so, a binary search for the longest one. The other words that stand there are its beginnings.
// So the work is in proportion to the text, whatever the words are, and the memory to the words. (An Aho-Corasick
// automaton of a .env file with 500 values would fill 300 MB.) The zero value finds nothing.
type searcher struct {
	words  []string // in order
	parent []int32  // by word: the longest other word with which it begins; -1 for none
	size   int      // of a head
	shift  int      // of a hash
	some   []uint64 // a bit for each hash of a head, so that most places in a text ask no table
	table  []int32  // by hash of a head, without its last sparse bits: 1 + the index of the first bucket; 0 for none
	bucket []bucket
}

// bucket is where the words with one head stand.
type bucket struct {
	head         uint64
	lo, hi, next int32 // next as in table
}

// sparse is how many bits the hashes of some have more than those of table: of 64 places in it, one is taken.
const sparse = 3

// newSearcher returns one for words of at least size bytes, keywordHead or minValue; others are left out.
func newSearcher(words []string, size int) *searcher {
	s := &searcher{words: slices.DeleteFunc(words, func(w string) bool { return len(w) < size }), size: size}
	// of a hash, in bits: of eight places in the table, one is taken
	width := max(6, bits.Len(uint(len(s.words)))+3) + sparse
	s.shift, s.some, s.table = 64-width, make([]uint64, 1<<width/64), make([]int32, 1<<(width-sparse))
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	s.parent, s.bucket = make([]int32, len(s.words)), make([]bucket, 0, len(s.words))
	for i, w := range s.words {
		p := int32(i) - 1
		for p >= 0 && !strings.HasPrefix(w, s.words[p]) {
			p = s.parent[p]
		}
		s.parent[i] = p
		head := headOf(w, size)
		if n := len(s.bucket); n > 0 && s.bucket[n-1].head == head {
			s.bucket[n-1].hi++
			continue
		}
		hash := s.hashOf(head)
		s.some[hash/64] |= 1 << (hash % 64)
		link := &s.table[hash>>sparse]
		s.bucket = append(s.bucket, bucket{head, int32(i), int32(i) + 1, *link})
		*link = int32(len(s.bucket))
	}
	return s
}

// each calls found with the index of every word that begins in a part of t, and where it begins; at each place the
// longest word first.
func (s *searcher) each(t string, part window, found func(word, at int)) {
	last := min(part.hi, len(t)-s.size+1)
	if len(s.words) == 0 || part.lo >= last {
		return
	}
	top := 8 * (s.size - 1)
	head := headOf(t[part.lo:], s.size) << 8
	for i := part.lo; i < last; i++ {
		head = head>>8 | uint64(t[i+s.size-1])<<top
		hash := s.hashOf(head)
		if s.some[hash/64]>>(hash%64)&1 == 0 {
			continue
		}
		for b := s.table[hash>>sparse]; b != 0; b = s.bucket[b-1].next {
			if s.bucket[b-1].head == head {
				for w := s.longest(s.bucket[b-1], t[i:]); w >= 0; w = s.parent[w] {
					found(int(w), i)
				}
			}
		}
	}
}

// longest is the longest word of a bucket with which rest begins; -1 for none. Words between one of them and rest begin
// with it, too.
func (s *searcher) longest(b bucket, rest string) int32 {
	w := b.lo
	if b.hi-b.lo > 1 || !strings.HasPrefix(rest, s.words[w]) {
		w = b.lo + int32(sort.Search(int(b.hi-b.lo), func(i int) bool { return s.words[b.lo+int32(i)] > rest })) - 1
	}
	for w >= b.lo && !strings.HasPrefix(rest, s.words[w]) {
		w = s.parent[w]
	}
	if w < b.lo {
		return -1
	}
	return w
}

// headOf is the first three bytes of t, or the first eight.
func headOf(t string, size int) uint64 {
	if size == keywordHead {
		return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16
	}
	_ = t[7]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// hashOf is Fibonacci hashing: the high bits of a product with 2^64 divided by the golden ratio.
func (s *searcher) hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> s.shift }
