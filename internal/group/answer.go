package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// patience is how long a member's index may take to be brought up, while the others wait.
const patience = 2 * time.Second

// What a group can't be asked.
var (
	errRecords = &Refused{"records of what commands printed stay with their repository", "ask there"}
	errPast    = &Refused{"a past moment, a commit or a range is one repository's", "ask there, without --group and --all"}
)

// Found is an answer, with what shortens the IDs in it, each as in its repository.
type Found struct {
	ask.Found
	Short func(id string) string
}

// Recall answers a question.
func (g *Group) Recall(ctx context.Context, q ask.Question) (Found, error) {
	switch {
	case q.Kind == ask.KindRecord:
		return Found{}, errRecords
	case q.Checkpoint != "" || q.Commit != "":
		return Found{}, errPast
	}
	if _, _ = g.SettingsFrom().Settings(); q.Query != "" { // they are read from a repository, by one goroutine
		g.SettingsFrom().PrepareVector(q.Query)
	}
	q.Embed = ask.EmbedOnce(g.SettingsFrom().QuestionVector)
	exchange := ask.NewExchange(len(g.members))
	q.Pool = func(p ask.Pool) (all ask.Pool) {
		g.whileWaiting(func() { all = exchange.Give(p) })
		return all
	}
	found, err := askMembers(ctx, g, func(m member) (ask.Found, error) {
		defer exchange.Leave()
		return g.recall(ctx, m, q)
	})
	if err != nil {
		return Found{}, err
	}
	var names []session.Names
	for _, f := range found {
		names = append(names, f.Names)
	}
	out := Found{Found: mergeAnswers(found, q), Short: idShortener(names)}
	out.Repos = g.Paths()
	return out, nil
}

// askMembers asks each member. Who fails is left out; the error is that of all.
func askMembers[T any](ctx context.Context, g *Group, question func(member) (T, error)) ([]T, error) {
	got, failed := make([]T, len(g.members)), make([]error, len(g.members))
	g.runParallel(len(g.members), func(i int) {
		defer func() {
			if panicked := recover(); panicked != nil { // nobody else could catch it
				failed[i] = fmt.Errorf("internal error: %v", panicked)
			}
		}()
		got[i], failed[i] = question(g.members[i])
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(failed, func(err error) bool { return err == nil }) {
		return nil, failed[0]
	}
	var members []member
	var out []T
	for i, m := range g.members {
		if failed[i] != nil {
			g.Left = append(g.Left, leftOutNotice(m.path, failed[i]))
			m.Close()
			continue
		}
		members, out = append(members, m), append(out, got[i])
	}
	g.members = members
	return out, nil
}

// openIndex opens a member's index.
func (g *Group) openIndex(ctx context.Context, m member) (*ask.Moment, error) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, err := ask.Open(soon, m.Workspace, ask.Opening{Reader: g.reader})
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		err = &Refused{"its index is being made", fmt.Sprintf(`"git -C %s rekal index" makes it`, m.path)}
	}
	return at, err
}

// Each does something with each member, some side by side. Members with which it can't be done are left out.
func (g *Group) Each(ctx context.Context, do func(*workspace.Workspace) error) error {
	_, err := askMembers(ctx, g, func(m member) (struct{}, error) {
		return struct{}{},
			m.AsNotInitialised(do(m.Workspace))
	})
	return err
}

// recall is one member's answer.
func (g *Group) recall(ctx context.Context, m member, q ask.Question) (found ask.Found, err error) {
	at, err := g.openIndex(ctx, m)
	if err != nil {
		return found, m.AsNotInitialised(err)
	}
	if found, err = at.Recall(ctx, q); err == nil {
		for i := range found.Results {
			found.Results[i].Repo = m.path
		}
		for i := range found.More {
			found.More[i].Repo = m.path
		}
	}
	return found, errors.Join(err, at.Close())
}

// Log lists the checkpoints of all members, the newest first.
func (g *Group) Log(ctx context.Context, req ask.LogRequest) (out Log, err error) {
	if req.Range != "" || len(req.Paths) > 0 {
		return out, errPast
	}
	logs, err := askMembers(ctx, g, func(m member) (Log, error) { return g.log(ctx, m, req) })
	var names []session.Names
	for _, one := range logs {
		out.Checkpoints, names = append(out.Checkpoints, one.Checkpoints...), append(names, one.names)
		out.Sessions += one.names.Len()
	}
	out.Short, out.Subject = idShortener(names), func(sha string) string {
		for _, m := range g.members {
			if subject := m.Subject(sha); subject != "" {
				return subject
			}
		}
		return ""
	}
	slices.SortStableFunc(out.Checkpoints, func(a, b result.Checkpoint) int {
		return cmp.Compare(normalTime(cmp.Or(b.LastTurnAt, b.TS)), normalTime(cmp.Or(a.LastTurnAt, a.TS)))
	})
	out.Checkpoints = out.Checkpoints[:min(len(out.Checkpoints), req.Limit)]
	return out, err
}

// Stats is what requests to language models took in several repositories, with what shortens the IDs in it.
type Stats struct {
	result.Stats
	Notice error // as ask's Stats has one
	Short  func(id string) string
	names  session.Names
}

