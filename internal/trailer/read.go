package trailer

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Said is what a line of a commit's message says: that an agent helped.
type Said struct {
	Line    string // as it stands there, cut
	Key     string // in lower case
	Agent   string // as ledgers call it, else what stands there
	Model   string // "" where none is named
	Session string // the agent's own ID of the session; "" where none is named
}

// reader takes the value of a line apart; ok is false where it names no agent.
type reader func(value string) (s Said, ok bool)

// readers are the lines that name agents or their sessions, by key. Entire's "Entire-Checkpoint:" names neither:
// package archive has the checkpoints.
//
//nolint:gochecknoglobals // a table
var readers = map[string]reader{
	"assisted-by":     readHelper,
	"generated-by":    readHelper,
	"ai-assisted-by":  readHelper,
	"ai-generated-by": readHelper,
	"co-authored-by":  readAuthor,
	"claude-session":  sessionOf("claude-code"), // Claude Code on the web
	"duo-session":     sessionOf("gitlab-duo"),  // GitLab
	"agent-logs-url":  sessionOf("copilot-cli"), // GitHub's coding agent
}

// known is an agent with the addresses that name it in commits, of which the first is written. An address that begins
// with "+" is the end of one that GitHub gives to accounts.
type known struct {
	agent, name string
	addresses   []string
}

//nolint:gochecknoglobals // a table; each as the agent itself, or its host, writes it
var agents = []known{
	{"claude-code", "Claude", []string{"noreply@anthropic.com", "+claude[bot]@users.noreply.github.com"}},
	{"codex", "Codex", []string{
		"noreply@openai.com", "codex@openai.com", "+chatgpt-codex-connector[bot]@users.noreply.github.com",
		"+codex@users.noreply.github.com",
	}},
	{"copilot-cli", "Copilot", []string{
		"223556219+Copilot@users.noreply.github.com",
		"+copilot@users.noreply.github.com",
	}},
	{"cursor", "Cursor", []string{"cursoragent@cursor.com"}},
	{"gemini-cli", "gemini-cli", []string{
		"gemini-cli@google.com", "+gemini-cli@users.noreply.github.com", "+gemini-cli[bot]@users.noreply.github.com",
		"+gemini-code-assist[bot]@users.noreply.github.com",
	}},
	{"opencode", "opencode", []string{"noreply@opencode.ai"}},
	{"qwen-code", "Qwen-Coder", []string{"qwen-coder@alibabacloud.com"}},
	{"droid", "factory-droid[bot]", []string{
		"138933559+factory-droid[bot]@users.noreply.github.com",
		"+factory-droid[bot]@users.noreply.github.com",
	}},
	{"aider", "aider", []string{"aider@aider.chat", "noreply@aider.chat"}},
	{"amp", "Amp", []string{"amp@ampcode.com"}},
	{"crush", "Crush", []string{"crush@charm.land"}},
	{"devin", "Devin", []string{"+devin-ai-integration[bot]@users.noreply.github.com"}},
	{"jules", "Jules", []string{"+google-labs-jules[bot]@users.noreply.github.com"}},
	{"openhands", "OpenHands", []string{"openhands@all-hands.dev"}},
}

// Bounds of what is read of one message.
const (
	maxRead = 100 // lines
	maxLine = 300 // bytes
)

// line is one that may be a trailer, or go on with the one before it.
var line = lazy.Expr(`^(?:[A-Za-z0-9][A-Za-z0-9-]*[ \t]*:|[ \t]+\S|\(cherry picked from commit )`)

// paragraphs are parted by blank lines.
var paragraphs = lazy.Expr(`\n(?:[ \t]*\n)+`)

