package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/launch"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type resumeOptions struct {
	what                    string
	print, worktree, silent bool
	more                    []string // arguments for the agent

	held map[string]map[string]workspace.LocalSession // by agent and its ID of the session, as far as it was looked for
}

// newResumeCmd goes on with a session in its own agent: `git rekal resume 01KJW4MN`. Without arguments in a paused
// clone it ends the pause.
func newResumeCmd(app *App) *cobra.Command {
	c := &resumeOptions{}
	cmd := &cobra.Command{
		Use: "resume [SESSION|QUESTION] [--print] [--worktree] [-- ARG…]\nresume", Short: "go on, or end a pause",
		Long: `
Goes on with a session in its own agent, where that still has the session's transcript on this machine: it runs the agent's own command, in
the session's folder. Without SESSION it lists the latest; of several that answer QUESTION you choose one. If commits since then changed files of the
session, the agent is told which. What stands behind "--" goes to the agent's program.

It says at which branch and commit the session stood, and checks out nothing. --worktree makes a worktree of that commit beside this one, and
goes on there; Claude Code knows its sessions by their folder, and may not find them elsewhere.

A session of another machine, person or agent can't be gone on with: "git rekal handoff SESSION --to AGENT" hands it over.

In a paused clone, "git rekal resume" without arguments ends the pause, as ever. What is said from now on is captured again. Text from the
pause stays out.

The setting rekal.chooser names a program that chooses one of the lines on its stdin, such as fzf.

  git rekal resume
  git rekal resume 01KJW4MN --print
  git rekal resume "the retry with jitter"
  git rekal resume 01KJW4MN -- --model opus`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.print, "print", false, "print the command, and run nothing")
	fs.BoolVar(&c.worktree, "worktree", false, "in a new worktree, at the commit where the session stood")
	fs.BoolVar(&c.silent, "no-hint", false, "tell the agent nothing of what changed since")
	return app.withOptions(cmd, c)
}

func (c *resumeOptions) validate(fs *pflag.FlagSet, args []string) error { //nolint:unparam // a validator
	if dash := fs.ArgsLenAtDash(); dash >= 0 {
		args, c.more = args[:dash], args[dash:]
	}
	c.what = strings.TrimSpace(strings.Join(args, " "))
	return nil
}

func (c *resumeOptions) run(ctx context.Context, app *App) error {
	if c.what == "" {
		if ended, err := app.endPause(ctx); ended || err != nil {
			return err
		}
	}
	var command launch.Command
	err := app.withMoment(ctx, ask.Opening{Reader: app.reader()}, func(w *workspace.Workspace, at *ask.Moment) error {
		chosen, err := c.choose(ctx, app, w, at)
		if err != nil {
			return err
		}
		command, err = c.launchCommand(ctx, app, w, chosen)
		return err
	})
	if err != nil {
		return err
	}
	if c.print {
		_, err := fmt.Fprintln(app.Stdout, command.ShellLine())
		return err
	}
	return command.Start(app.Env)
}

// endPause ends a pause, where one lasts.
func (app *App) endPause(ctx context.Context) (ended bool, err error) {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return false, err
	}
	defer w.Close()
	if author.Config.CheckPaused() == nil {
		return false, nil
	}
	since, was, err := curate.Resume(ctx, w, author)
	if err == nil && was {
		app.printDone("resumed; what was said since %s stays out", app.formatTime(since))
	}
	return was, err
}

// errCannotResume is an error about a session that its agent can't go on with here.
func errCannotResume(id, reason string) error {
	return advice.New(fmt.Sprintf("session %s: %s", id, reason),
		fmt.Sprintf(`"git rekal handoff %s --to AGENT" hands it over`, id))
}

// offered is how many sessions are looked at for a question.
const offered = 10

var errNothingHere = errors.New(`no session that answers has a transcript on this machine: "git rekal handoff SESSION" hands any session over`)

// candidate is a session that can be gone on with.
type candidate struct {
	*result.Session
	held workspace.LocalSession
}

