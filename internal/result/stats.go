package result

import "fmt"

// Stats is the answer of `git rekal stats`: what requests to language models took, as the agents' transcripts count them.
type Stats struct {
	Schema int    `json:"schema"`
	By     string `json:"by"` // what Results sum up: agent, author, branch, commit, day, folder, model or session
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
	Agent  string `json:"agent,omitempty"`

	Total     Tokens   `json:"total"`
	Uncounted int      `json:"uncounted,omitempty"` // sessions whose transcripts count nothing
	Results   []Tokens `json:"results"`             // the largest first; the latest days, in their order
	More      int      `json:"more,omitempty"`      // how many were left out, by -n
}

// Tokens is what some requests took, in tokens.
type Tokens struct {
	Key        string  `json:"key,omitempty"`   // a name, ID, OID or day; absent in a total, and for what belongs to none
	Title      string  `json:"title,omitempty"` // of a session; of a commit its subject
	Sessions   int     `json:"sessions"`
	Requests   int     `json:"requests"`
	Input      int64   `json:"input"` // neither read from a cache nor written to one
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	Cost       float64 `json:"cost,omitempty"`  // US dollars that agents recorded
	Price      float64 `json:"price,omitempty"` // by the settings rekal.price, in their currency; of models without one nothing is added
}

// Sum is how many tokens these are.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// String is what a person reads in passing: "114.9k in, 399.4k out, 397.0M from caches".
func (t Tokens) String() string {
	s := Rounded(t.Input+t.CacheWrite) + " in, " + Rounded(t.Output) + " out"
	if t.CacheRead > 0 {
		s += ", " + Rounded(t.CacheRead) + " from caches"
	}
	return s
}

// Rounded is a number of tokens in at most six columns.
func Rounded(n int64) string {
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
