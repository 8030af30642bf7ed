package redact

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What stands in the place of something that was taken out. None is empty, so that a turn of which nothing is left
// keeps its place and identity, and that what stood on both sides can't join to something new.
const (
	Private  = "[private]"  // for a passage in <private>…</private>
	Excluded = "[excluded]" // for a text that names a path of rekal.exclude
	// Unsettled replaces a text in which every scan brought something new to light, which only a text built to do so can.
	Unsettled = "[REDACTED:unsettled]"

	markerStart, markerEnd = "[REDACTED:", "]"
)

var markerForm = lazy.Expr(`\[(?:REDACTED:([a-z0-9-]+)|private|excluded)\]`)

// markerFor is the marker of a rule.
func markerFor(rule string) string { return markerStart + rule + markerEnd }

// markers are where a part of a text holds markers of known rules.
func markers(s string, part window, rules map[string]bool) (out []window) {
	const longestRule = 60 // more than the size of its name, in bytes
	for i := beforeMarker(s, part.lo); i < part.hi; {
		n := strings.Index(s[i:part.hi], markerStart)
		if n < 0 {
			break
		}
		lo := i + n
		i = lo + len(markerStart)
		if end := strings.Index(s[i:min(len(s), i+longestRule)], markerEnd); end >= 0 && rules[s[i:i+end]] {
			i += end + len(markerEnd)
			out = append(out, window{lo, i})
		}
	}
	return out
}

// isMarker reports whether a text begins with a marker.
func isMarker(v string) bool {
	return strings.HasPrefix(v, markerStart) || strings.HasPrefix(v, Private) || strings.HasPrefix(v, Excluded)
}

// beforeMarker is i, or the start of the marker that i lies in.
func beforeMarker(s string, i int) int {
	open := strings.LastIndexByte(s[:i], '[')
	if open < 0 {
		return i
	}
	if m := markerForm.FindStringIndex(s[open:min(len(s), open+80)]); m != nil && m[0] == 0 && open+m[1] > i {
		return open
	}
	return i
}

// cutCommand keeps the first session.CmdPrefix runes. A marker that does not fit is left out whole.
func cutCommand(s string) string {
	n := 0
	for i := range s {
		if n == session.CmdPrefix {
			return s[:beforeMarker(s, i)]
		}
		n++
	}
	return s
}

// cutTurn keeps at most session.MaxTurn bytes: whole runes, then a line that says how many bytes of the redacted turn
// are missing. A marker that does not fit is left out whole.
func cutTurn(s string) string {
	if len(s) <= session.MaxTurn {
		return s
	}
	note := func(missing int) string { return fmt.Sprintf("\n[cut: %d bytes]", missing) }
	keep := session.MaxTurn - len(note(len(s)))
	for !utf8.RuneStart(s[keep]) {
		keep--
	}
	keep = beforeMarker(s, keep)
	return s[:keep] + note(len(s)-keep)
}

// privateTag is a tag of <private>, also as HTML, URLs, JSON and shells write it.
var privateTag = lazy.Expr(`(?i)(?:<|&(?:amp;)*lt;|&#0*60;|&#x0*3c;|%3c|\\u003c|\\x3c)\s*(\\*/|&#0*47;|&#x0*2f;|%2f|\\u002f|)\s*private(?:\s[^<>]*?)?\s*\\*(?:>|&(?:amp;)*gt;|&#0*62;|&#x0*3e;|%3e|\\u003e|\\x3e)`)

// dropPrivate replaces each <private>…</private>, in any case, nested ones as one. An unclosed one reaches to the end,
// and one that was not opened, as its beginning stands in another record, from the start. It returns where the passages
// were, too.
func dropPrivate(s string) (string, []window) {
	folded := foldTags(s)
	if !holdsTag(folded) {
		return s, nil
	}
	place, size := 0, 0 // in s, and in folded, where signs and letters may be shorter
	at := func(i int) int {
		for size < i {
			r, n := utf8.DecodeRuneInString(s[place:])
			place, size = place+n, size+utf8.RuneLen(foldTag(r))
		}
		return place
	}
	var out strings.Builder
	var passages []window
	put := func(before string) {
		out.WriteString(before + Private)
		passages = append(passages, window{out.Len() - len(Private), out.Len()})
	}
	depth, done := 0, 0
	for _, t := range privateTag.FindAllStringSubmatchIndex(folded, -1) {
		lo, hi := at(t[0]), at(t[1])
		switch closing := t[2] < t[3]; {
		case !closing:
			if depth++; depth == 1 {
				put(s[done:lo])
			}
		case depth > 0:
			depth--
			done = hi
		default:
			out.Reset()
			passages = nil
			put("")
			done = hi
		}
	}
	if len(passages) == 0 {
		return s, nil
	}
	if depth == 0 {
		out.WriteString(s[done:])
	}
	return out.String(), passages
}

// holdsTag reports whether what stands before a "private" may begin a tag, so that few texts are read by an expression.
func holdsTag(folded string) bool {
	for at := 0; ; at += len("private") {
		n := strings.Index(folded[at:], "private")
		if n < 0 {
			return false
		}
		at += n
		before := strings.TrimRight(folded[:at], " \t\n\v\f\r")
		if before != "" && strings.IndexByte("<;c/f", before[len(before)-1]) >= 0 { // "&lt;", "%3c", "\u002f"
			return true
		}
	}
}

// foldTags is a text in small letters, with the letters and signs of a tag for those that look like them.
func foldTags(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return lower(s)
	}
	return strings.Map(foldTag, s)
}

func foldTag(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e { // full width
		r += '!' - 0xff01
	} else if r >= utf8.RuneSelf && int(r) < len(alikeTag()) && alikeTag()[r] != 0 {
		r = rune(alikeTag()[r])
	}
	if r >= utf8.RuneSelf {
		return r
	}
	return rune(lowerByte(byte(r)))
}

// alikeTag is the sign or letter of a tag that a sign or letter of another script looks like; 0 for none.
var alikeTag = sync.OnceValue(func() *[0x3010]byte { //nolint:gochecknoglobals // read-only
	var out [0x3010]byte
	for tag, alike := range map[byte]string{
		'<': "‹⟨〈", '>': "›⟩〉", '/': "⁄∕", 'p': "рРΡρ", 'r': "гᴦ", 'i': "іІΙιӏɪı",
		'v': "νѵᴠ", 'a': "аАΑαɑ", 't': "тТΤτᴛ", 'e': "еЕΕεҽ",
	} {
		for _, r := range alike {
			out[r] = tag
		}
	}
	return &out
})
