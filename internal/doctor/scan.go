package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// maxLeaks bounds how many leaks are listed; the rest is counted.
const maxLeaks = 1000

// Scan reads every ledger that is here, a segment at a time, checks that it can be read, and
// applies today's redaction. It adds what it finds to out; progress hears how many segments were read.
func Scan(ctx context.Context, w *workspace.Workspace, out *result.Doctor, progress func(segments int)) error {
	conf, err := w.Settings()
	if err != nil {
		return err
	}
	conf.Exclude = nil // what the user leaves out from now on is no leak
	s := scan{
		doctor: &doctor{Workspace: w, out: *out}, redactor: w.Redactor(conf, workspace.ToShow),
		seen: map[git.OID]bool{}, progress: progress,
	}
	defer func() { *out = s.out }()
	s.ownLedger(ctx)
	heads, err := ledger.Heads(w.Repo)
	if err != nil {
		return err
	}
	misnamed, err := ledger.Misnamed(w.Repo)
	if err != nil {
		return err
	}
	for _, ref := range misnamed {
		s.addCheck("ledger", Note, "git update-ref -d "+shellQuote(ref),
			"%s is left out: its name is not one that an address has", ref)
	}
	well, sum := 0, ledger.Health{} // others' ledgers in which nothing is wrong are told in one line
	all := len(heads)
	if heads = slices.DeleteFunc(heads, ledger.Ignore(conf.Ignore).Has); len(heads) < all {
		s.addCheck("ledger", Well, "", "%s of others left out, by rekal.ignore", session.CountNoun(all-len(heads), "ledger"))
	}
	for _, h := range heads {
		health, leaks, err := s.readCounting(ctx, h)
		if ctx.Err() != nil {
			return fmt.Errorf("doctor: %w", ctx.Err())
		}
		switch ok := s.reportHealth(h, health, err, leaks); {
		case ok && h.Private:
			s.addCheck("ledger", Well, "", "private: %s, %s, never sent, nothing to redact",
				session.CountNoun(health.Commits, "commit"), session.CountNoun(health.Segments, "segment"))
		case ok && h.Ref == s.own:
			s.addCheck("ledger", Well, "", "%s: %s, %s, nothing to redact", h.Ref, session.CountNoun(health.Commits, "commit"),
				session.CountNoun(health.Segments, "segment"))
		case ok:
			well, sum.Commits, sum.Segments = well+1, sum.Commits+health.Commits, sum.Segments+health.Segments
		}
	}
	if well > 0 {
		s.addCheck("ledger", Well, "", "%s of others: %s, %s, nothing to redact", session.CountNoun(well, "ledger"),
			session.CountNoun(sum.Commits, "commit"), session.CountNoun(sum.Segments, "segment"))
	}
	return nil
}

// scan is one Scan under way.
type scan struct {
	*doctor
	own      string // the ref of one's own ledger; "" where git does not know who that is
	redactor *redact.Redactor
	seen     map[git.OID]bool
	progress func(int)
}

// ownLedger looks whether there is one, and whether it can be written to.
func (s *scan) ownLedger(ctx context.Context) {
	a, _ := s.Author(ctx) // the settings' check says what is wrong
	if a.Ledger == nil {
		return
	}
	s.own = a.Ledger.Ref()
	tip, err := a.Ledger.Check()
	local, _ := ledger.LocalTips(s.Repo) // of other addresses, where there is no tip
	switch {
	case err != nil:
		s.addCheck("ledger", Wrong, "", "%v", err)
	case tip != "" || s.CheckReady() != nil:
	case len(local) > 0:
		s.addCheck("ledger", Note, "", "there is no %s yet: your address has changed, and the next session makes it", s.own)
	default:
		if lost := s.LostLedger(ctx); lost != nil {
			s.addCheck("ledger", Wrong, "", "%v", lost)
			break
		}
		s.addCheck("ledger", Wrong, reinstall, "there is no %s", s.own)
	}
	astray, err := a.Ledger.StrayFiles()
	if err == nil && len(astray) > 0 {
		s.addCheck("ledger", Wrong, "if the last commit did it: git update-ref "+shellQuote(s.own)+" "+shellQuote(s.own+"~1"),
			"%s: somebody committed something that does not belong into a ledger: %s", s.own, result.Printable(astray[0]))
	}
}

