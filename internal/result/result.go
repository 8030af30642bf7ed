// Package result holds every JSON shape that leaves the process. docs/json.md is the contract: fields are only ever
// added. All printers (the command line, the MCP server) share these shapes, so the package imports nothing of the
// project.
//
// Empty optional fields are left out. Times are UTC, RFC 3339, to the second.
package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Schema is the version of the shapes below.
const Schema = 1

// Recall is the answer of `git rekal [filters] [query]`.
type Recall struct {
	Schema  int     `json:"schema"`
	Query   string  `json:"query,omitempty"`
	Filters Filters `json:"filters,omitzero"`
	AsOf    *AsOf   `json:"as_of,omitempty"` // with --checkpoint
	Why     *Why    `json:"why,omitempty"`   // of git rekal why
	When    *When   `json:"when,omitempty"`  // where a time was asked for
	// Latest where the question names no topic; else what answers best comes first
	Order   string   `json:"order,omitempty"`
	Unknown []string `json:"unknown,omitempty"` // words of Query that stand nowhere
	Repos   []string `json:"repos,omitempty"`   // of an answer of several repositories: their paths
	Total   int      `json:"total"`             // how many match, before -n
	Results []Hit    `json:"results"`

	More []Mention `json:"more,omitempty"` // what matches besides, in the same order
	// with --commit, of a merge: how many commits it brought, whose sessions these are
	Merged int `json:"merged,omitempty"`
	// with --commit: how many sessions only talked meanwhile, which stand behind nothing
	Talked int `json:"talked,omitempty"`
}

// MaxMore is how many matches an answer mentions at most behind its results: of 225,000 turns, 1,500 sessions hold
// "test error", and their titles are 160 KB.
const MaxMore = 20

// Mention is a session or memory of which only the title is shown.
type Mention struct {
	ID    string  `json:"id"`
	Repo  string  `json:"repo,omitempty"`  // as of a Hit
	Score float64 `json:"score,omitempty"` // as of a Hit
	Title string  `json:"title,omitempty"`
}

// Filters repeats the filters of a recall.
type Filters struct {
	File       string   `json:"file,omitempty"`
	Commit     string   `json:"commit,omitempty"`
	Checkpoint string   `json:"checkpoint,omitempty"`
	Author     string   `json:"author,omitempty"`
	Actor      string   `json:"actor,omitempty"`
	Agent      string   `json:"agent,omitempty"`
	Path       []string `json:"path,omitempty"`
	Since      string   `json:"since,omitempty"`
	Until      string   `json:"until,omitempty"`
	Verified   bool     `json:"verified,omitempty"`
	Undone     bool     `json:"undone,omitempty"`

	Kind string `json:"kind,omitempty"` // session, memory or record

	FileAsPath bool `json:"file_as_path,omitempty"` // File matches nothing as an expression, and was taken as a pathspec

	// Files are those of which one was touched by each result; none where they were asked for and no result
	// had.
	Files []string `json:"files,omitempty"`
}

// Latest is the Order of an answer to a question that names no topic.
const Latest = "latest"

// When is the time that was asked for: Since ≤ t < Until. An open side is left out.
type When struct {
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	Read    string `json:"read,omitempty"`    // the words of the question that say so
	Dropped bool   `json:"dropped,omitempty"` // nothing of then answers: this is the answer without it

	Preferred bool `json:"preferred,omitempty"` // what took place then comes first, and the rest is not left out
}

// AsOf is the past state that was asked.
type AsOf struct {
	Checkpoint string `json:"checkpoint,omitempty"` // OID of the commit of one's own ledger; absent before the first
	Until      string `json:"until,omitempty"`      // of the others' ledgers counts what was there by then
}

// Why says which lines `git rekal why` was asked about, and which of them no session explains.
type Why struct {
	Text        string   `json:"text,omitempty"` // the line, where one is asked about
	Path        string   `json:"path"`           // from the repository's root
	From        int      `json:"from"`           // the first line, from 1 on
	To          int      `json:"to"`             // the last line
	Uncommitted []Range  `json:"uncommitted,omitempty"`
	Unexplained []Source `json:"unexplained,omitempty"` // commits with the lines behind which no session is known
	Brought     []Source `json:"-"`                     // which commit brought which lines
}

// Range is some lines: the first and the last one.
type Range = [2]int

// Source is a commit that brought lines.
type Source struct {
	Origin
	Ranges []Range `json:"ranges"`
	Cut    bool    `json:"cut,omitempty"` // it or one before it: a shallow clone ends there
	Notes  []Note  `json:"notes,omitempty"`

	Named []NamedBy `json:"named,omitempty"` // agents that the message names
}

