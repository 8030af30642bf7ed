package attribution_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// work is what sessions called, by name: "Edit src/a.go; Bash make".
type work map[string]string

func (w work) calls(id string) (out []session.ToolCall) {
	for call := range strings.SplitSeq(w[id], "; ") {
		tool, rest, _ := strings.Cut(call, " ")
		c := session.ToolCall{Tool: tool, Path: rest}
		switch tool {
		case "Edit":
			c.Act = session.ActEdit
		case "Bash":
			c.Path, c.Cmd = "", rest
		}
		out = append(out, c)
	}
	return out
}

func (w work) Edited(id string) map[string]bool {
	out := map[string]bool{}
	for _, c := range w.calls(id) {
		out[c.Edited()] = c.Edited() != ""
	}
	delete(out, "")
	return out
}

func (w work) Says(id string, what func(*attribution.Mentions) bool) (bool, error) {
	n := attribution.NewMentions()
	n.Add(w.calls(id))
	return what(n), nil
}

// Parent: "ann/ben" is ann's subagent.
func (w work) Parent(id string) string {
	parent, _, sub := strings.Cut(id, "/")
	if !sub {
		return ""
	}
	return parent
}

const sha = "1111111111111111111111111111111111111111"

// Of the sessions of one checkpoint a file is theirs who wrote in it, else theirs who edited it, else theirs who read it or
// named it in a command; else theirs who have another one, or who commit. Who wrote nothing has none that it never named.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files string // "M src/a.go", "R src/old.go src/a.go"
		says  work
		wrote string // "ann src/a.go"
		want  string // "ann src/a.go", with ? where it is inferred
		ties  string // those that are not inferred
	}{
		{"one edited it", "M src/a.go", work{"ann": "Edit src/a.go", "ben": "Edit src/b.go"}, "", "ann src/a.go", "ann"},
		{"two edited it", "M src/a.go", work{"ann": "Edit src/a.go", "ben": "Edit src/a.go"}, "", "ann src/a.go, ben src/a.go", "ann ben"},
		{"two edited it, and one's lines are there", "M src/a.go", work{"ann": "Edit src/a.go", "ben": "Edit src/a.go"}, "ben src/a.go", "ben src/a.go", "ben"},
		{"one edited and one read it", "M src/a.go", work{"ann": "Edit src/a.go", "ben": "Read src/a.go"}, "", "ann src/a.go", "ann"},
		{"one read it", "M src/a.go", work{"ann": "Read src/a.go", "ben": "Edit src/b.go"}, "", "ann src/a.go", "ann"},
		{"one named it", "M src/a.go", work{"ann": "Read src/c.go", "ben": "Bash sed -i s/x/y/ src/a.go"}, "", "ben src/a.go", "ben"},
		{"one read and one named it", "M src/a.go", work{"ann": "Read src/a.go", "ben": "Bash cd src && gofmt -w a.go"}, "", "ann src/a.go, ben src/a.go", "ann ben"},
		{"a name with odd signs", "M app/[id].tsx", work{"ann": "Bash npx prettier -w 'app/[id].tsx'", "ben": "Bash cat id.tsx"}, "", "ann app/[id].tsx", "ann"},
		{"at the end of a sentence", "M .env.sample", work{"ann": "Bash echo see .env.sample...", "ben": "Bash cat x.env.sample"}, "", "ann .env.sample", "ann"},
		{"one named another", "M src/a.go", work{"ann": "Edit x; Bash cat src/aa.go a.go.orig .a.go a.gox", "ben": "Edit y; Bash cat b"}, "", "", ""},
		{"a file beside one's own", "M src/a.go, M src/gen.go", work{"ann": "Edit src/a.go", "ben": "Edit src/b.go"}, "", "ann src/a.go, ann src/gen.go?", "ann"},
		{"who commits by itself", "M src/a.go", work{"ann": "Edit src/b.go; Bash git add -A && git commit -m x", "ben": "Edit src/c.go"}, "", "ann src/a.go?", "ann"},
		{"two talks", "M src/a.go", work{"ann": "Read docs/monads.md", "ben": "Bash make"}, "", "", "ann ben"},
		{"no file of this repository", "M src/a.go", work{"ann": "Edit ~/.claude/plans/a.md; Bash make"}, "", "", "ann"},
		{"one edited what was renamed", "R src/old.go src/a.go", work{"ann": "Edit src/old.go", "ben": "Edit src/b.go"}, "", "ann src/a.go", "ann"},
		{"one moved it", "R src/old.go src/a.go", work{"ann": "Bash git mv src/old.go x", "ben": "Edit src/b.go"}, "", "ann src/a.go", "ann"},
		{"alone", "M src/a.go", work{"ann": "Edit src/b.go"}, "", "ann src/a.go?", ""},
		{"both at something else", "M src/a.go", work{"ann": "Edit src/b.go", "ben": "Edit src/c.go"}, "", "", ""},
		{"a subagent's", "M src/a.go", work{"ann": "Bash make", "ann/sub": "Edit src/a.go", "ben": "Bash ls"}, "", "ann/sub src/a.go", "ann ann/sub"},
		{"without files", "", work{"ann": "Edit src/a.go"}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cp := &session.Checkpoint{GitSHA: sha}
			for f := range strings.SplitSeq(c.files, ", ") {
				if words := strings.Fields(f); len(words) == 3 {
					cp.Files = append(cp.Files, session.File{Change: words[0], OldPath: words[1], Path: words[2]})
				} else if len(words) == 2 {
					cp.Files = append(cp.Files, session.File{Change: words[0], Path: words[1]})
				}
			}
			for id := range c.says {
				cp.Links = append(cp.Links, session.Link{Session: id})
			}
			slices.SortFunc(cp.Links, func(a, b session.Link) int { return strings.Compare(a.Session, b.Session) })
			var wrote []session.Wrote
			if who, path, ok := strings.Cut(c.wrote, " "); ok {
				wrote = []session.Wrote{{GitSHA: sha, Session: who, Path: path}}
			}
			shares, err := attribution.Files(cp, wrote, c.says)
			var got, firm []string
			for _, s := range shares {
				got = append(got, s.Session+" "+s.File.Path+map[bool]string{true: "?"}[s.Inferred])
			}
			for _, l := range cp.Links {
				if !l.Inferred {
					firm = append(firm, l.Session)
				}
			}
			harness.Equal(t, "files", c.want, strings.Join(got, ", "))
			harness.Equal(t, "firm ties", c.ties, strings.Join(firm, " "))
			harness.Equal(t, "error", nil, err)
		})
	}
}

// A commit before the first one has nothing that could be inferred of it.
func TestFilesBeforeTheFirstCommit(t *testing.T) {
	cp := &session.Checkpoint{GitSHA: session.ZeroSHA, Links: []session.Link{{Session: "ann"}}}
	shares, err := attribution.Files(cp, nil, work{"ann": "Edit a"})
	if len(shares) > 0 || err != nil || cp.Links[0].Inferred {
		t.Errorf("%v, %v, %v", shares, cp.Links, err)
	}
}
