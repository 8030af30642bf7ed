package redact

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// grade is how much a value looks like a secret.
type grade int

const (
	noSecret grade = iota // what text and code have anyway: a placeholder, a path, an expression, a version
	wordLike              // words ("umbrella"), numbers of four digits
	// words with a number, with signs or of mixed case ("umbrella7"); numbers of six digits and more
	wordPlus
	passwordLike // digits or signs within words, letters that are no words ("umbr3lla!")
	randomLike   // drawn by lot
	never        // no value has this grade
)

const (
	// strongSigns are those that passwords have and names don't; exprSigns those of code.
	strongSigns = "!#$%^&*+~@?"
	exprSigns   = "()[]{}<>`\""
	// longestValue is the size of a value at most, in bytes.
	longestValue = 1024
)

// gradeOf grades a value. What is delimited, by quotes or as an argument, is no expression.
func gradeOf(v string, delimited bool) grade {
	if len(v) < 4 || len(v) > longestValue || isSample(v) {
		return noSecret
	}
	if onlyLetters(v) && !hasUpper(v[1:]) { // most are
		if low := lower(v); constants.has(low) || nameWords.has(low) {
			return noSecret
		}
		return wordLike
	}
	before, _, rules := strings.Cut(v, "|") // of a form
	if isFileName(v) || isSourceMap(v) {
		return noSecret
	}
	if rules && constants.has(lower(before)) || strings.HasPrefix(v, "---") || strings.IndexByte(v, ' ') >= 0 ||
		isPlaceholder(v) || isCommonFormat(v) {
		return noSecret
	}
	p := profileOf(v)
	switch {
	case p.letters == 0 && p.digits == len(v):
		if len(v) >= 16 { // routers come with such passwords
			return passwordLike
		} else if len(v) >= 6 {
			return wordPlus
		}
		return wordLike
	case p.letters == 0 && (p.digits == 0 || !delimited || !strings.ContainsAny(v, strongSigns)),
		!delimited && isExpression(v, p):
		return noSecret
	case isPath(v, delimited, p):
		return noSecret
	case delimited && len(v) >= 16 && !p.wordy() && !strings.ContainsAny(v, "<>{}\n") && !strings.HasSuffix(v, "(") &&
		entropy(v) > 3.5, p.random(v) && !strings.Contains(v, "://"):
		return randomLike
	case strings.ContainsAny(v, exprSigns) && (isCall(v) || !delimited && p.digits == 0):
		return noSecret
	}
	l := p.gradeOfMix(v)
	switch {
	case l < passwordLike && (p.wordy() && p.nameWord || !delimited && p.digits == 0 && isChain(v)),
		p.nameWord && p.digits == 0 && 2*p.inVowelWords > p.letters && isName(v):
		return noSecret
	case len(v) < minValue && l > wordLike:
		return l - 1
	}
	return l
}

// gradeAt grades a part of the text, once however many names stand before it.
func (s *scanner) gradeAt(lo, hi int, delimited bool) grade {
	at := uint64(lo)<<32 | uint64(hi)<<1
	if delimited {
		at++
	}
	g, known := s.grades[at]
	if !known {
		g = gradeOf(s.t[lo:hi], delimited)
		if s.grades == nil {
			s.grades = map[uint64]grade{}
		}
		s.grades[at] = g
	}
	return g
}

// isExpression reports whether v is one of code, a list, or rules of a form ("required|min:8").
func isExpression(v string, p profile) bool {
	if n := strings.IndexAny(v, "+*"); n > 0 && n+1 < len(v) && isName(v[:n]) && onlyDigits(v[n+1:]) { // a sum
		return true
	}
	return strings.ContainsAny(v, exprSigns) || strings.Contains(v, "::") ||
		strings.ContainsAny(v[:1], "@&*-.:,=+") && p.wordy() ||
		strings.Contains(v, ",") && strings.Contains(v, "=") ||
		strings.Contains(v, "|") && p.wordy() && !hasBothCasesAndDigit(v) || strings.Contains(v, "&&") ||
		strings.Contains(v, "||")
}

// isCall reports whether v is a call, an index or an expression.
func isCall(v string) bool {
	open := strings.IndexAny(v, "([{")
	return open >= 0 && strings.IndexByte(")]};,([{", v[len(v)-1]) >= 0 &&
		(open == 0 || isChain(v[:open]) || isName(v[:open])) || strings.IndexByte("&*!@#?~", v[0]) >= 0 && isName(v[1:])
}

