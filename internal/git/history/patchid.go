package history

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// repository is the mode of a commit of another repository: a submodule.
const repository = "160000"

// What a patch-id is computed of at most. A commit above it is a generated one, and waiting
// for its diff would be felt.
const (
	patchFiles = 300
	patchBytes = 256 << 10 // of both sides of all files
)

// PatchID is the stable patch-id of a commit's change: what `git diff-tree -p --root COMMIT | git patch-id --stable`
// prints in a SHA-1 repository where neither attributes nor configuration change the diff. In a SHA-256 one it is the
// same, so that a converted repository knows its patches again. Equal patches have equal patch-ids, wherever they
// apply. It is "" where there is none: for a merge, an empty change, one with binary files, one that is too large, or
// one whose objects are not all here.
func PatchID(r *git.Repo, c git.Commit) string {
	if len(c.Parents) > 1 {
		return ""
	}
	changes, err := r.CommitDiff(c)
	if err != nil || len(changes) == 0 || len(changes) > patchFiles {
		return ""
	}
	sum, left, pending := patchIDSum{}, patchBytes, ""
	for _, ch := range changes {
		for _, part := range splitTypeChange(ch) {
			text, ok := filePatch(r, part, &left)
			if !ok {
				return ""
			}
			if strings.Contains(pending, "\n@@ ") { // as for git, what has no lines goes with the next that has
				sum.add(pending)
				pending = ""
			}
			pending += text
		}
	}
	sum.add(pending)
	return hex.EncodeToString(sum[:])
}

// splitTypeChange are the patches of one change: git removes a file and makes another where a file became a link.
func splitTypeChange(c git.Change) []git.Change {
	kind := func(mode string) string { return mode[:min(len(mode), 3)] }
	if c.Kind != "M" || kind(c.Modes[0]) == kind(c.Modes[1]) {
		return []git.Change{c}
	}
	return []git.Change{
		{Path: c.Path, Kind: "D", Before: c.Before, Modes: [2]string{c.Modes[0], ""}},
		{Path: c.Path, Kind: "A", OID: c.OID, Modes: [2]string{"", c.Modes[1]}},
	}
}

// filePatch is the patch of one file as git prints it, without an "index" line, and takes its size off the rest.
func filePatch(r *git.Repo, c git.Change, left *int) (string, bool) {
	before, one := patchSide(r, c.Before, c.Modes[0], left)
	after, two := patchSide(r, c.OID, c.Modes[1], left)
	if !one || !two || bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
		return "", false
	}
	from, to := git.Quote("a/"+c.Path), git.Quote("b/"+c.Path)
	head := "diff --git " + from + " " + to + "\n"
	switch {
	case c.Kind == "A":
		head, from = head+"new file mode "+c.Modes[1]+"\n", "/dev/null"
	case c.Kind == "D":
		head, to = head+"deleted file mode "+c.Modes[0]+"\n", "/dev/null"
	case c.Modes[0] != c.Modes[1]:
		head += "old mode " + c.Modes[0] + "\nnew mode " + c.Modes[1] + "\n"
	}
	text, err := git.Hunks(before, after, contextLines, git.SpacesCount)
	if text != "" {
		head += "--- " + from + "\n+++ " + to + "\n"
	}
	return head + text, err == nil
}

// patchSide is one side of a patch.
func patchSide(r *git.Repo, id git.OID, mode string, left *int) ([]byte, bool) {
	if mode == repository {
		return []byte("Subproject commit " + string(id) + "\n"), true
	}
	text, err := r.BlobWithin(id, uint64(*left))
	*left -= len(text)
	return text, err == nil
}

// patchIDSum is a sum of hashes as numbers of 160 bits, the lowest byte first: so the order of files does not count
// (git's diff.c, flush_one_hunk).
type patchIDSum [sha1.Size]byte

// add adds the hash of a patch, in which neither white space nor the places of hunks count.
func (s *patchIDSum) add(patch string) {
	h := sha1.New()
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "\\ ") {
			continue
		}
		for part := range strings.FieldsFuncSeq(line, isSpace) {
			_, _ = io.WriteString(h, part)
		}
	}
	carry := 0
	for i, b := range h.Sum(nil) {
		carry += int(s[i]) + int(b)
		s[i] = byte(carry)
		carry >>= 8
	}
}

// isSpace is what git takes for white space.
func isSpace(c rune) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
