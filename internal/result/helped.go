package result

// Helped is a commit with the agents that are known to have helped with it.
type Helped struct {
	Schema   int       `json:"schema"`
	Commit   string    `json:"commit,omitempty"` // empty for what is staged
	Subject  string    `json:"subject,omitempty"`
	Author   string    `json:"author,omitempty"`
	Merge    bool      `json:"merge,omitempty"` // the commits that it brought have trailers of their own
	Lines    *int      `json:"lines,omitempty"`
	Unknown  *int      `json:"unknown,omitempty"`
	Helpers  []Helper  `json:"helpers"`
	Named    []NamedBy `json:"named"`
	Trailers []string  `json:"trailers"`
	Unseen   string    `json:"unseen,omitempty"`

	Added    int      `json:"-"` // lines, also blank ones, where they were counted
	Inferred []string `json:"-"` // agents of sessions that stand behind the commit, but are not known to have helped
	Talked   []string `json:"-"` // agents of sessions that only talked meanwhile
}

// Helper is an agent with a model.
type Helper struct {
	Agent    string          `json:"agent"`
	Model    string          `json:"model,omitempty"`
	Lines    int             `json:"lines"`
	Sessions []HelperSession `json:"sessions"`
	Trailer  string          `json:"-"` // that names it; "" where the form has no words for it
}

// HelperSession is a session of a helper.
type HelperSession struct {
	ID       string `json:"id"`
	Author   string `json:"author"`
	Tie      string `json:"tie"`
	Evidence string `json:"evidence,omitempty"`
	Lines    int    `json:"lines"`
	Private  bool   `json:"private,omitempty"`
	Shared   bool   `json:"shared"`
	Verified bool   `json:"verified"`

	Signature string   `json:"-"` // see Hit.Signature
	Ledger    []string `json:"-"` // OIDs of the ledgers' commits that tie it
}

// NamedBy is an agent that the message of a commit names: the commit says so, and no session.
type NamedBy struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"`
	Line  string `json:"line"`

	Session string `json:"session,omitempty"` // the agent's own ID
}

// String is who is named, and by which words: "claude-code is named (Co-authored-by: Claude <noreply@anthropic.com>)".
func (n NamedBy) String() string { return n.Agent + " is named by the commit (" + n.Line + ")" }

// Checked is the answer of `git rekal check`.
type Checked struct {
	Schema   int            `json:"schema"`
	Range    string         `json:"range"`
	Rules    []string       `json:"rules"`
	Commits  int            `json:"commits"`
	Findings []CheckFinding `json:"findings"`
	Unseen   []CheckFinding `json:"unseen"`
}

// CheckFinding is what is wrong with a commit by a rule, or could not be seen.
type CheckFinding struct {
	Commit   string `json:"commit"`
	Subject  string `json:"subject"`
	Rule     string `json:"rule"`
	State    string `json:"state"` // missing, false, doubtful, refused or unseen
	Text     string `json:"text"`
	Evidence string `json:"evidence,omitempty"`
}
