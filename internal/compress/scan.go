package compress

import (
	"cmp"
	"strings"
)

// scanned is what one pass over a line tells.
type scanned struct {
	shape      uint64 // equal for lines that differ in words with digits or slashes only
	signals    signal
	hasText    bool   // a letter or digit stands in it
	needsClean bool   // it may not be what a terminal shows: it has bytes that are no visible ASCII
	owner      string // see lineReader
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
	saysTests  // it speaks of tests as their sums do
	saysSum    // of something else that is counted
)

// signalWords are the words by which people and tools name errors, warnings and sums. Words that are parts of names
// (error_test.go) don't count: they stand in a word with a dot, dash, slash or underscore.
var signalWords = map[string]signal{ //nolint:gochecknoglobals // a table
	"error": saysError, "errors": saysError | saysSum, "err": saysError, "failed": saysError | saysTests,
	"failure": saysError, "failures": saysError | saysTests, "fatal": saysError, "fail": saysError,
	"exception": saysError, "panic": saysError, "denied": saysError, "refused": saysError, "unable": saysError,
	"killed": saysError, "undefined": saysError,
	"cannot": saysError, "segmentation": saysError, "aborted": saysError, "abort": saysError, "timeout": saysError,
	"conflict": saysError, "unresolved": saysError,
	"invalid": saysError, "rejected": saysError, "critical": saysError, "severe": saysError, "unreachable": saysError,
	"corrupt": saysError,
	"warning": saysWarning, "warnings": saysWarning | saysSum, "warn": saysWarning, "deprecated": saysWarning,
	"tests": saysTests, "passed": saysTests, "passing": saysTests, "failing": saysTests, "examples": saysTests,
	"assertions": saysTests, "runs": saysTests,
	"problems": saysSum, "issues": saysSum, "offenses": saysSum, "vulnerabilities": saysSum, "packages": saysSum,
	"upgraded": saysSum,
	"no":       saysZero, "without": saysZero, "0": saysZero,
}

// isChecksum reports whether a line gives a sum: near its beginning a number stands beside what is counted, as in "2
// failing", "Tests: 5", "There were 3 errors:".
func isChecksum(text string) bool {
	before := ""
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !wordByte(byte(min(r, 0x80))) }) {
		number, noun := before, word
		if countDigits(word) > 0 {
			number, noun = word, before
		}
		if countDigits(number) > 0 && (signalWords[strings.ToLower(noun)]&(saysTests|saysSum) != 0 ||
			n == 1 && word == "failed") {
			return true
		}
		if before = word; n == 4 {
			return false
		}
		n++
	}
	return false
}

// vocabulary is words: those of an instruction and those of trouble.
type vocabulary struct {
	says     map[string]signal
	sizes    [256]uint64 // by first letter: a bit for each size in bytes of such words; the last for all longer ones
	hasAsked bool        // the instruction has words
}

// fillerWords are words of an instruction that say nothing.
const fillerWords = " the and for with only show from what which that this are was were all any not its into line lines output list print find give tell "

// newVocabulary reads an instruction: its words of three letters and more.
func newVocabulary(instruction string) (w vocabulary) {
	w.says = map[string]signal{}
	for word, says := range signalWords {
		w.put(word, says)
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(instruction), func(r rune) bool {
		return r < 0x80 && !wordByte(byte(r))
	}) {
		if len(word) > 2 && !strings.Contains(fillerWords, " "+word+" ") {
			w.put(word, cmp.Or(signalWords[word], saysAsked))
			w.hasAsked = true
		}
	}
	return w
}

func (w *vocabulary) put(word string, says signal) {
	w.says[word] = says
	w.sizes[word[0]|0x20] |= 1 << min(len(word), 63)
}

// signalOf is what a word means.
func (w *vocabulary) signalOf(word string) signal {
	if w.sizes[word[0]|0x20]>>min(len(word), 63)&1 == 0 {
		return 0
	}
	return w.says[strings.ToLower(word)]
}

const (
	hashStart = 14695981039346656037 // of FNV-1a
	hashPrime = 1099511628211
)

