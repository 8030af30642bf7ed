package recall_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	alice = "alice@example.com"
	bob   = "Bob@Example.com"
)

func at(minutes int) time.Time {
	return time.Date(2026, 3, 4, 10, minutes, 0, 0, time.UTC)
}

// place is a real repository with code commits and ledgers.
type place struct {
	*harness.Place
	dir   string
	repo  *git.Repo
	names map[string]string // session ID → native ID
	index *db.DB
	clock int // minutes, of git's commits
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Place: harness.New(t), names: map[string]string{}}
	p.dir = p.At("repo")
	p.Init(p.dir)
	p.reopen()
	return p
}

func (p *place) reopen() {
	p.T.Helper()
	repo, err := git.Open(p.T.Context(), p.dir, p.env())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(repo.Close)
	p.repo = repo
}

func (p *place) env() []string {
	return append(p.Environ(),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL="+alice, "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL="+alice,
		fmt.Sprintf("GIT_AUTHOR_DATE=%d +0000", at(p.clock).Unix()),
		fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", at(p.clock).Unix()))
}

func (p *place) git(args ...string) string {
	p.T.Helper()
	return strings.TrimSpace(p.With(p.env()...).Git(p.dir, args...))
}

// code makes a code commit and returns its OID.
func (p *place) code(subject string) string {
	p.T.Helper()
	p.git("commit", "-q", "--allow-empty", "-m", subject)
	return p.git("rev-parse", "HEAD")
}

// append writes one entry to an author's ledger.
func (p *place) append(email string, minutes int, e session.Entry) {
	p.T.Helper()
	l, err := ledger.OpenOwn(p.repo, git.Signature{Name: "S", Email: email, When: at(minutes)},
		rand.NewChaCha8([32]byte{byte(minutes), byte(minutes >> 8)}))
	if err != nil {
		p.T.Fatal(err)
	}
	tip, err := l.Tip()
	if err != nil {
		p.T.Fatal(err)
	}
	if e.Checkpoint != nil {
		e.Checkpoint.TS, e.Checkpoint.UserEmail = at(minutes), email
		e.Checkpoint.ActorType = session.ActorHuman
		e.Checkpoint.Via = cmp.Or(e.Checkpoint.Via, session.ViaCommit)
		e.Checkpoint.GitBranch = cmp.Or(e.Checkpoint.GitBranch, "main")
		linkMakers(&e)
	}
	clean, _, err := harness.Redactor().Apply(p.T.Context(), e)
	if err == nil {
		_, err = l.Append(p.T.Context(), tip, []ledger.Record{{Entry: clean, TS: at(minutes)}})
	}
	if err != nil {
		p.T.Fatal(err)
	}
	for _, s := range e.Sessions {
		p.names[s.ID] = s.NativeID
	}
}

// open brings the tables up to the ledgers and opens them.
func (p *place) open() {
	p.T.Helper()
	m := &materialize.Materializer{
		// later than whatever is dated here
		Repo: p.repo, Dir: filepath.Join(p.dir, ".git/rekal"), Now: func() time.Time { return at(60 * 24 * 60) },
		Warn: func(err error) { p.T.Errorf("warned: %v", err) },
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		p.T.Fatal(err)
	}
	index, err := m.Open(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() {
		if err := index.Close(); err != nil {
			p.T.Error(err)
		}
	})
	p.index = index.DB
}

// chat makes a session; each line begins with human, assistant, or a tool.
func chat(native string, minutes int, lines ...string) session.Session {
	s := session.Session{
		Source: "claude-code", NativeID: native, ActorType: session.ActorHuman, Branch: "main",
		Title: "about " + native, StartedAt: at(minutes), Hash: strings.Repeat("ab", 32), Bytes: 1,
	}
	s.ID = session.NewID(s.StartedAt, s.Source, native)
	for i, line := range lines {
		who, text, _ := strings.Cut(line, " ")
		switch who {
		case session.RoleHuman, session.RoleAssistant:
			ts := s.StartedAt.Add(time.Duration(i) * time.Second)
			s.Turns = append(s.Turns, session.Turn{Index: len(s.Turns), Role: who, TS: ts, Content: text})
		case "Bash":
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{
				Index: len(s.ToolCalls), Turn: len(s.Turns) - 1, Tool: who,
				Cmd: text,
			})
		default:
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{
				Index: len(s.ToolCalls), Turn: len(s.Turns) - 1, Tool: who,
				Path: text,
			})
		}
	}
	return s
}

