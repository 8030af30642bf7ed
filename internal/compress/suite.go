package compress

import "strings"

// suite knows what runners of tests have in common: pytest; jest and vitest; cargo; mocha, phpunit, rspec and minitest,
// which number their failures; unittest and automake; and TAP.
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
	u.why = startsWithAny(text, "E  ")
	u.on = u.on || s.signals&(saysTests|saysError) != 0
	switch {
	case u.why && why:
		return detail, true
	case u.why:
		return fault, true
	case startsWithAny(text, "FAILED ", "ERROR ") && (strings.Contains(text, ".py") || strings.Contains(text, "::")),
		startsWithAny(text, "test ") && strings.HasSuffix(text, " ... FAILED"):
		return failure, true
	case startsWithAny(bare, "✓ ", "√ ", "○ ", "↓ "), startsWithAny(text, "PASS "),
		startsWithAny(bare, "ok ") && countDigits(bare[3:]) > 0:
		u.open = false
		return noise, true
	case startsWithAny(bare, "✕ ", "× ", "✗ "):
		return warning, true // the block below says it again, with its path
	case startsWithAny(text, "rspec ./"):
		return fault, true
	case startsWithAny(bare, "● ") && !strings.HasPrefix(bare, "● Console"), startsWithAny(bare, "FAIL "),
		startsWithAny(bare, "❯ ") && strings.Contains(bare, "failed"),
		startsWithAny(text, "FAIL: ", "ERROR: "), startsWithAny(bare, "not ok ") && !strings.Contains(bare, " # TODO"),
		u.on && isNumbered(bare):
		u.open, u.said, u.at = true, false, false
		return failure, true
	case s.signals&saysTests != 0 && isChecksum(text), startsWithAny(bare, "Test Suites: ", "Test Files "):
		u.open, k.tests = false, true
		return total, true
	case startsWithAny(text, "⎯⎯⎯⎯"), text == "Summary of all failing tests":
		u.open = u.open && !strings.Contains(text, " ") // a rule without a title stands between parts of a failure
		return noise, true
	case u.open && text != "":
		return u.kindInFailure(bare, s), true
	}
	return detail, u.open
}

// isNumbered reports whether a line begins as "12) name".
func isNumbered(bare string) bool {
	n := countDigits(bare)
	return n > 0 && n < 5 && strings.HasPrefix(bare[n:], ") ")
}

// kindInFailure is a line of a failure: the first says what happened, the first place where.
func (u *suite) kindInFailure(bare string, s scanned) kind {
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
