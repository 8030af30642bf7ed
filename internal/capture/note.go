package capture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
)

// A note is an entry of the ledger that somebody makes on purpose, without a transcript: a memory, or
// marks that purge or restore.
//
// To search, a memory is a session of one turn. A note is written with the capture's state of the ledgers, its clock
// and its compare-and-swap, and no transcript. The state knows a sum of each memory, so a text that is there is not
// stored again, not even by several agents at once.

// Note is a memory to be saved.
type Note struct {
	Title   string // one line; "": the text that it rejects, else the content's first one
	Content string
	Source  string // who or what it is from: "manual"

	Supersedes, Rejects string // as of session.Memory
}

// What a note may hold.
const (
	MaxContent = 64 << 10 // bytes
	MaxTitle   = session.MaxTitle
	MaxSource  = 100 // bytes
	firstLine  = 80  // characters of a title that is the content's first line
)

// NoteError is a note that can't be saved because of what it says.
type NoteError struct{ reason string }

func (e *NoteError) Error() string { return "save: " + e.reason }

// normalised is the note as it is stored, before redaction.
func (n Note) normalised() (Note, error) {
	given := len(n.Content) // space at the ends counts: a reader that stops behind so much has cut nothing off unnoticed
	isText := !strings.Contains(n.Content, "\x00")
	n.Rejects = oneLine(n.Rejects)
	n.Content, n.Title, n.Source = strings.TrimSpace(session.PlainText(n.Content)), oneLine(n.Title), oneLine(n.Source)
	reason := ""
	switch {
	case given > MaxContent:
		reason = fmt.Sprintf("the text has more than %d bytes: save what matters of it", MaxContent)
	case n.Content == "":
		reason = "the text is empty"
	case !isText:
		reason = "the text holds NUL: it is no text"
	case utf8.RuneCountInString(n.Title) > MaxTitle:
		reason = fmt.Sprintf("the title has %d characters, of at most %d", utf8.RuneCountInString(n.Title), MaxTitle)
	case utf8.RuneCountInString(n.Rejects) > MaxTitle:
		reason = fmt.Sprintf("what is rejected has %d characters, of at most %d", utf8.RuneCountInString(n.Rejects), MaxTitle)
	case len(n.Source) > MaxSource:
		reason = fmt.Sprintf("the source has %d bytes, of at most %d", len(n.Source), MaxSource)
	default:
		return n, nil
	}
	return n, &NoteError{reason}
}

func oneLine(s string) string { return session.OneLine(session.PlainText(s)) }

// Saved is a memory as the ledger holds it.
type Saved struct {
	session.Memory
	Existing bool           // the ledger held it already; nothing was stored
	Redacted map[string]int // replaced places, by rule
}

// Save appends a memory to the ledger. If the author has a memory that says the same and is
// not purged, Save returns that.
func (c *Capturer) Save(ctx context.Context, n Note) (Saved, error) {
	n, err := n.normalised()
	if err != nil {
		return Saved{}, err
	}
	out, err := c.redactNote(ctx, n)
	if err != nil {
		return Saved{}, fmt.Errorf("save: %w", err)
	}
	err = c.appendNote(ctx, func(st *state, now time.Time) *session.Entry {
		if id := st.findSameMemory(out.Memory); id != "" {
			out.ID, out.Existing = id, true
			return nil
		}
		out.ID = session.NewMemoryID(now, strings.ToLower(c.Email), out.Title, out.Content)
		out.TS, out.ActorType = now, c.actor()
		e := &session.Entry{
			Memories: []session.Memory{out.Memory},
			Subject:  "memory: " + session.Truncate(out.Title, firstLine),
		}
		if hasLaterKeys(out.Memory) {
			e.Needs = versionWithTies
		}
		return e
	})
	return out, err
}

