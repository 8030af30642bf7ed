// Package session holds the nouns of git-rekal: the parts of an agent's session, and what one commit of the ledger says
// about sessions and code. Every other package speaks in these types.
//
// It owns identity (id.go): a session, turn or tool call has the same ID on every machine, because the ID is computed
// from what the agent wrote. Its field tags are the keys of the ledger's records (package segment). It touches no file,
// and imports nothing of the project.
package session

import (
	"slices"
	"strings"
	"time"
)

// The roles of a turn. They say who speaks in it, never who started the session.
const (
	RoleHuman     = "human"
	RoleAssistant = "assistant"
)

// The actors of a session or checkpoint: a person at the keyboard, or an automated
// run (a subagent, CI, a headless call).
const (
	ActorHuman = "human"
	ActorAgent = "agent"
)

// Imported is the source of sessions that somebody else kept of agents that have no name here.
const Imported = "specstory"

// NativeRef names a session as its agent does.
type NativeRef struct{ Source, NativeID string }

// String is AGENT/ID, as settings and people name a session that has no ID yet.
func (r NativeRef) String() string { return r.Source + "/" + r.NativeID }

// Native names the session as its agent does.
func (s Session) Native() NativeRef { return NativeRef{s.Source, s.NativeID} }

// Agents are the names that a Session.Source may have, in the order of docs/agents.md.
func Agents() []string {
	return []string{
		"claude-code", "codex", "copilot-cli", "gemini-cli", "opencode", "cursor", "kilo", "pi", "qwen-code",
		"droid", "cline", "continue", "kimi-code", "grok", "antigravity", Imported,
	}
}

// NoteAgents are those that keep notes of a repository in files.
func NoteAgents() []string { return []string{"claude-code", "gemini-cli", "qwen-code", "codex"} }

// Session is one conversation with a coding agent, or the part of it that one ledger
// commit adds: then Turns and ToolCalls hold only what is new, and FirstTurn and
// FirstTool say how many came before.
type Session struct {
	ID         string `json:"id"`                   // ULID; see NewID. Empty until the first turn's time is known.
	Source     string `json:"source"`               // the agent: "claude-code"
	NativeID   string `json:"native_id"`            // the agent's own ID of the session
	Parent     string `json:"parent,omitzero"`      // ID of the session that spawned this one; empty at the top
	ForkedFrom string `json:"forked_from,omitzero"` // ID of the session whose leading turns this one copied
	ActorType  string `json:"actor_type"`           // ActorHuman or ActorAgent
	// the agent's ID of a subagent; of another automated run which agent it is ("claude-code/2.1.39"); empty for a person
	AgentID string `json:"agent_id,omitzero"`
	Facts
	Branch string `json:"branch,omitzero"` // git branch named in the transcript; "HEAD" when detached
	// one line; an explicit title, else the beginning of the first prompt that asks something, else a commit's subject
	Title     string    `json:"title,omitzero"`
	TitleBy   string    `json:"title_by,omitzero"`     // ByCommit, where nothing that was said gave a title yet
	StartedAt time.Time `json:"started_at,omitzero"`   // UTC, the first turn's time
	Hash      string    `json:"session_hash,omitzero"` // hex SHA-256 of the first Bytes of the transcript
	// how far a transcript that is no growing file was read; only its agent's reader knows what it says
	Cursor    string     `json:"cursor,omitzero"`
	Bytes     int64      `json:"bytes"`      // how many bytes of the transcript have been read; 0: no cursor
	FirstTurn int        `json:"first_turn"` // index of Turns[0] within the session
	FirstTool int        `json:"first_tool"` // index of ToolCalls[0] within the session
	Turns     []Turn     `json:"-"`
	ToolCalls []ToolCall `json:"-"`
	Usage     []Usage    `json:"-"` // in the order of the requests; one that went on behind a read stands twice
	Memory    bool       `json:"-"` // it is a memory, as AsSession makes one
}

// Turn is one human prompt or one block of assistant text.
type Turn struct {
	Index   int       `json:"i"`           // 0-based within the session
	Role    string    `json:"role"`        // RoleHuman or RoleAssistant
	TS      time.Time `json:"ts,omitzero"` // UTC, to the millisecond
	Content string    `json:"content"`     // UTF-8; never tool output, thinking or system prompts
}

