package torture

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// exports are victims that write beside the repository: an export into a folder, and mirrors of the remote.
func exports() []victim {
	return []victim{
		{name: "export", before: (*clone).behindLake, args: []string{"git", "rekal", "export", "--parquet", "../lake"}},
		{name: "mirror", before: (*clone).behindMirror, args: []string{"sh", "-c", "cd ../mirrors && git rekal mirror sync"}},
		{
			name: "export of mirrors", before: (*clone).behindMirror,
			args: []string{"git", "rekal", "export", "--parquet", "../mirrored", "--bare-mirrors", "../mirrors"},
		},
	}
}

func (c *clone) behindLake() error {
	return c.quietly("git", "commit", "-q", "--allow-empty", "-m", "behind the lake")
}

func (c *clone) behindMirror() error {
	if err := c.quietly("git", "rekal", "push", "--yes"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.home, "mirrors")); err == nil {
		return nil
	}
	return c.quietly("sh", "-c", "mkdir ../mirrors && cd ../mirrors && git rekal mirror add "+c.dir+".git")
}

// checkLakes is what must hold of exports and mirrors: who follows a manifest reads one state, and a run makes of any
// state what a first run would.
func (c *clone) checkLakes() error {
	mirrors, _ := filepath.Glob(filepath.Join(c.home, "mirrors", "*.git"))
	for _, dir := range mirrors {
		m := &clone{c.machine, dir}
		if err := m.fsck(); err != nil {
			return err
		}
		if err := (&clone{c.machine, filepath.Dir(dir)}).quietly("git", "rekal", "mirror", "sync"); err != nil {
			return err
		}
		ours, err := m.feed(nil, "for-each-ref", "--format=%(objectname)", "refs/rekal/origin")
		theirs, failed := (&clone{c.machine, c.dir + ".git"}).feed(nil, "for-each-ref", "--format=%(objectname)",
			"refs/heads/rekal")
		if err := errors.Join(err, failed); err != nil || string(ours) != string(theirs) {
			return fmt.Errorf("a mirror has %s, its remote %s: %w", ours, theirs, err)
		}
	}
	for lake, options := range map[string][]string{"lake": nil, "mirrored": {"--bare-mirrors", "../mirrors"}} {
		at := filepath.Join(c.home, lake)
		if _, err := os.Stat(at); err != nil {
			continue
		}
		if _, err := exported(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var files [2][]string
		for i, to := range []string{at, at + ".first"} {
			if err := c.quietly(slices.Concat([]string{"git", "rekal", "export", "--parquet", to}, options)...); err != nil {
				return err
			}
			var err error
			if files[i], err = exported(to); err != nil {
				return err
			}
		}
		there, err := filepath.Glob(filepath.Join(at, "*", "*", "*", "*"))
		if err = errors.Join(err, os.RemoveAll(at+".first")); err != nil {
			return err
		}
		if !slices.Equal(files[0], files[1]) || len(there) != len(files[0]) {
			return fmt.Errorf("%s grew to %v, a first run makes %v; there are %d files", lake, files[0], files[1], len(there))
		}
	}
	return nil
}

// exported are the files of an export's manifest, each of which must be whole.
func exported(dir string) (paths []string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Files []struct{ Path, SHA256 string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, f := range manifest.Files {
		content, err := os.ReadFile(filepath.Join(dir, f.Path))
		if sum := sha256.Sum256(content); err != nil || hex.EncodeToString(sum[:]) != f.SHA256 {
			return nil, fmt.Errorf("%s is not what the manifest says: %w", f.Path, cmp.Or(err, fs.ErrInvalid))
		}
		paths = append(paths, f.Path)
	}
	return paths, nil
}
