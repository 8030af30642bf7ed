package transcript

import (
	"context"
	"io"

	"github.com/tidwall/gjson"
)

// Kilo reads the sessions of Kilo's CLI, version 7.7, which was made of OpenCode: its database is
// ${XDG_DATA_HOME:-~/.local/share}/kilo/kilo.db.
type Kilo struct{}

// Name is the source of the sessions.
func (Kilo) Name() string { return kilo.name }

// Locate lists the sessions that were begun in the repository, or edited a file there.
func (Kilo) Locate(ctx context.Context, env Env) (Found, error) { return kilo.locate(ctx, env) }

// Open gives a session's rows as lines.
func (Kilo) Open(ctx context.Context, opt Options) (io.ReadCloser, error) {
	return openOpenCode(ctx, opt)
}

// Decode reads the rows of one session, as Open gives them.
func (Kilo) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	return kilo.decode(ctx, r, opt)
}

// recognises knows none: what Kilo exports reads like OpenCode's.
func (Kilo) recognises(gjson.Result) (File, bool) { return File{}, false }

func (Kilo) lines(raw []byte) []byte { return OpenCode{}.lines(raw) }
