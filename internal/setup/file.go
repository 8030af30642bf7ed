package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// tempMark stands in the names of files that are not yet complete.
const tempMark = ".rekal-tmp"

// writeFile replaces a file at once: a reader, or a crash, finds the old content or the
// new. The mode passes through the umask, unless the file exists: then its own is kept,
// but for the bits that mode has and it lacks.
func writeFile(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := makeTemp(path, mode)
	if err != nil {
		return err
	}
	temp := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync() // the name must not outlive the bytes in a power cut
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := copyMode(path, temp); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// makeTemp makes the file that is to replace another. Nobody reads it who may not read that one: a configuration may
// hold tokens, and a killed process leaves the file behind.
func makeTemp(path string, mode fs.FileMode) (*os.File, error) {
	if was, err := os.Lstat(path); err == nil && was.Mode().IsRegular() {
		mode = was.Mode().Perm() | mode&0o111
	}
	return os.OpenFile(fmt.Sprintf("%s%s%d", path, tempMark, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func copyMode(old, temp string) error {
	was, err := os.Lstat(old)
	if err != nil || !was.Mode().IsRegular() {
		return nil // nothing to keep
	}
	now, err := os.Lstat(temp)
	if err != nil {
		return err
	}
	return os.Chmod(temp, was.Mode().Perm()|now.Mode().Perm()&0o111)
}

// removeHalfWritten removes what a killed process left half-written beside the path.
func removeHalfWritten(path string) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+tempMark) {
			err = cmp.Or(absentIsFine(err), os.Remove(dir+e.Name()))
		}
	}
	if absentIsFine(err) != nil {
		return fmt.Errorf("setup: clear half-written files: %w", err)
	}
	return nil
}

// readIfThere is a file's content; nil where there is none.
func readIfThere(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, absentIsFine(err)
	}
	return text, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// followLinks follows links in the part of a path that exists.
func followLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(followLinks(dir), filepath.Base(path))
}

// absentIsFine turns "there is no such file" into success.
func absentIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
