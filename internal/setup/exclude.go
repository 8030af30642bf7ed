package setup

import (
	"fmt"
	"slices"
	"strings"
)

const (
	blockBegin = "# git-rekal: begin (`git rekal clean` removes these lines)"
	blockEnd   = "# git-rekal: end"
	// bom may open the file; git skips it there and only there.
	bom = "\ufeff"
)

// removeExclude takes our lines out of info/exclude, where versions before 0.2 hid what lies in a worktree. It reports whether there were any.
func removeExclude(l Layout) (removed bool, err error) {
	if isLink(l.Exclude) {
		return false, nil
	}
	if err := removeHalfWritten(l.Exclude); err != nil {
		return false, err
	}
	text, err := readIfThere(l.Exclude)
	if err != nil {
		return false, fmt.Errorf("setup: read the exclude file: %w", err)
	}
	rest := cutBlock(string(text))
	if rest == string(text) {
		return false, nil
	}
	if err := writeFile(l.Exclude, []byte(rest), 0o666); err != nil {
		return false, fmt.Errorf("setup: write the exclude file: %w", err)
	}
	return true, nil
}

// cutBlock takes our block out of the text, if there is one. Lines of
// the user's inside it stay. Without its end the block is the run of our own patterns.
func cutBlock(text string) string {
	lines := slices.Collect(strings.Lines(text))
	begin := slices.IndexFunc(lines, lineEquals(blockBegin))
	if begin < 0 {
		return text
	}
	end := begin + 1
	if n := slices.IndexFunc(lines[begin:], lineEquals(blockEnd)); n >= 0 {
		end = begin + n + 1
	} else {
		for end < len(lines) && isOurLine(lines[end]) {
			end++
		}
	}
	var kept strings.Builder
	for i, line := range lines {
		switch {
		case i < begin || i >= end || !isOurLine(line):
			kept.WriteString(line)
		case strings.HasPrefix(line, bom):
			kept.WriteString(bom)
		}
	}
	return kept.String()
}

// lineEquals compares lines without a byte order mark and without the line's end, which an editor
// may have changed to CRLF.
func lineEquals(want string) func(string) bool {
	return func(line string) bool {
		return strings.TrimRight(strings.TrimPrefix(line, bom), "\r\n") == want
	}
}

// isOurLine reports whether a line of the block is one that we wrote, in this version or another: versions differ in
// the folders that they put a skill in.
func isOurLine(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, "\r\n"), "/skills/rekal/") ||
		slices.ContainsFunc([]string{formerPattern, blockBegin, blockEnd}, func(p string) bool { return lineEquals(p)(line) })
}
