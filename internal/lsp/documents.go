package lsp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// documents are the texts of the open files, by URI, as the editor shows them.
type documents struct {
	mu    sync.Mutex
	texts map[string]string
}

func (c *connection) didOpen(_ context.Context, p didOpenParams) error {
	c.open.mu.Lock()
	defer c.open.mu.Unlock()
	if c.open.texts == nil {
		c.open.texts = map[string]string{}
	}
	c.open.texts[p.TextDocument.URI] = p.TextDocument.Text
	return nil
}

func (c *connection) didChange(_ context.Context, p didChangeParams) error {
	c.open.mu.Lock()
	defer c.open.mu.Unlock()
	text, ok := c.open.texts[p.TextDocument.URI]
	if !ok {
		return nil
	}
	for _, ch := range p.ContentChanges {
		text = ch.apply(text)
	}
	c.open.texts[p.TextDocument.URI] = text
	return nil
}

func (c *connection) didClose(_ context.Context, p documentParams) error {
	c.open.mu.Lock()
	defer c.open.mu.Unlock()
	delete(c.open.texts, p.TextDocument.URI)
	return nil
}

// text is what the editor shows of a file; false where it did not open it.
func (d *documents) text(uri string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.texts[uri]
	return text, ok
}

// apply makes one change. A place behind the end of a line is its end, as the protocol has it; one behind the text is
// the text's.
func (ch change) apply(text string) string {
	if ch.Range == nil {
		return ch.Text
	}
	from, to := offset(text, ch.Range.Start), offset(text, ch.Range.End)
	if to < from {
		from, to = to, from
	}
	return text[:from] + ch.Text + text[to:]
}

// offset is where a position is in a text, in bytes.
func offset(text string, p position) int {
	at := 0
	for range p.Line {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	for units := 0; units < p.Character && at < len(text) && text[at] != '\n'; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if units++; r > 0xffff { // a surrogate pair
			units++
		}
		at += size
	}
	return at
}

// nthLine is one line of a text, from 0 on, without its end.
func nthLine(text string, line int) string {
	from := offset(text, position{Line: line})
	rest, _, _ := strings.Cut(text[from:], "\n")
	return strings.TrimSuffix(rest, "\r")
}

// pathOf is the path of a file's URI.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", fmt.Errorf("lsp: %q: %w", uri, err)
	case u.Scheme != "file" || !filepath.IsAbs(u.Path):
		return "", fmt.Errorf("lsp: %q is no file", uri)
	}
	return filepath.Clean(u.Path), nil
}

// uriOf is the URI of a path.
func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
