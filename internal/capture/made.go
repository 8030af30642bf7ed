package capture

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Which commits sessions made by their own shell. While the hook runs, the environment says it, or a call that has no
// result yet. Later git's answer to the call says it. That comes behind the hook, so it is recorded by the next
// capture.

// commitsItself reports whether git, as the hook's process, makes the commit: not at the end of a rebase, or at a push.
func commitsItself(via string) bool {
	return via == session.ViaCommit || via == session.ViaMerge || via == session.ViaAm
}

// madeBy is how it is known that a session made the commit: git said so, or git runs below it. The environment names
// that or, if it names none, the one session whose last call runs git.
func (t *tying) madeBy(part session.Session) string {
	told := t.told[sessionKey(part.Source, part.NativeID)]
	if told == attribution.ByAnswer || !commitsItself(t.via) {
		return told
	}
	if len(t.shells) > 0 {
		if slices.Contains(t.shells, part.NativeID) {
			return attribution.ByShell
		}
		return ""
	}
	for _, s := range t.fresh {
		if s.ID != part.ID && t.commitRunning(*s) != "" {
			return told
		}
	}
	return cmp.Or(t.commitRunning(part), told)
}

// commitRunning is the evidence that a session waits for a call that has git make a commit; "" for none.
func (g *collector) commitRunning(part session.Session) string {
	if !g.running[sessionKey(part.Source, part.NativeID)] {
		return ""
	}
	return attribution.CommitRunning(part)
}

// madeInShell are links to the sessions in whose shell git runs.
func (g *collector) madeInShell(via string) (out []session.Link) {
	link := func(id, native string) {
		if commitsItself(via) && slices.Contains(g.shells, native) {
			out = append(out, session.Link{Session: id, Tie: session.TieMade, Evidence: attribution.ByShell})
		}
	}
	for _, s := range g.fresh {
		link(s.ID, s.NativeID)
	}
	for _, k := range g.st.Sessions {
		if !g.isFresh(k.ID) {
			link(k.ID, k.NativeID)
		}
	}
	return out
}

// untied leaves out the links that a ledger holds already.
func (st *state) untied(sha string, links []session.Link) []session.Link {
	return slices.DeleteFunc(links, func(l session.Link) bool {
		_, known := slices.BinarySearch(st.Wrote, linkKey(sha, l))
		return known
	})
}

// lastTurn is when the last turn of a session was said that is known: of the ledger, or of another transcript of this
// round.
func (k *ledgerSession) lastTurn(fresh *session.Session) time.Time {
	if k != nil {
		return k.Last
	}
	return fresh.FirstTS()
}

// noteCommits notes which commits a session made, as its records say from a moment on, and whether its last call runs:
// what they said before is known, or a copy of another session's.
func (g *collector) noteCommits(s transcript.Part, from time.Time) {
	key := sessionKey(s.Source, s.NativeID)
	g.running[key] = s.Running
	for _, c := range s.Commits {
		if !c.At.Before(from) {
			g.told[key] = append(g.told[key], c)
		}
	}
}

// makersTold are the sessions that made a commit as their records say, by sessionKey, and by which evidence. A command
// to which git said nothing counts for one session alone.
func (g *collector) makersTold(c git.Commit) map[string]string {
	out := map[string]string{}
	for key, of := range g.told {
		for _, t := range of {
			if by := evidenceOf(t, c); by != "" && out[key] != attribution.ByAnswer {
				out[key] = by
			}
		}
	}
	if len(out) > 1 {
		maps.DeleteFunc(out, func(_, by string) bool { return by != attribution.ByAnswer })
	}
	return out
}

// evidenceOf is how a record says that a commit was made: git's answer names it, or it was made while a command ran
// that holds its subject.
func evidenceOf(t transcript.Commit, c git.Commit) string {
	subject := c.Subject()
	switch {
	case subject == "":
	case t.OID != "" && strings.HasPrefix(string(c.OID), t.OID) && t.Subject == subject:
		return attribution.ByAnswer
	case t.OID == "" && givesSubject(t.Command, subject) && !attribution.IsCommittedBefore(c.Committer.When, t.From) &&
		!c.Committer.When.After(t.At):
		return attribution.ByCommand
	}
	return ""
}

// givesSubject reports whether a command gives a commit this subject: as a whole line, all that stands in quotes, or
// one word behind -m.
func givesSubject(command, subject string) bool {
	for rest := command; ; {
		i := strings.Index(rest, subject)
		if i < 0 {
			return false
		}
		before, behind := rest[:i], rest[i+len(subject):]
		isQuoted := before != "" && strings.ContainsAny(before[len(before)-1:], "\"'\n") &&
			(behind == "" || strings.ContainsAny(behind[:1], "\"'\n"))
		isWord := strings.HasSuffix(before, "m ") && (behind == "" || strings.ContainsAny(behind[:1], " ;&|\n")) &&
			!strings.Contains(subject, " ")
		if isQuoted || isWord {
			return true
		}
		rest = behind
	}
}

// linksTold are links to the sessions whose records say that they made a commit, without those that a ledger holds.
func (g *collector) linksTold(c git.Commit) (out []session.Link) {
	told := g.makersTold(c)
	for _, key := range slices.Sorted(maps.Keys(told)) {
		source, native, _ := strings.Cut(key, "\x00")
		if id := g.sessionID(source, native); id != "" {
			out = append(out, session.Link{Session: id, Tie: session.TieMade, Evidence: told[key]})
		}
	}
	return g.st.untied(string(c.OID), out)
}

// planTold plans the checkpoints of commits of which only git's answer says who made them, as far as what is planned
// does not say it.
func (g *collector) planTold(ctx context.Context, planned []session.Entry) (drafts []session.Entry, err error) {
	if len(g.told) == 0 {
		return nil, nil
	}
	here, err := g.Repo.CommitsByPrefix(g.toldOIDs())
	if err != nil {
		return nil, err
	}
	g.st = g.st.clone()
	for _, e := range planned {
		if err := g.st.applyPlanned(g.Repo, e); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.told)) {
		for _, t := range g.told[key] {
			e := g.checkpointTold(here[t.OID])
			if e.Checkpoint == nil {
				continue
			}
			e.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)+1) * time.Millisecond)
			if err := cmp.Or(g.st.applyPlanned(g.Repo, e), ctx.Err()); err != nil {
				return nil, err
			}
			drafts = append(drafts, e)
		}
	}
	return drafts, nil
}

// toldOIDs are the beginnings of the OIDs that git told sessions.
func (g *collector) toldOIDs() (out []string) {
	for _, of := range g.told {
		for _, t := range of {
			out = append(out, t.OID)
		}
	}
	return out
}

// checkpointTold is the checkpoint of a commit that git named. It is empty if that is not here, or if a ledger says who
// made it.
func (g *collector) checkpointTold(id git.OID) session.Entry {
	if id == "" {
		return session.Entry{}
	}
	c, err := g.Repo.Commit(id)
	if err != nil || len(g.linksTold(c)) == 0 {
		return session.Entry{}
	}
	changes, err := g.Repo.Changes(id)
	if err != nil {
		return session.Entry{}
	}
	return g.inferCheckpoint(comparedCommit{Commit: c, changes: changes})
}
