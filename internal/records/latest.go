package records

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Words of a question for the latest of a kind: "the last failing tests", "yesterday's build error", "build errors".
const (
	fillers = " a about all an and any are at been did do does for from get give had has have how i in is it list me my of on or our output outputs please print printed " +
		"result results run show shown tell that the there these they this to up was we were what when where which with command commands log logs record records ran said say says "
	lately  = " last lately latest most newest previous previously recent recently "
	failing = " fail failed failing fails failure failures broken broke red wrong "
	tests   = " test tests testing suite suites spec specs unittest unittests pytest jest vitest "
	builds  = " build builds building compile compiles compilation compiler compiling make linker link "
	faults  = " error errors exception exceptions crash crashed crashes problem problems "
)

// builder is a command that builds something.
var builder = lazy.Expr(`\b(build|compile|make|cmake|ninja|tsc|gcc|g\+\+|clang|clang\+\+|javac|rustc|mvn|gradle|bazel|webpack|vite|rollup|esbuild|go vet|go install|cargo check)\b`)

func anyRecord(Record) bool { return true }

// kindAsked is which records a question is for that has no other topic, and false where it has one.
func kindAsked(q Question) (wanted func(Record) bool, ok bool) {
	if q.Latest {
		return anyRecord, true
	}
	all := strings.FieldsFunc(strings.ToLower(q.Words),
		func(r rune) bool { return r < 0x80 && (r < 'a' || r > 'z') && r != '-' })
	has := func(list string) (some bool) {
		for _, w := range all {
			some = some || strings.Contains(list, " "+w+" ")
		}
		return some
	}
	for _, w := range all {
		if !strings.Contains(fillers+lately+failing+tests+builds+faults, " "+w+" ") {
			return nil, false
		}
	}
	bad, test, build, fault := has(failing), has(tests), has(builds), has(faults)
	if !test && !build && !bad && !fault || len(all) < 2 && !q.Timed {
		return nil, false
	}
	return func(r Record) bool {
		failed := r.Failed > 0 || r.Errors > 0 || r.Exit != nil && *r.Exit != 0
		switch {
		case test && !r.Tests, build && (r.Tests || !builder.MatchString(r.Command)):
			return false
		case test && bad:
			return r.Failed > 0 || failed && r.Failed == 0
		}
		return !bad && !fault || failed
	}, true
}
