package curate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	of, err := sessionsToMove(ctx, w, a, []*ledger.Ledger{private, a.Ledger}, ids)
	if err != nil {
		return Moved{}, err
	}
	kept, err := private.Sessions(ctx)
	if err != nil {
		return Moved{}, err
	}
	if err := of.refusePublic(a.Config.Private, kept); err != nil {
		return Moved{}, err
	}
	if err := w.Machine().SetPrivate(ctx, false, of.named); err != nil {
		return Moved{}, err
	}
	for _, name := range of.named {
		if err := w.Repo.DropConfig(ctx, privateKey, name); err != nil {
			return Moved{}, err
		}
	}
	return of.moveTo(ctx, w, private, a.Ledger)
}

// refusePublic is an error if one of the sessions that were asked for is not private, or is so because another one is
// by which it was begun.
func (m moving) refusePublic(configured []string, kept map[string]session.Session) error {
	for id := range m.ids {
		for up := range m.spawners(id) {
			if name := m.all[up].Native().String(); !m.ids[up] && slices.Contains(configured, name) {
				return fmt.Errorf("%s was begun by %s, which is private: undo that", m.all[id].Native(), name)
			}
		}
	}
	for _, name := range m.named {
		held := slices.ContainsFunc(slices.Collect(maps.Values(kept)),
			func(s session.Session) bool { return s.Native().String() == name })
		if !held && !slices.Contains(configured, name) {
			return fmt.Errorf("%s is not private", name)
		}
	}
	return nil
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
		full, err := out.completeName(names, id)
		switch {
		case errors.Is(err, session.ErrNoID):
			name, err := findUncaptured(ctx, w, a, id)
			if err != nil {
				return out, err
			}
			out.named = append(out.named, name)
			continue
		case err != nil:
			return out, err
		}
		out.ids[full] = true
		out.named = append(out.named, out.all[full].Native().String())
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

// completeName is CompleteID, which also takes a session as the command prints it and the setting names it: AGENT/ID.
func (m moving) completeName(names session.Names, name string) (string, error) {
	for id, s := range m.all {
		if s.Native().String() == name {
			return id, nil
		}
	}
	return names.CompleteID(name)
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

// findUncaptured is the one session, as AGENT/ID, whose transcript is here or which is known to be private, and whose
// agent calls it by a name.
func findUncaptured(ctx context.Context, w *workspace.Workspace, a workspace.Author, name string) (string, error) {
	refs, err := w.Previewer(a).SessionsNamed(ctx, name)
	if err != nil {
		return "", err
	}
	var found []string
	for _, n := range refs {
		found = append(found, n.String())
	}
	for _, known := range a.Config.Private {
		_, native, _ := strings.Cut(known, "/")
		if (known == name || strings.HasPrefix(native, name)) && !slices.Contains(found, known) {
			found = append(found, known)
		}
	}
	switch {
	case len(found) == 0 || len(name) < session.MinPrefix:
		return "", fmt.Errorf("%q is no session of yours here, neither in your ledger nor in a transcript", name)
	case len(found) > 1:
		return "", fmt.Errorf("%q is the beginning of %d sessions: give more of it", name, len(found))
	}
	return found[0], nil
}
