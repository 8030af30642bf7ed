package compress

import "strings"

// jsTest knows jest and vitest.
type jsTest struct {
	open bool // behind the name of a failing test
	said bool // its error was seen
	at   bool // its place was seen
}

func (*jsTest) looks() looks { return looks{first: "\xe2\xc3PFTSRD", inner: "\xe2\xc3FTSD"} }

func (j *jsTest) waits() bool { return j.open }

func (j *jsTest) line(text string, _ scanned, _ *keeper) (kind, bool) {
	bare := strings.TrimLeft(text, " ")
	switch {
	case starts(bare, "✓ ", "√ ", "○ ", "↓ "), starts(text, "PASS "):
		j.open = false
		return noise, true
	case starts(bare, "✕ ", "× ", "✗ "):
		return warning, true // the block below says it again, with its path
	case starts(bare, "● ") && !strings.HasPrefix(bare, "● Console"), starts(bare, "FAIL "), starts(bare, "❯ ") && strings.Contains(bare, "failed"):
		j.open, j.said, j.at = true, false, false
		return failure, true
	case starts(bare, "Test Suites: ", "Tests: ", "Test Files ", "Tests  ", "Snapshots: "):
		j.open = false
		return total, true
	case starts(text, "⎯⎯⎯⎯"), text == "Summary of all failing tests":
		j.open = j.open && !strings.Contains(text, " ") // a rule without a title stands between parts of a failure
		return noise, true
	case starts(text, "Time: ", "Ran all test suites"), starts(bare, "Start at ", "Duration "):
		return plain, true
	case j.open && text != "":
		return j.inside(bare), true
	}
	return detail, j.open
}

// inside is a line of a failure: the first says what happened, the first place where.
func (j *jsTest) inside(bare string) kind {
	switch {
	case !j.said:
		j.said = true
		return fault
	case !j.at && (strings.HasPrefix(bare, "at ") || strings.HasPrefix(bare, "❯ ")) && !strings.Contains(bare, "node_modules"):
		j.at = true
		return fault
	}
	return detail
}

func (*jsTest) tester() {}
