package result

import (
	"fmt"

	"github.com/git-rekal/git-rekal/internal/session"
)

// The kinds of what `git rekal show` shows; a memory's and a session's are those of their own shapes.
const (
	ShowCommit = "commit"
	ShowRange  = "range"
	ShowLines  = "lines"
)

// Story is the answer of `git rekal show`: commits, and what was said behind them.
type Story struct {
	Schema  int           `json:"schema"`
	AsOf    *AsOf         `json:"as_of,omitempty"` // where a commit of a ledger is checked out
	Show    string        `json:"show"`            // what was asked for
	Kind    string        `json:"kind"`            // commit, range, lines, session, memory
	Turn    *int          `json:"turn,omitempty"`  // of a session the turn that was asked for, around which is told
	Why     *Why          `json:"why,omitempty"`
	Commits []StoryCommit `json:"commits"` // the oldest first
	// in the order in which they began; of lines, who explains most first
	Sessions []StorySession `json:"sessions"`
	Memories []Memory       `json:"memories,omitempty"` // of a range: those that were saved during its sessions
	Cut      bool           `json:"cut,omitempty"`      // a shallow clone ends in the range; commits there are left out
}

// StoryCommit is a code commit of a Story.
type StoryCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	Author  string `json:"author"`
	Email   string `json:"email"`
	TS      string `json:"ts"` // of the author
	Merge   bool   `json:"merge,omitempty"`
	// of a merge that was asked for: how many commits it brought, which are told, too
	Merged   int        `json:"merged,omitempty"`
	Files    []Diffstat `json:"files,omitempty"`    // against the first parent; none of a merge
	Sessions []string   `json:"sessions,omitempty"` // IDs of those behind it, the strongest tie first
	Inferred []string   `json:"inferred,omitempty"` // of them, those whose tie is inferred
	Talked   []string   `json:"talked,omitempty"`   // IDs of sessions that talked meanwhile, and stand behind nothing

	Ties     map[string]string `json:"ties,omitempty"`     // how each is tied: wrote, edited, made, named or inferred
	Evidence map[string]string `json:"evidence,omitempty"` // of each tie
	Missing  bool              `json:"missing,omitempty"`  // it is not in this clone: no more is known of it
	Named    []NamedBy         `json:"named,omitempty"`    // where nobody is behind it: agents that its message names
	Links    []string          `json:"links,omitempty"`    // IDs of the sessions and memories to which its message links
}

// Link is a stable name: of `git rekal link --json`.
type Link struct {
	Schema int    `json:"schema"`
	Link   string `json:"link"` // rekal:ID, rekal:ID#TURN
	Kind   string `json:"kind"` // session, memory, checkpoint
	ID     string `json:"id"`
	Turn   *int   `json:"turn,omitempty"`
	URL    string `json:"url,omitempty"` // of the ledger's commit, where a known host has it
}

// Diffstat is how much of a file a commit changed.
type Diffstat struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"` // of a rename
	Added   int    `json:"added"`              // lines
	Deleted int    `json:"deleted"`            // lines
	Binary  bool   `json:"binary,omitempty"`   // then lines are not counted

	Uncounted bool `json:"uncounted,omitempty"` // lines are not counted: a version of the file is not in this clone
}

// SumDiffstat is what files changed in all: "2 files, +12 −3".
func SumDiffstat(files []Diffstat) string {
	paths, added, deleted, uncounted := map[string]bool{}, 0, 0, 0
	for _, f := range files {
		paths[f.Path] = true
		added, deleted = added+f.Added, deleted+f.Deleted
		if f.Uncounted {
			uncounted++
		}
	}
	noun := "files"
	if len(paths) == 1 {
		noun = "file"
	}
	text := fmt.Sprintf("%d %s, +%d −%d", len(paths), noun, added, deleted)
	if uncounted > 0 {
		text += fmt.Sprintf(", %d not counted: not in this clone", uncounted)
	}
	return text
}

// StorySession is a session of a Story, or the part of it that led to the commits.
type StorySession struct {
	ID        string `json:"id"`
	Short     string `json:"short"` // the shortest beginning of the ID that means it alone
	Title     string `json:"title,omitempty"`
	Author    string `json:"author,omitempty"`
	Signature string `json:"signature,omitempty"` // as of a Hit
	Actor     string `json:"actor"`
	Source    string `json:"source"`
	session.Facts
	Branch     string  `json:"branch,omitempty"`
	Parent     string  `json:"parent,omitempty"`
	StartedAt  string  `json:"started_at,omitempty"`
	LastTurnAt string  `json:"last_turn_at,omitempty"`
	Turns      int     `json:"turns"`             // in all
	ToolCalls  int     `json:"tool_calls"`        // in all
	Tokens     *Tokens `json:"tokens,omitempty"`  // in all; absent where its transcript counts none
	Private    bool    `json:"private,omitempty"` // as of a Hit
	Part       bool    `json:"part,omitempty"`
	// what its first prompt is for: of a plan, what stands under "Context" or "Why"
	Purpose string   `json:"purpose,omitempty"`
	Said    []Turn   `json:"said"`              // prompts and answers, of a part those behind the commits
	Tools   []Tool   `json:"tools,omitempty"`   // behind these turns
	Commits []string `json:"commits,omitempty"` // OIDs behind which it stands, as they are today
	Left    []string `json:"left,omitempty"`    // paths that it edited and none of its commits changed
	Lines   int      `json:"lines,omitempty"`   // of the commits, that it is known to have written
	Spawned []string `json:"spawned,omitempty"` // IDs of sessions that it spawned

	PurposeTurn int `json:"-"` // the turn that Purpose is of
}

// Record is what a command printed: of `git rekal show N --json` and of `git rekal export`.
type Record struct {
	Schema      int    `json:"schema"`
	ID          string `json:"id"` // a number
	Kind        string `json:"kind"`
	CapturedAt  string `json:"captured_at"` // when the command had ended
	Command     string `json:"command,omitempty"`
	Dir         string `json:"dir,omitempty"` // from the repository's root
	Branch      string `json:"branch,omitempty"`
	Exit        *int   `json:"exit,omitempty"`
	Instruction string `json:"instruction,omitempty"`
	Session     string `json:"session,omitempty"` // in which an agent ran it
	Turn        *int   `json:"turn,omitempty"`
	Source      string `json:"source,omitempty"`
	Purged      bool   `json:"purged,omitempty"`
	Text        string `json:"text"` // what mattered of the output
}
