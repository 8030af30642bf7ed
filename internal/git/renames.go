package git

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"path"
	"slices"
)

// maxCompared is the size in bytes of the largest file that is compared for likeness.
const maxCompared = 16 << 20

// Renames tells what files that went are called now, by their former names: first those of the same content, then those
// that are alike by half, the most alike first, and of equals one with the same base name. Likeness is only looked for
// where not more than most files went and came (their geometric mean), and where it concerns one of some files, by
// their former or new names; where none is named it concerns all. A blob that is not here is like none.
func (r *Repo) Renames(changes []Change, most int, files ...string) map[string]string {
	out := map[string]string{}
	gone, came := pairEqualContents(changes, out)
	concerned := func(e Entry) bool { return len(files) == 0 || slices.Contains(files, e.Path) }
	if n := len(gone) * len(came); n == 0 || n > most*most || !slices.ContainsFunc(slices.Concat(gone, came), concerned) {
		return out
	}
	var pairs []similarPair
	olds, news := r.spansOfFiles(gone), r.spansOfFiles(came)
	for i, old := range olds {
		for k, now := range news {
			if score := old.similarity(now); score >= minSimilar {
				pairs = append(pairs, similarPair{i, k, score, path.Base(gone[i].Path) == path.Base(came[k].Path)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b similarPair) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(boolToInt(b.named), boolToInt(a.named)))
	})
	taken := map[int]bool{}
	for _, p := range pairs {
		if from := gone[p.old].Path; out[from] == "" && !taken[p.now] {
			out[from], taken[p.now] = came[p.now].Path, true
		}
	}
	return out
}

// similarPair is a pair of files.
type similarPair struct {
	old, now int // indexes
	score    float64
	named    bool // they have one base name
}

// minSimilar is how alike a rename is at least (git: -M50%).
const minSimilar = 0.5

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pairEqualContents pairs files of the same content and gives those that are left.
func pairEqualContents(changes []Change, out map[string]string) (gone, came []Entry) {
	former := map[OID][]string{}
	for _, c := range changes {
		if c.Kind == "D" {
			former[c.Before] = append(former[c.Before], c.Path)
		}
	}
	for _, c := range changes {
		from := former[c.OID]
		switch {
		case c.Kind != "A":
		case len(from) == 0:
			came = append(came, Entry{c.Path, c.OID})
		default:
			at := max(0, slices.IndexFunc(from, func(p string) bool { return path.Base(p) == path.Base(c.Path) }))
			out[from[at]] = c.Path
			former[c.OID] = slices.Delete(from, at, at+1)
		}
	}
	for _, c := range changes {
		if c.Kind == "D" && out[c.Path] == "" {
			gone = append(gone, Entry{c.Path, c.Before})
		}
	}
	return gone, came
}

// spans are the pieces of a file by their hashes: how many bytes stand in equal ones. A piece is a line, or 64 bytes of
// a longer one (git's diffcore-delta.c).
type spans struct {
	size  int
	bytes map[uint64]int
}

func (r *Repo) spansOfFiles(files []Entry) []spans {
	out := make([]spans, len(files))
	for i, f := range files {
		if text, err := r.BlobWithin(f.OID, maxCompared); err == nil {
			out[i] = spansOf(text)
		}
	}
	return out
}

// hashSeed is shared by all files, so that their hashes can be compared.
var hashSeed = maphash.MakeSeed() //nolint:gochecknoglobals // a constant

func spansOf(text []byte) spans {
	s := spans{len(text), map[uint64]int{}}
	if isText(text) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	for len(text) > 0 {
		n := min(64, len(text))
		if at := bytes.IndexByte(text[:n], '\n'); at >= 0 {
			n = at + 1
		}
		s.bytes[maphash.Bytes(hashSeed, text[:n])] += n
		text = text[n:]
	}
	return s
}

// similarity is the part of two files that stands in both, of the size that they have on average: of a file that grew
// to twice its size, two thirds. (git compares with the larger one, and takes such a file for a new one.)
func (s spans) similarity(other spans) float64 {
	both := float64(s.size + other.size)
	if small := min(s.size, other.size); small == 0 || 2*float64(small) < minSimilar*both {
		return 0
	}
	same := 0
	for h, n := range s.bytes {
		same += min(n, other.bytes[h])
	}
	return 2 * float64(same) / both
}
