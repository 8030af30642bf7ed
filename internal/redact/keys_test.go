package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestNumberedPrivateKey: a key is found where a viewer printed a number before each line.
func TestNumberedPrivateKey(t *testing.T) {
	for _, format := range []string{"    %d\t%s\n", "%6d→%s\n", "%d:%s\n", "%d | %s\n"} {
		t.Run(format, func(t *testing.T) {
			d := draw{rand.New(rand.NewPCG(1, 5))}
			key, _ := d.pem("RSA ", 12)
			lines := strings.Split(key, "\n")
			var text strings.Builder
			for i, line := range lines {
				fmt.Fprintf(&text, format, i+1, line)
			}
			got := applyText(t, redact.New(), text.String())
			for _, line := range lines[1 : len(lines)-1] {
				if strings.Contains(got, line) {
					t.Fatalf("%q is left in %q", line, got)
				}
			}
		})
	}
}
