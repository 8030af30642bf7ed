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
			c.Path, c.Cmd, c.Act = "", rest, session.ActRun
		}
		out = append(out, c)
	}
	return out
}

func (w work) Edited(id string) map[string]bool {
	out := map[string]bool{}
	for _, c := range w.calls(id) {
		out[c.EditedPath()] = c.EditedPath() != ""
	}
	delete(out, "")
	return out
}

func (w work) Part(id string) (session.Session, bool) {
	return session.Session{ID: id, ToolCalls: w.calls(id)}, w[id] != ""
}

const sha = "1111111111111111111111111111111111111111"

// Of the sessions of one checkpoint a file is theirs who wrote in it, else theirs who edited it, else theirs who made
// the commit. Who only read it or named it in a command has none.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files string // "M src/a.go", "R src/old.go src/a.go"
		says  work
		wrote string // "ann src/a.go"
		want  string // "ann src/a.go", with * where it made the commit
		ties  string // with + where it edited, * where it made the commit, ~ where it talked
	}{
		{
			"one edited it", "M src/a.go",
			work{"ann": "Edit src/a.go", "ben": "Edit src/b.go"},
			"", "ann src/a.go",
			"ann+ ben~",
		},
		{
			"two edited it", "M src/a.go",
			work{"ann": "Edit src/a.go", "ben": "Edit src/a.go"},
			"",
			"ann src/a.go, ben src/a.go", "ann+ ben+",
		},
		{
			"two edited it, and one's lines are there", "M src/a.go",
			work{"ann": "Edit src/a.go", "ben": "Edit src/a.go"},
			"ben src/a.go", "ben src/a.go", "ann+ ben",
		},
		{
			"one edited and one read it", "M src/a.go",
			work{"ann": "Edit src/a.go", "ben": "Read src/a.go"},
			"", "ann src/a.go",
			"ann+ ben~",
		},
		{"one read it", "M src/a.go", work{"ann": "Read src/a.go", "ben": "Edit src/b.go"}, "", "", "ann~ ben~"},
		{
			"one named it", "M src/a.go",
			work{"ann": "Read src/c.go", "ben": "Bash sed -i s/x/y/ src/a.go"},
			"", "",
			"ann~ ben~",
		},
		{
			"a file beside one's own", "M src/a.go, M src/gen.go",
			work{"ann": "Edit src/a.go", "ben": "Edit src/b.go"},
			"",
			"ann src/a.go", "ann+ ben~",
		},
		{
			"and it makes the commit", "M src/a.go, M src/gen.go",
			work{"ann": "Edit src/a.go; Bash git commit -am x", "ben": "Edit src/b.go"},
			"", "ann src/a.go, ann src/gen.go*",
			"ann+ ben~",
		},
		{
			"and its lines are there", "M src/a.go, M src/gen.go",
			work{"ann": "Edit src/a.go; Bash git commit -am x", "ben": "Bash ls"},
			"ann src/a.go",
			"ann src/a.go, ann src/gen.go*", "ann ben~",
		},
		{"who commits by itself", "M src/a.go", work{
			"ann": "Edit src/b.go; Bash git add -A && git commit -m x",
			"ben": "Edit src/c.go",
		}, "", "ann src/a.go*", "ann* ben~"},
		{
			"two that commit by themselves", "M src/a.go",
			work{"ann": "Bash git commit -m x", "ben": "Bash git commit -m y"},
			"", "", "ann~ ben~",
		},
		{"two talks", "M src/a.go", work{"ann": "Read docs/monads.md", "ben": "Bash make"}, "", "", "ann~ ben~"},
		{"no file of this repository", "M src/a.go", work{"ann": "Edit ~/.claude/plans/a.md; Bash make"}, "", "", "ann~"},
		{
			"one edited what was renamed", "R src/old.go src/a.go",
			work{"ann": "Edit src/old.go", "ben": "Edit src/b.go"},
			"",
			"ann src/a.go", "ann+ ben~",
		},
		{"alone", "M src/a.go", work{"ann": "Edit src/b.go"}, "", "", "ann~"},
		{
			"a subagent's", "M src/a.go",
			work{"ann": "Bash make", "ann/sub": "Edit src/a.go", "ben": "Bash ls"},
			"",
			"ann/sub src/a.go", "ann~ ann/sub+ ben~",
		},
		{"without files", "", work{"ann": "Edit src/a.go"}, "", "", "ann~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cp := &session.Checkpoint{GitSHA: sha, Via: session.ViaCommit}
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
				wrote = []session.Wrote{{GitSHA: sha, Session: who, Path: path, Lines: session.RangesOf([]int{1})}}
			}
			shares := attribution.Files(cp, wrote, c.says)
			var got, tied []string
			for _, s := range shares {
				got = append(got, s.Session+" "+s.File.Path+map[bool]string{true: "*"}[s.Kind == session.TieMade])
			}
			for _, l := range cp.Links {
				tied = append(tied, l.Session+marks[l.Tie])
			}
			harness.Equal(t, "files", c.want, strings.Join(got, ", "))
			harness.Equal(t, "ties", c.ties, strings.Join(tied, " "))
		})
	}
}

