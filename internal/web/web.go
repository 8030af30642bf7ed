// Package web shows a repository's sessions to people: pages in a browser, from a server on this machine that only they
// can ask, or files.
//
// In: addresses of pages, such as "session?id=01KJW4MN". Out: HTML, made by html/template from the values that the
// command line prints as JSON (package result). All pages lie in one folder with relative links, so served and exported
// pages are the same.
//
// It asks package ask alone, writes nothing to the repository, and loads nothing from elsewhere: style, script and icon
// are its own. Texts of commits, paths and names never become markup, those of sessions only that of package markdown.
// Nothing stays open between requests, and several may run at once. guard.go says who is answered.
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed assets
var assets embed.FS

// Site makes the pages of one repository.
type Site struct {
	process      workspace.Process
	explain      func(error) string // an error in one line, with what to do about it
	name         string             // of the repository, or of several
	groupMembers *group.Which       // which are searched at once; nil: the one
	rights       *rights            // nil: whoever is answered sees all
	reader       gate.Reader        // who is shown pages where there are no rights
	templates    map[string]*template.Template
	markdown     *markdown.Renderer
}

// New reads the templates.
func New(process workspace.Process, name string, explain func(error) string) (*Site, error) {
	s := &Site{
		reader: gate.Person, process: process, explain: explain, name: name,
		templates: map[string]*template.Template{}, markdown: markdown.New(process.Now),
	}
	base, err := template.New("layout.html").Funcs(s.functions()).ParseFS(pages, "pages/layout.html", "pages/parts.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(pages, "pages/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		one, err := base.Clone()
		if err == nil {
			one, err = one.ParseFS(pages, file)
		}
		if err != nil {
			return nil, err
		}
		s.templates[strings.TrimSuffix(path.Base(file), ".html")] = one
	}
	return s, nil
}

// SearchGroup makes the search cover a group of repositories. The address of any other page then says in "in" which
// repository it is about.
func (s *Site) SearchGroup(which group.Which) { s.groupMembers = &which }

// pageMakers are the pages by the last part of their addresses; "" is the search.
func (s *Site) pageMakers() map[string]func(*request) (page, error) {
	return map[string]func(*request) (page, error){
		"": makeSearch, "sessions": makeSessions, "session": makeSession, "commit": makeCommit,
		"timeline": makeTimeline, "files": makeFiles, "file": s.makeFile, "activity": makeActivity,
		"lines": makeLines, "failures": makeFailures,
	}
}

// request is what one page is made from.
type request struct {
	context.Context
	*workspace.Workspace
	at    *ask.Moment
	query url.Values
	links
	group *group.Group // where several repositories are searched; nil: this one
}

// queryNumber is a number of the query, at most most; otherwise if the query has no number from 0 on.
func (r *request) queryNumber(key string, otherwise, most int) int {
	n, err := strconv.Atoi(r.query.Get(key))
	if err != nil || n < 0 {
		return otherwise
	}
	return min(n, most)
}

// page is what a template is given. Its methods are those of links.
type page struct {
	links
	Template string // file of pages/, without its ending
	Title    string
	Repo     string
	Here     string // the page of the navigation that it belongs to
	Body     any
	Part     bool   // only what changes as one types
	Notice   string // that all is as of a past moment; "" for now
}

// links makes the addresses of other pages.
type links struct {
	Static bool                        // pages are files: nothing can be searched for
	in     string                      // the path of the repository, where there are several; "" for the first
	to     func(address string) string // an address as a link says it
	people result.People
	// the commit that a SHA means; nil where commits are another repository's
	resolve func(sha string) (git.OID, error)
}

// Who is the name of the person with an email address.
func (l links) Who(email string) string { return l.people.Name(email) }

// OfRepository are links to the pages of another repository of the group; "" for the same one.
func (l links) OfRepository(repo string) links {
	if repo != "" {
		l.in, l.resolve = repo, nil
	}
	return l
}

