package why

import (
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Blank lines and lone brackets say nothing by themselves, and stand everywhere: they belong to the block of their
// neighbours in the commit.

// maxBlockFile is the size in bytes up to which a file is read for the neighbours of a line.
const maxBlockFile = 1 << 20

// claimFiller gives the filler among the lines of a source to the session that wrote the line above it, or below it if
// it only opens a block.
func (b *claimFinder) claimFiller(s source, text func(line int) string, claims [][]attribution.Claim) {
	wrote := b.wrote[string(s.Commit)].makers
	isOfFile := func(w attribution.LineRecord) bool { return w.Path == s.Path }
	if !slices.ContainsFunc(wrote, isOfFile) {
		return
	}
	var file []string
	for i, line := range s.lines {
		if !session.IsFiller(text(line)) || slices.ContainsFunc(claims[i],
			func(c attribution.Claim) bool { return c.Exact }) {
			continue
		}
		if file == nil {
			if file = b.linesAt(s.Commit, s.Path); file == nil {
				return
			}
		}
		if w, at := neighbour(file, s.at[i], wrote, s.Path); w != "" {
			claims[i] = []attribution.Claim{{Session: w, Kind: session.TieWrote, At: at, Turn: -1}}
		}
	}
}

// neighbour is who wrote the nearest line that says something: above a line, or below it if it opens a block.
func neighbour(file []string, line int, wrote []attribution.LineRecord, path string) (string, time.Time) {
	step := -1
	if text := strings.TrimSpace(file[min(line, len(file))-1]); text != "" && strings.Trim(text, "{[(") == "" {
		step = 1
	}
	for at := line + step; at >= 1 && at <= len(file); at += step {
		if w, when := attribution.Writer(wrote, path, at); w != "" || !session.IsFiller(file[at-1]) {
			return w, when
		}
	}
	return "", time.Time{}
}

// linesAt are the lines of a file as a commit left it; nil if they can't be read, or are many.
func (b *claimFinder) linesAt(commit git.OID, path string) []string {
	blob, _ := b.repo.FileAt(commit, path) // what is not here says nothing
	text, err := b.repo.BlobWithin(blob, maxBlockFile)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\n")
}