// ToolCall is one tool invocation, without its input's bulk or its output.
type ToolCall struct {
	Index int    `json:"i"`    // 0-based within the session
	Turn  int    `json:"turn"` // index of the last turn before the call; -1 when there was none
	Tool  string `json:"tool"` // "Edit", "Bash", …: the agent's own name
	// what it does, as its agent's decoder knows: ActEdit, ActRead or ActRun; empty for anything else
	Act string `json:"act,omitzero"`
	// git-root-relative with forward slashes; absolute outside the repository; empty for none
	Path   string `json:"path,omitzero"`
	Cmd    string `json:"cmd,omitzero"`    // at most CmdPrefix characters of a shell command
	Failed bool   `json:"failed,omitzero"` // its result is an error: it neither read nor changed what Path names
	Exit   int    `json:"exit,omitzero"`   // the status with which its command ended, where that is known and not 0
	Terms  Terms  `json:"terms,omitzero"`  // of the error that its command printed, also where a pipe hid the status
}

// What a tool call does. A tool that its decoder does not know does none of these.
const (
	ActEdit = "edit" // writes to the file that its path names
	ActRead = "read" // reads or searches what its path names
	ActRun  = "run"  // runs a command
)

// TouchedPath is the path of what a call read or changed; empty where it did neither.
func (c ToolCall) TouchedPath() string {
	if c.Failed {
		return ""
	}
	return c.Path
}

// EditedPath is the path of what a call wrote to; empty where it did not.
func (c ToolCall) EditedPath() string {
	if c.Act != ActEdit {
		return ""
	}
	return c.TouchedPath()
}

// MakesCommit reports whether a call runs a command of git that makes a commit.
func (c ToolCall) MakesCommit() bool {
	_, after, isGit := strings.Cut(c.Cmd, "git ")
	acts := []string{"commit", "merge", "am", "cherry-pick", "revert"}
	return isGit && c.Act == ActRun && slices.ContainsFunc(strings.Fields(after),
		func(word string) bool { return slices.Contains(acts, word) })
}

// CmdPrefix is how many characters (runes) of a command are kept: the schema page's
// cmd_prefix.
const CmdPrefix = 100

// Scrubbed stands where a text was that its author took out of the ledger afterwards (a leak). A
// turn that says only this keeps its place, time and role, by which the transcript's copy of it
// is known and not stored again.
const Scrubbed = "[REDACTED:scrubbed]"

// Elsewhere is a turn that stands for a part of the session: its work went on in the work tree of another
// repository, whose ledger may hold it. The turn has the time and role of the part's first turn or call.
const Elsewhere = "[REDACTED:elsewhere]"

// IsElsewhereMark reports whether a turn's content is Elsewhere. The paths of repositories in the same group may stand
// behind it.
func IsElsewhereMark(content string) bool {
	rest, ok := strings.CutPrefix(content, Elsewhere)
	return ok && (rest == "" || strings.HasPrefix(rest, " ") && !strings.Contains(rest, "\n"))
}

// MaxTurn is how many bytes of one turn are kept. What is longer is cut with a marker
// that says by how much (ledger format, version 1).
const MaxTurn = 1 << 20

// Checkpoint is one moment at which sessions were captured, tied to a code commit.
type Checkpoint struct {
	ID        string    `json:"-"`                   // hex OID of the ledger commit; empty until it is written
	GitSHA    string    `json:"git_sha"`             // the code commit; ZeroSHA before the first one
	GitBranch string    `json:"git_branch,omitzero"` // "HEAD" when detached
	UserEmail string    `json:"user_email,omitzero"`
	TS        time.Time `json:"ts"` // UTC, to the millisecond
	ActorType string    `json:"actor_type"`
	AgentID   string    `json:"agent_id,omitzero"`
	PatchID   string    `json:"patch_id,omitzero"` // git patch-id of the code commit, when it is known
	Via       string    `json:"via"`               // one of the Via constants
	Files     []File    `json:"-"`
	Links     []Link    `json:"-"`
}

