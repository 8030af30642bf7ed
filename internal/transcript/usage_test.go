package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
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
				`{"cwd":"/work/other","sessionId":"` + sid +
					`","type":"assistant","timestamp":"2026-02-03T10:00:02.500Z","message":{"id":"m1","model":"big","content":[{"type":"text","text":"So."}],"usage":{"input_tokens":3,"output_tokens":1}}}`,
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
			"qwen-code: output may include thoughts",
			transcript.Qwen{},
			[]string{
				`{"uuid":"u1","sessionId":"x","timestamp":"2026-11-20T09:00:01.000Z","type":"user","cwd":"` + root +
					`","message":{"parts":[{"text":"why?"}]}}`,
				`{"uuid":"u2","sessionId":"x","timestamp":"2026-11-20T09:00:02.000Z","type":"assistant","cwd":"` + root +
					`","model":"q","message":{"parts":[{"text":"So."}]},"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":2,"cachedContentTokenCount":10}}`,
				`{"uuid":"u3","sessionId":"x","timestamp":"2026-11-20T09:00:02.000Z","type":"assistant","cwd":"` + root +
					`","model":"q","message":{"parts":[{"text":"So."}]},"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":34,"cachedContentTokenCount":10}}`,
			},
			[]session.Usage{
				{Request: request("u2"), Turn: 1, Input: 20, Output: 6, CacheRead: 10},
				{Request: request("u3"), Turn: 2, Input: 20, Output: 4, CacheRead: 10},
			},
		},
		{
			"copilot-cli: older versions count the output only",
			transcript.Copilot{},
			[]string{
				`{"type":"session.start","timestamp":"2026-11-20T09:00:00.000Z","data":{"sessionId":"x","context":{"cwd":"` + root +
					`"}}}`,
				`{"type":"user.message","timestamp":"2026-11-20T09:00:01.000Z","data":{"content":"why?"}}`,
				`{"type":"assistant.message","timestamp":"2026-11-20T09:00:02.000Z","data":{"messageId":"m","model":"gpt","content":"So.","outputTokens":17}}`,
				`{"type":"session.usage_record","timestamp":"2026-11-20T09:00:03.000Z","data":{"usage":{"model":"gpt","inputTokens":30,"outputTokens":5,"cacheReadTokens":10,"apiCallId":"c"}}}`,
				`{"type":"assistant.message","timestamp":"2026-11-20T09:00:03.000Z","data":{"messageId":"n","apiCallId":"c","model":"gpt","content":"Done.","outputTokens":5}}`,
			},
			[]session.Usage{
				{Request: request("m"), Turn: 1, Output: 17},
				{Request: request("c"), Turn: 1, Input: 20, Output: 5, CacheRead: 10},
			},
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			opt := transcript.Options{
				File: transcript.File{NativeID: sid, Cwd: root}, Roots: []string{root},
				OtherRepos: map[string]bool{"/work/other": true},
			}
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
			by[u.Request] = u.Max(by[u.Request])
		}
	}
	for _, u := range by {
		total.Input, total.Output = total.Input+u.Input, total.Output+u.Output
		total.CacheRead, total.CacheWrite = total.CacheRead+u.CacheRead, total.CacheWrite+u.CacheWrite
	}
	return len(by), total
}

// TestRealUsage compares with an independent count of the same files, and a session that is read in pieces, as one
// captured at several commits, with the same session read at once.
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
	harness.Equal(t, "total", session.Usage{Input: 114880, Output: 399402, CacheRead: 397041819, CacheWrite: 18199135},
		total)
}