// line is what a list says of a session, in at most so many columns.
func (c candidate) line(columns int) string {
	day, _, _ := strings.Cut(lastTurnTime(c.Session), "T")
	head := fmt.Sprintf("%s  %s  %-11s  ", c.ID, day, c.Source)
	return printable(head + session.Shorten(c.Title, min(max(columns-len(head), leastTitle), mostTitle)))
}

// leastTitle is how many characters of a title a list shows also on a narrow terminal, mostTitle on a wide one.
const leastTitle, mostTitle = 16, 80

// lastTurnTime is the time of a session's last turn.
func lastTurnTime(s *result.Session) string {
	if n := len(s.Page); n > 0 && s.Page[n-1].TS != "" {
		return s.Page[n-1].TS
	}
	return s.StartedAt
}

// choose finds the session, with its transcript.
func (c *resumeOptions) choose(ctx context.Context, app *App, w *workspace.Workspace,
	at *ask.Moment,
) (candidate, error) {
	if s, err := at.Session(ctx, c.what); err == nil {
		return c.findTranscript(ctx, w, s)
	} else if c.what != "" && (!strings.Contains(c.what, " ") && !errors.Is(err, session.ErrNoID) &&
		!errors.As(err, new(*name.UsageError)) || len(session.FindRefs(c.what)) > 0) {
		return candidate{}, err
	}
	app.needFullToEmbed(w)
	found, err := at.Recall(ctx, ask.Question{
		Request: ask.Request{Query: c.what, Kind: "session", Limit: offered},
		Long:    true,
	})
	if err != nil {
		return candidate{}, err
	}
	var all []candidate
	for _, h := range found.Results {
		s, err := at.Session(ctx, h.ID)
		if err != nil {
			return candidate{}, err
		}
		if one, err := c.findTranscript(ctx, w, s); err == nil {
			all = append(all, one)
		}
	}
	switch len(all) {
	case 0:
		return candidate{}, errNothingHere
	case 1:
		if c.what != "" {
			return all[0], nil
		}
	}
	i, err := app.letPersonChoose(ctx, w, all)
	if err != nil {
		return candidate{}, err
	}
	return all[i], nil
}

// findTranscript looks for a session's transcript; an error says why it can't be gone on with.
func (c *resumeOptions) findTranscript(ctx context.Context, w *workspace.Workspace,
	s *result.Session,
) (candidate, error) {
	if s.Parent != "" {
		return candidate{}, fmt.Errorf("session %s: an agent of %s is no session of its own: resume that one", s.ID, s.Parent)
	}
	if _, err := launch.Resume(s.Source, s.NativeID, "", nil); err != nil {
		return candidate{}, errCannotResume(s.ID, err.Error())
	}
	if c.held[s.Source] == nil {
		held, err := w.LocalSessions(ctx, s.Source)
		if err != nil {
			return candidate{}, err
		}
		if c.held == nil {
			c.held = map[string]map[string]workspace.LocalSession{}
		}
		c.held[s.Source] = held
	}
	held, ok := c.held[s.Source][s.NativeID]
	if !ok {
		return candidate{}, errCannotResume(s.ID, fmt.Sprintf("%s has no transcript of it on this machine", s.Source))
	}
	return candidate{s, held}, nil
}

