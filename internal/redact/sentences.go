package redact

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// spoken is the value of a name in the same sentence, or behind it alone, as in flags, .netrc and SQL.
func spoken(t string, n name, i int) (int, int) {
	if m := flags.FindStringIndex(t[i:min(len(t), i+60)]); m != nil {
		i += m[1]
	}
	lo, hi, quoted := value(t, skip(t, i, " \t"))
	flag := isFlag(t[:n.lo]) || n.end < i+1 && i < len(t) && t[i] == ' ' && netrc.MatchString(t[max(0, n.lo-60):n.lo])
	if !quoted && !flag {
		lo += len(userBefore.FindString(t[lo:hi]))
		hi = lo + len(strings.TrimRight(t[lo:hi], ".,:!?"))
	}
	v := judged(t[lo:hi])
	told := n.can(v) && (quoted || strict(v) && (!n.weak || !mention(v)))
	if lo > n.end && (told || (flag || quoted && !n.verb) && n.written(v)) {
		return lo, hi
	}
	if rest := t[i:min(len(t), i+60)]; strings.Contains(rest, "=") && declared.MatchString(rest) {
		return literal(t, i, n.written)
	}
	return inSentence(t, n, i)
}

// flags stand between the name of a command and its secret.
var flags = regexp.MustCompile(`^(?:\s+--?[a-z\d][\w-]*|\s\d)+ `)

// declared is the rest of a declaration: a type, and the sign that gives the value.
var declared = regexp.MustCompile(`^(?:[ \t][\w.\[\]*&<>()]+){1,3}\s*:?=`)

// netrc is the user's name before a password, as files for ftp and its kin have it.
var netrc = regexp.MustCompile(`\blogin\s+\S+\s+$`)

// isFlag reports whether before ends in the dashes and words that begin a flag.
func isFlag(before string) bool {
	before = before[max(0, len(before)-60):]
	word := before[strings.LastIndexAny(before, " \t\n\"'")+1:]
	return strings.HasPrefix(word, "-")
}

// strict reports whether a value in a sentence can be nothing but a password: digits and
// letters in one, or letters of both cases in no order, and no file, address or number of a version.
func strict(v string) bool {
	if strings.ContainsAny(v, "/\\") && !random(v) || Wordy(v) && aboutItself(v) && !blended(v) {
		return false
	}
	return (strings.ContainsAny(v, digitSet) || !Wordy(v) && turns(v) >= 4) && !fileName.MatchString(v)
}

// turns is how often the case of letters changes in v.
func turns(v string) int {
	n, last := 0, 0
	for _, r := range v {
		if k := kindOf(r); k == letterLow || k == letterUp {
			if last != 0 && k != last {
				n++
			}
			last = k
		}
	}
	return n
}

// mention reports whether a value may be mentioned in a sentence without being a secret: a hash, the
// number of an issue, a name with a number behind.
func mention(v string) bool { return mentioned.MatchString(v) }

var mentioned = regexp.MustCompile(`^(?:[0-9a-fA-F-]+|[A-Za-z][A-Za-z_.-]*\d{1,5})$`)

// maxBetween is how many characters stand between a name and its value in a sentence at most.
const maxBetween = 48

// inSentence is the first thing behind i that can't be said: whatever stands between is words, so no
// grammar is needed.
func inSentence(t string, n name, i int) (int, int) {
	from := i
	between := t[i:min(len(t), i+maxBetween)]
	if between == "" || i == n.end && between[0] < utf8.RuneSelf && strings.IndexByte(" \t\"'`(*:,?", between[0]) < 0 || strings.IndexByte(",?", between[0]) >= 0 && len(strings.TrimLeft(between[1:], " \n")) == len(between)-1 {
		return 0, 0 // the name goes on, or is part of something
	}
	foreign := n.foreign || strings.ContainsFunc(between, func(r rune) bool { return r >= utf8.RuneSelf })
	for seen := 0; i < len(t) && seen < maxBetween; seen++ {
		r, size := utf8.DecodeRuneInString(t[i:])
		switch {
		case r == '?' && strings.IndexAny(t[i+1:min(len(t), i+2)], " \n") == 0:
		case r == '\n' && announced.MatchString(t[from:i]):
			return nextLine(t, i, n)
		case strings.ContainsRune("\n.;。；!?！？", r):
			return 0, 0
		case strings.ContainsRune(signs, r) && (AboutSecret(wordBefore(t, i)) || strings.ContainsAny(t[from:i], "/"+digitSet)):
			return 0, 0
		case strings.ContainsRune(signs, r):
			lo, hi := bare(t, i+skipped(t[i:], signs))
			if v := judged(t[lo:hi]); n.can(v) && (i == from || strict(v)) || n.password && sure(v) && clear(t, i+1, lo, hi) {
				return lo, hi
			}
			return 0, 0
		case r < utf8.RuneSelf && alnumeric(byte(r)):
			lo, hi := bare(t, i)
			lo += len(userBefore.FindString(t[lo:hi]))
			if v := judged(t[lo:hi]); n.written(v) && strings.ContainsAny(v, digitSet+strongSigns) && said.MatchString(t[from:i]) || n.can(v) && strict(v) && (said.MatchString(t[from:i]) || !n.verb && !mention(v) && (foreign || !Wordy(v) || blended(v) || quoteAt(t, i-1))) {
				return lo, hi
			}
			if quoteAt(t, i-1) && n.password && said.MatchString(t[from:i]) {
				if lo, hi, _ := value(t, i-1); phrase(t[lo:hi]) {
					return lo, hi
				}
			}
			size = max(size, hi-i)
			if c := strings.IndexAny(t[i:i+size], "=:"); c > 0 {
				size = c
			}
			seen += size - 1
		}
		i += size
	}
	return 0, 0
}

