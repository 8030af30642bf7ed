package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/web/world"
)

func TestPages(t *testing.T) {
	w := world.Team(t)
	v := world.Visit(t, w.Web())
	if strings.Contains(v.Base, "token") {
		t.Errorf("the token stays in the address %s", v.Base)
	}
	_, found := v.Page("?q=why+does+the+token+expire+early")
	session := ""
	for _, l := range world.Links(found) {
		if strings.HasPrefix(l, "session?") && session == "" {
			session = l
		}
	}
	head := strings.TrimSpace(w.Git(w.Dir, "rev-parse", "HEAD~1"))
	for _, test := range []struct {
		name, page string
		has        map[string]string // element or class → what one of those says
	}{
		{"latest first", "", map[string]string{"h3": "Leeway of tokens", "#status": ""}},
		{"words of the question", "?q=frankfurt", map[string]string{
			"mark": "Frankfurt",
			"h3":   "Fix JWT expiry in other time zones",
		}},
		{"author", "?author=bob", map[string]string{"h3": "Keep refreshed sessions in Redis", "status": "1 result"}},
		{"agent", "?agent=codex", map[string]string{"status": "Nothing was found."}},
		{"kind", "?kind=memory", map[string]string{"h3": "Leeway of tokens", "status": "1 result"}},
		{"path", "?path=src/store/*", map[string]string{"h3": "Keep refreshed sessions in Redis", "status": "1 result"}},
		{"time", "?until=2026-03-02", map[string]string{
			"h3":     "Sign tokens instead of keeping sessions",
			"status": "1 result",
		}},
		{
			"no time", "?since=when+pigs+fly",
			map[string]string{"status": `since "when pigs fly": neither a date nor a revision`},
		},
		{"all", "sessions", map[string]string{"status": "1 to 5 of 5 sessions and memories, the latest first"}},
		{"session", session, map[string]string{
			"h1": "Fix JWT expiry in other time zones", "who": "Person 0 4 Mar 2026, 09:57",
			"ins":   "at, err := time.ParseInLocation(layout, c.ExpiresAt, time.UTC)",
			"tools": "3 tool calls: Read, Bash ×2 Read src/auth/jwt.go Bash git log --oneline -5 -- src/auth/jwt.go Bash TZ=Europe/Berlin go test ./src/auth",
		}},
		{"commit", "commit?rev=" + head, map[string]string{
			"h1": "Read expires_at as UTC, allow 30 s of leeway",
			"h3": "Fix JWT expiry in other time zones", "h2": "2 files +23 −2",
		}},
		{"timeline", "timeline", map[string]string{"h2": "Tuesday, 3 March 2026", "h3": "Bob Baker"}},
		{
			"timeline of nobody", "timeline?author=mallory",
			map[string]string{"empty": "No checkpoint matches these filters. All sessions by date"},
		},
		{"timeline of one", "timeline?author=alice", map[string]string{"h3": "Alice Adler"}},
		{"files", "files?name=AUTH", map[string]string{
			"status": "2 files, those first that most sessions touched",
			"td":     "src/auth/jwt.go",
		}},
		{"file", "file?path=src/auth/jwt.go", map[string]string{
			"h1": "src/auth/jwt.go", "by": "Lines 19 to 19: Fix JWT expiry in other time zones",
			"card": "Sign tokens instead of keeping sessions Fifteen minutes is fine. Do it, and write down what a token says. " +
				w.Git(w.Dir, "rev-parse", "--short", "HEAD~3")[:7] + "Sign tokens instead of keeping sessions 2 Mar 2026, 15:21Alice Adlerwrote lines",
			"key":   "package",
			"chips": "docs/tokens.md 2 sessionssrc/auth/jwt_test.go 2 sessions",
		}},
		{"file that nobody has", "file?path=src/gone.go", nil},
		{"activity", "activity", map[string]string{
			"status": "4 sessions; 4 of them led to 4 commits. Who wrote the lines, what fails",
			"begins": "Fix JWT expiry in other time zones Alice Adler, 1 commit", "tr": "2026-03-031",
			"less": "Less More, at most 2",
		}},
		{
			"lines that nobody counted", "lines",
			map[string]string{"status": "These lines are not counted yet. Count now; the first time, git is asked about each file."},
		},
		{"lines", "lines?count=1", map[string]string{
			"status": "64 lines of HEAD's files, 4 sessions.", "legends": "sessions 92 % others 3 % unknown 5 %",
			"li": "src/ 59 lines sessions 97 %, others 0 %, unknown 3 %",
		}},
		{"lines of a folder", "lines?path=src", map[string]string{
			"li": "auth/ 48 lines sessions 96 %, others 0 %, unknown 4 %", "a": "All files",
		}},
		{"failures", "failures", map[string]string{"status": "No command is known to have failed."}},
		{"together", "files", map[string]string{
			"h2": "Files that change together", "tr": "src/auth/jwt.gosrc/auth/jwt_test.go2", "nav": "Search Timeline Files Activity",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.has == nil {
				answer, err := v.Client.Get(v.Base + test.page)
				if err != nil || answer.StatusCode != http.StatusNotFound {
					t.Fatalf("%v, %v, want 404", answer, err)
				}
				_ = answer.Body.Close()
				return
			}
			_, doc := v.Page(test.page)
			for element, want := range test.has {
				if got := world.TextsOf(doc, element); want != "" && !slices.Contains(got, want) {
					t.Errorf("%s: none of %q is %q", element, got, want)
				}
			}
		})
	}
}

