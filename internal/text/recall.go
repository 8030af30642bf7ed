package text

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
)

// Exchange is what was asked and what was answered; either may be empty.
type Exchange struct{ Asked, Answered string }

// Recall is the answer of a recall, the best first. Of `git rekal why` said holds, by a session's ID, what it was asked and
// answered there.
func Recall(look Look, a result.Recall, said map[string]Exchange) string {
	p := &page{Look: look}
	p.understood(a)
	for i, h := range a.Results {
		p.blankLine()
		p.hit(i+1, h, a.Why, said)
	}
	if len(a.More) > 0 {
		p.blankLine()
		p.line("", "", safef(unstyled, "And %d more:", len(a.More)))
		for _, m := range a.More {
			p.line("   ", "      ", safe(cyan, p.id(m.ID)), span{text: " "}, safe(unstyled, strings.TrimSpace(repoName(m.Repo)+" "+m.Title)))
		}
	}
	return p.String()
}

// understood says how the question was understood, where that is not plain.
func (p *page) understood(a result.Recall) {
	if w := a.Why; w != nil {
		p.why(w)
	}
	if a.AsOf != nil {
		p.line("", "", safe(unstyled, strings.TrimSpace("As of "+p.day(a.AsOf.Until)+" "+result.Short(a.AsOf.Checkpoint))))
	}
	if w := a.When; w != nil && w.Dropped {
		p.line("", "", safef(yellow, "Nothing of %q: this is the answer without it.", w.Read))
	} else if w != nil {
		p.line("", "", safe(unstyled, p.timeSpan(w)))
	}
	if len(a.Unknown) > 0 {
		p.line("", "", safef(yellow, "No session mentions: %s.", strings.Join(a.Unknown, ", ")))
	}
	switch {
	case len(a.Results) > 0 && a.Results[0].Weak:
		p.line("", "", safef(yellow, "Nothing answers this well. Nearest:"))
	case len(a.Results) > 0:
	case a.Why != nil:
		p.line("", "", span{text: "No session explains these lines."})
	default:
		p.line("", "", span{text: "Nothing matches."})
	}
}

// timeSpan is the time that was asked for.
func (p *page) timeSpan(w *result.When) string {
	var out []string
	if w.Since != "" {
		out = append(out, "from "+p.day(w.Since))
	}
	if w.Until != "" {
		out = append(out, "until "+p.day(w.Until))
	}
	if w.Read != "" {
		out = append(out, fmt.Sprintf("(%q)", w.Read))
	}
	return strings.Join(out, " ")
}

// day is a time to the minute, without how long ago that was.
func (p *page) day(stamp string) string {
	return result.At(stamp, p.Now.Location(), "2006-01-02 15:04")
}

// hit shows one result.
func (p *page) hit(rank int, h result.Hit, why *result.Why, said map[string]Exchange) {
	head := fmt.Sprintf("%d. ", rank)
	title := cmp.Or(h.Title, h.Command, "(no title)")
	if h.Kind == kindRecord {
		title = "$ " + title
	}
	p.line(head, "   ", safe(bold, title))
	const in, more = "   ", "     "
	p.line(in, more, p.facts(unstyled, append([]string{repoName(h.Repo), p.when(cmp.Or(h.StartedAt, h.LastTurnAt, h.CapturedAt))}, append(p.attribution(h), h.Branch)...)...)...)
	if len(h.Commits) > 0 {
		p.line(in, more, p.commits(h)...)
	}
	if h.Explains != nil && why != nil {
		p.line(in, more, explanation(h))
	}
	p.passage(in, h, said[h.ID])
	if files := shownFiles(h); len(files) > 0 {
		p.line(in, in, files...)
	}
	if notes := p.facts(yellow, remarks(h, why != nil)...); len(notes) > 0 {
		p.line(in, more, notes...)
	}
	p.line(in, more, unbroken(cyan, gitIn(h.Repo)+" rekal show "+p.id(h.ID)))
}

