// Package check compares what commits say of agents that helped with what is known of their lines, by a project's
// rules.
//
// In: rules, and commits as package ask knows them. Out: findings, each with its evidence, and their forms for
// machines. It is pure and never guesses: what this clone can't see is told as such, and is no finding.
//
//	false: "Co-authored-by: Copilot <…>": the lines are of claude-code (wrote auth.go:3 and 8 lines more)
package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

// The states of findings.
const (
	Missing  = "missing"  // something that the rule wants is not there
	False    = "false"    // the commit says what is known to be otherwise
	Doubtful = "doubtful" // the commit says what nothing that is known speaks for
	Refused  = "refused"  // the rule forbids it
	Unseen   = "unseen"   // this clone can't tell
)

// Rule is one that commits are held to.
type Rule struct {
	text string
	name string
	most int    // of RuleUnknown, in percent
	glob string // of RuleAgent and RuleModel, in lower case
}

// The names of rules.
const (
	ruleTruth    = "truth"      // what trailers say is not false
	ruleTrailers = "trailers"   // and those who helped have one
	ruleUnknown  = "unknown"    // unknown=N: of at most N % of the lines nobody knows who wrote them
	ruleVerified = "verified"   // sessions are signed by a key of their author
	ruleShared   = "shared"     // a remote has the sessions
	rulePrivate  = "no-private" // no private sessions
	ruleAgent    = "agent"      // agent=GLOB: no others
	ruleModel    = "model"      // model=GLOB: no others
)

// Statement is the rule that a statement says what this clone knows.
const Statement = "statement"

// Default is the rule where a project has none.
const Default = ruleTruth

