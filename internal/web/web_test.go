package web_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/web/world"
)

// visitor is who has the address that web printed.
type visitor struct {
	t      *testing.T
	client *http.Client
	base   string // where the pages lie
}

func visit(t *testing.T, address string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, client: &http.Client{Jar: jar}}
	answer, err := v.client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, answer.Status)
	}
	v.base = answer.Request.URL.String()
	return v
}

// page reads a page that there must be.
func (v *visitor) page(name string) (text string, doc *html.Node) {
	v.t.Helper()
	answer, err := v.client.Get(v.base + name)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %s, %v\n%s", name, answer.Status, err, body)
	}
	if doc, err = html.Parse(strings.NewReader(string(body))); err != nil {
		v.t.Fatal(err)
	}
	return string(body), doc
}

// texts are what stands in elements of a name, or with a class.
func texts(doc *html.Node, element string) (out []string) {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && (n.Data == element || slices.Contains(strings.Fields(attribute(n, "class")), strings.TrimPrefix(element, "."))) {
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			out = append(out, strings.Join(strings.Fields(b.String()), " "))
		}
	}
	return out
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// links are where a page leads, each once.
func links(doc *html.Node) (out []string) {
	for n := range doc.Descendants() {
		if href := attribute(n, "href"); n.Type == html.ElementNode && n.Data == "a" && href != "" && !slices.Contains(out, href) {
			out = append(out, href)
		}
	}
	return out
}

