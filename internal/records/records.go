// Package records keeps what commands printed, made small, in the repository's git directory, and finds it. It serves
// this clone and all its worktrees, and nobody else.
//
//	$GIT_COMMON_DIR/rekal/records/
//	    records.db   the records, their outputs for a week, an index of their texts,
//	                 and how far transcripts were read: one SQLite file
//
// In: records that Redact made; nothing else can be stored. Out: records by ID, or all in their order; hits of package
// result for a question, and how they are placed among sessions. A record is a row with an ID, a text, and the rest as
// JSON:
//
//	42 | {"at":"2026-11-23T10:00:00Z","command":"pytest -q","exit":1,"lines":18204,"shown":31,…} | "FAILED …"
//
// Promises: an ID is given once, also to 20 processes at once and after a kill; a record that Add returned stays until
// retention or scrub removes it; who reads sees one state. A deleted record cannot be made again, except those of
// transcripts, which have bounds of their own and displace no other. The index has statistics of its own, so records
// and sessions do not change each other's scores.
//
// It never reads a clock or runs git.
package records

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Record is what one command printed.
type Record struct {
	ID          int       `json:"id,omitempty"`
	At          time.Time `json:"at"`                    // when it ended
	Command     string    `json:"command,omitempty"`     // as it was typed; "" where nobody said
	Instruction string    `json:"instruction,omitempty"` // what the reader looked for
	Exit        *int      `json:"exit,omitempty"`        // nil where nobody said
	Dir         string    `json:"dir,omitempty"`         // from the work tree's root; "" for the root itself
	Branch      string    `json:"branch,omitempty"`
	Lines       int       `json:"lines"` // of the output
	Bytes       int64     `json:"bytes"`
	Shown       int       `json:"shown"`            // lines of it in Text
	Tests       bool      `json:"tests,omitempty"`  // it was a run of tests
	Failed      int       `json:"failed,omitempty"` // failing tests
	Errors      int       `json:"errors,omitempty"` // lines that are errors
	Terms       []string  `json:"terms,omitempty"`
	// files that Text names, from the work tree's root where they are below it
	Paths []string          `json:"paths,omitempty"`
	Files map[string]string `json:"files,omitempty"` // of Paths those that lay there: the blob
	// it was made of a transcript; nil: of what run or compress read
	From *From  `json:"from,omitempty"`
	Text string `json:"text,omitempty"` // the compressed output

	Hidden bool `json:"-"` // purged
}

// From is where a record comes from that was made of a transcript.
type From struct {
	Source  string `json:"source"`            // session.Session.Source
	Native  string `json:"native"`            // the agent's ID of the session
	Session string `json:"session,omitempty"` // ours
	Turn    int    `json:"turn"`              // index of the last turn before the call; -1: there is none
	Call    string `json:"call"`              // see Call
}

// CallKey tells a call from all others, also where a copy of its session holds it again: 16 hexadecimal digits of the
// SHA-256 of the agent, its ID of the call, and the time of the result.
func CallKey(source, id string, at time.Time) string {
	sum := sha256.Sum256([]byte(source + "\x00" + id + "\x00" + at.UTC().Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:8])
}

// Redacted is a record without its secrets, and its output. Only Redact makes one that says something.
type Redacted struct {
	record Record
	packed []byte // the output, compressed
	places int
}

// Places is how many secrets were taken out.
func (r Redacted) Places() int { return r.places }

// Record is what will be stored, but for its ID.
func (r Redacted) Record() Record { return r.record }

// chunk is how much of an output is redacted at once, in bytes: it bounds the memory that this takes.
const chunk = 512 << 10