// InMessage reads the lines of a message that name agents. Such a line stands in a paragraph of trailers, which a
// squash may have in its middle; one that names a session may stand anywhere.
func InMessage(message string) (out []Said) {
	_, message, _ = strings.Cut(strings.ReplaceAll(message, "\r\n", "\n"), "\n") // the subject is none
	for _, paragraph := range paragraphs.Split(message, -1) {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		isText := slices.ContainsFunc(lines, func(l string) bool { return !line.MatchString(l) })
		for _, l := range lines {
			if s, ok := Read(l); ok && (s.Session != "" || !isText) && len(out) < maxRead && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// Read reads one line of a message; ok is false for a line that names no agent.
func Read(text string) (s Said, ok bool) {
	key, value, ok := strings.Cut(text, ":")
	key, value = strings.ToLower(strings.TrimRight(key, " \t")), strings.TrimSpace(value)
	read := readers[key]
	if !ok || read == nil || value == "" || len(text) > maxLine {
		return Said{}, false
	}
	if s, ok = read(value); !ok {
		return Said{}, false
	}
	s.Line, s.Key = strings.TrimSpace(text), key
	return s, true
}

// sessionID is the end of a line that names a session, mostly as an address.
var sessionID = lazy.Expr(`^(?:\S*/)?([\w-]{8,100})$`)

func sessionOf(agent string) reader {
	return func(value string) (Said, bool) {
		m := sessionID.FindStringSubmatch(value)
		if m == nil {
			return Said{}, false
		}
		return Said{Agent: agent, Session: m[1]}, true
	}
}

// address is the one in "Name <address>".
var address = lazy.Expr(`^(.*?)\s*<([^<>\s]+)>$`)

// readAuthor reads "Claude Opus 4.5 <noreply@anthropic.com>". A person's is none.
func readAuthor(value string) (Said, bool) {
	m := address.FindStringSubmatch(value)
	if m == nil {
		return Said{}, false
	}
	agent := agentAt(m[2])
	return Said{Agent: agent, Model: modelIn(m[1])}, agent != ""
}

func agentAt(email string) string {
	email = strings.ToLower(email)
	for _, k := range agents {
		for _, a := range k.addresses {
			if a = strings.ToLower(a); email == a || a[0] == '+' && strings.HasSuffix(email, a) {
				return k.agent
			}
		}
	}
	return ""
}

// readHelper reads "AGENT:MODEL [TOOL…]", as the kernel has it, "AGENT (MODEL)", "MODEL via AGENT" and "AGENT MODEL".
// An address behind it is left out.
func readHelper(value string) (Said, bool) {
	at := ""
	if m := address.FindStringSubmatch(value); m != nil {
		value, at = m[1], agentAt(m[2])
		if at == "" && modelIn(value) == "" && !isKnown(agentNamed(value)) {
			return Said{}, false // a person helped
		}
	}
	agent, model := splitHelper(value)
	if agent = agentNamed(agent); at != "" {
		agent = at
	}
	return Said{Agent: agent, Model: model}, agent != ""
}

func splitHelper(value string) (agent, model string) {
	if name, rest, ok := strings.Cut(value, ":"); ok {
		model, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
		return name, orNothing(model)
	}
	if before, after, ok := strings.Cut(value, " via "); ok {
		return after, before
	}
	if name, rest, ok := strings.Cut(value, "("); ok {
		model, _, _ = strings.Cut(rest, ")")
		return strings.TrimSpace(name), orNothing(model)
	}
	return value, modelIn(value)
}

func orNothing(model string) string {
	if model == unknown {
		return ""
	}
	return model
}

// modelIn is a name if it has a number, as names of models have, and of no version of a program alone.
func modelIn(name string) string {
	if words := wordsOf(name); len(words) > 1 && strings.ContainsAny(name, "0123456789") {
		return name
	}
	return ""
}

// vendors stand before the names of their agents.
const vendors = " github openai google anthropic factory the "

// agentNamed is an agent as ledgers call it, by the first word of its name: "Claude Code", "GitHub Copilot",
// "gemini-2.5-pro".
func agentNamed(name string) string {
	words := slices.DeleteFunc(wordsOf(name), func(w string) bool { return strings.Contains(vendors, " "+w+" ") })
	if len(words) == 0 {
		return strings.TrimSpace(name)
	}
	for _, k := range agents {
		if first, _, _ := strings.Cut(k.agent, "-"); first == words[0] {
			return k.agent
		}
	}
	for _, agent := range session.Agents() {
		if first, _, _ := strings.Cut(agent, "-"); first == words[0] && agent != session.Imported {
			return agent
		}
	}
	return strings.TrimSpace(name)
}

func isKnown(agent string) bool {
	return slices.Contains(session.Agents(), agent) ||
		slices.ContainsFunc(agents, func(k known) bool { return k.agent == agent })
}

// word is a part of a name: letters, or digits.
var word = lazy.Expr(`[a-z]+|[0-9]+`)

// wordsOf are the words of a name, in lower case.
func wordsOf(name string) []string { return word.FindAllString(strings.ToLower(name), -1) }

// date is one behind a model's name.
var date = lazy.Expr(`^20[0-9]{6}$`)

// SameModel reports whether two names may mean one model: "Opus 4.5", "claude-opus-4-5-20251101",
// "anthropic/claude-opus-4.5". A name that is not known may be any.
func SameModel(a, b string) bool {
	x, y := modelWords(a), modelWords(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	for at := range len(y) - len(x) + 1 {
		if slices.Equal(x, y[at:at+len(x)]) {
			return true
		}
	}
	return len(x) == 0
}

func modelWords(name string) []string {
	name, _, _ = strings.Cut(name, "(")
	name = name[strings.LastIndexByte(name, '/')+1:]
	return slices.DeleteFunc(wordsOf(name), date.MatchString)
}
