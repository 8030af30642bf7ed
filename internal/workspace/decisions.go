package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// Decisions of the user are which sessions are private or forgotten, and when nothing was captured. Who decides holds
// the lock alone. Who stores or sends shares it for as long as that takes, and looks once more whether the decisions
// are still those that he began with: so nothing that was under way stores or sends what somebody has just decided on.

// How long one waits: a decision for a push that is under way, a capture for a ledger that is being rewritten.
const (
	decideWait = 30 * time.Second
	storeWait  = 5 * time.Second
)

func (w *Workspace) decisionsLock() string { return filepath.Join(w.RekalDir(), "lock.decisions") }

// Decide changes decisions, and what follows from them, while nobody stores or sends anything.
func (w *Workspace) Decide(ctx context.Context, do func() error) error {
	if err := os.MkdirAll(w.RekalDir(), 0o700); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	held, err := lock.Acquire(ctx, w.decisionsLock(), lock.ToWrite, decideWait)
	if err != nil {
		return fmt.Errorf("a capture or a push of the ledger is under way, so nothing was decided: %w", err)
	}
	return errors.Join(do(), held.Release())
}

// holdDecisions keeps decisions as they are until release is called.
func (w *Workspace) holdDecisions(ctx context.Context) (release func() error, err error) {
	held, err := lock.Acquire(ctx, w.decisionsLock(), lock.ToRead, storeWait)
	if errors.Is(err, fs.ErrNotExist) { // no folder of ours, no decisions
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return held.Release, nil
}

// holdFor is holdDecisions for a capturer that was made by the settings of an author. It returns git.ErrMoved where the
// decisions are others now: the capturer then knows them, and begins again.
func (w *Workspace) holdFor(ctx context.Context, a *Author, c *capture.Capturer) (release func() error, err error) {
	if release, err = w.holdDecisions(ctx); err != nil {
		return nil, err
	}
	now := w.decisionsStamp()
	if now == a.decidedAsOf {
		return release, nil
	}
	conf, err := w.readConfig(ctx)
	if err == nil {
		a.decidedAsOf, a.Config = now, conf
		err = w.applyDecisions(ctx, *a, c)
	}
	return nil, errors.Join(err, git.ErrMoved, release())
}

// applyDecisions tells a capturer what is not captured, and what is not sent.
func (w *Workspace) applyDecisions(ctx context.Context, a Author, c *capture.Capturer) (err error) {
	c.Without, c.Private.Sessions = exclusionsOf(a.Config), nativeRefs(a.Config.Private)
	c.Notes = capture.Notes{Off: a.Config.NotesOff, Sent: a.Config.NotesSent}
	if c.Private.Ledger == nil && (len(a.Config.Private) > 0 || w.private != nil || c.KeepsNotesHere()) {
		c.Private.Ledger, err = w.EnsurePrivateLedger(ctx, a)
	}
	return err
}

// readConfig reads the settings, with the sessions that are private on this machine.
func (w *Workspace) readConfig(ctx context.Context) (config.Config, error) {
	conf, err := config.Read(ctx, w.Repo, w.Env)
	everywhere, err2 := w.Machine().PrivateSessions()
	for _, name := range everywhere {
		if !slices.Contains(conf.Private, name) {
			conf.Private = append(conf.Private, name)
		}
	}
	return conf, errors.Join(err, err2)
}

// decisionsStamp changes with the files in which decisions stand.
func (w *Workspace) decisionsStamp() string {
	var b strings.Builder
	l := w.Repo.Layout()
	for _, file := range []string{
		filepath.Join(l.CommonDir, "config"), filepath.Join(l.GitDir, "config.worktree"),
		w.Machine().PrivateFile(),
	} {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprint(&b, info.ModTime().UnixNano(), " ", info.Size())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
