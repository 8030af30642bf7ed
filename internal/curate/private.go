package curate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// privateKey is the setting that lists the sessions which are never sent.
const privateKey = "rekal.private"

// Moved says what became private, or public again.
type Moved struct {
	ledger.Copied
	Names []string // of the sessions that were asked for, as AGENT/ID
	Left  ledger.Leftovers
}

// KeepPrivate moves sessions, and all that they spawned or that was forked from them, into the ledger that is never sent, as far as no remote is
// known to hold them; what they say later goes there, too. An ID may be the agent's own, of a session that is not captured yet.
func KeepPrivate(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Moved, error) {
	private, err := w.MakePrivate(ctx, a)
	if err != nil {
		return Moved{}, err
	}
	named, moving, err := toMove(ctx, w, a, []*ledger.Ledger{a.Ledger, private}, ids)
	if err != nil {
		return Moved{}, err
	}
	for _, name := range named { // before: then no capture sends what comes in between
		if !slices.Contains(a.Config.Private, name) {
			if err := w.Repo.AddConfig(ctx, privateKey, name); err != nil {
				return Moved{}, err
			}
		}
	}
	return move(ctx, w, a.Ledger, private, named, moving)
}

// MakePublic undoes KeepPrivate: the next push sends the sessions.
func MakePublic(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Moved, error) {
	private, err := w.MakePrivate(ctx, a)
	if err != nil {
		return Moved{}, err
	}
	named, moving, err := toMove(ctx, w, a, []*ledger.Ledger{private}, ids)
	if err != nil {
		return Moved{}, err
	}
	for _, name := range named {
		if !slices.Contains(a.Config.Private, name) {
			return Moved{}, fmt.Errorf(`%s is not marked private itself: "git config --get-all %s" names those that are`, name, privateKey)
		}
		if err := w.Repo.DropConfig(ctx, privateKey, name); err != nil {
			return Moved{}, err
		}
	}
	return move(ctx, w, private, a.Ledger, named, moving)
}

// Holding is an author whose ledger is the private one, where that alone holds what targets mean.
func Holding(ctx context.Context, w *workspace.Workspace, a workspace.Author, targets []ledger.Target) workspace.Author {
	private, err := w.PrivateLedger(a)
	if err != nil || private == nil {
		return a
	}
	if _, err := a.Ledger.Resolve(ctx, targets); !errors.As(err, new(*ledger.TargetError)) {
		return a
	}
	if _, err := private.Resolve(ctx, targets); err == nil {
		a.Ledger = private
	}
	return a
}

// move copies sessions into another ledger, and then forgets them in the first.
func move(ctx context.Context, w *workspace.Workspace, from, to *ledger.Ledger, named []string, moving map[string]bool) (Moved, error) {
	out := Moved{Names: named}
	var err error
	if out.Copied, err = to.CopyFrom(ctx, from, func(id string) bool { return moving[id] }); err != nil {
		return out, err
	}
	var targets []ledger.Target
	for id := range out.Sessions {
		targets = append(targets, ledger.Target{Session: id})
	}
	var former ledger.Scrubbed
	if len(targets) > 0 {
		if former, err = from.Scrub(ctx, ledger.Scrub{Targets: targets, Forget: true, Unsent: true}); err != nil {
			return out, err
		}
	}
	var undone error
	out.Left, undone = from.Discard(ctx, former.Former...)
	return out, errors.Join(undone, ForgetCaches(ctx, w))
}

// toMove are the names of the sessions that IDs mean, as AGENT/ID, and the IDs of these and of all that they began, as far as they are captured.
func toMove(ctx context.Context, w *workspace.Workspace, a workspace.Author, in []*ledger.Ledger, ids []string) (named []string, moving map[string]bool, err error) {
	if err := refuseCheckedOut(ctx, w, a); err != nil {
		return nil, nil, err
	}
	all, natives := map[string]session.Session{}, map[string]string{}
	for _, l := range in {
		held, err := l.Sessions(ctx)
		if err != nil {
			return nil, nil, err
		}
		for id, s := range held {
			all[id], natives[id] = s, s.NativeID
		}
	}
	names := session.NewNames(natives)
	moving = map[string]bool{}
	for _, id := range ids {
		full, err := names.Find(id)
		switch {
		case errors.Is(err, session.ErrNoID):
			n, err := uncaptured(ctx, w, a, id)
			if err != nil {
				return nil, nil, err
			}
			named = append(named, n.Source+"/"+n.NativeID)
			continue
		case err != nil:
			return nil, nil, err
		}
		moving[full] = true
		named = append(named, all[full].Source+"/"+all[full].NativeID)
	}
	for before := -1; before < len(moving); {
		before = len(moving)
		for id, s := range all {
			if moving[s.Parent] || moving[s.ForkedFrom] {
				moving[id] = true
			}
		}
	}
	return named, moving, nil
}

// uncaptured is the one session whose transcript is here, and whose agent calls it by a name.
func uncaptured(ctx context.Context, w *workspace.Workspace, a workspace.Author, name string) (session.NativeRef, error) {
	found, err := w.Previewer(a).Named(ctx, name)
	switch {
	case err != nil:
		return session.NativeRef{}, err
	case len(found) == 0 || len(name) < session.MinPrefix:
		return session.NativeRef{}, fmt.Errorf("%q is no session of yours here, neither in your ledger nor in a transcript", name)
	case len(found) > 1:
		return session.NativeRef{}, fmt.Errorf("%q is the beginning of %d sessions: give more of it", name, len(found))
	}
	return found[0], nil
}
