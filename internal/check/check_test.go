package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/check"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

// commit is one of whose five lines a session wrote four, with a message that names agents.
func commit(message ...string) result.Helped {
	lines, unknown := 5, 1
	h := result.Helped{
		Commit: "70ee311a0b1c2d3e4f5061728394a5b6c7d8e9f0", Subject: "Read expiry", Lines: &lines, Unknown: &unknown,
		Helpers: []result.Helper{{
			Agent: "claude-code", Model: "claude-opus-4-6", Lines: 4, Trailer: "Assisted-by: claude-code:claude-opus-4-6",
			Sessions: []result.HelperSession{{ID: "01A", Author: "ann@x", Tie: "wrote", Evidence: "a.go:1", Lines: 4}},
		}},
	}
	for _, s := range trailer.InMessage("Read expiry\n\n" + strings.Join(message, "\n")) {
		h.Named = append(h.Named, result.NamedBy{Agent: s.Agent, Model: s.Model, Line: s.Line})
	}
	return h
}

func by(change func(*result.Helped), message ...string) result.Helped {
	h := commit(message...)
	change(&h)
	return h
}

const (
	claude  = "Co-authored-by: Claude <noreply@anthropic.com>"
	copilot = "Co-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>"
)

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		commit result.Helped
		rules  string
		key    string
		want   string // states, by rule
	}{
		"nothing is said":          {commit(), "truth", "", ""},
		"nothing is said, missing": {commit(), "trailers", "", "trailers missing"},
		"named":                    {commit(claude), "trailers", "", ""},
		"named otherwise":          {commit(claude), "trailers", "Assisted-by", "trailers missing"},
		"named in the form":        {commit("assisted-by: Claude:claude-opus-4-6 sparse"), "trailers", "Assisted-by", ""},
		"another model":            {commit("Assisted-by: Claude:claude-opus-4-5"), "truth", "", "truth false"},
		"only the model":           {commit("Generated-by: claude-opus-4.6"), "trailers", "", ""},
		"another agent":            {commit(copilot), "truth", "", "truth doubtful"},
		"another agent, of no line": {
			by(func(h *result.Helped) { *h.Unknown = 0 }, copilot), "truth", "", "truth false",
		},
		"one that talked": {
			by(func(h *result.Helped) { *h.Unknown, h.Talked = 0, []string{"copilot-cli"} }, copilot),
			"truth", "", "truth doubtful",
		},
		"one behind it": {
			by(func(h *result.Helped) { h.Inferred = []string{"copilot-cli"} }, copilot), "truth", "",
			"",
		},
		"nobody is known": {by(func(h *result.Helped) { h.Helpers = nil }, copilot), "truth", "", "truth doubtful"},
		"nothing can be seen": {
			by(func(h *result.Helped) { h.Unseen = "no ledger" }, copilot), "trailers,shared", "",
			" unseen",
		},
		"a merge":        {by(func(h *result.Helped) { h.Merge = true }, copilot), "trailers,shared", "", ""},
		"lines":          {commit(), "unknown=20", "", ""},
		"too few lines":  {commit(), "unknown=19%", "", "unknown refused"},
		"by hand":        {by(func(h *result.Helped) { h.Helpers, *h.Unknown = nil, 5 }), "unknown=0", "", ""},
		"lines not here": {by(func(h *result.Helped) { h.Lines = nil }), "unknown=0", "", "unknown unseen"},
		"agents":         {commit(), "agent=codex,agent=Claude-*", "", ""},
		"another":        {commit(), "agent=codex", "", "agent refused"},
		"models":         {commit(), "model=gpt-*,model=claude-sonnet-*", "", "model refused"},
		"no model":       {by(func(h *result.Helped) { h.Helpers[0].Model = "" }), "model=gpt-*", "", "model unseen"},
		"neither":        {commit(), "verified,shared,no-private", "", "verified missing,shared missing"},
		"private": {
			by(func(h *result.Helped) { h.Helpers[0].Sessions[0].Private = true }), "no-private", "",
			"no-private refused",
		},
		"the form has no word": {by(func(h *result.Helped) { h.Helpers[0].Trailer = "" }), "trailers", "Co-authored-by", ""},
	} {
		got := answer(t, c.commit, c.rules, c.key)
		var states []string
		for _, f := range append(got.Findings, got.Unseen...) {
			states = append(states, f.Rule+" "+f.State)
		}
		if diff := cmp.Diff(c.want, strings.Join(states, ",")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func answer(t *testing.T, h result.Helped, rules, key string) result.Checked {
	t.Helper()
	var all check.Rules
	for text := range strings.SplitSeq(rules, ",") {
		r, err := check.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all.Check("HEAD", key, []result.Helped{h})
}

func TestParseRefuses(t *testing.T) {
	for _, wrong := range []string{
		"", "truth=1", "unknown", "unknown=101", "unknown=-1", "unknown=x", "agent", "agent=",
		"model=[", "Truth",
	} {
		if r, err := check.Parse(wrong); err == nil {
			t.Errorf("%q is %+v", wrong, r)
		}
	}
}

// TestFormats: what others wrote ends no command of a host, and an unseen commit is no error.
func TestFormats(t *testing.T) {
	hostile := by(func(h *result.Helped) { h.Subject = "x\n::set-env name=A::b%\x1b[31m" })
	a := check.Annotations(answer(t, hostile, "trailers", ""))
	if strings.Count(a, "\n") != 1 || strings.Contains(a, "\x1b") || !strings.Contains(a, "b%25") {
		t.Errorf("%q", a)
	}
	text, err := json.Marshal(check.SARIF(answer(t, by(func(h *result.Helped) { h.Unseen = "no ledger" }), "truth", ""),
		"1.2.3"))
	if err != nil || !strings.Contains(string(text), `"ruleId":"unseen","level":"note"`) {
		t.Errorf("%s, %v", text, err)
	}
}
