// Package tokens estimates how many tokens a text is to a model.
//
// In: a text. Out: a number. It is pure, and knows no vocabulary.
package tokens

// Count estimates how many tokens a model reads in a text. Tokenizers are not public for every model and
// weigh megabytes, so this counts by classes of characters, in one pass:
//
//   - a run of ASCII letters is one token for each 4 letters begun, or for each 2 where a digit stands beside
//     it, as in a hash; a capital behind a small letter begins a run, as in camelCase; several capitals are one
//     for each 3;
//   - digits are one token for each 2 begun;
//   - a run of one sign is one token for each 4 begun, and a mixed one for each 2; a third less where a
//     letter follows;
//   - a space before a letter or sign is part of it; further spaces and tabs are one token for each 8 begun,
//     and each line end is one;
//   - what lies beyond ASCII is one token a character, or 3/2 in CJK, 2 in other scripts of which UTF-8 writes a
//     character in three bytes, and 3 where it writes four.
//
// It is meant to err upwards: a test holds it against the vocabularies cl100k and o200k, of which it is
// never more than a tenth below in code, CJK and prose, except of languages that cl100k hardly knows
// (Finnish, Swahili, Armenian), and of base64, of which it may be a quarter. English words are one token
// each, but the same letters in another language are a token for each three or four. It counts line by
// line: the tokens of a text are those of its lines and one for each line end.
func Count(text string) int {
	var c counter
	for _, r := range text {
		c.add(r)
	}
	c.end(none)
	return (c.sixths + 5) / 6
}

// class is what a character is to Count.
type class int

const (
	none class = iota
	letter
	digit
	sign
	space
	other
)

// counter holds the run that is being read.
type counter struct {
	sixths int // of a token: all weights are multiples
	before class
	in     class
	n      int  // length of the run
	upper  int  // capitals in it
	mixed  bool // signs of several kinds
	prev   rune // in it
}

func (c *counter) add(r rune) {
	kind := classOf(r)
	if kind != c.in || kind == letter && isUpper(r) && !isUpper(c.prev) {
		c.end(kind)
	}
	if kind == other {
		c.sixths += weightOfOther(r)
	}
	c.mixed = c.mixed || c.n > 0 && r != c.prev
	if isUpper(r) {
		c.upper++
	}
	c.in, c.prev = kind, r
	c.n++
}

// end adds what the run weighs, before a run of another class.
func (c *counter) end(next class) {
	switch c.in {
	case letter:
		c.sixths += c.weighLetters(next)
	case digit:
		c.sixths += sixthsFor(c.n, 2)
	case sign:
		c.sixths += c.weighSigns(next)
	case space:
		if next == letter || next == sign {
			c.n--
		}
		c.sixths += sixthsFor(c.n, 8)
	case none, other:
	}
	c.before, c.in, c.n, c.upper, c.mixed = c.in, none, 0, 0, false
}

func (c *counter) weighLetters(next class) int {
	switch {
	case c.before == digit || next == digit:
		return sixthsFor(c.n, 2)
	case c.upper > 1:
		return sixthsFor(c.upper, 3) + sixthsFor(c.n-c.upper, 4)
	}
	return sixthsFor(c.n, 4)
}

func (c *counter) weighSigns(next class) int {
	weight := sixthsFor(c.n, 4)
	if c.mixed {
		weight = sixthsFor(c.n, 2)
	}
	if next == letter {
		weight -= 2
	}
	return weight
}

// sixthsFor is a token, in sixths, for each so many characters begun.
func sixthsFor(n, each int) int { return 6 * ((n + each - 1) / each) }

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r == ' ' || r == '\t':
		return space
	case r < 0x80 && r != '\n':
		return sign
	}
	return other
}

// weightOfOther is the weight of a line end and of a character that is not ASCII.
func weightOfOther(r rune) int {
	switch {
	case r == '\n' || r < 0x800:
		return 6
	case r < 0x2000:
		return 12
	case r < 0x10000:
		return 9
	}
	return 18
}
