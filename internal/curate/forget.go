package curate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// forgotKey is the setting that lists the sessions which are not captured again.
const forgotKey = "rekal.forgot"

// ForgetSessions takes sessions out of the author's own ledger as if they had never been captured, with those that they
// spawned, and notes that they are not to be captured again. It returns a ledger.PushedError where a remote holds any
// of it, or what ledger.Ledger.Resolve returns. A session of which another one holds a copy is not forgotten alone.
// What is left to do is as after Scrub.
func ForgetSessions(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	ids []string,
) (out ledger.Scrubbed, err error) {
	err = w.Decide(ctx, func() error {
		out, err = forgetSessions(ctx, w, a, ids)
		return err
	})
	return out, err
}

func forgetSessions(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	ids []string,
) (ledger.Scrubbed, error) {
	if err := refuseCheckedOut(ctx, w, a); err != nil {
		return ledger.Scrubbed{}, err
	}
	targets, all, err := sessionsToForget(ctx, a, ids)
	if err != nil {
		return ledger.Scrubbed{}, err
	}
	var noted []string
	for _, t := range targets { // before: then no capture takes them in between
		s := all[t.Session]
		if name := s.Native().String(); !slices.Contains(a.Config.Forgot, name) {
			if err := w.Repo.AddConfig(ctx, forgotKey, name); err != nil {
				return ledger.Scrubbed{}, err
			}
			noted = append(noted, name)
		}
	}
	out, err := scrub(ctx, w, a, ledger.Scrub{Targets: targets, Forget: true})
	if err != nil && out.Tip == "" {
		for _, name := range noted {
			err = errors.Join(err, w.Repo.DropConfig(ctx, forgotKey, name))
		}
		return out, err
	}
	return out, errors.Join(err, rereadTranscripts(ctx, w))
}

// rereadTranscripts has records of transcripts be looked for anew: how far these were read names sessions. What is a
// record already is none again.
func rereadTranscripts(ctx context.Context, w *workspace.Workspace) error {
	return w.Records().DropProgress(ctx)
}

// sessionsToForget are the sessions with the given IDs, and the sessions that these spawned.
func sessionsToForget(ctx context.Context, a workspace.Author,
	ids []string,
) (targets []ledger.Target, all map[string]session.Session, err error) {
	for _, id := range ids {
		targets = append(targets, ledger.Target{Session: id})
	}
	if targets, err = a.Ledger.Resolve(ctx, targets); err != nil {
		return nil, nil, err
	}
	if all, err = a.Ledger.Sessions(ctx); err != nil {
		return nil, nil, err
	}
	goes := map[string]bool{}
	for i, t := range targets {
		if _, ok := all[t.Session]; !ok {
			return nil, nil, fmt.Errorf("%q is no session: only sessions are forgotten", ids[i])
		}
		goes[t.Session] = true
	}
	for again := true; again; {
		again = false
		for id, s := range all {
			if goes[s.Parent] && !goes[id] {
				goes[id], again = true, true
				targets = append(targets, ledger.Target{Session: id})
			}
		}
	}
	for _, t := range targets {
		var forks []string
		for id, s := range all {
			if s.ForkedFrom == t.Session && !goes[id] {
				forks = append(forks, id)
			}
		}
		if len(forks) > 0 {
			slices.Sort(forks)
			return nil, nil, advice.New(fmt.Sprintf("%s was forked from %s, and begins with a copy of it",
				strings.Join(forks, ", "), t.Session),
				fmt.Sprintf(`nothing was changed; "git rekal forget %s %s" forgets all of them`, t.Session,
					strings.Join(forks, " ")))
		}
	}
	return targets, all, nil
}

// Exclusions are the settings that are set by which something is kept out of this clone's ledger.
func Exclusions(ctx context.Context, w *workspace.Workspace) (keys []string, err error) {
	conf, err := w.Repo.Config(ctx)
	for _, key := range []string{pauseKey, pausedNotesKey, forgotKey, privateKey} {
		if len(conf[key]) > 0 {
			keys = append(keys, key)
		}
	}
	return keys, err
}
