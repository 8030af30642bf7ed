package result

import (
	"fmt"
	"slices"
)

// Stats is the answer of `git rekal stats`: what requests to language models took, as the agents' transcripts count
// them.
type Stats struct {
	Schema int `json:"schema"`
	// what Results sum up: agent, author, branch, commit, day, folder, model, repository or session
	By    string   `json:"by"`
	Since string   `json:"since,omitempty"`
	Until string   `json:"until,omitempty"`
	Agent string   `json:"agent,omitempty"`
	Repos []string `json:"repos,omitempty"` // of an answer of several repositories: their paths

	Total     Tokens   `json:"total"`
	Uncounted int      `json:"uncounted,omitempty"` // sessions whose transcripts count nothing
	Results   []Tokens `json:"results"`             // the largest first; the latest days, in their order
	More      int      `json:"more,omitempty"`      // how many were left out, by -n
}

// Tokens is what some requests took, in tokens.
type Tokens struct {
	Key        string  `json:"key,omitempty"`   // a name, ID, OID or day; absent in a total, and for what belongs to none
	Repo       string  `json:"repo,omitempty"`  // as of a Hit, where the key means something there only
	Title      string  `json:"title,omitempty"` // of a session; of a commit its subject
	Sessions   int     `json:"sessions"`
	Requests   int     `json:"requests"`
	Input      int64   `json:"input"` // neither read from a cache nor written to one
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	Cost       float64 `json:"cost,omitempty"` // US dollars that agents recorded
	// by the settings rekal.price, in their currency; of models without one nothing is added
	Price float64 `json:"price,omitempty"`
}

// Add adds the tokens of other sessions.
func (t *Tokens) Add(o Tokens) {
	t.Sessions, t.Requests = t.Sessions+o.Sessions, t.Requests+o.Requests
	t.Input, t.Output = t.Input+o.Input, t.Output+o.Output
	t.CacheRead, t.CacheWrite = t.CacheRead+o.CacheRead, t.CacheWrite+o.CacheWrite
	t.Cost, t.Price = t.Cost+o.Cost, t.Price+o.Price
}

// Sum is how many tokens these are.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// String is what a person reads in passing: "114.9k in, 399.4k out, 397.0M from caches".
func (t Tokens) String() string {
	s := RoundTokens(t.Input+t.CacheWrite) + " in, " + RoundTokens(t.Output) + " out"
	if t.CacheRead > 0 {
		s += ", " + RoundTokens(t.CacheRead) + " from caches"
	}
	return s
}

// RoundTokens is a number of tokens in at most six columns.
func RoundTokens(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1fG", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// LineStats is the answer of `git rekal stats --lines`: who wrote lines, as `git rekal why` tells it of each.
type LineStats struct {
	Schema int    `json:"schema"`
	Of     string `json:"of,omitempty"` // the path or range that was asked for; absent for all files of HEAD

	Total   Lines   `json:"total"`
	Writers int     `json:"writers,omitempty"` // of files: sessions that are known to have written lines of any commit
	Results []Lines `json:"results"`           // the most lines first: files, folders (which end in "/") or commits
	More    int     `json:"more,omitempty"`    // how many were left out, by -n
}

// Lines counts lines in three parts: Wrote, which a session is known to have written; NoSession, behind which no
// session is known, so that a person may have written them; Unknown, behind which a session is that is not known to
// have written them.
type Lines struct {
	Key       string `json:"key,omitempty"` // a path, or the OID of a commit; absent in a total
	Title     string `json:"title,omitempty"`
	Lines     int    `json:"lines"`
	Wrote     int    `json:"wrote"`
	NoSession int    `json:"no_session"`
	Named     int    `json:"named,omitempty"` // of NoSession those whose commit names an agent
	Unknown   int    `json:"unknown"`
	Sessions  int    `json:"sessions"` // that wrote any of them
}

// Survival is the answer of `git rekal stats --survival`: what became of lines that sessions wrote.
type Survival struct {
	Schema int    `json:"schema"`
	By     string `json:"by"` // what Results sum up: agent, author, folder, model or month
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
	Agent  string `json:"agent,omitempty"`

	Head    string `json:"head,omitempty"` // whose history it is; absent where there is no commit
	Commits int    `json:"commits"`        // of it that were looked into: those since the first session
	Cut     bool   `json:"cut,omitempty"`  // more could not be looked into
	Edited  int    `json:"edited"`         // sessions whose edits are known in this clone: Written is theirs
	Whole   int    `json:"whole,omitempty"`

	Total   Surviving   `json:"total"`
	Results []Surviving `json:"results"`        // the most lines first; the latest months, in their order
	More    int         `json:"more,omitempty"` // how many were left out, by -n
}

// Surviving counts lines: those that edits of this clone wrote, and those that are known to be a session's in the
// history of HEAD.
type Surviving struct {
	Key      string `json:"key,omitempty"` // a name, a folder or a month ("2026-11"); absent in a total, and for what belongs to none
	Sessions int    `json:"sessions"`      // that wrote any of them
	Written  int    `json:"written"`       // without Waiting
	Replaced int    `json:"replaced"`      // of Written: a later edit took them out before a commit had them
	Reached  int    `json:"reached"`       // of Written: a commit has them
	Waiting  int    `json:"waiting,omitempty"`
	Brought  int    `json:"brought"` // into the history of HEAD
	Live     int    `json:"live"`    // of Brought: HEAD has them
	Lost     int    `json:"lost,omitempty"`
	Ages     []Age  `json:"ages"`
}

// Age says how many lines live after some days, of those that could.
type Age struct {
	Days  int `json:"days"`
	Lines int `json:"lines"` // that are known for so long
	Live  int `json:"live"`
}

// WorkStats is the answer of `git rekal stats --sessions`: how much was worked in sessions, of all people together,
// without tokens.
type WorkStats struct {
	Schema int    `json:"schema"`
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
	Agent  string `json:"agent,omitempty"`

	Sessions  int `json:"sessions"`
	Turns     int `json:"turns"`
	ToolCalls int `json:"tool_calls"`
	Commits   int `json:"commits"`   // whose lines or files are a session's
	Committed int `json:"committed"` // sessions with such a commit

	Minutes    Spread `json:"minutes"` // from the first turn of a session to its last
	PerCommit  Spread `json:"sessions_per_commit"`
	PerSession Spread `json:"commits_per_session"` // of sessions with a commit

	Days     []Day  `json:"days"`     // on which sessions began, in order
	Together []Pair `json:"together"` // files that the commits of the same sessions changed, most often first
}

// Spread is the distribution of some numbers.
type Spread struct {
	Median int `json:"median"`
	Ninth  int `json:"p90"` // nine of ten are at most this
	Most   int `json:"most"`
}

// SpreadOf is the distribution of n, which it sorts.
func SpreadOf(n []int) Spread {
	if len(n) == 0 {
		return Spread{}
	}
	slices.Sort(n)
	return Spread{n[(len(n)-1)/2], n[(len(n)*9-1)/10], n[len(n)-1]}
}

// Day is how many sessions began on one.
type Day struct {
	Day      string `json:"day"` // "2026-03-04", where the reader is
	Sessions int    `json:"sessions"`
}

// Pair is two files, and how many sessions changed both.
type Pair struct {
	A        string `json:"a"`
	B        string `json:"b"`
	Sessions int    `json:"sessions"`
}
