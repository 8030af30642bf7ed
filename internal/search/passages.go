package search

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What an embedding model is given of a session: each prompt, and the last answer before the next one. Of each the
// first passages count, which say what was asked and what came of it. All turns took three times as long, and ranked no
// better. Short turns that follow each other are one passage: alone they say little (docs/lab/search.md).
const (
	passagesOfTurn = 3

	// A model of BERT's kind makes two or three tokens of a word of code, and reads 256 at least.
	passageWords = 100
	passageBytes = 800

	longWord   = 80  // bytes: a longer one without borders (Chinese, Japanese) is cut into such
	asciiBytes = 160 // of a longer one in ASCII (keys, data) the rest says nothing
)

// modelPassage is a stretch of a session's text.
type modelPassage struct {
	turn int // the index of the turn that most of it is from
	text string
	most int // words of that turn
}

// Stemmer returns a function for the stems of the words of a text that are no function words, for one goroutine.
func Stemmer() func(text string) []string {
	words := analysis.Words()
	return func(text string) (out []string) {
		for _, t := range words.Tokens(text) {
			if t.Kind == analysis.Word {
				out = append(out, t.Term)
			}
		}
		return out
	}
}

// modelPassages cuts a session. When it grows, those of its last answer may change, and the last one, and no others
// before.
func modelPassages(turns []session.Turn) []modelPassage {
	var out []modelPassage
	for i, t := range turns {
		goesOn := i+1 < len(turns) && turns[i+1].Role != session.RoleHuman
		if t.Role != session.RoleHuman && goesOn {
			continue
		}
		for _, text := range passageTexts(t.Content) {
			p := modelPassage{t.Index, text, countWords(text)}
			if last := len(out) - 1; last < 0 || !out[last].join(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// join takes in a passage that follows, if both fit into one.
func (p *modelPassage) join(next modelPassage) bool {
	if countWords(p.text)+next.most > passageWords || len(p.text)+len(next.text) >= passageBytes {
		return false
	}
	p.text += " " + next.text
	if next.most > p.most {
		p.turn, p.most = next.turn, next.most
	}
	return true
}

// countWords counts what single blanks part.
func countWords(text string) int { return 1 + strings.Count(text, " ") }

// passageTexts are the first passages of a turn.
func passageTexts(content string) (out []string) {
	var words []string
	size := 0
	for w := range strings.FieldsSeq(content) {
		for _, piece := range cutLongWord(strings.ToValidUTF8(w, "")) {
			if len(words) == passageWords || len(words) > 0 && size+len(piece) >= passageBytes {
				if out = append(out, strings.Join(words, " ")); len(out) == passagesOfTurn {
					return out
				}
				words, size = words[:0], 0
			}
			words, size = append(words, piece), size+len(piece)+1
		}
	}
	if len(words) > 0 {
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// cutLongWord cuts a word that is too long.
func cutLongWord(w string) []string {
	if len(w) <= longWord {
		return []string{w}
	}
	if strings.IndexFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return []string{w[:min(len(w), asciiBytes)]}
	}
	var out []string
	for len(w) > longWord {
		n := longWord
		for !utf8.RuneStart(w[n]) {
			n--
		}
		out, w = append(out, w[:n]), w[n:]
	}
	return append(out, w)
}

// hash tells texts apart: what has the same hash has the same vector.
func (p modelPassage) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.text)) // a hash takes everything
	return h.Sum64()
}
