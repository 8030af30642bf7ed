package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// model answers as the models of four makers do, by a script: it finds the prompt that it was asked last, counts the
// results of tools that came since, and makes the next call.
type model struct {
	mu      sync.Mutex
	turns   []turn // of as many conversations at once
	agent   program
	results []string // what tools gave, as text
	bodies  []string // what it was sent since the last script
	said    int      // how often it answered
	log     io.Writer
}

// script is what the model does from now on.
func (m *model) script(agent program, turns ...turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agent, m.turns, m.results, m.bodies = agent, turns, nil, nil
}

// gave is what tools gave so far.
func (m *model) gave() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.results, "\n")
}

// times is how often a text, which no JSON writes otherwise, stands in the request that has it most often, of those
// since the last script.
func (m *model) times(text string) (most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.bodies {
		most = max(most, strings.Count(b, text))
	}
	return most
}

// item is a message of a conversation: a text of the user's, or the result of the call with that ID.
type item struct{ text, call string }

// answer is what the model says next, under an ID of its own: a call, or else words.
type answer struct {
	id   string
	call *call
	text string
}

// searching marks the IDs of calls that look for a tool; they are no step of the script.
const searching = "_search"

func (m *model) answer(items []item, tools []string) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said++
	a := answer{id: fmt.Sprint(m.said), text: "A conversation"}
	asked, done, searched, result := turn{}, 0, false, ""
	for _, it := range items {
		is := slices.IndexFunc(m.turns, func(t turn) bool { return strings.Contains(it.text, t.prompt) })
		switch {
		case strings.HasSuffix(it.call, searching):
			searched = true
		case it.call != "":
			done++
			result = it.text
		case is >= 0:
			asked, done, searched = m.turns[is], 0, false
		}
	}
	if asked.prompt == "" || len(tools) == 0 { // a title, or whatever else the program wants to know
		return a
	}
	if done > 0 {
		m.results = append(m.results, result)
	}
	if a.text = asked.word; done >= len(asked.steps) {
		return a
	}
	next := asked.steps[done]
	c := m.agent.call(next, tools)
	c.id = "call_" + a.id
	if search := finder(tools); next.tool == "recall" && search != "" && !searched {
		c = call{id: c.id + searching, name: search, args: map[string]any{"query": "select:" + c.name, "limit": 8}}
		if search == "tool_search" {
			c.args["query"] = "git-rekal recall"
		}
	}
	a.call = &c
	return a
}

// finder is the tool that finds others, where an agent does not offer all at once.
func finder(tools []string) string {
	for _, name := range []string{"tool_search", "ToolSearch"} {
		if slices.Contains(tools, name) {
			return name
		}
	}
	return ""
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(m.log, "%s %s\n%s\n\n", r.Method, r.URL, body)
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	m.mu.Unlock()
	req := gjson.ParseBytes(body)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		reply(w, map[string]any{"input_tokens": 10, "totalTokens": 10})
	case strings.HasSuffix(path, "/messages"):
		m.messages(w, req)
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, req)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, req)
	case strings.Contains(path, "enerateContent"):
		m.generate(w, req, strings.Contains(path, ":stream"))
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// event sends one server-sent event; without a name only its data.
func event(w http.ResponseWriter, name string, v any) {
	w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what stands below
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}

type object = map[string]any

func names(tools gjson.Result, path string) (out []string) {
	tools.ForEach(func(_, t gjson.Result) bool {
		if name := t.Get(path).String(); name != "" {
			out = append(out, name)
		}
		return true
	})
	return out
}

// blocks are the texts and results in a content, which is a text or a list.
func blocks(content gjson.Result) (out []item) {
	if !content.IsArray() {
		return []item{{text: content.String()}}
	}
	for _, b := range content.Array() {
		if b.Get("type").String() == "tool_result" {
			out = append(out, item{b.Get("content").String(), b.Get("tool_use_id").String()})
		} else {
			out = append(out, item{text: b.Get("text").String()})
		}
	}
	return out
}

// messages is Anthropic's.
func (m *model) messages(w http.ResponseWriter, req gjson.Result) {
	var items []item
	for _, msg := range req.Get("messages").Array() {
		if msg.Get("role").String() == "user" {
			items = append(items, blocks(msg.Get("content"))...)
		}
	}
	a := m.answer(items, names(req.Get("tools"), "name"))
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}, "end_turn"
	whole := object{"type": "text", "text": a.text}
	if c := a.call; c != nil {
		block = object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": c.json()}, "tool_use"
		whole = object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": c.args}
	}
	usage := object{"input_tokens": 10, "output_tokens": 10}
	msg := object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": req.Get("model").String(),
		"content": []any{}, "stop_reason": nil, "usage": usage,
	}
	if !req.Get("stream").Bool() {
		msg["content"], msg["stop_reason"] = []any{whole}, reason
		reply(w, msg)
		return
	}
	event(w, "message_start", object{"type": "message_start", "message": msg})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": usage})
	event(w, "message_stop", object{"type": "message_stop"})
}