// isPath reports whether v is a path, an address, or the name of a thing in a cloud. As an argument, words of
// mixed case with a digit may hold a slash or two.
func isPath(v string, delimited bool, p profile) bool {
	if v[0] == '@' || strings.HasPrefix(v, "http") {
		return true
	}
	if n := strings.IndexByte(v, '/'); n >= 0 {
		if p.random(v) && !isFile(v) {
			return false
		}
		return !delimited || !hasUpper(v) || !hasLower(v) || n == 0 || strings.Count(v, "/") > 2 || isFile(v)
	}
	return strings.HasPrefix(v, `\`) || strings.Count(v, `\`) > 1 || len(v) > 2 && v[1] == ':' && v[2] == '\\'
}

// gradeOfMix is the grade of letters with digits, signs and capitals among them.
func (p profile) gradeOfMix(v string) grade {
	capitals, digits := hasUpper(v), p.digits > 0
	strong := strings.ContainsAny(strings.TrimRight(v, "!?"), strongSigns) || digits && strings.HasSuffix(v, "!")
	switch n := p.caseChanges; {
	case digits && (strong || !p.wordy() || strings.ContainsAny(v[len(v)-1:], "-_") && isDigit(v[len(v)-2])),
		n > 3 && !p.wordy(), n > 2 && p.longestNumber > 1,
		capitals && (strong && signInWords.MatchString(v) || digits && isMadeUpPassword(v)):
		return passwordLike
	case digits, strong, capitals, strings.Count(v, "-") > 2:
		return wordPlus
	}
	return wordLike
}

// signInWords is a sign that only passwords have between words.
var signInWords = lazy.Expr(`^\pL{2,}[!#$%^&*+~@?]\pL{2,}[!?]?$`)

// isMadeUpPassword reports whether v is words with signs between them and a number behind or before, as people make
// passwords.
func isMadeUpPassword(v string) bool {
	return len(v) <= enoughOfValue && hasDigit(v) && strings.ContainsAny(v, "-_.+!") && madeUpForm.MatchString(v)
}

var madeUpForm = lazy.Expr(`^(?:\pL*\p{Ll}\pL*[-_.+!]+)+(?:\pL*\p{Ll}\pL*[-_.]?)?\d{1,4}!?$|^\d{1,4}(?:[-_.+!]\pL*\p{Ll}\pL*)+$`)

// isChain reports whether v is names of code with points between them, or a file.
func isChain(v string) bool {
	n := 0
	for p := range strings.SplitSeq(v, ".") {
		if n++; !isName(p) {
			return false
		}
	}
	return n > 1
}

// isConstant reports whether v is a name of code in capitals, or a number with letters before ("PROJ-123",
// "AES-256-CTR").
func isConstant(v string) bool {
	return !hasLower(v) && (strings.Contains(v, "_") && isName(v) || constantForm.MatchString(v))
}

var constantForm = lazy.Expr(`^[A-Z]{1,8}(?:[-_]+(?:\d{1,8}|[A-Z]{1,8}\d{0,7}))+[-_]*$|^[A-Z]{0,7}\d{1,8}$`)

// isNameOfCode reports whether v is an identifier, a path or a word, with nothing drawn by lot in it, and no word with
// a number behind it, as people make passwords.
func isNameOfCode(v string) bool {
	p := profileOf(v)
	if p.longestNumber > 3 || p.letters == 0 || len(v) > enoughOfValue || !nameOfCode.MatchString(v) {
		return false
	}
	return isConstant(v) || p.wordy() && (p.digits == 0 || !wordWithNumber.MatchString(v))
}

var (
	nameOfCode     = lazy.Expr(`^[\pL\d_.:/@-]+$`)
	wordWithNumber = lazy.Expr(`^[^\d]+\d+$`)
)

// isSample reports whether v is a password that everybody takes for an example.
func isSample(v string) bool {
	const longest = 20
	if len(v) > longest {
		return false
	}
	low := lower(v)
	return samples.has(low) || samples.has(strings.TrimRight(low, "!.1"))
}

var samples = setOf("hunter2 letmein s3cr3t s3cret secret123 mysecret supersecret topsecret supersecretpassword mysecretpassword mypassword passw0rd p4ssw0rd " + //nolint:gochecknoglobals // read-only
	"p@ssw0rd p@ssword pa$$word pa$$w0rd password1 password12 password123 password1234 admin123 admin1234 root123 user123 test123 test1234 demo123 foobar123 " +
	"qwerty qwerty1 qwerty12 qwerty123 qwertz asdf1234 abc123 abcd1234 abcdef123456 123abc 1234567890abcdef 0123456789abcdef abcdef0123456789 changeit opensesame " +
	"swordfish notasecret insecure welcome123 trustno1 iloveyou")

// isFileName reports whether v is the name of a file made of words, or one that ssh-keygen gives.
func isFileName(v string) bool {
	n := strings.LastIndexByte(v, '.')
	return strings.HasPrefix(v, "id_") && keyFile.MatchString(v) ||
		n > 0 && fileEndings.has(v[n+1:]) && Wordy(v[:n]) && !strings.ContainsAny(v, strongSigns)
}

var (
	keyFile     = lazy.Expr(`^id_(?:rsa|dsa|ecdsa|ed25519|ed25519_sk|ecdsa_sk)\d{0,4}(?:[._-][\w.-]*)?$`)
	fileEndings = setOf("txt md json jsonl yaml yml toml ini cfg conf config env pem key pub crt cer der csr pfx jks sh bash zsh fish ps1 bat py ipynb js mjs ts tsx jsx vue go rs rb " + //nolint:gochecknoglobals // read-only
		"java kt swift c h cpp hpp cs php pl lua ex exs erb sql html css scss xml csv tsv log lock bak old tmp zip tar gz tgz png jpg jpeg svg gif pdf docx xlsx db sqlite map snap diff patch tf hcl proto graphql gpg asc age")
)

// isSourceMap reports whether v is where the lines of a program came from, as source maps write it.
func isSourceMap(v string) bool {
	return strings.Count(v, ",")+strings.Count(v, ";") > 4 && sourceMap.MatchString(v)
}

var sourceMap = lazy.Expr(`^;*[A-Za-z\d+/]{4,14}(?:[,;]+[A-Za-z\d+/]{1,14}){4,}[,;]*$`)

// isFile reports whether v ends as the names of files do.
func isFile(v string) bool {
	v = strings.TrimRight(v, digitSet)
	v = strings.TrimSuffix(v, ":")
	n := strings.LastIndexByte(v, '.')
	return n > 0 && len(v)-n > 1 && len(v)-n <= 5 && onlyLetters(v[n+1:]) && !hasUpper(v[n+1:])
}

// isHashOrID reports whether a value is a hash or an ID, which gives no access where nothing says so.
func isHashOrID(v string) bool {
	v = strings.TrimPrefix(v, "0x")
	for i := range len(v) {
		if nibbles[v[i]] < 0 && v[i] != '-' {
			return false
		}
	}
	return len(v) > 6 && (!hasUpper(v) || !hasLower(v))
}

// isUUID reports whether v begins with one.
func isUUID(v string) bool {
	return len(v) >= 36 && isHashOrID(v[:36]) && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-'
}

// isPrefixedHash reports whether v is a hash behind words, as caches are called.
func isPrefixedHash(v string) bool {
	n := strings.LastIndexByte(strings.TrimRight(v, "-"), '-')
	return n > 0 && n+8 < len(v) && isHashOrID(v[n+1:]) && onlyLetters(v[:1])
}

// isPIN reports whether v is a number of four to eight digits, perhaps with spaces or hyphens.
func isPIN(v string) bool {
	v = strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSuffix(v, "#"))
	return len(v) >= 4 && len(v) <= 8 && onlyDigits(v)
}

// isPhrase reports whether v is several words of which a passphrase is made: none of them one that forms and messages
// say.
func isPhrase(v string) bool {
	n := strings.Count(v, " ")
	return n > 0 && n < 10 && (n > 1 && strings.ToLower(v) == v || hasDigit(v)) && isText(v) && !hasNameWord(v)
}

// isText reports whether v is words that may be a passphrase where it is called one.
func isText(v string) bool {
	return len(v) >= minValue && !isPlaceholder(v) && wordsForm.MatchString(v) &&
		!slices.ContainsFunc(strings.Fields(lower(v)), func(w string) bool { return messageWords.has(w) })
}

var (
	wordsForm = lazy.Expr(`^[\pL\d]+(?: [\pL\d!&#-]+)+$`)
	// messageWords are what forms and programs say to people.
	messageWords = setOf("the a an of if by as be it this that new old use used has no set get a can will when should character characters chars must least most than enter your please invalid wrong not is are to for and or with from in on at day days hour hours minute minutes second seconds time times expire expires expired required failed error login user bit bits byte bytes") //nolint:gochecknoglobals // read-only
	// constants are values of code and forms.
	constants = setOf("true false null none nil undefined yes no on off required optional confirmed nullable string number boolean text hidden prompt stdin options option flag flags argument arguments parameter encrypted masked plain enabled disabled include same-origin changeme") //nolint:gochecknoglobals // read-only
)

// isBasicLogin reports whether v is a user's name and a password in base64, as HTTP wants them.
func isBasicLogin(v string) bool {
	plain := decoded(strings.TrimRight(v, "="))
	return len(v) >= minValue && strings.IndexByte(plain, ':') > 0 && strings.IndexByte(plain, '\n') < 0
}
