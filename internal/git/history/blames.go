package history

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Blames keeps where the lines of the files last asked about come from, for a process that is asked about a file again
// and again: git takes long to go through a history. The zero value is ready. It serves one question at a time.
type Blames struct{ kept []keptBlame }

// keptBlame is where some lines of a file come from; nil: it was asked for once, and a text that changes with each
// question is not worth more.
type keptBlame struct {
	key     blameKey
	origins map[int]Origin
}

// blameKey is all that decides where lines come from.
type blameKey struct {
	repo, file string
	commit     git.OID
	text       [sha256.Size]byte
	first      int // line
	settings   string
}

// How many lines are asked for at once, so that a long file costs no more than it must, and how many times that much is
// kept.
const (
	blamedAtOnce = 2000
	blamesKept   = 16
)

// newBlameKey is the key of a file of the working tree, but for the lines.
func newBlameKey(r *git.Repo, commit git.OID, file string, text []byte, options []string) blameKey {
	merging, _ := os.ReadFile(filepath.Join(r.Layout().GitDir, "MERGE_HEAD")) // mostly there is none
	cuts, _ := os.ReadFile(filepath.Join(r.Layout().CommonDir, "shallow"))
	settings := fmt.Sprintf("%q %s %s", options, merging, cuts)
	if name := ignoreRevsFile(r); name != "" {
		list, _ := os.ReadFile(name)
		settings += fmt.Sprintf(" %s %s", name, list)
	}
	return blameKey{repo: r.Layout().GitDir, file: file, commit: commit, text: sha256.Sum256(text), settings: settings}
}

// origins finds the origins of the lines from..to of a file that has so many lines. ask runs git for the lines that are
// not remembered. b may be nil.
func (b *Blames) origins(key blameKey, from, to, lines int,
	ask func(from, to int) (map[int]Origin, error),
) (map[int]Origin, error) {
	key.first = (from-1)/blamedAtOnce*blamedAtOnce + 1
	last := min(key.first+blamedAtOnce-1, lines)
	if b == nil || to > last {
		return ask(from, to)
	}
	i := slices.IndexFunc(b.kept, func(k keptBlame) bool { return k.key == key })
	if i < 0 {
		b.kept = append(b.kept, keptBlame{key: key})
		b.kept = b.kept[max(0, len(b.kept)-blamesKept):]
		return ask(from, to)
	}
	k := b.kept[i]
	if k.origins == nil {
		var err error
		if k.origins, err = ask(key.first, last); err != nil {
			return nil, err
		}
	}
	b.kept = append(slices.Delete(b.kept, i, i+1), k) // the last one asked about stays longest
	return k.origins, nil
}
