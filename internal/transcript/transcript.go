// Package transcript finds the transcripts of coding agents that may concern a repository, and decodes them into
// sessions.
//
// Each agent implements [Agent]. Locate is cheap (directory listings, stat) and names files. Decode gets the bytes of
// one file from any record boundary on, and answers with what they add: turns, tool calls, a title. The caller owns the
// rest: changed files, cursor, session IDs, redaction, known turns. A transcript that does not grow by lines
// ([File.ReadWhole]: a document, a database, a compressed file) is opened by its agent ([Opener]), which gives lines,
// too. These are read from the start each time.
//
// No format read here is a public contract. A malformed, too long or unknown line is counted in [Document.Skipped] and
// costs that line only. Only a failing reader or a cancelled context is an error. [MaxLine] and what is kept bound the
// memory, not the file's size.
//
// A record belongs to the repository whose worktree its agent works in at that moment, and an edit also to that of the
// file. Decode keeps the parts of this one, and puts a turn session.Elsewhere for a part of another.
//
// Decode never needs earlier bytes to be correct. A boundary between two reads has these effects: a failure reported in
// the later read does not mark its tool call; a record copied from the earlier read is given again; title and first
// prompt are those of this read (see [TitleKind]). A decoder whose results do not say what was edited ends before an
// edit without a result, which the next read sees whole.
//
// Text is handed on whole and unredacted. The package writes nothing, reads no clock or environment, and follows no
// chain of parents.
package transcript

