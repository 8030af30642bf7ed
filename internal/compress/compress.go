// Package compress makes a command's output small. It keeps failures of a test run, errors of a build, and of
// everything else the beginning, the end and what was asked for.
//
// In: bytes as they come, through Write. Out, at Close: a text within a budget of tokens, and what it names. It is
// deterministic: no model, clock or file. Memory is bounded for any input.
//
// Promises: each line of the result is a line of the input, or its beginning before "…", or a mark. A mark begins with
// "… ", says what was left out, and quotes only words of these lines. Lines are as a terminal shows them: without
// control sequences, a progress bar in its last state, invalid UTF-8 as U+FFFD, events of "go test -json" as text.
//
// Four steps: clean lines (lines.go); recognise them, one file a tool (tool.go); keep what matters, fold lines that
// differ only in numbers, hashes, times, paths or quotes, and drop lines of signs alone (keep.go); choose what fits the
// budget (choose.go). Failing tests, errors, warnings and totals come first. If they do not fit, one line of each kind
// is shown, and marks name its others.
package compress

// Budget is how many tokens a result has at most, unless Options say otherwise.
const Budget = 2000

// Options say what a result is for. The zero value is the default.
type Options struct {
	Instruction string // what the reader looks for: lines that speak of it are kept
	Budget      int    // tokens; 0: Budget
}

// Result is what is left of an output.
type Result struct {
	Text  string   // ends with a newline unless it is empty
	Lines int      // of the input
	Shown int      // of them in Text; marks not counted
	Bytes int64    // of the input
	Terms []string // symbols, test IDs, package names and error codes in Text, each once, at most 64
	Paths []string // files that Text names, without line numbers, each once, at most 50

	Tests  bool // it is a run of tests
	Failed int  // failing tests, as often as they are named
	Errors int  // lines that are errors
}

// Compressor takes in one output. It is no Writer for several goroutines.
type Compressor struct {
	opt     Options
	lines   lineReader
	words   vocabulary
	goTest  *goTest // the first of the tools
	tools   []tool
	repeats repeats
	keep    keeper
}

// New returns a Compressor.
func New(opt Options) *Compressor {
	if opt.Budget <= 0 {
		opt.Budget = Budget
	}
	first := &goTest{}
	return &Compressor{
		opt: opt, goTest: first, tools: newTools(first), words: newVocabulary(opt.Instruction),
		keep: newKeeper(),
	}
}

// Write takes in a part of the output. It never fails.
func (c *Compressor) Write(p []byte) (int, error) {
	c.lines.add(p, c.line)
	return len(p), nil
}

// line takes in one line.
func (c *Compressor) line(text string) {
	s := scan(text, &c.words)
	if s.needsClean {
		if shown := asOnTerminal(text); shown != text {
			text, s = shown, scan(shown, &c.words)
		}
	}
	s.owner = c.lines.owner
	if lineKind, ok := c.repeats.kindOfRepeat(s); ok {
		c.keep.add(text, lineKind, s)
		return
	}
	lineKind, tool := c.recognise(text, s)
	c.repeats.remember(s, lineKind, tool)
	c.keep.add(text, lineKind, s)
}

// recognise asks the tools for the kind of a line, and returns the index of the tool that knows the line; -1 for none.
func (c *Compressor) recognise(text string, s scanned) (lineKind kind, tool int) {
	for i, t := range c.tools {
		if lineKind, ok := t.line(text, s, &c.keep); ok {
			return lineKind, i
		}
	}
	return kindOfAny(text, s, &c.keep), -1
}

// repeats counts lines of one shape in a row that are noise or ordinary. From the third on, the tools are not asked: a
// tool that waits for a line does not wait for such. Lines of goTest, tool 0, don't count, because it holds each of
// them.
type repeats struct {
	shape   uint64
	signals signal
	kind    kind
	tool    int
	times   int
}

func (l *repeats) kindOfRepeat(s scanned) (kind, bool) {
	return l.kind, l.times > 1 && l.shape == s.shape && l.signals == s.signals && s.owner == ""
}

func (l *repeats) remember(s scanned, lineKind kind, tool int) {
	switch {
	case lineKind > noise || tool == 0:
		l.times = 0
	case l.times > 0 && l.shape == s.shape && l.signals == s.signals && l.kind == lineKind && l.tool == tool:
		l.times++
	default:
		*l = repeats{s.shape, s.signals, lineKind, tool, 1}
	}
}

// Close ends the input.
func (c *Compressor) Close() Result {
	c.lines.end(c.line)
	c.goTest.releaseRunning(&c.keep)
	return c.keep.result(c.opt, c.lines.bytes)
}

// Text compresses a whole text.
func Text(text string, opt Options) Result {
	c := New(opt)
	_, _ = c.Write([]byte(text)) // never fails
	return c.Close()
}
