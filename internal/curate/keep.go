package curate

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// ErrRecordsOff says that the user wants no records.
var ErrRecordsOff = errors.New("rekal.records is off")

// WhyNotKept returns why nothing that a command prints is kept here; nil where it is.
func WhyNotKept(w *workspace.Workspace) error {
	if err := w.CheckReady(); err != nil {
		return err
	}
	conf, err := w.Settings()
	if err == nil && conf.Records.Off {
		err = ErrRecordsOff
	}
	return cmp.Or(err, conf.CheckPaused())
}

// Keeper keeps what one command printed.
type Keeper struct {
	w    *workspace.Workspace
	with func() *redact.Redactor
}

// PrepareKeeper prepares for what will have to be redacted, beside the caller: rules are read, and what this machine
// knows to be secret. The Keeper has the workspace from now on.
func PrepareKeeper(ctx context.Context, w *workspace.Workspace) Keeper {
	k := Keeper{w, sync.OnceValue(func() *redact.Redactor {
		conf, _ := w.Settings()
		r := w.Redactor(conf, workspace.ToStore)
		_, _, _ = r.Apply(ctx, session.Entry{Subject: "token"}) // it is only warmed up
		return r
	})}
	go k.with()
	return k
}

// Close releases the workspace, when nobody reads it any more.
func (k Keeper) Close() {
	k.with()
	k.w.Close()
}

// Keep redacts what a command printed and stores it. Paths of r are as the command wrote them; they become those of the
// repository. It also returns how many secrets were taken out.
func (k Keeper) Keep(ctx context.Context, r records.Record, raw io.Reader) (records.Record, int, error) {
	notePlaces(k.w, &r)
	clean, err := records.Redact(ctx, k.with(), r, raw)
	if err != nil {
		return r, 0, err
	}
	kept, err := k.w.Records().Add(ctx, clean)
	return kept, clean.Places(), err
}

// notePlaces notes where a command ran, and how the files that its output names stand.
func notePlaces(w *workspace.Workspace, r *records.Record) {
	r.At = w.Now().UTC()
	if head, err := w.Repo.Head(); err == nil {
		r.Branch = head.Branch
	}
	if below, ok := w.Repo.PathInside("x"); ok && path.Dir(below) != "." { // the root itself is nothing inside
		r.Dir = path.Dir(below)
	}
	now, err := worktree.Open(w.Repo, "")
	if err != nil {
		return
	}
	defer now.Close()
	r.Files = map[string]string{}
	completePaths(w, r, func(at string) bool {
		blob := now.Blob(at, nil)
		if blob != "" && blob != worktree.Unread {
			r.Files[at] = string(blob)
		}
		return blob != ""
	})
}

// completePaths makes paths in a command's output those from the work tree's root, where one is there.
func completePaths(w *workspace.Workspace, r *records.Record, isThere func(at string) bool) {
	for i, p := range r.Paths {
		all := possiblePaths(w, p, r.Dir)
		if at := slices.IndexFunc(all, isThere); at >= 0 {
			r.Paths[i] = all[at]
		}
	}
}

// possiblePaths are the paths from the work tree's root that a path in a command's output may mean.
func possiblePaths(w *workspace.Workspace, named, dir string) (out []string) {
	if filepath.IsAbs(named) {
		root := w.Repo.Layout().WorkTree
		rel, err := filepath.Rel(root, named)
		if err != nil || root == "" || !filepath.IsLocal(rel) {
			return nil
		}
		return []string{filepath.ToSlash(rel)}
	}
	for _, p := range []string{filepath.Join(dir, named), named} {
		if p = filepath.ToSlash(filepath.Clean(p)); filepath.IsLocal(p) && !strings.HasPrefix(p, ".git/") {
			out = append(out, p)
		}
	}
	return out
}
