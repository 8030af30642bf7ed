package git

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commit is what a commit object says.
type Commit struct {
	OID       OID
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
	ChangeID  string // what stays the same when Jujutsu rewrites the commit; "" where its header says none
	Signed    bool   // it holds a signature, which nobody has looked at
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	s, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return s
}

// Commit reads a commit; ErrNotFound when the object is not here.
func (r *Repo) Commit(id OID) (Commit, error) {
	raw, err := r.read(id, kindCommit)
	if err != nil {
		return Commit{}, err
	}
	c, encoding, err := parseCommit(string(raw))
	if err != nil {
		return Commit{}, fmt.Errorf("git: commit %s: %w", id, err)
	}
	c.OID = OID(strings.ToLower(string(id)))
	if encoding != "" {
		r.recode(&c, encoding)
	}
	return c, nil
}

// parseCommit reads headers, an empty line, and the message. A header's further lines begin with a space. encoding is
// that of message and names; "" for UTF-8.
func parseCommit(raw string) (c Commit, encoding string, err error) {
	head, message, _ := strings.Cut(raw, "\n\n")
	c.Message = strings.TrimLeft(message, "\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = OID(value)
		case "parent":
			c.Parents = append(c.Parents, OID(value))
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		case "change-id":
			c.ChangeID = value
		case "gpgsig", "gpgsig-sha256":
			c.Signed = true
		case "encoding":
			if !strings.EqualFold(value, "utf-8") && !strings.EqualFold(value, "utf8") {
				encoding = value
			}
		}
	}
	for _, id := range append([]OID{c.Tree}, c.Parents...) {
		if !IsOID(string(id)) {
			return Commit{}, "", ErrMalformed
		}
	}
	return c, encoding, nil
}

// parseSignature reads "Name <email> 1700000000 +0100", and as much of it as there is.
func parseSignature(s string) Signature {
	lt, gt := strings.LastIndex(s, "<"), strings.LastIndex(s, ">")
	if lt < 0 || gt < lt {
		return Signature{}
	}
	sig := Signature{Name: strings.TrimSpace(s[:lt]), Email: strings.TrimSpace(s[lt+1 : gt]), When: time.Unix(0, 0).UTC()}
	if f := strings.Fields(s[gt+1:]); len(f) > 0 {
		sec, _ := strconv.ParseInt(f[0], 10, 64)
		zone := time.UTC
		if len(f) > 1 {
			zone = parseZone(f[1])
		}
		sig.When = time.Unix(sec, 0).In(zone)
	}
	return sig
}

// parseZone reads "+0530"; what is none is UTC.
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	hours, minutes := n/100, n%100
	if err != nil || hours < -14 || hours > 14 || minutes < -59 || minutes > 59 {
		return time.UTC
	}
	return time.FixedZone("", (hours*60+minutes)*60)
}

// read reads an object of a kind.
func (r *Repo) read(id OID, kind Kind) ([]byte, error) {
	is, raw, err := r.store.object(id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("git: %s %s: %w", kind, id, err)
	case is != kind:
		return nil, fmt.Errorf("git: %s is a %s, no %s: %w", id, is, kind, ErrMalformed)
	}
	return raw, nil
}

// Blob reads a blob whole.
func (r *Repo) Blob(id OID) ([]byte, error) { return r.read(id, kindBlob) }

// ErrTooLarge is a blob that is larger than its reader allows.
var ErrTooLarge = errors.New("too large")

// BlobWithin reads a blob of at most so many bytes, else it returns ErrTooLarge. "" is an empty one.
func (r *Repo) BlobWithin(id OID, most uint64) ([]byte, error) {
	if id == "" {
		return nil, nil
	}
	size, err := r.BlobSize(id)
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, ErrTooLarge
	}
	return r.Blob(id)
}

// BlobSize is the size of a blob in bytes, without reading it.
func (r *Repo) BlobSize(id OID) (uint64, error) {
	kind, size, err := r.store.header(id)
	switch {
	case err != nil:
		return 0, fmt.Errorf("git: blob %s: %w", id, err)
	case kind != kindBlob:
		return 0, fmt.Errorf("git: %s is no blob: %w", id, ErrMalformed)
	}
	return size, nil
}

// MissingObjects tells which of some objects are not in this clone. One that can't be read is here.
func (r *Repo) MissingObjects(ids []OID) map[OID]bool {
	out := map[OID]bool{}
	for _, id := range ids {
		if _, _, err := r.store.header(id); errors.Is(err, ErrNotFound) {
			out[id] = true
		}
	}
	return out
}

// CommitByPrefix finds the commit whose OID begins with hexadecimal digits, at least four.
// It returns ErrNotFound when there is none, and ErrAmbiguous when several objects begin so.
func (r *Repo) CommitByPrefix(prefix string) (OID, error) {
	ids, err := r.objectsByPrefix(prefix)
	switch {
	case err == nil && len(ids) > 1:
		err = ErrAmbiguous
	case err == nil && (len(ids) == 0 || !r.isCommit(ids[0])):
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("git: %q: %w", prefix, err)
	}
	return ids[0], nil
}

// CommitsByPrefix finds the commits whose OIDs begin with digits, as CommitByPrefix does, by these digits. It asks git
// once.
func (r *Repo) CommitsByPrefix(prefixes []string) (map[string]OID, error) {
	ids, err := r.objectsByPrefix(prefixes...)
	if err != nil {
		return nil, fmt.Errorf("git: find commits: %w", err)
	}
	out := map[string]OID{}
	for _, prefix := range prefixes {
		digits := OID(strings.ToLower(prefix))
		at, _ := slices.BinarySearch(ids, digits)
		begins := func(i int) bool { return i < len(ids) && strings.HasPrefix(string(ids[i]), string(digits)) }
		if r.isPrefix(prefix) && begins(at) && !begins(at+1) && r.isCommit(ids[at]) {
			out[prefix] = ids[at]
		}
	}
	return out, nil
}

// maxPrefixes is how many prefixes one process is asked for: they are its arguments.
const maxPrefixes = 1000

// objectsByPrefix are the objects whose OIDs begin with digits, each once. What are no digits begins none.
func (r *Repo) objectsByPrefix(prefixes ...string) (ids []OID, err error) {
	var args []string
	for _, p := range prefixes {
		if r.isPrefix(p) {
			args = append(args, "--disambiguate="+p)
		}
	}
	for some := range slices.Chunk(args, maxPrefixes) {
		out, err := r.git.run(r.ctx, append([]string{"rev-parse"}, some...)...)
		if err != nil {
			return nil, err
		}
		for id := range strings.FieldsSeq(out) {
			ids = append(ids, OID(id))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func (r *Repo) isPrefix(digits string) bool {
	return len(digits) >= 4 && len(digits) <= 2*r.format.OIDSize && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
}

func (r *Repo) isCommit(id OID) bool {
	kind, _, err := r.store.header(id)
	return err == nil && kind == kindCommit
}
