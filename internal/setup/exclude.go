package setup

import (
	"fmt"
	"strings"
)

const (
	blockBegin = "# git-rekal: begin" // what removes these lines stands behind it
	blockEnd   = "# git-rekal: end"
	// bom may open the file; git skips it there and only there.
	bom = "\ufeff"
)

// removeExclude takes our lines out of info/exclude, where versions before 0.2 hid what lies in a worktree. It reports
// whether there were any.
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
	rest := cutBlock(string(text), isOurLine)
	if rest == string(text) {
		return false, nil
	}
	if err := writeFile(l.Exclude, []byte(rest), 0o666); err != nil {
		return false, fmt.Errorf("setup: write the exclude file: %w", err)
	}
	return true, nil
}

// cutBlock takes the lines between our marks out of a text that isOurs names, and the marks. Other lines between them
// stay. Without its end the block is the run of our own lines.
func cutBlock(text string, isOurs func(line string) bool) string {
	return cutLinesOfBlock(text, func(line string) bool {
		return strings.HasPrefix(line, blockBegin) || lineEquals(blockEnd)(line) || isOurs(line)
	})
}

// cutLinesOfBlock takes some lines out of our block: marks are lines of it, a byte order mark is not.
func cutLinesOfBlock(text string, drop func(line string) bool) string {
	var kept strings.Builder
	inBlock := false
	for line := range strings.Lines(text) {
		line, marked := strings.CutPrefix(line, bom)
		if marked {
			kept.WriteString(bom)
		}
		inBlock = inBlock || strings.HasPrefix(line, blockBegin)
		drops := inBlock && drop(line)
		if !drops {
			kept.WriteString(line)
		}
		inBlock = inBlock && !lineEquals(blockEnd)(line) && (drops || strings.Contains(text, blockEnd))
	}
	return kept.String()
}

// lineEquals compares lines without the line's end, which an editor may have changed to CRLF.
func lineEquals(want string) func(string) bool {
	return func(line string) bool { return strings.TrimRight(line, "\r\n") == want }
}

// isOurLine reports whether a line of the block is one that we wrote: versions differ in the folders that they put a
// skill in.
func isOurLine(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, "\r\n"), "/skills/rekal/") || lineEquals(formerPattern)(line)
}
