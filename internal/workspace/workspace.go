// Package workspace puts the packages together for the repository in which a command runs.
//
// In: a directory and what the process was given (environment, clock, randomness). Out: constructors for what commands
// use, and the state of HEAD (head.go). Each opens as little as it needs, because hooks and recalls are measured in
// milliseconds. Flows over several packages lie above it, in ask, curate and doctor.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/external"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/machine"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/published"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/remembered"
	"github.com/git-rekal/git-rekal/internal/secrets"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/signature"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Process is what the process was given.
type Process struct {
	Dir  string   // working directory
	Env  []string // "KEY=value"
	Home string   // the user's home directory; "" when there is none
	Exe  string   // absolute path of the running binary
	Now  func() time.Time
	Rand io.Reader
	Warn func(error) // one line for the user; never nil

	// where the file with the weights of the built-in model lies; nil where there is none
	Weights func() (path string, err error)
	// OpenServer makes a client for the embedding server of the settings; nil in a program that asks none.
	OpenServer func(o ServerOptions) (EmbeddingServer, error)

	Public bool // private sessions are left out, as in every other clone
	ByPath bool // Dir was found by the path of a file, and named by nobody: a bare repository in it is somebody's files
}

// Getenv looks a variable up; the last one of a name wins.
func (p Process) Getenv(key string) string {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.Env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// Path is a path that a user gave, relative to the process's working directory.
func (p Process) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

// Workspace is one repository.
type Workspace struct {
	Process
	Repo *git.Repo

	private          *git.Repo                     // with private sessions; nil: there are none
	settings         func() (config.Config, error) // as they were when somebody first asked
	noted            *noted
	preparedQuestion string           // the question that preparedVector is for; see PrepareVector
	preparedVector   func() []float32 // waits for it; nil: nothing is expected

	// AgentPatience is how long programs of the user that give sessions may take, all calls of one together, where
	// somebody waits who must not see a word of them: a hook. Then IsSlowAgent tells of one that takes longer. 0 is no
	// hurry.
	AgentPatience time.Duration

	tookIn, tookInSigned bool // a fetch had brought something of ledgers; there were signatures
	waitedEnough         bool // a question held up what is done in the background for too long: see giveWay
}

// ErrNotInitialised is a repository in which init was not run.
var ErrNotInitialised = advice.New("git-rekal is not set up in this repository", `run "git rekal init"`)

// Open finds the repository that the process runs in; see git.Open for what ends with ctx.
func Open(ctx context.Context, p Process) (*Workspace, error) {
	repo, err := git.Open(ctx, p.Dir, p.Env)
	if err != nil {
		return nil, err
	}
	if p.ByPath && repo.IsFoundBare() {
		repo.Close()
		return nil, fmt.Errorf("workspace: %q: %w", p.Dir, git.ErrNotRepository)
	}
	w := &Workspace{Process: p, Repo: repo}
	w.noted = &noted{dir: w.RekalDir()}
	w.settings = sync.OnceValues(func() (config.Config, error) { return w.readConfig(ctx) })
	repo.TrustIf(sync.OnceValue(w.isSetUpByUser))
	if err := w.openPrivate(ctx); err != nil {
		p.Warn(err)
	}
	return w, nil
}

// isSetUpByUser reports whether the user has run init here. Only then does a program start that the repository's own
// configuration names.
func (w *Workspace) isSetUpByUser() bool {
	known, err := w.Machine().Repositories()
	return err == nil && slices.Contains(known, w.Root())
}

// Settings are the settings, read once. An error says that git's configuration can't be read; a wrong value of one
// setting is reported by whoever uses it.
func (w *Workspace) Settings() (config.Config, error) {
	conf, err := w.settings()
	if conf.Git != nil {
		err = nil
	}
	return conf, err
}

// Close releases the repository.
func (w *Workspace) Close() { w.Repo.Close() }

// RekalDir is the folder with all that git-rekal keeps of a repository besides its ledgers: rekal/ in the git directory
// that all worktrees share, where no commit, package or stash reaches. In a repository that several accounts of this
// machine share, it is the first one's; each other account has a folder of its own beside it, because an index holds
// its owner's private sessions, too.
func (w *Workspace) RekalDir() string {
	dir := filepath.Join(w.Repo.Layout().CommonDir, "rekal")
	var info syscall.Stat_t
	if syscall.Lstat(dir, &info) == nil && int(info.Uid) != os.Geteuid() {
		return fmt.Sprintf("%s-%d", dir, os.Geteuid())
	}
	return dir
}

// CheckReady returns ErrNotInitialised before init and after clean.
func (w *Workspace) CheckReady() error {
	if setup.IsInstalled(w.Repo.Layout().CommonDir, w.RekalDir()) || exists(w.formerDirs()[0]) {
		return nil
	}
	return ErrNotInitialised
}

// AsNotInitialised replaces an error about missing caches by ErrNotInitialised if a clean has removed them
// meanwhile.
func (w *Workspace) AsNotInitialised(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return cmp.Or(w.CheckReady(), err)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (w *Workspace) excludeFile() string {
	return filepath.Join(w.Repo.Layout().CommonDir, "info", "exclude")
}

// ReadMaterializer is a Materializer for reading. It checks that init was run, makes the folder of the caches, and
// takes in ledgers that a fetch brought.
func (w *Workspace) ReadMaterializer() (*materialize.Materializer, error) {
	if w.CheckReady() != nil {
		if err := w.SetUpUnasked(w.Repo.Context()); err != nil {
			return nil, err
		}
	}
	if err := w.ensureRekalDir(w.Repo.Context()); err != nil {
		return nil, err
	}
	w.adoptFetched(w.Repo.Context())
	if lost := w.LostLedger(w.Repo.Context()); lost != nil {
		w.Warn(lost)
	}
	if lost := w.LostHooks(w.Repo.Context()); lost != nil {
		w.Warn(lost)
	}
	return w.Materializer(w.Warn), nil
}

// CatchUp brings the index up: see materialize.Materializer.CatchUp.
func (w *Workspace) CatchUp(ctx context.Context, progress func(done, total int)) error {
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	m.Progress = progress
	return w.AsNotInitialised(m.CatchUp(ctx))
}

// CatchUpBriefly brings the index up where somebody waits: see materialize.Materializer.CatchUpBriefly.
func (w *Workspace) CatchUpBriefly(ctx context.Context, progress func(done, total int)) error {
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	m.Progress = progress
	return w.AsNotInitialised(m.CatchUpBriefly(ctx))
}

// WithIndex reads the index, brought up to the ledgers.
func (w *Workspace) WithIndex(ctx context.Context, read func(*materialize.Reader) error) error {
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	index, err := m.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(read(index), index.Close())
}

// Materializer is a Materializer whose warnings go to warn, and which does not check that init was run.
func (w *Workspace) Materializer(warn func(error)) *materialize.Materializer {
	m := &materialize.Materializer{Repo: w.Repo, Dir: w.RekalDir(), Now: w.Now, Warn: warn, Ignore: w.ignoredLedgers}
	if w.Public && exists(w.PrivateDir()) {
		m = m.WithoutPrivate()
	}
	return m
}

// ignoredLedgers are the ledgers that the user's settings leave out.
func (w *Workspace) ignoredLedgers() (ledger.Ignore, error) {
	conf, err := w.Settings()
	return conf.Ignore, err
}

// Author is the user who runs the process, with settings and ledger.
type Author struct {
	Config config.Config
	Ledger *ledger.Ledger
	Email  string
	Signer *signature.Signer // nil where nothing is signed

	who         git.Signature
	decidedAsOf string // of the decisions in Config; see holdFor
}

// Author asks git for the user's identity and the configuration, at the same time, because each is a process
// of about 2 ms. Beside an error it returns what it found out nevertheless.
func (w *Workspace) Author(ctx context.Context) (Author, error) {
	var conf config.Config
	var wrong error
	var beside sync.WaitGroup
	asOf := w.decisionsStamp()
	beside.Go(func() { conf, wrong = w.readConfig(ctx) })
	who, err := w.Repo.Identity(ctx)
	beside.Wait()
	if err != nil {
		return Author{Config: conf}, errors.Join(wrong, err)
	}
	// A date that the user set for the code commit (GIT_COMMITTER_DATE) is not the ledger's.
	who.When = w.Now().In(who.When.Location())
	l, err := ledger.OpenOwn(w.Repo, who, w.Rand)
	if err == nil {
		l.Ignore = conf.Ignore
	}
	signer := signature.NewSigner(conf.Git, conf.Sign, fmt.Sprintf("%s <%s>", who.Name, who.Email), w.Home, w.Env)
	if signer != nil {
		signer.Quiet = true
		w.Repo.SignWith(signer.Sign)
	}
	return Author{Config: conf, Ledger: l, Email: strings.ToLower(who.Email), Signer: signer, who: who, decidedAsOf: asOf},
		errors.Join(wrong, err)
}

// Signer signs with git's signing key, whether or not anything else is to be signed. Somebody sits at it.
func (w *Workspace) Signer(ctx context.Context) (*signature.Signer, error) {
	conf, err := w.Settings()
	if err != nil {
		return nil, err
	}
	who, err := w.Repo.Identity(ctx)
	return signature.NewSigner(conf.Git, true, fmt.Sprintf("%s <%s>", who.Name, who.Email), w.Home, w.Env), err
}

// Verify tells who signed some bytes: see signature.Verify.
func (w *Workspace) Verify(ctx context.Context, payload, armored []byte) (who string, err error) {
	conf, err := w.Settings()
	if err != nil {
		return "", err
	}
	return signature.Verify(ctx, conf.Git, w.Home, w.Env, payload, armored)
}

// Remote chooses the remote to share with; see config.Config.RemoteFor.
func (w *Workspace) Remote(a Author, asked string) (string, error) {
	head, err := w.Repo.Head()
	if err != nil {
		return "", err
	}
	return a.Config.RemoteFor(asked, head.Branch)
}

// Route is where a remote's name leads, as git says, without credentials; see config.WithoutCredentials.
type Route struct {
	Push  []string // each gets what is pushed
	Fetch string
}

// Route asks git where a remote leads now.
func (w *Workspace) Route(ctx context.Context, remote string) (Route, error) {
	push, err := w.Repo.PushAddresses(ctx, remote)
	fetch, err2 := w.Repo.FetchAddress(ctx, remote)
	for i := range push {
		push[i] = config.WithoutCredentials(push[i])
	}
	return Route{push, config.WithoutCredentials(fetch)}, errors.Join(err, err2)
}

// All are the addresses to which a user agrees.
func (r Route) All() []string {
	if slices.Contains(r.Push, r.Fetch) {
		return r.Push
	}
	return append(slices.Clone(r.Push), r.Fetch)
}

// StoreAgreement stores the agreement to send the ledger: the name of the remote, and the addresses to which the name
// leads.
func (w *Workspace) StoreAgreement(ctx context.Context, remote string, addresses []string) error {
	if err := w.StoreAddresses(ctx, addresses); err != nil {
		return err
	}
	return w.Repo.SetConfig(ctx, "rekal.remote", remote)
}

// StoreAddresses notes where rekal.remote leads.
func (w *Workspace) StoreAddresses(ctx context.Context, addresses []string) error {
	return w.Repo.SetConfigValues(ctx, "rekal.url", addresses)
}

// WantTrailers has commits be given trailers as they are made: how is a value of rekal.trailers, "" for no more.
func (w *Workspace) WantTrailers(ctx context.Context, how string) error {
	if how == "" {
		_, err := w.Repo.UnsetConfig(ctx, "rekal.trailers")
		return err
	}
	return w.Repo.SetConfig(ctx, "rekal.trailers", how)
}

// RemoveAgreement removes the agreement, and returns the name of its remote; "" for none.
func (w *Workspace) RemoveAgreement(ctx context.Context) (string, error) {
	remote, err := w.Repo.UnsetConfig(ctx, "rekal.remote")
	_, err2 := w.Repo.UnsetConfig(ctx, "rekal.url")
	return remote, errors.Join(err, err2)
}

// Capturer is a Capturer for an author. If the author's ledger is missing, it is made (see
// ensureLedger).
func (w *Workspace) Capturer(ctx context.Context, a Author) (*capture.Capturer, error) {
	if err := w.CheckReady(); err != nil {
		return nil, err
	}
	if err := w.ensureLedger(ctx, a); err != nil {
		return nil, err
	}
	if a.Config.Loud { // an older version wrote it
		if err := w.StoreAddresses(ctx, a.Config.Addresses); err != nil {
			return nil, err
		}
	}
	err := w.ensureRekalDir(ctx)
	switch {
	case errors.Is(err, ErrNotInitialised):
		return nil, err
	case err != nil:
		w.Warn(fmt.Errorf("the capture cache can't be written: %w", err))
	}
	c := w.Previewer(a)
	c.Redactor = w.Redactor(a.Config, ToStore)
	c.Hold = func(ctx context.Context) (func() error, error) { return w.holdFor(ctx, &a, c) }
	return c, w.applyDecisions(ctx, a, c)
}

// Previewer is a Capturer for Preview only: it makes neither ledger nor folder, and works before
// init.
func (w *Workspace) Previewer(a Author) *capture.Capturer {
	return &capture.Capturer{
		Repo: w.Repo, Ledger: a.Ledger, Redactor: w.Redactor(a.Config, ToShow), Agents: w.Agents(a.Config),
		Home: w.Home, Getenv: w.Getenv, Email: a.Email, CacheDir: w.RekalDir(), Now: w.Now,
		Actor: a.Config.Actor, CI: a.Config.CI, Without: exclusionsOf(a.Config),
		Private: capture.Private{Sessions: nativeRefs(a.Config.Private)}, NameRepo: w.pathInGroup(),
		Notes: capture.Notes{Off: a.Config.NotesOff, Sent: a.Config.NotesSent},
	}
}

// pathInGroup tells the path of another repository, by the root of a worktree, if a group holds it and this one; else
// "". What can't be read is in no group. The configuration is read when it is first asked.
func (w *Workspace) pathInGroup() func(root string) string {
	ctx, here, env := context.Background(), w.Repo.Layout().CommonDir, git.WithoutRepositoryVariables(w.Env)
	pathOf := sync.OnceValue(func() func(root string) string {
		groups, err := machine.ReadGroups(ctx, here, env)
		roots, err2 := machine.RootsAt(ctx, here, env)
		if err != nil || err2 != nil || len(groups) == 0 {
			return func(string) string { return "" }
		}
		return func(root string) string {
			other, _ := machine.RootsAt(ctx, root, env)
			return groups.PathBeside(roots, other)
		}
	})
	var known sync.Map
	return func(root string) string {
		path, ok := known.Load(root)
		if !ok {
			path, _ = known.LoadOrStore(root, pathOf()(root))
		}
		text, _ := path.(string) // nothing else is stored
		return text
	}
}

// Agents are the agents whose sessions are captured: those that git-rekal reads, and programs of the user. It warns of
// a program that is missing.
func (w *Workspace) Agents(c config.Config) []transcript.Agent {
	all, missing := w.FindAgents(c)
	for _, err := range missing {
		if w.AgentPatience == 0 {
			w.Warn(err)
		}
	}
	return all
}

// FindAgents are these agents, and what is wrong with programs that rekal.agent names.
func (w *Workspace) FindAgents(c config.Config) (all []transcript.Agent, wrong []error) {
	all = transcript.Agents()
	for _, name := range c.Agents {
		a, err := external.Find(name, w.Env, w.AgentPatience)
		if slices.Contains(session.Agents(), name) {
			err = fmt.Errorf("rekal.agent %q: its sessions are read already", name)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, a)
	}
	return all, wrong
}

// IsSlowAgent reports whether a warning is of a program that takes longer than AgentPatience.
func IsSlowAgent(warning error) bool { return errors.Is(warning, external.ErrSlow) }

// What a text is redacted for. Secrets that are found in a text to be stored are remembered; those in a text of others,
// or one that is only shown, are not.
const (
	ToStore = remembered.ToKeep
	ToShow  = remembered.ToRead
)

// Redactor redacts what rules, settings and this machine's credentials say is secret, and what was redacted here
// before, but not what the repository publishes. It reads nothing before the first text.
func (w *Workspace) Redactor(c config.Config, purpose remembered.Writing) *redact.Redactor {
	return redact.With(w.redaction(c, purpose))
}

func (w *Workspace) redaction(c config.Config, purpose remembered.Writing) redact.Settings {
	return redact.Settings{
		Known: func() []string { return w.KnownSecrets(c) }, Allow: c.Allow, Exclude: c.Exclude, Homes: w.homes(),
		Remembered: w.Remembered(purpose), Published: publicityBy(w.Published(purpose)), Excused: w.excused(purpose).Add,
	}
}

// publicityBy tells who has a value, as a repository publishes it.
func publicityBy(check *published.Check) func(context.Context, []string) ([]redact.Publicity, error) {
	return func(ctx context.Context, candidates []string) ([]redact.Publicity, error) {
		places, err := check.Places(ctx, candidates)
		out := make([]redact.Publicity, len(places))
		for i, at := range places {
			switch {
			case at.Pushed:
				out[i] = redact.Pushed
			case at.At != "":
				out[i] = redact.Committed
			}
		}
		return out, err
	}
}

// homes are the paths of the home folder: as the environment has it, and where links lead.
func (w *Workspace) homes() []string {
	real, err := filepath.EvalSymlinks(w.Home)
	if err != nil || real == w.Home {
		return []string{w.Home}
	}
	return []string{w.Home, real}
}

// KnownSecrets are the values that package secrets finds on this machine.
func (w *Workspace) KnownSecrets(c config.Config) []string {
	roots := w.Repo.Worktrees()
	if here := w.Repo.Layout().WorkTree; here != "" {
		roots = append([]string{here}, slices.DeleteFunc(roots, func(r string) bool { return r == here })...)
	}
	return secrets.Source{Env: w.Env, Home: w.Home, Roots: roots, Git: c.Git}.Gather()
}

// excused is the store of fingerprints of values that were stored because only unpushed commits have them.
func (w *Workspace) excused(purpose remembered.Writing) *remembered.Store {
	return remembered.OpenExcused(w.RekalDir(), purpose, w.Rand)
}

// Remembered is the store of fingerprints of values that were redacted here before.
func (w *Workspace) Remembered(purpose remembered.Writing) *remembered.Store {
	return remembered.Open(w.RekalDir(), purpose, w.Rand)
}

// RememberedFile is the path of that store; "" if there is none.
func (w *Workspace) RememberedFile() string {
	if file := remembered.Path(w.RekalDir()); exists(file) {
		return file
	}
	return ""
}

// ErrLater is a redaction that needs more time than a hook has: see published.ErrLater.
var ErrLater = published.ErrLater

// Published tells which values the repository publishes anyway.
func (w *Workspace) Published(purpose remembered.Writing) *published.Check {
	return &published.Check{Repo: w.Repo, Dir: w.RekalDir(), Keep: bool(purpose), Now: w.Now}
}

// ensureLedger makes the author's ledger if somebody deleted its branch, from what remotes are known to hold of it. It
// makes none if only the user's address has changed: then the first entry makes it.
func (w *Workspace) ensureLedger(ctx context.Context, a Author) error {
	if tip, err := a.Ledger.Tip(); err != nil || tip != "" {
		return err
	}
	for _, remote := range a.Config.Remotes {
		taken, err := a.Ledger.Restore(ctx, remote)
		if err != nil {
			return err
		}
		if taken {
			w.Warn(fmt.Errorf("the ledger %s was gone; it goes on from what %q held", a.Ledger.Ref(), remote))
		}
	}
	if err := w.LostLedger(ctx); err != nil {
		return err
	}
	own, err := ledger.LocalTips(w.Repo)
	if err == nil && len(own) == 0 {
		_, err = a.Ledger.Create(ctx)
	}
	return err
}
