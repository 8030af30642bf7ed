package markdown

import (
	"embed"
	"html/template"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// embedded are lexers of chroma, a file for each language. Its own package of them reads 270 whenever the process
// starts, which takes 7 ms.
//
//go:embed lexers/*.xml
var embedded embed.FS

// How many bytes of code have colours, of a block and of a page of a file: regular expressions with backtracking read 1
// MB/s and less.
const (
	colouredMost     = 8 << 10
	fileColouredMost = 48 << 10
)

// lexers are by the names, the other names and the file endings of their languages.
type lexers struct {
	once     sync.Once
	registry *chroma.LexerRegistry
}

// of is the lexer of a language; nil for none.
func (l *lexers) of(language string) chroma.Lexer {
	l.once.Do(func() {
		l.registry = chroma.NewLexerRegistry()
		files, _ := embedded.ReadDir("lexers")
		for _, f := range files {
			if lexer, err := chroma.NewXMLLexer(embedded, "lexers/"+f.Name()); err == nil { // a test reads each
				l.registry.Register(lexer)
			}
		}
	})
	if language == "" {
		return nil
	}
	return l.registry.Get(language)
}

func (r *Renderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	_, _ = w.WriteString(`<pre class="code">`)
	colour(w, r.tokens(string(n.Lines().Value(source)), language, colouredMost))
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, nil
}

// Lines are lines of a file as HTML, with the colours of its language, which its name tells.
func (r *Renderer) Lines(name string, lines []string) []template.HTML {
	out := make([]template.HTML, 0, len(lines))
	parted := chroma.SplitTokensIntoLines(r.tokens(strings.Join(lines, "\n"), path.Base(name), fileColouredMost))
	for i, l := range lines {
		tokens := []chroma.Token{{Value: l}}
		if i < len(parted) && strings.TrimSuffix(chroma.Stringify(parted[i]...), "\n") == l {
			tokens = parted[i]
			last := &tokens[len(tokens)-1]
			last.Value = strings.TrimSuffix(last.Value, "\n")
		}
		var b strings.Builder
		colour(&b, tokens)
		out = append(out, template.HTML(b.String())) //nolint:gosec // G203: colour escapes it
	}
	return out
}

// colour writes code, with a span around each token that has a colour.
func colour(w io.Writer, tokens []chroma.Token) {
	for _, t := range tokens {
		class := colourClass(t.Type)
		if class != "" {
			_, _ = io.WriteString(w, `<span class="`+class+`">`)
		}
		_, _ = w.Write(util.EscapeHTML([]byte(t.Value)))
		if class != "" {
			_, _ = io.WriteString(w, "</span>")
		}
	}
}

// tokens parts code; what has no lexer is one token.
func (r *Renderer) tokens(code, language string, most int) (out []chroma.Token) {
	out = []chroma.Token{{Value: code}}
	lexer := r.lexers.of(language)
	if lexer == nil || len(code) > most || r.slow.tooOften() {
		return out
	}
	defer func() {
		if recover() != nil { // chroma's way to say that an expression took too long
			r.slow.add()
		}
	}()
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return out
	}
	began, all := r.slow.now(), []chroma.Token(nil)
	for t := tokens(); t != chroma.EOF; t = tokens() {
		if r.slow.now().Sub(began) > colouringMost {
			r.slow.add()
			return out
		}
		if n := len(all); n > 0 && all[n-1].Type == t.Type {
			all[n-1].Value += t.Value
		} else {
			all = append(all, t)
		}
	}
	return all
}

// colouringMost is how long the colours of one piece of code take; its 8 KB take some 10 ms.
const colouringMost = 100 * time.Millisecond

// slowCode remembers when code took too long. Somebody may have written a session for that: behind slowMost pieces
// there are no colours for a minute.
type slowCode struct {
	now  func() time.Time
	mu   sync.Mutex
	last []time.Time
}

const slowMost = 3

func (s *slowCode) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = append(s.last, s.now())
	s.last = s.last[max(0, len(s.last)-slowMost):]
}

func (s *slowCode) tooOften() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.last) == slowMost && s.now().Sub(s.last[0]) < time.Minute
}

// colourClass is what style.css gives a colour; "" for none.
func colourClass(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "com"
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return "key"
	case t.InSubCategory(chroma.LiteralString):
		return "str"
	case t.InSubCategory(chroma.LiteralNumber):
		return "num"
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameAttribute:
		return "fun"
	case t == chroma.GenericInserted:
		return "ins"
	case t == chroma.GenericDeleted:
		return "del"
	}
	return ""
}