// Inside is the path of the repository that the page is about, for the hidden field "in" of its forms.
func (l links) Inside() string { return l.in }

// To is a link to a page, with keys and values of its query; "" and 0 are left out.
func (l links) To(name string, pairs ...any) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := queryValue(pairs[i+1]); v != "" {
			q.Set(queryValue(pairs[i]), v)
		}
	}
	if l.in != "" && name != "" { // the search asks all
		q.Set("in", l.in)
	}
	address := name
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return l.to(address)
}

// File is a link to the page of a file; "" for what lies outside of the repository.
func (l links) File(path string) string {
	for _, outside := range []string{"/", "~", "../", ".git/"} {
		if strings.HasPrefix(path, outside) {
			return ""
		}
	}
	return l.To("file", "path", path)
}

// Commit is a link to a commit, the same one for each way to write its SHA; "" for one that is not in this clone.
func (l links) Commit(sha string) string {
	if l.resolve != nil {
		id, err := l.resolve(sha)
		if err != nil {
			return ""
		}
		sha = string(id)
	}
	return l.To("commit", "rev", sha)
}

// queryValue is a value as an address has it; "" for one that is left out.
func queryValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strings.TrimPrefix(strconv.Itoa(v), "0") // 0 is the default and left out
	}
	return ""
}

// Turn is a link to a turn of a session.
func (l links) Turn(id string, turn int) string {
	return l.To("session", "id", id, "from", max(0, turn/turnsShown*turnsShown)) + "#t" + strconv.Itoa(turn)
}

// partData is what a template that several pages share is executed with: the page's links, and the value that it shows.
type partData struct {
	links
	Of any
}

// servedLinks are links between pages of a server, in contrast to exported files.
func servedLinks() links {
	return links{to: func(address string) string {
		if address == "" || address[0] == '?' {
			return "./" + address
		}
		return address
	}}
}

// errNoPage is the error for an address without a page.
var errNoPage = errors.New("there is no such page")

// renderPage makes a page for somebody: its HTML. An error becomes a page that tells it.
func (s *Site) renderPage(ctx context.Context, person, name string, query url.Values, l links) ([]byte, error) {
	p, failed := s.makeContent(ctx, person, name, query, l)
	if failed != nil {
		p = page{Template: "error", Title: "Not shown", Body: s.describe(failed)}
	}
	p.Static, p.to, p.Repo = l.Static, l.to, cmp.Or(p.Repo, s.name)
	html, err := s.render(p)
	if err != nil {
		return []byte("git-rekal: this page can't be shown: " + template.HTMLEscapeString(s.explain(err))), err
	}
	return html, failed
}

// makeContent makes what a page shows, with the repository open for it.
func (s *Site) makeContent(ctx context.Context, person, name string, query url.Values, l links) (p page, err error) {
	defer func() {
		if broken := recover(); broken != nil { // one page that can't be made ends no other
			err = fmt.Errorf("web: page %q: %v", name, broken)
		}
	}()
	maker := s.pageMakers()[name]
	if maker == nil {
		return page{}, errNoPage
	}
	if s.groupMembers != nil {
		return s.groupContent(ctx, person, name, maker, query, l)
	}
	w, err := workspace.Open(ctx, s.process)
	if err != nil {
		return page{}, err
	}
	defer w.Close()
	if s.rights == nil {
		return repoContent(ctx, w, maker, ask.Opening{Records: name == "", Reader: s.reader}, query, l)
	}
	seen, err := s.rights.visible(ctx, person, w)
	if err != nil {
		return page{}, err
	}
	defer seen.Close()
	return repoContent(ctx, seen, maker, ask.Opening{Reader: gate.Visitor}, query, l)
}

// repoContent makes what a page of one repository shows.
func repoContent(ctx context.Context, w *workspace.Workspace, maker func(*request) (page, error), o ask.Opening,
	query url.Values, l links,
) (page, error) {
	at, err := ask.Open(ctx, w, o)
	if err != nil {
		return page{}, w.AsNotInitialised(err)
	}
	l.people, l.resolve = w.People(ctx), w.Repo.Resolve
	p, err := maker(&request{Context: ctx, Workspace: w, at: at, query: query, links: l})
	p.links, p.Notice, p.Repo = l, at.Notice, w.Name()
	return p, w.AsNotInitialised(errors.Join(err, at.Close()))
}