// linkMakers has the sessions that edited no file of the commit make it in their shell.
func linkMakers(e *session.Entry) {
	for _, s := range e.Sessions {
		linked := slices.ContainsFunc(e.Checkpoint.Links, func(l session.Link) bool { return l.Session == s.ID })
		edits := slices.ContainsFunc(s.ToolCalls, func(c session.ToolCall) bool {
			return slices.ContainsFunc(e.Checkpoint.Files, func(f session.File) bool {
				return c.Tool != "Read" && c.Path != "" && (f.Path == c.Path || f.OldPath == c.Path)
			})
		})
		if !linked && !edits && e.Checkpoint.Via == session.ViaCommit {
			e.Checkpoint.Links = append(e.Checkpoint.Links, session.Link{Session: s.ID, Tie: session.TieMade, Evidence: "shell"})
		}
	}
}

func checkpoint(sha string, files ...string) *session.Checkpoint {
	cp := &session.Checkpoint{GitSHA: sha}
	for _, f := range files {
		cp.Files = append(cp.Files, session.File{Path: f, Change: "M", Blob: strings.Repeat("f", 40)})
	}
	return cp
}

func (p *place) recall(req recall.Request) result.Recall {
	p.T.Helper()
	out, err := recall.Recall(p.T.Context(), p.index, p.repo, req)
	if err != nil {
		p.T.Fatal(err)
	}
	return out
}

// found names the sessions of an answer.
func (p *place) found(out result.Recall) string {
	var names []string
	for _, h := range out.Results {
		names = append(names, p.names[h.ID])
	}
	return strings.Join(names, " ")
}

// gone is a commit that no repository holds, was one that it was before.
const (
	gone = "c0ffee0000000000000000000000000000000001"
	was  = "badcab1e00000000000000000000000000000002"
	once = "feedbeef00000000000000000000000000000003"
)

// team is what the filters are tried on: jwt edited, docs read, ui changed by a shell
// command, robot an agent's of Bob's.
func team(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	first, second := p.code("first"), p.code("second")
	jwt := chat("jwt", 0, "human why does the token expire early", "Edit src/auth/jwt.go",
		"assistant the clock is local time")
	docs := chat("docs", 1, "human where is the token documented", "Read docs/token.md", "assistant in the docs")
	p.append(alice, 10, session.Entry{
		Checkpoint: checkpoint(first, "src/auth/jwt.go"),
		Sessions:   []session.Session{jwt, docs},
	})
	ui := chat("ui", 11, "human make the button blue", "Bash sed -i s/red/blue/ ui/button.css", "assistant done")
	p.append(alice, 20, session.Entry{Checkpoint: checkpoint(second, "ui/button.css"), Sessions: []session.Session{ui}})
	robot := chat("robot", 21, "human rotate the token key", "Write src/auth/key.go", "assistant rotated")
	robot.ActorType, robot.AgentID = session.ActorAgent, "a7"
	p.append(bob, 29, session.Entry{Checkpoint: checkpoint(once)})
	p.append(bob, 30, session.Entry{Checkpoint: checkpoint(gone, "src/auth/key.go"), Sessions: []session.Session{robot}})
	p.append(bob, 31, session.Entry{Rewrites: []session.Rewrite{
		{Old: once, New: was, TS: at(31)},
		{Old: was, New: gone, TS: at(31)},
	}})
	p.append(alice, 32, session.Entry{Rewrites: []session.Rewrite{{
		Old: second, New: strings.Repeat("9", 40),
		TS: at(32),
	}}})
	p.open()
	return p
}

func TestFilters(t *testing.T) {
	p := team(t)
	for _, c := range []struct {
		name string
		req  recall.Request
		want string // the latest first
	}{
		{"none", recall.Request{}, "robot ui docs jwt"},
		{"file: own edits, not the neighbour's", recall.Request{File: `jwt\.go$`}, "jwt"},
		{"file: what was read", recall.Request{File: "^docs/"}, "docs"},
		{"file: what a commit changed", recall.Request{File: "button"}, "ui"},
		{"file: a pattern for several", recall.Request{File: "src/(auth|x)/.*"}, "robot jwt"},
		{"file: case counts", recall.Request{File: "JWT"}, ""},
		{"file: case does not count", recall.Request{File: "(?i)JWT"}, "jwt"},
		{"file: quotes", recall.Request{File: "it's"}, ""},
		{"commit: HEAD", recall.Request{Commit: "HEAD"}, "ui"},
		{"commit: HEAD~1", recall.Request{Commit: "HEAD~1"}, "jwt docs"},
		{"commit: a branch", recall.Request{Commit: "main"}, "ui"},
		{"commit: an abbreviation", recall.Request{Commit: p.git("rev-parse", "--short", "HEAD")}, "ui"},
		{"commit: one that is gone", recall.Request{Commit: gone}, "robot"},
		{"commit: a prefix of one that is gone", recall.Request{Commit: "C0FFEE"}, "robot"},
		{"commit: what it was before", recall.Request{Commit: was}, "robot"},
		{"commit: two steps before, as a prefix", recall.Request{Commit: "feedbeef"}, "robot"},
		{"commit: what it became", recall.Request{Commit: strings.Repeat("9", 40)}, "ui"},
		{"author", recall.Request{Author: alice}, "ui docs jwt"},
		{"author: in any case", recall.Request{Author: "bOB@example.COM"}, "robot"},
		{"author: a part of the address", recall.Request{Author: "BOB@"}, "robot"},
		{"author: nobody", recall.Request{Author: "bobby"}, ""},
		{"actor: human", recall.Request{Actor: "human"}, "ui docs jwt"},
		{"actor: agent", recall.Request{Actor: "agent"}, "robot"},
		{"file and author", recall.Request{File: "auth", Author: alice}, "jwt"},
		{"commit and file", recall.Request{Commit: "HEAD~1", File: "docs"}, "docs"},
		{"commit and actor that exclude each other", recall.Request{Commit: "HEAD", Actor: "agent"}, ""},
		{"all of them", recall.Request{Commit: was, File: "key", Author: bob, Actor: "agent"}, "robot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := p.recall(c.req)
			harness.Equal(t, "found", c.want, p.found(out))
			harness.Equal(t, "total", len(strings.Fields(c.want)), out.Total)
			harness.Equal(t, "filters", result.Filters{
				File: c.req.File, Commit: c.req.Commit, Author: c.req.Author,
				Actor: c.req.Actor,
			}, out.Filters)
		})
	}
}