import (
	"context"
	"io"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MaxLine is how many bytes of one record are read: 16 MiB. The longest record in 60
// real transcripts has 416 KB; one of 50 MB would be an image or a file pasted whole.
const MaxLine = 16 << 20

// maxCmd bounds the command of one tool call, in bytes. It is generous, because
// redaction must see a secret whole before the command is cut to session.CmdPrefix.
const maxCmd = 64 << 10

// maxName bounds what name makes, in bytes.
const maxName = 256

// Env is what locating needs, handed in.
type Env struct {
	Home   string              // the user's home folder
	Getenv func(string) string // the environment; nil is an empty one
	Roots  []string            // absolute roots of every worktree of the repository
	Search int64               // how many bytes of transcripts to search at most, the latest first; 0: all
	// LocateState is Found.LocateState of the last call of the same agent; nil when there was none.
	LocateState []byte
	// the clock: what was changed just now may be changed once more in the same instant; zero: no telling
	Now time.Time
}

func (e Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// File is one transcript on disk.
type File struct {
	Path     string
	NativeID string    // the session's ID as the file's name tells it; a subagent's: its agent ID
	AgentID  string    // the agent's ID of a subagent, else empty
	Parent   string    // native ID of the session whose folder holds a subagent's file, if any
	Meta     string    // path of the file that describes a subagent, if the layout has one
	Size     int64     // bytes; of what is no file any number that changes with ModTime or alone when it does
	ModTime  time.Time // as the file system tells it; of what is no file, when it last changed
	Cwd      string    // the folder in which its session works, where its records don't say so
	// ReadWhole says that the transcript does not grow by lines at its end, so that each read begins at its start: a
	// document that is written anew, rows of a database, a compressed file. Its agent is an Opener. Path then need not be
	// a file's: it names the transcript, and lies below the file that holds it.
	ReadWhole bool
	// Rendered says that another program made it of a transcript, in other words and with other times: it counts only
	// where nothing else tells of the session.
	Rendered bool
	// Timeless says that the records have no times: then the file's time is that of all turns of a read.
	Timeless bool
}

// Found is what Locate found.
type Found struct {
	Files       []File  // sessions before subagents, each sorted by path
	LocateState []byte  // what the agent wants to be told in the next call, to look at nothing twice
	Unreadable  []error // one for each folder or file that could not be read; the rest was
}

// Options says how to read one file.
type Options struct {
	File         File
	Roots        []string  // as Env.Roots
	Inside       bool      // an earlier read of this file has already entered the repository
	HasElsewhere bool      // an earlier read of this file has left a part out, which was made in another repository
	Last         time.Time // time of the last turn known from this file; stands in for a missing timestamp
	// OtherRepos are roots of other repositories, as earlier reads saw them: what was said there stays theirs when
	// they are gone. It is only read.
	OtherRepos map[string]bool
	// NameRepo is the name by which the mark of what was left out may name another repository, by the root of its
	// worktree; "" for none. It may be called from several goroutines. Nil names none.
	NameRepo func(root string) string
	// Head is the first record of the file, where the read begins behind it: what it says of the session as a whole (its
	// folder, its agent's version) stands nowhere else. Nil where the read begins at the start.
	Head []byte
	// Spawner is the agent ID of the subagent that spawned this one, as [FindSpawner] tells
	// it; empty when the session itself did.
	Spawner string
	// Outputs asks for what commands printed: Part.Outputs. A read then ends before a command whose result is not there
	// yet.
	Outputs bool
}

// Agent is one coding agent's way of keeping transcripts. Implementations hold no
// state and may be used from several goroutines.
//
// What Decode promises of a transcript that grows, read in pieces that end anywhere, each behind the Document.Bytes of
// the one before:
//
//   - Together the pieces give what one read gives, each turn, call and edit once (the compliance suite holds every
//     agent to it). No state goes from read to read but the offset, whether the session was here, and the time of its
//     last turn.
//   - A read takes back: it ends before what only a later record decides, and gives nothing from there on. So it ends
//     before a call whose result is not there where the result says what was edited, or what was printed if outputs are
//     asked for; before a script whose calls are told behind it; before a text that is told in pieces until something
//     else is told; before a prompt that a later record may repeat.
//   - What is awaited so does not wait for ever: the next prompt, or the end of the turn, ends it without a result
//     (stopWaiting).
//   - An end that stays undecided (a queued prompt, a session that has not said where it is, a part in another
//     repository, a model of which nothing follows) moves the read back only if nothing behind it was given: then it
//     would be given twice.
//   - A record that is torn, too long, or of a kind that nobody here knows costs itself alone, and is counted. A torn
//     last line waits.
//
// Who speaks in which kind of record says a table of each agent (records, in speaker.go); how its program writes in a
// person's place says session.TypedByPerson.
type Agent interface {
	// Name is the session.Session.Source of its sessions: "claude-code".
	Name() string
	// Locate lists the files that may hold sessions of the repository; Decode decides.
	// The error is the context's.
	Locate(ctx context.Context, env Env) (Found, error)
	// Decode reads r to its end. It fails only when r or the context does; then the
	// Document is the zero value.
	Decode(ctx context.Context, r io.Reader, opt Options) (Document, error)
}

// Opener is an Agent some of whose transcripts are File.ReadWhole.
type Opener interface {
	// Open gives all that such a transcript holds now, as lines that Decode reads with the same options. The same content
	// gives the same bytes: their hash tells whether it changed.
	Open(ctx context.Context, opt Options) (io.ReadCloser, error)
}

// Agents are all the agents that can be read, in the order in which they are asked.
func Agents() []Agent {
	return []Agent{
		ClaudeCode{},
		Codex{},
		Copilot{},
		Gemini{},
		OpenCode{},
		Cursor{},
		Kilo{},
		Pi{},
		Qwen{},
		Droid{},
		Cline{},
		Continue{},
		Kimi{},
		Grok{},
		Antigravity{},
	}
}

// TitleKind says where a title comes from. A kind replaces a lower one, and itself
// when it is newer; but a TitlePrompt or TitleCommand is of the first prompt of one read, so it
// counts only for a session of which nothing was known.
type TitleKind int

// The kinds of title, the weakest first.
const (
	TitleNone    TitleKind = iota // there is no title
	TitleCommand                  // the slash command with which it begins, which asks by its name alone
	TitlePrompt                   // the beginning of the first prompt of this read
	TitleSummary                  // a summary written for a record of this read
	TitleAgent                    // a title that the agent made
	TitleUser                     // a title that the user gave
)

// Part is what one read tells of one session. In the embedded Session: ID, Parent,
// ForkedFrom, Hash and Bytes are empty; Turn.Index, ToolCall.Index and ToolCall.Turn
// count from 0 within the read (a Turn of -1 is the last one before it); Cmd is whole.
type Part struct {
	session.Session
	ParentNative string    // native ID of the session that spawned it; empty at the top
	ForkNative   string    // native ID of the session that it goes on from, where its copy of that one is left out
	OriginNative string    // native ID of the session of which it begins with a copy, where a record says so
	TitleKind    TitleKind // of Session.Title
	Agent        string    // which agent it is, in which version, as far as the read tells: "claude-code/2.1.39"
	Ended        int       // how many calls of this read have a result; one that names several files is one
	Called       int       // how many calls there are, counted so
	Running      bool      // the last of these has no result
	Outputs      []Output  // in the order of the results, where Options asks for them; of agents that say so
	// that its commands made, as git says in their output; of calls of this read, and of earlier ones whose result stands
	// in it
	Commits []Commit
	Edits   []Edit // in their order; of calls of this read, and of earlier ones whose result stands in it
}

// Document is what one read of a transcript yields.
type Document struct {
	Sessions []Part // in the order in which they appear; only those inside the repository
	// Bytes is how much of the reader is done with: whole records only. A last line
	// without a newline counts when it is a whole record. It stays before a record whose
	// meaning a later one decides (a queued prompt not yet delivered, a turn before the
	// first record that says where it was made), if nothing behind it would be read twice, and
	// before a part in another repository that nothing made in this one follows yet.
	Bytes      int64
	Records    int // lines that are not blank
	Skipped    Counts
	OtherRepos []string // roots of other repositories in which something was said; some may stand there twice
	// by native ID of its sessions: the folder in which the agent works, as this read names it first
	Dirs map[string]string
	// the folders in which sessions were begun of which nothing was made in this repository
	ElsewhereDirs []string
}

// Counts is what one read left out and did not expect.
type Counts struct {
	Malformed int            // not a JSON object, or nested too deep
	Oversized int            // above MaxLine
	Empty     int            // a message without role or content
	Duplicate int            // a record with the ID of an earlier one
	Unknown   map[string]int // by type; at most 64 types
}

// unknown counts a record of a type that this package does not know.
func (c *Counts) unknown(kind string) {
	if c.Unknown == nil {
		c.Unknown = make(map[string]int)
	}
	kind = truncate(kind, 64)
	if _, ok := c.Unknown[kind]; ok || len(c.Unknown) < 64 {
		c.Unknown[kind]++
	}
}