// responses is OpenAI's, as Codex speaks it: tools of servers are looked for first.
func (m *model) responses(w http.ResponseWriter, req gjson.Result) {
	var items []item
	for _, in := range req.Get("input").Array() {
		switch kind := in.Get("type").String(); {
		case kind == "message" && in.Get("role").String() == "user":
			items = append(items, blocks(in.Get("content"))...)
		case strings.HasSuffix(kind, "_output"):
			items = append(items, item{in.Get("output").String(), in.Get("call_id").String()})
		}
	}
	tools := append(names(req.Get("tools"), "name"), names(req.Get("tools"), "type")...)
	a := m.answer(items, tools)
	out := object{
		"type": "message", "id": "msg_" + a.id, "role": "assistant",
		"content": []any{object{"type": "output_text", "text": a.text}},
	}
	if c := a.call; c != nil {
		out = object{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.name, "arguments": c.json()}
		switch {
		case strings.HasSuffix(c.id, searching):
			out = object{
				"type": "tool_search_call", "id": "tsc_" + c.id, "call_id": c.id, "status": "completed",
				"execution": "client", "arguments": c.args,
			}
		case c.namespace != "":
			out["namespace"] = c.namespace
		case c.args == nil:
			out = object{
				"type": "custom_tool_call", "id": "ctc_" + c.id, "call_id": c.id, "name": c.name, "input": c.input,
				"status": "completed",
			}
		}
	}
	event(w, "response.created", object{"type": "response.created", "response": object{"id": "resp_" + a.id}})
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": out})
	event(w, "response.completed", object{"type": "response.completed", "response": object{
		"id": "resp_" + a.id,
		"usage": object{
			"input_tokens": 10, "input_tokens_details": nil, "output_tokens": 10, "output_tokens_details": nil,
			"total_tokens": 20,
		},
	}})
}

// chat is OpenAI's older one.
func (m *model) chat(w http.ResponseWriter, req gjson.Result) {
	var items []item
	for _, msg := range req.Get("messages").Array() {
		switch msg.Get("role").String() {
		case "user":
			items = append(items, blocks(msg.Get("content"))...)
		case "tool":
			items = append(items, item{msg.Get("content").String(), msg.Get("tool_call_id").String()})
		}
	}
	a := m.answer(items, names(req.Get("tools"), "function.name"))
	delta, reason := object{"role": "assistant", "content": a.text}, "stop"
	if c := a.call; c != nil {
		delta, reason = object{"role": "assistant", "tool_calls": []any{
			object{"index": 0, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.json()}},
		}}, "tool_calls"
	}
	chunk := func(delta object, reason any) object {
		return object{
			"id": "chat_" + a.id, "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}},
		}
	}
	if !req.Get("stream").Bool() {
		reply(w, object{
			"id": "chat_" + a.id, "object": "chat.completion",
			"choices": []any{object{"index": 0, "message": delta, "finish_reason": reason}},
		})
		return
	}
	event(w, "", chunk(delta, nil))
	event(w, "", chunk(object{}, reason))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// generate is Google's.
func (m *model) generate(w http.ResponseWriter, req gjson.Result, stream bool) {
	var items []item
	for _, msg := range req.Get("contents").Array() {
		if msg.Get("role").String() == "model" {
			continue
		}
		for _, part := range msg.Get("parts").Array() {
			if res := part.Get("functionResponse"); res.Exists() {
				items = append(items, item{res.Get("response").String(), cmp.Or(part.Get("functionResponse.id").String(), "call")})
			} else {
				items = append(items, item{text: part.Get("text").String()})
			}
		}
	}
	var tools []string
	for _, t := range req.Get("tools").Array() {
		tools = append(tools, names(t.Get("functionDeclarations"), "name")...)
	}
	a := m.answer(items, tools)
	part := object{"text": a.text}
	// who speaks next, or which model is to answer
	if schema := req.Get("generationConfig.responseJsonSchema"); schema.Exists() {
		part = object{"text": `{"reasoning":"scripted","next_speaker":"user","model_choice":"flash","complexity_score":1,"complexity_reasoning":"scripted"}`}
	}
	if c := a.call; c != nil {
		part = object{"functionCall": object{"name": c.name, "args": c.args}}
	}
	out := object{
		"candidates": []any{object{
			"index": 0, "finishReason": "STOP",
			"content": object{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
	}
	if stream {
		event(w, "", out)
	} else {
		reply(w, out)
	}
}
