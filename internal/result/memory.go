package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Memory is the answer of `git rekal save`, and of `git rekal query --session ID` for a memory.
type Memory struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"id"`
	Kind       string    `json:"kind"` // "memory"
	Title      string    `json:"title,omitempty"`
	Content    string    `json:"content,omitempty"` // not of save
	Author     string    `json:"author"`
	Signature  string    `json:"signature,omitempty"` // as of a Hit; not of save
	Actor      string    `json:"actor"`
	Source     string    `json:"source,omitempty"`
	CapturedAt string    `json:"captured_at"`
	Existing   bool      `json:"existing,omitempty"`  // of save: it was there, and nothing was stored
	Note       *FileNote `json:"note,omitempty"`      // of what an agent noted in a file
	Freshness  string    `json:"freshness,omitempty"` // of that: whether what it names is still there
	Private    bool      `json:"private,omitempty"`   // as of a Hit; of `git rekal memory list` alone

	States
}

// States is what memories say of one another, and of sessions.
type States struct {
	Rejects      string `json:"rejects,omitempty"`       // of a memory: the text or ID of what was tried and dropped
	RejectsTitle string `json:"rejects_title,omitempty"` // of what has that ID
	Supersedes   []Said `json:"supersedes,omitempty"`    // the memories in whose place it stands, the latest first
	SupersededBy []Said `json:"superseded_by,omitempty"` // the memories that say to stand in its place
	RejectedBy   []Said `json:"rejected_by,omitempty"`   // the memories that say it was dropped
	Differs      []Said `json:"differs,omitempty"`       // memories with another value of the same file, symbol or setting
}

// Said is what a memory says, in one line.
type Said struct {
	ID     string `json:"id"`
	Author string `json:"author"`
	At     string `json:"at"`
	Text   string `json:"text"` // its title, or the words that differ
}

// Rejected is what was dropped, as people call it; "" for nothing.
func (s States) Rejected() string { return cmp.Or(s.RejectsTitle, s.Rejects) }

// Lines are the states as people and agents read them, each on one line. Short is how an ID is shown;
// what is shown beside them, as a title, is not said again.
func (s States) Lines(short func(id string) string, shown string) (out []string) {
	add := func(what string, all []Said) {
		for _, one := range all {
			out = append(out, fmt.Sprintf("%s %.10s, %s: %s", what, one.At, short(one.ID), one.Text))
		}
	}
	if what := s.Rejected(); what != "" && !strings.Contains(shown, session.RejectedTitle(what)) {
		out = append(out, "rejects: "+what)
	}
	add("supersedes", s.Supersedes)
	add("superseded", s.SupersededBy)
	add("rejected", s.RejectedBy)
	add("differs from", s.Differs)
	return out
}

// Notes is the answer of `git rekal memory list`.
type Notes struct {
	Schema int      `json:"schema"`
	Notes  []Memory `json:"notes"` // without their texts
}

// NoteProblem is something wrong with a note: see NoteCheck.
type NoteProblem struct {
	Kind    string     `json:"kind"`  // gone, contradiction, superseded or conflict
	Where   string     `json:"where"` // a file, of the tree or an agent's
	Heading string     `json:"heading,omitempty"`
	ID      string     `json:"id,omitempty"`     // of the memory, where the ledger alone has it
	Author  string     `json:"author,omitempty"` // of that
	Thing   *NoteThing `json:"thing,omitempty"`  // gone
	Other   string     `json:"other,omitempty"`  // what contradicts it, or came later
}

// NoteCheck is the answer of `git rekal memory check`.
type NoteCheck struct {
	Schema   int           `json:"schema"`
	Sections int           `json:"sections"` // that were looked at
	Problems []NoteProblem `json:"problems"`
	More     int           `json:"more,omitempty"` // contradictions that are not told

	TimedOut bool `json:"timed_out,omitempty"` // before all was looked for
}

// NotePull is the answer of `git rekal memory pull`.
type NotePull struct {
	Schema int        `json:"schema"`
	DryRun bool       `json:"dry_run,omitempty"`
	Files  []PullFile `json:"files"` // that change
}

// HasConflict reports whether something in a file is, or would be, to be resolved.
func (n NotePull) HasConflict() bool {
	return slices.ContainsFunc(n.Files, func(f PullFile) bool { return f.Conflicts > 0 })
}

// PullFile is a file of notes that a pull writes, or would.
type PullFile struct {
	Agent      string   `json:"agent"`
	Path       string   `json:"path"`
	New        bool     `json:"new,omitempty"`
	Sections   []string `json:"sections,omitempty"`    // headings that were taken
	Removed    []string `json:"removed,omitempty"`     // headings that are gone
	InConflict []string `json:"in_conflict,omitempty"` // headings with conflicts
	Conflicts  int      `json:"conflicts,omitempty"`   // to be resolved in it
	Left       []string `json:"left,omitempty"`        // headings that stay as they are, with the reason
	From       string   `json:"from,omitempty"`        // whose notes came as a quoted section
}

// FileNote says of a memory that an agent noted in a file where it stands, who wrote it, and what of it holds no more.
type FileNote struct {
	Agent   string      `json:"agent"`
	File    string      `json:"file"` // below the agent's folder
	Heading string      `json:"heading,omitempty"`
	Writer  string      `json:"written_by,omitempty"` // what "git rekal show" opens: ID:TURN of the session that wrote the file last before
	Commit  string      `json:"commit,omitempty"`     // HEAD of then, abbreviated
	Gone    []NoteThing `json:"gone,omitempty"`       // what it names, and HEAD has no more
	Changed []NoteThing `json:"changed,omitempty"`    // files that it names, and that changed since

	Unchecked bool `json:"-"` // nobody had the time to look
}

// Remarks say to a person where a note stands, and what of it holds no more; none of nil.
func (n *FileNote) Remarks() (out []string) {
	if n == nil {
		return nil
	}
	where := "noted by " + n.Agent + " in " + n.File
	if n.Writer != "" {
		where += ", session " + n.Writer
	}
	if n.Commit != "" {
		where += ", at " + n.Commit
	}
	out = append(out, where)
	if len(n.Gone) > 0 {
		out = append(out, "gone since: "+thingNames(n.Gone))
	}
	if len(n.Changed) > 0 {
		out = append(out, "changed since: "+thingNames(n.Changed))
	}
	return out
}

// thingNames are the first few things, with what took them away.
func thingNames(all []NoteThing) string {
	const most = 5
	var out []string
	for i, t := range all {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}

func (t NoteThing) String() string {
	name := t.Name
	if t.In != "" {
		name += " of " + t.In
	}
	switch {
	case t.Now != "":
		name += " (now " + t.Now + ")"
	case t.Commit != "":
		name += " (" + t.Commit + ")"
	}
	return name
}

// NoteThing is what a note names.
type NoteThing struct {
	Kind   string `json:"kind"` // file, symbol, command or setting
	Name   string `json:"name"`
	In     string `json:"in,omitempty"`     // of a symbol: the file that the note names beside it
	Commit string `json:"commit,omitempty"` // that took it away, abbreviated
	When   string `json:"when,omitempty"`   // of that
	Now    string `json:"now,omitempty"`    // of a file: its name today
}