// TestConversation: a commit is a card behind the turn after which it was made, with the lines that the session wrote
// marked in its diff, and the outline of a long session leads to each prompt and commit.
func TestConversation(t *testing.T) {
	w := world.Long(t)
	v := world.Visit(t, w.Web())
	_, list := v.Page("?kind=session")
	session, _, _ := strings.Cut(world.Links(list)[slices.IndexFunc(world.Links(list), func(l string) bool {
		return strings.HasPrefix(l, "session?")
	})], "&")
	session, _, _ = strings.Cut(session, "#")
	cards, own := 0, 0
	for from := 0; from < 180; from += 30 {
		_, doc := v.Page(fmt.Sprintf("%s&from=%d", session, from))
		before, stops := "", 0
		for n := range doc.Descendants() {
			switch class := world.Attribute(n, "class"); {
			case n.Data == "article" && strings.HasPrefix(class, "turn"):
				before = world.Attribute(n, "id")
			case n.Data == "article" && class == "commit" && before != fmt.Sprintf("t%d", from-1): // which the page before has
				cards++
				harness.Equal(t, "the turn before the commit", fmt.Sprintf("t%d", cards*60-1), before)
			case n.Data == "ins" && class == "own" && before != fmt.Sprintf("t%d", from-1):
				own++
			case n.Data == "a" && (world.Attribute(n.Parent, "class") == "here" || n.Parent.Data == "li"):
				if href := world.Attribute(n, "href"); strings.Contains(href, "#t") || strings.Contains(href, "#c") {
					stops++
				}
			}
		}
		harness.Equal(t, "prompts and commits of the outline", 93, stops)
	}
	harness.Equal(t, "cards and own lines", []int{3, 30}, []int{cards, own})
}

// TestMerge: the page of a merge shows the sessions behind the commits that it brought, and marks no line of its own.
func TestMerge(t *testing.T) {
	w := world.Team(t)
	w.Env = []string{"REKAL_SKIP=1"}
	w.Git(w.Dir, "checkout", "-q", "-b", "side", "HEAD~2")
	w.Git(w.Dir, "commit", "-q", "--allow-empty", "-m", "Aside")
	w.Git(w.Dir, "merge", "-q", "--no-ff", "-m", "Merge them", "@{-1}")
	w.Env = nil
	_, doc := world.Visit(t, w.Web()).Page("commit?rev=HEAD")
	harness.Equal(t, "title", []string{"Merge them"}, world.TextsOf(doc, "h1"))
	for _, title := range []string{"Fix JWT expiry in other time zones", "Refuse tokens that are valid for too long"} {
		if got := world.TextsOf(doc, "h3"); !slices.Contains(got, title) {
			t.Errorf("none of %q is %q", got, title)
		}
	}
	harness.Equal(t, "notes", "It merges 2 commits; these sessions stand behind them.", world.TextsOf(doc, "note")[0])
	harness.Equal(t, "own lines", 0, len(world.TextsOf(doc, ".own")))
}

// TestExportHasEachCommitOnce: pages name commits by SHAs of several lengths, and lead to one page each.
func TestExportHasEachCommitOnce(t *testing.T) {
	w := world.Team(t)
	w.Run("web", "--export", "../pages")
	files, err := filepath.Glob(w.At("home/pages/commit*.html"))
	if err != nil {
		t.Fatal(err)
	}
	commits := strings.Fields(w.Git(w.Dir, "log", "--format=%H"))
	harness.Equal(t, "pages", len(commits), len(files))
}

