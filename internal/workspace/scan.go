package workspace

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/audit"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Leak is something in a ledger that today's redaction would take out.
type Leak struct {
	audit.Finding
	Ref    string // the ledger's
	Author string
	Own    bool
	Scrub  string // what names it to Scrub, in one's own ledger
}

// maxLeaks bounds how many leaks are listed; the rest is counted.
const maxLeaks = 1000

// Scanned is what reading all ledgers showed.
type Scanned struct {
	Ledgers, Segments int
	Bytes             int64
	Leaks             []Leak
	More              int // leaks beyond those listed
}

// Scan reads every ledger that is here, a segment at a time, checks that it can be read, and
// applies today's redaction. progress hears how many segments were read.
func (w *Workspace) Scan(ctx context.Context, progress func(segments int)) ([]Check, Scanned, error) {
	var out Scanned
	own := ""
	d := &doctor{Workspace: w}
	if a, err := w.Author(ctx); err == nil {
		own = a.Ledger.Ref()
		if _, err := a.Ledger.Check(); err != nil {
			d.say("ledger", Wrong, "", "%v", err)
		} else if tip, err := a.Ledger.Tip(); err == nil && tip == "" && w.Ready() == nil {
			d.say("ledger", Wrong, reinstall, "there is no %s", own)
		}
	}
	heads, err := ledger.Heads(w.Repo)
	if err != nil {
		return nil, out, err
	}
	redactor, seen := w.redactor(), map[git.OID]bool{}
	for _, h := range heads {
		leaks := 0
		health, err := ledger.Inspect(ctx, w.Repo, h, seen, func(c ledger.Commit, e session.Entry) error {
			clean, _, err := redactor.Apply(ctx, e)
			if err != nil {
				return err
			}
			for _, f := range audit.Findings(e, clean.Entry()) {
				leaks++
				if len(out.Leaks) == maxLeaks {
					out.More++
					continue
				}
				l := Leak{Finding: f, Ref: h.Ref, Author: h.Email, Own: h.Ref == own}
				if l.Own {
					l.Scrub = f.ID(string(c.OID))
				}
				out.Leaks = append(out.Leaks, l)
			}
			out.Segments++
			progress(out.Segments)
			return nil
		})
		if ctx.Err() != nil {
			return nil, out, fmt.Errorf("workspace: %w", ctx.Err())
		}
		out.Ledgers++
		out.Bytes += health.Bytes
		d.health(h, health, err, leaks)
	}
	return d.out, out, nil
}

// health says how one ledger is.
func (d *doctor) health(h ledger.Head, health ledger.Health, err error, leaks int) {
	fix, scrub := fmt.Sprintf("ask %s", h.Email), fmt.Sprintf("ask %s to scrub it", h.Email)
	if h.Remote == "" {
		fix, scrub = "", "git rekal scrub ID, as listed below"
	}
	if err != nil {
		d.say("ledger", Wrong, fix, "%s can't be read: %v", h.Ref, err)
		return
	}
	well := true
	if n := len(health.Unreadable); n > 0 {
		well = false
		d.say("ledger", Wrong, fix, "%s: %s can't be read, the first: %v", h.Ref, plural(n, "segment"), health.Unreadable[0])
	}
	if health.Foreign > 0 {
		well = false
		d.say("ledger", Wrong, fix, "%s: %s by somebody else, which counts for nothing", h.Ref, plural(health.Foreign, "checkpoint"))
	}
	if leaks > 0 {
		well = false
		d.say("ledger", Wrong, scrub, "%s: %s that today's rules redact", h.Ref, plural(leaks, "place"))
	}
	if well {
		d.say("ledger", Well, "", "%s: %s, %s, nothing to redact", h.Ref, plural(health.Commits, "commit"), plural(health.Segments, "segment"))
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