// letPersonChoose lets a person choose one of several: in the program that rekal.chooser names, or by a number.
func (app *App) letPersonChoose(ctx context.Context, w *workspace.Workspace, all []candidate) (int, error) {
	columns := math.MaxInt // who pipes it has no lines to fill
	if app.Terminal {
		columns = app.terminalOutput(outputFlags{}).Screen().Width - len("10  ")
	}
	var lines []string
	for _, c := range all {
		lines = append(lines, c.line(columns))
	}
	stdin, _ := app.Stdin.(*os.File)
	asked := app.Terminal && stdin != nil && run.IsTerminal(stdin)
	if words := strings.Fields(w.Repo.Setting("rekal.chooser")); asked && len(words) > 0 {
		program := exec.CommandContext(ctx, words[0], words[1:]...)
		program.Env, program.Dir, program.Stderr = app.Env, app.Dir, app.Stderr
		program.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		out, err := program.Output()
		if err != nil {
			return 0, fmt.Errorf("resume: rekal.chooser %q: %w", words[0], err)
		}
		for i, l := range lines {
			if strings.TrimSpace(l) == strings.TrimSpace(string(out)) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("resume: rekal.chooser %q printed none of the lines", words[0])
	}
	for i, l := range lines {
		fmt.Fprintf(app.Stderr, "%2d  %s\n", i+1, l)
	}
	if !asked {
		return 0, errors.New("resume: give one of these sessions")
	}
	line, err := app.readAnswer(ctx, fmt.Sprintf("Which one? [1-%d] ", len(lines)))
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(lines) {
		return 0, errors.New("resume: nothing was chosen")
	}
	return n - 1, nil
}

// launchCommand makes the command, and says on stderr where the session stood.
func (c *resumeOptions) launchCommand(ctx context.Context, app *App, w *workspace.Workspace,
	chosen candidate,
) (launch.Command, error) {
	s := chosen.Session
	stood := ""
	if len(s.Commits) > 0 {
		stood = cmp.Or(s.Commits[0].Became, s.Commits[0].Commit)
	}
	since, err := commitsSince(ctx, w, s)
	if err != nil {
		return launch.Command{}, err
	}
	hint := ""
	if len(since) > 0 && !c.silent {
		file, err := w.WriteForAgent("resume-"+s.ID, strings.Join(since, "\n")+"\n")
		if err != nil {
			return launch.Command{}, err
		}
		hint = fmt.Sprintf("Since this session's last words (%s) commits changed files of it. The file %s lists them: look at them before you rely on what was said. Nothing else is asked yet.",
			lastTurnTime(s), file)
	}
	command, err := launch.Resume(s.Source, s.NativeID, hint, c.more)
	if err != nil {
		return command, err
	}
	if command.Dir, err = chosen.held.Dir(ctx); err != nil {
		return command, err
	}
	at := fmt.Sprintf("resume: %q", session.Shorten(s.Title, 60))
	if s.Branch != "" {
		at += ", on the branch " + s.Branch
	}
	if stood != "" {
		at += ", at the commit " + result.ShortOID(stood)
	}
	app.notify(at)
	switch {
	case c.worktree && stood == "":
		return command, fmt.Errorf("--worktree: session %s is tied to no commit", s.ID)
	case c.worktree:
		root := w.Repo.Layout().MainTree
		command.Dir = filepath.Join(filepath.Dir(root), filepath.Base(root)+"-"+strings.ToLower(s.ID[len(s.ID)-6:]))
		if c.print {
			app.hint(fmt.Sprintf("it runs in %s, which \"git worktree add --detach %s %s\" makes", command.Dir, command.Dir,
				stood))
			return command, nil
		}
		_, err = w.Repo.Run(ctx, "-C", root, "worktree", "add", "--detach", command.Dir, stood)
		return command, err
	}
	if _, err := os.Stat(command.Dir); command.Dir != "" && err != nil {
		return command, errCannotResume(s.ID, fmt.Sprintf("its folder %s is gone", command.Dir))
	}
	return command, nil
}

// commitsSince are the commits that were made behind a session's last turn, changed its files, and are not its own: at
// most offered.
func commitsSince(ctx context.Context, w *workspace.Workspace, s *result.Session) (out []string, err error) {
	var files []string
	for _, f := range s.Files {
		if path := ":(top,literal)" + f.Path; !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	if head, err := w.Repo.Head(); err != nil || head.OID == "" || len(files) == 0 || lastTurnTime(s) == "" {
		return nil, err
	}
	text, err := w.Repo.Run(ctx, append([]string{
		"-C", w.Repo.Layout().WorkTree, "log", "--no-merges", "--no-color", "--format=%H %s", "--since=" + lastTurnTime(s),
		"HEAD", "--",
	}, files...)...)
	for l := range strings.Lines(text) {
		sha, subject, _ := strings.Cut(strings.TrimSpace(l), " ")
		own := slices.ContainsFunc(s.Commits, func(c result.Commit) bool { return sha == c.Commit || sha == c.Became })
		if !own && len(out) < offered {
			out = append(out, result.ShortOID(sha)+" "+gate.Line(subject, gate.MostTitle))
		}
	}
	return out, err
}
