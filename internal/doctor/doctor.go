// Package doctor says what is wrong with git-rekal in a repository, and what mends it.
//
// In: a workspace. Out: checks, each with a status, and the places in ledgers that today's redaction would take out. It
// changes nothing. A check that can't be made is wrong itself.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// What a check came to: result.Check.Status.
const (
	Well  = "ok"
	Note  = "note"  // nothing is broken, but the user may want to know
	Wrong = "wrong" // something does not work, or leaks
)

// doctor is one Doctor under way.
type doctor struct {
	*workspace.Workspace
	author workspace.Author
	known  bool                         // whether git knows who the user is
	found  map[string][]transcript.File // the transcripts of each agent
	out    result.Doctor
}

// addCheck adds a check: a name of one or two words, a status, and the command that mends it, or what to do.
func (d *doctor) addCheck(name, status, fix, format string, a ...any) {
	d.out.Checks = append(d.out.Checks, result.Check{
		Name: name, Status: status, Says: fmt.Sprintf(format, a...),
		Fix: fix,
	})
	d.out.OK = d.out.OK && status != Wrong
}

// ReportKeys adds what was found of the keys and references of a database for SQL.
func ReportKeys(out *result.Doctor, database string, broken []string, checked int) {
	d := &doctor{out: *out}
	if len(broken) == 0 {
		d.addCheck("keys", Well, "", "%s: all %d keys and references hold", database, checked)
	} else {
		d.addCheck("keys", Wrong, "git rekal index", "%s: %s", database, strings.Join(broken, "; "))
	}
	*out = d.out
}

// ReportFull adds whether git-rekal-full is there, and of which version; err says why that is not known.
func ReportFull(out *result.Doctor, version, full string, err error) {
	d := &doctor{out: *out}
	fix := "install git-rekal and git-rekal-full of one version"
	switch {
	case err != nil:
		d.addCheck("programs", Wrong, fix, "%v", err)
	case version != full:
		d.addCheck("programs", Wrong, fix, "git-rekal is of version %s, git-rekal-full of %s", version, full)
	default:
		d.addCheck("programs", Well, "", "git-rekal and git-rekal-full, version %s", version)
	}
	*out = d.out
}

// Run looks at what git-rekal is made of in this repository. It changes nothing. A check that
// can't be made is wrong itself; only an end of ctx is an error. What the ledgers hold is Scan's.
func Run(ctx context.Context, w *workspace.Workspace) (result.Doctor, error) {
	d := &doctor{Workspace: w, out: result.Doctor{Schema: result.Schema, OK: true, Leaks: []result.Finding{}}}
	for _, check := range []func(context.Context){
		d.git, d.settings, d.setup, d.agentHooks, d.sharing, d.locks, d.caches,
		d.records, d.transcripts, d.checkRetention, d.embedding, d.tree,
	} {
		if err := ctx.Err(); err != nil {
			return d.out, fmt.Errorf("doctor: %w", err)
		}
		check(ctx)
	}
	return d.out, nil
}

func (d *doctor) git(ctx context.Context) {
	oldest := []int{2, 29} // the first that knows what is asked of it: fetch --no-write-fetch-head
	version, err := d.Repo.Version(ctx)
	switch {
	case err != nil:
		d.addCheck("git", Wrong, "install git", "%v", err)
	case slices.Compare(version, oldest) < 0:
		d.addCheck("git", Wrong, "install a newer git", "version %s; git-rekal needs %s", dotted(version), dotted(oldest))
	default:
		d.addCheck("git", Well, "", "version %s, libgit2 %s", dotted(version), git.LibraryVersion())
	}
}

func dotted(version []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(version), " ", "."), "[]")
}

func (d *doctor) settings(ctx context.Context) {
	conf, err := config.Read(ctx, d.Repo, d.Env)
	faults := slices.Concat(conf.Faults, conf.Wrong)
	if err != nil && conf.Wrong == nil {
		d.addCheck("settings", Wrong, `"git config --show-origin --get-regexp ^rekal" tells where it is set`, "%v", err)
	}
	for _, f := range faults {
		d.addCheck("settings", Wrong, f.Hint(), "%s: %q %s", f.Key, f.Value, f.What)
	}
	_, wrong := d.FindAgents(conf)
	for _, err := range wrong { // a hook does not say so
		d.addCheck("settings", Wrong, "install it, or take it out: git config --unset rekal.agent NAME", "%v", err)
	}
	switch {
	case err != nil || len(faults) > 0: // then it says nothing of hooks
	case !conf.Enabled:
		d.addCheck("settings", Note, "git config --unset-all rekal.enabled", "rekal.enabled is false: hooks capture nothing")
	case conf.CheckPaused() != nil:
		d.addCheck("settings", Note, "git rekal resume", "%v", conf.CheckPaused())
	case conf.Skip:
		d.addCheck("settings", Note, "unset REKAL_SKIP", "REKAL_SKIP is set: hooks capture nothing")
	default:
		d.addCheck("settings", Well, "", "valid")
	}
	d.identity(ctx)
	d.signatures(ctx)
}

