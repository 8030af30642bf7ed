package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/setup"
)

// copyWait is how long one waits for another who brings the same copy up: a first one takes as long as a clone.
const copyWait = 10 * time.Minute

// OfRemote opens what a remote is known to hold of this repository, and nothing else: its branches and its ledgers. It
// is a bare repository of its own below git-rekal's folder, into which git fetches what is new: so no object, ref,
// worktree, record or private ledger of this clone is in it, whatever is asked of it. Close it.
func (w *Workspace) OfRemote(ctx context.Context, remote string) (*Workspace, error) {
	conf, err := w.Settings()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(w.RekalDir(), "remotes", config.PlaceName(config.PlaceOf(conf.Places[remote]))+".git")
	if err := w.bringCopyUp(ctx, dir, remote, conf); err != nil {
		return nil, fmt.Errorf("workspace: copy what %q holds: %w", remote, err)
	}
	p := w.Process
	p.Dir, p.Public = dir, true
	p.Env = append(git.WithoutRepositoryVariables(p.Env), "GIT_DIR="+dir)
	return Open(ctx, p)
}

func (w *Workspace) bringCopyUp(ctx context.Context, dir, remote string, conf config.Config) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	held, err := lock.Acquire(ctx, dir+".lock", lock.ToWrite, copyWait)
	if err != nil {
		return err
	}
	if _, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		err = w.makeCopy(dir)
	}
	if err == nil {
		err = w.updateCopy(ctx, dir, remote, conf)
	}
	return errors.Join(err, held.Release())
}

// makeCopy makes the empty copy, in one step.
func (w *Workspace) makeCopy(dir string) error {
	fresh := dir + ".new"
	err := os.RemoveAll(fresh)
	if err == nil {
		err = w.Repo.InitBeside(fresh)
	}
	if err == nil {
		err = setup.MarkInstalled(filepath.Join(fresh, "rekal"))
	}
	if err == nil {
		err = os.Rename(fresh, dir)
	}
	return err
}

// copiedSettings are the settings of this clone that count in a copy, too.
func copiedSettings(key string) bool {
	return strings.HasPrefix(key, "gpg.") || key == "rekal.require" || key == "rekal.ignore" || key == "rekal.private"
}

func (w *Workspace) updateCopy(ctx context.Context, dir, remote string, conf config.Config) error {
	known, err := w.Repo.Refs("refs/remotes/" + remote + "/*")
	if err != nil {
		return err
	}
	held, err := w.Repo.Refs("refs/rekal/" + remote + "/*")
	if err != nil {
		return err
	}
	repo, err := git.OpenBare(ctx, dir)
	if err != nil {
		return err
	}
	defer repo.Close()
	want, specs := copiedRefs(remote, known, held)
	have, err := repo.Refs("refs/*")
	for i := 0; i < len(specs) && err == nil && !maps.Equal(have, want); i++ {
		_, err = repo.Run(ctx, append([]string{
			"fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head",
			w.Repo.Layout().CommonDir,
		}, specs[i]...)...)
	}
	if err != nil {
		return err
	}
	settings := map[string][]string{
		"user.name": {"visitor"}, "user.email": {"visitor@git-rekal.invalid"}, // so that no ledger is its own
		"remote." + remote + ".url": {conf.Places[remote]},
	}
	for key, values := range conf.Git {
		if copiedSettings(key) {
			settings[key] = values
		}
	}
	set, err := repo.Config(ctx)
	if err != nil {
		return err
	}
	for key := range set {
		if _, counts := settings[key]; !counts && copiedSettings(key) {
			if _, err := repo.UnsetConfig(ctx, key); err != nil {
				return err
			}
		}
	}
	for key, values := range settings {
		if slices.Equal(set[key], values) {
			continue
		}
		if err := repo.SetConfigValues(ctx, key, values); err != nil {
			return err
		}
	}
	return setHead(dir, headOf(w, remote, want))
}

// copiedRefs are the refs of a copy, and the refspecs of each fetch that makes them: branches as its own, ledgers as
// others'. A mirror has no branches, and its ledgers where a fetch puts them.
func copiedRefs(remote string, known, held map[string]git.OID) (want map[string]git.OID, specs [][]string) {
	want = map[string]git.OID{}
	prefix, ledgers := "refs/remotes/"+remote+"/", "refs/rekal/"+remote+"/"
	for ref, id := range known {
		name := strings.TrimPrefix(ref, prefix)
		switch email, isLedger := strings.CutPrefix(name, "rekal/"); {
		case isLedger:
			want[ledgers+email] = id
		case name != "HEAD":
			want["refs/heads/"+name] = id
		}
	}
	if len(known) == 0 {
		maps.Copy(want, held)
		return want, [][]string{{"+" + ledgers + "*:" + ledgers + "*"}}
	}
	return want, [][]string{
		{"+" + prefix + "*:refs/heads/*", "^" + prefix + "HEAD", "^" + prefix + "rekal/*"},
		{"+" + prefix + "rekal/*:" + ledgers + "*"},
	}
}

// headOf is the branch whose files a copy shows: the remote's own default, else the one of the same name as is checked
// out here, else any.
func headOf(w *Workspace, remote string, refs map[string]git.OID) string {
	if text, err := os.ReadFile(filepath.Join(w.Repo.Layout().CommonDir, "refs", "remotes", remote, "HEAD")); err == nil {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/remotes/"+remote+"/"); ok &&
			refs["refs/heads/"+name] != "" {
			return name
		}
	}
	if head, err := w.Repo.Head(); err == nil && refs["refs/heads/"+head.Branch] != "" {
		return head.Branch
	}
	first := ""
	for ref := range refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// setHead has HEAD of the copy name a branch; "" leaves it.
func setHead(dir, branch string) error {
	if branch == "" {
		return nil
	}
	file, text := filepath.Join(dir, "HEAD"), "ref: refs/heads/"+branch+"\n"
	if was, err := os.ReadFile(file); err == nil && string(was) == text {
		return nil
	}
	return os.WriteFile(file, []byte(text), 0o600)
}
