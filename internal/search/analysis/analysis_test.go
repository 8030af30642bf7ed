package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/google/go-cmp/cmp"
)

// show writes tokens as their terms, function words in parentheses.
func show(tokens []analysis.Token) string {
	var out []string
	for _, t := range tokens {
		if t.Kind == analysis.Stop {
			out = append(out, "("+strings.TrimPrefix(t.Term, analysis.MarkStop)+")")
		} else {
			out = append(out, t.Term)
		}
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"punctuation", "?! … -- // ...", ""},
		{"a stem and its form", "Running", "run =running"},
		{"function words have no form", "the user's", "(the) user =user (s)"},
		{"camel case", "parseQuery", "pars queri =parsequery"},
		{"acronym inside", "getHTTPStatus", "get http status =gethttpstatus"},
		{"plural of an acronym", "APIs", "api =apis"},
		{"letter and digit", "E4042", "e 4042 =e4042"},
		{"number", "404", "404 =404"},
		{"snake case", "MAX_RETRY_count", "max retri count =max_retry_count"},
		{"outer underscores", "__init__", "init =init"},
		{"one run", "src/auth/jwt.go", "src =src auth =auth jwt =jwt go =go ~src/auth/jwt.go ~jwt.go"},
		{"a place in a file", "./a/b.go:42:7", "(a) b =b go =go 42 =42 7 =7 ~a/b.go:42:7 ~a/b.go ~b.go"},
		{"a place without a folder", "b.go#L12", "b =b go =go l 12 =l12 ~b.go#l12 ~b.go"},
		{"a Windows path", `C:\src\jwt.go`, `c =c src =src jwt =jwt go =go ~c:\src\jwt.go ~jwt.go`},
		{
			"a test's ID", "auth/jwt_test.py::test_leap",
			"auth =auth jwt test =jwt_test py =py test leap =test_leap ~auth/jwt_test.py::test_leap ~auth/jwt_test.py ~jwt_test.py",
		},
		{"a file without a suffix", "cmd/Makefile", "cmd =cmd makefil =makefile ~cmd/makefile"},
		{"a hash, short", "in 3F2a91b", "(in) =3f2a91b"},
		{"a hash, whole", "3f2a91bcdef0123456789abcdef0123456789abc", "=3f2a91b"},
		{"no hash", "1234567 defaced f00", "1234567 =1234567 defac =defaced f 00 =f00"},
		{"flags and scopes", "--dry-run std::vector", "dri =dry run =run ~dry-run std =std vector =vector ~std::vector"},
		{"end of a sentence", "Done. Next: go.", "done =done next =next go =go"},
		{"accents", "Café CAFÉ", "cafe =cafe cafe =cafe"},
		{"decomposed accents", "Cafe\u0301", "cafe =cafe"},
		{"Cyrillic", "Настройками настройки", "настройк =настройками настройк =настройки"},
		{"Cyrillic accents", "новый ещё", "нов =новый ещ =еще"},
		{"full width", "１２３", "123 =123"},
		{"Chinese", "数据库连接", "数据 据库 库连 连接"},
		{"one character", "库", "库"},
		{"Korean", "검색어", "검색 색어"},
		{"mixed scripts", "測試test", "測試 test"},
		{"invalid UTF-8", "ab\xffcd", "ab =ab cd =cd"},
		{"NUL", "ab\x00cd", "ab =ab cd =cd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(analysis.New().Tokens(tt.text))); diff != "" {
				t.Errorf("Tokens(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestTokensCutsLongWords(t *testing.T) {
	for _, tok := range analysis.New().Tokens(strings.Repeat("ü", 1000) + " " + strings.Repeat("x", 1<<16)) {
		if len(tok.Term) > 200 || !utf8.ValidString(tok.Term) {
			t.Errorf("term of %d bytes, valid %v", len(tok.Term), utf8.ValidString(tok.Term))
		}
	}
}

// seeks checks that who seeks a term of a text finds it wherever all terms are read.
func seeks(t *testing.T, text string) {
	t.Helper()
	all := slices.Clone(analysis.New().Tokens(text))
	for _, sought := range all {
		got := analysis.Seeking([]string{sought.Term}).Tokens(text)
		for i, tok := range all {
			if found := i < len(got) && got[i].Term == sought.Term; found != (tok.Term == sought.Term) {
				t.Fatalf("token %d of %.80q is %q: %q found %v", i, text, tok.Term, sought.Term, found)
			}
		}
	}
}

// TestSeeking: a stem begins as its word does, also where the word is an exception to the stemmer's rules.
func TestSeeking(t *testing.T) {
	for _, text := range []string{
		"skis skies dying lying tying idly gently ugly early only singly news sky the these",
		"getHTTPStatus404 src/auth/jwt.go --dry-run Tested",
		"yyyying 'ied YES yet", "говорили приехавшая ёлки ЗНАНИЯ", "数据库 and ファイル", "İstanbul ßen Ωmega ﬁnal",
	} {
		seeks(t, text)
	}
}

// words checks that who asks for words alone gets those of all tokens.
func words(t *testing.T, text string) {
	t.Helper()
	var want []string
	for _, tok := range analysis.New().Tokens(text) {
		if tok.Kind == analysis.Word {
			want = append(want, tok.Term)
		}
	}
	var got []string
	for _, tok := range analysis.Words().Tokens(text) {
		if tok.Kind == analysis.Word {
			got = append(got, tok.Term)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("words of %.80q (-want +got):\n%s", text, diff)
	}
}

// TestNumbers: a term has one number, and no other term has it.
func TestNumbers(t *testing.T) {
	a, terms, ids := analysis.New(), map[int]string{}, map[string]int{}
	for range 2 {
		for _, tok := range a.Tokens("src/auth/jwt.go tested testing 数据库连接 the 3f2a91b getHTTPStatus " +
			strings.Repeat("x", 100)) {
			if had, ok := terms[tok.ID]; ok && had != tok.Term {
				t.Errorf("%d is %q and %q", tok.ID, had, tok.Term)
			}
			if had, ok := ids[tok.Term]; ok && had != tok.ID {
				t.Errorf("%q is %d and %d", tok.Term, had, tok.ID)
			}
			terms[tok.ID], ids[tok.Term] = tok.Term, tok.ID
		}
	}
	if len(terms) != len(ids) {
		t.Errorf("%d numbers of %d terms", len(terms), len(ids))
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"", "getHTTPStatus404", "src/auth/jwt.go", "数据库 and ファイル", "--dry-run\xff\x00", "__A__b1C2",
		"é\u0301́", "ﬁ１２", "YYYy'ied", "̀a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := analysis.New()
		first := show(a.Tokens(s))
		if again := show(a.Tokens(s)); again != first {
			t.Errorf("the same text gives %q, then %q", first, again)
		}
		if len(s) < 200 {
			seeks(t, s)
		}
		words(t, s)
		for _, tok := range a.Tokens(s) {
			if tok.Term == "" || !utf8.ValidString(tok.Term) || strings.ContainsAny(tok.Term, " \n\x00") {
				t.Errorf("term %q of %q", tok.Term, s)
			}
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("I'll add getHTTPStatus to src/auth/jwt.go and run the tests again. ", 100)
	b.SetBytes(int64(len(text)))
	a := analysis.New()
	for b.Loop() {
		a.Tokens(text)
	}
}
