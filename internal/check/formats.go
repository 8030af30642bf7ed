package check

import (
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// sarifSchema is that of SARIF 2.1.0 (OASIS, errata 01).
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// Log is a log of SARIF 2.1.0. A commit is no file, so each result has a logical location alone; hosts that want a file
// are told by Annotations.
type Log struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	Level        string            `json:"level"` // error, warning or note
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Logical []sarifLogical `json:"logicalLocations"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// ruleIDs are the names of all rules, in the order of the pages, and of what could not be seen.
func ruleIDs() []string {
	return []string{
		ruleTruth, ruleTrailers, ruleUnknown, ruleVerified, ruleShared, rulePrivate, ruleAgent, ruleModel,
		Statement, Unseen,
	}
}

// SARIF is an answer as a log. version is git-rekal's.
func SARIF(c result.Checked, version string) Log {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "git-rekal", Version: version}}, Results: []sarifResult{}}
	for _, id := range ruleIDs() {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id})
	}
	for _, f := range append(c.Findings, c.Unseen...) {
		id := f.Rule
		if f.State == Unseen {
			id = Unseen
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: id, Level: level(f.State, "note"), Message: sarifMessage{Say(f)},
			Locations:    []sarifLocation{{[]sarifLogical{{f.Commit, "commit"}}}},
			Fingerprints: map[string]string{"commit/v1": f.Commit + " " + f.Rule + " " + f.Text},
		})
	}
	return Log{sarifSchema, "2.1.0", []sarifRun{run}}
}

// level is how bad a state is, in SARIF's words or those of annotations.
func level(state, least string) string {
	switch state {
	case Unseen:
		return least
	case Doubtful:
		return "warning"
	}
	return "error"
}

// Say is a finding in one line: "missing: …".
func Say(f result.CheckFinding) string {
	out := fmt.Sprintf("%s %s: %s: %s", result.ShortOID(f.Commit), f.Subject, f.State, f.Text)
	if f.Evidence != "" {
		out += " (" + f.Evidence + ")"
	}
	return out
}

// Annotations is an answer as commands of GitHub's workflows, which Gitea and Forgejo know, too: "::error title=…::…".
func Annotations(c result.Checked) string {
	var b strings.Builder
	for _, f := range append(c.Findings, c.Unseen...) {
		title := f.State
		if f.Rule != "" {
			title = f.Rule + ": " + f.State
		}
		fmt.Fprintf(&b, "::%s title=%s::%s\n", level(f.State, "notice"), inTitle(title), inText(Say(f)))
	}
	return b.String()
}

// inText escapes what ends or begins a command.
func inText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(result.Printable(s))
}

func inTitle(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(inText(s)) }