func TestPages(t *testing.T) {
	w := world.Team(t)
	v := visit(t, w.Web())
	if strings.Contains(v.base, "token") {
		t.Errorf("the token stays in the address %s", v.base)
	}
	_, found := v.page("?q=why+does+the+token+expire+early")
	session := ""
	for _, l := range links(found) {
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
		{"words of the question", "?q=frankfurt", map[string]string{"mark": "Frankfurt", "h3": "Fix JWT expiry in other time zones"}},
		{"author", "?author=bob", map[string]string{"h3": "Keep refreshed sessions in Redis", "status": "1 result"}},
		{"agent", "?agent=codex", map[string]string{"status": "Nothing was found."}},
		{"kind", "?kind=memory", map[string]string{"h3": "Leeway of tokens", "status": "1 result"}},
		{"path", "?path=src/store/*", map[string]string{"h3": "Keep refreshed sessions in Redis", "status": "1 result"}},
		{"time", "?until=2026-03-02", map[string]string{"h3": "Sign tokens instead of keeping sessions", "status": "1 result"}},
		{"no time", "?since=when+pigs+fly", map[string]string{"status": `since "when pigs fly": neither a date nor a revision`}},
		{"all", "sessions", map[string]string{"status": "1 to 5 of 5 sessions and memories, the latest first"}},
		{"session", session, map[string]string{
			"h1": "Fix JWT expiry in other time zones", "who": "Person 1 4 Mar 2026, 09:57", "ins": "at, err := time.ParseInLocation(layout, c.ExpiresAt, time.UTC)",
			"tools": "3 tool calls: Read, Bash ×2 Read src/auth/jwt.go Bash git log --oneline -5 -- src/auth/jwt.go Bash TZ=Europe/Berlin go test ./src/auth",
		}},
		{"commit", "commit?rev=" + head, map[string]string{"h1": "Read expires_at as UTC, allow 30 s of leeway", "h3": "Fix JWT expiry in other time zones", "h2": "2 files +23 −2"}},
		{"timeline", "timeline", map[string]string{"h2": "Tuesday, 3 March 2026", "h3": "bob@example.com"}},
		{"timeline of one", "timeline?author=alice", map[string]string{"h3": "alice@example.com"}},
		{"files", "files?name=AUTH", map[string]string{"status": "2 files, those first that most sessions touched", "td": "src/auth/jwt.go"}},
		{"file", "file?path=src/auth/jwt.go", map[string]string{
			"h1": "src/auth/jwt.go", "by": "Lines 19 to 19: Fix JWT expiry in other time zones wrote these lines", "chips": "docs/tokens.md 2 sessionssrc/auth/jwt_test.go 2 sessions",
		}},
		{"file that nobody has", "file?path=src/gone.go", nil},
		{"together", "together", map[string]string{"tr": "src/auth/jwt.gosrc/auth/jwt_test.go2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.has == nil {
				answer, err := v.client.Get(v.base + test.page)
				if err != nil || answer.StatusCode != http.StatusNotFound {
					t.Fatalf("%v, %v, want 404", answer, err)
				}
				answer.Body.Close()
				return
			}
			_, doc := v.page(test.page)
			for element, want := range test.has {
				if got := texts(doc, element); want != "" && !slices.Contains(got, want) {
					t.Errorf("%s: none of %q is %q", element, got, want)
				}
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	v := visit(t, world.Team(t).Web())
	u, err := url.Parse(v.base)
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
		{name: "another's cookie", stranger: true, headers: map[string]string{"Cookie": "rekal=" + strings.Repeat("0", 64)}, status: 403},
		{name: "another host", host: "evil.example:" + u.Port(), status: 421},
		{name: "another port", host: "127.0.0.1:1", status: 421},
		{name: "no host", host: "evil.example", status: 421},
		{name: "local name", host: "localhost:" + u.Port(), headers: map[string]string{"Origin": "http://localhost:" + u.Port()}, status: 200},
		{name: "another origin", headers: map[string]string{"Origin": "http://evil.example"}, status: 403},
		{name: "an origin without a name", headers: map[string]string{"Origin": "null"}, status: 403},
		{name: "another site", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		{name: "another port of this machine", headers: map[string]string{"Sec-Fetch-Site": "same-site"}, status: 403},
		{name: "own page", headers: map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://" + u.Host}, status: 200},
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
				for _, c := range v.client.Jar.Cookies(u) {
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
				h.Get("X-Content-Type-Options"), h.Get("Referrer-Policy"), h.Get("Cache-Control"), h.Get("Cross-Origin-Resource-Policy"), h.Get("Access-Control-Allow-Origin"),
			})
			if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
		})
	}
}

// written is what templates write: the attributes of each element. What is not here came from somebody's text.
var written = map[string]string{
	"html": "lang", "head": "", "meta": "charset name content http-equiv", "title": "", "link": "rel type href", "script": "src defer", "body": "",
	"a": "class href rel aria-current aria-label data-item", "header": "class", "div": "class id dir", "img": "src alt width height", "bdi": "class", "nav": "aria-label class",
	"ul": "class", "ol": "class start", "li": "class", "main": "id class tabindex", "footer": "class", "p": "class id role dir", "code": "", "kbd": "", "b": "", "i": "",
	"h1": "class", "h2": "class id", "h3": "", "form": "role id action method class", "label": "class for", "select": "name", "option": "value selected",
	"input":  "id name type value placeholder autocomplete spellcheck autofocus dir aria-describedby list",
	"button": "type", "details": "class open", "summary": "", "datalist": "id", "section": "id class aria-label aria-labelledby", "article": "class id aria-label",
	"time": "datetime", "span": "class aria-hidden", "mark": "", "pre": "class dir", "ins": "", "del": "",
	"table": "", "thead": "", "tbody": "", "tr": "", "th": "scope class", "td": "class aria-hidden", "meter": "min max value",
}

// TestLongHostileText goes to every page of a repository full of markup: nothing of it becomes any.
func TestLongHostileText(t *testing.T) {
	v := visit(t, world.Hostile(t).Web())
	queue := []string{"", "?q=mark", "?q=" + url.QueryEscape(world.Texts[1]) + "&author=" + url.QueryEscape(world.Texts[2]), "?since=" + url.QueryEscape(world.Texts[1])}
	for _, text := range world.Texts {
		queue = append(queue, "files?name="+url.QueryEscape(text), "timeline?author="+url.QueryEscape(text))
	}
	had := map[string]bool{}
	kinds := map[string]int{}
	for ; len(queue) > 0; queue = queue[1:] {
		page, _, _ := strings.Cut(queue[0], "#")
		if had[page] {
			continue
		}
		had[page] = true
		kind, _, _ := strings.Cut(page, "?")
		kinds[kind]++
		text, doc := v.page(page)
		if strings.ContainsAny(text, "\u202e\u2066") {
			t.Errorf("%s: a bidi control", page)
		}
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: html/template found something where it may not stand", page)
		}
		for n := range doc.Descendants() {
			if n.Type == html.CommentNode {
				t.Errorf("%s: comment %q", page, n.Data)
			}
			if n.Type != html.ElementNode {
				continue
			}
			attributes, ok := written[n.Data]
			if !ok {
				t.Errorf("%s: element <%s>", page, n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(strings.Fields(attributes), a.Key) {
					t.Errorf("%s: <%s %s=%q>", page, n.Data, a.Key, a.Val)
				}
				if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !ours(a.Val) {
					t.Errorf("%s: <%s %s=%q> leads elsewhere", page, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "script" && n.FirstChild != nil {
				t.Errorf("%s: script %q", page, n.FirstChild.Data)
			}
		}
		for _, l := range links(doc) {
			if !strings.HasPrefix(l, "#") {
				queue = append(queue, strings.TrimPrefix(l, "./"))
			}
		}
	}
	for _, kind := range []string{"", "sessions", "session", "commit", "timeline", "files", "file", "together"} {
		if kinds[kind] == 0 {
			t.Errorf("no page %q was reached", kind)
		}
	}
	t.Logf("%d pages: %v", len(had), kinds)
}

// ours reports whether an address leads to a page or a file of ours.
func ours(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "" && u.Host == "" && !strings.Contains(u.Path, "/../") && !strings.HasPrefix(u.Path, "/")
}
