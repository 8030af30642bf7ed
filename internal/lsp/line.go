package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Line is what stands behind one line: the answer to "git-rekal/line", which docs/show.md describes. All texts are one
// line, and printable.
type Line struct {
	State   string `json:"state"`             // "session", "uncommitted", "unknown" (no session is known behind it)
	Session string `json:"session,omitempty"` // ID
	Address string `json:"address,omitempty"` // of the prompt that led to the line, which "git rekal show" opens
	Title   string `json:"title,omitempty"`
	Prompt  string `json:"prompt,omitempty"` // that led to the line
	Author  string `json:"author,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Model   string `json:"model,omitempty"`
	When    string `json:"when,omitempty"` // time of the session's last turn, RFC 3339, UTC
	Tie     string `json:"tie,omitempty"`  // wrote, edited, made, named or inferred

	Evidence string `json:"evidence,omitempty"` // of it
	Exact    bool   `json:"exact,omitempty"`    // the session is known to have written this line
	Shared   bool   `json:"shared,omitempty"`   // one of several sessions brought it
	Commit   string `json:"commit,omitempty"`   // that brought it, 7 digits
	Page     string `json:"page,omitempty"`     // of the commit at its host
	Large    bool   `json:"large,omitempty"`    // the file is so large that nobody compares its lines
	Note     string `json:"note,omitempty"`     // who brought it as another tool noted; only where no session is known
}

// The states of a line.
const (
	stateSession     = "session"
	stateUncommitted = "uncommitted"
	stateUnknown     = "unknown"
)

func (c *connection) line(ctx context.Context, p positionParams) (*Line, error) {
	lines := c.linesBehind(ctx, p.TextDocument.URI, p.Position.Line, p.Position.Line)
	if len(lines) == 0 {
		return nil, nil //nolint:nilnil // null: nothing to say
	}
	return &lines[0].Line, nil
}

func (c *connection) hover(ctx context.Context, p positionParams) (*hoverResult, error) {
	lines := c.linesBehind(ctx, p.TextDocument.URI, p.Position.Line, p.Position.Line)
	if len(lines) == 0 {
		return nil, nil //nolint:nilnil // null: nothing to say
	}
	out := &hoverResult{Range: span{position{Line: p.Position.Line}, position{Line: p.Position.Line + 1}}}
	if out.Contents = (markup{"plaintext", lines[0].plainText()}); c.client.markdown {
		out.Contents = markup{"markdown", lines[0].markdown()}
	}
	return out, nil
}

// inlayHints name who wrote each run of lines, at the end of its first one. Where that is a guess there is no hint.
func (c *connection) inlayHints(ctx context.Context, p rangeParams) ([]inlayHint, error) {
	out := []inlayHint{}
	if !c.client.hints {
		return out, nil
	}
	last := p.Range.End.Line
	if p.Range.End.Character == 0 && last > p.Range.Start.Line {
		last--
	}
	return append(out, hintsOf(c.linesBehind(ctx, p.TextDocument.URI, p.Range.Start.Line, last))...), nil
}

// hintsOf is a hint at each line at which another session begins to be known.
func hintsOf(lines []numbered) (out []inlayHint) {
	previous := ""
	for _, l := range lines {
		if l.Exact && l.Session != previous {
			out = append(out, inlayHint{position{l.number, l.width}, l.Title + " · " + l.authorAndAgent(), true})
		}
		if l.Exact || l.Session == "" {
			previous = l.Session
		}
	}
	return out
}

// numbered is a line with its place.
type numbered struct {
	Line
	number, width int // from 0 on; units of UTF-16
}

// linesBehind tells what stands behind lines of a file, from 0 on; nothing where there is nothing to say, and why
// stands in the editor's log.
func (c *connection) linesBehind(ctx context.Context, uri string, from, to int) []numbered {
	out, err := c.explainLines(ctx, uri, from, to)
	if err != nil && ctx.Err() == nil {
		c.log(ctx, c.Explain(err))
	}
	return out
}

func (c *connection) explainLines(ctx context.Context, uri string, from, to int) (out []numbered, err error) {
	path, err := pathOf(uri)
	if err != nil {
		return nil, err
	}
	text, open := c.open.text(uri)
	if open { // the empty line that an editor shows behind the last end of a line is none
		if to = min(to, strings.Count(strings.TrimSuffix(text, "\n"), "\n")); text == "" || from > to {
			return nil, nil
		}
	}
	page := func(string) string { return "" }
	err = c.withIndex(ctx, filepath.Dir(path), func(ctx context.Context, w *workspace.Workspace, at *ask.Moment) error {
		answer, err := at.Why(ctx, c.whyRequest(uri, path, from, to))
		if err == nil {
			out = splitByLine(answer, w.People(ctx).Name)
		}
		if of := c.CommitPage(w); of != nil {
			page = of
		}
		return err
	})
	large := isLarge(path, text, open)
	for i := range out {
		out[i].width = len(utf16.Encode([]rune(nthLine(text, out[i].number))))
		if out[i].Large = large && out[i].State == stateUnknown; out[i].Commit != "" {
			out[i].Page = page(out[i].Commit)
		}
	}
	return out, err
}

// whyRequest asks about lines, from 0 on, as the editor shows them.
func (c *connection) whyRequest(uri, path string, from, to int) ask.WhyRequest {
	req := ask.WhyRequest{Target: fmt.Sprintf("%s:%d,%d", path, from+1, to+1)}
	if text, open := c.open.text(uri); open {
		req.Unsaved, req.Blames = &text, &c.blames
	}
	return req
}

// isLarge reports whether a file has more than is compared.
func isLarge(path, text string, open bool) bool {
	if open {
		return len(text) > history.MaxPatched
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > history.MaxPatched
}

// promptOf is what a person asked that led to lines, also where a subagent wrote them.
func promptOf(h result.Hit) string {
	if h.Asked != nil {
		return h.Asked.Text
	}
	return h.Snippet
}

// splitByLine takes an answer of why apart, line by line.
func splitByLine(a result.Recall, name func(address string) string) []numbered {
	out := make([]numbered, a.Why.To-a.Why.From+1)
	each := func(ranges []result.Range, set func(*Line)) {
		for _, r := range ranges {
			for n := r[0]; n <= r[1]; n++ {
				set(&out[n-a.Why.From].Line)
			}
		}
	}
	for i := range out {
		out[i].State, out[i].number = stateUnknown, a.Why.From-1+i
	}
	each(a.Why.Uncommitted, func(l *Line) { l.State = stateUncommitted })
	for _, s := range a.Why.Unexplained {
		each(s.Ranges, func(l *Line) {
			if l.Commit = s.Commit; len(s.Named) > 0 {
				l.Note = s.Named[0].String()
			}
		})
		for _, n := range s.Notes {
			each(n.Ranges, func(l *Line) { l.Note = n.String() })
		}
	}
	for _, h := range a.Results { // the one that explains most comes first
		each(h.Explains.Ranges, func(l *Line) {
			if l.Session != "" {
				return
			}
			*l = Line{
				State: stateSession, Session: h.ID, Address: h.Address, Title: result.Printable(h.Title),
				Prompt: result.Printable(promptOf(h)), Author: result.Printable(name(h.Author)),
				Agent: result.Printable(h.Source), Model: result.Printable(h.Model), When: h.LastTurnAt, Tie: h.Tie,
				Evidence: h.Evidence,
			}
			if len(h.Explains.Commits) > 0 {
				l.Commit = h.Explains.Commits[0]
			}
		})
		own := func(set func(*Line)) func(*Line) {
			return func(l *Line) {
				if l.Session == h.ID {
					set(l)
				}
			}
		}
		each(h.Explains.Exact, own(func(l *Line) { l.Exact = true }))
		each(h.Explains.Shared, own(func(l *Line) { l.Shared = true }))
	}
	return out
}

// authorAndAgent names the author of the session, the agent, and the day.
func (l Line) authorAndAgent() string {
	day, _, _ := strings.Cut(l.When, "T")
	return strings.Join([]string{l.Author, l.Agent, day}, ", ")
}

// howKnown says how the tie between line and session is known.
func (l Line) howKnown() string {
	switch {
	case l.Exact:
		return "the session wrote this line"
	case l.Shared:
		return "one of several sessions brought this line (" + session.LabelOf(l.Tie) + ")"
	}
	return "of the commit: the session " + session.LabelOf(l.Tie)
}

// plainText and markdown are the text of a hover, in one form each.
func (l Line) plainText() string {
	switch l.State {
	case stateUncommitted:
		return "Not committed yet."
	case stateUnknown:
		said := "No session is known behind this line. "
		if l.Large {
			said = "No session is known behind this line: lines of files above 1 MiB are not compared. "
		}
		return strings.TrimRight(said+l.Commit+"\n"+l.Note, " \n")
	}
	model := l.Agent
	if l.Model != "" {
		model += " (" + l.Model + ")"
	}
	day, _, _ := strings.Cut(l.When, "T")
	return strings.Join([]string{
		l.Title, l.Prompt, strings.Join([]string{l.Author, model, day}, " · "), "Known because " + l.howKnown() + ".",
		"commit " + l.Commit + " · git rekal show " + l.Address,
	}, "\n")
}

func (l Line) markdown() string {
	if l.State != stateSession {
		return l.linkCommit(escaped(l.plainText()))
	}
	parts := strings.SplitN(l.plainText(), "\n", 3)
	return "**" + escaped(parts[0]) + "**\n\n> " + escaped(parts[1]) + "\n\n" +
		l.linkCommit(strings.ReplaceAll(escaped(parts[2]), "\n", "  \n"))
}

// linkCommit makes a link of the commit, where it has a page whose address Markdown can't misread.
func (l Line) linkCommit(text string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()<>[]\\`\"", r) }
	if l.Page == "" || l.Commit == "" || strings.ContainsFunc(l.Page, odd) || !strings.HasPrefix(l.Page, "https://") {
		return text
	}
	return strings.Replace(text, l.Commit, "["+l.Commit+"]("+l.Page+")", 1)
}

// escaped is a text in which Markdown finds nothing to do: sessions hold what people and agents wrote, and an editor
// may follow a link or load an image.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `&lt;`, ">", `&gt;`,
		"#", `\#`, "!", `\!`, "|", `\|`, "~", `\~`, "&", `&amp;`, "://", `:\//`).Replace(s)
}

// withIndex opens the repository of a folder, and its index, for one question.
func (c *connection) withIndex(ctx context.Context, dir string,
	question func(context.Context, *workspace.Workspace, *ask.Moment) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	process := c.Process
	process.Dir, process.ByPath = dir, true
	w, err := workspace.Open(ctx, process)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.CheckReady(); err != nil {
		return err
	}
	at, err := ask.Open(ctx, w, ask.Opening{})
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, w, at), at.Close())
}