// ZeroSHA stands for the code commit of a checkpoint made before the first commit.
const ZeroSHA = "0000000000000000000000000000000000000000"

// What caused a checkpoint.
const (
	ViaCommit  = "commit"
	ViaMerge   = "merge"
	ViaAm      = "am"
	ViaRewrite = "rewrite"
	ViaImport  = "import"
	ViaPush    = "push"
	ViaSync    = "sync"
	ViaManual  = "manual"
)

// File is one file that the code commit of a checkpoint changed.
type File struct {
	Path    string `json:"path"`              // git-root-relative; the new path of a rename
	OldPath string `json:"old_path,omitzero"` // the former path of a rename, else empty
	Change  string `json:"change"`            // "A", "M", "D" or "R"
	Blob    string `json:"blob,omitzero"`     // hex OID after the change; empty for a deletion
}

// Link ties a session to a checkpoint. There may be several, of different kinds.
type Link struct {
	Session  string `json:"session"`
	Inferred bool   `json:"inferred,omitzero"` // a guess of an import, not seen at the commit
	// by which rule; of a guess without it, which version 0.1.0 made, nothing is believed
	Tie      TieKind `json:"tie,omitzero"`
	Evidence string  `json:"evidence,omitzero"` // by what; see attribution.Evidence
}

// Memory is a note that an agent or a person saved on purpose.
type Memory struct {
	ID        string    `json:"id"`
	Title     string    `json:"title,omitzero"`
	Content   string    `json:"content"`
	Source    string    `json:"source,omitzero"`
	TS        time.Time `json:"ts"`
	ActorType string    `json:"actor_type,omitzero"`

	Supersedes string `json:"supersedes,omitzero"` // the ID of a memory in whose place this one stands
	// what was tried and dropped: the ID of a session or memory, or a text on one line
	Rejects string `json:"rejects,omitzero"`
	At      int    `json:"at,omitzero"` // of a section of an agent's notes: orders those of a file; else 0
}

// RejectedText is what a memory says was dropped, where that is a text.
func (m Memory) RejectedText() string {
	if IsID(m.Rejects) {
		return ""
	}
	return m.Rejects
}

// RejectedTitle is the title of a memory that has no other, by what it says was dropped.
func RejectedTitle(what string) string { return Truncate("Rejected: "+what, MaxTitle) }

// AsSession is a memory as those take it who look for words: a session of one turn.
func (m Memory) AsSession() Session {
	turn := Turn{Role: RoleHuman, TS: m.TS, Content: m.Content}
	if text := m.RejectedText(); text != "" && m.Title != RejectedTitle(text) {
		turn.Content += "\nRejected: " + text
	}
	if m.ActorType == ActorAgent {
		turn.Role = RoleAssistant
	}
	return Session{
		ID: m.ID, Source: m.Source, ActorType: m.ActorType, Title: m.Title, StartedAt: m.TS,
		Turns: []Turn{turn}, Memory: true,
	}
}

// Mark hides (purge) or shows again (restore) a session or memory. Which of several decides is
// Tally's business.
type Mark struct {
	ID string    `json:"id"`
	N  int       `json:"n"` // from 1 to MaxMark
	TS time.Time `json:"ts"`
}

// MaxMark is the highest number of a mark that readers take.
const MaxMark = 1 << 28

// Rewrite says that one code commit became another (amend, rebase).
type Rewrite struct {
	Old string    `json:"old"`
	New string    `json:"new"`
	TS  time.Time `json:"ts"`
}

// Scrub says that a segment was removed on purpose. Version 0.1.0 wrote it.
type Scrub struct {
	Segment string    `json:"segment"`
	TS      time.Time `json:"ts"`
}

// Removal says what was taken out of a ledger on purpose, so that no merge brings it back: texts of a session, a memory
// or an entry; or the content of a segment, in whose place another one stands since it was redacted again, or a session
// in it was forgotten.
type Removal struct {
	Session string `json:"session,omitzero"` // the ID of a session or memory
	// one turn of it, and the calls behind that; -1: the calls before the first turn
	Turn  *int `json:"turn,omitzero"`
	Title bool `json:"title,omitzero"` // only its title
	// the ULID in the names of an entry's segments: its checkpoint's texts and its subject
	Entry   string    `json:"entry,omitzero"`
	Segment string    `json:"segment,omitzero"` // a segment's path
	Blob    string    `json:"blob,omitzero"`    // what stands there now; empty: nothing
	TS      time.Time `json:"ts"`
}

