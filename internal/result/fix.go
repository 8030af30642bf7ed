package result

import "cmp"

// Fix is the answer of `git rekal fix`: where the same error was mended before, the best first.
type Fix struct {
	Schema  int      `json:"schema"`
	Command string   `json:"command,omitempty"` // that failed
	Terms   []string `json:"terms"`             // by which the error was looked for
	Results []Mended `json:"results"`
}

// Mended is a command that failed with the error, and passed later.
type Mended struct {
	ID         string   `json:"id,omitempty"`     // of the session; absent of a command that somebody ran without an agent
	Record     int      `json:"record,omitempty"` // of the failure, where one is kept here
	Title      string   `json:"title,omitempty"`
	Author     string   `json:"author,omitempty"`
	Source     string   `json:"source,omitempty"`
	Score      float64  `json:"score"` // 0 to 1: how alike the errors are
	Terms      []string `json:"terms"` // of the error that it shares
	Command    string   `json:"command"`
	Turn       *int     `json:"turn,omitempty"` // behind which it failed
	FailedAt   string   `json:"failed_at,omitempty"`
	Error      []string `json:"error,omitempty"` // as it stood there
	PassedID   string   `json:"passed_id,omitempty"`
	PassedWith string   `json:"passed_with,omitempty"`
	PassedTurn *int     `json:"passed_turn,omitempty"`
	PassedAt   string   `json:"passed_at,omitempty"`

	Files   []MendedFile `json:"files,omitempty"`
	More    int          `json:"files_more,omitempty"`
	Commits []Origin     `json:"commits,omitempty"`
	Said    string       `json:"said,omitempty"`
	Address string       `json:"address,omitempty"`
}

// MendedFile is a file that was changed between the failure and the pass.
type MendedFile struct {
	Path      string `json:"path"`
	Lines     string `json:"lines,omitempty"` // that the session wrote in the commit
	Commit    string `json:"commit,omitempty"`
	Freshness string `json:"freshness,omitempty"`
}

// Failures is the answer of `git rekal stats --failures`: what failed most, by command or path, and what was dropped.
type Failures struct {
	Schema  int       `json:"schema"`
	By      string    `json:"by"`              // command or path
	Repos   []string  `json:"repos,omitempty"` // of an answer of several repositories: their paths
	Total   int       `json:"total"`           // failures
	Results []Failed  `json:"results"`
	More    int       `json:"more,omitempty"`    // results that were left out, by -n
	Dropped []Dropped `json:"dropped,omitempty"` // the latest first
}

// Dropped is what was tried and dropped: the commit of a session that a later one took back, or what a memory rejects.
type Dropped struct {
	ID     string `json:"id"`             // of the session behind the commit, or of the memory
	Repo   string `json:"repo,omitempty"` // as of a Hit
	At     string `json:"at"`
	What   string `json:"what"`            // the commit's subject, or what was rejected: a text or ID
	Title  string `json:"title,omitempty"` // of what has that ID
	Commit string `json:"commit,omitempty"`
	By     string `json:"by,omitempty"` // the commit that took it back
	Reason string `json:"reason,omitempty"`
}

// Named is what was dropped, as people call it.
func (d Dropped) Named() string { return cmp.Or(d.Title, d.What) }

// Failed is a command that failed.
type Failed struct {
	Path     string   `json:"path,omitempty"` // by path: a file that the errors name, or its name alone where several have it
	Repo     string   `json:"repo,omitempty"` // as of a Hit: that of Mended
	Command  string   `json:"command"`        // without flags, folders and wrappers; by path the last one
	Failed   int      `json:"failed"`
	Sessions int      `json:"sessions"`
	LastAt   string   `json:"last_at"`
	Terms    []string `json:"terms"`            // of the last error
	Mended   string   `json:"mended,omitempty"` // ID:TURN, where it passed last behind one of the latest failures
	Files    []string `json:"files,omitempty"`  // that were edited before that
}