// repoName is what people call a repository; "" for the one in which is asked.
func repoName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// gitIn is how git is called for a repository.
func gitIn(path string) string {
	switch {
	case path == "":
		return "git"
	case unquoted.MatchString(path):
		return "git -C " + path
	}
	return "git -C '" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// unquoted is a path that a shell takes as it is.
var unquoted = lazy.Expr(`^[A-Za-z0-9/._@%+:,-]+$`)

const kindRecord = "record"

// attribution is whose a result is, and where it comes from.
func (p *page) attribution(h result.Hit) []string {
	kind := agentAndModel(h.Source, h.Model)
	switch h.Kind {
	case "memory":
		kind = "memory"
	case kindRecord:
		if kind = "record"; h.Exit != nil {
			kind = fmt.Sprintf("record, exit %d", *h.Exit)
		}
	}
	return []string{p.person(h.Author, h.Actor), h.Signature, kind}
}

// agentAndModel is a coding agent, with the model that it asked where that is known.
func agentAndModel(source, model string) string {
	if model == "" {
		return source
	}
	return source + " (" + model + ")"
}

// commits are those behind which a session stands.
func (p *page) commits(h result.Hit) []span {
	word := "commit "
	if len(h.Commits) > 1 {
		word = "commits "
	}
	out := []span{{text: word}}
	for i, sha := range h.Commits {
		if i > 0 {
			out = append(out, span{text: " "})
		}
		if slices.Contains(h.Missing, sha) { // it would lead nowhere
			out = append(out, safe(unstyled, sha+" (not here)"))
		} else {
			out = append(out, p.commit(sha))
		}
	}
	return out
}

// passage is what was said: of a line the prompt and the answer, of others what answers the question best.
func (p *page) passage(in string, h result.Hit, said Exchange) {
	began := ""
	if h.Explains != nil && said != (Exchange{}) {
		began = h.Explains.Purpose
	}
	for _, part := range []struct{ who, text string }{{"Began with: ", began}, {"Asked: ", said.Asked}, {"Answered: ", said.Answered}} {
		if part.text != "" {
			p.line(in, in+"  ", append([]span{{text: part.who, style: cyan}}, p.matched(part.text)...)...)
		}
	}
	if said != (Exchange{}) || h.Snippet == "" {
		return
	}
	if h.Kind == kindRecord {
		p.lines(in+"  ", h.Snippet)
		return
	}
	p.line(in, in, p.matched(h.Snippet)...)
}

// shownFiles are the first that a session changed, each in one line.
func shownFiles(h result.Hit) (out []span) {
	for i, file := range h.Files {
		if i > 0 {
			out = append(out, span{text: "  "})
		}
		out = append(out, unbroken(unstyled, file))
	}
	if more := h.FilesTotal - len(h.Files); more > 0 && len(out) > 0 {
		out = append(out, span{text: "  "}, unbroken(unstyled, fmt.Sprintf("and %d more", more)))
	}
	return out
}

// tieSentences are what is said of how a result is tied to the commit that was asked for.
var tieSentences = map[string]string{ //nolint:gochecknoglobals // a table
	"wrote": "wrote lines of the commit", "edited": "edited files of the commit", "talked": "talked: nothing says that it changed what the commit did",
	"inferred": "inferred: nothing recorded ties it to the commit",
}

// remarks are what to mind about a result.
func remarks(h result.Hit, why bool) []string {
	changed, gone := becameSince("changed", h.Stale, result.StaleChanged), becameSince("gone", h.Stale, result.StaleDeleted)
	tie, purged := "", ""
	if !why {
		tie = tieSentences[h.Tie]
	}
	if h.Purged {
		purged = "purged"
	}
	if h.Private {
		purged = strings.TrimPrefix(purged+", private: it is never sent", ", ")
	}
	return []string{tie, changed, gone, purged}
}

// becameSince names the files that became something since a session left them; "" for none.
func becameSince(what string, files []result.File, freshness string) string {
	var paths []string
	for _, f := range files {
		if f.Freshness == freshness {
			paths = append(paths, f.Path)
		}
	}
	const most = 2
	switch n := len(paths); {
	case n == 0:
		return ""
	case n > most+1:
		paths = append(paths[:most], fmt.Sprintf("and %d more", n-most))
	}
	return what + " since: " + strings.Join(paths, " ")
}
