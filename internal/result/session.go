package result

import (
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Session is the answer of `git rekal query --session ID`.
type Session struct {
	Schema    int    `json:"schema"`
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Title     string `json:"title,omitempty"`
	Author    string `json:"author,omitempty"`
	Signature string `json:"signature,omitempty"` // as of a Hit
	Actor     string `json:"actor"`
	AgentID   string `json:"agent_id,omitempty"`
	Source    string `json:"source"`
	session.Facts
	NativeID   string   `json:"native_id"`
	Branch     string   `json:"branch,omitempty"`
	StartedAt  string   `json:"started_at,omitempty"`
	CapturedAt string   `json:"captured_at"`
	Parent     string   `json:"parent,omitempty"`
	ForkedFrom string   `json:"forked_from,omitempty"`
	Children   []string `json:"children,omitempty"`
	Turns      int      `json:"turns"`
	ToolCalls  int      `json:"tool_calls"`
	Private    bool     `json:"private,omitempty"` // as of a Hit
	Page       []Turn   `json:"page"`              // turns from --offset on
	Next       *int     `json:"next,omitempty"`    // the --offset of what follows; absent at the end

	// With --full:
	Freshness  string     `json:"freshness,omitempty"`
	Tools      []Tool     `json:"tools,omitempty"` // calls behind the turns of the page
	Files      []File     `json:"files,omitempty"` // what its commits changed, the latest first
	FilesTotal int        `json:"files_total,omitempty"`
	Commits    []Commit   `json:"commits,omitempty"`
	Related    []Related  `json:"related,omitempty"` // files that other sessions touched together with its own
	Family     []Relative `json:"family,omitempty"`
}

// Relative is a session next to another session: how the two are related (As), and what the relative is about.
type Relative struct {
	ID    string `json:"id"`
	As    string `json:"as"` // parent, origin (that it was forked from), child or fork
	Title string `json:"title,omitempty"`
	Turns int    `json:"turns"`
}

// Turn is one prompt or one block of an answer.
type Turn struct {
	Turn    int    `json:"turn"`
	Role    string `json:"role"`
	TS      string `json:"ts,omitempty"`
	Content string `json:"content"`
	Undone  bool   `json:"undone,omitempty"` // the person took it back
	// Of a turn that is longer than a page:
	ContentBytes int `json:"content_bytes,omitempty"` // how long it is; Content is its beginning
	ContentNext  int `json:"content_next,omitempty"`  // the character that follows, counted from 1 on as SQL does
}

// Truncate leaves of a content that is longer than so many bytes the beginning.
func (t *Turn) Truncate(most int) {
	if len(t.Content) <= most {
		return
	}
	t.ContentBytes = len(t.Content)
	for !utf8.RuneStart(t.Content[most]) {
		most--
	}
	t.Content = t.Content[:most]
	t.ContentNext = utf8.RuneCountInString(t.Content) + 1
}

// Tool is one tool call.
type Tool struct {
	Turn   int    `json:"turn"` // it came after this turn; -1: before the first
	Tool   string `json:"tool"`
	Path   string `json:"path,omitempty"`
	Cmd    string `json:"cmd,omitempty"` // the first 100 characters
	Failed bool   `json:"failed,omitempty"`
	Exit   int    `json:"exit,omitempty"` // of its command, where known and not 0
}

// File is a file of a session's commits.
type File struct {
	Path   string `json:"path"`
	Change string `json:"change"` // A, M, D or R
	Commit string `json:"commit"`
	// Freshness compares what the session left there last with what stands there now.
	Freshness string `json:"freshness,omitempty"`
	Branch    string `json:"branch,omitempty"` // that alone has it so
}

// Commit is a code commit that a session is tied to.
type Commit struct {
	Commit     string `json:"commit"`
	Checkpoint string `json:"checkpoint"`
	TS         string `json:"ts"`
	Became     string `json:"became,omitempty"`   // the commit after amends and rebases
	Tie        string `json:"tie,omitempty"`      // as of a Hit
	Inferred   bool   `json:"inferred,omitempty"` // as of a Hit
	Missing    bool   `json:"missing,omitempty"`  // what it is now is not in this clone
}

// Related is a file that appears in sessions together with files of this one.
type Related struct {
	Path     string `json:"path"`
	Sessions int    `json:"sessions"`
}
