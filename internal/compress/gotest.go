package compress

import (
	"cmp"
	"strings"
)

// goTest knows "go test", with and without -v and -json. What a test logs stands before its result, so it is held
// until that is known.
type goTest struct {
	running      string // the name of the test that runs
	held         map[string][]entry
	heldCount    int  // of lines, of all tests
	afterFailure bool // the lines before are a failure
}

// What is held at most: lines of one test, and of all.
const (
	heldLines = 60
	heldAll   = 5000
)

func (g *goTest) line(text string, s scanned, k *keeper) (kind, bool) {
	bare := strings.TrimLeft(text, " ")
	switch {
	case strings.HasPrefix(text, "=== "):
		if _, name, ok := strings.Cut(text[4:], " "); ok &&
			startsWithAny(text, "=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE ") {
			g.running, g.afterFailure = strings.TrimSpace(name), false
			return noise, true
		}
		return ordinary, false
	case startsWithAny(bare, "--- PASS: ", "--- SKIP: ", "--- BENCH: "):
		g.dropLog(cmp.Or(s.owner, testName(bare)))
		g.afterFailure = false
		return noise, true
	case strings.HasPrefix(bare, "--- FAIL: "):
		g.releaseLog(cmp.Or(s.owner, testName(bare)), k)
		g.afterFailure = true
		return failure, true
	case startsWithAny(text, "ok  \t"), text == "PASS", strings.HasPrefix(text, "?   \t"):
		g.reset()
		k.tests = true
		if text[0] == 'o' {
			return landmark, true
		}
		return noise, true
	case strings.HasPrefix(text, "FAIL\t"):
		g.releaseRunning(k)
		return failure, true
	case text == "FAIL":
		g.releaseRunning(k)
		return total, true
	case startsWithAny(text, "panic: test timed out"):
		g.releaseRunning(k)
		return ordinary, false
	case (g.running != "" || s.owner != "") && strings.HasPrefix(text, "    ") && !strings.HasPrefix(bare, "--- "):
		return g.holdLog(text, s, k), true
	case g.afterFailure && strings.HasPrefix(text, "    "):
		return kindOfLogged(bare), true
	}
	if text != "" && text[0] != ' ' && text[0] != '\t' {
		g.afterFailure = false
	}
	return ordinary, false
}

// kindOfLogged is what a line of a failing test says: its place, or more of it.
func kindOfLogged(bare string) kind {
	if n, _ := readPlace(bare); n > 0 {
		return fault
	}
	return detail
}

// testName is the name of the test in a result line such as "--- FAIL: TestX (0.00s)".
func testName(bare string) string {
	_, rest, _ := strings.Cut(bare, ": ")
	name, _, _ := strings.Cut(rest, " (")
	return name
}

func (g *goTest) holdLog(text string, s scanned, k *keeper) kind {
	if g.held == nil {
		g.held = map[string][]entry{}
	}
	owner := cmp.Or(s.owner, g.running)
	if g.heldCount < heldAll && len(g.held[owner]) < heldLines {
		g.held[owner] = append(g.held[owner], withOwnText(entry{seq: k.seq, text: text, hasText: s.hasText}))
		g.heldCount++
	}
	return noise
}

func (g *goTest) dropLog(owner string) {
	g.heldCount -= len(g.held[owner])
	delete(g.held, owner)
}

// releaseLog hands over what a failing test logged.
func (g *goTest) releaseLog(owner string, k *keeper) {
	for _, h := range g.held[owner] {
		k.addOfKind(h, kindOfLogged(strings.TrimLeft(h.text, " ")))
	}
	g.dropLog(owner)
}

// releaseRunning hands over what the running test logged: it ended the process before its result. Lines of other tests
// are dropped.
func (g *goTest) releaseRunning(k *keeper) {
	g.releaseLog(g.running, k)
	g.reset()
}

func (g *goTest) reset() { g.running, g.held, g.heldCount, g.afterFailure = "", nil, 0, false }
