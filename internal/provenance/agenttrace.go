// Package provenance writes and reads who wrote the lines of commits in the formats of other tools: Agent Trace 0.1.0
// (github.com/cursor/agent-trace) and the notes of Git AI 3.0.0 (github.com/git-ai-project/git-ai,
// specs/git_ai_standard_v3.0.0.md); and statements in the format of in-toto.
//
// In: a result.Attribution. Out: a record, or the text of a note; and the other way, what others noted of a file,
// within bounds. Only lines that a session is known to have written are a session's. The rest is "unknown" in Agent
// Trace, and stands in no note, which means the same there: nobody knows that a person typed them. Pure: it asks
// nothing.
package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// traceVersion is the version of the specification. The pattern in its schema file, as it is escaped there, matches no
// version at all; the text has this one.
const traceVersion = "0.1.0"

// TraceRecord is an Agent Trace record; the specification closes every object, so nothing is added.
type TraceRecord struct {
	Version   string      `json:"version"`
	ID        string      `json:"id"` // a UUID, the same for the same commit
	Timestamp string      `json:"timestamp"`
	VCS       vcs         `json:"vcs"`
	Tool      traceTool   `json:"tool"`
	Files     []traceFile `json:"files"`
}

type vcs struct {
	Type     string `json:"type"`
	Revision string `json:"revision"`
}

type traceTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type traceFile struct {
	Path          string         `json:"path"`
	Conversations []conversation `json:"conversations"`
}

type conversation struct {
	URL         string       `json:"url,omitempty"` // a link of git-rekal's
	Contributor contributor  `json:"contributor"`
	Ranges      []traceRange `json:"ranges"`
}

type contributor struct {
	Type    string `json:"type"` // ai or unknown
	ModelID string `json:"model_id,omitempty"`
}

type traceRange struct {
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
}

// AgentTrace is the record of one commit. version is git-rekal's.
func AgentTrace(a result.Attribution, version string) TraceRecord {
	out := TraceRecord{
		Version: traceVersion, ID: uuidOf("agent-trace " + a.Commit), Timestamp: a.At,
		VCS: vcs{"git", a.Commit}, Tool: traceTool{"git-rekal", version}, Files: []traceFile{},
	}
	for _, f := range a.Files {
		file := traceFile{Path: f.Path}
		for _, id := range slices.Sorted(maps.Keys(f.Wrote)) {
			who := contributor{"ai", ModelID(a.Sessions[id].Model)}
			file.Conversations = append(file.Conversations, conversation{"rekal:" + id, who, traceRanges(f.Wrote[id])})
		}
		if len(f.Unknown) > 0 {
			file.Conversations = append(file.Conversations,
				conversation{"", contributor{Type: "unknown"}, traceRanges(f.Unknown)})
		}
		out.Files = append(out.Files, file)
	}
	return out
}

func traceRanges(ranges []result.Range) (out []traceRange) {
	for _, r := range ranges {
		out = append(out, traceRange{r[0], r[1]})
	}
	return out
}

// ModelID is a model's name as "provider/model"; "" where the provider is not known, for the format has no other place
// for a name.
func ModelID(model string) string {
	if strings.Contains(model, "/") {
		return model
	}
	for _, p := range []struct{ prefix, provider string }{ // of models.dev
		{"claude-", "anthropic"},
		{"gpt-", "openai"},
		{"o1", "openai"},
		{"o3", "openai"},
		{"o4", "openai"},
		{"codex-", "openai"},
		{"gemini-", "google"},
		{"grok-", "xai"},
		{"deepseek-", "deepseek"},
		{"mistral-", "mistral"},
		{"qwen", "alibaba"},
	} {
		if strings.HasPrefix(model, p.prefix) {
			return p.provider + "/" + model
		}
	}
	return ""
}

// uuidOf is a UUID (version 8, RFC 9562) made of a text.
func uuidOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	x := hex.EncodeToString(sum[:16])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}
