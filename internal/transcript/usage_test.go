package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestUsage(t *testing.T) {
	request := session.RequestID
	tests := []struct {
		name  string
		agent transcript.Agent
		lines []string
		want  []session.Usage
	}{
		{
			"claude-code: one request has a record for each block",
			transcript.ClaudeCode{},
			[]string{
				user(1, `"why?"`),
				rec("assistant", 2, `"message":{"id":"m1","model":"big","content":[{"type":"text","text":"So."}],"usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":90,"cache_creation_input_tokens":7}}`),
				rec("assistant", 2, `"message":{"id":"m1","model":"big","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":3,"output_tokens":40,"cache_read_input_tokens":90,"cache_creation_input_tokens":7}}`),
				rec("assistant", 3, `"message":{"id":"m2","model":"small","content":[{"type":"text","text":"Quick."}],"usage":{"input_tokens":5,"output_tokens":2}}`),
				rec("assistant", 4, `"message":{"id":"m3","model":"big","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":-4,"output_tokens":"many"}}`),
				rec("assistant", 4, `"message":{"id":"m4","model":"big","content":[{"type":"text","text":"Really."}]}`),
			},
			[]session.Usage{
				{Request: request("m1"), Turn: 1, Input: 3, Output: 40, CacheRead: 90, CacheWrite: 7},
				{Request: request("m2"), Turn: 2, Model: "small", Input: 5, Output: 2},
			},
		},
		{
			"claude-code: nothing of another repository",
			transcript.ClaudeCode{},
			[]string{
				user(1, `"why?"`),
				`{"cwd":"/work/other","sessionId":"` + sid + `","type":"assistant","timestamp":"2026-02-03T10:00:02.500Z","message":{"id":"m1","model":"big","content":[{"type":"text","text":"So."}],"usage":{"input_tokens":3,"output_tokens":1}}}`,
				rec("assistant", 3, `"message":{"id":"m2","model":"big","content":[{"type":"text","text":"Back."}],"usage":{"input_tokens":5,"output_tokens":2}}`),
			},
			[]session.Usage{{Request: request("m2"), Turn: 2, Input: 5, Output: 2}},
		},
		{
			"codex: input includes what was cached; a count may be told twice",
			transcript.Codex{},
			[]string{
				`{"timestamp":"2026-11-20T09:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"` + root + `"}}`,
				`{"timestamp":"2026-11-20T09:00:00.000Z","type":"turn_context","payload":{"cwd":"` + root + `","model":"gpt"}}`,
				`{"timestamp":"2026-11-20T09:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"why?"}}`,
				`{"timestamp":"2026-11-20T09:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]}}`,
				`{"timestamp":"2026-11-20T09:00:02.000Z","type":"event_msg","payload":{"type":"token_count","info":null}}`,
				`{"timestamp":"2026-11-20T09:00:02.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":110},"last_token_usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":10,"reasoning_output_tokens":4}}}}`,
				`{"timestamp":"2026-11-20T09:00:03.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":110},"last_token_usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":10,"reasoning_output_tokens":4}}}}`,
			},
			[]session.Usage{{Request: request(`{"total_tokens":110}`), Turn: 1, Input: 40, Output: 10, CacheRead: 60}},
		},
		{
			"gemini-cli: thoughts are output",
			transcript.Gemini{},
			[]string{
				`{"id":"a","timestamp":"2026-11-20T09:00:01.000Z","type":"user","content":"why?"}`,
				`{"id":"b","timestamp":"2026-11-20T09:00:02.000Z","type":"gemini","model":"flash","content":"So.","tokens":{"input":50,"output":5,"cached":20,"thoughts":7,"tool":0,"total":62}}`,
				`{"id":"b","timestamp":"2026-11-20T09:00:02.000Z","type":"gemini","model":"flash","content":"So.","tokens":{"input":50,"output":9,"cached":20,"thoughts":7,"tool":0,"total":66},"toolCalls":[]}`,
			},
			[]session.Usage{{Request: request("b"), Turn: 1, Input: 30, Output: 16, CacheRead: 20}},
		},
		{
			"pi: what it cost",
			transcript.Pi{},
			[]string{
				`{"type":"session","id":"x","timestamp":"2026-11-20T09:00:00.000Z","cwd":"` + root + `"}`,
				`{"type":"message","id":"m1","timestamp":"2026-11-20T09:00:01.000Z","message":{"role":"user","content":"why?"}}`,
				`{"type":"message","id":"m2","timestamp":"2026-11-20T09:00:02.000Z","message":{"role":"assistant","model":"glm","responseId":"r","content":[{"type":"text","text":"So."}],"usage":{"input":12,"output":8,"cacheRead":3,"cacheWrite":1,"cost":{"total":0.25}}}}`,
			},
			[]session.Usage{{Request: request("r"), Turn: 1, Input: 12, Output: 8, CacheRead: 3, CacheWrite: 1, Cost: .25}},
		},
		{
			"qwen-code",
			transcript.Qwen{},
			[]string{
				`{"uuid":"u1","sessionId":"x","timestamp":"2026-11-20T09:00:01.000Z","type":"user","cwd":"` + root + `","message":{"parts":[{"text":"why?"}]}}`,
				`{"uuid":"u2","sessionId":"x","timestamp":"2026-11-20T09:00:02.000Z","type":"assistant","cwd":"` + root + `","model":"q","message":{"parts":[{"text":"So."}]},"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":2,"cachedContentTokenCount":10}}`,
			},
			[]session.Usage{{Request: request("u2"), Turn: 1, Input: 20, Output: 6, CacheRead: 10}},
		},
		{
			"copilot-cli: older versions count the output only",
			transcript.Copilot{},
			[]string{
				`{"type":"session.start","timestamp":"2026-11-20T09:00:00.000Z","data":{"sessionId":"x","context":{"cwd":"` + root + `"}}}`,
				`{"type":"user.message","timestamp":"2026-11-20T09:00:01.000Z","data":{"content":"why?"}}`,
				`{"type":"assistant.message","timestamp":"2026-11-20T09:00:02.000Z","data":{"messageId":"m","model":"gpt","content":"So.","outputTokens":17}}`,
				`{"type":"session.usage_record","timestamp":"2026-11-20T09:00:03.000Z","data":{"usage":{"model":"gpt","inputTokens":30,"outputTokens":5,"cacheReadTokens":10,"apiCallId":"c"}}}`,
				`{"type":"assistant.message","timestamp":"2026-11-20T09:00:03.000Z","data":{"messageId":"n","apiCallId":"c","model":"gpt","content":"Done.","outputTokens":5}}`,
			},
			[]session.Usage{{Request: request("m"), Turn: 1, Output: 17}, {Request: request("c"), Turn: 1, Input: 20, Output: 5, CacheRead: 10}},
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			opt := transcript.Options{File: transcript.File{NativeID: sid, Cwd: root}, Roots: []string{root}, OtherRepos: map[string]bool{"/work/other": true}}
			doc, err := c.agent.Decode(context.Background(), strings.NewReader(strings.Join(c.lines, "\n")+"\n"), opt)
			if err != nil || len(doc.Sessions) != 1 {
				t.Fatal(doc, err)
			}
			if diff := cmp.Diff(c.want, doc.Sessions[0].Usage); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// usageOf is what the requests of some reads of one session took, each counted once.
func usageOf(parts ...[]session.Usage) (requests int, total session.Usage) {
	by := map[string]session.Usage{}
	for _, part := range parts {
		for _, u := range part {
			by[u.Request] = u.Larger(by[u.Request])
		}
	}
	for _, u := range by {
		total.Input, total.Output = total.Input+u.Input, total.Output+u.Output
		total.CacheRead, total.CacheWrite = total.CacheRead+u.CacheRead, total.CacheWrite+u.CacheWrite
	}
	return len(by), total
}

// TestRealUsage compares with an independent count of the same files, and a session that is read in pieces, as one captured at several commits,
// with the same session read at once.
func TestRealUsage(t *testing.T) {
	requests, total := 0, session.Usage{}
	for id, raw := range harness.Transcripts(t) {
		whole := decodeReal(t, id, raw).Sessions[0]
		n, sum := usageOf(whole.Usage)
		requests += n
		total.Input, total.Output = total.Input+sum.Input, total.Output+sum.Output
		total.CacheRead, total.CacheWrite = total.CacheRead+sum.CacheRead, total.CacheWrite+sum.CacheWrite

		var pieces [][]session.Usage
		opt := transcript.Options{File: transcript.File{NativeID: id}}
		for from, end := int64(0), 0; end < len(raw); {
			end = min(len(raw), int(from)+len(raw)/7)
			end += bytes.IndexByte(append(raw[end:len(raw):len(raw)], '\n'), '\n') + 1
			end = min(end, len(raw))
			doc := decodeRest(t, raw[:end], from, opt)
			for _, s := range doc.Sessions {
				pieces = append(pieces, s.Usage)
				opt.Last = s.LastTS()
			}
			from, opt.Inside = from+doc.Bytes, true
		}
		if m, again := usageOf(pieces...); m != n || again != sum {
			t.Errorf("%s: read at once %d requests %+v, in pieces %d %+v", id, n, sum, m, again)
		}
	}
	harness.Equal(t, "requests", 4367, requests)
	harness.Equal(t, "total", session.Usage{Input: 114880, Output: 399402, CacheRead: 397041819, CacheWrite: 18199135}, total)
}

// TestRealAgentsUsage compares with the sum of the whole session that its last record tells.
func TestRealAgentsUsage(t *testing.T) {
	for _, c := range []struct {
		name     string
		agent    transcript.Agent
		requests int
		want     session.Usage
	}{
		{"codex/019d6cca-56cc-7850-9ca0-e841d6382a98.jsonl.gz", transcript.Codex{}, 86, session.Usage{Input: 1566076, Output: 76871, CacheRead: 10614400}},
		{"codex/019f03e0-321f-7eb2-83cc-b54ecd71be23.jsonl.gz", transcript.Codex{}, 180, session.Usage{Input: 432870, Output: 71829, CacheRead: 10637312}},
		{"codex/019d7372-a0bb-72c0-847d-5e4439ef5efd.jsonl.gz", transcript.Codex{}, 121, session.Usage{Input: 726025, Output: 79227, CacheRead: 13862016}},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := harness.Unzipped(t, "agents/"+c.name)
			doc := decodeAll(t, c.agent, raw, transcript.Options{Roots: []string{realRoot(raw)}})
			var parts [][]session.Usage
			for _, s := range doc.Sessions {
				parts = append(parts, s.Usage)
			}
			n, total := usageOf(parts...)
			harness.Equal(t, "requests", c.requests, n)
			harness.Equal(t, "total", c.want, total)
		})
	}
}

// TestDroidTokens: Droid keeps the sum of a session in a file beside, and that file grows.
func TestDroidTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d2.jsonl")
	lines := `{"type":"session_start","id":"d2","cwd":"` + root + `","callingSessionId":"d1","callingToolUseId":"c1"}
{"type":"message","timestamp":"2026-11-20T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"TASK: look"}]}}
{"type":"message","timestamp":"2026-11-20T09:00:02.000Z","message":{"role":"assistant","modelId":"custom:glm","content":[{"type":"text","text":"Seen."}]}}
`
	read := func(settings string) []session.Usage {
		t.Helper()
		if err := os.WriteFile(strings.TrimSuffix(path, ".jsonl")+".settings.json", []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := transcript.Droid{}.Decode(context.Background(), strings.NewReader(lines), transcript.Options{File: transcript.File{Path: path, NativeID: "d2"}, Roots: []string{root}})
		if err != nil || len(doc.Sessions) != 1 {
			t.Fatal(doc, err)
		}
		if s := doc.Sessions[0]; s.ParentNative != "d1" || s.ActorType != session.ActorAgent {
			t.Errorf("it was called by %q, as %q", s.ParentNative, s.ActorType)
		}
		return doc.Sessions[0].Usage
	}
	const settings = `{"model":"custom:glm","tokenUsage":{"inputTokens":%d,"outputTokens":%d,"cacheCreationTokens":1,"cacheReadTokens":2,"thinkingTokens":3,"factoryCredits":9}}`
	var whole session.Session
	for _, c := range []struct {
		settings      string
		input, output int64
	}{{fmt.Sprintf(settings, 100, 10), 100, 13}, {fmt.Sprintf(settings, 140, 20), 140, 23}, {"{", 140, 23}} {
		part := session.Session{Usage: read(c.settings)}
		whole.Absorb(part, session.Whole)
		requests, total := usageOf(whole.Usage)
		if want := (session.Usage{Input: c.input, Output: c.output, CacheRead: 2, CacheWrite: 1}); requests != 1 || total != want {
			t.Errorf("%d requests took %+v, want %+v", requests, total, want)
		}
	}
}
