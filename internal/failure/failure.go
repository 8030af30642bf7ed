// Package failure knows errors again: by what terms two failures are the same.
//
// In: what a command printed. Out: terms that name no more than what ledgers may share. It is
// deterministic, and touches nothing.
package failure

import (
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// How much of an output is looked at: its beginning and its end, in bytes, and lines that say what went wrong.
const (
	maxOutput = 64 << 10
	maxFaults = 24
)

// Of each kind of term there are at most so many, so that each kind has room.
const (
	maxPhrases = 3
	maxCodes   = 4
	maxFiles   = 2
)

// Terms are the terms of the error in what a command printed. Without failed, because a pipe hid the status, only
// failing tests and errors with their place count.
func Terms(output string, failed bool) session.Terms {
	terms := termsOf(Lines(output, failed))
	if terms == "" && failed {
		terms = termsOf(lastLines(ends(output)))
	}
	return terms
}

func termsOf(lines []string) session.Terms {
	var phrases, codes, names, files []string
	for _, line := range lines {
		add(&phrases, maxPhrases, phraseOf(line))
		for _, c := range codesOf(line) {
			add(&codes, maxCodes, c)
		}
		terms, paths := compress.Names(line)
		for _, t := range append(namesSaid(line), terms...) {
			if t = strings.TrimSuffix(strings.TrimPrefix(t, "./"), "/"); !place.MatchString(t) && maySay(line, t) {
				add(&names, session.MaxTerms, t)
			}
		}
		for _, p := range paths {
			add(&files, maxFiles, path.Base(p))
		}
	}
	return session.TermsOf(slices.Concat(phrases, codes, files, names))
}

func add(to *[]string, most int, term string) {
	if term != "" && len(*to) < most && len(term) <= session.MaxTerm && !slices.Contains(*to, term) {
		*to = append(*to, term)
	}
}

// Lines are the lines of an output that say what went wrong, as Terms counts them.
func Lines(output string, failed bool) (lines []string) {
	output = ends(output)
	faults := compress.Faults(output, maxFaults)
	for _, f := range faults {
		if (f.Sure || failed) && !wrapper.MatchString(f.Text) {
			lines = append(lines, f.Text)
		}
	}
	if len(lines) == 0 && failed {
		lines = lastLines(output)
	}
	return lines
}

// wrapper is a line in which a runner of tasks says that what it ran failed: it is the same for all errors.
var wrapper = lazy.Expr(`^(?:\S{0,60}\s)?(?:ERROR task failed|error Command failed with exit code \d+\.|make(?:\[\d+\])?: \*\*\* .*Error \d+|npm (?:ERR!|error) .*(?:code ELIFECYCLE|Lifecycle script).*|FAIL\s*|exit status \d+|Error: Process completed with exit code \d+\.?)$`)

// ends are the beginning and the end of an output.
func ends(output string) string {
	if len(output) <= maxOutput {
		return output
	}
	return output[:maxOutput/2] + "\n" + output[len(output)-maxOutput/2:]
}

// lastLines are the first and the last lines that say anything, where no line says that it is an error.
func lastLines(output string) []string {
	all := slices.DeleteFunc(strings.Split(output, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(all) > 6 {
		all = append(all[:3:3], all[len(all)-3:]...)
	}
	return all
}

// phraseOf is the words of a message that are words of errors, in their order; "" where they say nothing.
func phraseOf(line string) string {
	var kept []string
	size, says := 0, false
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool {
		return r != '\'' && (r < 'a' || r > 'z') &&
			(r < 'A' || r > 'Z') && !isNameSign(r)
	}) {
		if word = strings.ToLower(strings.Trim(word, "'.-:")); !vocabulary()[word] {
			continue
		}
		if size += len(word) + 1; size > session.MaxTerm {
			break
		}
		kept, says = append(kept, word), says || !vague()[word]
	}
	if !says {
		return ""
	}
	return strings.Join(kept, " ")
}

// isNameSign reports whether a sign makes a longer name of words: what stands in one is no word of a message.
func isNameSign(r rune) bool { return strings.ContainsRune("_/.-:0123456789", r) || r >= 0x80 }

// quoted is a name that a message quotes, or says behind a colon or the word for what it is.
var quoted = lazy.Expr("[\x60'\"\u2018\u201c]([A-Za-z_@./-][\\w@./:-]{1,60})[\x60'\"\u2019\u201d]|\\b(?:undefined|named?|module|command not found|package|option|argument|target|task):? ([A-Za-z_@./-][\\w@./:-]{1,60})\\s*$|^(?:\\S+: )?(?:line \\d+: )?([\\w./-]{2,40}): command not found")

// missingBefore and missingBehind are the path of which a shell or a program says that it is not there, and place is no
// name, but where something stands.
var (
	missingBefore = lazy.Expr("([^\\s:'\"\x60]{2,80})['\"\x60]?: (?i:no such file or directory|not a directory|permission denied|directory not found)")
	missingBehind = lazy.Expr(`(?i:no such file or directory|no matches found): ['"]?([^\s:'"]{2,80})`)
	place         = lazy.Expr(`^[\w.]+:\d+$`)
)

// namesSaid are the names that a message quotes or speaks of.
func namesSaid(line string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(line, 4) {
		out = append(out, strings.Join(m[1:], ""))
	}
	if m := missingBehind.FindStringSubmatch(line); m != nil {
		return append(out, m[1])
	}
	if m := missingBefore.FindStringSubmatch(line); m != nil {
		out = append(out, m[1])
	}
	return out
}

// codes are rules of linters, codes of compilers, numbers of errors, and types of exceptions.
var (
	rule  = lazy.Expr(`\(([a-z][a-z0-9-]{2,30})\)\s*$|\s(@?[a-z][\w-]*/[\w/-]{3,60})\s*$`)
	code  = lazy.Expr(`\b(?:[A-Z]{1,6}\d{2,5}|E[A-Z]{3,14}|CONFLICT|HTTP [45]\d\d)\b`)
	types = lazy.Expr(`\b(?:[A-Za-z_][\w.]*(?:Error|Exception|Panic|Warning)|SIG[A-Z]{3,5})\b`)
)

// A name says nothing of the line that it was in, by which redaction knows many secrets. So a line that speaks of one
// gives no names but those of tests, and nothing that may be drawn by lot, or is a login, is a name.
var (
	secretive = lazy.Expr(`(?i)passw|passphrase|\bpass\b|\bpwd\b|secret|tokens?\b|\bauth|credential|bearer|cookie|private.?key|\bkeys?\b|api.?key`)
	testID    = lazy.Expr(`^(?:Test[A-Z_]|test_)|::`)
	digits    = lazy.Expr(`\d`)
	drawn     = lazy.Expr(`[A-Za-z0-9+/=]{16}`)
)

// maySay reports whether a name in a line may be kept.
func maySay(line, name string) bool {
	numbers := len(digits.FindAllString(name, 4))
	switch {
	case strings.LastIndexByte(name, '@') > 0, strings.Contains(name, "://"), numbers > 3 && drawn.MatchString(name):
		return false
	case secretive.MatchString(line):
		return testID.MatchString(name) && numbers < 3
	}
	return true
}

// common is a term that names a kind of error, and nothing that has it.
var common = lazy.Expr(`(?:Error|Exception|Panic|Warning)$|^[A-Z]{1,6}\d{2,5}$|^E[A-Z]{3,}$|^CONFLICT$|^SIG[A-Z]+$|^HTTP \d+$`)

// IsName reports whether a term names what has the error: a symbol, a file, a test; no message, and no kind of error.
func IsName(term string) bool { return !strings.Contains(term, " ") && !common.MatchString(term) }

func codesOf(line string) (out []string) {
	for _, m := range rule.FindAllStringSubmatch(line, 1) {
		out = append(out, m[1]+m[2])
	}
	out = append(out, code.FindAllString(line, 3)...)
	return append(out, types.FindAllString(line, 3)...)
}