func (d *doctor) identity(ctx context.Context) {
	var err error
	d.author, err = d.Author(ctx)
	switch {
	case d.author.Ledger != nil:
		d.known = true
		d.addCheck("identity", Well, "", "%s", d.author.Email)
	case errors.Is(err, git.ErrNoIdentity):
		d.addCheck("identity", Wrong, `git config user.email you@example.com; git config user.name You`,
			"git does not know who you are")
	default:
		d.addCheck("identity", Wrong, `git config user.email you@example.com`, "%v", err)
	}
}

// mostForeign is how many commits of other keys are listed.
const mostForeign = 5

// signatures finds what somebody else's key signed, and what a key that asks for a passphrase left unsigned.
func (d *doctor) signatures(ctx context.Context) {
	if d.author.Ledger == nil {
		return
	}
	foreign, _ := d.ForeignCommits(ctx, d.author) // what can't be read, the ledger's check says
	for _, f := range foreign[:min(len(foreign), mostForeign)] {
		d.addCheck("signatures", Wrong, "git show --show-signature "+string(f.OID),
			"commit %.12s of your ledger: %s; rekal.require verified leaves it out of agents' answers, git rekal purge ID hides it", f.OID, f)
	}
	if n := len(foreign) - mostForeign; n > 0 {
		d.addCheck("signatures", Wrong, "git log --show-signature "+d.author.Ledger.Ref(), "%s more of your ledger",
			session.CountNoun(n, "such commit"))
	}
	if d.author.Signer == nil {
		return
	}
	// what can't be read, the ledger's check says
	if all, err := d.author.Ledger.Unsigned(ctx); err == nil && len(all) > 0 {
		d.addCheck("signatures", Note, "git rekal sign",
			"%s of your ledger not signed: the key could not be used without asking, or came later",
			session.CountNoun(len(all), "commit"))
	}
}

const reinstall = "git rekal init"

func (d *doctor) setup(ctx context.Context) {
	if d.CheckReady() != nil {
		d.addCheck("setup", Wrong, reinstall, "git-rekal is not set up in this repository")
		return
	}
	l, err := d.Layout(ctx)
	if err != nil {
		d.addCheck("setup", Wrong, "", "%v", err)
		return
	}
	problems, err := setup.Inspect(l, d.onPath())
	if err != nil {
		d.addCheck("setup", Wrong, "", "%v", err)
	}
	for _, p := range problems {
		status := Wrong
		if p.Hint {
			status = Note
		}
		d.addCheck("setup", status, cmp.Or(p.Fix, reinstall), "%s", p.What)
	}
	if len(problems) == 0 && err == nil {
		d.addCheck("setup", Well, "", "hooks and skill are in place")
	}
}

// onPath reports whether the PATH that hooks get from this process holds a git-rekal.
func (d *doctor) onPath() bool {
	for _, dir := range filepath.SplitList(d.Getenv("PATH")) {
		info, err := os.Stat(filepath.Join(cmp.Or(dir, "."), "git-rekal"))
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return true
		}
	}
	return false
}

