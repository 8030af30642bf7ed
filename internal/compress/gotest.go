package compress

import (
	"cmp"
	"strings"
)

// goTest knows "go test", with and without -v and -json. What a test logs stands before its result, so it is held
// until that is known.
type goTest struct {
	test string // that is running, by name
	held map[string][]entry
	n    int  // lines held
	open bool // behind a failure
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
		if _, name, ok := strings.Cut(text[4:], " "); ok && starts(text, "=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE ") {
			g.test, g.open = strings.TrimSpace(name), false
			return noise, true
		}
		return ordinary, false
	case starts(bare, "--- PASS: ", "--- SKIP: ", "--- BENCH: "):
		g.drop(cmp.Or(s.owner, testName(bare)))
		g.open = false
		return noise, true
	case strings.HasPrefix(bare, "--- FAIL: "):
		g.release(cmp.Or(s.owner, testName(bare)), k)
		g.open = true
		return failure, true
	case starts(text, "ok  \t"), text == "PASS", strings.HasPrefix(text, "?   \t"):
		g.reset()
		k.tests = true
		if text[0] == 'o' {
			return sign, true
		}
		return noise, true
	case strings.HasPrefix(text, "FAIL\t"):
		g.releaseAll(k)
		return failure, true
	case text == "FAIL":
		g.releaseAll(k)
		return total, true
	case starts(text, "panic: test timed out"):
		g.releaseAll(k)
		return ordinary, false
	case (g.test != "" || s.owner != "") && strings.HasPrefix(text, "    ") && !strings.HasPrefix(bare, "--- "):
		return g.hold(text, s, k), true
	case g.open && strings.HasPrefix(text, "    "):
		return kindOfLogged(bare), true
	}
	if text != "" && text[0] != ' ' && text[0] != '\t' {
		g.open = false
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

// testName is that of a result: "--- FAIL: TestX (0.00s)".
func testName(bare string) string {
	_, rest, _ := strings.Cut(bare, ": ")
	name, _, _ := strings.Cut(rest, " (")
	return name
}

func (g *goTest) hold(text string, s scanned, k *keeper) kind {
	if g.held == nil {
		g.held = map[string][]entry{}
	}
	owner := cmp.Or(s.owner, g.test)
	if g.n < heldAll && len(g.held[owner]) < heldLines {
		g.held[owner] = append(g.held[owner], withOwnText(entry{seq: k.seq, text: text, says: s.wordy}))
		g.n++
	}
	return noise
}

func (g *goTest) drop(owner string) {
	g.n -= len(g.held[owner])
	delete(g.held, owner)
}

// release hands over what a failing test logged.
func (g *goTest) release(owner string, k *keeper) {
	for _, h := range g.held[owner] {
		k.addOfKind(h, kindOfLogged(strings.TrimLeft(h.text, " ")))
	}
	g.drop(owner)
}

// releaseAll hands over what tests logged that came to no result: one of them ended all.
func (g *goTest) releaseAll(k *keeper) {
	g.release(g.test, k)
	g.reset()
}

func (g *goTest) reset() { g.test, g.held, g.n, g.open = "", nil, 0, false }