// mixText takes a text into a hash, eight bytes at a time; the last eight may overlap those before.
func mixText(h uint64, text string) uint64 {
	n := len(text)
	for i := 0; i < n-8; i += 8 {
		h = (h ^ uint64At(text[i:])) * hashPrime
		h ^= h >> 32
	}
	rest := uint64(n) << 24
	switch {
	case n >= 8:
		rest = uint64At(text[n-8:])
	case n >= 4:
		rest = uint64(uint32At(text)) | uint64(uint32At(text[n-4:]))<<32
	case n > 0:
		rest |= uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16
	}
	h = (h ^ rest) * hashPrime
	return h ^ h>>32
}

func uint64At(text string) uint64 { return uint64(uint32At(text)) | uint64(uint32At(text[4:]))<<32 }

func uint32At(text string) uint32 {
	_ = text[3]
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// classes of bytes, for scan.
const (
	spaceByte = 1 << iota
	letterByte
	digitByte
	nameSign  // one of "_.-/\"
	slashByte // one of "/\"
	highByte  // no ASCII; counts as a letter
)

var classes = classTable() //nolint:gochecknoglobals // a table

func classTable() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c == ' ' || c == '\t':
			t[i] = spaceByte
		case '0' <= c && c <= '9':
			t[i] = digitByte
		case c >= 0x80:
			t[i] = letterByte | highByte
		case wordByte(c) && c != '_':
			t[i] = letterByte
		case c == '/' || c == '\\':
			t[i] = nameSign | slashByte
		case c == '_' || c == '.' || c == '-':
			t[i] = nameSign
		}
	}
	return t
}

// scan reads a line once. The shape is a hash of its words and signs, in which a name with a digit or a slash, and
// white space of any length, count as one sign each.
func scan(text string, words *vocabulary) (s scanned) {
	s.shape = hashStart
	for i := 0; i < len(text); {
		switch c := text[i]; classes[c] {
		case spaceByte:
			for i < len(text) && classes[text[i]] == spaceByte {
				i++
			}
			s.shape = (s.shape ^ ' ') * hashPrime
		case 0:
			if (c == ':' || c == '(') && i > 0 && i+1 < len(text) && classes[text[i+1]] == digitByte &&
				classes[text[i-1]]&(letterByte|digitByte) != 0 {
				s.signals |= saysPlace
			}
			s.needsClean = s.needsClean || c < ' ' || c == 0x7f
			s.shape = (s.shape ^ uint64(c)) * hashPrime
			i++
		default:
			i += s.addName(text[i:], words)
		}
	}
	return s
}

// addName takes in the name that text begins with, as "error" or "src/a_test.go", and returns its length.
func (s *scanned) addName(text string, words *vocabulary) int {
	var seen uint8
	n := 0
	for n < len(text) {
		class := classes[text[n]]
		if class <= spaceByte {
			break
		}
		seen |= class
		n++
	}
	if n == 4 && text[:n] == "line" && len(text) > 5 && classes[text[5]] == digitByte {
		s.signals |= saysPlace // in words
	}
	text = text[:n]
	s.needsClean = s.needsClean || seen&highByte != 0
	s.hasText = s.hasText || seen&(letterByte|digitByte) != 0
	if seen&(digitByte|slashByte) != 0 {
		s.shape = (s.shape ^ '#') * hashPrime
	} else {
		s.shape = mixText(s.shape, text)
	}
	if last := text[n-1]; last == 'r' && strings.HasSuffix(text, "Error") ||
		last == 'n' && strings.HasSuffix(text, "Exception") {
		s.signals |= saysThrown
	}
	s.addWord(text, seen&nameSign == 0, words)
	return n
}

// addWord adds the signals of a name. A plain name has none of "_./\-", but for the end of a sentence; of others only
// parts that were asked for count.
func (s *scanned) addWord(text string, isOneWord bool, words *vocabulary) {
	if end := text[len(text)-1]; !isOneWord && (end == '.' || end == '-') {
		text = text[:len(text)-1]
		isOneWord = text != "" && !strings.ContainsAny(text, "_/.\\-")
	}
	switch {
	case isOneWord:
		// not in "error: no such file"
		if says := words.signalOf(text); says != saysZero || text == "0" || s.signals&(saysError|saysWarning) == 0 {
			s.signals |= says
		}
	case words.hasAsked:
		s.addParts(text, words)
	}
}

// addParts notes whether the instruction asks for a part of a name.
func (s *scanned) addParts(name string, words *vocabulary) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("_/.\\-", r) }) {
		s.signals |= words.signalOf(part) & saysAsked
	}
}
