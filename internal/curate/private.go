package curate

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// KeepPrivate moves sessions, and all that they spawned or that was forked from them, into the ledger that is never
// sent, as far as no remote is known to hold them; what they say later goes there, too. An ID may be the agent's own,
// of a session that is not captured yet.
func KeepPrivate(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (out Moved, err error) {
	err = w.Decide(ctx, func() error {
		out, err = keepPrivate(ctx, w, a, ids)
		return err
	})
	return out, err
}

func keepPrivate(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Moved, error) {
	private, err := w.EnsurePrivateLedger(ctx, a)
	if err != nil {
		return Moved{}, err
	}
	of, err := sessionsToMove(ctx, w, a, []*ledger.Ledger{a.Ledger, private}, ids)
	if err != nil {
		return Moved{}, err
	}
	// before: then no capture sends what comes in between
	if err := w.Machine().SetPrivate(ctx, true, of.named); err != nil {
		return Moved{}, err
	}
	for _, name := range of.named {
		if !slices.Contains(a.Config.Private, name) {
			if err := w.Repo.AddConfig(ctx, privateKey, name); err != nil {
				return Moved{}, err
			}
		}
	}
	return of.moveTo(ctx, w, a.Ledger, private)
}

// MakePublic undoes KeepPrivate: the next push sends the sessions.
func MakePublic(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (out Moved, err error) {
	err = w.Decide(ctx, func() error {
		out, err = makePublic(ctx, w, a, ids)
		return err
	})
	return out, err
}

func makePublic(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Moved, error) {
	private, err := w.EnsurePrivateLedger(ctx, a)
	if err != nil {
		return Moved{}, err
	}
	of, err := sessionsToMove(ctx, w, a, []*ledger.Ledger{private}, ids)
	if err != nil {
		return Moved{}, asPublic(ctx, a, ids, err)
	}
	if err := w.Machine().SetPrivate(ctx, false, of.named); err != nil {
		return Moved{}, err
	}
	for id := range of.ids {
		for up := range of.spawners(id) {
			if name := sourceAndNativeID(of.all[up]); !of.ids[up] && slices.Contains(a.Config.Private, name) {
				return Moved{}, fmt.Errorf("%s was begun by %s, which is private: undo that", sourceAndNativeID(of.all[id]), name)
			}
		}
	}
	for _, name := range of.named {
		held := slices.ContainsFunc(slices.Collect(maps.Values(of.all)),
			func(s session.Session) bool { return sourceAndNativeID(s) == name })
		if !held && !slices.Contains(a.Config.Private, name) {
			return Moved{}, fmt.Errorf("%s is not private", name)
		}
		if err := w.Repo.DropConfig(ctx, privateKey, name); err != nil {
			return Moved{}, err
		}
	}
	return of.moveTo(ctx, w, private, a.Ledger)
}

// asPublic is an error about IDs that no private session has, or that the first of them means a session like any other.
func asPublic(ctx context.Context, a workspace.Author, ids []string, err error) error {
	held, failed := a.Ledger.Sessions(ctx)
	natives := map[string]string{}
	for id, s := range held {
		natives[id] = s.NativeID
	}
	names := session.NewNames(natives)
	for _, id := range ids {
		if full, unknown := names.CompleteID(id); failed == nil && unknown == nil {
			return fmt.Errorf("%s is not private", sourceAndNativeID(held[full]))
		}
	}
	return err
}

// AuthorWithLedgerOf is the author with the private ledger in place of the usual one if only the private ledger holds
// the targets.
func AuthorWithLedgerOf(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	targets []ledger.Target,
) workspace.Author {
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

// moving is the sessions that go from one ledger to another.
type moving struct {
	named []string        // those that were asked for, as AGENT/ID
	ids   map[string]bool // of those that are captured, and of all that they began
	all   map[string]session.Session
}

func sourceAndNativeID(s session.Session) string { return s.Source + "/" + s.NativeID }

// sessionsToMove are the sessions that IDs mean in some ledgers, or else in transcripts.
func sessionsToMove(ctx context.Context, w *workspace.Workspace, a workspace.Author, in []*ledger.Ledger,
	ids []string,
) (moving, error) {
	out, natives := moving{ids: map[string]bool{}, all: map[string]session.Session{}}, map[string]string{}
	if err := refuseCheckedOut(ctx, w, a); err != nil {
		return out, err
	}
	for _, l := range in {
		held, err := l.Sessions(ctx)
		if err != nil {
			return out, err
		}
		for id, s := range held {
			out.all[id], natives[id] = s, s.NativeID
		}
	}
	names := session.NewNames(natives)
	for _, id := range ids {
		full, err := names.CompleteID(id)
		switch {
		case errors.Is(err, session.ErrNoID):
			n, err := findUncaptured(ctx, w, a, id)
			if err != nil {
				return out, err
			}
			out.named = append(out.named, n.Source+"/"+n.NativeID)
			continue
		case err != nil:
			return out, err
		}
		out.ids[full] = true
		out.named = append(out.named, sourceAndNativeID(out.all[full]))
	}
	named := maps.Clone(out.ids)
	for id := range out.all {
		for up := range out.spawners(id) {
			if named[up] {
				out.ids[id] = true
			}
		}
	}
	return out, nil
}

// spawners are the sessions by which one was begun, by whatever number of steps.
func (m moving) spawners(id string) map[string]bool {
	out := map[string]bool{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		s := m.all[next[0]]
		for _, up := range []string{s.Parent, s.ForkedFrom} {
			if up != "" && !out[up] {
				out[up], next = true, append(next, up)
			}
		}
	}
	return out
}

// moveTo copies the sessions into another ledger, and then forgets them in the first.
func (m moving) moveTo(ctx context.Context, w *workspace.Workspace, from, to *ledger.Ledger) (Moved, error) {
	out := Moved{Names: m.named}
	var err error
	if out.Copied, err = to.CopyFrom(ctx, from, func(id string) bool { return m.ids[id] }); err != nil {
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

// findUncaptured is the one session whose transcript is here, and whose agent calls it by a name.
func findUncaptured(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	name string,
) (session.NativeRef, error) {
	found, err := w.Previewer(a).SessionsNamed(ctx, name)
	switch {
	case err != nil:
		return session.NativeRef{}, err
	case len(found) == 0 || len(name) < session.MinPrefix:
		return session.NativeRef{}, fmt.Errorf("%q is no session of yours here, neither in your ledger nor in a transcript",
			name)
	case len(found) > 1:
		return session.NativeRef{}, fmt.Errorf("%q is the beginning of %d sessions: give more of it", name, len(found))
	}
	return found[0], nil
}