// announced is the rest of a line that asks for a value, or says that it follows.
var announced = regexp.MustCompile(`(?i)\b(?:below|follow\w*|here)\b|\?$`)

// ahead is the value of a name that a sentence ends with: "… is the password of the server".
func ahead(t string, n name) (int, int) {
	from := max(0, n.lo-100)
	rest := t[from:n.lo]
	if i := strings.LastIndexAny(rest, "\n;"); i >= 0 {
		from, rest = from+i+1, rest[i+1:]
	}
	if !holdsNumber(rest) {
		return 0, 0
	}
	m, can := isName.FindStringSubmatchIndex(rest), n.can
	if m == nil && strings.ContainsAny(rest, "([") {
		m, can = inBrackets.FindStringSubmatchIndex(rest), unsayable
	}
	if m == nil {
		can = n.can
		from = max(0, n.lo-120)
		if rest = t[from:n.lo]; strings.Contains(rest, "alue") {
			m = valueFirst.FindStringSubmatchIndex(rest)
		}
	}
	if m == nil {
		return 0, 0
	}
	lo, hi := bare(t, from+m[2])
	hi = min(hi, from+m[3])
	if v := t[lo:hi]; !can(v) || !strict(v) {
		return 0, 0
	}
	return lo, hi
}

// holdsNumber reports whether one of the words has digits and is as long as a password.
func holdsNumber(t string) bool {
	for w := range strings.FieldsSeq(t) {
		if len(w) >= minValue && strings.ContainsAny(w, digitSet) {
			return true
		}
	}
	return false
}

// verbs tie a name to its value, on either side, in the languages of tongues; particles do so without spaces.
const (
	verbs     = `<-|←|is|was|are|now|(?:\w+ )?be|it's|ist|sind|war|lautet|est|c'est|es|è|é|e|är|er|on|jest|je|este|είναι|это|là|adalah|ialah|olarak|yra|ir|е|є|है|هي|هو|היא|הוא|—|–`
	particles = `是|为|為|成|は|が|을|를|이|가|로|という|作为|คือ|เป็น`
)

var (
	// said is what stands before a value that the words before call so.
	said = regexp.MustCompile("(?:(?:^|\\s)(?:" + verbs + "|to|:|=|type|enter|\\S\\?)\\s+|(?:" + particles + "|은|는|を)\\s*)[\"'`“„«「]*\\s?$")
	// valueFirst is the value of an object whose name follows.
	valueFirst = regexp.MustCompile(`(?i)value["']?\s*[:=]\s*["']?([^\s"']{8,80})["']?,?\s*(?:WHERE\s+)?["']?\w*(?:name|key|type|id|label)["']?\s*[:=]\s*["']?[\w./-]*$`)
	// inBrackets is a value, and what is said of it in brackets up to a name.
	inBrackets = regexp.MustCompile("(\\S{8,80}?)[\"'`“»”]*\\s+[(\\[](?:\\S+\\s+){0,4}\\S*$")
	// isName is a value, what ties it to a name, and up to four words before that.
	isName = regexp.MustCompile("(\\S{8,80}?)[\"'`“»”」]*(?:\\s+(?:that\\s+|which\\s+|this\\s+)?(?:" + verbs + "|as|for|to|when|als|comme|como|come|som|jako|ca|как|sebagai)\\s+(?:\\S+\\s+){0,4}\\S*|\\s?(?:" + particles + ")\\S*\\s?\\S*\\s?)$")
)
