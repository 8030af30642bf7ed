package text

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Recall is the answer of a recall, the best first. Of `git rekal why` exchanges holds, by a session's ID, what it was
// asked and answered there.
func Recall(look Look, a result.Recall, exchanges map[string]result.Exchange) string {
	p := &page{Look: look}
	p.writeUnderstood(a)
	for i, h := range a.Results {
		p.blankLine()
		if h.Explains != nil && a.Why != nil {
			p.writeBehind(i+1, h, exchanges[h.ID])
		} else {
			p.writeHit(i+1, h)
		}
	}
	if len(a.More) > 0 {
		p.blankLine()
		head := printableSpanf(unstyled, "And %d more:", len(a.More))
		if all := a.Total - len(a.Results); all > len(a.More) && len(a.Results) > 0 && !a.Results[0].Weak {
			head = printableSpanf(unstyled, "And %d more, first these:", all)
		}
		p.writeLine("", "", head)
		for _, m := range a.More {
			p.writeTitle("   ", p.id(m.ID)+" ", unstyled, strings.TrimSpace(repoName(m.Repo)+" "+m.Title))
		}
	}
	return p.String()
}

// writeUnderstood says how the question was understood, where that is not plain.
func (p *page) writeUnderstood(a result.Recall) {
	if w := a.Why; w != nil {
		p.writeWhy(w)
	}
	if a.AsOf != nil {
		p.writeLine("", "", printableSpan(unstyled,
			strings.TrimSpace("As of "+p.day(a.AsOf.Until)+" "+result.ShortOID(a.AsOf.Checkpoint))))
	}
	if w := a.When; w != nil && w.Dropped {
		p.writeLine("", "", printableSpanf(yellow, "Nothing of %q: this is the answer without it.", w.Read))
	} else if w != nil {
		p.writeLine("", "", printableSpan(unstyled, p.timeSpan(w)))
	}
	if a.Merged > 0 {
		p.writeLine("", "", printableSpanf(unstyled, "A merge of %s.", session.CountNoun(a.Merged, "commit")))
	}
	if len(a.Unknown) > 0 {
		p.writeLine("", "", printableSpanf(yellow, "No session mentions: %s.", strings.Join(a.Unknown, ", ")))
	}
	switch {
	case len(a.Results) > 0 && a.Results[0].Weak:
		p.writeLine("", "", printableSpanf(yellow, "Nothing answers this well. Nearest:"))
	case len(a.Results) > 0:
	case a.Why != nil:
		p.writeLine("", "", span{text: "No session explains these lines."})
	default:
		p.writeLine("", "", span{text: "Nothing matches."})
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
	if w.Preferred {
		out = append(out, "first")
	}
	return strings.Join(out, " ")
}

// day is a time to the minute, without how long ago that was.
func (p *page) day(stamp string) string {
	return result.FormatTime(stamp, p.Now.Location(), "2006-01-02 15:04")
}

// writeHit shows one result.
func (p *page) writeHit(rank int, h result.Hit) {
	head := fmt.Sprintf("%d. ", rank)
	if title := cmp.Or(h.Title, h.Command, "(no title)"); h.Kind == kindRecord {
		p.writeLine(head, "   ", printableSpan(bold, "$ "+title))
	} else {
		p.writeTitle(head, "", bold, title)
	}
	const in, more = "   ", "     "
	p.writeLine(in, more, p.joinFacts(unstyled, append([]string{
		repoName(h.Repo),
		p.when(cmp.Or(h.StartedAt, h.LastTurnAt, h.CapturedAt)),
	}, append(p.attribution(h), h.Branch)...)...)...)
	if len(h.Commits) > 0 {
		p.writeLine(in, more, p.commitSpans(h)...)
	}
	for _, r := range h.Reverted {
		p.writeLine(in, more, printableSpan(yellow, r.String()))
	}
	for _, line := range h.Lines(p.id, h.Title+"\n"+h.Snippet) {
		p.writeLine(in, more, printableSpan(yellow, line))
	}
	p.writePassage(in, h)
	if files := firstFiles(h); len(files) > 0 {
		p.writeLine(in, in, files...)
	}
	if notes := p.joinFacts(yellow, remarksOn(h, false)...); len(notes) > 0 {
		p.writeLine(in, more, notes...)
	}
	p.writeLine(in, more, unbrokenSpan(cyan, gitCommandIn(h.Repo)+" rekal show "+p.address(h)))
}

// address is where a result is opened.
func (p *page) address(h result.Hit) string {
	if h.Kind == kindRecord { // whose turn is another item's
		return h.ID
	}
	return result.Address(p.id(h.ID), h.Turn)
}

// repoName is what people call a repository; "" for the one in which is asked.
func repoName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// gitCommandIn is how git is called for a repository.
func gitCommandIn(path string) string {
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
	kind := agentAndFacts(h.Source, h.Facts)
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

// agentAndFacts is a coding agent, with what is known of a session, as the model.
func agentAndFacts(source string, facts session.Facts) string {
	shown := strings.Join(facts.Shown(), ", ")
	if shown == "" {
		return source
	}
	return source + " (" + shown + ")"
}

// commitSpans are the commits behind which a result's session stands.
func (p *page) commitSpans(h result.Hit) []span {
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
			out = append(out, printableSpan(unstyled, sha+" (not here)"))
		} else {
			out = append(out, p.commit(sha))
		}
	}
	return out
}