// Note is what another tool noted of lines: nobody has checked it.
type Note struct {
	In           string  `json:"in"` // where: a ref of notes, or a file
	Ranges       []Range `json:"ranges"`
	By           string  `json:"by"` // who brought them: "ai", "human" or "mixed"
	Tool         string  `json:"tool,omitempty"`
	Model        string  `json:"model,omitempty"`
	Person       string  `json:"person,omitempty"`
	Conversation string  `json:"conversation,omitempty"` // the tool's ID of it, or an address
}

// String says who brought the lines, on one line.
func (n Note) String() string {
	who := n.Tool
	switch {
	case n.By == "human":
		who = "a person"
	case who == "":
		who = "an agent"
	}
	if n.Model != "" {
		who += " (" + n.Model + ")"
	}
	if n.Person != "" {
		who += ", " + n.Person
	}
	return Printable(who) + ", as " + Printable(n.In) + " says"
}

// Explains says which lines a session explains.
type Explains struct {
	Lines  int     `json:"lines"`            // how many
	Ranges []Range `json:"ranges,omitempty"` // of the file that why is asked about
	// of them those that it wrote, compared line by line; of the others the rules of ties say it
	Exact   []Range  `json:"exact,omitempty"`
	Shared  []Range  `json:"shared,omitempty"`  // of them those that one of several sessions brought: which is not known
	Commits []string `json:"commits,omitempty"` // that brought them, abbreviated, the one with the most lines first
	// what the session's first prompt is for, where the hit's turn is another one
	Purpose string   `json:"purpose,omitempty"`
	Origins []Origin `json:"origins,omitempty"` // the first of Commits, with what they say
}

// Reverted is a commit that a later one took back.
type Reverted struct {
	Commit string `json:"commit"`
	By     string `json:"by"`
	Reason string `json:"reason,omitempty"` // as the message of By says it, on one line
}

// String says it on one line.
func (r Reverted) String() string {
	out := r.Commit + " was reverted by " + r.By
	if r.Reason != "" {
		out += ": " + r.Reason
	}
	return out
}

// Origin is a commit that brought lines, or came of a turn.
type Origin struct {
	Commit  string `json:"commit"` // abbreviated
	Subject string `json:"subject,omitempty"`
	TS      string `json:"ts,omitempty"` // of its author
	Merge   bool   `json:"merge,omitempty"`
}

// Asked is a person's prompt.
type Asked struct {
	ID   string `json:"id"` // of the session
	Turn int    `json:"turn"`
	Text string `json:"text"`
}

// Exchange is what was asked and what was answered; either may be empty.
type Exchange struct{ Asked, Answered string }

// Hit is one session or memory that was found.
type Hit struct {
	ID        string   `json:"id"`
	Repo      string   `json:"repo,omitempty"`      // of an answer of several repositories: the path of its own
	Kind      string   `json:"kind"`                // "session", "memory" or "record"
	Score     float64  `json:"score,omitempty"`     // higher is better; comparable within one answer
	Matched   []string `json:"matched,omitempty"`   // content, title, files, command, terms, ngram, semantic
	Weak      bool     `json:"weak,omitempty"`      // little speaks for it, and nothing answers better
	Undone    bool     `json:"undone,omitempty"`    // a person took back the turn that was found
	Freshness string   `json:"freshness,omitempty"` // Fresh, …: whether its files still are as it left them
	// how --commit, or the commits of the lines, are tied to it: wrote, edited, made, named or inferred
	Tie      string `json:"tie,omitempty"`
	Evidence string `json:"evidence,omitempty"` // of the tie
	Inferred bool   `json:"inferred,omitempty"` // the tie is inferred
	Title    string `json:"title,omitempty"`
	// of a list: how many other automated sessions begin so, and are not listed
	Alike     int     `json:"alike,omitempty"`
	Snippet   string  `json:"snippet,omitempty"` // at most about 240 characters, on one line
	Turn      *int    `json:"turn,omitempty"`    // index of the best turn; what query --offset takes
	Role      string  `json:"role,omitempty"`    // of that turn: human or assistant
	TurnAt    string  `json:"turn_at,omitempty"` // of that turn: when it was said
	Address   string  `json:"address,omitempty"` // what "git rekal show" opens: ID, with a turn ID:TURN
	LedTo     *Origin `json:"led_to,omitempty"`  // of a question: the commit that came of that turn
	Author    string  `json:"author,omitempty"`
	Signature string  `json:"signature,omitempty"` // verified, signed, unsigned or bad, where any ledger is signed
	Actor     string  `json:"actor,omitempty"`
	Source    string  `json:"source,omitempty"`
	session.Facts
	Branch     string `json:"branch,omitempty"`
	StartedAt  string `json:"-"`                      // of a session: when it began, which people are shown
	LastTurnAt string `json:"last_turn_at,omitempty"` // of a session: when it took place
	CapturedAt string `json:"captured_at"`            // maybe long after
	// code commits, abbreviated: those that are here, then the others, the latest first
	Commits    []string `json:"commits,omitempty"`
	Missing    []string `json:"missing,omitempty"` // those of Commits that are not in this clone
	Checkpoint string   `json:"checkpoint,omitempty"`

	Reverted []Reverted `json:"reverted,omitempty"` // those of its commits that a later one took back

	States

	Turns      *int     `json:"turns,omitempty"`      // of a session
	ToolCalls  *int     `json:"tool_calls,omitempty"` // of a session
	Files      []string `json:"files,omitempty"`      // the first few that it changed
	FilesTotal int      `json:"files_total,omitempty"`
	// of a session, for people: files of the passage that changed since, or are gone
	Stale   []File `json:"-"`
	Purged  bool   `json:"purged,omitempty"`  // only where purged ones were asked for
	Private bool   `json:"private,omitempty"` // it is never sent, or the rest of it is not
	Sent    int    `json:"sent,omitempty"`    // turns of a private session that a remote is known to have

	// Of a record, whose snippet is what mattered of the output:
	Session     string `json:"session,omitempty"`     // in which an agent ran the command; with Turn and Source
	Instruction string `json:"instruction,omitempty"` // what its reader looked for
	Command     string `json:"command,omitempty"`
	Exit        *int   `json:"exit,omitempty"` // its status; absent where nobody said

	Note *FileNote `json:"note,omitempty"` // of a memory that an agent noted in a file

	Explains *Explains `json:"explains,omitempty"` // of git rekal why; of --commit only how many lines
	Asked    *Asked    `json:"asked,omitempty"`    // of a subagent in git rekal why: what a person asked
	Through  []Mention `json:"through,omitempty"`  // and the sessions through which that came, from this one on
}

