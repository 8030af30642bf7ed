package redact

import (
	"slices"
	"strings"
)

// homes turns the paths of home folders into "~": one's own, wherever it is, and what lies where systems put those of
// others. A name in a path says who somebody is; what lies below says what was done.
type homes struct {
	paths, names []string // the user's, as they are and as agents make a folder's name of one; none: not known
	words        []string // that are looked for: these, and what is before the names of others
}

func newHomes(own []string) (h homes) {
	for _, path := range own {
		if path = strings.TrimRight(path, `/\`); len(path) < 3 || !strings.ContainsAny(path, `/\`) {
			continue
		}
		h.paths = append(h.paths, path)
		h.names = append(h.names, strings.Map(func(r rune) rune {
			if r < 0x80 && isAlphanumeric(byte(r)) {
				return r
			}
			return '-'
		}, path))
	}
	h.words = slices.Concat(h.paths, h.names, []string{"Users", "/home/", "/Users/", "-Users-", "-home-"})
	return h
}

// replace puts "~" for each home. Regular expressions for it took a tenth to a fifth of redaction's time.
func (h homes) replace(s string) string {
	if !strings.ContainsAny(s, `/\`) && !strings.Contains(s, "-Users-") {
		return s
	}
	for _, word := range h.words {
		var out strings.Builder
		done := 0
		for at := 0; ; {
			n := strings.Index(s[at:], word)
			if n < 0 {
				break
			}
			at += n
			from, to := h.homeAround(s, word, at, at+len(word))
			if to == 0 || from < done {
				at++
				continue
			}
			out.WriteString(s[done:from] + "~")
			done, at = to, to
		}
		if done > 0 {
			s = out.String() + s[done:]
		}
	}
	return s
}

// homeAround is the home that a word of its path stands in; an end of 0 for none.
func (h homes) homeAround(s, word string, lo, hi int) (from, to int) {
	const separators = `\/`
	before := s[:lo]
	switch {
	case slices.Contains(h.paths, word):
		if beginsPath(before) && endsAt(s, hi, endsPath) {
			return lo, hi
		}
	case slices.Contains(h.names, word):
		if strings.HasSuffix(before, "/") && endsAt(s, hi, "-/\"' \t\n\f\r") {
			return lo, hi
		}
	case word == "Users": // of Windows
		drive := len(strings.TrimRight(before, separators)) - len("C:")
		name := skip(s, hi, separators)
		if drive >= 0 && lo-drive >= 3 && lo-drive <= 6 && isLetter(s[drive]) && (drive == 0 || !isLetter(s[drive-1])) &&
			s[drive+1] == ':' && name > hi && name-hi <= 4 {
			return drive, personEnd(s, name)
		}
	case word[0] == '-': // as agents make a folder's name of a path
		drive := strings.TrimSuffix(before, "-")
		if n := len(drive); n < len(before) && n > 0 && isLetter(drive[n-1]) {
			before = drive[:n-1]
		}
		if beginsPath(before) && word == "-Users-" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, `\`) {
			end := hi + strings.IndexFunc(s[hi:]+" ", func(r rune) bool {
				return r != '_' &&
					!isAlphanumeric(byte(min(r, 0x7f)))
			})
			if end > hi && end-hi <= 32 && !nobody.has(strings.ToLower(s[hi:end])) && endsAt(s, end, "-"+endsPath) {
				return len(before), end
			}
		}
	default:
		root := before
		if lo > 1 && before[lo-2] == '/' && isLower(before[lo-1]) { // a drive, in a subsystem of Windows
			root = before[:lo-2]
		}
		for _, r := range []string{"/mnt", "/var", "/export", "/usr"} {
			root = strings.TrimSuffix(root, r)
		}
		if !beginsPath(root) {
			root = before
		}
		if beginsPath(root) {
			return len(root), personEnd(s, hi)
		}
	}
	return 0, 0
}

// personEnd is the end of somebody's name at i; 0 for none.
func personEnd(s string, i int) int {
	hi := i
	for hi < len(s) && (isWordByte(s[hi]) || s[hi] == '-' || s[hi] == '.') {
		hi++
	}
	if hi == i || hi-i > 32 || !isWordByte(s[i]) || nobody.has(strings.ToLower(s[i:hi])) || !endsAt(s, hi, endsPath) {
		return 0
	}
	return hi
}

// endsPath may follow the path of a home.
const endsPath = "/\\ \t\n\f\r\"'`:,;)]}<>|&*"

func endsAt(s string, i int, signs string) bool {
	return i == len(s) || strings.IndexByte(signs, s[i]) >= 0
}

// beginsPath reports whether a path may follow. A "~" or a letter does not begin one, so what was replaced is not
// replaced again.
func beginsPath(before string) bool {
	return before == "" || strings.HasSuffix(before, "file://") ||
		strings.IndexByte(" \t\n\f\r\"'`=:(,[<>|;&{@", before[len(before)-1]) >= 0
}

// nobody are the accounts that images and systems come with: Dockerfiles are full of them.
var nobody = setOf("node runner ubuntu debian app appuser www-data jovyan git circleci ec2-user vagrant user users linuxbrew nonroot " + //nolint:gochecknoglobals // read-only
	"jenkins gitlab-runner postgres public shared default you me username name your-name yourname")
