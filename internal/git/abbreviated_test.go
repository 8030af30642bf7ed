package git_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// A SHA is abbreviated as git takes it: of several objects that begin so, the commit counts.
func TestAbbreviated(t *testing.T) {
	p := repos.New(t)
	p.Start("repo")
	plain, shared := p.Add("repo", "plain"), p.Add("repo", "shared")
	for i := 0; ; i++ { // a blob that begins as the commit does
		text := fmt.Sprint("blob ", i)
		if strings.HasPrefix(fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))),
			string(shared[:4])) {
			p.Write("repo/text", text)
			p.Git("repo", "hash-object", "-w", "text")
			break
		}
	}
	twins := map[string]string{} // two commits that begin alike
	tree, twin := p.Git("repo", "rev-parse", "HEAD^{tree}"), ""
	for i := 0; twin == ""; i++ {
		text := fmt.Sprintf("tree %s\nauthor A <a@b.c> %d +0000\ncommitter A <a@b.c> 0 +0000\n\ntwin\n", tree, i)
		start := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "commit %d\x00%s", len(text), text)))[:4]
		if other := twins[start]; other != "" {
			twin = start
			for _, text := range []string{text, other} {
				p.Write("repo/text", text)
				p.Git("repo", "hash-object", "-w", "-t", "commit", "text")
			}
		}
		twins[start] = text
	}
	repo := p.Open("repo")
	cases := []struct {
		prefix  string
		want    git.OID
		resolve error
		commit  error
	}{
		{string(plain[:10]), plain, nil, nil},
		{string(plain), plain, nil, nil},
		{string(shared[:4]), shared, nil, git.ErrAmbiguous},
		{string(shared[:20]), shared, nil, nil},
		{twin, "", git.ErrAmbiguous, git.ErrAmbiguous},
		{"", "", git.ErrNotFound, git.ErrNotFound},
		{"0", "", git.ErrNotFound, git.ErrNotFound},
		{"a:1", "", git.ErrNotFound, git.ErrNotFound},
		{"zzzz", "", git.ErrNotFound, git.ErrNotFound},
		{"ffffffffffffffff", "", git.ErrNotFound, git.ErrNotFound},
		{strings.Repeat("f", 41), "", git.ErrNotFound, git.ErrNotFound},
	}
	var prefixes []string
	found := map[string]git.OID{}
	for _, c := range cases {
		if prefixes = append(prefixes, c.prefix); c.commit == nil {
			found[c.prefix] = c.want
		}
		t.Run(c.prefix, func(t *testing.T) {
			if got, err := repo.Resolve(c.prefix); got != c.want || !errors.Is(err, c.resolve) {
				t.Errorf("resolved to %q, %v; want %q, %v", got, err, c.want, c.resolve)
			}
			if got, err := repo.CommitByPrefix(c.prefix); !errors.Is(err, c.commit) || err == nil && got != c.want {
				t.Errorf("by prefix: %q, %v; want %q, %v", got, err, c.want, c.commit)
			}
		})
	}
	got, err := repo.CommitsByPrefix(prefixes)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "all at once", found, got)
}