// TestKinds: which rule ties a session to the commit of a checkpoint, where files do not tell; also in ledgers of
// earlier versions.
func TestKinds(t *testing.T) {
	file := []session.File{{Change: "M", Path: "src/a.go"}}
	lines := session.Wrote{GitSHA: sha, Lines: session.RangesOf([]int{3})}
	for _, c := range []struct {
		name, sha, via string
		files          []session.File
		wrote          session.Wrote
		link           session.Link
		want           string // "-" where the link is left out
	}{
		{"lines", sha, session.ViaCommit, file, lines, session.Link{}, "wrote src/a.go:3"},
		{
			"lines of another commit", sha, session.ViaCommit, file,
			session.Wrote{GitSHA: session.ZeroSHA, Lines: session.RangesOf([]int{3})},
			session.Link{},
			"talked in use",
		},
		{
			"lines taken away", sha, session.ViaCommit, file,
			session.Wrote{GitSHA: sha, Gone: 2},
			session.Link{},
			"talked in use",
		},
		{"an empty commit", sha, session.ViaCommit, nil, session.Wrote{}, session.Link{}, "talked in use"},
		{"a push", sha, session.ViaPush, nil, session.Wrote{}, session.Link{}, " "},
		{"a sync", sha, session.ViaSync, nil, session.Wrote{}, session.Link{}, " "},
		{"by hand", sha, session.ViaManual, nil, session.Wrote{}, session.Link{}, " "},
		{
			"by hand, of a commit that no hook saw", sha, session.ViaManual, file,
			session.Wrote{},
			session.Link{},
			"talked in use",
		},
		{
			"what a capture decided", sha, session.ViaCommit, file,
			session.Wrote{},
			session.Link{Tie: session.TieEdited, Evidence: "call 4"},
			"edited call 4",
		},
		{
			"and lines that were found later", sha, session.ViaCommit, file, lines,
			session.Link{Tie: session.TieMade, Evidence: "shell"},
			"wrote src/a.go:3",
		},
		{
			"a guess of an import by times", sha, session.ViaImport, file,
			session.Wrote{},
			session.Link{Inferred: true, Tie: session.TieInferred},
			"-",
		},
		{"a guess of version 0.1.0", sha, session.ViaImport, file, session.Wrote{}, session.Link{Inferred: true}, "-"},
		{"and lines", sha, session.ViaImport, file, lines, session.Link{Inferred: true}, "wrote src/a.go:3"},
		{
			"what another tool says", sha, session.ViaImport, file,
			session.Wrote{GitSHA: sha, Gone: 2},
			session.Link{Tie: session.TieTalked},
			"named record",
		},
		{
			"what another tool said to version 0.1.0", sha, session.ViaImport, file,
			session.Wrote{},
			session.Link{},
			"named record",
		},
		{
			"lines taken away, to version 0.1.0", sha, session.ViaImport, file,
			session.Wrote{GitSHA: sha, Gone: 2},
			session.Link{},
			"-",
		},
		{
			"before the first commit", session.ZeroSHA, session.ViaCommit, nil,
			session.Wrote{},
			session.Link{},
			"talked in use",
		},
	} {
		c.link.Session, c.wrote.Session, c.wrote.Path = "ann", "ann", "src/a.go"
		cp := &session.Checkpoint{GitSHA: c.sha, Via: c.via, Files: c.files, Links: []session.Link{c.link}}
		attribution.Files(cp, []session.Wrote{c.wrote}, work{})
		got := "-"
		for _, l := range cp.Links {
			got = l.Tie.String() + " " + l.Evidence
		}
		harness.Equal(t, c.name, c.want, got)
	}
}
