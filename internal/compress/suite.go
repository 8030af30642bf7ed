package compress

import "strings"

// suite knows what runners of tests have in common: pytest; jest and vitest; cargo; mocha, phpunit, rspec and minitest, which number their failures;
// unittest and automake; and TAP.
type suite struct {
	on   bool // something was counted, or failed: a number before a bracket is that of a failure
	open bool // behind the name of a failing test
	said bool // its error was seen
	at   bool // its place was seen
	why  bool // the line before began with "E", as what pytest says of a failure
}

func (u *suite) line(text string, s scanned, k *keeper) (kind, bool) {
	bare := strings.TrimLeft(text, " ")
	why := u.why
	u.why = starts(text, "E  ")
	u.on = u.on || s.signals&(saysTests|saysError) != 0
	switch {
	case u.why && why:
		return detail, true
	case u.why:
		return fault, true
	case starts(text, "FAILED ", "ERROR ") && (strings.Contains(text, ".py") || strings.Contains(text, "::")),
		starts(text, "test ") && strings.HasSuffix(text, " ... FAILED"):
		return failure, true
	case starts(bare, "✓ ", "√ ", "○ ", "↓ "), starts(text, "PASS "), starts(bare, "ok ") && digits(bare[3:]) > 0:
		u.open = false
		return noise, true
	case starts(bare, "✕ ", "× ", "✗ "):
		return warning, true // the block below says it again, with its path
	case starts(text, "rspec ./"):
		return fault, true
	case starts(bare, "● ") && !strings.HasPrefix(bare, "● Console"), starts(bare, "FAIL "), starts(bare, "❯ ") && strings.Contains(bare, "failed"),
		starts(text, "FAIL: ", "ERROR: "), starts(bare, "not ok ") && !strings.Contains(bare, " # TODO"), u.on && numbered(bare):
		u.open, u.said, u.at = true, false, false
		return failure, true
	case s.signals&saysTests != 0 && isSum(text), starts(bare, "Test Suites: ", "Test Files "):
		u.open, k.tests = false, true
		return total, true
	case starts(text, "⎯⎯⎯⎯"), text == "Summary of all failing tests":
		u.open = u.open && !strings.Contains(text, " ") // a rule without a title stands between parts of a failure
		return noise, true
	case u.open && text != "":
		return u.inside(bare, s), true
	}
	return detail, u.open
}

// numbered reports whether a line begins as "12) name".
func numbered(bare string) bool {
	n := digits(bare)
	return n > 0 && n < 5 && strings.HasPrefix(bare[n:], ") ")
}

// inside is a line of a failure: the first says what happened, the first place where.
func (u *suite) inside(bare string, s scanned) kind {
	switch {
	case !u.said:
		u.said = true
		return fault
	case (!u.at || strings.HasPrefix(bare, "❯ ")) && s.signals&saysPlace != 0 && !strings.Contains(bare, "node_modules"):
		u.at = true
		return fault
	}
	return detail
}
