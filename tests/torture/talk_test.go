package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// turn is one turn that a transcript holds.
type turn struct {
	Native string
	TS     int64 // Unix milliseconds
	Role   string
	Text   string
}

// talk is one session and the transcript that grows with it, as Claude Code writes it. Only
// one goroutine may use it at a time.
type talk struct {
	id    string
	cwd   string
	path  string
	at    time.Time
	rng   *rand.Rand
	word  func() string
	turns []turn   // whole records only
	words []string // a unique one for each turn
	torn  []byte   // the rest of a record that was written half
	next  turn     // that record's turn
	lines int
}

// talk starts a session in a clone; its transcript does not exist before the first turn.
func (c *clone) talk() *talk {
	n := c.word.Add(1)
	id := fmt.Sprintf("%08x-%04x-4000-8000-%012x", n, n*7919%0xffff, n*104729)
	t := c.retell(id, c.born.Add(time.Duration(n%1000)*time.Second), n)
	c.mu.Lock()
	c.talks = append(c.talks, t)
	c.mu.Unlock()
	return t
}

// retell is a session under an ID, of which another machine may write the same.
func (c *clone) retell(id string, at time.Time, n int64) *talk {
	words := int64(0)
	return &talk{
		id: id, cwd: c.dir, at: at, rng: rand.New(rand.NewPCG(uint64(n), 1)),
		path: harness.Transcript(c.home, c.dir, id),
		word: func() string { words++; return uniqueWord(n<<24 | words) },
	}
}

// uniqueWord is a word that stands nowhere else and that no stemmer shortens.
func uniqueWord(n int64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aeiou"
	b := []byte("q")
	for ; n > 0; n /= 65 {
		b = append(b, consonants[n%13], vowels[n/13%5])
	}
	return string(append(b, 'x'))
}

// say adds turns to the transcript, now and then with a tool call between them; what was torn
// is whole afterwards.
func (t *talk) say(turns int) error {
	for range turns {
		rec, said := t.record()
		if err := t.add(append(t.torn, rec...)); err != nil {
			return err
		}
		t.settle()
		t.turns = append(t.turns, said)
	}
	return nil
}

// tear writes the first half of a record: the agent is in the middle of it.
func (t *talk) tear() error {
	if t.torn != nil {
		return nil
	}
	rec, said := t.record()
	half := bytes.IndexByte(rec, '\n') / 2
	t.torn, t.next = rec[half:], said
	return t.add(rec[:half])
}

// mend writes the rest of it.
func (t *talk) mend() error {
	if t.torn == nil {
		return nil
	}
	err := t.add(t.torn)
	t.settle()
	return err
}

func (t *talk) settle() {
	if t.torn != nil {
		t.turns = append(t.turns, t.next)
	}
	t.torn = nil
}

func (t *talk) add(b []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// record makes the next turn's lines: the turn, and sometimes a tool call and its result.
func (t *talk) record() ([]byte, turn) {
	// Two turns may share a time, as they do in real transcripts.
	t.at = t.at.Add(time.Duration(t.rng.IntN(3)) * 700 * time.Millisecond)
	word := t.word()
	t.words = append(t.words, word)
	said := turn{t.id, t.at.UnixMilli(), "human", t.prose(word)}
	line := t.line("user", map[string]any{"role": "user", "content": said.Text})
	if len(t.words)%3 != 1 {
		said.Role = "assistant"
		line = t.answer(map[string]any{"type": "text", "text": said.Text})
	}
	if t.rng.IntN(4) == 0 {
		id := fmt.Sprintf("toolu_%s_%d", t.id, t.lines)
		line = append(line, t.answer(map[string]any{
			"type": "tool_use", "id": id, "name": "Edit", "input": map[string]any{
				"file_path": fmt.Sprintf("%s/src/file%d.go", t.cwd, t.rng.IntN(20)), "old_string": "a", "new_string": "b",
			},
		})...)
		line = append(line, t.line("user", map[string]any{"role": "user", "content": []any{
			map[string]any{"tool_use_id": id, "type": "tool_result", "content": "done"},
		}})...)
	}
	return line, said
}

func (t *talk) answer(block map[string]any) []byte {
	return t.line("assistant", map[string]any{
		"id": fmt.Sprintf("msg_%s_%d", t.id, t.lines), "type": "message", "role": "assistant",
		"model": "claude-opus-4-6", "content": []any{block}, "usage": map[string]any{"input_tokens": 3, "output_tokens": 7},
	})
}

func (t *talk) line(kind string, message map[string]any) []byte {
	t.lines++
	b, err := json.Marshal(map[string]any{
		"type": kind, "uuid": fmt.Sprintf("%s-%d", t.id, t.lines), "parentUuid": nil, "isSidechain": false,
		"userType": "external", "cwd": t.cwd, "sessionId": t.id, "version": "2.1.37", "gitBranch": "main",
		"timestamp": t.at.Format("2006-01-02T15:04:05.000Z"), "message": message,
	})
	if err != nil {
		panic(err) // of a map of strings
	}
	return append(b, '\n')
}

// prose is a sentence with the unique word in it.
func (t *talk) prose(word string) string {
	one := func() string { return common[t.rng.IntN(len(common))] }
	return fmt.Sprintf("%s the %s of %s%s", one(), one(), word, strings.Repeat(", then "+one(), t.rng.IntN(6)))
}

var common = strings.Fields(`fix retry token cache index queue worker timeout schema migration branch merge hook
	parser lexer buffer stream socket session cookie header proxy router handler latency memory thread`)
