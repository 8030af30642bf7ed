package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Full is what git-rekal-full has beyond git-rekal: what needs DuckDB, a server, or the whole screen. Package full
// fills it.
//
// Every commit and question starts git-rekal, so it has none of that: libraries cost a start milliseconds even where
// nothing calls them. A command that needs them parses and checks its arguments, and then has git-rekal-full take the
// place of the process.
type Full struct {
	// ServeMCP and ServeLSP serve on stdin and stdout until the input ends.
	ServeMCP, ServeLSP func(ctx context.Context, app *App, explain func(error) string) error
	// NewSite makes the pages of the repository in which a process runs.
	NewSite func(p workspace.Process, name string, explain func(error) string) (Site, error)
	// Choose lets a person choose on a terminal.
	Choose func(ctx context.Context, in, out *os.File, env []string, from Choices) (Chosen, error)
	// OpenSQL opens a database for a statement, as the index is now. Slow is called where it takes long.
	OpenSQL func(ctx context.Context, at *ask.Moment, file, statement string, slow func()) (SQL, error)
	// OpenExport begins a run that writes Parquet files into a folder, or a bucket.
	OpenExport func(ctx context.Context, app *App, to string, text bool) (Export, error)
	// Traces is a session as OpenTelemetry has it, to be written as JSON.
	Traces func(app *App, s result.StorySession, usage []session.Usage, text bool) any
	// OpenServer makes a client for an embedding server.
	OpenServer func(o workspace.ServerOptions) (workspace.EmbeddingServer, error)
	// Survival counts what became of lines that sessions wrote, through all of HEAD's history. Progress is in commits.
	Survival func(ctx context.Context, w *workspace.Workspace, at *ask.Moment, req ask.StatsRequest,
		progress func(done, total int)) (result.Survival, error)
	// Notes are the notes of agents, of one or with "" of all.
	Notes func(w *workspace.Workspace, at *ask.Moment, author workspace.Author, agent string) AgentNotes
	// EngineVersion is the version of DuckDB.
	EngineVersion func(ctx context.Context) (string, error)
}

// Site is pages for a browser: see web.Site.
type Site interface {
	Rights(command string)
	SearchGroup(which group.Which)
	Listen(port int) (PageServer, error)
	Export(ctx context.Context, dir string, progress func(done, left int)) (int, error)
}

// PageServer serves pages: see web.Server.
type PageServer interface {
	Address(once bool) (string, error)
	Serve(ctx context.Context) error
	Close() error
}

// Choice is one line of a list that a person chooses from: see choose.Item.
type Choice struct {
	ID, Title string
	About     string
	Link      string
}

// Choices finds choices, at first for a question: see choose.Source.
type Choices struct {
	Question, Selected string
	All                int
	Find               func(question string) (all []Choice, total int, err error)
	Preview            func(id string) (string, error)
}

// Chosen is what a person chose, and what was typed then. The ID is "" where the person has left; Resume tells whether
// the session is to go on.
type Chosen struct {
	ID, Question string
	Resume       bool
}

// The databases for SQL, by the names of their files: see materialize.SQLFile.
const (
	dataDB  = "data.db"
	indexDB = "index.db"
)

// SQL is an open database: see tables.DB.
type SQL interface {
	Select(ctx context.Context, statement string, limit time.Duration,
		row func(columns []string, values []any) error) error
	Broken(ctx context.Context) (lines []string, checked int, err error)
	Close() error
}

// Export is a run that writes Parquet files: see tables.Export.
type Export interface {
	Add(ctx context.Context, w *workspace.Workspace, at *ask.Moment, progress func(done, total int)) error
	Finish(ctx context.Context) (written, removed int, err error)
	Close() error
}

// needFull goes on as git-rekal-full, which begins with the same arguments anew; in git-rekal-full it does nothing. It
// is called before anything is opened.
func (app *App) needFull() error {
	if app.Full != nil {
		return nil
	}
	path, err := app.fullPath()
	if err != nil {
		return err
	}
	err = syscall.Exec(path, append([]string{path}, app.args...), append(slices.Clip(app.Env), startedBy+"="+app.Exe))
	return fmt.Errorf("start %s: %w", path, err)
}

// needFullToEmbed is needFull where the settings name an embedding server, which git-rekal does not ask. Without
// git-rekal-full words alone answer.
func (app *App) needFullToEmbed(w *workspace.Workspace) {
	conf, err := w.Settings()
	if err != nil || app.Full != nil || app.oneOfMany || conf.Embed.IsOff() || conf.Embed.IsBuiltIn() {
		return
	}
	if err := app.needFull(); err != nil {
		app.notify(explain(err))
	}
}

// startedBy is the variable in which git-rekal tells git-rekal-full where it lies. It goes no further.
const startedBy = "REKAL_STARTED_BY"

// errNotFull is a git-rekal that was installed under git-rekal-full's name.
var errNotFull = advice.New(fullName+" is another git-rekal", "install both of one version")

// The names of the two programs.
const (
	smallName = "git-rekal"
	fullName  = "git-rekal-full"
)

// errNoFull is an installation with git-rekal alone.
var errNoFull = advice.New(fullName+" is not installed, which this needs",
	"install it beside git-rekal, or in ../libexec/git-rekal")

// errNoWeights is an installation without the weights of the model.
var errNoWeights = advice.New("the model's file "+model.File+" is not installed",
	`install it beside git-rekal, or in ../libexec/git-rekal`)

// findWeights is where the weights of the model lie.
func (app *App) findWeights() (string, error) {
	return beside(app.Exe, model.File, "../libexec/git-rekal", errNoWeights)
}

// fullPath is where git-rekal-full lies.
func (app *App) fullPath() (string, error) {
	return beside(app.Exe, fullName, "../libexec/git-rekal", errNoFull)
}

// beside finds a file that was installed with a program: in the program's folder, as built, or in another one from
// there, as installed.
func beside(exe, name, folder string, missing error) (string, error) {
	if !filepath.IsAbs(exe) { // the system does not tell where we are; the working directory may be a stranger's
		return "", missing
	}
	places := []string{exe}
	if target, err := filepath.EvalSymlinks(exe); err == nil && target != exe {
		places = append(places, target)
	}
	for _, place := range places {
		for _, in := range []string{".", folder} {
			path := filepath.Join(filepath.Dir(place), in, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	return "", missing
}