// redactNote is a note as the ledger will hold it, with a title. A missing title is cut from the redacted content, so
// that it can't be the beginning of a secret. Then all is redacted again until nothing changes: in a cut text a rule
// may find what it did not find before, and Save must compare and return what is stored.
func (c *Capturer) redactNote(ctx context.Context, n Note) (Saved, error) {
	out := Saved{Memory: session.Memory{
		Title: n.Title, Content: n.Content, Source: n.Source, Supersedes: n.Supersedes, Rejects: n.Rejects,
	}, Redacted: map[string]int{}}
	for range maxAttempts {
		clean, report, err := c.Redactor.Apply(ctx, session.Entry{Memories: []session.Memory{out.Memory}})
		if err != nil {
			return Saved{}, err
		}
		m := clean.Entry().Memories[0]
		// The title of a session is not copied: a scrub would miss it here, and a private one is not sent.
		if text := m.RejectedText(); m.Title == "" && text != "" {
			m.Title = session.RejectedTitle(text)
		}
		if m.Title == "" {
			first, _, _ := strings.Cut(m.Content, "\n")
			m.Title = session.Truncate(session.OneLine(first), firstLine)
		}
		addCounts(&out.Redacted, report.Rules)
		if m == out.Memory { // after three times: redaction leaves alone what it has made
			break
		}
		out.Memory = m
	}
	return out, nil
}

// actor is who saves something.
func (c *Capturer) actor() string {
	if c.CI {
		return cmp.Or(c.Actor, session.ActorAgent)
	}
	return cmp.Or(c.Actor, session.ActorHuman)
}

// Purge appends marks that hide sessions or memories, and Restore marks that show them again. Both set
// TS, and raise N above all marks of the same ID in the ledgers of this machine, so that the new
// mark decides.
func (c *Capturer) Purge(ctx context.Context, marks []session.Mark) error {
	return c.appendMarks(ctx, "purge", marks, func(e *session.Entry) *[]session.Mark { return &e.Purges })
}

// Restore is described at Purge.
func (c *Capturer) Restore(ctx context.Context, marks []session.Mark) error {
	return c.appendMarks(ctx, "restore", marks, func(e *session.Entry) *[]session.Mark { return &e.Restores })
}

func (c *Capturer) appendMarks(ctx context.Context, action string, marks []session.Mark,
	in func(*session.Entry) *[]session.Mark,
) error {
	if len(marks) == 0 {
		return nil
	}
	return c.appendNote(ctx, func(st *state, now time.Time) *session.Entry {
		e := &session.Entry{Subject: action + " " + marks[0].ID}
		if more := len(marks) - 1; more > 0 {
			e.Subject += fmt.Sprintf(" and %d more", more)
		}
		for _, m := range marks {
			_, n := st.Marks[m.ID].Outcome()
			m.N, m.TS = min(max(m.N, n+1), session.MaxMark), now
			*in(e) = append(*in(e), m)
		}
		return e
	})
}

// appendNote appends the entry that draft makes, given what the ledgers hold; nil appends nothing.
func (c *Capturer) appendNote(ctx context.Context, draft func(*state, time.Time) *session.Entry) error {
	return c.retryWhenOvertaken(func() error {
		g, err := c.beginRound(ctx, newSharedByRounds(Round{}), c.MaxBehind)
		if err != nil {
			return err
		}
		e := draft(g.st, g.now)
		if err := g.checkWritable(); err != nil || e == nil {
			return err
		}
		return g.store(ctx, []session.Entry{*e})
	})
}

// memoryKey is a hash of what a memory says.
func memoryKey(m session.Memory) string {
	text := fmt.Appendf(nil, "%d %s%s", len(m.Title), m.Title, m.Content)
	if m.Supersedes != "" || m.Rejects != "" { // no content holds NUL
		text = fmt.Appendf(text, "\x00%s\x00%s", m.Supersedes, m.Rejects)
	}
	sum := sha256.Sum256(text)
	return string(sum[:16])
}

// findSameMemory is the ID of a memory with the same title and content that is not purged; "" for none.
func (st *state) findSameMemory(m session.Memory) string {
	for _, id := range st.Memories[memoryKey(m)] {
		if purged, _ := st.Marks[id].Outcome(); !purged {
			return id
		}
	}
	return ""
}

// applyNotes adds the memories and marks of an entry.
func (st *state) applyNotes(e session.Entry) {
	for _, m := range e.Memories {
		key := memoryKey(m)
		st.Memories[key] = insertSorted(st.Memories[key], m.ID)
		if m.At > 0 {
			st.Memories[noteKey(m)] = insertSorted(st.Memories[noteKey(m)], m.ID)
		}
	}
	for i, m := range slices.Concat(e.Purges, e.Restores) {
		t := st.Marks[m.ID]
		t.Add(m.N, i < len(e.Purges))
		st.Marks[m.ID] = t
	}
}
