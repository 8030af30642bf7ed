package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// excluder finds mentions of the paths that rekal.exclude names.
type excluder struct{ globs []*regexp.Regexp }

// newExcluder reads globs as .gitignore does: "*" and "?" stay within a folder, "**" does not; [a-z] is one of them,
// [!a-z] none; a pattern without a slash fits at any depth, one with a slash from the repository's root or wherever
// that may be said to lie in an absolute path; a folder stands for all below it.
func newExcluder(globs []string) excluder {
	var x excluder
	for _, g := range globs {
		g = strings.Trim(strings.TrimPrefix(strings.TrimSpace(g), "./"), "/")
		for strings.HasPrefix(g, "**/") {
			g = g[len("**/"):]
		}
		if g == "" || g == "*" || g == "**" {
			continue
		}
		re, err := regexp.Compile(
			`(?:^|[/\\\s"'` + "`" + `=:(,\[<>|;&{@])` + globPattern(g) + `(?:$|[/\\\s"'` + "`" + `:,;)\]}<>|&?!]|\.(?:\W|$))`)
		if err == nil { // the only way to fail is a range that runs backwards, which names nothing
			x.globs = append(x.globs, re)
		}
	}
	return x
}

// globPattern is the expression for a glob.
func globPattern(g string) string {
	const inName, below = `[^/\\\s"'` + "`" + `]`, `[^\s"'` + "`" + `]`
	var b strings.Builder
	for _, part := range globPart.FindAllString(g, -1) {
		switch {
		case part == "/**/":
			b.WriteString(`[/\\](?:` + below + `*[/\\])?`)
		case part == "**":
			b.WriteString(below + "*")
		case part == "*":
			b.WriteString(inName + "*")
		case part == "?":
			b.WriteString(inName)
		case part == "/":
			b.WriteString(`[/\\]`)
		case len(part) > 1 && part[0] == '[':
			b.WriteString(bracketPattern(part))
		default:
			b.WriteString(regexp.QuoteMeta(part))
		}
	}
	return b.String()
}

var globPart = lazy.Expr(`/\*\*/|\*\*|\[[!^\]]*[^!^\]][^\]]*\]|[*?/\[]|[^*?/\[]+`)

// bracketPattern is the expression for one of the letters in brackets, or for the brackets as they stand: folders are
// called "[id]", and who excludes one must not find it stored.
func bracketPattern(g string) string {
	letters, not := g[1:len(g)-1], ""
	if letters[0] == '!' || letters[0] == '^' {
		letters, not = letters[1:], `^/\\`
	}
	return "(?:" + regexp.QuoteMeta(g) + "|[" + not + regexp.QuoteMeta(letters) + "])"
}

// namesExcluded reports whether s names an excluded path.
func (x excluder) namesExcluded(s string) bool {
	return slices.ContainsFunc(x.globs, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// drop takes out of e what concerns an excluded path, and returns a mark for each text, call and file that was: files
// of a commit are gone; a call keeps nothing but its tool, and a text becomes Excluded, so that turns and calls keep
// their numbers.
func (x excluder) drop(e *session.Entry) (out []Mark) {
	if len(x.globs) == 0 {
		return nil
	}
	excluded := func(at Mark, paths ...string) bool {
		if !slices.ContainsFunc(paths, x.namesExcluded) {
			return false
		}
		out = append(out, at.withSpan(span{hi: len(Excluded), rule: "excluded", trigger: "rekal.exclude"}, Excluded))
		return true
	}
	file := Mark{In: InFile, Turn: -1}
	if c := e.Checkpoint; c != nil {
		c.Files = slices.DeleteFunc(c.Files, func(f session.File) bool { return excluded(file, f.Path, f.OldPath) })
	}
	e.Wrote = slices.DeleteFunc(e.Wrote, func(w session.Wrote) bool { return excluded(file, w.Path) })
	for i := range e.Sessions {
		for j := range e.Sessions[i].ToolCalls {
			c := &e.Sessions[i].ToolCalls[j]
			in := InPath
			if c.Path == "" {
				in = InCommand
			}
			if excluded(Mark{Session: e.Sessions[i].ID, In: in, Turn: c.Turn}, c.Path, c.Cmd, string(c.Terms)) {
				c.Path, c.Cmd, c.Terms = "", "", ""
			}
		}
	}
	all, made := texts(e)
	for _, m := range made { // with the prompt that it begins
		if excluded(m.place(), *m.prompt.at) {
			*m.title = Excluded
		}
	}
	for _, t := range all {
		if excluded(t.place, *t.at) {
			*t.at = Excluded
		}
	}
	return out
}

// ExcludeLines replaces each line of a text that names an excluded path: of the output of a command the rest may stay.
func (r *Redactor) ExcludeLines(text string) string {
	if len(r.exclude.globs) == 0 || !r.exclude.namesExcluded(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if r.exclude.namesExcluded(l) {
			lines[i] = Excluded
		}
	}
	return strings.Join(lines, "\n")
}
