package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/trailer"
	"github.com/git-rekal/git-rekal/internal/why"
)

// Helped tells of the commits of a range, or of one commit, which agents helped with them, the oldest first, and by
// which lines of a form they are named. count reports whether the lines of a commit are to be counted; nil: of none.
func (m *Moment) Helped(ctx context.Context, rev string, form trailer.Form,
	count func(result.Helped) bool,
) ([]result.Helped, error) {
	tied, err := commits.SessionsBehind(ctx, m.DB, m.w.Repo, rev)
	if err != nil {
		return nil, err
	}
	r, err := m.newHelpReader(ctx, tied)
	if err != nil {
		return nil, err
	}
	r.form, r.count = form, count
	if r.counter, err = why.NewCounter(ctx, m.DB, m.w.Repo); err != nil {
		return nil, err
	}
	out := []result.Helped{}
	for _, t := range slices.Backward(tied) {
		h, err := r.read(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// helpReader is what is known of the sessions behind some commits.
type helpReader struct {
	repo     *git.Repo
	form     trailer.Form
	count    func(result.Helped) bool
	counter  *why.Counter
	sessions map[string]db.Facet
	models   map[string][]db.ModelAt
	trust    map[string]session.Trust
	private  []string
	wrote    []string         // agents of whose sessions lines are known in some commit
	unsent   map[git.OID]bool // commits of own ledgers that no remote is known to have
	ledgers  map[string]bool  // addresses, in lower case
	cuts     map[git.OID]bool
}

func (m *Moment) newHelpReader(ctx context.Context, tied []commits.Tied) (*helpReader, error) {
	var helping, all []string
	for _, t := range tied {
		for _, s := range t.Sessions {
			if all = append(all, s.ID); s.Kind <= session.TieMade {
				helping = append(helping, s.ID)
			}
		}
		all = append(all, t.Talked...)
	}
	r := &helpReader{repo: m.w.Repo, ledgers: map[string]bool{}}
	var errs [8]error
	r.sessions, errs[0] = m.Facets(ctx, all)
	r.models, errs[1] = m.Models(ctx, helping)
	r.trust, errs[2] = m.Trust(ctx, helping)
	r.private, errs[3] = db.PrivateIDs(ctx, m.DB)
	r.unsent, errs[4] = unsentCommits(ctx, m.w.Repo)
	r.cuts, errs[5] = m.w.Repo.ShallowCuts()
	heads, err := ledger.Heads(m.w.Repo)
	for _, h := range heads {
		r.ledgers[strings.ToLower(h.Email)] = true
	}
	errs[6] = err
	r.wrote, errs[7] = m.AgentsOfLines(ctx)
	return r, errors.Join(errs[:]...)
}

// unsentCommits are the commits of this clone's own ledgers that no remote is known to have.
func unsentCommits(ctx context.Context, repo *git.Repo) (map[git.OID]bool, error) {
	own, err := ledger.LocalTips(repo)
	if err != nil {
		return nil, err
	}
	sent, err := ledger.Fetched(repo, "*")
	if err != nil {
		return nil, err
	}
	out := map[git.OID]bool{}
	for c, err := range repo.Newest(ctx, slices.Collect(maps.Values(own)), slices.Collect(maps.Values(sent))) {
		if err != nil {
			return nil, err
		}
		out[c.OID] = true
	}
	return out, nil
}

// read tells who helped with a commit.
func (r *helpReader) read(ctx context.Context, t commits.Tied) (result.Helped, error) {
	out := result.Helped{
		Schema: result.Schema, Commit: t.Commit, Helpers: []result.Helper{}, Named: []result.NamedBy{},
		Trailers: []string{},
	}
	c, err := r.repo.Commit(git.OID(t.Commit))
	if errors.Is(err, git.ErrNotFound) {
		out.Unseen = "the commit is not here"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Subject, out.Author, out.Merge = c.Subject(), c.Author.Email, len(c.Parents) > 1
	out.Named = append(out.Named, commits.NamedBy(c)...)
	for _, id := range t.Talked {
		out.Talked = append(out.Talked, r.sessions[id].Source)
	}
	if err := r.addSessions(ctx, &out, t); err != nil || out.Merge {
		return out, err
	}
	if len(t.Sessions) == 0 && len(t.Talked) == 0 && !r.ledgers[strings.ToLower(c.Author.Email)] &&
		!r.ledgers[strings.ToLower(c.Committer.Email)] {
		out.Unseen = "no ledger of " + c.Author.Email + " is here"
	}
	if (r.form.Counts() || r.count != nil && r.count(out)) && !r.cuts[c.OID] {
		if err := r.countLines(ctx, &out); err != nil {
			return out, err
		}
	}
	writeTrailers(&out, r.form, r.sessions)
	return out, nil
}

// addSessions parts the sessions behind a commit: those that helped with it, and others. Who wrote lines of it helped.
// Who only edited its files, or made it, did so where no line can tell: the commit brought none, or the session edited,
// and of its agent no line is known in any commit, because it does not tell what it edits. Of one that does, the lines
// are not there. (Else, in the histories of tests/ties, one commit of eight would name an agent of whose lines it has
// none.)
func (r *helpReader) addSessions(ctx context.Context, out *result.Helped, t commits.Tied) error {
	var lineless []commits.TiedSession
	for _, s := range t.Sessions {
		switch {
		case out.Merge || s.Kind > session.TieMade:
			out.Inferred = append(out.Inferred, r.sessions[s.ID].Source)
		case s.Lines > 0:
			r.addHelper(out, s)
		default:
			lineless = append(lineless, s)
		}
	}
	slices.SortStableFunc(out.Helpers, func(a, b result.Helper) int { return cmp.Compare(b.Lines, a.Lines) })
	if len(lineless) == 0 {
		return nil
	}
	bring, err := r.bringsLines(ctx, *out)
	for _, s := range lineless {
		tells := slices.Contains(r.wrote, r.sessions[s.ID].Source)
		if bring && (s.Kind != session.TieEdited || tells || len(out.Helpers) > 0) {
			out.Inferred = append(out.Inferred, r.sessions[s.ID].Source)
		} else {
			r.addHelper(out, s)
		}
	}
	return err
}

// bringsLines reports whether a commit brought lines that can be compared with edits; of one whose parent is not here
// nobody knows.
func (r *helpReader) bringsLines(ctx context.Context, h result.Helped) (bool, error) {
	if len(h.Helpers) > 0 || r.cuts[git.OID(h.Commit)] {
		return true, nil
	}
	files, err := history.Patch(ctx, r.repo, git.OID(h.Commit))
	return slices.ContainsFunc(files, func(f history.FilePatch) bool { return len(f.Brought()) > 0 }), err
}

// addHelper adds a session to the helper that it is of.
func (r *helpReader) addHelper(out *result.Helped, s commits.TiedSession) {
	f := r.sessions[s.ID]
	model := r.modelAt(s, f.Model)
	at := slices.IndexFunc(out.Helpers, func(h result.Helper) bool { return h.Agent == f.Source && h.Model == model })
	if at < 0 {
		at = len(out.Helpers)
		out.Helpers = append(out.Helpers, result.Helper{Agent: f.Source, Model: model})
	}
	h := &out.Helpers[at]
	h.Lines += s.Lines
	h.Sessions = append(h.Sessions, result.HelperSession{
		ID: s.ID, Author: f.Email, Tie: s.Kind.String(), Evidence: s.Evidence, Lines: s.Lines,
		Private: slices.Contains(r.private, s.ID),
		Shared:  !slices.ContainsFunc(s.Ties, r.isUnsent), Verified: r.trust[s.ID] == session.Verified,
		Signature: r.trust[s.ID].String(), Ledger: ledgerCommits(s.Ties),
	})
}

// ledgerCommits are the commits of ledgers that say ties, in order.
func ledgerCommits(ties []attribution.Tie) (ids []string) {
	for _, t := range ties {
		id, _, _ := strings.Cut(t.Checkpoint, ":")
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// modelAt is the model that answered last before the tie, where the agent says that of each answer; else the one that
// spoke last of all.
func (r *helpReader) modelAt(s commits.TiedSession, last string) string {
	var tied time.Time
	for _, t := range s.Ties {
		if t.TS.After(tied) {
			tied = t.TS
		}
	}
	for _, m := range slices.Backward(r.models[s.ID]) {
		if !m.From.After(tied) {
			return m.Model
		}
	}
	return last
}

func (r *helpReader) isUnsent(t attribution.Tie) bool {
	id, _, _ := strings.Cut(t.Checkpoint, ":")
	return r.unsent[git.OID(id)]
}

// countLines counts the lines that a commit brought.
func (r *helpReader) countLines(ctx context.Context, out *result.Helped) error {
	files, err := r.counter.BroughtLines(ctx, git.OID(out.Commit))
	if err != nil {
		return fmt.Errorf("count the lines of %.7s: %w", out.Commit, err)
	}
	all, unknown := 0, 0
	for _, f := range files {
		out.Added += f.Added
		all += len(f.Lines)
		for _, w := range f.Writer {
			if w.Session == "" {
				unknown++
			}
		}
	}
	out.Lines, out.Unknown = &all, &unknown
	return nil
}

// writeTrailers writes the lines that name the helpers, each once.
func writeTrailers(out *result.Helped, form trailer.Form, sessions map[string]db.Facet) {
	for i, h := range out.Helpers {
		t := trailer.Helper{Agent: h.Agent, Model: h.Model, Lines: h.Lines, All: out.Added}
		for _, s := range h.Sessions {
			_, version, _ := strings.Cut(sessions[s.ID].AgentID, "/")
			if t.Version = cmp.Or(t.Version, version); !s.Private {
				t.Session = cmp.Or(t.Session, s.ID)
			}
		}
		out.Helpers[i].Trailer = form.Write(t)
		if l := out.Helpers[i].Trailer; l != "" && !slices.Contains(out.Trailers, l) {
			out.Trailers = append(out.Trailers, l)
		}
	}
}
