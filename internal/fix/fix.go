// Package fix finds how an error was mended before: a command that failed with it, and passed later in the same session
// or on the same branch.
//
// In: the terms of an error, with its command where that is known, an open index, and records. Out: pairs of a failure
// and a pass, the best first, with what was changed in between and what the agent said. It quotes, and guesses nothing:
// where no failure is much like the error, it finds none.
//
// Two failures are alike by the terms of their errors, a rare term more than a common one (package failure). Of the
// passes behind a failure the nearest counts. What stands behind a commit comes first, and what a commit reverted never
// counts. It never writes.
package fix

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/failure"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Request is an error.
type Request struct {
	Output  string        // what the command printed
	Terms   session.Terms // of it, where Output is not at hand
	Command string        // "" where nobody says
	Without []string      // sessions that don't count: the running one
	Limit   int           // how many results
	Brief   bool          // only which command failed and passed where, and what was changed
}

// Finder is what is asked.
type Finder struct {
	Index   *db.DB
	Repo    *git.Repo
	Records *records.View  // nil: none
	History history.Memory // of walks; nil for none
}

// How alike errors must be, 0 to 1: where the command is the same, less will do. Terms that are all common say nothing.
// Measured on real sessions (docs/lab/agents.md).
const (
	alike        = 0.75
	alikeCommand = 0.65
	sameCommand  = 1.15 // how many times its score a failure of the same command counts
	otherNames   = 0.5  // the same of errors that name other things
	leastWeight  = 1.2  // of the shared terms
)

// leastShare is how much of an error's weight a failure must share to be looked at.
const leastShare = 0.15

// looked is how many failures are looked at for a pass.
const looked = 200

// candidate is a failure that is like the error.
type candidate struct {
	session string
	call    session.ToolCall
	record  *records.Record // where it is one of no session
	terms   []string        // that it shares
	score   float64

	pass *pass
}

// Find answers a request.
func (f Finder) Find(ctx context.Context, req Request) (out result.Fix, err error) {
	out = result.Fix{Schema: result.Schema, Command: req.Command, Terms: []string{}, Results: []result.Mended{}}
	if req.Output == "" && req.Terms == "" {
		if req, err = f.lastFailure(ctx, req); err != nil {
			return out, err
		}
		out.Command = req.Command
	}
	terms := req.Terms
	if terms == "" {
		terms = failure.Terms(req.Output, true)
	}
	if terms == "" {
		return out, nil
	}
	out.Terms = terms.List()
	found, err := f.candidates(ctx, req, out.Terms)
	if err != nil {
		return out, err
	}
	pairs, err := f.pairs(ctx, found)
	if err != nil {
		return out, err
	}
	for _, c := range pairs {
		if len(out.Results) == max(req.Limit, 1) {
			break
		}
		m, ok, err := f.tell(ctx, req, c)
		if err != nil {
			return out, err
		}
		if ok {
			out.Results = append(out.Results, m)
		}
	}
	return out, nil
}

// lastFailure makes a request of the last command that failed here: of a record, or of a session.
func (f Finder) lastFailure(ctx context.Context, req Request) (Request, error) {
	session, call, at, err := f.Index.LastFailure(ctx)
	if err != nil {
		return req, err
	}
	if f.Records != nil {
		last, err := f.Records.Failed(ctx, 1)
		if err != nil || len(last) > 0 && last[0].At.After(at) {
			if err == nil {
				req.Command, req.Output = last[0].Command, last[0].Text
			}
			return req, err
		}
	}
	if session != "" {
		req.Command, req.Terms, req.Without = call.Cmd, call.Terms, append(req.Without, session)
	}
	return req, nil
}

// candidates are the failures that are like an error, the most alike first.
func (f Finder) candidates(ctx context.Context, req Request, terms []string) ([]candidate, error) {
	found, counts, all, err := f.Index.FailuresBy(ctx, terms)
	if err != nil {
		return nil, err
	}
	w, form := newWeights(counts, all), command.Form(req.Command)
	var out []candidate
	for _, c := range mostShared(found, req.Without, w, leastShare*w.sum(terms)) {
		if c.call, err = f.Index.FailedCall(ctx, c.session, c.call.Index); err != nil {
			return nil, err
		}
		if c.score = w.alike(terms, c.call.Terms.List(), c.terms); c.isAlike(form) {
			out = append(out, c)
		}
	}
	ran, err := f.recordCandidates(ctx, terms, form, w)
	out = append(out, ran...)
	for i, c := range out {
		if isSameCommand(command.Form(c.call.Cmd), form) {
			out[i].score = min(1, c.score*sameCommand)
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.session, a.session),
			cmp.Compare(b.call.Index, a.call.Index))
	})
	return out[:min(len(out), looked)], err
}

