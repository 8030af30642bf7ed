package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// When a meter is first seen, and how often it is written anew.
const (
	meterAfter = 500 * time.Millisecond
	meterEvery = 100 * time.Millisecond
)

// meter says on a terminal how far something is, in one line that is written over and is gone in the end:
//
//	git-rekal: reading transcripts [#########-----------] 120 of 266, 4 s left
//
// What is written to App.Stderr meanwhile stands above it. Where stderr is no terminal, within meterAfter, and once all
// is done, it says nothing.
type meter struct {
	app   *App
	out   io.Writer // nil: no terminal
	what  string
	quiet bool // until it is known how much there is to do

	mu       sync.Mutex // guards out and what follows
	ended    bool
	at, of   int
	elapsed  time.Duration // as far as it was watched
	occupied int           // characters of the line that stands there
}

// meter starts one; end must be called.
func (app *App) meter(task string) *meter {
	m := &meter{app: app, what: task}
	if app.Terminal {
		m.out, app.Stderr = app.Stderr, m
		time.AfterFunc(meterAfter, func() { m.redraw(meterAfter) })
	}
	return m
}

// plainStderr is App.Stderr without a meter before it.
func (app *App) plainStderr() io.Writer {
	if m, ok := app.Stderr.(*meter); ok {
		return m.out
	}
	return app.Stderr
}

// setProgress says how far it is; of is 0 where nobody knows how much there is to do. It may be called by several
// goroutines.
func (m *meter) setProgress(at, of int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at, m.of = at, of; at == of && m.out != nil {
		m.writeLine("")
	}
}

// setStage is setProgress for a job that has several stages, each with a bar of its own.
func (m *meter) setStage(stage string, at, of int) {
	m.mu.Lock()
	if stage != m.what {
		m.what, m.elapsed = stage, 0
	}
	m.mu.Unlock()
	m.setProgress(at, of)
}

// end takes the line away.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended = true; m.out != nil {
		m.writeLine("")
		m.app.Stderr = m.out
	}
}

// eraseLine takes the line away until it is written the next time.
func (m *meter) eraseLine() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.out != nil {
		m.writeLine("")
	}
}

// Write writes something else.
func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writeLine("")
	return m.out.Write(p)
}

// redraw writes what is known now, so long behind the last time, and again and again until the end.
func (m *meter) redraw(since time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	time.AfterFunc(meterEvery, func() { m.redraw(meterEvery) })
	m.elapsed += since
	switch head := "git-rekal: " + m.what; {
	case m.of > 0 && m.at < m.of:
		m.writeLine(fmt.Sprintf("%s [%s] %d of %d%s", head, progressBar(m.at, m.of), m.at, m.of, m.remainingTime()))
	case m.of > 0 || m.quiet:
		m.writeLine("")
	case m.at > 0:
		m.writeLine(fmt.Sprintf("%s: %d", head, m.at))
	default:
		m.writeLine(head + "…")
	}
}

// progressBar is how much of a whole is done, in 20 columns.
func progressBar(at, of int) string {
	const columns = 20
	done := columns * at / of
	return strings.Repeat("#", done) + strings.Repeat("-", columns-done)
}

// remainingTime says how long it takes yet, once a tenth is done.
func (m *meter) remainingTime() string {
	if m.at*10 < m.of {
		return ""
	}
	rest := m.elapsed * time.Duration(m.of-m.at) / time.Duration(m.at)
	if rest < time.Minute {
		return fmt.Sprintf(", %d s left", int(rest.Seconds())+1)
	}
	return fmt.Sprintf(", %d min left", int(rest.Minutes())+1)
}

// writeLine writes over the line that stands there.
func (m *meter) writeLine(text string) {
	width := utf8.RuneCountInString(text)
	if gone := m.occupied - width; gone > 0 {
		fmt.Fprintf(m.out, "\r%s%s", text, strings.Repeat(" ", gone))
	}
	if width > 0 || m.occupied > 0 {
		fmt.Fprintf(m.out, "\r%s", text)
	}
	m.occupied = width
}

// withIndexingMeter does something to the index that may take long. Quiet shows nothing until it is known how much
// there is to do.
func (app *App) withIndexingMeter(quiet bool, do func(progress func(done, total int)) error) error {
	shown := app.meter("indexing")
	defer shown.end()
	shown.quiet = quiet
	return do(shown.setProgress)
}
