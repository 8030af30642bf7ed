package result

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

// Failures is the answer of `git rekal stats --failures`: what failed most, by command.
type Failures struct {
	Schema  int      `json:"schema"`
	Total   int      `json:"total"` // failures
	Results []Failed `json:"results"`
	More    int      `json:"more,omitempty"` // commands that were left out, by -n
}

// Failed is a command that failed.
type Failed struct {
	Command  string   `json:"command"` // without flags, folders and wrappers
	Failed   int      `json:"failed"`
	Sessions int      `json:"sessions"`
	LastAt   string   `json:"last_at"`
	Terms    []string `json:"terms"`            // of the last error
	Mended   string   `json:"mended,omitempty"` // ID:TURN, where it passed last behind one of the latest failures
	Files    []string `json:"files,omitempty"`  // that were edited before that
}