// Wrote says which of the lines that a code commit brought into a file one session wrote. It may speak of any commit:
// of a squash merge on a server, no checkpoint does.
type Wrote struct {
	GitSHA  string    `json:"git_sha"`
	Blob    string    `json:"blob,omitzero"`  // hex OID of the file after the commit; empty for one that is deleted
	Session string    `json:"session"`        // ID
	Path    string    `json:"path"`           // git-root-relative, as the commit leaves it
	Lines   Ranges    `json:"lines,omitzero"` // of the blob; none where the session only took lines away
	Gone    int       `json:"gone"`           // how many of the lines that vanished the session took away
	TS      time.Time `json:"ts"`             // of the edit; in older records of the session's last one that is in it
}

// Entry is what one ledger commit says. Checkpoint is nil for memories, purges,
// rewrites, and imported sessions that match no commit.
type Entry struct {
	Subject    string // of the ledger's commit; it stands in no segment
	Checkpoint *Checkpoint
	Sessions   []Session
	Memories   []Memory
	Purges     []Mark
	Restores   []Mark
	Rewrites   []Rewrite
	Wrote      []Wrote
	Scrubs     []Scrub
	Removals   []Removal

	Needs   string // the oldest version of git-rekal that knows all of it, as its writer says; empty: this one
	Unknown int    // records of it that say something which this version does not know: written again, it would be lost
}

// Split parts what an entry says of some sessions from the rest. Each part has the checkpoint, with its own links,
// where that ties something or nothing was parted from it.
func (e Entry) Split(isSelected func(id string) bool) (rest, selected Entry) {
	rest = e
	rest.Sessions, selected.Sessions = split(e.Sessions, func(s Session) bool { return isSelected(s.ID) })
	rest.Memories, selected.Memories = split(e.Memories, func(m Memory) bool { return isSelected(m.ID) })
	rest.Purges, selected.Purges = split(e.Purges, func(m Mark) bool { return isSelected(m.ID) })
	rest.Restores, selected.Restores = split(e.Restores, func(m Mark) bool { return isSelected(m.ID) })
	rest.Wrote, selected.Wrote = split(e.Wrote, func(w Wrote) bool { return isSelected(w.Session) })
	if e.Checkpoint == nil {
		return rest, selected
	}
	links, parted := split(e.Checkpoint.Links, func(l Link) bool { return isSelected(l.Session) })
	if len(selected.Sessions)+len(selected.Wrote)+len(parted) == 0 {
		return rest, selected
	}
	here, there := *e.Checkpoint, *e.Checkpoint
	here.Links, there.Links = links, parted
	rest.Checkpoint, selected.Checkpoint = &here, &there
	if len(rest.Sessions)+len(rest.Wrote)+len(links) == 0 {
		rest.Checkpoint = nil
	}
	return rest, selected
}

func split[T any](list []T, isSelected func(T) bool) (rest, selected []T) {
	for _, v := range list {
		if isSelected(v) {
			selected = append(selected, v)
		} else {
			rest = append(rest, v)
		}
	}
	return rest, selected
}

// SaysAnything reports whether an entry says anything that a segment keeps.
func (e Entry) SaysAnything() bool {
	return e.Checkpoint != nil ||
		len(e.Sessions)+len(e.Memories)+len(e.Purges)+len(e.Restores)+len(e.Rewrites)+len(e.Wrote)+
			len(e.Scrubs)+len(e.Removals) > 0
}

// MaxPath is the longest path that is kept, in bytes: Linux's PATH_MAX.
const MaxPath = 4096

// IsPathInTree reports whether a path can be one from a repository's root: relative and staying
// below it.
func IsPathInTree(path string) bool {
	return path != "" && path[0] != '/' && !strings.Contains(path, "\x00") &&
		!slices.Contains(strings.Split(path, "/"), "..")
}
