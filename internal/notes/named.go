package notes

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// The kinds of things that a note names.
const (
	File    = "file"    // also a folder
	Symbol  = "symbol"  // what code calls something
	Command = "command" // a target of make, or a script of a package
	Setting = "setting" // a variable of the environment, a key, an option
)

// Thing is something that a note says of the code.
type Thing struct {
	Kind string
	Name string // as the note has it, without line numbers
	In   string // of a symbol: the only file that the same sentence names
}

// How much of a text is looked at, in bytes, and for how many things: others write notes, too.
const (
	maxRead   = 64 << 10
	maxThings = 200
	maxName   = 500 // bytes
)

// Named are the things that a text names, each once, in their order. What stands between backticks or in a fenced block
// counts as code; of other words only those do that have the shape of a path, a call or a variable. A sentence that
// tells of what is no more names nothing.
func Named(text string) (out []Thing) {
	fenced := false
	text = text[:min(len(text), maxRead)]
	for line := range strings.Lines(text) {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fenced = !fenced
			continue
		}
		for _, said := range sentences(line, fenced) {
			if !fenced && pastWords.MatchString(codeSpan.ReplaceAllString(said, "")) {
				continue
			}
			out = appendThings(out, namedInSentence(said, fenced))
		}
	}
	return out
}

var (
	codeSpan  = lazy.Expr("``[^`]+``|`[^`]+`")
	sentence  = lazy.Expr(`[.;!?]\s+`)
	pastWords = lazy.Expr(`(?i)\b(removed?|removes|deleted?|dropped|renam(ed?|ing)|replac(ed?|es|ing)|former(ly)?|` +
		`previously|no longer|any ?more|instead of|(was|were) called|moved (from|out)|gone|never existed|` +
		`do(es)? not exist)\b`)
	linkTarget = lazy.Expr(`\]\([^)]*\)`)
	webAddress = lazy.Expr(`\b[a-z][a-z0-9+.-]*://\S+`)
)

// Sentences are those of a text outside of fenced blocks that tell of what is.
func Sentences(text string) (out []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for _, said := range sentences(line, false) {
			if !pastWords.MatchString(codeSpan.ReplaceAllString(said, "")) {
				out = append(out, said)
			}
		}
	}
	return out
}

// sentences parts a line. A period within code ends none.
func sentences(line string, fenced bool) (out []string) {
	if fenced {
		return []string{line}
	}
	hidden := codeSpan.ReplaceAllStringFunc(line, func(s string) string { return strings.Repeat("x", len(s)) })
	from := 0
	for _, at := range sentence.FindAllStringIndex(hidden, -1) {
		out, from = append(out, line[from:at[1]]), at[1]
	}
	return append(out, line[from:])
}

func appendThings(all, more []Thing) []Thing {
	for _, t := range more {
		isSame := func(o Thing) bool { return o.Kind == t.Kind && o.Name == t.Name }
		if len(all) < maxThings && len(t.Name) < maxName && !slices.ContainsFunc(all, isSame) {
			all = append(all, t)
		}
	}
	return all
}

func namedInSentence(said string, fenced bool) (out []Thing) {
	plain := webAddress.ReplaceAllString(said, " ")
	if fenced { // what code in an example calls may be anybody's
		isSymbol := func(t Thing) bool { return t.Kind == Symbol }
		return slices.DeleteFunc(inCode(plain), isSymbol)
	}
	for _, span := range codeSpan.FindAllString(plain, -1) {
		out = appendThings(out, inCode(strings.Trim(span, "`")))
	}
	plain = linkTarget.ReplaceAllString(codeSpan.ReplaceAllString(plain, " "), " ")
	for word := range strings.FieldsSeq(plain) {
		if t, ok := thingOf(word); ok && (t.Kind != Symbol || isCall(word)) && (t.Kind != Setting || isVariable(t.Name)) {
			out = appendThings(out, []Thing{t})
		}
	}
	files := slices.DeleteFunc(slices.Clone(out), func(t Thing) bool { return t.Kind != File })
	for i := range out {
		if out[i].Kind == Symbol && len(files) == 1 {
			out[i].In = files[0].Name
		}
	}
	return out
}

// inCode are the things that a piece of code names: one word, or a command with its arguments.
func inCode(code string) (out []Thing) {
	words := strings.Fields(code)
	if len(words) == 1 {
		if t, ok := thingOf(words[0]); ok {
			return []Thing{t}
		}
		if plainName.MatchString(words[0]) && len(words[0]) > 3 {
			return []Thing{{Kind: Symbol, Name: words[0]}}
		}
		return nil
	}
	for i := range words {
		begins := i == 0 || strings.HasSuffix(words[i-1], "&&") || strings.HasSuffix(words[i-1], ";")
		if target := targetOf(words[i:]); target != "" && begins {
			out = appendThings(out, []Thing{{Kind: Command, Name: target}})
		}
		if t, ok := thingOf(words[i]); ok {
			out = appendThings(out, []Thing{t})
		}
	}
	return out
}

