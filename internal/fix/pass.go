package fix

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
)

// pass is where a command passed that had failed.
type pass struct {
	session string // "" where it was no session's
	call    session.ToolCall
	record  *records.Record
	between []session.ToolCall // edits from the failure to the pass
	commits int                // of the session since the failure
}

// maxLater is for how many failures a pass is looked for in later sessions, which takes long.
const maxLater = 5

// pairs are the failures behind which a pass stands, each pass once: what stands behind a commit before what was never
// committed, then the most alike.
func (f Finder) pairs(ctx context.Context, found []candidate) (out []candidate, err error) {
	type key struct {
		session string
		i       int
	}
	at, read := map[key]int{}, map[string][]session.ToolCall{}
	for i, c := range found {
		if c.pass, err = f.passOf(ctx, c, read); err == nil && c.pass == nil && i < maxLater {
			c.pass, err = f.laterPass(ctx, c)
		}
		if err != nil {
			return nil, err
		}
		if c.pass == nil {
			continue
		}
		k := key{cmp.Or(c.pass.session, "record"), c.pass.call.Index}
		if i, ok := at[k]; !ok {
			at[k], out = len(out), append(out, c)
		} else if c.score >= out[i].score && c.call.Index > out[i].call.Index && c.session == out[i].session {
			out[i] = c // the same error, nearer to the pass
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(int(b.score*10), int(a.score*10)), cmp.Compare(b.rank(), a.rank()),
			cmp.Compare(b.score, a.score))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(c candidate) bool { // one of each session
		again := c.session != "" && seen[c.session]
		seen[c.session] = true
		return again
	}), nil
}

// rank orders pairs that are about as much alike: a pass in the same session, and one behind which a commit stands.
func (c candidate) rank() (n int) {
	if c.pass.session == c.session {
		n = 2
	}
	return n + min(c.pass.commits, 1)
}

// passOf finds the nearest pass behind a failure in its session.
func (f Finder) passOf(ctx context.Context, c candidate, read map[string][]session.ToolCall) (_ *pass, err error) {
	form := command.Form(c.call.Cmd)
	if len(form) == 0 {
		return nil, nil
	}
	if c.record != nil {
		return f.recordPass(ctx, c, form)
	}
	calls, known := read[c.session]
	if !known {
		if calls, err = f.Index.CallsFrom(ctx, c.session, 0); err != nil {
			return nil, err
		}
		if read != nil {
			read[c.session] = calls
		}
	}
	if i := slices.IndexFunc(calls, func(call session.ToolCall) bool { return call.Index > c.call.Index }); i >= 0 {
		calls = calls[i:]
	} else {
		calls = nil
	}
	p := &pass{session: c.session}
	for i, call := range calls {
		if call.EditedPath() != "" {
			p.between = append(p.between, call)
		}
		if call.MakesCommit() && !call.Failed {
			p.commits++
		}
		if call.Cmd == "" || call.Failed || call.Exit != 0 || call.Terms != "" || command.Hides(call.Cmd) ||
			!command.Passes(command.Form(call.Cmd), form) {
			continue
		}
		p.call = call
		for _, later := range calls[i+1:] {
			if later.MakesCommit() && !later.Failed {
				p.commits++
			}
		}
		return p, nil
	}
	return nil, nil
}

// laterPass finds a pass in a later session of the branch.
func (f Finder) laterPass(ctx context.Context, c candidate) (*pass, error) {
	form := command.Form(c.call.Cmd)
	if len(form) == 0 || c.record != nil {
		return nil, nil
	}
	p := &pass{}
	program, _, _ := strings.Cut(form[len(form)-1], " ")
	later, err := f.Index.CommandsLater(ctx, c.session, program)
	for _, l := range later {
		if !command.Passes(command.Form(l.Cmd), form) {
			continue
		}
		p.session, p.call = l.Session, l.ToolCall
		calls, err := f.Index.CallsFrom(ctx, l.Session, 0)
		for _, call := range calls {
			if call.Index < l.Index && call.EditedPath() != "" {
				p.between = append(p.between, call)
			}
			if call.MakesCommit() && !call.Failed {
				p.commits++
			}
		}
		return p, err
	}
	return nil, err
}

// recordPass finds where somebody ran a command well that had failed.
func (f Finder) recordPass(ctx context.Context, c candidate, form []string) (*pass, error) {
	later, err := f.Records.PassedLater(ctx, c.record.ID, maxRan)
	for i, r := range later {
		if r.Branch == c.record.Branch && command.Passes(command.Form(r.Command), form) {
			return &pass{call: session.ToolCall{Index: r.ID, Cmd: r.Command}, record: &later[i]}, nil
		}
	}
	return nil, err
}
