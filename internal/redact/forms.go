package redact

import (
	"html"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// layer makes another reading of a text: with something undone.
type layer struct {
	signs   string    // the bytes with which something to be undone begins; "": all beyond ASCII
	begins  [256]bool // signs
	between bool      // see edits
	// at is what so many bytes at t[i] stand for; a size of 0 for nothing to be undone. The last edit ended at done.
	at func(t string, done, i int) (plain string, size int)
}

// undo returns the reading of t, and the edits that led there; no edits when it says nothing new.
func (l *layer) undo(t string) (string, edits) {
	e := edits{between: l.between}
	if l.signs != "" && !slices.ContainsFunc([]byte(l.signs), func(c byte) bool { return strings.IndexByte(t, c) >= 0 }) {
		return t, e
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(t); {
		if !l.begins[t[i]] {
			i++
			continue
		}
		plain, size := l.at(t, done, i)
		if gone := size - len(plain); gone > 0 {
			if done == 0 {
				out.Grow(len(t))
				e.all = make([]edit, 0, len(t)/32)
			}
			out.WriteString(t[done:i])
			e.add(out.Len(), gone)
			out.WriteString(plain)
			done = i + size
		}
		i += max(1, size)
	}
	if done == 0 {
		return t, e
	}
	out.WriteString(t[done:])
	return out.String(), e
}

// layers are what is undone, the outermost first. Escapes are undone twice: JSON, and JSON inside a JSON string.
var layers = sync.OnceValue(func() []*layer { //nolint:gochecknoglobals // read-only
	escape := &layer{signs: "\\&", at: unescaped}
	all := []*layer{
		escape, escape,
		{begins: bytesFrom(utf8.RuneSelf), at: toASCII},
		{signs: "%", at: percentDecoded},
		{signs: "\\\n\"'`", between: true, at: rejoin},
	}
	for _, l := range all {
		if l.signs != "" {
			l.begins = bytesIn(l.signs)
		}
	}
	return all
})

// edits say where bytes were taken away.
type edits struct {
	all     []edit
	between bool // what was taken away stood between two things, and belongs to neither
}

// edit is the byte of a reading before which bytes were taken away, and how many were in all up to there. A part is
// small.
type edit struct{ at, gone int32 }

func (e *edits) add(at, bytes int) {
	if n := len(e.all); n > 0 {
		bytes += int(e.all[n-1].gone)
	}
	e.all = append(e.all, edit{int32(at), int32(bytes)})
}

// firstAt is the number of the first edit at a byte of the reading or later.
func (e *edits) firstAt(at int) int {
	return sort.Search(len(e.all), func(i int) bool { return int(e.all[i].at) >= at })
}

// toText moves a place in the reading to the text before the edits.
func (e *edits) toText(p int, atEdit bool) int {
	n := p
	if atEdit {
		n++
	}
	if i := e.firstAt(n); i > 0 {
		return p + int(e.all[i-1].gone)
	}
	return p
}

// toReading moves a place in the text before the edits to the reading.
func (e *edits) toReading(p int) int {
	i := sort.Search(len(e.all), func(i int) bool { return int(e.all[i].at+e.all[i].gone) > p })
	if i > 0 {
		p -= int(e.all[i-1].gone)
	}
	if i < len(e.all) {
		p = min(p, int(e.all[i].at))
	}
	return p
}

// reading is a part of a text as it reads with something undone.
type reading struct {
	text string
	from int      // where the part begins
	done []edits  // what was undone, the outermost first
	runs []window // where the lines of text stand encoded in the reading before; nil: nothing was decoded
	ends []int    // of these lines
}

// readings yields a text as it stands, with one layer after the other undone, and what it encodes.
func readings(t string, w *decodeFilter) iter.Seq[reading] {
	return func(yield func(reading) bool) {
		r := reading{text: t}
		if !yield(r) {
			return
		}
		for _, l := range layers() {
			if inner, e := l.undo(r.text); len(e.all) > 0 {
				r = reading{text: inner, done: append(slices.Clip(r.done), e)}
				if !yield(r) {
					return
				}
			}
		}
		if d := decodeRuns(r, w); d.text != "" {
			yield(d)
		}
	}
}

// changedLines are the lines of a part that read otherwise than in the reading before, with as much around them as a
// detector looks at: the rest was looked at there.
func (r reading) changedLines(part window) []window {
	const around = 4 * maxReach
	if len(r.done) == 0 || r.runs != nil {
		return []window{part}
	}
	var out []window
	last := r.done[len(r.done)-1]
	for _, e := range last.all[last.firstAt(part.lo):last.firstAt(part.hi+1)] {
		at := int(e.at)
		if n := len(out); n > 0 && at < out[n-1].hi-around {
			continue
		}
		w := lineOf(r.text, max(0, at-around), min(len(r.text), at+around), around)
		out = append(out, window{runeStart(r.text, w.lo), runeStart(r.text, w.hi)})
	}
	return merge(out)
}

// toReading is where a part of the text stands in the reading; of what was decoded, the lines whose runs touch it.
func (r reading) toReading(part window) window {
	part = window{part.lo - r.from, part.hi - r.from}
	for _, e := range r.done {
		part = window{e.toReading(part.lo), e.toReading(part.hi)}
	}
	if r.runs == nil {
		return window{runeStart(r.text, part.lo), runeStart(r.text, part.hi)}
	}
	ends := append([]int{0}, r.ends...)
	return window{
		ends[sort.Search(len(r.runs), func(i int) bool { return r.runs[i].hi > part.lo })],
		ends[sort.Search(len(r.runs), func(i int) bool { return r.runs[i].lo >= part.hi })],
	}
}

// toText moves a span of the reading to where it stands in the text itself. The span's value is as the reading has it.
func (r reading) toText(p span) span {
	p.value = r.text[p.lo:p.hi]
	if r.runs != nil {
		run := r.runs[sort.SearchInts(r.ends, p.hi)]
		p.lo, p.hi = run.lo, run.hi
	}
	for _, e := range slices.Backward(r.done) {
		p.lo, p.hi = e.toText(p.lo, e.between), e.toText(p.hi, false) // an edit at the very start stood before the span
	}
	p.lo, p.hi = p.lo+r.from, p.hi+r.from
	return p
}

// unescaped undoes the escapes that JSON and shells share, and the entities of HTML. Others are left alone.
func unescaped(t string, _, i int) (string, int) {
	t = t[i:min(len(t), i+10)]
	if t[0] == '&' {
		n := len(entity.FindString(t))
		return html.UnescapeString(t[:n]), n
	}
	if len(t) < 2 {
		return "", 0
	}
	switch plain := escapes[t[1]]; {
	case plain != "":
		return plain, 2
	case t[1] == 'x':
		return hexEscape(t, 2)
	case t[1] == 'u':
		return hexEscape(t, 4)
	}
	return "", 0
}

// escapes are what a byte behind a backslash stands for.
var escapes = func() (out [256]string) { //nolint:gochecknoglobals // read-only
	const signs, plain = "nrte\"'\\/`=#_*!:&$@", "\n\r\t\x1b\"'\\/`=#_*!:&$@"
	for i := range len(signs) {
		out[signs[i]] = plain[i : i+1]
	}
	return out
}()

var entity = lazy.Expr(`^&(?:[a-zA-Z]{2,8}|#\d{2,5}|#x[\da-fA-F]{2,4});`)

// toASCII takes away characters that nobody sees, and puts letters, spaces and lines of ASCII for those that only look
// wider.
func toASCII(t string, _, i int) (string, int) {
	r, size := utf8.DecodeRuneInString(t[i:])
	if r >= 0xff01 && r <= 0xff5e {
		return string(r - 0xff01 + '!'), size
	}
	switch r {
	case 0xa0, 0x202f, 0x3000: // wide spaces
		return " ", size
	case '│', '┃', '║': // of tables
		return "|", size
	}
	return "", session.HiddenSize(t, i)
}

// percentDecoded is the character that URLs encode at t[i], and the size of its code.
func percentDecoded(t string, _, i int) (string, int) {
	var buf [utf8.UTFMax]byte
	n := 0
	for ; n < len(buf) && i+2 < len(t) && t[i] == '%' && nibbles[t[i+1]] >= 0 && nibbles[t[i+2]] >= 0; i += 3 {
		buf[n] = byte(nibbles[t[i+1]]<<4 | nibbles[t[i+2]])
		n++
	}
	if r, size := utf8.DecodeRune(buf[:n]); n > 0 && r >= ' ' && r != utf8.RuneError {
		return string(r), 3 * size
	}
	return "", 0
}

// hexEscape is the character whose number stands in so many hexadecimal digits behind two signs.
func hexEscape(t string, digits int) (string, int) {
	if len(t) >= 2+digits {
		r, err := strconv.ParseUint(t[2:2+digits], 16, 16)
		if err == nil && (digits == 4 || r >= ' ' && r < utf8.RuneSelf) && utf8.ValidRune(rune(r)) {
			return string(rune(r)), 2 + digits
		}
	}
	return "", 0
}

// rejoin puts together what was split: strings that code adds up ("a" + "b"), strings side by
// side, what a shell continues on the next line, and what an editor or a terminal wrapped.
func rejoin(t string, done, i int) (string, int) {
	switch c := t[i]; {
	case c == '\\':
		return "", continuationSize(t, i)
	case c == '\n':
		return "", wrapSize(t, done, i)
	case c != '`' && i > 0 && isTokenByte(t[i-1]):
		return "", joinSize(t, i)
	}
	return "", 0
}

// joinSize is the size of what stands between two string literals that are one: `" + "`, `" "`,
// `" . "`, `""`, also over lines. The second begins with the quote that ended the first.
func joinSize(t string, i int) int {
	const space = " \t\n\r\\"
	short := t[:min(len(t), i+80)]
	j := skip(short, i+1, space)
	if j < len(short) && strings.IndexByte("+.&", t[j]) >= 0 {
		j = skip(short, j+1, space)
	}
	if j+1 < len(t) && t[j] == t[i] && isTokenByte(t[j+1]) {
		return j + 1 - i
	}
	return 0
}

// continuationSize is the size of a shell's continuation, within a token or between two.
func continuationSize(t string, i int) int {
	j := i + 2
	if i == 0 || j >= len(t) || t[i+1] != '\n' || !isTokenByte(t[i-1]) && t[i-1] != ' ' {
		return 0
	}
	if t[i-1] == '=' || t[i-1] == ' ' {
		j = skip(t, j, " \t")
	}
	if j < len(t) && isTokenByte(t[j]) {
		return j - i
	}
	return 0
}

// wrapSize is the size of a line's end within a token: a break in something that is not two words. What follows must
// end its line or the token, and not be a key of its own ("name = …", "name: …", "call(…").
func wrapSize(t string, done, i int) int {
	if i == 0 || !isTokenByte(t[i-1]) {
		return 0
	}
	j := skip(t[:min(len(t), i+13)], i+1, " \t>|")
	const longest = 200
	from, to := i, j
	for from > done && i-from < longest && isTokenByte(t[from-1]) {
		from--
	}
	for to < len(t) && to-j < longest && isTokenByte(t[to]) {
		to++
	}
	a, b := t[from:i], t[j:to]
	n := strings.IndexByte(b, '=')
	if isHashOrID(b) && !isHashOrID(a) || b != "" && b[0] == '.' ||
		n > 0 && isName(b[:n]) && strings.Trim(b[n:], "=") != "" || onlyDigits(b) || !oneToken(a, b) ||
		strings.HasSuffix(b, ":") || isKey(t[to:]) || beginsLine(b, t[to:]) {
		return 0
	}
	return j - i
}

// oneToken reports whether a and b can be the halves of one: long together, with digits, and not two words.
func oneToken(a, b string) bool {
	last := a[strings.LastIndexAny(a, "=:/@")+1:]
	whole := last + b
	return len(whole) >= minValue && hasDigit(whole) && (!isWord(last) || !isWord(b))
}

// isKey reports whether what follows a token makes it the left side of something.
func isKey(rest string) bool {
	rest = rest[:min(len(rest), 20)]
	bare := strings.TrimLeft(rest, " \t")
	keyword := bare != rest && len(bare) > 1 && bare[0] == ':' && isLetter(bare[1]) // the next one of Clojure
	return rest != "" && strings.IndexByte("([{", rest[0]) >= 0 ||
		bare != "" && strings.IndexByte("=:", bare[0]) >= 0 && !keyword
}

// beginsLine reports whether b is a word or a name of code, and more follows in its line.
func beginsLine(b, rest string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), 20)], " \t")
	return isName(strings.TrimLeft(b, "#$@")) && Wordy(b) && (!hasDigit(b) || strings.Contains(b, "_")) &&
		rest != "" && rest[0] != '\n'
}

// isTokenByte reports whether a byte can stand inside a token or a password.
func isTokenByte(c byte) bool { return tokens[c] }

var tokens = bytesIn("-_+/=.!#%^*~$@&:" + alnumSet) //nolint:gochecknoglobals // read-only

const (
	digitSet = "0123456789"
	alnumSet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digitSet
)

func bytesIn(signs string) (set [256]bool) {
	for i := range len(signs) {
		set[signs[i]] = true
	}
	return set
}

func bytesFrom(first int) (set [256]bool) {
	for c := first; c < len(set); c++ {
		set[c] = true
	}
	return set
}