// Address is a place that "git rekal show" opens: a session, memory or record, with a turn that turn of it.
func Address(id string, turn *int) string {
	if turn == nil {
		return id
	}
	return fmt.Sprintf("%s:%d", id, *turn)
}

// Import is what `git rekal import` took over from one source.
type Import struct {
	Schema      int            `json:"schema"`
	From        string         `json:"from"`             // "entire", "specstory" or "file"
	Transcripts int            `json:"transcripts"`      // how many were found
	Sessions    int            `json:"sessions"`         // that have something new
	Turns       int            `json:"turns"`            // new ones
	ToolCalls   int            `json:"tool_calls"`       // new ones
	Commits     int            `json:"commits"`          // to which sessions were tied
	Agents      map[string]int `json:"agents,omitempty"` // of the sessions
	Redacted    map[string]int `json:"redacted,omitempty"`
	Skipped     int            `json:"skipped,omitempty"`   // lines that can't be read
	Failed      int            `json:"failed,omitempty"`    // transcripts that can't be read
	Others      int            `json:"others,omitempty"`    // sessions of other people
	Unread      int            `json:"unread,omitempty"`    // sessions of agents that are not read
	Elsewhere   int            `json:"elsewhere,omitempty"` // sessions made in another repository
}

// How far the files of a session are what its commits left: the worst of them.
const (
	Fresh        = "fresh"
	StaleChanged = "stale_changed"
	StaleDeleted = "stale_deleted"
	Unverifiable = "unverifiable" // it changed no files
	Unknown      = "unknown"      // nothing says what it left
)

// Preview is the answer of `git rekal checkpoint --dry-run --json`.
type Preview struct {
	Schema   int              `json:"schema"`
	Sessions int              `json:"sessions"`
	Turns    int              `json:"turns"`
	Tools    int              `json:"tool_calls"`
	Files    int              `json:"files"`             // of code commits, that checkpoints would list
	Links    int              `json:"links,omitempty"`   // sessions tied to a commit without new turns
	Bytes    int              `json:"bytes"`             // of what would be stored, before git compresses it
	Skipped  int              `json:"skipped,omitempty"` // transcript lines that can't be read
	Records  int              `json:"records,omitempty"` // of what commands printed: in this clone, and never shared
	Store    []PreviewSession `json:"store"`
	Redacted map[string]int   `json:"redacted"` // places, by rule
	Findings []Finding        `json:"findings"`
	Notes    []PreviewNote    `json:"notes,omitempty"` // all that agents noted in files
}

// PreviewNote is a section of notes that the ledger holds, or would.
type PreviewNote struct {
	Source  string `json:"source"`
	Private bool   `json:"private,omitempty"` // as of a Hit
	New     bool   `json:"new,omitempty"`
}

