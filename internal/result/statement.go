package result

// The types of a Statement, as in-toto names them. The predicate is described in docs/json.md; a change of it gets
// another version.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/git-rekal/git-rekal/commits/v1"
)

// Statement is an in-toto Statement v1 on commits: who helped with them, and by what that is known. Two clones with the
// same ledgers make the same.
type Statement struct {
	Type          string             `json:"_type"`
	Subject       []StatementSubject `json:"subject"`
	PredicateType string             `json:"predicateType"`
	Predicate     Predicate          `json:"predicate"`
}

// StatementSubject is a commit.
type StatementSubject struct {
	Name   string          `json:"name"`
	Digest StatementDigest `json:"digest"`
}

// StatementDigest is the digest of a commit.
type StatementDigest struct {
	GitCommit string `json:"gitCommit"`
}

// Predicate is what is said of the commits.
type Predicate struct {
	Range    string             `json:"range"` // of OIDs
	Commits  []StatementCommit  `json:"commits"`
	Sessions []StatementSession `json:"sessions"`
	Ledgers  []StatementPart    `json:"ledgers"` // that say so, as they stood: their tips
}

// StatementCommit is a commit of the range, the oldest first.
type StatementCommit struct {
	Commit  string            `json:"commit"`
	Merge   bool              `json:"merge,omitempty"`
	Lines   *int              `json:"lines,omitempty"`
	Unknown *int              `json:"unknown,omitempty"`
	Helpers []StatementHelper `json:"helpers"`
	Unseen  string            `json:"unseen,omitempty"`
}

// StatementHelper is an agent with a model.
type StatementHelper struct {
	Agent    string         `json:"agent"`
	Model    string         `json:"model,omitempty"`
	Lines    int            `json:"lines"`
	Sessions []StatementTie `json:"sessions"`
}

// StatementTie is how a session helped.
type StatementTie struct {
	ID       string   `json:"id"`
	Tie      string   `json:"tie"`
	Evidence string   `json:"evidence,omitempty"`
	Lines    int      `json:"lines"`
	Ledger   []string `json:"ledger"` // OIDs of the ledgers' commits that say so
}

// StatementSession is a session of a helper.
type StatementSession struct {
	ID        string          `json:"id"`
	Agent     string          `json:"agent"`
	Author    string          `json:"author"`
	Signature string          `json:"signature,omitempty"` // verified, signed, unsigned or bad
	Parts     []StatementPart `json:"parts"`
}

// StatementPart is a commit of a ledger: its OID is a digest of all that it holds, and of what was before it.
type StatementPart struct {
	Ledger string `json:"ledger"` // address
	Commit string `json:"commit"`
}
