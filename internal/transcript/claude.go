package transcript

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
	"golang.org/x/text/unicode/norm"
)

// ClaudeCode reads the transcripts of Claude Code, versions 2.0 to 2.1.332:
//
//	<store>/<folder>/<session ID>.jsonl
//	<store>/<folder>/<session ID>/subagents/agent-<agent ID>.jsonl (and .meta.json)
//	<store>/<folder>/<session ID>/subagents/workflows/wf_<id>/agent-<agent ID>.jsonl
//	<store>/<folder>/agent-<agent ID>.jsonl                        (older versions)
//
// where <store> is ${CLAUDE_CONFIG_DIR:-~/.claude}/projects or ~/.config/claude/projects
// and <folder> encodes the working folder in which the session was started, with loss.
type ClaudeCode struct{}

// Name is the source of the sessions.
func (ClaudeCode) Name() string { return "claude-code" }

// Locate lists the transcripts that may concern the repository: all in the folders named like a worktree, and
// of the others those that search finds.
func (c ClaudeCode) Locate(ctx context.Context, env Env) (Found, error) {
	l := claudeLocator{finder: newFinder(env, c, claudeTools), own: env.getenv("CLAUDE_CODE_PROJECT_DIR_NAME")}
	for _, root := range l.places.roots {
		l.names = append(l.names, encodeFolder(root.spelling))
	}
	for _, store := range claudeStores(env) {
		for _, e := range l.list(store) {
			if ctx.Err() == nil {
				l.takeProject(filepath.Join(store, e.Name()))
			}
		}
	}
	for _, f := range l.search(ctx) {
		l.takeSubagentsOf(filepath.Join(strings.TrimSuffix(f.Path, ".jsonl"), "subagents"), f.NativeID)
	}
	slices.SortFunc(l.found.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return l.result(ctx)
}

// claudeStores are the folders that hold one folder a project, each once.
func claudeStores(env Env) []string {
	config := env.getenv("CLAUDE_CONFIG_DIR")
	if config == "" && env.Home != "" {
		config = filepath.Join(env.Home, ".claude")
	}
	var stores []string
	for _, dir := range []string{config, filepath.Join(env.Home, ".config", "claude")} {
		if !filepath.IsAbs(dir) {
			continue
		}
		store := filepath.Join(dir, "projects")
		if real, err := filepath.EvalSymlinks(store); err == nil {
			store = real
		}
		if !slices.Contains(stores, store) {
			stores = append(stores, store)
		}
	}
	return stores
}

// encodedLength is how many characters of an encoded folder name Claude Code keeps; to
// a longer one it adds a hash that is not the same in every build.
const encodedLength = 200

// encodeFolder is the name that Claude Code gives to the folder of sessions started in
// dir, without the hash of a long one: every UTF-16 unit that is no ASCII letter or
// digit becomes a hyphen.
func encodeFolder(dir string) string {
	units := utf16.Encode([]rune(norm.NFC.String(dir)))
	name := make([]byte, 0, len(units))
	for _, u := range units {
		switch {
		case u >= '0' && u <= '9', u >= 'A' && u <= 'Z', u >= 'a' && u <= 'z':
			name = append(name, byte(u))
		default:
			name = append(name, '-')
		}
	}
	return string(name[:min(len(name), encodedLength)])
}

// claudeLocator is one call of Locate.
type claudeLocator struct {
	finder
	names []string // encoded roots
	own   string   // a folder name that the user chose
}

// takeProject takes the files of one project's folder, or leaves them to be searched.
func (l *claudeLocator) takeProject(dir string) {
	ours := l.isWorktreeName(filepath.Base(dir))
	for _, e := range l.list(dir) {
		f, ok := l.describeFile(dir, e.Name(), "")
		switch {
		case ours && e.IsDir():
			l.takeSubagentsOf(filepath.Join(dir, e.Name(), "subagents"), e.Name())
		case ours && ok:
			l.found.Files = append(l.found.Files, f)
		case ok:
			l.considerBegun(f, unknownFolder)
		}
	}
}

// isWorktreeName reports whether a folder's name is that of a worktree. One that was cut short may be another's.
func (l *claudeLocator) isWorktreeName(name string) bool {
	return l.own != "" && name == l.own || len(name) < encodedLength && slices.Contains(l.names, name)
}

// takeSubagentsOf takes the transcripts of one session's subagents, and of those of its workflows.
func (l *claudeLocator) takeSubagentsOf(dir, sid string) {
	for _, e := range l.list(dir) {
		// no deeper, as links may lead in circles
		if e.IsDir() && e.Name() == "workflows" && filepath.Base(dir) == "subagents" {
			for _, run := range l.list(filepath.Join(dir, "workflows")) {
				l.takeSubagentsOf(filepath.Join(dir, "workflows", run.Name()), sid)
			}
		} else if f, ok := l.describeFile(dir, e.Name(), sid); ok && f.AgentID != "" {
			l.found.Files = append(l.found.Files, f)
		}
	}
}

// describeFile describes one transcript; ok is false for any other file.
func (l *claudeLocator) describeFile(dir, entry, sid string) (f File, ok bool) {
	stem, ok := strings.CutSuffix(entry, ".jsonl")
	if !ok || stem == "" {
		return File{}, false
	}
	stem = ledgerName(stem)
	f = File{Path: filepath.Join(dir, entry), NativeID: stem, Parent: ledgerName(sid)}
	if id, sub := strings.CutPrefix(stem, "agent-"); sub {
		f.NativeID, f.AgentID = id, id
		if sid != "" {
			f.Meta = strings.TrimSuffix(f.Path, ".jsonl") + ".meta.json"
		}
	}
	// Claude Code compacts the conversation, suggests prompts and keeps notes in agents of their own,
	// whose files begin with a copy of the session.
	return f, l.stat(&f) && !beginsWithAny(f.AgentID, "acompact-", "aprompt_suggestion-", "asession_memory-")
}

// textsOf are the texts that members of a name have in a line, as raw JSON strings. It also takes those of what a
// tool's result may hold: to decide is for Decode.
func textsOf(line []byte, member string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			_, rest, ok := bytes.Cut(line, []byte(member))
			line = bytes.TrimLeft(rest, " ")
			if !ok {
				return
			}
			if len(line) == 0 || line[0] != '"' {
				continue
			}
			if end := endOfString(line, 0); end < 0 || !yield(line[:end]) {
				return
			}
		}
	}
}

func (ClaudeCode) recognises(rec gjson.Result) (File, bool) {
	kind, agent := rec.Get("type").Str, ledgerNameOf(rec.Get("agentId"))
	f := File{NativeID: ledgerNameOf(rec.Get("sessionId"))}
	if f.NativeID == "" || kind != "user" && kind != "assistant" || !rec.Get("message.content").Exists() {
		return File{}, false
	}
	if rec.Get("isSidechain").Bool() && agent != "" { // as a subagent's own file begins
		f = File{NativeID: agent, AgentID: agent, Parent: f.NativeID}
	}
	return f, true
}
