package result_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/result"
)

// TestPeople: a name stands alone as long as it can be nobody else's, and an address that looks like another one is
// marked.
func TestPeople(t *testing.T) {
	p := result.NewPeople(map[string]string{
		"alice@example.com": "Alice", "alice@old.example.com": "Alice", "bob@example.com": "Bob", "eve@example.net": "Bob",
		"mallory@exarnple.com": "Mallory",
		"mallory@example.com":  "", "аlice@example.com": "Alice",
	}, map[string]string{"alice@old.example.com": "alice@example.com"})
	for _, tt := range []struct{ address, name, full string }{
		{"carol@example.com", "carol@example.com", "carol@example.com"},
		{"bob@example.com", "Bob <bob@example.com>", "Bob <bob@example.com>"}, // Eve calls herself Bob, too
		{"alice@old.example.com", "Alice <alice@old.example.com>", "Alice <alice@old.example.com>"},
		// the first letter is Cyrillic
		{"аlice@example.com", "Alice <аlice@example.com> [not ASCII]", "Alice <аlice@example.com> [not ASCII]"},
		{
			"Mallory@exarnple.com", "Mallory <Mallory@exarnple.com> [looks like mallory@example.com]",
			"Mallory <Mallory@exarnple.com> [looks like mallory@example.com]",
		},
		{"b0b@example.com", "b0b@example.com [looks like bob@example.com]", "b0b@example.com [looks like bob@example.com]"},
	} {
		if got := p.Name(tt.address); got != tt.name {
			t.Errorf("%q is %q, want %q", tt.address, got, tt.name)
		}
		if got := p.NameAndAddress(tt.address); got != tt.full {
			t.Errorf("%q is in full %q, want %q", tt.address, got, tt.full)
		}
	}
	alone := result.NewPeople(map[string]string{"alice@example.com": "Alice", "alice@old.example.com": "Alice"},
		map[string]string{"alice@old.example.com": "alice@example.com"})
	if got := alone.Name("alice@old.example.com"); got != "Alice" {
		t.Errorf("one person with two addresses is %q", got)
	}
	if got := (result.People{}).Name("аlice@example.com"); got != "аlice@example.com [not ASCII]" {
		t.Errorf("where nobody is known: %q", got)
	}
}
