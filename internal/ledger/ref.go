package ledger

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
)

const (
	localPrefix  = "refs/heads/rekal/"
	remotePrefix = "refs/rekal/"
	// privatePrefix begins the refs of private ledgers, which lie in a repository of their own: see git.Repo.AlsoReadFrom.
	privatePrefix = "refs/rekal-private/"
)

// maxBranch is how long the last part of a ref may be, in bytes: file systems take 255, and git puts
// ".lock" behind it.
const maxBranch = 250

// ErrAddress is an author's address that can't be a branch's name.
var ErrAddress = advice.New("it is no usable address", `run "git config user.email you@example.com"`)

// RefName is the branch that holds an author's ledger: refs/heads/rekal/<email>, the
// address in lower case, with each byte that git refuses in a ref (and "%" and "/")
// written as %XX. Two addresses that differ in more than case have different refs. An address
// whose ref would be too long for a file's name has none.
func RefName(email string) (string, error) {
	name := escape(strings.ToLower(email))
	if len(name) > maxBranch {
		return "", fmt.Errorf("ledger: no branch can be named after an address of %d bytes (%.20q…): %w", len(email), email,
			ErrAddress)
	}
	ref := localPrefix + name
	if email == "" {
		return "", fmt.Errorf("ledger: no branch can be named after an empty address: %w", git.ErrNoIdentity)
	}
	if !git.ValidRef(ref) {
		return "", fmt.Errorf("ledger: no branch can be named after the address %q: %w", email, ErrAddress)
	}
	return ref, nil
}

// emailOf is the inverse of RefName for the last part of a ref. What RefName can't have made stays as it is, and is no
// address.
func emailOf(escaped string) string {
	email, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped
	}
	return email
}

// isAddressRef reports whether the last part of a ref is what RefName makes of an address. Another spelling would be
// another branch that speaks for the same author, and a remote may guard only one of them. git leaves control
// characters out of addresses.
func isAddressRef(escaped string) bool {
	email := emailOf(escaped)
	ref, err := RefName(email)
	return err == nil && ref == localPrefix+escaped && !strings.ContainsFunc(email, unicode.IsControl)
}

// shownAddress is emailOf in the one spelling that is shown, whatever user.email's is.
func shownAddress(escaped string) string {
	return strings.ToLower(strings.ToValidUTF8(emailOf(escaped), "\uFFFD"))
}

// escape follows the rules of git-check-ref-format for one path component.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if mustEscape(s, i, c) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// mustEscape reports whether c, which is s[i], is written as %XX: git refuses it there, or it would be mistaken.
func mustEscape(s string, i int, c byte) bool {
	switch {
	case c <= ' ' || c == 0x7f, strings.IndexByte(`~^:?*[\/%"`, c) >= 0:
		return true
	case c == '.':
		return i == 0 || i == len(s)-1 || s[i-1] == '.' || s[i:] == ".lock"
	case c == '{':
		return i > 0 && s[i-1] == '@'
	case c == '@':
		return len(s) == 1
	case c == '-':
		return i == 0 // a branch name must not look like an option
	}
	return false
}

// IsLedger reports whether a full ref name is one of a local ledger.
func IsLedger(ref string) bool { return strings.HasPrefix(ref, localPrefix) }

// Head is one ledger that this repository holds: a local branch, or a copy fetched from
// a remote.
type Head struct {
	Ref    string
	Email  string
	Remote string // "" for a ledger of this clone
	OID    git.OID

	Private bool // it is never sent
}

// Heads lists every ledger that the repository holds, local ones first, each group in
// ref order.
func Heads(repo *git.Repo) ([]Head, error) {
	heads, _, err := listHeads(repo)
	return heads, err
}

// Misnamed lists the refs among the ledgers that are none, because their names are not what RefName makes of an
// address.
func Misnamed(repo *git.Repo) ([]string, error) {
	_, misnamed, err := listHeads(repo)
	return misnamed, err
}

// isCodeBranch reports whether a branch below rekal/ is one of code, as somebody may call one: it holds no format file,
// and its name is no address. The last is looked at first, because it costs nothing.
func isCodeBranch(repo *git.Repo, ref string, tip git.OID) bool {
	if strings.Contains(ref, "@") || strings.Contains(ref, "%40") {
		return false
	}
	c, err := repo.Commit(tip)
	if err != nil {
		return false
	}
	blob, err := repo.Trees(treeBytes).File(c.Tree, formatFile)
	return err == nil && blob == ""
}

func listHeads(repo *git.Repo) (heads []Head, misnamed []string, err error) {
	refs, err := repo.Refs(localPrefix+"*", remotePrefix+"*")
	if err != nil {
		return nil, nil, fmt.Errorf("ledger: %w", err)
	}
	private, err := repo.RefsOfBeside(privatePrefix + "*")
	if err != nil {
		return nil, nil, fmt.Errorf("ledger: private: %w", err)
	}
	maps.Copy(refs, private)
	for _, ref := range slices.Sorted(maps.Keys(refs)) { // refs/heads/… before refs/rekal…
		if isCodeBranch(repo, ref, refs[ref]) {
			continue
		}
		h := Head{Ref: ref, OID: refs[ref]}
		rest, local := strings.CutPrefix(ref, localPrefix)
		if !local {
			rest, h.Private = strings.CutPrefix(ref, privatePrefix)
		}
		if !local && !h.Private {
			rest = strings.TrimPrefix(ref, remotePrefix)
			// An escaped address holds no slash, but a remote's name may.
			cut := max(strings.LastIndexByte(rest, '/'), 0)
			h.Remote, rest = rest[:cut], strings.TrimPrefix(rest[cut:], "/")
		}
		if !isAddressRef(rest) {
			misnamed = append(misnamed, ref)
			continue
		}
		h.Email = shownAddress(rest)
		heads = append(heads, h)
	}
	return heads, misnamed, nil
}

// Ignore are globs of ledgers that are not read, each of a ref (refs/rekal/origin/bob@example.com) or of an address.
// The branches of this repository are its user's own, and none of them.
type Ignore []string

// Has reports whether a ledger is one of them.
func (g Ignore) Has(h Head) bool {
	return h.Remote != "" && slices.ContainsFunc(g, func(glob string) bool {
		ref, _ := path.Match(glob, h.Ref)
		address, _ := path.Match(strings.ToLower(glob), h.Email)
		return ref || address
	})
}

// LocalTips maps the ref of every ledger on this machine to its tip. Branches below rekal/
// that hold no ledger of a known format are left out.
func LocalTips(repo *git.Repo) (map[string]git.OID, error) {
	heads, err := Heads(repo)
	if err != nil {
		return nil, err
	}
	tips := map[string]git.OID{}
	for _, h := range heads {
		if h.Remote != "" {
			continue
		}
		c, err := repo.Commit(h.OID)
		if err == nil {
			err = checkFormat(repo, c)
		}
		if err == nil {
			tips[h.Ref] = h.OID
		} else if !errors.Is(err, ErrFormat) {
			return nil, fmt.Errorf("ledger: %s: %w", h.Ref, err)
		}
	}
	return tips, nil
}