// Redact takes secrets out of a record and of its output; a nil output is none. What is a secret in one text of the
// record is one in all of them.
func Redact(ctx context.Context, with *redact.Redactor, r Record, raw io.Reader) (Redacted, error) {
	var out Redacted
	if raw != nil { // first: what it calls a secret may stand in the text without its name
		var err error
		if out.packed, out.places, err = compressRedacted(ctx, with, raw); err != nil {
			return Redacted{}, err
		}
	}
	var texts []session.Memory
	parts := []string{
		r.Command, r.Instruction, r.Text, r.Dir, r.Branch, strings.Join(r.Terms, "\n"),
		strings.Join(r.Paths, "\n"),
	}
	for _, text := range parts {
		texts = append(texts, session.Memory{Content: text})
	}
	clean, places, err := redactTexts(ctx, with, texts)
	if err != nil {
		return Redacted{}, err
	}
	r.Command, r.Instruction, r.Text, r.Dir, r.Branch = clean[0], clean[1], clean[2], clean[3], clean[4]
	r.Terms, r.Paths = withoutRedacted(clean[5]), withoutRedacted(clean[6])
	kept := map[string]string{}
	for _, p := range r.Paths {
		if blob, ok := r.Files[p]; ok {
			kept[p] = blob
		}
	}
	r.Files = kept
	out.record, out.places = r, max(out.places, places) // the text is a part of the output
	return out, nil
}

// compressRedacted redacts an output and compresses it, a chunk at a time; an empty one is nil.
func compressRedacted(ctx context.Context, with *redact.Redactor,
	raw io.Reader,
) (packed []byte, places int, err error) {
	var out bytes.Buffer
	buf := make([]byte, 0, chunk)
	var w *zstd.Encoder
	for done := false; !done; {
		n, err := io.ReadFull(raw, buf[len(buf):chunk])
		buf = buf[:len(buf)+n]
		if done = err != nil; done && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, 0, fmt.Errorf("records: read the output: %w", err)
		}
		if done && len(buf) == 0 {
			break
		}
		end := len(buf)
		if !done {
			end = cutPosition(buf)
		}
		clean, n, err := redactTexts(ctx, with, []session.Memory{{Content: string(buf[:end])}})
		if err != nil {
			return nil, 0, err
		}
		places += n
		if w == nil {
			if w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10),
				zstd.WithLowerEncoderMem(true)); err != nil {
				return nil, 0, fmt.Errorf("records: %w", err)
			}
		}
		_, _ = io.WriteString(w, clean[0]) // into memory: it can't fail
		buf = buf[:copy(buf, buf[end:])]
	}
	if w == nil {
		return nil, 0, nil
	}
	if err := w.Close(); err != nil {
		return nil, 0, fmt.Errorf("records: %w", err)
	}
	return out.Bytes(), places, nil
}

func redactTexts(ctx context.Context, with *redact.Redactor,
	texts []session.Memory,
) (clean []string, places int, err error) {
	for i := range texts {
		texts[i].Content = with.ExcludeLines(texts[i].Content)
	}
	entry, report, err := with.Apply(ctx, session.Entry{Memories: texts})
	if err != nil {
		return nil, 0, fmt.Errorf("records: %w", err)
	}
	for _, m := range entry.Entry().Memories {
		clean = append(clean, m.Content)
	}
	for _, n := range report.Rules {
		places += n
	}
	return clean, places, nil
}

// cutPosition is where a chunk of an output ends: behind a line, and before a key that would be torn.
func cutPosition(raw []byte) int {
	part := string(raw)
	if begin := strings.LastIndex(part, "-----BEGIN"); begin > chunk/2 && !strings.Contains(part[begin:], "-----END") {
		return begin
	}
	if n := strings.LastIndexByte(part, '\n'); n > 0 {
		return n + 1
	}
	return len(raw)
}

// withoutRedacted are the lines of a text from which redaction took nothing: what it leaves is no name.
func withoutRedacted(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), func(name string) bool {
		return strings.Contains(name, "[REDACTED:") || strings.Contains(name, redact.Private) ||
			strings.Contains(name, redact.Excluded)
	})
}