func TestQueryWithFilters(t *testing.T) {
	p := team(t)
	all := p.recall(recall.Request{Query: "token"})
	if got := strings.Fields(p.found(all)); len(got) != 3 || all.Total != 3 {
		t.Errorf("found %q, total %d, want jwt, docs and robot", got, all.Total)
	}
	for _, h := range all.Results {
		if h.Score <= 0 || len(h.Matched) == 0 || h.Turn == nil || h.Role == "" || h.Snippet == "" {
			t.Errorf("%s lacks something: %+v", p.names[h.ID], h)
		}
	}
	harness.Equal(t, "with a filter", "robot", p.found(p.recall(recall.Request{Query: "token", Actor: "agent"})))
	harness.Equal(t, "that excludes all", "", p.found(p.recall(recall.Request{Query: "button", Actor: "agent"})))
	limited := p.recall(recall.Request{Query: "token", Limit: 1})
	harness.Equal(t, "total before the limit", 3, limited.Total)
	harness.Equal(t, "the best one", all.Results[:1], limited.Results)
	harness.Equal(t, "a limit above the total", all.Results, p.recall(recall.Request{Query: "token", Limit: 9}).Results)
	harness.Equal(t, "again", all, p.recall(recall.Request{Query: "token"}))
}

func TestLatestFirst(t *testing.T) {
	p := team(t)
	out := p.recall(recall.Request{Limit: 2})
	harness.Equal(t, "the latest", "robot ui", p.found(out))
	harness.Equal(t, "total", 4, out.Total)
	for _, h := range out.Results {
		if h.Score != 0 || h.Matched != nil || h.Turn == nil || *h.Turn != 0 || h.Snippet == "" {
			t.Errorf("%s: %+v", p.names[h.ID], h)
		}
	}
}

func TestEmptyAnswers(t *testing.T) {
	p := newPlace(t)
	p.append(alice, 1, session.Entry{})
	p.open()
	for name, req := range map[string]recall.Request{
		"nothing asked": {}, "a query": {Query: "token"},
		"a filter": {File: "x"}, "no words": {Query: "?!"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := result.Write(&b, p.recall(req)); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(b.String(), `"total":0,"results":[]}`+"\n") {
				t.Errorf("answer %s", b.String())
			}
		})
	}
	log, err := recall.Log(t.Context(), p.index, p.repo, recall.LogRequest{Limit: 9})
	if err != nil || log == nil || len(log) != 0 {
		t.Errorf("log %v, %v, want an empty list", log, err)
	}
}

func TestUsageErrors(t *testing.T) {
	p := team(t)
	for _, c := range []struct {
		name, names string
		req         recall.Request
	}{
		{"a pattern that is none", `file "a(b"`, recall.Request{File: "a(b"}},
		{"a pattern that RE2 has not", `file "(?=a)"`, recall.Request{File: "(?=a)"}},
		{"no such revision", `commit "nowhere"`, recall.Request{Commit: "nowhere"}},
		{"before the first commit", `commit "HEAD~99"`, recall.Request{Commit: "HEAD~99"}},
		{"too short for a SHA", `commit "abc"`, recall.Request{Commit: "abc"}},
		{"neither actor", `actor "robot"`, recall.Request{Actor: "robot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := recall.Recall(t.Context(), p.index, p.repo, c.req)
			var usage *name.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want a UsageError that holds %s", err, c.names)
			}
		})
	}
	_, err := p.session(recall.Page{ID: "01K"})
	var usage *name.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `"01K"`) {
		t.Errorf("a short ID: %v", err)
	}
}

