// Package trailer knows the lines of commit messages that name the agents that helped: it reads those that agents,
// hosts and people write, and writes them in a project's form.
//
// In: a line, a message; or who helped. Out: the agent and model that it names; or a line that git takes for a trailer.
// It is pure, and the one place that knows such lines: whether one is true, package check asks.
//
//	Assisted-by: claude-code:claude-opus-4-6
package trailer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Form is how a project wants agents named.
type Form struct{ key, value string }

// The forms that have a name. Assisted-by is the kernel's (Documentation/process/coding-assistants.rst: "Assisted-by:
// AGENT_NAME:MODEL_VERSION [TOOL1] [TOOL2]"; its checkpatch.pl wants `^\S+:\S+`), Generated-by that of the Apache
// Software Foundation.
//
//nolint:gochecknoglobals // a table
var forms = map[string]Form{
	"":               {"Assisted-by", "{agent}:{model}"},
	"assisted-by":    {"Assisted-by", "{agent}:{model}"},
	"generated-by":   {"Generated-by", "{agent} {model}"},
	"co-authored-by": {"Co-authored-by", "{name} <{email}>"},
}

// Helper is who helped with a commit.
type Helper struct {
	Agent, Model, Version string // "" where it is not known
	Session               string // ID of the session that wrote most
	Lines, All            int    // that it wrote, and that the commit brought; All is 0 where nobody counted
}

// values are what may stand in a template.
func (h Helper) values() map[string]string {
	out := map[string]string{
		"{agent}": plain(strings.ReplaceAll(h.Agent, ":", "-")), "{model}": plain(h.Model),
		"{version}": plain(h.Version), "{share}": "", "{session}": "",
	}
	if h.All > 0 {
		out["{share}"] = fmt.Sprint(100 * h.Lines / h.All)
	}
	if h.Session != "" {
		out["{session}"] = "rekal:" + plain(h.Session)
	}
	for _, k := range agents {
		if k.agent == h.Agent && k.addresses[0][0] != '+' {
			out["{name}"], out["{email}"] = k.name, k.addresses[0]
		}
	}
	return out
}

// unknown stands in place of what nobody knows.
const unknown = "unknown"

var (
	templateKey = lazy.Expr(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
	placeholder = lazy.Expr(` ?\{[^}]*\}`)
)

// ParseForm reads the name of a form, or a template such as "AI-Used: {agent} {model}, {share} % of the lines,
// {session}".
func ParseForm(text string) (Form, error) {
	if f, ok := forms[strings.ToLower(text)]; ok {
		return f, nil
	}
	key, value, ok := strings.Cut(text, ":")
	f := Form{key, strings.TrimSpace(value)}
	switch {
	case !ok || !templateKey.MatchString(key) || len(text) > maxLine || strings.ContainsFunc(text, unicode.IsControl):
		return Form{}, fmt.Errorf(`%q is neither assisted-by, generated-by nor co-authored-by, nor like "Key: {agent}"`, text)
	case strings.EqualFold(key, "Signed-off-by"):
		return Form{}, fmt.Errorf("%q: only people sign off", text)
	case !strings.Contains(value, "{agent}") && !strings.Contains(value, "{email}"):
		return Form{}, fmt.Errorf("%q names no {agent}", text)
	}
	for _, p := range placeholder.FindAllString(value, -1) {
		if p = strings.TrimSpace(p); !slices.Contains(placeholders, p) {
			return Form{}, fmt.Errorf("%q: %s is none of %s", text, p, strings.Join(placeholders, " "))
		}
	}
	return f, nil
}

//nolint:gochecknoglobals // a table
var placeholders = []string{"{agent}", "{model}", "{version}", "{share}", "{session}", "{name}", "{email}"}

// Counts reports whether the form says how many of the lines an agent wrote.
func (f Form) Counts() bool { return strings.Contains(f.value, "{share}") }

// Key is what stands before the colon.
func (f Form) Key() string { return f.key }

// Write is the line of a helper. It is "" where the form has an address and the agent none: nobody makes one up. What
// else is not known goes with the blank before it, or reads "unknown".
func (f Form) Write(h Helper) string {
	values, told := h.values(), true
	text := placeholder.ReplaceAllStringFunc(f.value, func(p string) string {
		name := strings.TrimSpace(p)
		value := values[name]
		switch {
		case value != "":
			return strings.Replace(p, name, value, 1)
		case name == "{email}" || name == "{name}":
			told = false
		case p[0] == ' ':
			return ""
		}
		return unknown
	})
	if !told || h.Agent == "" {
		return ""
	}
	return f.key + ": " + strings.TrimSpace(text)
}

// maxName is how much of a name is written.
const maxName = 100

// plain is the name of an agent or a model as it may stand in a line: others' ledgers say it.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r > ' ' && r < 0x7f && !strings.ContainsRune("<>\"'`$\\{}", r):
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), maxName)]
}