func (d *doctor) sharing(ctx context.Context) {
	if !d.known {
		return
	}
	if ahead, err := d.author.Ledger.FutureDate(d.Now()); err == nil && !ahead.IsZero() {
		d.addCheck("clock", Wrong, "git rekal sync",
			"the newest commit of your ledger is dated %s: others don't read it before another one follows",
			ahead.Format(time.DateOnly))
	}
	conf := d.author.Config
	to, err := d.Route(ctx, conf.Remote)
	switch {
	case conf.Remote == "":
		d.addCheck("sharing", Well, "", "nothing is sent anywhere")
		return
	case !slices.Contains(conf.Remotes, conf.Remote):
		d.addCheck("sharing", Wrong, `git config rekal.remote NAME, or git config --unset rekal.remote`,
			"rekal.remote is %q, which is no remote", conf.Remote)
		return
	case err != nil:
		d.addCheck("sharing", Wrong, "", "%v", err)
		return
	case !conf.Agreed(conf.Remote, to.All()...):
		d.addCheck("sharing", Note, "git rekal push", "%q leads to another place than you agreed to: nothing is sent",
			conf.Remote)
		return
	}
	if err := d.author.Ledger.WhyNotSendable(ctx, conf.Remote); err != nil {
		d.reportBarred(conf.Remote, err)
		return
	}
	behind, err := d.author.Ledger.RemotesWithMore()
	all, unknown := d.author.Ledger.IsSent(conf.Remote)
	switch {
	case err != nil:
		d.addCheck("sharing", Wrong, "", "%v", err)
	case slices.Contains(behind, conf.Remote):
		d.addCheck("sharing", Note, "git rekal sync", "%q holds something of your ledger that is not here", conf.Remote)
	case unknown == nil && !all:
		d.addCheck("sharing", Note, "git rekal push", "something of your ledger was not sent to %q yet", conf.Remote)
	default:
		d.addCheck("sharing", Well, "", "%q holds all of your ledger, as far as is known here", conf.Remote)
	}
}

// reportBarred reports a branch of the remote that stands in the ledger's place or in its way, and how to rename it
// there. If a newer git-rekal may have written the branch, it also advises an update.
func (d *doctor) reportBarred(remote string, why error) {
	branch := strings.TrimPrefix(d.author.Ledger.Ref(), "refs/heads/")
	says := fmt.Sprintf("%s there can't be read: %v", branch, why)
	var blocked *ledger.BlockedError
	switch {
	case errors.As(why, &blocked):
		branch = strings.TrimPrefix(blocked.By, "refs/heads/")
		says = fmt.Sprintf("%s there is in the way", branch)
	case errors.Is(why, ledger.ErrFormat):
		says = fmt.Sprintf("%s there is no ledger that this version knows", branch)
	}
	fix := fmt.Sprintf(`rename it there: git push %s %s %s, and git fetch --prune %[1]s, and git rekal sync`,
		remote, shellQuote("refs/remotes/"+remote+"/"+branch+":refs/heads/NAME"), shellQuote(":refs/heads/"+branch))
	if over := (*ledger.BoundsError)(nil); errors.As(why, &over) {
		says = fmt.Sprintf("more is added to %s there than is read unasked: %v", branch, why)
		fix = fmt.Sprintf("git rekal sync --unbounded, if another machine of yours wrote it; else git push --force %s %s",
			remote, shellQuote(branch))
	}
	if errors.Is(why, ledger.ErrFormat) {
		fix += "; or, if a newer git-rekal wrote it, update this one"
	}
	d.addCheck("sharing", Wrong, fix, "nothing can be sent to %q: %s", remote, says)
}

// oldLock is longer than git holds a lock file, but where a hook keeps it from going on.
const oldLock = 10 * time.Second

func (d *doctor) locks(context.Context) {
	old, common := 0, d.Repo.Layout().CommonDir
	for _, below := range []string{"refs/heads/rekal", "refs/rekal", "refs/remotes", "logs/refs"} {
		_ = filepath.WalkDir(filepath.Join(common, below), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".lock") ||
				!strings.Contains(strings.TrimPrefix(path, common), "rekal") {
				return nil //nolint:nilerr // what can't be listed holds no lock of ours
			}
			if info, err := e.Info(); err == nil && d.Now().Sub(info.ModTime()) > oldLock {
				old++
				d.addCheck("locks", Wrong, fmt.Sprintf("rm %q", path), "if no git runs here, a dead process left %s",
					filepath.Base(path))
			}
			return nil
		})
	}
	if old == 0 {
		d.addCheck("locks", Well, "", "none is left over")
	}
}

const rebuild = "git rekal index"

func (d *doctor) caches(ctx context.Context) {
	if d.CheckReady() != nil {
		return
	}
	if err := d.RequireCode(); err != nil {
		d.addCheck("setup", Note, "git checkout BRANCH", "%v", err)
	}
	state, err := d.Materializer(func(error) {}).Inspect(ctx)
	if err = errors.Join(err, state.Err); err != nil {
		d.addCheck("caches", Wrong, rebuild, "%v", err)
		return
	}
	for _, what := range slices.Sorted(maps.Keys(state.Broken)) {
		d.addCheck("caches", Wrong, rebuild, "%d %s", state.Broken[what], what)
	}
	switch {
	case len(state.Broken) > 0:
	case state.Missing:
		d.addCheck("caches", Note, rebuild, "there are none; the next command makes them")
	case len(state.Unapplied) > 0:
		for _, h := range state.Unapplied {
			d.addCheck("caches", Wrong, ignoreCommand(h), "%s could not be read, and is tried again when it changes", h.Ref)
		}
	case state.Behind > 0:
		d.addCheck("caches", Note, "git rekal sync", "%s moved on or can't be read; the next command catches up",
			session.CountNoun(state.Behind, "ledger"))
	case state.PartlyRead > 0:
		d.addCheck("caches", Note, "git rekal sync", "%s not read to the end: that goes on, or a line below says why not",
			session.CountNoun(state.PartlyRead, "ledger"))
	default:
		d.addCheck("caches", Well, "", "up to date and whole, %d KB", state.Bytes>>10)
	}
	d.reportContested(state.Contested)
}