// What Go's RE2 takes, the engine's must take, too, and find the same.
func TestLongPatternsOfBothEngines(t *testing.T) {
	p := team(t)
	for _, pattern := range []string{
		`(?P<dir>auth)/jwt`, `(?<dir>auth)/jwt`, `\Qjwt.go\E`, `\pL+/jwt`, `[[:alpha:]]+/jwt`, `a{0,1000}jwt`, `(?s:.)jwt`,
		`\x{6a}wt`, `nothing|jwt`, `(?i)AUTH/J`, `(?i:JW)t`, `^src/auth/j`, `jwt\.go$`, `\bjwt\b`, `(?m)^src/.*jwt`,
		`[^\d]wt`, `(?U)s.*jwt`,
	} {
		t.Run(pattern, func(t *testing.T) {
			harness.Equal(t, "found", "jwt", p.found(p.recall(recall.Request{File: pattern})))
		})
	}
	harness.Equal(t, "what matches nothing", "", p.found(p.recall(recall.Request{File: `[^\x00-\x{10FFFF}]`})))
}

// TestNamedCommit checks that the SHA of a commit in a question finds the sessions behind it, also
// after it became another one, and lifts them among others.
func TestNamedCommit(t *testing.T) {
	p := team(t)
	head := p.git("rev-parse", "HEAD")
	for _, c := range []struct{ name, query, want string }{
		{"whole", head, "ui"},
		{"abbreviated", "why " + head[:8] + "?", "ui"},
		{"one that is gone", "c0ffee0", "robot"},
		{"what it was before", was, "robot"},
		{"of nobody", "0123456789", ""},
		{"too short", head[:6], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := p.recall(recall.Request{Query: c.query})
			harness.Equal(t, "found", c.want, p.found(out))
			for _, h := range out.Results {
				harness.Equal(t, "matched", []string{"terms"}, h.Matched)
			}
		})
	}
	first := p.recall(recall.Request{Query: "token " + strings.ToUpper(gone)})
	harness.Equal(t, "the best", "robot", strings.Fields(p.found(first))[0])
	harness.Equal(t, "outside the filter", "", p.found(p.recall(recall.Request{Query: gone, Actor: "human"})))
}

// TestSnippetOfCalls checks that a path or a command which answers better than any turn is what is
// shown.
func TestSnippetOfCalls(t *testing.T) {
	p := team(t)
	for _, c := range []struct{ query, want, snippet string }{
		{"jwt.go", "jwt", "src/auth/jwt.go"},
		{"button.css sed", "ui", "sed -i s/red/blue/ ui/button.css"},
	} {
		out := p.recall(recall.Request{Query: c.query})
		if p.found(out) != c.want || out.Results[0].Snippet != c.snippet || out.Results[0].Turn != nil {
			t.Errorf("%q gives %+v, want %s and %q", c.query, out.Results, c.want, c.snippet)
		}
	}
}

// TestSnippetOfMisspelt checks that the passage shown is that of the word which was meant.
func TestSnippetOfMisspelt(t *testing.T) {
	p := newPlace(t)
	long := strings.Repeat("padding of many words ", 30)
	p.append(alice, 10, session.Entry{Checkpoint: checkpoint(p.code("one")), Sessions: []session.Session{
		chat("one", 0, "human "+long+"the bracket is lost "+long),
	}})
	p.open()
	out := p.recall(recall.Request{Query: "brakcet"})
	if len(out.Results) != 1 || !strings.Contains(out.Results[0].Snippet, "the bracket is lost") {
		t.Errorf("%+v, want the passage with the bracket", out.Results)
	}
}

// TestWeak checks that where nothing is strong, one weak result comes and says so, with the titles of the next ones;
// and with a limit, or without an end, all of these are results.
func TestWeak(t *testing.T) {
	p := team(t)
	const query = "which kubernetes annotations of the ingress need a token"
	for _, tt := range []struct {
		req           recall.Request
		results, more int
	}{
		{recall.Request{Query: query, Brief: true}, 1, 2},
		{recall.Request{Query: query, Brief: true, Limit: 2}, 2, 0},
		{recall.Request{Query: query}, 3, 0},
	} {
		out := p.recall(tt.req)
		if len(out.Results) != tt.results || len(out.More) != tt.more || out.Total != 3 ||
			slices.ContainsFunc(out.Results, func(h result.Hit) bool { return !h.Weak }) {
			t.Errorf("%+v: %+v, want %d weak results, and %d more", tt.req, out, tt.results, tt.more)
		}
	}
	if out := p.recall(recall.Request{Query: "token"}); out.Results[0].Weak {
		t.Errorf("%+v is weak", out.Results[0])
	}
}
