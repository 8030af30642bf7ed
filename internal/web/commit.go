package web

import (
	"cmp"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// commitPage is the page of a commit.
type commitPage struct {
	git.Commit
	SHA  string
	Body string // of the message
	At   string
	Diff *diff
	Hits []hit

	Merged int // how many commits a merge brought, whose sessions these are
}

func makeCommit(r *request) (page, error) {
	c, files, err := r.patch(r.query.Get("rev"))
	if err != nil {
		return page{}, err
	}
	_, body, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	wrote, err := r.wroteIn(c, "")
	if err != nil {
		return page{}, err
	}
	out := commitPage{
		Commit: c, SHA: string(c.OID), Body: strings.TrimSpace(body), At: result.Time(c.Author.When),
		Diff: diffLines(files, wrote, &bounds{1000, 10_000}),
	}
	found, err := r.at.Recall(r, ask.Question{
		Long:    true,
		Request: ask.Request{Commit: string(c.OID), Limit: foundShown, Snippet: 600, Stale: true},
	})
	if err != nil {
		return page{}, err
	}
	out.Hits, out.Merged = hits(found.Recall, ""), found.Merged
	return page{Template: "commit", Title: cmp.Or(c.Subject(), string(c.OID)), Here: "timeline", Body: out}, nil
}

// patch reads a commit that a revision names, and what it changed.
func (r *request) patch(rev string) (git.Commit, []history.FilePatch, error) {
	id, err := r.Repo.Resolve(rev)
	if err != nil {
		return git.Commit{}, nil, &name.UsageError{Err: err}
	}
	c, err := r.Repo.Commit(id)
	if err != nil {
		return git.Commit{}, nil, err
	}
	files, err := history.Patch(r, r.Repo, id)
	return c, files, err
}

// bounds are how many lines of diffs are shown: of a file, and of all.
type bounds struct{ file, all int }

// change is a commit of a session, with its diff where that is shown.
type change struct {
	git.Commit
	SHA, At, Tie string
	Turn         int // after which it was made; -1: before the first
	Diff         *diff
}

// readDiff reads what a commit of a session changed.
func (r *request) readDiff(c *change, session string, left *bounds) error {
	files, err := history.Patch(r, r.Repo, c.OID)
	if err != nil {
		return err
	}
	wrote, err := r.wroteIn(c.Commit, session)
	c.Diff = diffLines(files, wrote, left)
	return err
}

// wroteIn are the lines of a commit that a session is known to have written, by path; "" is any session. A merge brings
// none of its own.
func (r *request) wroteIn(c git.Commit, session string) (map[string]nouns.Ranges, error) {
	out := map[string]nouns.Ranges{}
	if len(c.Parents) > 1 {
		return out, nil
	}
	err := r.at.Attributions(r, string(c.OID), func(a result.Attribution) error {
		for _, f := range a.Files {
			for writer, lines := range f.Wrote {
				if a.Commit == string(c.OID) && (session == "" || writer == session) {
					out[f.Path] = append(out[f.Path], lines...)
				}
			}
		}
		return nil
	})
	return out, err
}

// diff is what a commit changed.
type diff struct {
	Files          []fileDiff
	Added, Deleted int
	Wrote          int // added lines that a session is known to have written
}

type fileDiff struct {
	history.FilePatch
	Lines          []line
	Added, Deleted int
	Cut            int  // lines that are not shown
	Open           bool // short enough to be shown at once
}

// line is a line of a diff, without its sign.
type line struct {
	Sign, Text string
	Wrote      bool // a session is known to have written it
}

// openLines is how many lines of one file's diff are shown at once.
const openLines = 80

// diffLines parts the diffs of files into lines, as many as are left to be shown.
func diffLines(files []history.FilePatch, wrote map[string]nouns.Ranges, left *bounds) *diff {
	out := &diff{}
	for _, f := range files {
		d := fileDiff{FilePatch: f}
		added := f.Added()
		for l := range strings.Lines(f.Text) {
			l = strings.TrimRight(l, "\r\n")
			one := line{Sign: l[:min(1, len(l))]}
			switch one.Sign {
			case "+":
				if one.Wrote = d.Added < len(added) && wrote[f.Path].Has(added[d.Added]); one.Wrote {
					out.Wrote++
				}
				d.Added++
			case "-":
				d.Deleted++
			case `\`:
				continue
			}
			if len(d.Lines) == left.file || left.all == 0 {
				d.Cut++
				continue
			}
			left.all--
			if one.Sign != "@" {
				l = l[len(one.Sign):]
			}
			one.Text = l[:markdown.CutPosition(l, maxLine)]
			d.Lines = append(d.Lines, one)
		}
		d.Open = len(d.Lines) <= openLines
		out.Added, out.Deleted = out.Added+d.Added, out.Deleted+d.Deleted
		out.Files = append(out.Files, d)
	}
	return out
}

// maxLine is how many bytes of one line of code are shown.
const maxLine = 2000
