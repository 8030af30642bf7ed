package otel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/otel"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// written is what of a span the test looks at.
type written struct {
	TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string
	Attributes                                                              []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Links  []struct{ TraceID, SpanID string }
	Status struct{ Code int }
}

func spans(t *testing.T, s result.StorySession, usage []session.Usage, text bool) (out []written) {
	t.Helper()
	raw, err := json.Marshal(otel.Of(s, usage, otel.Options{Version: "1", Text: text}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []written } }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	return got.ResourceSpans[0].ScopeSpans[0].Spans
}

// TestOf: a session is one trace, which holds each turn, call and token once. (make engines reads traces by the
// published protocol.)
func TestOf(t *testing.T) {
	at := func(minute int) string { return fmt.Sprintf("2026-03-04T10:%02d:00Z", minute) }
	s := result.StorySession{
		ID: "01A", Source: "claude-code", Facts: session.Facts{Model: "claude-opus-4"}, Title: "Tokens", Parent: "01B",
		StartedAt: at(0), LastTurnAt: at(9),
		Said: []result.Turn{
			{Turn: 0, Role: session.RoleHuman, TS: at(1), Content: "mend \"it\""},
			{Turn: 1, Role: session.RoleAssistant, TS: at(2), Content: "I look."},
			{Turn: 2, Role: session.RoleAssistant, TS: at(4), Content: "Done."},
			{Turn: 3, Role: session.RoleHuman, TS: at(3), Content: "thanks"},
		},
		Tools: []result.Tool{
			{Turn: -1, Tool: "Read", Path: "a.go"},
			{Turn: 1, Tool: "Bash", Cmd: "go test", Failed: true, Exit: 2},
			{Turn: 1, Tool: "Edit", Failed: true},
		},
	}
	usage := []session.Usage{
		{Turn: -1, Model: "gpt-5", Input: 1},
		{Turn: 1, Input: 2, CacheRead: 10, Output: 3},
		{Turn: 1, Model: "other", Output: 5},
	}
	var got []string
	all := spans(t, s, usage, true)
	seen := map[string]bool{}
	for i, span := range all {
		if seen[span.SpanID] || span.TraceID != all[0].TraceID || i > 0 && span.ParentSpanID != all[0].SpanID ||
			len(span.TraceID) != 32 || len(span.SpanID) != 16 {
			t.Errorf("span %d has wrong IDs: %+v", i, span)
		}
		if seen[span.SpanID] = true; span.StartTimeUnixNano > span.EndTimeUnixNano ||
			span.EndTimeUnixNano > all[0].EndTimeUnixNano {
			t.Errorf("span %d has wrong times: %+v", i, span)
		}
		line := span.Name
		for _, a := range span.Attributes {
			if value := a.Value.StringValue + a.Value.IntValue; value != "0" && !strings.Contains(a.Key, ".conversation.") &&
				!strings.HasSuffix(a.Key, ".operation.name") {
				line += " " + a.Key[strings.Index(a.Key, ".")+1:] + "=" + value
			}
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(line, strings.Repeat(" failed", span.Status.Code/2))))
	}
	harness.Equal(t, "spans", []string{
		"invoke_agent claude-code agent.name=claude-code request.model=claude-opus-4 title=Tokens",
		"chat gpt-5 provider.name=openai request.model=gpt-5 usage.input_tokens=1",
		`execute_tool Read tool.name=Read tool.call.arguments={"path":"a.go"}`,
		`chat claude-opus-4 provider.name=anthropic request.model=claude-opus-4 usage.input_tokens=12 usage.output_tokens=3 usage.cache_read.input_tokens=10` +
			` input.messages=[{"role":"user","parts":[{"type":"text","content":"mend \"it\""}]}]` +
			` output.messages=[{"role":"assistant","parts":[{"type":"text","content":"I look."}],"finish_reason":"stop"}]`,
		"chat other provider.name=claude-code request.model=other usage.output_tokens=5",
		`execute_tool Bash tool.name=Bash tool.call.arguments={"command":"go test"} type=2 failed`,
		"execute_tool Edit tool.name=Edit type=_OTHER failed",
		`chat claude-opus-4 provider.name=anthropic request.model=claude-opus-4 output.messages=[{"role":"assistant","parts":[{"type":"text","content":"Done."}],"finish_reason":"stop"}]`,
		`chat claude-opus-4 provider.name=anthropic request.model=claude-opus-4 input.messages=[{"role":"user","parts":[{"type":"text","content":"thanks"}]}]`,
	}, got)
	if parent := spans(t, result.StorySession{ID: "01B"}, nil, true)[0]; len(all[0].Links) != 1 ||
		all[0].Links[0].TraceID != parent.TraceID || all[0].Links[0].SpanID != parent.SpanID {
		t.Errorf("links %v, want one to %v", all[0].Links, parent)
	}
	without := fmt.Sprint(spans(t, s, usage, false))
	for _, text := range []string{"mend", "look", "Done", "thanks", "Tokens", "go test"} {
		if strings.Contains(without, text) {
			t.Errorf("%q stands in a trace without text", text)
		}
	}
}
