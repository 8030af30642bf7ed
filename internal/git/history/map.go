package history

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// CommitMap is what git filter-repo says that it made of commits. It runs no hook.
type CommitMap struct {
	Path string // of the file
	Mark ReflogMark
}

// FindCommitMap looks whether there is a map that was not read yet, by its mark.
func FindCommitMap(r *git.Repo, marks map[string]ReflogMark) (CommitMap, bool) {
	m := CommitMap{Path: filepath.Join(r.Layout().GitDir, "filter-repo", "commit-map")}
	info, err := os.Stat(m.Path)
	if err != nil || !info.Mode().IsRegular() {
		return m, false
	}
	m.Mark = ReflogMark{Size: info.Size(), Written: info.ModTime().UnixNano()}
	return m, m.Mark != marks[m.Path]
}

// Each hands on the commits that became others, as far as the file can be read. A line of it is the old and the new
// OID; zeros stand for a commit that is gone.
func (m CommitMap) Each(tell func(old, became git.OID)) error {
	f, err := os.Open(m.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		old, became, _ := strings.Cut(lines.Text(), " ")
		if git.IsOID(old) && git.IsOID(became) && old != became && strings.Trim(became, "0") != "" {
			tell(git.OID(old), git.OID(became))
		}
	}
	return lines.Err()
}