// Stats sums up what requests took in all members: by session, commit, branch or folder those of each, else of all
// together.
func (g *Group) Stats(ctx context.Context, req ask.StatsRequest) (Stats, error) {
	ofOne := slices.Contains([]string{"branch", "commit", "folder", "session"}, req.By)
	limit := req.Limit
	if !ofOne {
		req.Limit = 0
	}
	all, err := askMembers(ctx, g, func(m member) (Stats, error) { return g.stats(ctx, m, req, ofOne) })
	if err != nil {
		return Stats{}, err
	}
	out, at, names := all[0], map[string]int{}, []session.Names(nil)
	out.Results, out.Total, out.Uncounted, out.More = []result.Tokens{}, result.Tokens{}, 0, 0
	for _, one := range all {
		out.Total.Add(one.Total)
		out.Uncounted, out.More, out.Notice = out.Uncounted+one.Uncounted, out.More+one.More, cmp.Or(out.Notice, one.Notice)
		for _, r := range one.Results {
			if i, ok := at[r.Key]; ok && !ofOne {
				out.Results[i].Add(r)
				continue
			}
			at[r.Key], out.Results = len(out.Results), append(out.Results, r)
		}
		names = append(names, one.names)
	}
	out.Repos, out.Short = g.Paths(), idShortener(names)
	ask.LimitStats(&out.Stats, limit)
	return out, nil
}

// stats is one member's.
func (g *Group) stats(ctx context.Context, m member, req ask.StatsRequest, single bool) (out Stats, err error) {
	at, err := g.openIndex(ctx, m)
	if err != nil {
		return out, m.AsNotInitialised(err)
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	if out.Stats, out.Notice, err = at.Stats(ctx, req); err != nil {
		return out, err
	}
	for i := range out.Results {
		switch r := &out.Results[i]; {
		case single:
			r.Repo = m.path
		case req.By == "repository":
			r.Key = m.path
		}
	}
	if req.By == "session" {
		out.names, err = at.Names(ctx)
	}
	return out, err
}

// Failures counts what failed in all members together, by command or path.
func (g *Group) Failures(ctx context.Context, req ask.StatsRequest) (result.Failures, error) {
	all, err := askMembers(ctx, g, func(m member) (result.Failures, error) { return g.failures(ctx, m, req) })
	if err != nil {
		return result.Failures{}, err
	}
	out, at := result.Failures{Schema: result.Schema, By: req.By, Repos: g.Paths(), Results: []result.Failed{}},
		map[[2]string]int{}
	for _, one := range all {
		out.Total, out.Dropped = out.Total+one.Total, append(out.Dropped, one.Dropped...)
		for _, r := range one.Results {
			key := [2]string{r.Path, r.Command}
			if req.By == "path" {
				key[1] = r.Repo // another repository's file is another one
			}
			i, ok := at[key]
			if !ok {
				at[key], out.Results = len(out.Results), append(out.Results, r)
				continue
			}
			out.Results[i] = addFailed(out.Results[i], r)
		}
	}
	ask.LimitFailures(&out, req.Limit)
	return out, nil
}

// addFailed adds the failures of another repository. What is known of the later ones counts, where one was mended.
func addFailed(a, b result.Failed) result.Failed {
	failed, sessions, last := a.Failed+b.Failed, a.Sessions+b.Sessions, max(a.LastAt, b.LastAt)
	if a.Mended == "" || b.Mended != "" && b.LastAt > a.LastAt {
		a = b
	}
	a.Failed, a.Sessions, a.LastAt = failed, sessions, last
	return a
}

// failures are one member's.
func (g *Group) failures(ctx context.Context, m member, req ask.StatsRequest) (out result.Failures, err error) {
	at, err := g.openIndex(ctx, m)
	if err != nil {
		return out, m.AsNotInitialised(err)
	}
	out, err = at.Failures(ctx, req)
	for i := range out.Results {
		out.Results[i].Repo = m.path
	}
	for i := range out.Dropped {
		out.Dropped[i].Repo = m.path
	}
	return out, errors.Join(err, at.Close())
}

// idShortener is what shortens an ID, as in the repository that has it.
func idShortener(all []session.Names) func(id string) string {
	return func(id string) string {
		for _, names := range all {
			if short := names.Short(id); short != id {
				return short
			}
		}
		return id
	}
}

// Log is checkpoints, and what shows them.
type Log struct {
	Checkpoints []result.Checkpoint
	Sessions    int                     // how many there are at all
	Subject     func(sha string) string // the first line of a code commit's message; "" where it is not here
	Short       func(id string) string  // the shortest beginning of a session's ID that means it alone in its repository
	names       session.Names
}

// log is one member's.
func (g *Group) log(ctx context.Context, m member, req ask.LogRequest) (out Log, err error) {
	at, err := g.openIndex(ctx, m)
	if err != nil {
		return out, m.AsNotInitialised(err)
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	if out.Checkpoints, err = at.Log(ctx, req); err != nil {
		return out, err
	}
	for i := range out.Checkpoints {
		out.Checkpoints[i].Repo = m.path
	}
	out.names, err = at.Names(ctx)
	return out, err
}
