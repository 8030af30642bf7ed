package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/forge"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/terminal"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// outputFlags are the flags for how an answer is printed: `git rekal --text --color=always "JWT expiry"`. Without a
// flag a terminal gets text, and a pipe or a file what scripts and agents read.
type outputFlags struct {
	json, text bool
	color      string
	linewise   bool // without a flag, a pipe or a file gets text, too, which scripts read line by line
}

func (s *outputFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&s.json, "json", false, "JSON, also on a terminal")
	fs.BoolVar(&s.text, "text", false, "text for people, also into a pipe or a file")
	colorFlag(fs, &s.color)
}

func (s *outputFlags) validate() error {
	if s.json && s.text {
		return errors.New("give either --json or --text, not both")
	}
	return nil
}

func colorFlag(fs *pflag.FlagSet, color *string) {
	fs.Func("color", "colours in text: `WHEN` is always (also without a value), never or auto", func(v string) error {
		if v != "always" && v != "never" && v != "auto" {
			return errors.New("neither always nor never nor auto")
		}
		*color = v
		return nil
	})
	fs.Lookup("color").NoOptDefVal = "always"
}

// terminalOutput describes the streams and settings that decide how text is printed.
func (app *App) terminalOutput(s outputFlags) terminal.Output {
	env := app.Env
	if capture.InAgent(app.Getenv) {
		env = append(slices.Clip(env), "GIT_PAGER=cat")
	}
	return terminal.Output{Stdout: app.Stdout, Stderr: app.plainStderr(), Env: env, Color: s.color}
}

// hintIfSearchMeant says what a command did, and how to search for its name instead, to a person who may have meant
// that. Scripts get no hint.
func (app *App) hintIfSearchMeant(done, query string) {
	if app.Terminal || capture.InAgent(app.Getenv) {
		app.hint(fmt.Sprintf(`%s; to search instead: "git rekal -- %s"`, done, query))
	}
}

// seenByPerson reports whether a person sees stdout. A terminal of an agent (Codex, Gemini CLI) counts as a pipe.
func (app *App) seenByPerson(s outputFlags) bool {
	return app.terminalOutput(s).SeenByPerson() && !capture.InAgent(app.Getenv)
}

// printsText reports whether text is printed in place of JSON.
func (s outputFlags) printsText(app *App) bool { return s.text || !s.json && app.seenByPerson(s) }

// reader is who a command without flags of output answers.
func (app *App) reader() gate.Reader {
	if app.Terminal && !capture.InAgent(app.Getenv) {
		return gate.Person
	}
	return gate.Agent
}

// reader is who is answered: a person, if text for one is printed, and no agent runs the command.
func (s outputFlags) reader(app *App) gate.Reader {
	if s.printsText(app) && !capture.InAgent(app.Getenv) {
		return gate.Person
	}
	return gate.Agent
}

// shortener shortens IDs to what a person needs of them, where one reads the answer.
func (s outputFlags) shortener(ctx context.Context, app *App,
	at *ask.Moment,
) (short func(id string) string, err error) {
	if !s.printsText(app) {
		return short, nil
	}
	names, err := at.Names(ctx)
	return names.Short, err
}

// layout makes the text of an answer for a screen.
type layout func(text.Look) string

// answer prints one: as JSON, laid out for a person, through the pager on a terminal, or as the lines that scripts
// read, of which none is folded, and no date is relative to today. short shortens IDs for a person; nil: they are
// whole.
func (s outputFlags) answer(ctx context.Context, app *App, w *workspace.Workspace, value any,
	short func(id string) string, l layout,
) error {
	return s.answerAt(ctx, app, w, value, short, func(look text.Look) (string, int) { return l(look), 0 })
}

// answerAt is answer for a text that is opened at a line, which l gives, too.
func (s outputFlags) answerAt(ctx context.Context, app *App, w *workspace.Workspace, value any,
	short func(id string) string, l func(text.Look) (string, int),
) error {
	look := text.Look{Color: s.color == "always", Short: short}
	switch seen := app.seenByPerson(s); {
	case s.json, !s.linewise && !s.text && !seen:
		return result.Write(app.Stdout, value)
	case s.linewise && !seen:
		shown, _ := l(look)
		_, err := io.WriteString(app.Stdout, shown)
		return err
	}
	conf, _ := w.Settings() // doctor says what is wrong with them
	given := app.terminalOutput(s)
	given.Config = conf.Git
	screen := given.Screen()
	look.Width, look.Color, look.UTF8, look.Now = screen.Width, screen.Color, screen.UTF8, w.Now()
	look.Commit, look.People = CommitPageURL(w, conf), w.People(ctx)
	shown, line := l(look)
	return screen.Print(shown, line)
}

// CommitPageURL returns what makes the URL of a commit's page at the remote that the branch is pushed to; nil where no
// page is known.
func CommitPageURL(w *workspace.Workspace, conf config.Config) func(string) string {
	head, err := w.Repo.Head()
	if err != nil {
		return nil
	}
	remote, err := conf.RemoteFor("", head.Branch)
	urls := conf.Git["remote."+remote+".url"]
	if err != nil || len(urls) == 0 {
		return nil
	}
	return forge.Of(urls[0]).Commit
}

// questionMatcher returns what finds the words of the question in a text. The words that say when do not count.
func questionMatcher(a result.Recall) func(string) [][2]int {
	question := a.Query
	if a.When != nil {
		question = strings.Replace(question, a.When.Read, " ", 1)
	}
	return func(text string) [][2]int { return ask.Matches(text, question) }
}