// runners are the programs whose first argument names something of the repository: where that is told, and how many
// words stand before it.
//
//nolint:gochecknoglobals // a table
var runners = map[string]int{
	"make": 1, "gmake": 1, "just": 1, "npm run": 2, "npm run-script": 2, "pnpm run": 2, "yarn run": 2, "bun run": 2,
	"yarn": 1, "pnpm": 1, "task": 1, "composer run": 2, "deno task": 2,
}

// targetOf is a command that the repository defines, with the program that runs it: "make lint"; "" for another one.
func targetOf(words []string) string {
	for n := min(2, len(words)-1); n > 0; n-- {
		program := strings.Join(words[:n], " ")
		if runners[program] != n {
			continue
		}
		name := strings.TrimRight(words[n], ".,;:)")
		if plainName.MatchString(name) {
			return program + " " + name
		}
		return ""
	}
	return ""
}

var (
	plainName  = lazy.Expr(`^[A-Za-z][A-Za-z0-9_:-]*$`)
	identifier = lazy.Expr(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
	joined     = lazy.Expr(`^[A-Za-z_$][A-Za-z0-9_$-]*(?:(?:\.|::|#|->)[A-Za-z_$][A-Za-z0-9_$-]*)+$`)
	variable   = lazy.Expr(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)
	option     = lazy.Expr(`^--[a-z][a-z0-9-]*$`)
	somePath   = lazy.Expr(`^[A-Za-z0-9_.+-][A-Za-z0-9_.+/-]*$`)
	place      = lazy.Expr(`(?:[:#]L?[0-9]+(?:[-:,]L?[0-9]+)*|::[A-Za-z_].*|#[a-z][a-z0-9-]*)$`)
	version    = lazy.Expr(`^v?[0-9]+(?:\.[0-9]+)*$`)
)

func isCall(word string) bool     { return strings.Contains(word, "()") || strings.Contains(word, "_") }
func isVariable(name string) bool { return variable.MatchString(name) }

// thingOf is what one word names.
func thingOf(word string) (Thing, bool) {
	word = strings.Trim(word, "\"'`*,;!?<>[]{}")
	word = strings.TrimRight(strings.TrimLeft(word, "("), ".:)")
	call := ""
	if before, args, ok := strings.Cut(word, "("); ok {
		word, call = before, "("+args
	}
	if option.MatchString(word) {
		return Thing{Kind: Setting, Name: word}, true
	}
	if key, _, ok := strings.Cut(word, "="); ok {
		word = key
	}
	if strings.ContainsAny(word, "*?{}$<>|\\…%~,") || strings.Contains(word, "://") || version.MatchString(word) {
		return Thing{}, false
	}
	if t, ok := fileOf(word); ok && call == "" {
		return t, true
	}
	switch {
	case variable.MatchString(word):
		return Thing{Kind: Setting, Name: word}, true
	case joined.MatchString(word):
		return Thing{Kind: Symbol, Name: word}, true
	case identifier.MatchString(word) && (call != "" || isShapedAsCode(word)) && len(word) > 2:
		return Thing{Kind: Symbol, Name: word}, true
	}
	return Thing{}, false
}

// isShapedAsCode reports whether no prose has such a word: with an underscore, or a capital behind a small letter.
func isShapedAsCode(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] == '_' || word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// fileOf is a path in the repository: one with a folder, or the name of a file.
func fileOf(word string) (Thing, bool) {
	word = strings.TrimSuffix(strings.TrimPrefix(place.ReplaceAllString(word, ""), "./"), "...")
	word, isFolder := strings.CutSuffix(word, "/")
	if !somePath.MatchString(word) || strings.Contains(word, "..") || strings.Contains(word, "//") {
		return Thing{}, false
	}
	if isFolder || strings.Contains(word, "/") {
		return Thing{Kind: File, Name: word}, true
	}
	ext := strings.TrimPrefix(path.Ext(word), ".")
	return Thing{Kind: File, Name: word}, ext != "" && ext != word && knownEnds()[ext] || knownFiles()[word]
}

func wordSet(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			set[w] = true
		}
		return set
	})
}

//nolint:gochecknoglobals // tables
var (
	knownEnds = wordSet(`go mod sum py pyi ipynb js mjs cjs jsx ts tsx vue svelte rs rb java kt kts scala groovy gradle
		c h cc cpp hpp cxx m mm swift cs fs php pl pm lua r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1 bat
		sql proto graphql tf hcl json jsonc json5 yaml yml toml ini cfg conf env xml html css scss sass less md mdx rst
		adoc txt csv lock mk cmake dockerfile txtar tmpl j2 patch service plist`)
	knownFiles = wordSet(`Makefile GNUmakefile Dockerfile Jenkinsfile Vagrantfile Procfile Gemfile Rakefile Justfile
		justfile CMakeLists.txt .gitignore .gitattributes .editorconfig .dockerignore .env .npmrc .nvmrc .golangci.yml
		.pre-commit-config.yaml`)
)
