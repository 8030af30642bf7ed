package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// saveInput is what the tool takes.
type saveInput struct {
	Content string `json:"content" jsonschema:"the text, at most 64 KB: what was decided or learned, and why"`
	Title   string `json:"title,omitempty" jsonschema:"one line of at most 200 characters; it weighs more than the text (default: what it rejects in words, else the text's first line)"`
	Source  string `json:"source,omitempty" jsonschema:"who or what it is from (default: the client's name)"`

	Supersedes string `json:"supersedes,omitempty" jsonschema:"ID of the memory that it replaces"`
	Rejects    string `json:"rejects,omitempty" jsonschema:"what was tried and dropped: a text, or an ID; content says why"`
}

func saveTool() *sdk.Tool {
	schema := schemaOf[saveInput]()
	p := schema.Properties
	// how long they may be, capture says better: a schema's error repeats the text
	p["content"].MinLength = jsonschema.Ptr(1)
	return &sdk.Tool{
		Name: "save_memory", Title: "Save Memory", InputSchema: schema,
		Description: `Save what was learned or decided as a memory of this repository, which recall finds at once and the team gets with the next push. ` +
			`For what the code and its commits don't say; one thing a memory. Secrets are taken out before it is stored, and what was saved before is not saved again.`,
		Annotations: &sdk.ToolAnnotations{
			Title: "Save Memory", DestructiveHint: new(bool), IdempotentHint: true,
			OpenWorldHint: new(bool),
		},
	}
}

func (t *tools) save(ctx context.Context, req *sdk.CallToolRequest, in saveInput) (*sdk.CallToolResult, any, error) {
	note := capture.Note{
		Title: in.Title, Content: in.Content, Source: cmp.Or(in.Source, clientName(req)),
		Supersedes: in.Supersedes, Rejects: in.Rejects,
	}
	out, err := t.inRepository(ctx, func(ctx context.Context, w *workspace.Workspace) (string, error) {
		if err := cmp.Or(w.CheckReady(), checkMayWrite(w)); err != nil {
			return "", err
		}
		author, err := w.Author(ctx)
		if err != nil {
			return "", err
		}
		memory, secrets, err := curate.Save(ctx, w, author, note)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("Saved memory %s | %s", memory.ID, shortLine(memory.Title))
		if memory.Existing {
			text = fmt.Sprintf("Saved before, as memory %s | %s", memory.ID, shortLine(memory.Title))
		}
		if secrets > 0 {
			text += fmt.Sprintf("\nRedacted before storing: %d", secrets)
		}
		return text, nil
	})
	return out, nil, err
}

// clientName is what the client calls itself.
func clientName(req *sdk.CallToolRequest) string {
	const unnamed = "mcp"
	p := req.Session.InitializeParams()
	if p == nil || p.ClientInfo == nil || len(p.ClientInfo.Name) > capture.MaxSource {
		return unnamed
	}
	return cmp.Or(p.ClientInfo.Name, unnamed)
}

// schemaOf is the schema of an input, as its fields' tags tell it.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // only a field of a type that JSON has not
	}
	return schema
}
