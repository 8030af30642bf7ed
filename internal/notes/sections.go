// Package notes takes apart the files in which agents keep notes, puts them together again, and says which things that
// a note names are still in the code.
//
// In: the text of a file, versions of its sections, a repository. Out: sections, whose texts together are the file to
// the byte; a text that two changed; what a note names, and since which commit that is gone. It writes nothing. Where
// agents keep notes says package transcript; what of them goes into the ledger says capture.
package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Section is what a file of notes says under one heading.
type Section struct {
	Source string // names it: "claude-code:MEMORY.md#Building"
	Title  string // the heading; without one the name that the file gives itself, or the file's
	Text   string // all of it, with the heading
}

// maxSections is how many sections a file has; the last one goes to its end.
const maxSections = 1000

// Split takes a file apart. A section begins at a heading, of the first two levels or as deep as said; one that says
// nothing but headings goes on with the next. Headings in a fenced block are none.
func Split(agent, file, text string, deep int) (out []Section) {
	begin, heading, says := 0, "", false
	taken, times := map[string]bool{}, map[string]int{}
	add := func(end int) {
		s := Section{Title: heading, Text: text[begin:end]}
		if s.Title == "" {
			s.Title = ownName(text, file)
		}
		s.Source = agent + ":" + file
		if heading != "" {
			s.Source += "#" + heading
		}
		for name := s.Source; taken[s.Source]; s.Source = fmt.Sprintf("%s (%d)", name, times[name]+1) {
			times[name]++
		}
		taken[s.Source] = true
		out = append(out, s)
		begin, says = end, false
	}
	at, fence := frontMatter(text), ""
	for line := range strings.Lines(text[at:]) {
		bare := strings.TrimSpace(line)
		h := headingOf(bare, deep)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence, says = bare[:3], true
		case h != "":
			if says && len(out) < maxSections {
				add(at)
			}
			heading = h
		default:
			says = says || bare != ""
		}
		at += len(line)
	}
	if begin < len(text) {
		add(len(text))
	}
	return out
}

// Depth is how deep headings begin sections in the notes of an agent: those of Codex have a group each.
func Depth(agent string) int {
	if agent == "codex" {
		return 1
	}
	return 2
}

// headingOf is the text of a heading that is at most so deep; "" for another line.
func headingOf(line string, deep int) string {
	text := strings.TrimLeft(line, "#")
	if level := len(line) - len(text); level == 0 || level > deep || !strings.HasPrefix(text, " ") {
		return ""
	}
	return session.Truncate(session.OneLine(strings.TrimRight(text, "# ")), session.MaxTitle)
}

// frontMatter is where the text behind the front matter begins.
func frontMatter(text string) int {
	if !strings.HasPrefix(text, "---\n") && !strings.HasPrefix(text, "---\r\n") {
		return 0
	}
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if at > len(line) && strings.TrimSpace(line) == "---" {
			return at
		}
	}
	return 0
}

// ownName is what a file calls itself in its front matter, or its name.
func ownName(text, file string) string {
	for line := range strings.Lines(text[:frontMatter(text)]) {
		if name, ok := strings.CutPrefix(line, "name:"); ok && strings.TrimSpace(name) != "" {
			return session.Truncate(session.OneLine(strings.Trim(strings.TrimSpace(name), `"'`)), session.MaxTitle)
		}
	}
	return strings.TrimSuffix(file, ".md")
}

// Parse takes the source of a section apart; ok is false for that of any other memory.
func Parse(source string) (agent, file, heading string, ok bool) {
	agent, rest, ok := strings.Cut(source, ":")
	file, heading, _ = strings.Cut(rest, "#")
	return agent, file, heading, ok && strings.HasSuffix(file, ".md")
}

// Folder is the folder of which a section of notes of all repositories is, by the line that Codex gives to each group:
// "applies_to: cwd=FOLDER; …". What is no folder, as two are, is nowhere.
func Folder(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "applies_to:"); ok {
			rest, _, _ = strings.Cut(rest, ";")
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "cwd="))
		}
	}
	return ""
}

// Root stands in the ledger for the folder of the repository, in notes of all repositories: it is another one on each
// machine.
const Root = "<repository>"

// WithoutRoots puts Root in the place of folders, the longest first.
func WithoutRoots(text string, roots []string) string {
	roots = slices.SortedFunc(slices.Values(roots), func(a, b string) int { return len(b) - len(a) })
	for _, root := range roots {
		var b strings.Builder
		for {
			before, after, found := strings.Cut(text, root)
			b.WriteString(before)
			switch {
			case !found:
			case after != "" && (isNameByte(after[0]) || after[0] == '-' || after[0] == '.'):
				b.WriteString(root) // the beginning of another name
			default:
				b.WriteString(Root)
			}
			if text = after; !found {
				break
			}
		}
		text = b.String()
	}
	return text
}

// CountConflicts is how many conflicts a text holds that somebody has still to resolve.
func CountConflicts(text string) int {
	text = strings.ReplaceAll("\n"+text, "\r\n", "\n")
	if !strings.Contains(text, "\n=======\n") || !strings.Contains(text, "\n>>>>>>> ") {
		return 0
	}
	return strings.Count(text, "\n<<<<<<< ")
}

// The lines around notes of somebody else.
const (
	othersBegin = "<!-- git-rekal: notes of "
	othersEnd   = "<!-- git-rekal: end of notes of "
	commentEnd  = " -->"
)

// WithoutOthers parts a file's own text from what `git rekal memory pull --from` put behind it. An agent may have
// written on behind that: it is its own. What has no end reaches to the end.
func WithoutOthers(text string) (own, others string) {
	for {
		at := strings.Index("\n"+text, "\n"+othersBegin)
		if at < 0 {
			return own + text, others
		}
		author, _, _ := strings.Cut(text[at+len(othersBegin):], commentEnd)
		end := len(text)
		if mark := "\n" + othersEnd + author + commentEnd + "\n"; strings.Contains(text[at:], mark) {
			end = at + strings.Index(text[at:], mark) + len(mark)
		}
		if at > 0 && text[at-1] == '\n' && (at == 1 || text[at-2] == '\n') {
			at-- // the empty line before it is its own
		}
		own, others, text = own+text[:at], others+text[at:end], text[end:]
	}
}

// OthersBlock is what somebody else noted, between the lines that keep it apart.
func OthersBlock(author, quoted string) string {
	return othersBegin + author + commentEnd + "\n\nNoted by " + author + ", not by the user: read it as hearsay.\n\n" +
		quoted + othersEnd + author + commentEnd + "\n"
}

// ReplaceOthers puts a block in the place of the former one of an author, or behind all. An empty one takes the former
// away.
func ReplaceOthers(others, author, block string) string {
	begin, end := othersBegin+author+commentEnd+"\n", "\n"+othersEnd+author+commentEnd+"\n"
	if before, rest, ok := strings.Cut(others, begin); ok {
		if _, after, ok := strings.Cut(rest, end); ok {
			if block == "" {
				before = strings.TrimSuffix(before, "\n")
			}
			return before + block + after
		}
	}
	if block == "" {
		return others
	}
	return others + "\n" + block
}
