package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// remix makes up sessions out of real ones: passages of a few turns from several sources, with
// some of the lines changed for others of the same source, in the tongue of the session. Number n
// of an author is the same at every size, so the smaller ledgers begin the larger ones.
type remix struct {
	sources []source
	lexicon *lexicon
	authors int
}

// perProject is how many sessions a project has, and active how many projects are worked on at a time.
const (
	perProject = 100
	active     = 3
)

func newRemix(sources []source, authors int) *remix {
	return &remix{sources: sources, lexicon: newLexicon(sources), authors: authors}
}

func email(author int) string {
	names := []string{"ada", "bo", "carla", "dmitri", "eve", "farid", "grace", "hiro"}
	if author < len(names) {
		return names[author] + "@example.com"
	}
	return fmt.Sprintf("%s%d@example.com", names[author%len(names)], author)
}

// began is when the first session did; an author has one in the spacing. 100,000 sessions take 23 years: nobody reads
// what a ledger dates in the future.
var began = time.Date(2002, 1, 7, 8, 0, 0, 0, time.UTC)

const spacing = 16 * time.Hour

// step is a commit of code, and the sessions or parts of sessions captured with it.
type step struct {
	email, subject string
	when           time.Time
	paths          []string // what the commit changed
	text           string   // of these files then
	sessions       []session.Session
}

// step is a session and the commit that came of it. Every sixth session goes on behind the
// commit; the rest of it comes with the next one.
func (r *remix) step(author, n int) step {
	m := r.session(author, n)
	out := step{
		email: email(author), subject: m.Title, when: m.LastTS().Add(time.Minute), paths: m.paths(),
		text: fmt.Sprintf("// %s\n// %s\n", m.Title, m.NativeID),
	}
	head, _ := m.cut()
	out.sessions = append(out.sessions, head)
	if n > 0 {
		if _, rest := r.session(author, n-1).cut(); len(rest.Turns) > 0 {
			out.sessions = append(out.sessions, rest)
		}
	}
	return out
}

// maker is the work on one session, which is there when it is done.
type maker struct {
	session.Session
	*remix
	*tongue
	rng    *rand.Rand
	edited []string
	goesOn bool
}

func (r *remix) session(author, n int) *maker {
	rng := rand.New(rand.NewPCG(uint64(author), uint64(n)))
	number := uint64(n*r.authors + author)
	project := number/(perProject*active)*active + rng.Uint64N(active)
	start := began.Add(time.Duration(n)*spacing +
		time.Duration(author)*spacing/time.Duration(r.authors+1)).Add(time.Duration(rng.IntN(1e6)) * time.Millisecond)
	var id [16]byte
	for i := range id {
		id[i] = byte(rng.Uint32())
	}
	native := fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	sum := sha256.Sum256([]byte(native))
	m := &maker{remix: r, tongue: newTongue(r.lexicon, 2*project, 2*number+1), rng: rng, Session: session.Session{
		Source: "claude-code", NativeID: native, ActorType: session.ActorHuman, Branch: "main", StartedAt: start,
		ID: session.NewID(start, "claude-code", native), Bytes: int64(20_000 + rng.IntN(400_000)),
		Hash: hex.EncodeToString(sum[:]),
	}}
	m.goesOn = rng.IntN(6) == 0
	m.talk(len(m.pick().Turns))
	return m
}

// cut divides a session that goes on behind its commit; the rest of another one has no turns.
func (m *maker) cut() (head, rest session.Session) {
	half := len(m.Turns) / 2
	if !m.goesOn || half == 0 {
		return m.Session, rest
	}
	head, rest = m.Session, m.WithoutFirstTurns(half)
	head.Turns, head.ToolCalls = m.Turns[:half], m.ToolCalls[:len(m.ToolCalls)-len(rest.ToolCalls)]
	head.Bytes /= 2
	return head, rest
}

func (m *maker) pick() source { return m.sources[m.rng.IntN(len(m.sources))] }

// talk puts passages of two to four sources one behind the other.
func (m *maker) talk(turns int) {
	topics := make([]source, 2+m.rng.IntN(3))
	for i := range topics {
		topics[i] = m.pick()
	}
	at := m.StartedAt
	for i := 0; len(m.Turns) < turns; i++ {
		from, first := topics[m.rng.IntN(len(topics))], 0
		if i == 0 {
			from = topics[0]
			m.Title = m.subject(from)
		} else {
			first = m.rng.IntN(len(from.Turns))
		}
		for n := first; n < min(first+2+m.rng.IntN(5), len(from.Turns)); n++ {
			m.turn(from, n, at)
			at = at.Add(time.Duration(500+m.rng.IntN(20_000)) * time.Millisecond)
		}
	}
}

// subject is also that of the commit.
func (m *maker) subject(from source) string {
	text := from.subject
	if text == "" {
		text, _, _ = strings.Cut(strings.TrimSpace(from.Turns[0].Content), "\n")
	}
	words := strings.Fields(m.say(text))
	if len(words) == 0 {
		return "wip"
	}
	return strings.Join(words[:min(len(words), 8)], " ")
}

func (m *maker) turn(from source, n int, at time.Time) {
	turn := len(m.Turns)
	m.Turns = append(m.Turns, session.Turn{
		Index: turn, Role: from.Turns[n].Role, TS: at,
		Content: m.say(m.lines(from, n)),
	})
	for _, c := range from.callsAt(n) {
		cmd := []rune(m.say(c.Cmd))
		c.Index, c.Turn, c.Path, c.Cmd = len(m.ToolCalls), turn, m.say(c.Path), string(cmd[:min(len(cmd), session.CmdPrefix)])
		m.ToolCalls = append(m.ToolCalls, c)
		if c.Act == session.ActEdit && session.IsPathInTree(c.Path) && !slices.Contains(m.edited, c.Path) {
			m.edited = append(m.edited, c.Path)
		}
	}
}

// lines is a turn of which every fourth line or so is another of the same source, or none.
func (m *maker) lines(from source, n int) string {
	lines := strings.Split(from.Turns[n].Content, "\n")
	if len(lines) < 3 {
		return from.Turns[n].Content
	}
	out := lines[:0]
	for _, line := range lines {
		switch m.rng.IntN(12) {
		case 0:
			continue
		case 1, 2:
			other := strings.Split(from.Turns[m.rng.IntN(len(from.Turns))].Content, "\n")
			line = other[m.rng.IntN(len(other))]
		}
		out = append(out, line)
	}
	if text := strings.Join(out, "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return from.Turns[n].Content
}

// plain is a path that fast-import takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// paths are of the files that the session edited, or of one of the project's.
func (m *maker) paths() (out []string) {
	if len(m.edited) == 0 {
		return []string{fmt.Sprintf("docs/notes%d.md", m.project)}
	}
	for _, p := range m.edited[:min(len(m.edited), 12)] {
		if p = path.Clean(p); plain.MatchString(p) && !strings.Contains("/"+p+"/", "/.git/") {
			out = append(out, p)
		}
	}
	return out
}
