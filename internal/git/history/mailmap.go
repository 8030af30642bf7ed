package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Person is a name and an address as the user's mailmap has them.
type Person struct {
	Name  string // "" where it names none
	Email string // in lower case
}

// Mailmap maps addresses as the user's mailmap does. An address that the mailmap does not name stays as it is.
func Mailmap(ctx context.Context, r *git.Repo, addresses []string) (map[string]Person, error) {
	var asked []string
	for _, a := range addresses {
		if a != "" && len(a) <= maxAddress && !strings.ContainsAny(a, "<>\n") {
			asked = append(asked, a)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	text, err := r.Feed(ctx, "<"+strings.Join(asked, ">\n<")+">\n", "check-mailmap", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("git: read the mailmap: %w", err)
	}
	out := map[string]Person{}
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if at := strings.LastIndexByte(l, '<'); at >= 0 && i < len(asked) {
			out[asked[i]] = Person{strings.TrimSpace(l[:at]), strings.ToLower(strings.TrimSuffix(l[at+1:], ">"))}
		}
	}
	return out, nil
}

// maxAddress is how long an address can be, in bytes (RFC 5321, 4.5.3.1.3).
const maxAddress = 256
