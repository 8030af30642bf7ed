package markdown

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	all "github.com/alecthomas/chroma/v2/lexers"

	"github.com/git-rekal/git-rekal/tests/harness"
)

var update = flag.Bool("update", false, "write the lexers of the chroma in go.mod")

// languages have colours.
var languages = []string{
	"bash", "c", "cpp", "csharp", "css", "diff", "docker", "elixir", "go", "graphql", "haskell", "hcl", "html", "ini",
	"java", "javascript", "json", "kotlin",
	"lua", "make", "php", "powershell", "protobuf", "python", "ruby", "rust", "scala", "sql", "swift", "toml", "tsx",
	"typescript", "xml", "yaml", "zig",
}

// TestLexersAreTheLibrarys holds lexers/ against those of the chroma in go.mod.
func TestLexersAreTheLibrarys(t *testing.T) {
	for _, language := range languages {
		want, file := generated(t, language), filepath.Join("lexers", language+".xml")
		if *update {
			if err := os.WriteFile(file, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not of the version in go.mod: go test ./internal/markdown -run TestLexersAreTheLibrarys -update; %v",
				file, err)
		}
	}
	if files, err := filepath.Glob("lexers/*.xml"); err != nil || len(files) != len(languages) {
		t.Errorf("%d files for %d languages, %v", len(files), len(languages), err)
	}
}

// generated is a lexer as a file. What stands between a Go file's backquotes is a template to chroma, which no file can
// say; here it is a string.
func generated(t *testing.T, language string) []byte {
	t.Helper()
	lexer, ok := all.Get(language).(*chroma.RegexLexer)
	if !ok {
		t.Fatalf("chroma has no lexer of regular expressions for %s", language)
	}
	if language == "go" {
		rules, err := lexer.Rules()
		if err != nil {
			t.Fatal(err)
		}
		rules = rules.Clone()
		for i, r := range rules["root"] {
			if strings.HasPrefix(r.Pattern, "(`)") {
				rules["root"][i] = chroma.Rule{Pattern: "`[^`]*`", Type: chroma.LiteralString}
			}
		}
		if lexer, err = chroma.NewLexer(lexer.Config(), func() chroma.Rules { return rules }); err != nil {
			t.Fatal(err)
		}
	}
	xml, err := chroma.Marshal(lexer)
	if err != nil {
		t.Fatalf("%s: %v", language, err)
	}
	states := stateElement.FindAll(xml, -1) // in the order of a map
	slices.SortFunc(states, bytes.Compare)
	i := -1
	return append(stateElement.ReplaceAllFunc(xml, func([]byte) []byte { i++; return states[i] }), '\n')
}

var stateElement = regexp.MustCompile(`(?s) *<state .*?</state>\n`)

// TestLexers reads each, and has it read code: what comes out is what went in, and has colours.
func TestLexers(t *testing.T) {
	r := New(time.Now)
	for _, language := range languages {
		lexer := r.lexers.of(language)
		if lexer == nil {
			t.Errorf("%s: no lexer", language)
			continue
		}
		const code = "<a b=\"c\">\n# x\n[a]\nif (x == 1) { return \"a\" } // y\n@@ -1 +1 @@\n-a\n+b\n$ ls\nimport a\n<script>let x = 1</script><style>a { color: red }</style>\n"
		tokens, err := lexer.Tokenise(nil, code)
		if err != nil {
			t.Errorf("%s: %v", language, err)
			continue
		}
		var b strings.Builder
		colours := 0
		for _, token := range tokens.Tokens() {
			b.WriteString(token.Value)
			if colourClass(token.Type) != "" {
				colours++
			}
		}
		harness.Equal(t, language, code, b.String())
		if colours == 0 {
			t.Errorf("%s: no colours", language)
		}
	}
	for _, name := range []string{"", "klingon", "x.klingon"} {
		if r.lexers.of(name) != nil {
			t.Errorf("%q has a lexer", name)
		}
	}
}
