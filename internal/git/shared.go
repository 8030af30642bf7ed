package git

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// shared is what core.sharedRepository asks for of what is made in the git directory.
type shared struct {
	extra    fs.FileMode // that files get; folders can also be searched by who can read them. 0: what the umask leaves
	replaces bool        // of what the umask leaves, and not beside it
}

func parseShared(setting string) shared {
	switch strings.ToLower(setting) {
	case "group", "true", "yes", "on", "1":
		return shared{extra: 0o660}
	case "all", "world", "everybody", "2":
		return shared{extra: 0o664}
	}
	bits, _ := strconv.ParseUint(setting, 8, 32) // "umask" and others ask for nothing
	return shared{fs.FileMode(bits) & 0o666, bits != 0}
}

// applyTo gives a file or folder that was just made the mode that the members of a group need.
func (s shared) applyTo(path string) error {
	if s.extra == 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode, more := info.Mode(), s.extra
	if mode&0o200 == 0 {
		more &^= 0o222
	}
	if mode.IsDir() {
		more |= more & 0o444 >> 2
	}
	if s.replaces {
		mode &^= fs.ModePerm
	}
	if mode |= more; mode.IsDir() && mode&0o060 != 0 {
		mode |= fs.ModeSetgid // what is made in it is the group's, too
	}
	return os.Chmod(path, mode)
}
