package redact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// vector is one text with which gitleaks tests one of its rules.
type vector struct {
	Rule, Path, Text string
	Positive         bool
	Secrets          []string // what the rule, alone, finds in the text
}

// TestLongVectorsOfTheLibrary: at least 99 % of what gitleaks' rules are tested with is taken out.
func TestLongVectorsOfTheLibrary(t *testing.T) {
	script := filepath.Join(harness.Root(t), ".ci/vectors.sh")
	if _, err := os.Stat(script); err != nil { // go test runs anew when it changes
		t.Fatal(err)
	}
	vectors, err := exec.CommandContext(t.Context(), script).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	r := redact.New()
	rules := map[string]bool{}
	var all, found, negative, alarms int
	for d := json.NewDecoder(bytes.NewReader(vectors)); ; {
		var v vector
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(v.Rule, "-id") { // an ID is no secret
			continue
		}
		got := applyText(t, r, v.Text)
		if !v.Positive {
			negative++
			if got != v.Text {
				alarms++
			}
			continue
		}
		all++
		rules[v.Rule] = true
		if withheld(v, got) {
			found++
			continue
		}
		t.Logf("missed: %s (%s): %q became %q", v.Rule, v.Path, v.Text, got)
	}
	t.Logf("%d of %d positives of %d rules (%.2f %%); %d of %d negatives changed by any rule",
		found, all, len(rules), 100*float64(found)/float64(all), alarms, negative)
	if all < 500 || float64(found) < 0.99*float64(all) {
		t.Errorf("%d of %d", found, all)
	}
}

// withheld reports whether nothing of what the rule finds is left.
func withheld(v vector, got string) bool {
	if len(v.Secrets) == 0 {
		return got != v.Text
	}
	for _, s := range v.Secrets {
		if strings.Contains(got, s) {
			return false
		}
	}
	return true
}