// PreviewSession is what is new of a session.
type PreviewSession struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Title  string `json:"title,omitempty"`
	Goes   bool   `json:"continues,omitempty"` // the ledger holds its beginning
	Turns  int    `json:"turns"`
	Tools  int    `json:"tool_calls"`

	Private bool `json:"private,omitempty"` // as of a Hit
}

// Finding is a place that redaction takes out, or would: it never holds what stood there.
type Finding struct {
	Rule    string `json:"rule"`
	Trigger string `json:"trigger,omitempty"` // what made the rule look: a name, a prefix, "remembered", "known value"
	Session string `json:"session,omitempty"`
	In      string `json:"in"`             // turn, title, command, path, branch, file, subject or memory
	Turn    *int   `json:"turn,omitempty"` // the turn, or the one before the tool call; -1: before the first
	Around  string `json:"around"`         // the redacted text around it, on one line
	Value   string `json:"-"`              // what stood there; for a person's terminal alone

	// With doctor:
	Author string `json:"author,omitempty"` // whose ledger holds it
	Commit string `json:"commit,omitempty"` // of that ledger
	Scrub  string `json:"scrub,omitempty"`  // what "git rekal scrub" takes, in one's own ledger
}

// Brief is the answer of `git rekal brief`.
type Brief struct {
	Schema int         `json:"schema"`
	Branch string      `json:"branch,omitempty"` // that is checked out
	Lines  []BriefLine `json:"lines"`            // what fits into the budget, the strongest first
	Tokens int         `json:"tokens"`           // of the text, as an estimate
}

// BriefLine is one session, memory or record that is worth a line.
type BriefLine struct {
	About      string   `json:"about"`        // branch, changed, memory, failed, new, prompt, same or lines
	Of         string   `json:"of,omitempty"` // the branch, file, lines or time that About speaks of
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`             // session, memory or record
	Author     string   `json:"author,omitempty"` // a record is this clone's own
	At         string   `json:"at"`               // when it took place
	Source     string   `json:"source,omitempty"`
	Title      string   `json:"title,omitempty"` // of a memory its text, of a record its command; at most 120 characters
	Files      []string `json:"files,omitempty"` // the first that it changed
	FilesTotal int      `json:"files_total,omitempty"`
	Freshness  string   `json:"freshness,omitempty"` // where it was looked at
}

// Doctor is the answer of `git rekal doctor --json`.
type Doctor struct {
	Schema  int       `json:"schema"`
	OK      bool      `json:"ok"` // nothing is wrong
	Checks  []Check   `json:"checks"`
	Leaks   []Finding `json:"leaks"` // what ledgers hold and today's rules redact
	More    int       `json:"more_leaks,omitempty"`
	Scanned Scanned   `json:"scanned"`
}

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, note or wrong
	Says   string `json:"says"`
	Fix    string `json:"fix,omitempty"` // what mends it, mostly a command
}

// Scanned says how much of ledgers was read.
type Scanned struct {
	Ledgers  int   `json:"ledgers"`
	Segments int   `json:"segments"`
	Bytes    int64 `json:"bytes"`
}

// Version is the answer of `git rekal version --json`.
type Version struct {
	Version string `json:"version"`
	Libgit2 string `json:"libgit2"`
	DuckDB  string `json:"duckdb,omitempty"` // not known without git-rekal-full
	Ledger  int    `json:"ledger_format"`
	Go      string `json:"go"`
}

// Write prints a value as one line of JSON. Characters of HTML stand for themselves, and what is
// not shown by itself is escaped.
func Write(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeEscaped(w, b.Bytes())
}

// Time is a time as results show it; "" for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// FormatTime formats a time of a result in a zone and layout. A text that is no time is returned as it is.
func FormatTime(stamp string, zone *time.Location, layout string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return t.In(zone).Format(layout)
}

// ShortOID abbreviates an OID as git does.
func ShortOID(oid string) string { return oid[:min(len(oid), 7)] }

// WriteRow prints one row of a user's own SQL as a JSON object on one line, its columns in
// their order.
func WriteRow(w io.Writer, columns []string, values []any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, c := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(c); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
		b.WriteByte(':')
		if err := enc.Encode(cell(values[i])); err != nil {
			return fmt.Errorf("column %q: %w", c, err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("}\n")
	return writeEscaped(w, b.Bytes())
}

// cell turns a database value into one that JSON has.
func cell(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.999Z07:00")
	case float32:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = cell(v[i])
		}
		return list
	case nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64, []byte:
		return v
	}
	if _, err := json.Marshal(v); err != nil {
		return fmt.Sprint(v)
	}
	return v
}