// maxContested bounds how many contested IDs are named.
const maxContested = 10

// reportContested names the ledgers that hold sessions under the IDs of somebody else's. Without malice this happens
// only if somebody's address changed.
func (d *doctor) reportContested(all []materialize.Contested) {
	for i, c := range all {
		if i == maxContested {
			d.addCheck("IDs", Note, "", "%s more that several ledgers name", session.CountNoun(len(all)-i, "ID"))
			return
		}
		d.addCheck("IDs", Note, "unless that is a former address of theirs, ask "+strings.Join(c.Others, ", "),
			"%s belongs to %s, and also stands in %s of %s", c.ID, c.Owner, session.CountNoun(len(c.Others), "ledger"),
			strings.Join(c.Others, ", "))
	}
}

func (d *doctor) transcripts(ctx context.Context) {
	roots := d.Repo.Worktrees()
	d.found = map[string][]transcript.File{}
	var none []string
	for _, agent := range transcript.Agents() {
		found, err := agent.Locate(ctx, transcript.Env{
			Home: d.Home, Getenv: d.Getenv, Roots: roots,
			Search: transcript.SearchBudget,
		})
		if err != nil {
			d.addCheck("transcripts", Wrong, "", "%s: %v", agent.Name(), err)
			continue
		}
		for _, err := range found.Unreadable {
			d.addCheck("transcripts", Wrong, "check who owns it", "%s: %v", agent.Name(), err)
		}
		if d.found[agent.Name()] = found.Files; len(found.Files) == 0 {
			none = append(none, agent.Name())
			continue
		}
		d.addCheck("transcripts", Well, "", "%s: %d of this repository", agent.Name(), len(found.Files))
		d.checkForms(ctx, agent, found.Files, roots)
	}
	status := Well
	if len(none) == len(transcript.Agents()) {
		status = Note
	}
	if len(none) > 0 {
		d.addCheck("transcripts", status, "", "none of %s", strings.Join(none, ", "))
	}
}

func (d *doctor) embedding(ctx context.Context) {
	conf := d.author.Config.Embed
	if conf.IsBuiltIn() {
		d.vectors(ctx)
		return
	}
	client, err := d.Embedder(conf, 0)
	switch {
	case err != nil:
		d.addCheck("embedding", Wrong, "git config --unset rekal.embed", "%v", err)
		return
	case client == nil && !conf.IsOff():
		d.addCheck("embedding", Note, "install git-rekal-full beside git-rekal",
			"a server is set, and only git-rekal-full asks it: words alone answer")
		return
	case client == nil:
		d.addCheck("embedding", Well, "", "switched off: words alone answer")
		return
	}
	defer client.Close()
	if err := client.Alive(ctx); err != nil {
		d.addCheck("embedding", Note, "mend or start it, or git config --unset rekal.embed",
			"%v; meanwhile words alone answer", err)
		return
	}
	d.addCheck("embedding", Well, "", "a server answers, for %s", client.StorageName())
}

// vectors says how far the model that is built in is with the index.
func (d *doctor) vectors(ctx context.Context) {
	if err := d.CheckModel(); err != nil {
		d.addCheck("embedding", Wrong, "install git-rekal anew", "%v; meanwhile words alone answer", err)
		return
	}
	m, err := d.ReadMaterializer()
	left := 0
	if err == nil {
		left, err = m.Unembedded(ctx, model.Name)
	}
	switch {
	case err != nil:
		d.addCheck("embedding", Well, "", "%s is built in; there is no index yet", model.Name)
	case left > 0:
		d.addCheck("embedding", Note, "git rekal index --vectors",
			"%s is built in; %s without vectors, found by their words until they are made in the background", model.Name,
			session.CountNoun(left, "session"))
	default:
		d.addCheck("embedding", Well, "", "%s is built in, and all sessions have vectors", model.Name)
	}
}