// TestAlike: automated sessions that begin alike are one row of the lists, which leads to all of them.
func TestAlike(t *testing.T) {
	w := world.Team(t)
	w.Git(w.Dir, "config", "rekal.actor", "agent")
	files := []string{"import", "--file"}
	for i := range 22 {
		file := w.At(fmt.Sprintf("home/review%d.jsonl", i))
		w.Write(file, fmt.Sprintf(`{"session":{"agent":"aider","id":"s%d","cwd":%q,"branch":"main"}}
{"turn":{"role":"human","ts":"2026-03-05T10:%02d:00Z","content":"Review the code changes of branch number %[1]d"}}
`, i, w.Dir, i))
		files = append(files, file)
	}
	w.Run(files...)
	v := world.Visit(t, w.Web())
	for page, element := range map[string]string{"": "h3", "sessions": "li"} {
		_, doc := v.Page(page)
		rows, at := 0, ""
		for _, title := range world.TextsOf(doc, element) {
			if strings.Contains(title, "Review the code changes") {
				rows++
			}
		}
		for _, l := range world.Links(doc) {
			if strings.Contains(l, "like=") {
				at = l
			}
		}
		harness.Equal(t, page+": rows", 1, rows)
		_, doc = v.Page(at)
		for i := range 22 {
			if !strings.Contains(world.TextsOf(doc, "ol")[0], fmt.Sprintf("branch number %d ", i)) {
				t.Errorf("%s: session %d is in no list", page, i)
			}
		}
		harness.Equal(t, "all that begin alike", []string{"1 to 22 of 22 sessions and memories, the latest first"},
			world.TextsOf(doc, "status"))
	}
	_, doc := v.Page("sessions")
	harness.Equal(t, "rows and items", []string{"1 to 6 of 6 rows, for 27 sessions and memories, the latest first"},
		world.TextsOf(doc, "status"))
}

