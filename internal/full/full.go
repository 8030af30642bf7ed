// Package full puts together what git-rekal-full has beyond git-rekal: it hands the heavy packages to the command line.
package full

import (
	"context"
	"os"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/choose"
	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/embed"
	"github.com/git-rekal/git-rekal/internal/lsp"
	"github.com/git-rekal/git-rekal/internal/mcp"
	"github.com/git-rekal/git-rekal/internal/memory"
	"github.com/git-rekal/git-rekal/internal/otel"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/survival"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/internal/web"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// openServer makes a client for an embedding server.
func openServer(o workspace.ServerOptions) (workspace.EmbeddingServer, error) {
	client, err := embed.New(embed.Options(o))
	if err != nil {
		return nil, err
	}
	return client, nil
}

// Parts are all that there are.
func Parts() *cli.Full {
	return &cli.Full{
		ServeMCP: func(ctx context.Context, app *cli.App, explain func(error) string) error {
			return (&mcp.Server{Process: app.Process, Version: app.Version, Explain: explain}).Serve(ctx, app.Stdin, app.Stdout)
		},
		ServeLSP: func(ctx context.Context, app *cli.App, explain func(error) string) error {
			return (&lsp.Server{
				Process: app.Process, Version: app.Version, Explain: explain,
				CommitPage: func(w *workspace.Workspace) func(string) string {
					conf, _ := w.Settings() // doctor says what is wrong with them
					return cli.CommitPageURL(w, conf)
				},
			}).Serve(ctx, app.Stdin, app.Stdout)
		},
		NewSite: func(p workspace.Process, name string, explain func(error) string) (cli.Site, error) {
			site, err := web.New(p, name, explain)
			if err != nil {
				return nil, err
			}
			return pages{site}, nil
		},
		Choose:     chooseOne,
		OpenSQL:    openSQL,
		OpenExport: openExport,
		OpenServer: openServer,
		Traces: func(app *cli.App, s result.StorySession, usage []session.Usage, text bool) any {
			return otel.Of(s, usage, otel.Options{Version: app.Version, Text: text})
		},
		Survival: countSurvival,
		Notes: func(w *workspace.Workspace, at *ask.Moment, author workspace.Author, agent string) cli.AgentNotes {
			return memory.Notes{W: w, At: at, Author: author, Agent: agent}
		},
		EngineVersion: tables.EngineVersion,
	}
}

func countSurvival(ctx context.Context, w *workspace.Workspace, at *ask.Moment, req ask.StatsRequest,
	progress func(done, total int),
) (result.Survival, error) {
	req.Now = w.Now()
	span, err := req.Span(w.Repo)
	if err != nil {
		return result.Survival{}, err
	}
	author, _, err := at.OnlyAuthor(ctx, req.By)
	if err != nil {
		return result.Survival{}, err
	}
	c := survival.Counter{Index: at.DB, Repo: w.Repo, Dir: w.RekalDir(), Progress: progress}
	out, err := c.Count(ctx, survival.Request{
		By: req.By, Agent: req.Agent, Author: author, Since: span.Since, Until: span.Until, Now: req.Now, Limit: req.Limit,
	})
	out.Since, out.Until = req.Since, req.Until
	return out, err
}

// pages is a site whose server is one of cli's.
type pages struct{ *web.Site }

// Listen implements cli.Site.
func (p pages) Listen(port int) (cli.PageServer, error) {
	server, err := p.Site.Listen(port)
	if err != nil {
		return nil, err
	}
	return server, nil
}

func chooseOne(ctx context.Context, in, out *os.File, env []string, from cli.Choices) (cli.Chosen, error) {
	did, err := choose.Run(ctx, in, out, env, choose.Source{
		Question: from.Question, Selected: from.Selected, All: from.All, Preview: from.Preview,
		Find: func(question string) (items []choose.Item, total int, err error) {
			found, total, err := from.Find(question)
			for _, c := range found {
				items = append(items, choose.Item(c))
			}
			return items, total, err
		},
	})
	return cli.Chosen{ID: did.ID, Question: did.Question, Resume: did.Act == choose.Resume}, err
}