// writePassage is what answers the question best.
func (p *page) writePassage(indent string, h result.Hit) {
	if h.Snippet == "" {
		return
	}
	if h.Kind == kindRecord {
		p.writeLines(indent+"  ", h.Snippet)
		return
	}
	p.writeLine(indent, indent, p.markMatches(h.Snippet)...)
}

// firstFiles are the first that a session changed, each in one line.
func firstFiles(h result.Hit) (out []span) {
	for i, file := range h.Files {
		if i > 0 {
			out = append(out, span{text: "  "})
		}
		out = append(out, unbrokenSpan(unstyled, file))
	}
	if more := h.FilesTotal - len(h.Files); more > 0 && len(out) > 0 {
		out = append(out, span{text: "  "}, unbrokenSpan(unstyled, fmt.Sprintf("and %d more", more)))
	}
	return out
}

// remarksOn are what to mind about a result.
func remarksOn(h result.Hit, why bool) []string {
	changed, gone := filesThat("changed since", h.Stale, result.StaleChanged), filesThat("gone since", h.Stale, result.StaleDeleted)
	tie, purged := "", ""
	if !why {
		tie = session.LabelOf(h.Tie)
	}
	if h.Purged {
		purged = "purged"
	}
	if h.Undone {
		purged = strings.TrimPrefix(purged+", taken back", ", ")
	}
	if h.Private {
		never := "private: it is never sent"
		if h.Sent > 0 {
			never = fmt.Sprintf("private: what is new is never sent; %s sent before", session.CountNoun(h.Sent, "turn"))
		}
		purged = strings.TrimPrefix(purged+", "+never, ", ")
	}
	alike := ""
	if h.Alike > 0 {
		alike = fmt.Sprintf("and %d that begin alike: --full lists them", h.Alike)
	}
	return slices.Concat([]string{tie, changed, gone}, onBranches(h.Stale), []string{purged, alike}, h.Note.Remarks())
}

// onBranches names the files that other branches alone have, by branch.
func onBranches(files []result.File) (out []string) {
	by, branches := map[string][]result.File{}, []string(nil)
	for _, f := range files {
		if by[f.Branch] == nil {
			branches = append(branches, f.Branch)
		}
		by[f.Branch] = append(by[f.Branch], f)
	}
	for _, b := range branches {
		out = append(out, filesThat("only on "+b, by[b], result.Unknown))
	}
	return out
}

// filesThat names the files of which something is to be said; "" for none.
func filesThat(change string, files []result.File, freshness string) string {
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
	return change + ": " + strings.Join(paths, " ")
}