// readCounting reads what counts of a ledger, and says what does not.
func (s *scan) readCounting(ctx context.Context, h ledger.Head) (ledger.Health, int, error) {
	if h.Remote == "" {
		return s.scanLedger(ctx, h)
	}
	got, err := ledger.DefaultBounds().AsOf(s.Now()).NewestWithin(ctx, s.Repo, h.OID, ledger.Cumulative{}, ledger.NoLimit)
	var over *ledger.BoundsError
	switch {
	case errors.As(err, &over):
		all, _ := ledger.Bounds{Entry: ledger.NoLimit, Ledger: ledger.NoLimit}.NewestWithin(ctx, s.Repo, h.OID,
			ledger.Cumulative{}, ledger.NoLimit) // as far as it can be read
		s.addCheck("ledger", Wrong, ignoreCommand(h), "%s, %s in all, is read to %s of its bytes: %v", h.Ref,
			ledger.FormatMB(all.Bytes), ledger.FormatMB(got.Bytes), over)
	case err != nil:
		return ledger.Health{}, 0, err
	}
	if h.OID = got.OID; h.OID == "" {
		return ledger.Health{}, 0, nil
	}
	return s.scanLedger(ctx, h)
}

// ignoreCommand is the command that leaves a ledger out. A ref is in quotes for the shell: others chose it.
func ignoreCommand(h ledger.Head) string {
	return fmt.Sprintf("ask %s; or, to leave it out, git config --add rekal.ignore %s", h.Email, shellQuote(h.Ref))
}

func shellQuote(ref string) string { return "'" + strings.ReplaceAll(ref, "'", `'\''`) + "'" }

// scanLedger reads one ledger, and counts what is to be redacted in it.
func (s *scan) scanLedger(ctx context.Context, h ledger.Head) (health ledger.Health, leaks int, err error) {
	s.out.Scanned.Ledgers++
	health, err = ledger.Inspect(ctx, s.Repo, h, s.seen, func(c ledger.Commit, e session.Entry) error {
		_, report, err := s.redactor.Apply(ctx, e)
		if err != nil {
			return err
		}
		leaks += len(report.Marks)
		for _, m := range report.Marks {
			s.addLeak(h, c, m)
		}
		s.out.Scanned.Segments++
		s.progress(s.out.Scanned.Segments)
		return nil
	})
	s.out.Scanned.Bytes += health.Bytes
	return health, leaks, err
}

func (s *scan) addLeak(h ledger.Head, c ledger.Commit, m redact.Mark) {
	if len(s.out.Leaks) == maxLeaks {
		s.out.More++
		return
	}
	l := FindingOf(m)
	if l.Author, l.Commit = h.Email, string(c.OID); h.Ref == s.own || h.Private {
		l.Scrub = m.ID(string(c.OID))
	}
	s.out.Leaks = append(s.out.Leaks, l)
}

// FindingOf is a mark as JSON.
func FindingOf(m redact.Mark) result.Finding {
	out := result.Finding{
		Rule: m.Rule, Trigger: m.Trigger, Session: m.Session, In: m.In, Around: m.Around(),
		Value: m.Value,
	}
	switch m.In {
	case redact.InTurn, redact.InCommand, redact.InPath:
		out.Turn = &m.Turn
	}
	return out
}

// reportHealth says what is wrong with one ledger, and reports whether nothing is.
func (d *doctor) reportHealth(h ledger.Head, health ledger.Health, err error, leaks int) bool {
	fix, scrub := fmt.Sprintf("ask %s", h.Email), fmt.Sprintf("ask %s to scrub it", h.Email)
	if h.Remote == "" {
		fix, scrub = "", "git rekal scrub ID, as listed below"
	}
	if err != nil {
		d.addCheck("ledger", Wrong, fix, "%s can't be read: %v", h.Ref, err)
		return false
	}
	if n := len(health.Unreadable); n > 0 {
		d.addCheck("ledger", Wrong, fix, "%s: %s can't be read, the first: %v", h.Ref, session.CountNoun(n, "segment"),
			health.Unreadable[0])
	}
	if health.Foreign > 0 {
		d.addCheck("ledger", Wrong, fix, "%s: %s by somebody else, which does not count", h.Ref,
			session.CountNoun(health.Foreign, "checkpoint"))
	}
	if health.Unknown > 0 {
		d.addCheck("ledger", Note, "update git-rekal", "%s: %s of a later version, of which unknown parts are ignored", h.Ref,
			session.CountNoun(health.Unknown, "record"))
	}
	if leaks > 0 {
		d.addCheck("ledger", Wrong, scrub, "%s: %s that today's rules redact", h.Ref, session.CountNoun(leaks, "place"))
	}
	return len(health.Unreadable) == 0 && health.Foreign == 0 && leaks == 0
}
