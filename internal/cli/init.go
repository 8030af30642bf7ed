package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/doctor"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/machine"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type initOptions struct {
	remote string
	mcp    bool
	brief  setup.Brief
	point  bool

	trailers string // see config.Trailers
	from     []string

	global      bool
	all, dryRun bool
	dirs        []string // with all
	exclude     machine.Exclusions
	imported    int // sessions
}

// newInitCmd sets a repository up: `git rekal init`.
func newInitCmd(app *App) *cobra.Command {
	c := &initOptions{}
	cmd := &cobra.Command{
		Use: "init [--mcp] [--brief[=MOMENTS]] [--pointer] [--trailers[=HOW]] [--remote NAME] [--from PATH]…\ninit --all [--dry-run] [--exclude GLOB]… [--exclude-remote GLOB]… DIR…\ninit --global [--exclude GLOB]… [--exclude-remote GLOB]…", Short: "set up, import sessions",
		Long: `
Sets the repository up: the ledger branch rekal/<email>, the caches in .git/rekal, the hooks and the agents' skill, which git ignores.
It imports the sessions that agents already recorded for this repository, and the ledgers that a clone brought
along. Run again, it repairs what is missing and changes nothing else. "git rekal clean" undoes it.

All worktrees share hooks and caches. A worktree has the skill if init was run there.

--all does so in every repository below DIR, and tells in a line what it did there; --dry-run only names them. It looks into no hidden folder and no
node_modules. It sends nothing, and agrees to no remote. Which repositories are set up for you stands in ~/.config/git-rekal/repositories.

--global has every repository, new clones too, set up at its first commit or question: by hooks in git's global configuration, which needs git 2.54.
It leaves out what --exclude and --exclude-remote name, what a clean left, and what lies in hidden folders and node_modules. A later --global names all
exclusions anew. It sends nothing, and agrees to no remote.

--from names a former folder of the repository. Sessions from there are imported, too.

--mcp also registers the MCP server (see "git rekal help mcp") in .mcp.json, for Claude Code, Copilot CLI and VS Code. These files
get an entry, too, each if its agent has sessions here, or if the file or its folder exists: .codex/config.toml, .gemini/settings.json,
opencode.json, .vscode/mcp.json and .cursor/mcp.json. Everything else in them stays.

--brief tells agents what was last done here, at the start of a session and after a compaction (see "git rekal help brief").
--brief=prompts also tells them at a prompt, --brief=edits before an edit. It adds a hook to .claude/settings.local.json and, for agents that
are used here, to .codex/hooks.json, .gemini/settings.json, .github/hooks/git-rekal.json (Copilot CLI), .qwen/settings.json or
.factory/settings.json.

--pointer adds three lines to existing AGENTS.md, CLAUDE.md and GEMINI.md. If there is none, it makes AGENTS.md.

--trailers has each commit name the agents that are known by then to have written lines of it (see "git rekal help trailers"), by two more hooks,
prepare-commit-msg and commit-msg. It leaves merges, Signed-off-by and commits of a person's lines alone. --trailers=replace also takes out lines
that name agents otherwise, and --trailers=off takes it back. It sets rekal.trailers.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.mcp, "mcp", false, "also register the MCP server with the agents used here")
	fs.Func("brief", "also tell agents what was last done here: at the start of a session, and at `MOMENTS`: prompts, edits", c.parseBriefEvents)
	fs.Lookup("brief").NoOptDefVal = "start"
	fs.BoolVar(&c.point, "pointer", false, "also add three lines to AGENTS.md, CLAUDE.md or GEMINI.md")
	fs.StringVar(&c.trailers, "trailers", "",
		"also have commits name the agents that wrote their lines; `HOW` is add, replace or off")
	fs.Lookup("trailers").NoOptDefVal = config.TrailersAdd
	fs.StringArrayVar(&c.from, "from", nil, "also import sessions from `PATH`, a former folder of the repository")
	fs.StringVar(&c.remote, "remote", "", "send the ledger to the remote `NAME` at each push (sets rekal.remote)")
	fs.BoolVar(&c.all, "all", false, "set up every repository below `DIR`…")
	fs.BoolVar(&c.global, "global", false, "have every repository come set up, new clones too")
	fs.BoolVar(&c.dryRun, "dry-run", false, "with --all: only say what would be done")
	fs.StringArrayVar(&c.exclude.Paths, "exclude", nil,
		"with --all or --global: leave out folders whose path, or its end, fits `GLOB`")
	fs.StringArrayVar(&c.exclude.Remotes, "exclude-remote", nil,
		"with --all or --global: leave out repositories with a remote whose URL fits `GLOB`")
	return app.withOptions(cmd, c)
}

// parseBriefEvents reads --brief: "start", or when else, with commas.
func (c *initOptions) parseBriefEvents(moments string) error {
	c.brief.Start = true
	for when := range strings.SplitSeq(moments, ",") {
		switch when {
		case "start":
		case "prompts":
			c.brief.Prompts = true
		case "edits":
			c.brief.Edits = true
		default:
			return errors.New("neither prompts nor edits")
		}
	}
	return nil
}

func (c *initOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case c.trailers != "" && !slices.Contains([]string{config.TrailersAdd, config.TrailersReplace, "off"}, c.trailers):
		return fmt.Errorf("--trailers %q: neither add, replace nor off", c.trailers)
	case c.trailers != "" && (c.all || c.global):
		return errors.New("--trailers says something of one repository, and goes without --all and --global")
	case c.global && (c.all || c.mcp || c.point || c.brief.Start || c.remote != "" || len(c.from) > 0):
		return errors.New("--global goes alone, but for --exclude and --exclude-remote")
	case !c.all && c.dryRun:
		return errors.New("--dry-run goes with --all")
	case !c.all && !c.global && len(c.exclude.Paths)+len(c.exclude.Remotes) > 0:
		return errors.New("--exclude and --exclude-remote go with --all or --global")
	case !c.all && len(args) > 0:
		return noArgs(args)
	case c.all && len(args) == 0:
		return errors.New("--all needs the folder below which the repositories are")
	case c.all && (c.remote != "" || len(c.from) > 0):
		return errors.New("--remote and --from say something of one repository, and go without --all")
	}
	for _, glob := range append(c.exclude.Paths, c.exclude.Remotes...) {
		if strings.ContainsAny(glob, "\n\t") {
			return fmt.Errorf("%q: is no glob", glob)
		}
	}
	for _, glob := range c.exclude.Paths {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("--exclude %q: is no glob", glob)
		}
	}
	c.dirs = args
	return nil
}

func (c *initOptions) run(ctx context.Context, app *App) error {
	switch {
	case c.all:
		return c.runAll(ctx, app)
	case c.global:
		return c.runGlobal(ctx, app)
	}
	return c.setUp(ctx, app)
}

// setUp sets up the repository that the process runs in.
func (c *initOptions) setUp(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	author, err := w.Author(ctx)
	if err != nil {
		return err
	}
	if err := author.Config.Fault(); err != nil { // before sessions are imported without them
		return err
	}
	if err := c.makeSourcesAbsolute(ctx, app, w); err != nil { // nothing is changed yet
		return err
	}
	if c.remote != "" {
		if c.remote, err = w.Remote(author, c.remote); err != nil {
			return err
		}
	}
	layout, err := c.layout(ctx, w)
	if err != nil {
		return err
	}
	trees := w.Repo.Worktrees()
	layout.Agents = w.AgentsAt(ctx, trees)
	first := w.CheckReady() != nil
	made, err := c.takeInLedgers(ctx, app, w, author) // where there can be none, nothing else is made
	if err != nil {
		return err
	}
	report, err := w.Install(ctx, layout)
	for _, line := range append(report.Done, made...) {
		app.printDone("%s", line)
	}
	// What is wrong with the set-up keeps no session out.
	if err := cmp.Or(err, c.importSessions(ctx, app, w, author)); err != nil {
		return err
	}
	if author.Config.Remote == "" && c.remote == "" && len(author.Config.Remotes) > 0 && !app.oneOfMany {
		report.Hints = append(report.Hints, sharingNote(author))
	}
	if len(trees) == 0 {
		report.Hints = append(report.Hints,
			`nothing is captured without a worktree: run "git rekal init" in the clones where people work`)
	}
	if first && !app.oneOfMany { // later it is no news, and doctor tells what is about to go
		report.Hints = append(report.Hints, firstHints(w, trees, layout.Agents)...)
	}
	heads, _ := ledger.Heads(w.Repo) // of others, too: then there is something to ask
	switch {
	case app.Terminal && len(layout.Agents) == 0 && len(heads) < 2:
		report.Hints = append(report.Hints,
			`no coding agent has worked here yet: let one, and commit; then ask: git rekal "why is …"`)
	case app.Terminal:
		report.Hints = append(report.Hints, `ask what was said: git rekal "why is …"; "git rekal -h" lists the commands`)
	}
	for _, hint := range report.Hints {
		app.hint(hint)
	}
	return nil
}

// layout is what is to be set up, with the wish for trailers kept.
func (c *initOptions) layout(ctx context.Context, w *workspace.Workspace) (setup.Layout, error) {
	if c.trailers != "" {
		if err := w.WantTrailers(ctx, strings.TrimPrefix(c.trailers, "off")); err != nil {
			return setup.Layout{}, err
		}
	}
	l, err := w.Layout(ctx)
	if c.trailers != "" { // the settings were read before
		l.Trailers = c.trailers != "off"
	}
	l.MCP, l.Brief, l.Pointer = c.mcp, c.brief, c.point
	return l, err
}

// sharingNote says how a ledger is shared. After a clean, a remote may hold all of it.
func sharingNote(author workspace.Author) string {
	for _, remote := range author.Config.Remotes {
		if all, _ := author.Ledger.IsSent(remote); all {
			return fmt.Sprintf(`%s has all of your ledger; "git rekal sync" goes on sharing`, remote)
		}
	}
	return `nothing is shared yet; "git rekal sync" shares with your team`
}

// tiedText says to how many commits what was imported is tied.
func tiedText(commits int) string {
	if commits == 0 {
		return "; none is tied to a commit yet"
	}
	return ", tied to " + session.CountNoun(commits, "commit")
}

// firstHints tell what is news to who sets a repository up: which agents used here delete their transcripts, and what
// other tools kept.
func firstHints(w *workspace.Workspace, trees, agents []string) (hints []string) {
	for _, k := range doctor.AgentRetention(w) {
		if slices.Contains(agents, k.Agent) && k.Days > 0 {
			hints = append(hints, fmt.Sprintf("%s deletes a transcript %d days after it was last written (%s); what is captured stays", k.Agent, k.Days, k.Setting))
		}
	}
	for _, name := range archive.Sources(w.Repo, trees) {
		hints = append(hints, fmt.Sprintf("sessions that another tool kept are here: %q takes them over",
			"git rekal import --"+name))
	}
	return hints
}

// takeInLedgers takes in what a clone brought along, and makes the author's own ledger where that
// is not among it.
func (c *initOptions) takeInLedgers(ctx context.Context, app *App, w *workspace.Workspace,
	author workspace.Author,
) (done []string, err error) {
	before, err := author.Ledger.Check()
	if err != nil {
		return nil, err
	}
	for _, remote := range author.Config.Remotes {
		taken, err := author.Ledger.Adopt(ctx, remote)
		for _, refused := range taken.Refused {
			app.notify(explain(refused))
		}
		if err != nil {
			return done, err
		}
		if err := app.reportScrubbedLedgers(ctx, w, taken.Scrubbed); err != nil {
			return done, err
		}
		if taken.Ledgers > 0 {
			done = append(done, fmt.Sprintf("%s from %s", session.CountNoun(taken.Ledgers, "ledger"), remote))
		}
	}
	own, err := ledger.LocalTips(w.Repo)
	if err == nil && len(own) == 0 { // of a user whose address has changed, the first session makes it
		_, err = author.Ledger.Create(ctx)
	}
	if err != nil {
		return done, err
	}
	if before == "" && len(own) == 0 {
		done = append(done, "ledger branch "+shortRef(author.Ledger.Ref()))
	}
	if c.remote == "" {
		return done, nil
	}
	to, err := w.Route(ctx, c.remote)
	if err != nil || author.Config.Agreed(c.remote, to.All()...) && len(author.Config.Addresses) > 0 {
		return done, err
	}
	if err := w.StoreAgreement(ctx, c.remote, to.All()); err != nil {
		return done, err
	}
	return append(done, "setting rekal.remote "+c.remote), nil
}

// makeSourcesAbsolute makes the paths of --from absolute. A folder that is gone may have been the repository's place,
// and may be misspelt.
func (c *initOptions) makeSourcesAbsolute(ctx context.Context, app *App, w *workspace.Workspace) error {
	for i, dir := range c.from {
		dir = filepath.Clean(app.Path(dir))
		c.from[i] = dir
		if _, err := os.Stat(dir); err != nil && len(w.AgentsAt(ctx, []string{dir})) == 0 {
			return &usageError{
				command: "init",
				err: fmt.Errorf("--from %q: no such folder, and none of %s has a session there; name the folder in which the repository was before",
					c.from[i], strings.Join(session.Agents(), ", ")),
			}
		}
	}
	return nil
}

func (c *initOptions) importSessions(ctx context.Context, app *App, w *workspace.Workspace,
	author workspace.Author,
) error {
	if app.notifyPaused(author.Config) {
		return nil
	}
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	capturer.From, capturer.Stated = c.from, archive.EntireNames(ctx, w.Repo)
	shown := app.meter(capture.Reading)
	capturer.Progress = shown.setStage
	out, err := capturer.Import(ctx)
	shown.end()
	if err != nil {
		return err
	}
	app.tellCaptured(out)
	if c.imported = out.Sessions; out.Sessions > 0 {
		app.printDone("imported %s%s", captureCounts(out), tiedText(out.Checkpoints))
		for _, agent := range slices.Sorted(maps.Keys(out.Agents)) {
			app.printDone("    %s: %s", agent, session.CountNoun(out.Agents[agent], "session"))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(out.Elsewhere)) {
		app.hint(fmt.Sprintf(`left out %s of work in %s, outside this repository; "git rekal init --from PATH" imports from a former folder of it`,
			session.CountNoun(out.Elsewhere[dir], "session"), printable(dir)))
	}
	return app.catchUp(ctx, w, author)
}