// Parse reads a rule.
func Parse(text string) (Rule, error) {
	name, value, hasValue := strings.Cut(text, "=")
	r := Rule{text: text, name: name}
	switch name {
	case ruleTruth, ruleTrailers, ruleVerified, ruleShared, rulePrivate:
		if !hasValue {
			return r, nil
		}
	case ruleUnknown:
		n, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
		if r.most = n; err == nil && n >= 0 && n <= 100 {
			return r, nil
		}
	case ruleAgent, ruleModel:
		r.glob = strings.ToLower(value)
		if _, err := path.Match(r.glob, ""); err == nil && value != "" {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("%q is none of trailers, truth, unknown=PERCENT, verified, shared, no-private, agent=GLOB and model=GLOB", text)
}

// Rules are those of one project.
type Rules []Rule

// CountLines reports whether the lines of a commit must be counted for them.
func (all Rules) CountLines(h result.Helped) bool {
	return all.has(ruleUnknown) || slices.ContainsFunc(h.Named, func(said result.NamedBy) bool {
		return !slices.ContainsFunc(h.Helpers, func(helper result.Helper) bool { return Names(said, helper) })
	})
}

// Text is the rules as they were given.
func (all Rules) Text() []string {
	out := []string{}
	for _, r := range all {
		out = append(out, r.text)
	}
	return out
}

func (all Rules) has(name string) bool {
	return slices.ContainsFunc(all, func(r Rule) bool { return r.name == name })
}

// globs are those of all rules with a name: each of them allows what it fits.
func (all Rules) globs(name string) (out []string) {
	for _, r := range all {
		if r.name == name {
			out = append(out, r.glob)
		}
	}
	return out
}

// Check holds commits to rules. A key is how those who helped are to be named; "" for any line that names them.
func (all Rules) Check(rev, key string, commits []result.Helped) result.Checked {
	out := result.Checked{
		Schema: result.Schema, Range: rev, Rules: all.Text(), Findings: []result.CheckFinding{},
		Unseen: []result.CheckFinding{},
	}
	for _, h := range commits {
		c := commit{Helped: h, key: strings.ToLower(key)}
		if !h.Merge {
			out.Commits++
			c.check(all)
		}
		for _, f := range c.out {
			if f.State == Unseen {
				out.Unseen = append(out.Unseen, f)
			} else {
				out.Findings = append(out.Findings, f)
			}
		}
	}
	return out
}

// check holds a commit to rules.
func (c *commit) check(all Rules) {
	h := c.Helped
	if h.Unseen != "" {
		c.add("", Unseen, h.Unseen, "")
		return
	}
	if all.has(ruleTruth) || all.has(ruleTrailers) {
		c.checkTruth(cmp.Or(all.nameOf(ruleTrailers), ruleTruth))
	}
	if all.has(ruleTrailers) {
		c.checkTrailers()
	}
	for _, r := range all {
		if r.name == ruleUnknown {
			c.checkUnknown(r)
		}
	}
	for _, helper := range h.Helpers {
		c.checkAllowed(ruleAgent, all.globs(ruleAgent), helper, helper.Agent)
		c.checkAllowed(ruleModel, all.globs(ruleModel), helper, helper.Model)
		for _, s := range helper.Sessions {
			c.checkSession(all, helper, s)
		}
	}
}

func (all Rules) nameOf(name string) string {
	if all.has(name) {
		return name
	}
	return ""
}

// commit is one that is held to rules.
type commit struct {
	result.Helped
	key string
	out []result.CheckFinding
}

func (c *commit) add(rule, state, text, evidence string) {
	c.out = append(c.out, result.CheckFinding{
		Commit: c.Commit, Subject: c.Subject, Rule: rule, State: state, Text: text,
		Evidence: evidence,
	})
}

// checkTruth looks at what the message says.
func (c *commit) checkTruth(rule string) {
	for _, said := range c.Named {
		var of []result.Helper
		for _, h := range c.Helpers {
			if Names(said, h) {
				of = append(of, h)
			}
		}
		switch {
		case len(of) > 0:
			c.checkModel(rule, said, of)
		case slices.Contains(c.Inferred, said.Agent):
		case slices.Contains(c.Talked, said.Agent):
			c.add(rule, Doubtful, fmt.Sprintf("%q: a session of %s only talked meanwhile", said.Line, said.Agent),
				evidenceOf(c.Helpers))
		case len(c.Helpers) > 0 && c.Unknown != nil && *c.Unknown == 0 && *c.Lines > 0:
			c.add(rule, False, fmt.Sprintf("%q: all lines are of %s", said.Line, namesOf(c.Helpers)), evidenceOf(c.Helpers))
		case len(c.Helpers) > 0:
			c.add(rule, Doubtful, fmt.Sprintf("%q: who is known to have helped is %s", said.Line, namesOf(c.Helpers)),
				evidenceOf(c.Helpers))
		default:
			c.add(rule, Doubtful, fmt.Sprintf("%q: no session is known that helped", said.Line), "")
		}
	}
}

// checkModel looks at the model that a line names, beside those of the sessions of its agent.
func (c *commit) checkModel(rule string, said result.NamedBy, of []result.Helper) {
	if !slices.ContainsFunc(of, func(h result.Helper) bool {
		return trailer.SameModel(said.Model, h.Model) ||
			said.Model == h.Agent
	}) {
		c.add(rule, False, fmt.Sprintf("%q: the model was %s", said.Line, namesOf(of)), evidenceOf(of))
	}
}

// Names reports whether a line names a helper: by its agent, or by its model where that is all that it says.
func Names(said result.NamedBy, h result.Helper) bool {
	return said.Agent == h.Agent || said.Model != "" && h.Model != "" && trailer.SameModel(said.Model, h.Model)
}

// checkTrailers looks for who helped and is not named.
func (c *commit) checkTrailers() {
	for _, h := range c.Helpers {
		if h.Trailer == "" { // the form has no words for it
			continue
		}
		isNamed := func(said result.NamedBy) bool {
			key, _, _ := strings.Cut(strings.ToLower(said.Line), ":")
			return Names(said, h) && (c.key == "" || key == c.key)
		}
		if !slices.ContainsFunc(c.Named, isNamed) {
			c.add(ruleTrailers, Missing, fmt.Sprintf("%q", h.Trailer), evidenceOf([]result.Helper{h}))
		}
	}
}

func (c *commit) checkUnknown(r Rule) {
	switch {
	case len(c.Helpers)+len(c.Inferred) == 0: // no session is behind it: a person may have written all of it
	case c.Lines == nil:
		c.add(ruleUnknown, Unseen, "what it was made on is not here, so its lines can't be counted", "")
	case 100**c.Unknown > r.most**c.Lines:
		c.add(ruleUnknown, Refused, fmt.Sprintf("nobody knows who wrote %d of %d lines, more than %d %%", *c.Unknown,
			*c.Lines, r.most), "")
	}
}

func (c *commit) checkAllowed(rule string, globs []string, h result.Helper, name string) {
	fits := func(glob string) bool { ok, _ := path.Match(glob, strings.ToLower(name)); return ok }
	switch {
	case len(globs) == 0 || slices.ContainsFunc(globs, fits):
	case name == "":
		c.add(rule, Unseen, "no ledger says which model "+h.Agent+" used", evidenceOf([]result.Helper{h}))
	default:
		c.add(rule, Refused, fmt.Sprintf("%s is not %s", name, strings.Join(globs, " or ")), evidenceOf([]result.Helper{h}))
	}
}

func (c *commit) checkSession(all Rules, h result.Helper, s result.HelperSession) {
	is := fmt.Sprintf("session %s of %s by %s", s.ID, h.Agent, s.Author)
	if all.has(ruleVerified) && !s.Verified {
		c.add(ruleVerified, Missing, is+" is signed by no key that is known to be its author's", sessionEvidence(s))
	}
	if all.has(ruleShared) && !s.Shared {
		c.add(ruleShared, Missing, is+": no remote is known to have what it did", sessionEvidence(s))
	}
	if all.has(rulePrivate) && s.Private {
		c.add(rulePrivate, Refused, is+" is private", sessionEvidence(s))
	}
}

// namesOf lists helpers: "claude-code (claude-opus-4-6)".
func namesOf(helpers []result.Helper) string {
	var out []string
	for _, h := range helpers {
		name := h.Agent
		if h.Model != "" {
			name += " (" + h.Model + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// evidenceOf is by what helpers are known to have helped.
func evidenceOf(helpers []result.Helper) string {
	var out []string
	for _, h := range helpers {
		for _, s := range h.Sessions {
			out = append(out, sessionEvidence(s))
		}
	}
	return strings.Join(out, "; ")
}

func sessionEvidence(s result.HelperSession) string {
	return strings.TrimSpace(s.ID + " " + s.Tie + " " + s.Evidence)
}
