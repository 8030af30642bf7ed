package web

import (
	"cmp"
	"errors"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// How many results, and sessions of a list, a page has.
const (
	foundShown = 20
	foundMost  = 100
	listShown  = 100
	listMost   = 1_000_000
)

// searchPage is the page of a search.
type searchPage struct {
	Form    form
	Hits    []hit
	Total   int
	More    int // how many results to show next; 0: these are all, or as many as are shown
	Read    string
	Weak    bool
	Unknown []string
	Failed  string   // why there is no answer
	Repos   []string // the paths of several repositories that were searched
	Left    []error  // those that could not be
}

// form is what was asked, and what may be.
type form struct {
	Q, Author, Agent, Since, Until, Path, Kind, Signature string
	Filtered                                              bool // by anything but Q
	Authors, Agents, Kinds                                []string
}

// hit is a result.
type hit struct {
	result.Hit
	Pieces []piece // of the snippet
	At     string  // when it began
	Turn   int
}

func makeSearch(r *request) (page, error) {
	out := searchPage{Form: readForm(r)}
	f := out.Form
	most := max(1, r.queryNumber("n", foundShown, foundMost))
	req := ask.Request{
		Query: f.Q, Author: f.Author, Agent: f.Agent, Kind: f.Kind, Limit: most, Stale: true,
		Verified: f.verified(), Times: ask.Times{Since: f.Since, Until: f.Until},
	}
	if f.Path != "" {
		req.Path = []string{f.Path}
	}
	p := page{Template: "search", Title: "Search", Here: "search", Part: r.query.Get("part") != ""}
	if f.Q != "" {
		p.Title = f.Q
	}
	all, alike := 0, map[string]int(nil)
	if f.Q == "" && !f.Filtered && r.group == nil { // the first page must not look through everything there is
		list, err := r.at.List(r, ask.ListRequest{Limit: most})
		if err != nil {
			return p, err
		}
		req.IDs, all, alike = []string{}, list.Items, list.Alike
		for _, l := range list.Rows {
			req.IDs = append(req.IDs, l.ID)
		}
	}
	found, err := r.recall(ask.Question{Long: true, Request: req})
	if usage := (*name.UsageError)(nil); errors.As(err, &usage) {
		out.Failed = usage.Error()
	} else if refused := (*group.Refused)(nil); errors.As(err, &refused) {
		out.Failed = refused.Error()
	} else if err != nil {
		return p, err
	}
	out.Hits, out.Total, out.Unknown = hits(found.Recall, f.Q), max(all, found.Total), found.Unknown
	for i := range out.Hits {
		out.Hits[i].Alike += alike[out.Hits[i].ID]
	}
	out.Weak = len(found.Results) > 0 && found.Results[0].Weak
	if found.When != nil {
		out.Read = found.When.Read
	}
	if len(out.Hits) < out.Total && most < foundMost {
		out.More = min(foundMost, most+2*foundShown)
	}
	if r.group != nil {
		out.Repos, out.Left = r.group.Paths(), r.group.Left
	} else if !p.Part {
		if out.Form.Authors, err = r.at.Authors(r); err != nil {
			return p, err
		}
	}
	p.Body = out
	return p, nil
}

// recall asks the repository, or several.
func (r *request) recall(q ask.Question) (ask.Found, error) {
	if r.group == nil {
		return r.at.Recall(r, q)
	}
	found, err := r.group.Recall(r, q)
	return found.Found, err
}

func readForm(r *request) form {
	get := func(key string) string { return strings.TrimSpace(r.query.Get(key)) }
	f := form{
		Q: get("q"), Author: get("author"), Agent: get("agent"), Since: get("since"), Until: get("until"), Path: get("path"),
		Kind: get("kind"), Signature: get("signature"),
		Agents: nouns.Agents(), Kinds: []string{"session", "memory", ask.KindRecord},
	}
	f.Filtered = f.Author+f.Agent+f.Since+f.Until+f.Path+f.Kind+f.Signature != ""
	return f
}

// verified reports whether only what is verified is asked for, which is the one filter by signatures.
func (f form) verified() bool { return f.Signature != "" }

// hits are results as a page shows them.
func hits(found result.Recall, question string) []hit {
	out := make([]hit, len(found.Results))
	for i, h := range found.Results {
		if h.Kind != ask.KindRecord {
			h.Snippet = markdown.Plain(h.Snippet)
		}
		out[i] = hit{
			Hit: h, Pieces: splitAtMatches(h.Snippet, question), At: cmp.Or(h.StartedAt, h.LastTurnAt, h.CapturedAt),
			Turn: -1,
		}
		if h.Turn != nil {
			out[i].Turn = *h.Turn
		}
	}
	return out
}

// sessionList is the list of all sessions and memories.
type sessionList struct {
	Rows               []row
	Total, First, Last int
	Items              int    // sessions and memories, of which some may share a row
	Newer, Older       string // links; "" for none
}

type row struct {
	ask.Listed
	At    string
	Alike int // others that begin alike
}

func makeSessions(r *request) (page, error) {
	from := r.queryNumber("from", 0, listMost)
	like := r.query.Get("like")
	list, err := r.at.List(r, ask.ListRequest{Skip: from, Limit: listShown, Like: like})
	if err != nil {
		return page{}, err
	}
	out := sessionList{Total: list.Total, Items: list.Items, First: from + 1, Last: from + len(list.Rows)}
	for _, l := range list.Rows {
		out.Rows = append(out.Rows, row{l, result.Time(l.At), list.Alike[l.ID]})
	}
	if from > 0 {
		out.Newer = r.listPage(max(0, from-listShown), like)
	}
	if out.Last < list.Total && len(list.Rows) > 0 {
		out.Older = r.listPage(out.Last, like)
	}
	return page{Template: "sessions", Title: "All sessions", Here: "search", Body: out}, nil
}

// listPage is a link to a part of the list of sessions. In an export the first one is the page that one begins with.
func (l links) listPage(from int, like string) string {
	if l.Static && from == 0 && like == "" {
		return l.To("")
	}
	return l.To("sessions", "from", from, "like", like)
}
