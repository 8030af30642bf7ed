package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// LogRequest asks for checkpoints. The zero value of a filter lets all pass.
type LogRequest struct {
	Limit  int    // at most so many
	Agent  string // those with sessions of it, and these
	Author string // as in Request
	// "A..B", "A...B", or "B" for it and all before: those made at these commits, or at what amends, rebases and squash
	// merges made them of; "" for all
	Range string
	Paths []string // pathspecs: those whose code commit changed such a file

	Verified bool // those with sessions that a key of their author signed, and these: the rest is barred from the index
	Times

	History history.Memory // of walks; nil for none
}

// Log reads the latest checkpoints, newest first. One at a commit that was rewritten is told at what became of it: of a
// range at its commit, else at the last one (see commits.Successors). Of several at one commit by one
// author the latest is told, with the sessions of all.
func Log(ctx context.Context, index *db.DB, repo *git.Repo, req LogRequest) ([]result.Checkpoint, error) {
	if err := checkAgent(ctx, index, req.Agent); err != nil {
		return nil, err
	}
	span, err := req.Span(repo)
	if err != nil {
		return nil, err
	}
	q := db.LogQuery{
		// older checkpoints at the last commit are told with it: they come before the next one. (max: the sum may be too
		// large)
		Limit: max(req.Limit, req.Limit+1), Agent: req.Agent, OnlyWithSessions: len(index.Barred()) > 0,
		Period: db.Period(span),
	}
	if req.Author != "" {
		if q.Authors, err = authorsLike(ctx, index, repo, req.Author); err != nil {
			return nil, err
		}
	}
	asked, err := applyOperands(ctx, index, repo, req, &q)
	if err != nil {
		return nil, err
	}
	for {
		all, err := readCheckpoints(ctx, index, q)
		if err != nil {
			return nil, err
		}
		isAll := len(all) < q.Limit
		if all, err = atSuccessors(ctx, index, repo, req.History, asked, all); err != nil || isAll || len(all) > req.Limit {
			return all[:min(len(all), req.Limit)], err
		}
		q.Limit *= 2
	}
}

// readCheckpoints reads checkpoints as the ledgers have them, the newest first.
func readCheckpoints(ctx context.Context, index *db.DB, q db.LogQuery) ([]result.Checkpoint, error) {
	rows, err := index.Log(ctx, q)
	if err != nil {
		return nil, err
	}
	private, err := db.PrivateIDs(ctx, index)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.Session
	}
	signed, err := index.Trust(ctx, ids)
	if err != nil {
		return nil, err
	}
	beginnings, err := beginningsAlike(ctx, index)
	if err != nil {
		return nil, err
	}
	out := []result.Checkpoint{}
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1].Checkpoint != r.ID {
			out = append(out, result.Checkpoint{
				Checkpoint: r.ID, Commit: r.GitSHA, Branch: r.GitBranch, Author: r.UserEmail, Actor: r.ActorType,
				LastTurnAt: result.Time(r.Took), TS: result.Time(r.TS), Via: r.Via, Files: r.FileCount,
				Sessions: []result.LogSession{},
			})
		}
		if r.Session == "" {
			continue
		}
		cp := &out[len(out)-1]
		cp.Sessions = append(cp.Sessions, result.LogSession{
			ID: r.Session, Title: r.Title, StartedAt: result.Time(r.Started), LastTurnAt: result.Time(r.Last), Source: r.Source,
			Facts: r.Facts, Actor: r.Actor, Turns: r.Turns, Tools: r.Tools, Tie: r.Tie.String(), Inferred: r.Tie.IsWeak(),
			Begins: beginnings[r.Session], Private: inOrderedList(private, r.Session), Signature: signed[r.Session].String(),
		})
	}
	return out, nil
}

// applyOperands reads the range and the paths. They are arguments, and no filter names them in an error.
func applyOperands(ctx context.Context, index *db.DB, repo *git.Repo, req LogRequest,
	q *db.LogQuery,
) (asked attribution.Revisions, err error) {
	if req.Range != "" {
		asked, err = commits.UpTo(ctx, index, repo, req.Range)
		q.Commits = asked.Commits()
	}
	if len(req.Paths) > 0 && err == nil {
		paths, failed := pathsOf(repo, req.Paths)
		q.Paths, err = &paths, failed
	}
	if usage := (*name.UsageError)(nil); errors.As(err, &usage) {
		usage.Filter = ""
	}
	return asked, err
}

