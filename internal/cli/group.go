package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/group"
)

// groupFlags says which repositories are asked besides this one: `git rekal --group shop "retry with jitter"`.
type groupFlags struct {
	name string // ownGroups where the flag has no value
	all  bool
}

const (
	groupFlag = "group"
	ownGroups = "." // no group can have this name in git's configuration
)

func (g *groupFlags) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&g.name, groupFlag, "",
		"all repositories of the group `NAME`, without a name those grouped with this one: see \"git rekal help config\"")
	fs.Lookup(groupFlag).NoOptDefVal = ownGroups
	fs.BoolVar(&g.all, "all", false, "all repositories that are set up on this machine; only on a terminal")
}

func (g *groupFlags) validate(fs *pflag.FlagSet) error {
	switch {
	case g.all && g.name != "":
		return errors.New("give either --group or --all, not both")
	case fs.Changed(groupFlag) && g.name == "":
		return errors.New("--group= needs a name")
	}
	return nil
}

// isGiven reports whether more than this repository is asked.
func (g *groupFlags) isGiven() bool { return g.all || g.name != "" }

// groupSelection says which group is to be opened.
func (g *groupFlags) groupSelection(app *App) group.Which {
	out := group.Which{All: g.all, Person: app.Terminal && !capture.InAgent(app.Getenv)}
	if g.name != ownGroups {
		out.Name = g.name
	}
	return out
}

// joinGroupName writes "--group shop" as "--group=shop" where shop is a group. What else stands behind --group is a
// word of the question.
func (app *App) joinGroupName(fs *pflag.FlagSet, args []string) []string {
	at := slices.Index(args, "--"+groupFlag)
	if end := slices.Index(args, "--"); at < 0 || at+1 >= len(args) || end >= 0 && end < at ||
		fs.Lookup(groupFlag) == nil || strings.HasPrefix(args[at+1], "-") {
		return args
	}
	names, err := group.Names(context.Background(), app.Process)
	if err != nil || !slices.Contains(names, strings.ToLower(args[at+1])) {
		return args // who opens the group finds out what is wrong
	}
	return slices.Concat(args[:at], []string{"--" + groupFlag + "=" + args[at+1]}, args[at+2:])
}

// withGroup opens a group, has it asked for an answer of a shape, and tells which of its repositories could not be.
func (app *App) withGroup(ctx context.Context, g groupFlags, s outputFlags, use func(*group.Group) error) error {
	which := g.groupSelection(app)
	which.Reader = s.reader(app)
	return app.withSelection(ctx, which, use)
}

// withSelection is withGroup for repositories that are chosen already.
func (app *App) withSelection(ctx context.Context, which group.Which, use func(*group.Group) error) error {
	members, err := group.Open(ctx, app.Process, which)
	if err != nil {
		return err
	}
	defer members.Close()
	err = use(members)
	for _, left := range members.Left {
		app.notify(explain(left))
	}
	return err
}

// runGroup is run where several repositories are asked.
func (c *recallOptions) runGroup(ctx context.Context, app *App) error {
	return app.withGroup(ctx, c.group, c.shape, func(g *group.Group) error {
		app.needFullToEmbed(g.SettingsFrom())
		found, err := g.Recall(ctx, ask.Question{Request: c.req, Long: !c.shape.printsText(app)})
		if err != nil {
			return withFlagName(err)
		}
		return c.print(ctx, app, g.SettingsFrom(), found.Found, found.Short)
	})
}

// runGroup is run where several repositories are asked.
func (c *logOptions) runGroup(ctx context.Context, app *App) error {
	return app.withGroup(ctx, c.group, c.shape, func(g *group.Group) error {
		found, err := g.Log(ctx, c.req)
		if err != nil {
			return withFlagName(err)
		}
		return c.print(ctx, app, g.SettingsFrom(), found)
	})
}

// runGroup is run where several repositories are asked.
func (c *statsOptions) runGroup(ctx context.Context, app *App) error {
	return app.withGroup(ctx, c.group, c.shape, func(g *group.Group) error {
		if c.failures {
			failures, err := g.Failures(ctx, c.req)
			if err != nil {
				return withFlagName(err)
			}
			return c.printFailures(ctx, app, g.SettingsFrom(), failures)
		}
		stats, err := g.Stats(ctx, c.req)
		if err != nil {
			return withFlagName(err)
		}
		return c.print(ctx, app, g.SettingsFrom(), stats.Stats, stats.Notice, stats.Short)
	})
}
