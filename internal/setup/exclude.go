package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	blockBegin = "# git-rekal: begin (`git rekal clean` removes these lines)"
	blockEnd   = "# git-rekal: end"
	// bom may open the file; git skips it there and only there.
	bom = "\ufeff"
)

// excludePatterns are what stands between blockBegin and blockEnd.
func excludePatterns() []string {
	return []string{".claude/skills/rekal/", ".agents/skills/rekal/"}
}

func excludeBlock() string {
	return blockBegin + "\n" + strings.Join(excludePatterns(), "\n") + "\n" + blockEnd + "\n"
}

// excluded reports whether Install has been here: its lines stand in the exclude file.
func excluded(exclude string) bool {
	text, err := os.ReadFile(exclude)
	return err == nil && strings.Contains(string(text), blockBegin)
}

// installExclude puts the block at the head of info/exclude: there, unlike at the end, it
// does not matter whether the last line had a newline, so that everything else, also what
// the user adds later, comes back byte for byte.
func installExclude(l Layout, r *Report) error {
	if isLink(l.Exclude) {
		r.addHint("%s is a link to a file that may serve other repositories; add these lines there: %s",
			l.pathForUser(l.Exclude), strings.Join(excludePatterns(), " and "))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.Exclude), 0o777); err != nil {
		return fmt.Errorf("setup: make the exclude file's folder: %w", err)
	}
	return editExclude(l, r, func(text string) string {
		if strings.Contains(text, excludeBlock()) {
			return text
		}
		return addBlock(cutBlock(text)) // a damaged block is made anew
	})
}

// editExclude gives the exclude file another text.
func editExclude(l Layout, r *Report, edit func(text string) string) error {
	text, err := readIfThere(l.Exclude)
	if err != nil {
		return fmt.Errorf("setup: read the exclude file: %w", err)
	}
	edited := edit(string(text))
	if edited == string(text) {
		return nil
	}
	if err := writeFile(l.Exclude, []byte(edited), 0o666); err != nil {
		return fmt.Errorf("setup: write the exclude file: %w", err)
	}
	r.addDone("exclude lines in %s", l.pathForUser(l.Exclude))
	return nil
}

func removeExclude(l Layout, r *Report) error {
	if isLink(l.Exclude) {
		return nil
	}
	if err := removeHalfWritten(l.Exclude); err != nil {
		return err
	}
	return editExclude(l, r, cutBlock)
}

// addBlock puts the block at the head of the text, behind a byte order mark.
func addBlock(text string) string {
	if rest, marked := strings.CutPrefix(text, bom); marked {
		return bom + excludeBlock() + rest
	}
	return excludeBlock() + text
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
		slices.ContainsFunc(append(excludePatterns(), formerPattern, blockBegin, blockEnd), func(p string) bool { return lineEquals(p)(line) })
}