// maxShared is how many failures are read, those that share most.
const maxShared = 400

// mostShared are the failures that share most of an error's terms, but for those that share less weight than some.
func mostShared(found []db.FailedCall, without []string, w weights, least float64) (out []candidate) {
	type key struct {
		session string
		i       int
	}
	at := map[key]int{}
	for _, c := range found {
		k := key{c.Session, c.Index}
		i, ok := at[k]
		if !ok {
			i, at[k] = len(out), len(out)
			out = append(out, candidate{session: c.Session, call: session.ToolCall{Index: c.Index}})
		}
		out[i].terms = append(out[i].terms, c.Term)
	}
	out = slices.DeleteFunc(out, func(c candidate) bool {
		weight := w.sum(c.terms)
		return weight < max(least, leastWeight) || slices.Contains(without, c.session)
	})
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(w.sum(b.terms), w.sum(a.terms)), cmp.Compare(b.session, a.session),
			cmp.Compare(b.call.Index, a.call.Index))
	})
	return out[:min(len(out), maxShared)]
}

// isAlike reports whether a failure is enough like the error of a command.
func (c candidate) isAlike(form []string) bool {
	return c.score >= alike || c.score >= alikeCommand && isSameCommand(command.Form(c.call.Cmd), form)
}

func isSameCommand(a, b []string) bool { return command.Passes(a, b) || command.Passes(b, a) }

// maxRan is how many records of commands that somebody ran are looked at, the latest first.
const maxRan = 200

// recordCandidates are the failures of commands that somebody ran without an agent.
func (f Finder) recordCandidates(ctx context.Context, terms, form []string, w weights) (out []candidate, err error) {
	if f.Records == nil {
		return nil, nil
	}
	all, err := f.Records.Failed(ctx, maxRan)
	for i, r := range all {
		if r.From != nil {
			continue
		}
		has, of := failure.Terms(r.Text, true).List(), []string(nil)
		for _, t := range has {
			if slices.Contains(terms, t) {
				of = append(of, t)
			}
		}
		c := candidate{call: session.ToolCall{Cmd: r.Command}, record: &all[i], terms: of, score: w.alike(terms, has, of)}
		if w.sum(of) >= leastWeight && c.isAlike(form) {
			out = append(out, c)
		}
	}
	return out, err
}

// weights are how much terms tell: of a rare one more.
type weights struct {
	of    map[string]float64
	other float64 // of a term of which nothing is known
}

func newWeights(counts map[string]int, all int) weights {
	calls := float64(all)/termsOfCall + 1
	w := weights{of: map[string]float64{}, other: math.Log(1 + calls/3)}
	for t, n := range counts {
		w.of[t] = math.Log(1 + calls/float64(n+1))
		if strings.IndexByte(t, ' ') > 0 { // a message tells more than a name in it
			w.of[t] *= 1.5
		}
	}
	return w
}

// termsOfCall is how many terms a call has in the middle.
const termsOfCall = 4.5

func (w weights) sum(terms []string) (sum float64) {
	for _, t := range terms {
		weight, ok := w.of[t]
		if !ok {
			weight = w.other
		}
		sum += weight
	}
	return sum
}

// alike is the shared weight of two errors: the mean of a cosine, and of the share of the smaller one, as an output may
// hold several errors.
func (w weights) alike(a, b, shared []string) float64 {
	if len(shared) == 0 {
		return 0
	}
	of, is, both := w.sum(a), w.sum(b), w.sum(shared)
	score := (both/math.Sqrt(of*is) + both/min(of, is)) / 2
	if slices.ContainsFunc(a, failure.IsName) && slices.ContainsFunc(b, failure.IsName) &&
		!slices.ContainsFunc(shared, failure.IsName) {
		score *= otherNames
	}
	return score
}
