package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/check"
	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// exportStatement prints an in-toto statement on commits, in an envelope if it is to be signed. It names sessions, none
// of their texts: what was sent stays in it, for clones with the same ledgers make the same of it.
func (c *exportOptions) exportStatement(ctx context.Context, app *App) error {
	as := ask.Opening{Reader: app.reader(), Sent: true}
	return app.withMoment(ctx, as, func(w *workspace.Workspace, at *ask.Moment) error {
		s, err := at.Statement(ctx, c.rev, nil)
		if err != nil {
			return err // it names the operand
		}
		text, err := provenance.StatementText(s)
		if err == nil && c.sign {
			text, err = sealed(ctx, app, w, text)
		}
		if err == nil {
			_, err = app.Stdout.Write(text)
		}
		return err
	})
}

func sealed(ctx context.Context, app *App, w *workspace.Workspace, text []byte) ([]byte, error) {
	signer, err := w.Signer(ctx)
	if err != nil {
		return nil, err
	}
	signer.Stderr = app.Stderr
	signed, err := signer.Sign(ctx, provenance.PAE(text))
	if err != nil {
		return nil, err
	}
	return provenance.Seal(text, signed)
}

// maxStatement is how many bytes of a statement are read.
const maxStatement = 64 << 20

// runStatement compares a statement with what this clone knows, and verifies its signature.
func (c *checkOptions) runStatement(ctx context.Context, app *App) error {
	text, err := readStatementFile(app.Path(c.statement))
	if err != nil {
		return err
	}
	app.Public = true
	as := ask.Opening{Reader: app.reader(), Sent: true}
	return app.withMoment(ctx, as, func(w *workspace.Workspace, at *ask.Moment) error {
		out, err := c.checkStatement(ctx, app, w, at, text)
		if err != nil {
			return err
		}
		return c.answer(ctx, app, w, out)
	})
}

func readStatementFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxStatement))
}

func (c *checkOptions) checkStatement(ctx context.Context, app *App, w *workspace.Workspace, at *ask.Moment,
	text []byte,
) (result.Checked, error) {
	out := result.Checked{
		Schema: result.Schema, Rules: []string{check.Statement}, Findings: []result.CheckFinding{},
		Unseen: []result.CheckFinding{},
	}
	add := func(state, what string) {
		out.Findings = append(out.Findings, result.CheckFinding{Rule: check.Statement, State: state, Text: what})
	}
	said, payload, signed, err := provenance.ReadStatement(text)
	if err != nil {
		add(check.False, err.Error())
		return out, nil //nolint:nilerr // it is what was found
	}
	out.Range, out.Commits = said.Predicate.Range, len(said.Predicate.Commits)
	tips := map[string]string{}
	for _, l := range said.Predicate.Ledgers {
		tips[l.Ledger] = l.Commit
	}
	known, err := at.Statement(ctx, said.Predicate.Range, tips)
	if err != nil {
		return out, err
	}
	again, err := provenance.StatementText(known)
	if err != nil {
		return out, err
	}
	if !bytes.Equal(again, payload) {
		out.Findings = append(out.Findings, differences(said, known)...)
	}
	if signed != nil {
		who, err := w.Verify(ctx, provenance.PAE(payload), signed)
		if err != nil {
			add(check.Doubtful, err.Error())
		} else {
			app.notify("signed by " + printable(who))
		}
	}
	return out, nil
}

// differences are where a statement says otherwise than this clone knows.
func differences(said, known result.Statement) (out []result.CheckFinding) {
	same := func(a, b any) bool {
		var x, y bytes.Buffer
		return errors.Join(result.Write(&x, a), result.Write(&y, b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
	}
	add := func(commit, text string) {
		out = append(out, result.CheckFinding{Commit: commit, Rule: check.Statement, State: check.False, Text: text})
	}
	for _, c := range said.Predicate.Commits {
		i := slices.IndexFunc(known.Predicate.Commits, func(k result.StatementCommit) bool { return k.Commit == c.Commit })
		if i < 0 || !same(c, known.Predicate.Commits[i]) {
			add(c.Commit, "who helped is known otherwise here")
		}
	}
	for _, s := range said.Predicate.Sessions {
		i := slices.IndexFunc(known.Predicate.Sessions, func(k result.StatementSession) bool { return k.ID == s.ID })
		if i < 0 || !same(s, known.Predicate.Sessions[i]) {
			add("", "session "+s.ID+" is known otherwise here: other parts, another author or signature")
		}
	}
	if len(out) == 0 {
		add("", "it is not, to the byte, what this clone would say of the range")
	}
	return out
}
