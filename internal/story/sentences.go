package story

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What in English words tells a decision, a turn away from something, and talk that tells neither. A cue counts once a sentence.
var (
	decides = []cue{ //nolint:gochecknoglobals // a table
		{lazy.Expr(`(?i)\b(decided|decision|chose|chosen|opted|settled on|trade-?offs?|deliberate(ly)?|on purpose|by design|rationale|root cause)\b`), 3},
		{lazy.Expr(`(?i)\b(instead of|rather than|in favou?r of|preferred?|must (not|never)|so that|avoids?|simpler|safer)\b`), 2},
		{lazy.Expr(`(?i)\b(because|therefore|otherwise|the reason|since (the|it|we)|instead)\b`), 2},
	}
	gaveUp = []cue{{givesUp, 2}} //nolint:gochecknoglobals // a table
	drops  = []cue{              //nolint:gochecknoglobals // a table
		{givesUp, 2},
		{lazy.Expr(`(?i)\b(revert(ed|ing)?|roll(ed|ing)? back|undid|undo(ing)?|back(ed|ing)? (it )?out|gave up|abandon(ed|ing) (it|the|this|that)|dead end|wrong approach|(we|i) dropped)\b`), 3},
		{lazy.Expr(`(?i)\b(did(n't| not) (work|help)|does(n't| not) (work|help)|no longer (needed|necessary)|turns out|turned out|too (slow|complex|complicated)|over-?engineer\w*|(we|i) tried)\b`), 2},
	}
	// Short as it may be, a sentence says what was dropped.
	givesUp = lazy.Expr(`(?i)(^|\b(we|i)('ve| have)? ((then|also|just|now) )?)(dropped|abandoned|gave up( on)?|discarded|scrapped|ditched|threw (out|away)) [\w"'` + "`" + `]+|\b(we|i)('ve| have)? ((then|also|just|now) )?removed [\w"'` + "`" + `]+`)
	refuses = lazy.Expr(`(?i)^(no|nope|nah|stop|wait|wrong|undo|revert|don't|do not)\b|\b(revert|undo|roll back|that's wrong|not what i|i don't (want|like)|too (complicated|complex|much)|` +
		`let's not|shouldn't|should not|remove (that|this|it)|why (did|are) you|rather not)\b`)
	turns = lazy.Expr(`(?i)\b(instead|actually|rather|however|but|prefer|should(n't)?|must|need(s)? to|make sure|what about|why|never|always|decided?|let's|can we|could we)\b`)

	takesBack = lazy.Expr(`(?i)\b(revert|undo|roll (it |this |that )?back|take (it|that|this) out|remove (that|this|it)|drop (that|this|it)|get rid of)\b`)

	narrates = lazy.Expr(`(?i)^(let me|now,? |let's (check|see|look|run)|i'll|i will|i'm going|i need to|i can see|i see|i think|i understand|looking|checking|first,|next,|perfect|great|excellent|good|wait|hmm|ok(ay)?\b|sure|done[.!]|yes[,.]|you're right|good (question|catch)|here('s| is| are))`)
)

// cue is a sign in a sentence, and how much it tells.
type cue struct {
	words *lazy.Regexp
	worth int
}

func weigh(text string, cues []cue) (n int) {
	for _, c := range cues {
		if c.words.MatchString(text) {
			n += c.worth
		}
	}
	return n
}

// marks is Markdown that stands around words and says nothing in a line of its own.
var (
	bullet  = lazy.Expr(`^\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?`)
	strong  = lazy.Expr(`\*\*|__`)
	link    = lazy.Expr(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
	tag     = lazy.Expr(`<[/!?]?[A-Za-z][^<>\n]*>`)
	rule    = lazy.Expr(`^\s*([-*_=|:+~]\s*){3,}$`)
	heading = lazy.Expr(`^\s{0,3}#{1,6}\s+`)
)

// section is a heading of a text with the lines below it; the first one may have none.
type section struct {
	heading string
	lines   []string // without what is code, and without marks
}

// sections reads a text as Markdown, as people and agents write it.
func sections(text string) []section {
	out := []section{{}}
	code := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch trimmed := strings.TrimSpace(l); {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			code = !code
		case code || rule.MatchString(l) || strings.HasPrefix(trimmed, "|"):
		case heading.MatchString(l):
			out = append(out, section{heading: bare(heading.ReplaceAllString(l, ""))})
		default:
			last := &out[len(out)-1]
			last.lines = append(last.lines, l)
		}
	}
	return out
}

// bare is a line without Markdown's marks.
func bare(l string) string {
	l = bullet.ReplaceAllString(l, "")
	l = link.ReplaceAllString(l, "$1")
	l = tag.ReplaceAllString(l, " ")
	return session.OneLine(strong.ReplaceAllString(l, ""))
}

// sentences are those of lines, in their order: a list's item is one at least, and lines of a paragraph are joined.
func sentences(lines []string) (out []string) {
	var paragraph []string
	flush := func() {
		out = append(out, split(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	for _, l := range lines {
		if strings.TrimSpace(l) == "" || bullet.MatchString(l) {
			flush()
		}
		if text := bare(l); text != "" {
			paragraph = append(paragraph, text)
		}
	}
	flush()
	return out
}

// ends is where one sentence ends and another one begins: not behind "e.g." or in "v1.2".
var ends = lazy.Expr(`[.!?]["')\]]?\s+`)

func split(text string) (out []string) {
	for text != "" {
		at := -1
		for _, m := range ends.FindAllStringIndex(text, -1) {
			next := []rune(text[m[1]:])
			if len(next) > 0 && (unicode.IsUpper(next[0]) || strings.ContainsRune("`\"'(*", next[0])) && !abbreviates(text[:m[0]]) {
				at = m[1]
				break
			}
		}
		if at < 0 {
			return append(out, strings.TrimSpace(text))
		}
		out, text = append(out, strings.TrimSpace(text[:at])), text[at:]
	}
	return out
}

func abbreviates(before string) bool {
	words := strings.Fields(before)
	return len(words) > 0 && slices.Contains([]string{"e.g", "i.e", "vs", "etc", "cf", "approx"}, strings.ToLower(strings.TrimLeft(words[len(words)-1], "(")))
}

// clip shortens a text to so many words.
func clip(text string, most int) string {
	words := strings.Fields(text)
	if len(words) <= most {
		return session.Shorten(strings.Join(words, " "), 12*most)
	}
	return session.Shorten(strings.TrimRight(strings.Join(words[:most], " "), ",;:—- ")+" …", 12*most)
}

func count(text string) int { return len(strings.Fields(text)) }

// prose reports whether a text is what somebody says, and not what was pasted: an output, a trace, a path.
func prose(text string) bool {
	letters, all := 0, 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			all++
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	return count(text) > 2 && 10*letters >= 7*all
}
