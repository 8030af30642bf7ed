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
	operation, reason, forkedFrom               []byte
}

// members are where the members of a line go, by their names.
func (r *claudeRecord) members() map[string]*[]byte {
	return map[string]*[]byte{
		"type": &r.kind, "role": &r.role, "uuid": &r.uuid, "sessionId": &r.session, "agentId": &r.agent,
		"timestamp": &r.timestamp,
		"cwd":       &r.cwd, "gitBranch": &r.branch, "version": &r.version, "entrypoint": &r.entrypoint, "sessionKind": &r.runKind,
		"promptSource": &r.promptSource, "origin": &r.origin,
		"isSidechain": &r.sidechain, "isMeta": &r.meta, "isCompactSummary": &r.compact,
		"isVisibleInTranscriptOnly": &r.visibleOnly,
		"message":                   &r.message, "content": &r.content, "toolUseResult": &r.toolResult, "attachment": &r.attachment,
		"summary": &r.summary, "leafUuid": &r.leaf, "customTitle": &r.customTitle, "aiTitle": &r.aiTitle,
		"operation": &r.operation, "reason": &r.reason, "forkedFrom": &r.forkedFrom,
	}
}

// isTrue reports whether a raw value is the JSON word true.
func isTrue(raw []byte) bool { return string(raw) == "true" }

// parseTime reads a time as agents write it: RFC 3339, or a number of seconds or
// milliseconds since 1970, as a number or a string. The zero time is no time.
func parseTime(raw []byte) time.Time {
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

// isProgrammatic reports whether a record was made by a run without a person at it: print
// mode and the SDKs (the values that Claude Code itself hides from its list of sessions
// to resume), its GitHub action, and its background workers.
func (r *claudeRecord) isProgrammatic() bool {
	switch stringOf(r.entrypoint) {
	case "sdk-cli", "sdk-ts", "sdk-py", "sdk", "claude-code-github-action":
		return true
	}
	switch stringOf(r.runKind) {
	case "daemon", "daemon-worker":
		return true
	}
	return false
}
