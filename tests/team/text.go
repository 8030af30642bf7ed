package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
)

// voice makes up what a session says: sentences about a few things that it keeps coming back
// to, so that sessions differ in their words as real ones do, from a vocabulary that is used
// as unevenly as a real one, with names that nobody else uses.
type voice struct {
	rng    *rand.Rand
	topics []string // things that this session is about
	names  []string // identifiers that it keeps using
}

func newVoice(seed uint64, author, s int) *voice {
	v := &voice{rng: rand.New(rand.NewPCG(seed, uint64(author)<<32|uint64(s)))}
	for range 3 {
		v.topics = append(v.topics, v.one(vocabulary.Things))
	}
	for range 5 {
		v.names = append(v.names, v.camel())
	}
	return v
}

func sha256Of(text string) [32]byte { return sha256.Sum256([]byte(text)) }

func (v *voice) n(below int) int { return v.rng.IntN(below) }

func (v *voice) uuid() string {
	h := sha256Of(fmt.Sprint(v.rng.Uint64(), v.rng.Uint64()))
	x := hex.EncodeToString(h[:16])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

// one picks a word; those at a list's beginning are picked more often.
func (v *voice) one(of []string) string {
	u := v.rng.Float64()
	return of[int(u*u*float64(len(of)))]
}

func (v *voice) name() string { return v.names[v.n(len(v.names))] }

// camel makes an identifier.
func (v *voice) camel() string {
	var b strings.Builder
	for i := range 2 + v.n(2) {
		word := []rune(v.one([][]string{vocabulary.Actions, vocabulary.Things, vocabulary.Kinds}[v.n(3)]))
		if i > 0 {
			word[0] = unicode.ToUpper(word[0])
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// say fills the places of a sentence.
func (v *voice) say(sentence string) string {
	var b strings.Builder
	for _, r := range sentence {
		switch r {
		case 'α':
			b.WriteString(v.topics[v.n(len(v.topics))])
		case 'β':
			b.WriteString(v.one(vocabulary.Things))
		case 'γ':
			b.WriteString(v.name())
		case 'δ':
			b.WriteString(v.one(vocabulary.Actions))
		case 'ε':
			b.WriteString(v.one(vocabulary.Troubles))
		case 'ζ':
			b.WriteString(v.one(vocabulary.Kinds))
		case 'η':
			fmt.Fprint(&b, v.n(1000))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (v *voice) subject() string {
	s := v.say(v.one(vocabulary.Subjects))
	return strings.ToUpper(s[:1]) + s[1:]
}

func (v *voice) prompt(first bool) string {
	list := vocabulary.Replies
	if first {
		list = vocabulary.Questions
	}
	out := v.say(v.one(list))
	for range v.n(3) {
		out += " " + v.say(v.one(vocabulary.Replies))
	}
	return out
}

func (v *voice) answer() string {
	var out []string
	for range 2 + v.n(7) {
		out = append(out, v.say(v.one(vocabulary.Answers)))
	}
	return strings.Join(out, " ")
}

func (v *voice) command() string { return v.say(v.one(vocabulary.Commands)) }

//go:embed vocabulary.json
var vocabularyJSON []byte

// vocabulary are the sentences, whose places say fills, and the words, the frequent ones first.
var vocabulary = func() (v struct {
	Subjects, Questions, Replies, Answers, Commands, Things, Actions, Kinds, Troubles, FirstNames, LastNames []string
},
) {
	if err := json.Unmarshal(vocabularyJSON, &v); err != nil {
		panic(err)
	}
	return v
}()
