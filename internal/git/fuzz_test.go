package git

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzParseIdent: what git says of who somebody is, comes back as it was.
func FuzzParseIdent(f *testing.F) {
	f.Fuzz(func(t *testing.T, ident string) {
		sig := parseSignature(ident)
		if sig == (Signature{}) {
			return
		}
		again := parseSignature(sig.Name + " <" + sig.Email + "> " + strconv.FormatInt(sig.When.Unix(), 10) + " " +
			sig.When.Format("-0700"))
		if again.Email != sig.Email || !again.When.Equal(sig.When) {
			t.Fatalf("%q is %+v, and again %+v", ident, sig, again)
		}
	})
}

// FuzzParseCommit: a commit of somebody else's is read, or nothing of it is; what it names are objects.
func FuzzParseCommit(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		c, _, err := parseCommit(raw)
		if err != nil {
			if c.Tree != "" || c.Parents != nil || c.Message != "" {
				t.Fatalf("%v, and %+v", err, c)
			}
			return
		}
		for _, id := range append(c.Parents, c.Tree) {
			if !IsOID(string(id)) {
				t.Fatalf("%q is no object ID", id)
			}
		}
		by, err := c.Author.header()
		if err != nil { // it names nobody
			return
		}
		if again, err := parseSignature(by).header(); err != nil || again != by {
			t.Fatalf("%q, read and written: %q, %v", by, again, err)
		}
	})
}

// FuzzQuote: what is quoted, git and Go read as it was.
func FuzzQuote(f *testing.F) {
	f.Fuzz(func(t *testing.T, path string) {
		quoted := Quote(path)
		if !strings.HasPrefix(quoted, `"`) {
			if quoted != path {
				t.Fatalf("%q became %q", path, quoted)
			}
			return
		}
		if again, err := strconv.Unquote(quoted); err != nil || again != path {
			t.Fatalf("%q, quoted %s, is %q, %v", path, quoted, again, err)
		}
	})
}

// FuzzSSHKey: a key is told of a signature that fits a text, and of no other text.
func FuzzSSHKey(f *testing.F) {
	f.Fuzz(func(t *testing.T, payload, armored string) {
		if key := sshKey(payload, armored); key != "" && sshKey(payload+"x", armored) != "" {
			t.Fatalf("%q signed two texts", key)
		}
	})
}
