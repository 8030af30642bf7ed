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

// patterns are what stands between blockBegin and blockEnd.
func patterns() []string {
	return []string{".rekal/", ".claude/skills/rekal/", ".agents/skills/rekal/"}
}

func block() string {
	return blockBegin + "\n" + strings.Join(patterns(), "\n") + "\n" + blockEnd + "\n"
}

// Excluded reports whether Install has been here: its lines stand in the exclude file.
func Excluded(exclude string) bool {
	text, err := os.ReadFile(exclude)
	return err == nil && strings.Contains(string(text), blockBegin)
}

// installExclude puts the block at the head of info/exclude: there, unlike at the end, it
// does not matter whether the last line had a newline, so that everything else, also what
// the user adds later, comes back byte for byte.
func installExclude(l Layout, r *Report) error {
	if isLink(l.Exclude) {
		r.hint("%s is a link to a file that may serve other repositories; add these lines there: %s",
			l.show(l.Exclude), strings.Join(patterns(), " and "))
		return nil
	}
	text, err := readIfThere(l.Exclude)
	if err != nil {
		return fmt.Errorf("setup: read the exclude file: %w", err)
	}
	if strings.Contains(string(text), block()) {
		return nil
	}
	rest, _ := cutBlock(string(text)) // a damaged block is made anew
	rest = addBlock(rest)
	if err := os.MkdirAll(filepath.Dir(l.Exclude), 0o777); err != nil {
		return fmt.Errorf("setup: make the exclude file's folder: %w", err)
	}
	if err := writeFile(l.Exclude, []byte(rest), 0o666); err != nil {
		return fmt.Errorf("setup: write the exclude file: %w", err)
	}
	r.done("exclude lines in %s", l.show(l.Exclude))
	return nil
}

func removeExclude(l Layout, r *Report) error {
	if isLink(l.Exclude) {
		return nil
	}
	if err := sweep(l.Exclude); err != nil {
		return fmt.Errorf("setup: clear half-written files: %w", err)
	}
	text, err := readIfThere(l.Exclude)
	if err != nil {
		return fmt.Errorf("setup: read the exclude file: %w", err)
	}
	rest, found := cutBlock(string(text))
	if !found {
		return nil
	}
	if err := writeFile(l.Exclude, []byte(rest), 0o666); err != nil {
		return fmt.Errorf("setup: write the exclude file: %w", err)
	}
	r.done("exclude lines in %s", l.show(l.Exclude))
	return nil
}

// addBlock puts the block at the head of the text, behind a byte order mark.
func addBlock(text string) string {
	if rest, marked := strings.CutPrefix(text, bom); marked {
		return bom + block() + rest
	}
	return block() + text
}

// cutBlock takes our block out of the text and reports whether there was one. Lines of
// the user's inside it stay. Without its end the block is the run of our own patterns.
func cutBlock(text string) (string, bool) {
	lines := slices.Collect(strings.Lines(text))
	begin := slices.IndexFunc(lines, is(blockBegin))
	if begin < 0 {
		return text, false
	}
	end := begin + 1
	if n := slices.IndexFunc(lines[begin:], is(blockEnd)); n >= 0 {
		end = begin + n + 1
	} else {
		for end < len(lines) && ours(lines[end]) {
			end++
		}
	}
	var kept strings.Builder
	for i, line := range lines {
		switch {
		case i < begin || i >= end || !ours(line):
			kept.WriteString(line)
		case strings.HasPrefix(line, bom):
			kept.WriteString(bom)
		}
	}
	return kept.String(), true
}

// is compares lines without a byte order mark and without the line's end, which an editor
// may have changed to CRLF.
func is(want string) func(string) bool {
	return func(line string) bool {
		return strings.TrimRight(strings.TrimPrefix(line, bom), "\r\n") == want
	}
}

// ours reports whether a line of the block is one that we wrote, in this version or another: versions differ in
// the folders that they put a skill in.
func ours(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, "\r\n"), "/skills/rekal/") ||
		slices.ContainsFunc(append(patterns(), blockBegin, blockEnd), func(p string) bool { return is(p)(line) })
}
