package failure_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/failure"
	"github.com/git-rekal/git-rekal/internal/session"
)

func TestTerms(t *testing.T) {
	for _, tt := range []struct {
		name, output string
		hidden       bool // a pipe hid the status
		want         []string
	}{
		{
			"a linter", "a/b.go:10:3: Error return value of `os.WriteFile` is not checked (errcheck)\n", false,
			[]string{"error return value of is not checked", "errcheck", "b.go", "os.WriteFile"},
		},
		{"a compiler", "./b.go:39:18: undefined: paths.Validate\n", false, []string{"undefined", "b.go", "paths.Validate"}},
		{"an exception", "Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'yaml'\n", false, []string{"traceback most call", "no module named", "ModuleNotFoundError", "yaml"}},
		{"a shell", "cat: notes/a: No such file or directory\n", false, []string{"no such file or directory", "notes/a"}},
		{
			"an option", "fatal: unrecognized argument: --no-stat\n", false,
			[]string{"fatal unrecognized argument", "--no-stat"},
		},
		{
			"a runner of tasks says nothing",
			"[lint] ERROR task failed\nmake: *** [lint] Error 1\nx.go:1:1: declared and not used: y2 (typecheck)\n", false,
			[]string{"declared and not used", "typecheck", "x.go"},
		},
		{
			"words of a customer's data stay here", "error: cannot bill ACME for Jane's yacht\n", false,
			[]string{"error cannot for"},
		},
		{
			"what stands beside a secret's name stays here",
			"error: invalid token 's3cr3tValue' for deployKey correctHorseBattery\n", false,
			[]string{"error invalid token for"},
		},
		{
			"so does a login", "fatal: unable to access 'https://me:hunter2@example.com/x.git/'\n", false,
			[]string{"fatal unable to access"},
		},
		{"and what may be drawn by lot", "error: unexpected Zx81kQp0v7Lm3Rt9\n", false, []string{"error unexpected"}},
		{"nothing", "", false, nil},
		{
			"a test, through a pipe", "--- FAIL: TestCart/empty (0.00s)\n    cart_test.go:9: got 1, want 2\nFAIL\n", true,
			[]string{"got want", "cart_test.go", "TestCart/empty"},
		},
		{"the word error, through a pipe", "grep found error in a sentence\n", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := failure.Terms(tt.output, !tt.hidden).List()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTermsAreBounded reads an output with more names than a call keeps.
func TestTermsAreBounded(t *testing.T) {
	var long strings.Builder
	for range 100 {
		long.WriteString("x.go:1:1: undefined: " + strings.Repeat("LongName", 20) + "\nx.go:2:2: undefined: ShortName" +
			strings.Repeat("x", long.Len()%50) + "\n")
	}
	got := failure.Terms(long.String(), true).List()
	if len(got) > session.MaxTerms {
		t.Errorf("%d terms", len(got))
	}
	for _, term := range got {
		if len(term) > session.MaxTerm {
			t.Errorf("a term of %d bytes", len(term))
		}
	}
}
