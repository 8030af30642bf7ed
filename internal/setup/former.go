package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Versions before 0.2 kept caches and the record of what was made in .rekal/ in the worktree, which a line in
// info/exclude hid from git. The index is moved to today's folder, because vectors take long to make.

// formerPattern is the line that hid the former folder.
const formerPattern = ".rekal/"

// IsInstalled reports whether Install has been here, and Remove was not: also where somebody removed our folder.
func IsInstalled(commonDir, rekalDir string) bool {
	return exists(filepath.Join(rekalDir, recordFile)) || hasHooksOf(commonDir)
}

// hasHooksOf reports whether a git directory has our hooks, or the lines by which versions before 0.2 hid what lies in
// a worktree.
func hasHooksOf(commonDir string) bool {
	return strings.Contains(readText(filepath.Join(commonDir, "config")), `[hook "`+configNamePrefix) ||
		strings.Contains(readText(filepath.Join(commonDir, "info", "exclude")), blockBegin) ||
		holdsOurScript(filepath.Join(commonDir, "hooks"))
}

// MarkInstalled makes the folder of a repository that has neither hooks nor worktree, as a mirror, count as set up.
func MarkInstalled(rekalDir string) error {
	if err := os.MkdirAll(rekalDir, 0o700); err != nil {
		return err
	}
	return writeFile(filepath.Join(rekalDir, recordFile), nil, 0o600)
}

// ExcludesFormerDir reports whether the lines of a former version hide its folder: then what lies there is ours.
func ExcludesFormerDir(exclude string) bool {
	text, err := os.ReadFile(exclude)
	return err == nil && string(text) != withoutFormerPattern(string(text))
}

// DropFormerExclude takes the line of the former folder out of our block in the exclude file.
func DropFormerExclude(exclude string) error {
	text, err := readIfThere(exclude)
	if err != nil || isLink(exclude) {
		return err
	}
	if now := withoutFormerPattern(string(text)); now != string(text) {
		return writeFile(exclude, []byte(now), 0o666)
	}
	return nil
}

// withoutFormerPattern is an exclude file without the line of the former folder, of which only the one in our block is
// ours.
func withoutFormerPattern(text string) string {
	return cutLinesOfBlock(text, lineEquals(formerPattern))
}

// AdoptFormerDir moves the index that a former version left in its folder to today's, and removes the folder if nothing
// of others is in it. What is there already wins: it is newer.
func AdoptFormerDir(former, rekalDir string) error {
	if err := os.MkdirAll(rekalDir, 0o700); err != nil {
		return err
	}
	if err := moveRecord(former, rekalDir); err != nil {
		return err
	}
	// a mirror had the folder alone
	if filepath.Dir(former) == filepath.Dir(rekalDir) && !exists(filepath.Join(rekalDir, recordFile)) {
		if err := MarkInstalled(rekalDir); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(former)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !isFormerCache(e.Name()) {
			continue
		}
		from, to := filepath.Join(former, e.Name()), filepath.Join(rekalDir, e.Name())
		// another file system: it is made anew
		if !strings.HasPrefix(e.Name(), "recall.db") || exists(to) || os.Rename(from, to) != nil {
			err = errors.Join(err, os.RemoveAll(from))
		}
	}
	return errors.Join(err, removeEmpty(former))
}

// moveRecord moves the record, whose paths are relative to the folder that it lies in.
func moveRecord(former, rekalDir string) error {
	text, err := readIfThere(filepath.Join(former, recordFile))
	if err != nil || text == nil || exists(filepath.Join(rekalDir, recordFile)) {
		return err
	}
	moved := &record{layout: Layout{RekalDir: rekalDir}, pieces: map[string][]piece{}}
	moved.parse(string(text), former)
	return moved.write()
}

// isFormerCache reports whether a name in the former folder is one that those versions used.
func isFormerCache(name string) bool {
	own := "recall.db records.db data.db index.db lock capture.cache edits embed.json fetched made tmp at lines words"
	for known := range strings.FieldsSeq(own) {
		if name == known || strings.HasPrefix(name, known+".") || strings.HasPrefix(name, known+"-") {
			return true
		}
	}
	return false
}