// TestVerified: what no key of its author signed is left out, where that is asked for.
func TestVerified(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	w := world.Team(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err == nil {
		err = os.WriteFile(key+".allowed", []byte("alice@example.com "+string(public)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"gpg.format": "ssh", "gpg.ssh.allowedSignersFile": key + ".allowed",
		"user.signingkey": key, "rekal.sign": "true",
	} {
		w.Git(w.Dir, "config", name, value)
	}
	w.Run("sign")
	w.Run("index")
	v := world.Visit(t, w.Web())
	_, found := v.Page("?signature=verified&n=1")
	harness.Equal(t, "found", []string{"2 results, 1 shown"}, world.TextsOf(found, "status"))
	harness.Equal(t, "more", true, slices.Contains(world.Links(found), "./?n=41&signature=verified"))
	_, log := v.Page("timeline?signature=verified")
	harness.Equal(t, "who", []string{"Alice Adler"}, slices.Compact(world.TextsOf(log, "h3")))
}

// TestNamedTurn: a turn that the address names has the focus, and stands below the two before it.
func TestNamedTurn(t *testing.T) {
	w := world.Team(t)
	v := world.Visit(t, w.Web())
	_, list := v.Page("?q=frankfurt&kind=session")
	address := world.Links(list)[slices.IndexFunc(world.Links(list),
		func(l string) bool { return strings.HasPrefix(l, "session?") })]
	id, _, _ := strings.Cut(strings.TrimPrefix(address, "session?id="), "#")
	_, doc := v.Page("session?id=" + url.QueryEscape("rekal:"+id+"#3"))
	var got []string
	for n := range doc.Descendants() {
		if n.Data == "article" && slices.Contains(n.Attr, html.Attribute{Key: "autofocus"}) {
			got = append(got, "the focus:")
		}
		if n.Data == "article" {
			for _, a := range n.Attr {
				if a.Key == "id" && strings.HasPrefix(a.Val, "t") { // not a commit
					got = append(got, a.Val)
				}
			}
		}
	}
	harness.Equal(t, "turns", []string{"t1", "t2", "the focus:", "t3", "t4"}, got)
}

func TestRefuses(t *testing.T) {
	v := world.Visit(t, world.Team(t).Web())
	u, err := url.Parse(v.Base)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name         string
		method, path string
		host         string
		headers      map[string]string
		stranger     bool // without the cookie
		status       int
	}{
		{name: "nothing", status: 200},
		{name: "no cookie", stranger: true, status: 403},
		{name: "no cookie, asset", path: u.Path + "style.css", stranger: true, status: 403},
		{name: "wrong token", path: u.Path + "?token=" + strings.Repeat("0", 64), stranger: true, status: 403},
		{name: "empty token", path: u.Path + "?token=", stranger: true, status: 403},
		{
			name: "another's cookie", stranger: true, headers: map[string]string{"Cookie": "rekal=" + strings.Repeat("0", 64)},
			status: 403,
		},
		{name: "another host", host: "evil.example:" + u.Port(), status: 421},
		{name: "another port", host: "127.0.0.1:1", status: 421},
		{name: "no host", host: "evil.example", status: 421},
		{
			name: "local name", host: "localhost:" + u.Port(),
			headers: map[string]string{"Origin": "http://localhost:" + u.Port()}, status: 200,
		},
		{name: "another origin", headers: map[string]string{"Origin": "http://evil.example"}, status: 403},
		{name: "an origin without a name", headers: map[string]string{"Origin": "null"}, status: 403},
		{name: "another site", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		{name: "another port of this machine", headers: map[string]string{"Sec-Fetch-Site": "same-site"}, status: 403},
		{
			name: "own page", headers: map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://" + u.Host},
			status: 200,
		},
		{name: "written by hand", headers: map[string]string{"Sec-Fetch-Site": "none"}, status: 200},
		{name: "post", method: "POST", status: 405},
		{name: "options", method: "OPTIONS", status: 405},
		{name: "head", method: "HEAD", status: 200},
		{name: "outside of the folder", path: "/", status: 404},
		{name: "up", path: u.Path + "../" + u.Path + "../../etc/passwd", status: 404},
		{name: "asset that is none", path: u.Path + "pages/layout.html", status: 404},
		{name: "template", path: u.Path + "web.go", status: 404},
		{name: "no page", path: u.Path + "nothing", status: 404},
		{name: "no session", path: u.Path + "session?id=01ZZZZZZZZZZZZ", status: 404},
		{name: "short ID", path: u.Path + "session?id=0", status: 400},
		{name: "several sessions", path: u.Path + "session?id=01KJ", status: 400},
		{name: "folder for a commit", path: u.Path + "commit?rev=HEAD:src", status: 400},
		{name: "no commit", path: u.Path + "commit?rev=--output=x", status: 404},
		{name: "file outside", path: u.Path + "file?path=../../.gitconfig", status: 404},
		{name: "file of git", path: u.Path + "file?path=.git/config", status: 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path := test.method, test.path
			if method == "" {
				method = http.MethodGet
			}
			if path == "" {
				path = u.Path
			}
			req, err := http.NewRequestWithContext(t.Context(), method, "http://"+u.Host+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = test.host
			for k, val := range test.headers {
				req.Header.Set(k, val)
			}
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			if !test.stranger {
				for _, c := range v.Client.Jar.Cookies(u) {
					req.AddCookie(c)
				}
			}
			answer, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != test.status {
				t.Errorf("%d, want %d", answer.StatusCode, test.status)
			}
			h := answer.Header
			harness.Equal(t, "headers", []string{"nosniff", "no-referrer", "no-store", "same-origin", ""}, []string{
				h.Get("X-Content-Type-Options"), h.Get("Referrer-Policy"), h.Get("Cache-Control"),
				h.Get("Cross-Origin-Resource-Policy"), h.Get("Access-Control-Allow-Origin"),
			})
			if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
				strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
		})
	}
}

// TestServerGoesOn: whatever address is asked for, the next page is there.
func TestServerGoesOn(t *testing.T) {
	w := world.Team(t)
	v := world.Visit(t, w.Web())
	random := rand.New(rand.NewPCG(3, 4))
	pages := []string{
		"?q=expiry", "session?id=01KJW4MN", "commit?rev=HEAD", "file?path=src/auth/jwt.go",
		"timeline?author=bob", "files?name=auth", "activity", "lines", "failures?by=path", "sessions?from=1",
	}
	for range 200 {
		page := []byte(pages[random.IntN(len(pages))])
		for range 1 + random.IntN(5) {
			page[random.IntN(len(page))] = byte(' ' + random.IntN(95))
		}
		at, query, _ := strings.Cut(string(page), "?")
		v.Any(url.PathEscape(at) + "?" + strings.NewReplacer("#", "%23", " ", "%20", "%", "%25").Replace(query))
	}
	if text, _ := v.Page("sessions"); !strings.Contains(text, "Fix JWT expiry") {
		t.Error("it does not go on")
	}
}
