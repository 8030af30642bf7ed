package recall

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
)

// pathspec is a pathspec of git, parsed (gitglossary(7), "pathspec").
type pathspec struct {
	body                              string
	top, icase, literal, glob, except bool
}

// errPathspec is a magic that only git itself can follow.
var errPathspec = errors.New("of pathspec magic only top, icase, literal, glob and exclude are known")

// parsePathspec reads ":(icase,glob)src/**", ":!vendor", "src/*.go".
func parsePathspec(text string) (p pathspec, err error) {
	rest, magic := strings.CutPrefix(text, ":")
	if !magic {
		return pathspec{body: text}, nil
	}
	if long, ok := strings.CutPrefix(rest, "("); ok {
		words, body, closed := strings.Cut(long, ")")
		if !closed {
			return p, errPathspec
		}
		p.body = body
		known := map[string]*bool{
			"top": &p.top, "icase": &p.icase, "literal": &p.literal, "glob": &p.glob,
			"exclude": &p.except, "": new(bool),
		}
		for word := range strings.SplitSeq(words, ",") {
			says := known[strings.TrimSpace(word)]
			if says == nil {
				return p, errPathspec
			}
			*says = true
		}
		return p, nil
	}
	for p.body = rest; p.body != ""; p.body = p.body[1:] {
		switch p.body[0] {
		case '/':
			p.top = true
		case '!', '^':
			p.except = true
		case ':':
			p.body = p.body[1:]
			return p, nil
		default:
			return p, nil
		}
	}
	return p, nil
}

// pattern is the RE2 expression of the paths from the repository's root that a pathspec names, as typed in the folder
// in which the repository was opened.
func (p pathspec) pattern(repo *git.Repo) (string, error) {
	body := path.Clean(p.body)
	if !p.top {
		inside, ok := repo.PathInside(p.body + "/x")
		if !ok {
			return "", errors.New("outside of this repository")
		}
		body = path.Dir(inside)
	}
	flags := "(?s)"
	if p.icase {
		flags = "(?si)"
	}
	if body == "." || body == "/" {
		return flags, nil
	}
	body = strings.TrimPrefix(body, "/")
	exact := regexp.QuoteMeta(body) + "(?:/.*)?" // it, or what lies in it
	if p.literal || !strings.ContainsAny(body, `*?[\`) {
		return flags + "^" + exact + "$", nil
	}
	return flags + "^(?:" + exact + "|" + p.wildcardPattern(body) + ")$", nil
}

// wildcardPattern is a body with wildcards as RE2. Without "glob", these match slashes, too.
func (p pathspec) wildcardPattern(body string) string {
	any, one := ".*", "."
	if p.glob {
		any, one = "[^/]*", "[^/]"
	}
	var out strings.Builder
	for i := 0; i < len(body); i++ {
		rest := body[i:]
		switch {
		case p.glob && strings.HasPrefix(rest, "**/") && (i == 0 || body[i-1] == '/'):
			out.WriteString("(?:.*/)?")
			i += 2
		case p.glob && rest == "**" && (i == 0 || body[i-1] == '/'):
			out.WriteString(".*")
			i++
		case rest[0] == '*':
			out.WriteString(any)
		case rest[0] == '?':
			out.WriteString(one)
		case rest[0] == '[' && bracketLength(rest) > 0:
			n := bracketLength(rest)
			out.WriteString(classPattern(rest[:n]))
			i += n - 1
		case rest[0] == '\\' && len(rest) > 1:
			out.WriteString(regexp.QuoteMeta(rest[1:2]))
			i++
		default:
			out.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return out.String()
}

// bracketLength is the length of a bracket expression at the beginning of a text; 0 for none.
func bracketLength(text string) int {
	from := 1
	if len(text) > 1 && (text[1] == '!' || text[1] == '^') {
		from = 2
	}
	if end := strings.IndexByte(text[min(len(text), from+1):], ']'); end >= 0 {
		return from + 1 + end + 1
	}
	return 0
}

func classPattern(text string) string {
	inner := text[1 : len(text)-1]
	not := ""
	if inner[0] == '!' || inner[0] == '^' {
		not, inner = "^", inner[1:]
	}
	inner = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(inner)
	if _, err := regexp.Compile("[" + not + inner + "]"); err != nil { // "[z-a]"
		return regexp.QuoteMeta(text)
	}
	return "[" + not + inner + "]"
}

// pathsOf are the paths that match one of the including pathspecs and none of the excluding ones.
func pathsOf(repo *git.Repo, specs []string) (out db.Paths, err error) {
	var match, except []string
	for _, text := range specs {
		p, err := parsePathspec(text)
		var pattern string
		if err == nil {
			pattern, err = p.pattern(repo)
		}
		if err != nil {
			return out, name.WrongFilter("path", fmt.Errorf("%q: %w", text, err))
		}
		if pattern = "(?:" + pattern + ")"; p.except {
			except = append(except, pattern)
		} else {
			match = append(match, pattern)
		}
	}
	return db.Paths{Match: strings.Join(match, "|"), Except: strings.Join(except, "|")}, nil
}
