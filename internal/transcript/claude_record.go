package transcript

import (
	"strconv"
	"strings"
	"time"
)

// claudeRecord is the envelope of one line, as raw JSON values: what is not asked for
// is never parsed.
type claudeRecord struct {
	kind, role, uuid, session, agent, timestamp []byte
	cwd, branch, version, entrypoint, runKind   []byte
	promptSource, origin                        []byte
	sidechain, meta, compact, visibleOnly       []byte
	message, content, toolResult, attachment    []byte
	summary, leaf, customTitle, aiTitle         []byte
	operation, reason                           []byte
}

// scan fills the record; it reports whether the line is a whole one.
func (r *claudeRecord) scan(line []byte) bool {
	*r = claudeRecord{}
	return fields(line, func(key, value []byte) {
		if f := r.field(string(key)); f != nil {
			*f = value
		}
	})
}

func (r *claudeRecord) field(key string) *[]byte {
	switch key {
	case "type":
		return &r.kind
	case "role":
		return &r.role
	case "uuid":
		return &r.uuid
	case "sessionId":
		return &r.session
	case "agentId":
		return &r.agent
	case "timestamp":
		return &r.timestamp
	case "cwd":
		return &r.cwd
	case "gitBranch":
		return &r.branch
	case "version":
		return &r.version
	case "entrypoint":
		return &r.entrypoint
	case "sessionKind":
		return &r.runKind
	case "promptSource":
		return &r.promptSource
	case "origin":
		return &r.origin
	}
	return r.body(key)
}

// body is the part of field that concerns the content.
func (r *claudeRecord) body(key string) *[]byte {
	switch key {
	case "isSidechain":
		return &r.sidechain
	case "isMeta":
		return &r.meta
	case "isCompactSummary":
		return &r.compact
	case "isVisibleInTranscriptOnly":
		return &r.visibleOnly
	case "message":
		return &r.message
	case "content":
		return &r.content
	case "toolUseResult":
		return &r.toolResult
	case "attachment":
		return &r.attachment
	case "summary":
		return &r.summary
	case "leafUuid":
		return &r.leaf
	case "customTitle":
		return &r.customTitle
	case "aiTitle":
		return &r.aiTitle
	case "operation":
		return &r.operation
	case "reason":
		return &r.reason
	}
	return nil
}

// is reports whether a raw value is the JSON word true.
func is(raw []byte) bool { return string(raw) == "true" }

// moment reads a time as agents write it: RFC 3339, or a number of seconds or
// milliseconds since 1970, as a number or a string. The zero time is no time.
func moment(raw []byte) time.Time {
	s := strings.Trim(string(raw), `"`)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC().Truncate(time.Millisecond)
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !(n > 0 && n < 1e15):
		return time.Time{}
	case n < 1e11: // seconds until the year 5138; as milliseconds that would be 1973
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC()
}

// programmatic reports whether a record was made by a run without a person at it: print
// mode and the SDKs (the values that Claude Code itself hides from its list of sessions
// to resume), its GitHub action, and its background workers.
func (r *claudeRecord) programmatic() bool {
	switch text(r.entrypoint) {
	case "sdk-cli", "sdk-ts", "sdk-py", "sdk", "claude-code-github-action":
		return true
	}
	switch text(r.runKind) {
	case "daemon", "daemon-worker":
		return true
	}
	return false
}
