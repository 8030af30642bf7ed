package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/history"
)

// remix makes up sessions out of real ones: passages of a few turns from several sources, with
// some of the lines changed for others of the same source, in the tongue of the session. Number n
// of an author is the same at every size, so the smaller ledgers begin the larger ones.
type remix struct {
	sources []source
	lexicon *lexicon
	authors int
}

// team is how many authors there are, perProject how many sessions a project has, and active
// how many projects are worked on at a time.
const (
	team       = 8
	perProject = 100
	active     = 3
)

func newRemix(sources []source) *remix {
	return &remix{sources: sources, lexicon: newLexicon(sources), authors: team}
}

// plan is a history of so many steps an author.
func (r *remix) plan(steps int) history.Plan {
	return history.Plan{Authors: r.authors, Steps: steps, Step: r.step}
}

func email(author int) string {
	return []string{"ada", "bo", "carla", "dmitri", "eve", "farid", "grace", "hiro"}[author] + "@example.com"
}

// began is when the first session did; an author has one in the spacing. 100,000 sessions take 23 years: nobody reads
// what a ledger dates in the future.
var began = time.Date(2002, 1, 7, 8, 0, 0, 0, time.UTC)

const spacing = 16 * time.Hour

// step is a session and the commit that came of it. Every sixth session goes on behind the
// commit; the rest of it comes with the next one.
func (r *remix) step(author, n int) history.Step {
	m := r.session(author, n)
	out := history.Step{Email: email(author), Subject: m.subject, Files: m.files}
	if head, rest := m.cut(); rest != nil {
		out.Sessions = append(out.Sessions, head)
	} else {
		out.Sessions = append(out.Sessions, m.session)
	}
	if n > 0 {
		if _, rest := r.session(author, n-1).cut(); rest != nil {
			out.Sessions = append(out.Sessions, *rest)
		}
	}
	out.When = m.session.LastTS().Add(time.Minute)
	return out
}

// made is a made-up session with the commit that comes of it.
type made struct {
	session session.Session
	subject string
	files   []history.File
	goesOn  bool
}

// cut divides a session that goes on behind its commit.
func (m made) cut() (head session.Session, rest *session.Session) {
	turns := m.session.Turns
	half := len(turns) / 2
	if !m.goesOn || half == 0 {
		return m.session, nil
	}
	head = m.session
	tail := m.session.WithoutFirstTurns(half)
	head.Turns = turns[:half]
	head.ToolCalls = m.session.ToolCalls[:len(m.session.ToolCalls)-len(tail.ToolCalls)]
	head.Bytes /= 2
	return head, &tail
}

// maker is the work on one session.
type maker struct {
	*remix
	*tongue
	rng    *rand.Rand
	made   made
	edited []string
	at     time.Time
}

func (r *remix) session(author, n int) made {
	rng := rand.New(rand.NewPCG(uint64(author), uint64(n)))
	number := uint64(n*r.authors + author)
	project := number/(perProject*active)*active + rng.Uint64N(active)
	start := began.Add(time.Duration(n)*spacing + time.Duration(author)*spacing/time.Duration(r.authors+1)).Add(time.Duration(rng.IntN(1e6)) * time.Millisecond)
	m := &maker{remix: r, tongue: newTongue(r.lexicon, 2*project, 2*number+1), rng: rng, at: start}
	var id [16]byte
	for i := range id {
		id[i] = byte(rng.Uint32())
	}
	m.made.session = history.Session(start, uuid(id), int64(20_000+rng.IntN(400_000)))
	m.made.goesOn = rng.IntN(6) == 0
	m.talk(len(m.pick().turns))
	m.commit()
	return m.made
}

func uuid(id [16]byte) string {
	x := hex.EncodeToString(id[:])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

func (m *maker) pick() *source { return &m.sources[m.rng.IntN(len(m.sources))] }

// talk puts passages of two to four sources one behind the other.
func (m *maker) talk(turns int) {
	topics := make([]*source, 2+m.rng.IntN(3))
	for i := range topics {
		topics[i] = m.pick()
	}
	for i := 0; len(m.made.session.Turns) < turns; i++ {
		from := topics[m.rng.IntN(len(topics))]
		if i == 0 {
			from = topics[0]
			m.subject(from)
		}
		first := 0
		if i > 0 {
			first = m.rng.IntN(len(from.turns))
		}
		for n := first; n < min(first+2+m.rng.IntN(5), len(from.turns)); n++ {
			m.turn(from, n)
		}
	}
}

func (m *maker) subject(from *source) {
	text := from.subject
	if text == "" {
		text, _, _ = strings.Cut(strings.TrimSpace(from.turns[0].Content), "\n")
	}
	words := strings.Fields(m.say(text))
	m.made.subject = strings.Join(words[:min(len(words), 8)], " ")
	if m.made.subject == "" {
		m.made.subject = "wip"
	}
	m.made.session.Title = m.made.subject
}

func (m *maker) turn(from *source, n int) {
	s := &m.made.session
	i := len(s.Turns)
	s.Turns = append(s.Turns, session.Turn{Index: i, Role: from.turns[n].Role, TS: m.at, Content: m.say(m.lines(from, n))})
	m.at = m.at.Add(time.Duration(500+m.rng.IntN(20_000)) * time.Millisecond)
	for _, c := range from.calls[n] {
		c.Index, c.Turn, c.Path, c.Cmd = len(s.ToolCalls), i, m.say(c.Path), cutCommand(m.say(c.Cmd))
		s.ToolCalls = append(s.ToolCalls, c)
		if c.Act == session.ActEdit && session.IsPathInTree(c.Path) && !slices.Contains(m.edited, c.Path) {
			m.edited = append(m.edited, c.Path)
		}
	}
}

func cutCommand(cmd string) string {
	if r := []rune(cmd); len(r) > session.CmdPrefix {
		return string(r[:session.CmdPrefix])
	}
	return cmd
}

// lines is a turn of which every fourth line or so is another of the same source, or none.
func (m *maker) lines(from *source, n int) string {
	lines := strings.Split(from.turns[n].Content, "\n")
	if len(lines) < 3 {
		return from.turns[n].Content
	}
	out := lines[:0]
	for _, line := range lines {
		switch m.rng.IntN(12) {
		case 0:
			continue
		case 1, 2:
			other := strings.Split(from.turns[m.rng.IntN(len(from.turns))].Content, "\n")
			line = other[m.rng.IntN(len(other))]
		}
		out = append(out, line)
	}
	if text := strings.Join(out, "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return from.turns[n].Content
}

// plain is a path that fast-import takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// commit changes the files that the session edited, or one of the project's.
func (m *maker) commit() {
	paths := m.edited
	if len(paths) == 0 {
		paths = []string{path.Join("docs", fmt.Sprintf("notes%d.md", m.project))}
	}
	for _, p := range paths[:min(len(paths), 12)] {
		if p = path.Clean(p); !plain.MatchString(p) || strings.Contains("/"+p+"/", "/.git/") {
			continue
		}
		m.made.files = append(m.made.files, history.File{Path: p, Text: fmt.Sprintf("// %s\n// %s\n", m.made.subject, m.made.session.NativeID)})
	}
}
