package compress

import "strings"

// pytest knows its verbose and its short form, sections of failures, and the summary.
type pytest struct {
	section bool // of failures, errors, or captured output
	said    bool // the first "E" line of this failure was seen
}

func (*pytest) looks() looks { return looks{first: "=_FE!PSX", last: "]DLS"} }

func (p *pytest) waits() bool { return p.section }

func (p *pytest) line(text string, _ scanned, _ *keeper) (kind, bool) {
	if text == "" {
		return detail, p.section
	}
	switch text[0] {
	case '=':
		if strings.HasPrefix(text, "====") && strings.HasSuffix(text, "====") {
			return p.rule(text), true
		}
	case '_':
		if p.section && starts(text, "____") || strings.HasPrefix(text, "___") && strings.HasSuffix(text, "___") && strings.Contains(text, " ") {
			p.said = false
			return sign, true
		}
	case 'F', 'E':
		if starts(text, "FAILED ", "ERROR ") && (strings.Contains(text, ".py") || strings.Contains(text, "::")) {
			return failure, true
		}
		if p.section && strings.HasPrefix(text, "E  ") {
			return p.why(), true
		}
	case '!':
		if strings.HasPrefix(text, "!!!!") {
			return total, true
		}
	case 'P', 'S', 'X':
		if starts(text, "PASSED ", "SKIPPED ", "XFAIL ", "XPASS ") && strings.Contains(text, ".py") {
			return noise, true
		}
	}
	if is, ok := progress(text); ok {
		return is, true
	}
	if n, rest := place(text); n == 1 && p.section && isThrown(strings.TrimSpace(rest)) {
		return fault, true
	}
	return detail, p.section
}

// rule is a line of "=" with a word or a sum in it.
func (p *pytest) rule(text string) kind {
	word := strings.Trim(text, "= ")
	p.section = starts(word, "FAILURES", "ERRORS", "PASSES")
	p.said = false
	if strings.Contains(word, " in ") && (strings.Contains(word, "passed") || strings.Contains(word, "failed") || strings.Contains(word, "error") || strings.Contains(word, "no tests") || strings.Contains(word, "skipped")) {
		return total
	}
	return noise
}

// why is an "E" line: the first of a failure says what happened.
func (p *pytest) why() kind {
	if p.said {
		return detail
	}
	p.said = true
	return fault
}

// progress is a line of a running test: "tests/test_a.py::test_b PASSED [ 3%]", "tests/test_a.py ..F. [ 3%]".
func progress(text string) (kind, bool) {
	if !strings.HasSuffix(text, "]") || !strings.Contains(text, "%") {
		if i := strings.Index(text, "::"); i < 0 || !strings.Contains(text[:i], ".py") || !starts(text[strings.LastIndexByte(text, ' ')+1:], "PASSED", "SKIPPED", "XFAIL", "XPASS") {
			return plain, false
		}
		return noise, true
	}
	file, rest, ok := strings.Cut(text, ".py")
	switch {
	case !ok || strings.ContainsRune(file, ' '):
		return plain, false
	case strings.Contains(rest, " FAILED") || strings.Contains(rest, " ERROR"):
		return warning, true // the summary says it again
	}
	return noise, true
}

func (*pytest) tester() {}
