package compress

import "strings"

// scanned is what one pass over a line tells.
type scanned struct {
	shape uint64 // equal for lines that differ in words with digits or slashes only
	says  signal
	owner string // see lineReader
}

// signal is a set of what words of a line say.
type signal uint8

const (
	saysError signal = 1 << iota
	saysWarning
	saysZero   // "0", "no", "without": what follows is not there
	saysAsked  // the instruction speaks of it
	saysThrown // a word ends with Error or Exception
	saysPlace  // a file's name stands before a number: "a.go:12", "a.ts(3,4)"
)

// trouble are the words by which people and tools name it. Words that are parts of names (error_test.go) don't
// count: they stand in a word with a dot, dash, slash or underscore.
var trouble = map[string]signal{ //nolint:gochecknoglobals // a table
	"error": saysError, "errors": saysError, "err": saysError, "failed": saysError, "failure": saysError, "failures": saysError, "fatal": saysError, "fail": saysError,
	"exception": saysError, "panic": saysError, "denied": saysError, "refused": saysError, "unable": saysError, "killed": saysError, "undefined": saysError,
	"cannot": saysError, "segmentation": saysError, "aborted": saysError, "abort": saysError, "timeout": saysError, "conflict": saysError, "unresolved": saysError,
	"invalid": saysError, "rejected": saysError, "critical": saysError, "severe": saysError, "unreachable": saysError, "corrupt": saysError,
	"warning": saysWarning, "warnings": saysWarning, "warn": saysWarning, "deprecated": saysWarning,
	"no": saysZero, "without": saysZero, "0": saysZero,
}

// words are those of an instruction, by hash.
type words struct {
	hash map[uint64]string
	some [256]bool // by the last byte of a hash: whether it may be one
}

// common are words of an instruction that say nothing.
const common = " the and for with only show from what which that this are was were all any not its into line lines output list print find give tell "

// askedWords reads an instruction: its words of three letters and more.
func askedWords(instruction string) (w words) {
	w.hash = map[uint64]string{}
	for word := range trouble {
		w.put(word)
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(instruction), func(r rune) bool {
		return r < 0x80 && !wordByte(byte(r))
	}) {
		if len(word) > 2 && !strings.Contains(common, " "+word+" ") {
			w.put(word)
		}
	}
	return w
}

func (w *words) put(word string) {
	h := hashOf(word)
	w.hash[h] = word
	w.some[byte(h)] = true
}

// says is what a word means; the table decides, all else is what was asked for.
func (w *words) says(h uint64, word string) signal {
	known, ok := w.hash[h]
	if !ok || !strings.EqualFold(known, word) {
		return 0
	}
	if s, ok := trouble[known]; ok {
		return s
	}
	return saysAsked
}

const (
	hashStart = 14695981039346656037 // FNV-1a
	hashPrime = 1099511628211
)

func hashOf(word string) uint64 {
	h := uint64(hashStart)
	for i := range len(word) {
		h = (h ^ uint64(word[i]|0x20)) * hashPrime
	}
	return h
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// classes of bytes, for scan.
const (
	isSpace = 1 << iota
	isLetter
	isDigit
	isName // stands in names, and no letter
)

var classes = classTable() //nolint:gochecknoglobals // a table

func classTable() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c == ' ' || c == '\t':
			t[i] = isSpace
		case '0' <= c && c <= '9':
			t[i] = isDigit
		case wordByte(c) && c != '_':
			t[i] = isLetter
		case strings.IndexByte("_/.\\-", c) >= 0:
			t[i] = isName
		}
	}
	return t
}

// scan reads a line once. The shape is a hash of its words and signs, in which a name with a digit or a slash, and
// white space of any length, count as one sign each.
func scan(text string, asked *words) (s scanned) {
	s.shape = hashStart
	for i := 0; i < len(text); {
		switch classes[text[i]] {
		case isSpace:
			for i < len(text) && classes[text[i]] == isSpace {
				i++
			}
			s.shape = (s.shape ^ ' ') * hashPrime
		case 0:
			if i > 0 && i+1 < len(text) && (text[i] == ':' || text[i] == '(') && classes[text[i+1]] == isDigit && classes[text[i-1]]&(isLetter|isDigit) != 0 {
				s.says |= saysPlace
			}
			s.shape = (s.shape ^ uint64(text[i])) * hashPrime
			i++
		default:
			i += s.name(text[i:], asked)
		}
	}
	return s
}

// name takes in the name that text begins with, and tells its length.
func (s *scanned) name(text string, asked *words) int {
	h, sum, masked, plain := uint64(hashStart), s.shape, false, true
	n := 0
	for n < len(text) {
		c := text[n]
		kind := classes[c]
		if kind&(isLetter|isDigit|isName) == 0 {
			break
		}
		masked = masked || kind == isDigit || c == '/' || c == '\\'
		plain = plain && kind != isName
		h = (h ^ uint64(c|0x20)) * hashPrime
		sum = (sum ^ uint64(c)) * hashPrime
		n++
	}
	if last := text[n-1]; last == 'r' && strings.HasSuffix(text[:n], "Error") || last == 'n' && strings.HasSuffix(text[:n], "Exception") {
		s.says |= saysThrown
	}
	if masked {
		sum = (s.shape ^ '#') * hashPrime
	}
	s.shape = sum
	if end := text[n-1]; !plain && (end == '.' || end == '-') { // a sentence's end is no part of a name
		plain, h = !strings.ContainsAny(text[:n-1], "_/.\\-"), hashOf(text[:n-1])
		text = text[:n-1]
	} else {
		text = text[:n]
	}
	if plain && asked.some[byte(h)] {
		s.says |= asked.says(h, text)
	} else if len(asked.hash) > len(trouble) && !plain {
		s.parts(text, asked)
	}
	return n
}

// parts looks for what was asked in the parts of a name.
func (s *scanned) parts(name string, asked *words) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("_/.\\-", r) }) {
		if h := hashOf(part); asked.some[byte(h)] {
			s.says |= asked.says(h, part) & saysAsked
		}
	}
}
