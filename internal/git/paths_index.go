package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IndexPaths has git note which paths each commit of a history changed (a commit-graph with Bloom filters), in a
// temporary folder, which release removes. Commands of the repository that it returns follow a file through that
// history several times as fast. The repository's own commit-graph stays as it is.
func (r *Repo) IndexPaths(ctx context.Context, tip OID) (indexed *Repo, release func(), err error) {
	objects := filepath.Join(r.layout.CommonDir, "objects")
	if r.Incomplete() || strings.ContainsRune(objects, '\n') || envValue(r.env, "GIT_OBJECT_DIRECTORY") != "" {
		return nil, nil, ErrUnsupported
	}
	dir, err := os.MkdirTemp("", "git-rekal-")
	if err != nil {
		return nil, nil, err
	}
	out := *r
	out.env = append(slices.Clone(r.env), "GIT_OBJECT_DIRECTORY="+dir)
	err = os.Mkdir(filepath.Join(dir, "info"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(objects+"\n"), 0o600)
	}
	if err == nil {
		_, err = out.Feed(ctx, string(tip)+"\n", "commit-graph", "write", "--stdin-commits", "--changed-paths",
			"--no-progress")
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &out, func() { _ = os.RemoveAll(dir) }, nil
}