// atSuccessors tells checkpoints at what became of their commits, once each.
func atSuccessors(ctx context.Context, index *db.DB, repo *git.Repo, memory history.Memory,
	asked attribution.Revisions, all []result.Checkpoint,
) ([]result.Checkpoint, error) {
	shas := make([]string, len(all))
	for i, cp := range all {
		shas[i] = cp.Commit
	}
	became, err := commits.Successors(ctx, index, repo, memory, shas)
	if err != nil {
		return nil, err
	}
	maps.Copy(became, asked.Starts())
	for i, cp := range all {
		of := attribution.Commit{Email: strings.ToLower(cp.Author), SHA: cp.Commit}
		if now := cmp.Or(became[of], became[attribution.Commit{SHA: cp.Commit}]); now != cp.Commit {
			all[i].Became = now
		}
	}
	if asked == nil {
		if err := moveLost(ctx, index, repo, memory, all); err != nil {
			return nil, err
		}
	}
	out, at := []result.Checkpoint{}, map[attribution.Commit]int{}
	for _, cp := range all {
		of := attribution.Commit{Email: strings.ToLower(cp.Author), SHA: cp.Code()}
		if n, ok := at[of]; ok && of.SHA != session.ZeroSHA {
			out[n].AddSessions(cp.Sessions)
			continue
		}
		at[of], out = len(out), append(out, cp)
	}
	return out, nil
}

// moveLost tells checkpoints at commits that no branch, tag or HEAD reaches, or that are not here, at the next commit
// that took lines of one of their sessions without a checkpoint of its own: a squash on a server did so.
func moveLost(ctx context.Context, index *db.DB, repo *git.Repo, memory history.Memory,
	all []result.Checkpoint,
) error {
	var shas, sessions []string
	for _, cp := range all {
		shas = append(shas, cp.Code())
		for _, s := range cp.Sessions {
			sessions = append(sessions, s.ID)
		}
	}
	lost, err := lostOf(ctx, repo, memory, shas)
	if err != nil || len(lost) == 0 {
		return err
	}
	ties, err := index.TiesOfSessions(ctx, sessions)
	if err != nil {
		return err
	}
	var taken []string
	for id, of := range ties {
		ties[id] = slices.DeleteFunc(of, func(t attribution.Tie) bool { return !strings.HasSuffix(t.Checkpoint, ":"+t.SHA) })
		for _, t := range ties[id] {
			taken = append(taken, t.SHA)
		}
	}
	lostToo, err := lostOf(ctx, repo, memory, taken)
	for i, cp := range all {
		for _, s := range cp.Sessions {
			for _, t := range ties[s.ID] { // the latest first
				if lost[git.OID(cp.Code())] && !lostToo[git.OID(t.SHA)] && result.Time(t.TS) >= cp.TS &&
					strings.EqualFold(t.Email, cp.Author) {
					all[i].Became = t.SHA
				}
			}
		}
	}
	return err
}

// lostOf are those of some commits that are not here, or to which no branch, tag or HEAD leads.
func lostOf(ctx context.Context, repo *git.Repo, memory history.Memory, shas []string) (map[git.OID]bool, error) {
	var ids []git.OID
	for _, sha := range shas {
		if sha != session.ZeroSHA {
			ids = append(ids, git.OID(sha))
		}
	}
	out := map[git.OID]bool{}
	unreached, err := history.Unreached(ctx, repo, ids, memory)
	maps.Copy(out, unreached)
	maps.Copy(out, repo.MissingObjects(ids))
	return out, err
}

// ErrOperand is a word that is neither a revision nor a file.
var ErrOperand = advice.New("neither a revision nor a file here",
	`write paths that are gone behind "--"; to search for words, write "git rekal -- log …"`)

// Operands tells a revision or range, which comes first, from paths below a folder, as git does: a word that can be
// both is refused, and a path has to be there or to be a pattern. "" is no revision.
func Operands(repo *git.Repo, dir string, words []string) (rev string, paths []string, err error) {
	for i, word := range words {
		_, noFile := os.Lstat(filepath.Join(dir, word))
		_, unknown := name.Commit(repo, word)
		file := noFile == nil || filepath.IsAbs(word)
		// of one that is gone
		likeOne := strings.Contains(word, "..") && !strings.Contains(word, "../") || name.LooksLikeCommit(word)
		switch named := unknown == nil || !file && likeOne; {
		case named && file:
			return "", nil, &name.UsageError{Err: fmt.Errorf("%q is a revision and a file: write -- behind it or before it",
				word)}
		case named && i > 0:
			return "", nil, &name.UsageError{Err: fmt.Errorf("%q: one revision or one range A..B comes first", word)}
		case named:
			rev = word
		case file || strings.ContainsAny(word, "*?[") || strings.HasPrefix(word, ":"):
			paths = append(paths, word)
		default:
			return "", nil, &name.UsageError{Err: fmt.Errorf("%q is %w", word, ErrOperand)}
		}
	}
	return rev, paths, nil
}
