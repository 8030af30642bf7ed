// Package otel writes sessions as traces of OpenTelemetry, for tools that show such traces: OTLP in JSON, by the
// semantic conventions for generative AI 0.1.0 (github.com/open-telemetry/semantic-conventions-genai), which are in
// development.
//
// In: a session, and what its requests took. Out: a value that is a TracesData of OTLP 1.x as JSON, a line of what the
// collector's file receiver reads. A session is a trace: its root is the agent, below are what the model was asked and
// said, and calls of tools. IDs follow from the session's, so an export that is repeated sends the same spans. A call
// has no time of its own, but that of the turn before it. Pure: it asks nothing.
package otel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Kinds of spans and their status, as the protocol numbers them.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

// Traces is a message of the protocol.
type Traces struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   attributed   `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type attributed struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"` // 64 bits are text in OTLP's JSON
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Links      []link      `json:"links,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type link struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type status struct {
	Code int `json:"code"`
}

type attribute struct {
	Key   string            `json:"key"`
	Value map[string]string `json:"value"`
}

// message is one of gen_ai.input.messages and gen_ai.output.messages.
type message struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// Options say how a session is written.
type Options struct {
	Version string // git-rekal's
	Text    bool   // with prompts, answers, titles and commands
}

// trace is a session that is being written.
type trace struct {
	Options
	of    result.StorySession
	spans []span
	asked []message // since the model last answered
	now   time.Time // of the latest turn so far
}

// Of writes a session. The usage has one entry for each turn and model.
func Of(s result.StorySession, usage []session.Usage, o Options) Traces {
	t := &trace{Options: o, of: s, now: timeOfResult(s.StartedAt)}
	if len(s.Said) > 0 && t.now.IsZero() {
		t.now = timeOfResult(s.Said[0].TS)
	}
	t.spans = []span{t.root()}
	taken := map[int][]session.Usage{}
	for _, u := range usage {
		taken[u.Turn] = append(taken[u.Turn], u)
	}
	t.addBehind(-1, taken)
	for _, turn := range s.Said {
		t.addTurn(turn, taken)
	}
	if len(t.asked) > 0 {
		t.addChat("asked last", session.Usage{Model: s.Model}, t.now, "")
	}
	t.spans[0].End = nanoseconds(t.now)
	return Traces{[]resourceSpans{{
		Resource:   attributed{[]attribute{text("service.name", s.Source)}},
		ScopeSpans: []scopeSpans{{scope{"git-rekal", o.Version}, t.spans}},
	}}}
}

// root is the span of the agent. Its end is set last.
func (t *trace) root() span {
	s := t.of
	a := attributes{
		text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", s.Source),
		text("gen_ai.conversation.id", s.ID),
	}
	a.addText("gen_ai.request.model", s.Model)
	a.addText("user.email", s.Author)
	a.addText("vcs.ref.head.name", s.Branch)
	if t.Text {
		a.addText("git_rekal.title", s.Title)
	}
	if s.Tokens != nil {
		a.addUsage(session.Usage{
			Input: s.Tokens.Input, Output: s.Tokens.Output, CacheRead: s.Tokens.CacheRead,
			CacheWrite: s.Tokens.CacheWrite,
		})
	}
	root := span{
		TraceID: traceID(s.ID), SpanID: spanID(s.ID, "root"), Name: "invoke_agent " + s.Source,
		Kind: kindInternal, Start: nanoseconds(t.now), Attributes: a,
	}
	if s.Parent != "" {
		root.Links = []link{{traceID(s.Parent), spanID(s.Parent, "root")}}
	}
	return root
}

// addTurn adds what was said in a turn, and what came behind it.
func (t *trace) addTurn(turn result.Turn, taken map[int][]session.Usage) {
	begin := t.now
	if at := timeOfResult(turn.TS); at.After(t.now) {
		t.now = at
	}
	if turn.Role == session.RoleHuman {
		t.asked = append(t.asked, message{Role: "user", Parts: []part{{"text", turn.Content}}})
	} else {
		first := session.Usage{Model: t.of.Model}
		if of := taken[turn.Turn]; len(of) > 0 {
			first, taken[turn.Turn] = of[0], of[1:]
		}
		t.addChat(fmt.Sprint("turn ", turn.Turn), first, begin, turn.Content)
	}
	t.addBehind(turn.Turn, taken)
}

// addBehind adds what else the model was asked for in the time of a turn, and the calls behind the turn.
func (t *trace) addBehind(turn int, taken map[int][]session.Usage) {
	for _, u := range taken[turn] {
		t.addChat(fmt.Sprint("request ", turn, " ", u.Model), u, t.now, "")
	}
	for i, call := range t.of.Tools {
		if call.Turn == turn {
			t.addCall(i, call)
		}
	}
}

// addChat adds requests to a model, with what was asked since the last ones.
func (t *trace) addChat(name string, u session.Usage, begin time.Time, said string) {
	model := cmp.Or(u.Model, t.of.Model)
	a := attributes{
		text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", cmp.Or(provider(model), t.of.Source)),
		text("gen_ai.conversation.id", t.of.ID),
	}
	a.addText("gen_ai.request.model", model)
	a.addUsage(u)
	if t.Text && len(t.asked) > 0 {
		a.addJSON("gen_ai.input.messages", t.asked)
	}
	if t.Text && said != "" {
		a.addJSON("gen_ai.output.messages", []message{{
			Role: "assistant", Parts: []part{{"text", said}},
			FinishReason: "stop",
		}})
	}
	t.asked = nil
	t.add(span{
		SpanID: spanID(t.of.ID, name), Name: strings.TrimSpace("chat " + model), Kind: kindClient,
		Start: nanoseconds(begin), End: nanoseconds(t.now), Attributes: a,
	})
}

// addCall adds a call of a tool.
func (t *trace) addCall(i int, call result.Tool) {
	a := attributes{
		text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", call.Tool),
		text("gen_ai.conversation.id", t.of.ID),
	}
	arguments := map[string]string{}
	if call.Path != "" {
		arguments["path"] = call.Path
	}
	if call.Cmd != "" && t.Text {
		arguments["command"] = call.Cmd
	}
	if len(arguments) > 0 {
		a.addJSON("gen_ai.tool.call.arguments", arguments)
	}
	s := span{
		SpanID: spanID(t.of.ID, fmt.Sprint("call ", i)), Name: "execute_tool " + call.Tool, Kind: kindInternal,
		Start: nanoseconds(t.now), End: nanoseconds(t.now),
	}
	if call.Failed {
		kind := "_OTHER"
		if call.Exit != 0 {
			kind = strconv.Itoa(call.Exit)
		}
		a.addText("error.type", kind)
		s.Status = &status{statusError}
	}
	s.Attributes = a
	t.add(s)
}

// add adds a span below the root.
func (t *trace) add(s span) {
	s.TraceID, s.ParentID = t.spans[0].TraceID, t.spans[0].SpanID
	t.spans = append(t.spans, s)
}

type attributes []attribute

func text(key, value string) attribute {
	return attribute{key, map[string]string{"stringValue": value}}
}

func (a *attributes) addText(key, value string) {
	if value != "" {
		*a = append(*a, text(key, value))
	}
}

func (a *attributes) addJSON(key string, value any) {
	encoded, err := json.Marshal(value)
	if err == nil { // texts always can be encoded
		a.addText(key, string(encoded))
	}
}

// addUsage adds tokens. The conventions count what a cache gave or took as input.
func (a *attributes) addUsage(u session.Usage) {
	if u.Input+u.Output+u.CacheRead+u.CacheWrite == 0 {
		return
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"input_tokens", u.Input + u.CacheRead + u.CacheWrite},
		{"output_tokens", u.Output},
		{"cache_read.input_tokens", u.CacheRead},
		{"cache_creation.input_tokens", u.CacheWrite},
	} {
		*a = append(*a, attribute{"gen_ai.usage." + n.key, map[string]string{"intValue": strconv.FormatInt(n.value, 10)}})
	}
}

// provider is who offers a model, as the conventions name it; "" for one that is not known.
func provider(model string) string {
	name, _, known := strings.Cut(provenance.ModelID(model), "/")
	switch {
	case !known:
		return ""
	case name == "google":
		return "gcp.gemini"
	case name == "xai":
		return "x_ai"
	case name == "mistral":
		return "mistral_ai"
	}
	return name
}

func traceID(id string) string { return sum("trace " + id)[:32] }

func spanID(id, name string) string { return sum("span " + id + " " + name)[:16] }

func sum(of string) string {
	s := sha256.Sum256([]byte(of))
	return hex.EncodeToString(s[:])
}

// timeOfResult is a time of a result as a value; the zero value is one that is not known.
func timeOfResult(at string) time.Time {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}
	}
	return t
}

// nanoseconds is a time as the protocol has it; "0" for one that is not known.
func nanoseconds(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}