// TestRealAgentsUsage compares with an independent count of the same files: of Codex what each request took, which is
// its running total but for one request of 019eef3d that has no record; of OpenCode and Gemini what makes up the total
// of each answer.
func TestRealAgentsUsage(t *testing.T) {
	type count struct {
		Requests            int
		Input, Output, Read int64
	}
	want := map[string]count{
		"codex/019d6cca-56cc-7850-9ca0-e841d6382a98":   {86, 1566076, 76871, 10614400},
		"codex/019d6e7b-5640-7ca2-8d15-18981d778804":   {64, 755240, 47023, 6429696},
		"codex/019d7372-a0bb-72c0-847d-5e4439ef5efd":   {121, 726025, 79227, 13862016},
		"codex/019ed50c-2fb3-7002-a384-360bea6e7f04":   {55, 304621, 22838, 2481792},
		"codex/019ed836-b1da-78f1-8a0c-e598363d10f4":   {10, 36058, 2958, 230656},
		"codex/019eef3d-abd1-72e1-ab99-dcdb259027c5":   {132, 489025, 40224, 9217792},
		"codex/019f03e0-321f-7eb2-83cc-b54ecd71be23":   {180, 432870, 71829, 10637312},
		"gemini/29eb990e-c773-4302-a4e7-317f0af0001f":  {},
		"gemini/36e8d28f-d561-4a3d-8823-4964a2919723":  {30, 58376, 4087, 259061},
		"gemini/914f3c63-152a-4f25-9f4e-367c43140554":  {3, 26062, 2916, 36652},
		"gemini/970c70a7-5c8e-4fd8-a146-707379eae099":  {10, 107093, 3734, 195260},
		"gemini/d0ed8c54-d24e-4ca5-b7ff-2f2b943c0d2d":  {10, 42177, 3467, 206747},
		"gemini/f7633853-6663-4dbb-bbf4-6159afa29df8":  {10, 17521, 1812, 113854},
		"gemini/fa4593e0-f7e1-4dd1-b656-da95fb4d60fa":  {2, 12341, 153, 11835},
		"opencode/ses_20c67c805ffez5760ap0ETph7x":      {45, 572199, 7584, 2610433},
		"opencode/ses_20c685993ffe8NJ44bWWcyosxi":      {13, 377277, 848, 267715},
		"opencode/ses_21ffb13eaffea2XGC7DWNVd9Oy":      {14, 138851, 7339, 766976},
		"opencode/ses_277daa810ffePOBsdfS6gm8uA2":      {69, 495139, 69063, 3325432},
		"opencode/ses_277ed760bffeXZM4Joly2lQJzU":      {10, 48176, 3708, 224581},
		"opencode/ses_27a3283eeffe2okXvUQaxKJ0Nw":      {3, 11701, 1247, 27392},
		"opencode/ses_318427c7cffeY7yZDddR3XagZ9":      {13, 58512, 3687, 515712},
		"opencode/ses_318598817ffeMcHfgi69cd9sMT":      {22, 136152, 5516, 983808},
		"opencode/ses_31a373d41ffe4HopnI3m4DnAj3":      {18, 65294, 4903, 785792},
		"opencode/ses_31a4b9127ffeWeR4XnP70FhbEV":      {119, 807034, 34730, 8492544},
		"copilot/10fb4666-56f0-4352-90fc-715caf95b418": {54, 0, 19254, 0},
		"copilot/1afc31c8-d97f-4331-bae9-b6417f1b79a9": {0, 0, 0, 0},
		"copilot/378ab881-f02f-435c-9673-0c8d7c7d6bef": {13, 0, 8924, 0},
		"copilot/487fbe81-e917-46ad-a7c6-bf31cba53339": {1, 0, 45, 0},
		"copilot/70b173ed-7b83-485a-b71a-5adb0591db07": {222, 0, 143194, 0},
	}
	got := map[string]count{}
	for _, folder := range []string{"codex", "copilot", "gemini", "opencode"} {
		for name := range realSessions(t, folder) {
			name, _, _ = strings.Cut(name, ".")
			id, ending := path.Base(name), ".json.gz"
			if folder == "codex" || folder == "copilot" {
				ending = ".jsonl.gz"
			}
			raw := harness.Unzipped(t, "agents/"+name+ending)
			var doc transcript.Document
			switch folder {
			case "codex":
				doc = decodeAll(t, transcript.Codex{}, raw, transcript.Options{Roots: []string{realRoot(raw)}})
			case "copilot":
				raw = fromWindows(raw)
				doc = decodeAll(t, transcript.Copilot{}, raw,
					transcript.Options{File: transcript.File{NativeID: id}, Roots: []string{realRoot(raw)}})
			case "gemini":
				doc = readGemini(t, id, raw)
			case "opencode":
				doc = readOpenCode(t, id, raw)
			}
			var parts [][]session.Usage
			for _, s := range doc.Sessions {
				parts = append(parts, s.Usage)
			}
			n, sum := usageOf(parts...)
			got[name] = count{n, sum.Input, sum.Output, sum.CacheRead}
		}
	}
	harness.Equal(t, "tokens", want, got)
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
		doc, err := transcript.Droid{}.Decode(context.Background(), strings.NewReader(lines),
			transcript.Options{File: transcript.File{Path: path, NativeID: "d2"}, Roots: []string{root}})
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
		if want := (session.Usage{Input: c.input, Output: c.output, CacheRead: 2, CacheWrite: 1}); requests != 1 ||
			total != want {
			t.Errorf("%d requests took %+v, want %+v", requests, total, want)
		}
	}
}