// groupContent makes what a page shows: of the search of all of a group, of others of the repository in the address.
func (s *Site) groupContent(ctx context.Context, person, name string, maker func(*request) (page, error),
	query url.Values, l links,
) (page, error) {
	which := *s.groupMembers
	which.Reader = gate.Person
	if s.rights != nil {
		which.Reader = gate.Visitor
		which.Restrict = func(ctx context.Context, w *workspace.Workspace) (*workspace.Workspace, error) {
			return s.rights.visible(ctx, person, w)
		}
	}
	g, err := group.Open(ctx, s.process, which)
	if errors.Is(err, group.ErrNone) && s.rights != nil {
		return page{}, errNoRights
	}
	if err != nil {
		return page{}, err
	}
	defer g.Close()
	if l.in = query.Get("in"); name != "" {
		w := g.Member(l.in)
		if w == nil {
			return page{}, errNoPage
		}
		return repoContent(ctx, w, maker, ask.Opening{Reader: which.Reader}, query, l)
	}
	l.people = g.SettingsFrom().People(ctx)
	p, err := maker(&request{Context: ctx, Workspace: g.SettingsFrom(), query: query, links: l, group: g})
	p.links, p.Repo = l, s.name
	return p, err
}

func (s *Site) render(p page) ([]byte, error) {
	var b bytes.Buffer
	name := "layout.html"
	if p.Part {
		name = "part"
	}
	if err := s.templates[p.Template].ExecuteTemplate(&b, name, p); err != nil {
		return nil, err
	}
	return escapeInvisible(b.Bytes()), nil
}

// describe says why a page is not shown, in words of the pages.
func (s *Site) describe(err error) string {
	var unclear *nouns.AmbiguousError
	var usage *name.UsageError
	switch {
	case errors.Is(err, nouns.ErrNoID), errors.Is(err, ask.ErrPrivate):
		return "No session and no memory here has this ID."
	case errors.As(err, new(*ask.PurgedError)):
		return "This was purged, so it is not shown."
	case errors.As(err, &unclear):
		return "Several IDs begin so: give more of it."
	case errors.Is(err, errNoFile):
		return "No file has this name, and no session touched one that had."
	case errors.Is(err, errNoPage):
		return "There is no such page."
	case errors.Is(err, git.ErrNotFound):
		return "This is not in this clone."
	case errors.As(err, &usage):
		return usage.Error()
	}
	return s.explain(err)
}

func statusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, nouns.ErrNoID), errors.Is(err, ask.ErrPrivate), errors.Is(err, git.ErrNotFound),
		errors.Is(err, ask.ErrNoFile), errors.Is(err, errNoPage):
		return http.StatusNotFound
	case errors.Is(err, errNoRights):
		return http.StatusForbidden
	case errors.As(err, new(*ask.PurgedError)):
		return http.StatusGone
	case errors.As(err, new(*name.UsageError)), errors.As(err, new(*nouns.AmbiguousError)):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// fileName is the name of an exported page: made of the query of its address, or of the hash of that if it is no safe
// name.
func fileName(address string) string {
	name, query, _ := strings.Cut(address, "?")
	if name == "" {
		return "index.html"
	}
	for pair := range strings.SplitSeq(query, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok {
			if name == "file" || !isShortAlphanumeric(value) { // paths may differ in their case alone
				sum := sha256.Sum256([]byte(query))
				return name + "-" + hex.EncodeToString(sum[:10]) + ".html"
			}
			name += "-" + value
		}
	}
	return name + ".html"
}

func isShortAlphanumeric(s string) bool {
	return len(s) <= 64 && !strings.ContainsFunc(s,
		func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
}
