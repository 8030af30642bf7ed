package ask

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

// Statement says of the commits of a range "A..B", or of one commit, who helped with them. It has nothing that differs
// between clones with the same ledgers and the same known keys. asOf are tips of ledgers, by address, up to which
// sessions count, as another statement has them; nil: all counts.
func (m *Moment) Statement(ctx context.Context, rev string, asOf map[string]string) (out result.Statement, err error) {
	out = result.Statement{
		Type: result.StatementType, Subject: []result.StatementSubject{},
		PredicateType: result.PredicateType,
	}
	if out.Predicate.Range, err = rangeOfOIDs(m.w.Repo, rev); err != nil {
		return out, err
	}
	form, err := trailer.ParseForm("")
	if err != nil {
		return out, err
	}
	all, err := m.Helped(ctx, out.Predicate.Range, form, func(h result.Helped) bool { return !h.Merge })
	if err != nil {
		return out, err
	}
	tips, err := ledgerTips(m.w.Repo, asOf)
	if err != nil {
		return out, err
	}
	s := statement{
		Statement: out, repo: m.w.Repo, tips: tips, sessions: map[string]*result.StatementSession{},
		used: map[string]bool{},
	}
	s.Predicate.Commits = []result.StatementCommit{}
	for _, h := range all {
		s.Subject = append(s.Subject, result.StatementSubject{
			Name:   "git:" + h.Commit,
			Digest: result.StatementDigest{GitCommit: h.Commit},
		})
		s.Predicate.Commits = append(s.Predicate.Commits, s.commit(h))
	}
	parts, err := m.PartsOf(ctx, slices.Collect(maps.Keys(s.sessions)))
	s.addSessions(parts)
	return s.Statement, err
}

// statement is one under way.
type statement struct {
	result.Statement
	repo     *git.Repo
	tips     map[string]string // by address
	sessions map[string]*result.StatementSession
	used     map[string]bool // addresses of ledgers that say something
}

// ledgerTips are the tips of the ledgers here, by address; of asOf those that a ledger here has come from.
func ledgerTips(repo *git.Repo, asOf map[string]string) (map[string]string, error) {
	heads, err := ledger.Heads(repo)
	if err != nil {
		return nil, err
	}
	tips := map[string]string{}
	for _, h := range heads {
		was := git.OID(tips[h.Email])
		if on, err := repo.IsAncestor(was, h.OID); !h.Private && (was == "" || on && err == nil) {
			tips[h.Email] = string(h.OID)
		}
	}
	for email, tip := range asOf {
		if isWithin(repo, tip, tips[email]) {
			tips[email] = tip
		}
	}
	return tips, nil
}

// isWithin reports whether a commit is a tip, or behind it.
func isWithin(repo *git.Repo, id, tip string) bool {
	if id == tip {
		return true
	}
	is, err := repo.IsAncestor(git.OID(id), git.OID(tip))
	return is && err == nil && tip != ""
}

// isWithinAny reports whether a commit is of a ledger as it stands in the statement.
func (s *statement) isWithinAny(id string) bool {
	for email, tip := range s.tips {
		if isWithin(s.repo, id, tip) {
			s.used[email] = true
			return true
		}
	}
	return false
}

// addSessions adds the sessions with their parts, and the ledgers.
func (s *statement) addSessions(parts []db.HeldPart) {
	for _, p := range parts {
		if isWithin(s.repo, p.Commit, s.tips[p.Email]) {
			s.used[p.Email] = true
			of := s.sessions[p.Item]
			of.Parts = append(of.Parts, result.StatementPart{Ledger: p.Email, Commit: p.Commit})
		}
	}
	s.Predicate.Sessions, s.Predicate.Ledgers = []result.StatementSession{}, []result.StatementPart{}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		s.Predicate.Sessions = append(s.Predicate.Sessions, *s.sessions[id])
	}
	for _, email := range slices.Sorted(maps.Keys(s.used)) {
		s.Predicate.Ledgers = append(s.Predicate.Ledgers, result.StatementPart{Ledger: email, Commit: s.tips[email]})
	}
}

// rangeOfOIDs is a range or a commit by OIDs.
func rangeOfOIDs(repo *git.Repo, rev string) (string, error) {
	from, to, isRange := strings.Cut(rev, "..")
	if strings.HasPrefix(to, ".") {
		return "", &name.UsageError{Err: fmt.Errorf("%q: give a commit, or a range with two dots", rev)}
	}
	var ids []string
	for _, word := range []string{from, to} {
		if word == "" && isRange {
			word = "HEAD"
		}
		if word == "" {
			continue
		}
		id, err := name.Commit(repo, word)
		if err != nil {
			return "", fmt.Errorf("%q: %w", word, err)
		}
		ids = append(ids, string(id))
	}
	return strings.Join(ids, ".."), nil
}

// commit is what the statement says of a commit; it adds the sessions to those of all.
func (s *statement) commit(h result.Helped) result.StatementCommit {
	c := result.StatementCommit{
		Commit: h.Commit, Merge: h.Merge, Lines: h.Lines, Unknown: h.Unknown,
		Helpers: []result.StatementHelper{}, Unseen: h.Unseen,
	}
	for _, helper := range h.Helpers {
		one := result.StatementHelper{Agent: helper.Agent, Model: helper.Model, Lines: helper.Lines}
		for _, by := range helper.Sessions {
			said := slices.DeleteFunc(slices.Clone(by.Ledger), func(id string) bool { return !s.isWithinAny(id) })
			one.Sessions = append(one.Sessions, result.StatementTie{
				ID: by.ID, Tie: by.Tie, Evidence: by.Evidence,
				Lines: by.Lines, Ledger: said,
			})
			if s.sessions[by.ID] == nil {
				s.sessions[by.ID] = &result.StatementSession{
					ID: by.ID, Agent: helper.Agent, Author: by.Author, Signature: by.Signature, Parts: []result.StatementPart{},
				}
			}
		}
		c.Helpers = append(c.Helpers, one)
	}
	return c
}
