package transcript_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var anyFolder = regexp.MustCompile(`"cwd":"([^"]+)"`)

func decodeReal(t testing.TB, id string, raw []byte) transcript.Document {
	t.Helper()
	return decodeRest(t, raw, 0, transcript.Options{File: transcript.File{NativeID: id}})
}

// decodeRest reads raw from an offset on.
func decodeRest(t testing.TB, raw []byte, from int64, opt transcript.Options) transcript.Document {
	t.Helper()
	opt.Roots = []string{string(anyFolder.FindSubmatch(raw)[1])}
	doc, err := transcript.ClaudeCode{}.Decode(context.Background(), bytes.NewReader(raw[from:]), opt)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// The numbers of assistant texts and tool calls are those of an independent count (the README beside the data); so are
// those of results of Bash, of those that failed, and of those that begin with a status.
func TestRealTranscripts(t *testing.T) {
	said, typed, calls, malformed := 0, 0, 0, 0
	outputs, failed, exits := 0, 0, 0
	for id, raw := range harness.Transcripts(t) {
		doc := decodeReal(t, id, raw)
		if doc.Bytes != int64(len(raw)) {
			t.Errorf("%s: read %d of %d bytes", id, doc.Bytes, len(raw))
		}
		if len(doc.Skipped.Unknown) > 0 || doc.Skipped.Empty > 0 || doc.Skipped.Duplicate > 0 {
			t.Errorf("%s: skipped %+v", id, doc.Skipped)
		}
		malformed += doc.Skipped.Malformed
		for _, o := range decodeRest(t, raw, 0, transcript.Options{
			File:    transcript.File{NativeID: id},
			Outputs: true,
		}).Sessions[0].Outputs {
			if outputs++; o.Failed {
				failed++
			}
			if o.Exit != nil {
				exits++
			}
			if o.At.IsZero() || o.Command == "" {
				t.Errorf("%s: output %+v", id, o)
			}
		}
		for _, s := range doc.Sessions {
			if s.NativeID != id {
				t.Errorf("%s: found session %s", id, s.NativeID)
			}
			calls += len(s.ToolCalls)
			for i, turn := range s.Turns {
				if turn.Index != i || turn.TS.IsZero() {
					t.Errorf("%s: turn %d has index %d, time %v", id, i, turn.Index, turn.TS)
				}
				if turn.Role == session.RoleAssistant {
					said++
				} else {
					typed++
				}
			}
		}
	}
	if typed != 583 { // 569 in records of their own, 14 in the queue alone
		t.Errorf("%d human prompts; want 583", typed)
	}
	if said != 2148 || calls != 4532 || malformed != 1 {
		t.Errorf("%d assistant texts, %d tool calls, %d malformed lines; want 2148, 4532, 1", said, calls, malformed)
	}
	if outputs != 1378 || failed != 121 || exits != 91 {
		t.Errorf("%d outputs, %d of them failed, %d with a status; want 1378, 121, 91", outputs, failed, exits)
	}
}

// Nine sessions as they stood at successive commits: read as they grew, they tell what
// they tell when read at once.
func TestRealGrowth(t *testing.T) {
	files := harness.Transcripts(t)
	table, err := os.ReadFile(harness.Data(t, "claude-code/growth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(table)) {
		cols := strings.FieldsFunc(row, func(r rune) bool { return r == '\t' || r == ',' || r == '\n' })
		raw, ok := files[cols[0]]
		if !ok {
			continue
		}
		var docs []transcript.Document
		done := int64(0)
		for _, col := range append(cols[1:], strconv.Itoa(len(raw))) {
			size, err := strconv.Atoi(col)
			if err != nil {
				t.Fatal(err)
			}
			opt := transcript.Options{File: transcript.File{NativeID: cols[0]}, Inside: done > 0, Outputs: true}
			doc := decodeRest(t, raw[:min(size, len(raw))], done, opt)
			done += doc.Bytes
			docs = append(docs, doc)
		}
		if diff := cmp.Diff(flatten(decodeRest(t, raw, 0,
			transcript.Options{File: transcript.File{NativeID: cols[0]}, Outputs: true})), flatten(docs...)); diff != "" {
			t.Errorf("%s in %d reads (-want +got)\n%s", cols[0], len(docs), diff)
		}
	}
}

func BenchmarkDecodeReal(b *testing.B) {
	files := harness.Transcripts(b)
	size := 0
	for _, raw := range files {
		size += len(raw)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for id, raw := range files {
			decodeReal(b, id, raw)
		}
	}
}
