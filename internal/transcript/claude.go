package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

// ClaudeCode reads the transcripts of Claude Code, versions 2.0 to 2.1.28x:
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

// Locate lists the transcripts that may concern the repository. The folders named like
// a worktree are taken as they are. In one named like something below a worktree, any
// transcript that begins inside makes it one of ours; in all others the newest decides.
// What is judged not to be ours is remembered by modification time, so that it costs
// one stat the next time.
func (ClaudeCode) Locate(ctx context.Context, env Env) (Found, error) {
	l := claudeLocator{
		env:    env,
		places: newPlaces(env.Roots),
		own:    env.getenv("CLAUDE_CODE_PROJECT_DIR_NAME"),
		found:  Found{Foreign: make(map[string]int64)},
	}
	for _, root := range l.places.roots {
		l.names = append(l.names, encodeFolder(root.spelling))
	}
	for _, store := range claudeStores(env) {
		if err := l.store(ctx, store); err != nil {
			return Found{}, err
		}
	}
	slices.SortFunc(l.found.Files, func(a, b File) int {
		if sub := btoi(a.AgentID != "") - btoi(b.AgentID != ""); sub != 0 {
			return sub
		}
		return strings.Compare(a.Path, b.Path)
	})
	return l.found, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
	env    Env
	places *places
	names  []string // encoded roots
	own    string   // a folder name that the user chose
	found  Found
}

// unreadable records what could not be read, unless it is merely not there.
func (l *claudeLocator) unreadable(step string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotFolder) {
		l.found.Unreadable = append(l.found.Unreadable, fmt.Errorf("transcript: %s: %w", step, err))
	}
}

var errNotFolder = errors.New("not a directory")

// list lists a folder. Something else in its place is not an error: agents keep other
// files there too.
func list(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if info, serr := os.Stat(dir); serr == nil && !info.IsDir() {
			return nil, errNotFolder
		}
	}
	return entries, err
}

func (l *claudeLocator) store(ctx context.Context, store string) error {
	entries, err := list(store)
	l.unreadable("list transcript store", err)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("transcript: locate: %w", err)
		}
		dir := filepath.Join(store, e.Name())
		if info, err := os.Stat(dir); err != nil {
			l.unreadable("look at project folder", err)
		} else if info.IsDir() {
			l.project(dir, info.ModTime().UnixNano())
		}
	}
	return nil
}

// project takes the files of one project's folder, or remembers it as foreign. Its
// modification time was read before its entries, so that a file added meanwhile makes
// it be judged again.
func (l *claudeLocator) project(dir string, mtime int64) {
	sure, likely := l.named(filepath.Base(dir))
	if judged, ok := l.env.Foreign[dir]; ok && judged == mtime && !sure {
		l.found.Foreign[dir] = mtime
		return
	}
	entries, err := list(dir)
	l.unreadable("list project folder", err)
	if err != nil {
		return
	}
	var files []File
	var folders []string
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		} else if f, ok := l.file(dir, e, ""); ok {
			files = append(files, f)
		}
	}
	if !sure {
		switch l.judge(files, likely) {
		case judgedForeign:
			l.found.Foreign[dir] = mtime
			return
		case judgedOpen:
			return
		}
	}
	l.found.Files = append(l.found.Files, files...)
	for _, sid := range folders {
		l.subagents(filepath.Join(dir, sid, "subagents"), sid)
	}
}

// named reports whether a folder's name is that of a worktree, and whether it can be
// that of something below one.
func (l *claudeLocator) named(name string) (sure, likely bool) {
	if l.own != "" && name == l.own {
		return true, true
	}
	for _, enc := range l.names {
		switch {
		case len(enc) == encodedLength && strings.HasPrefix(name, enc):
			likely = true
		case name == enc:
			return true, true
		case strings.HasPrefix(name, enc+"-"):
			likely = true
		}
	}
	return false, likely
}

// subagents takes the transcripts of one session's subagents.
func (l *claudeLocator) subagents(dir, sid string) {
	entries, err := list(dir)
	l.unreadable("list subagents", err)
	for _, e := range entries {
		if e.IsDir() && e.Name() == "workflows" {
			l.workflows(filepath.Join(dir, "workflows"), sid)
		} else if f, ok := l.file(dir, e, sid); ok && f.AgentID != "" {
			l.found.Files = append(l.found.Files, f)
		}
	}
}

func (l *claudeLocator) workflows(dir, sid string) {
	runs, err := list(dir)
	l.unreadable("list workflows", err)
	for _, run := range runs {
		entries, err := list(filepath.Join(dir, run.Name()))
		l.unreadable("list workflow", err)
		for _, e := range entries {
			if f, ok := l.file(filepath.Join(dir, run.Name()), e, sid); ok && f.AgentID != "" {
				l.found.Files = append(l.found.Files, f)
			}
		}
	}
}

// file describes one transcript; ok is false for any other file.
func (l *claudeLocator) file(dir string, e os.DirEntry, sid string) (f File, ok bool) {
	stem, ok := strings.CutSuffix(e.Name(), ".jsonl")
	if !ok || stem == "" {
		return File{}, false
	}
	stem = name(stem)
	f = File{Path: filepath.Join(dir, e.Name()), NativeID: stem, Parent: name(sid)}
	info, err := os.Stat(f.Path)
	if err != nil {
		l.unreadable("look at transcript", err)
		return File{}, false
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	if id, sub := strings.CutPrefix(stem, "agent-"); sub {
		f.NativeID, f.AgentID = id, id
		if sid != "" {
			f.Meta = strings.TrimSuffix(f.Path, ".jsonl") + ".meta.json"
		}
	}
	return f, info.Mode().IsRegular() && !internalAgent(f.AgentID)
}

// internalAgent reports whether an agent ID is one that Claude Code uses for itself: it
// compacts the conversation, suggests prompts and keeps notes in agents of their own,
// whose files begin with a copy of the session.
func internalAgent(id string) bool {
	for _, p := range []string{"acompact-", "aprompt_suggestion-", "asession_memory-"} {
		if strings.HasPrefix(id, p) {
			return true
		}
	}
	return false
}

// judgement is what the beginnings of a folder's transcripts say about it.
type judgement int

const (
	judgedForeign judgement = iota
	judgedOurs
	judgedOpen // not to be told yet: a transcript has not said where it was made
)

func (l *claudeLocator) judge(files []File, all bool) judgement {
	slices.SortStableFunc(files, func(a, b File) int { return b.ModTime.Compare(a.ModTime) })
	verdict := judgedForeign
	for _, f := range files {
		cwd, complete, err := firstFolder(f.Path)
		switch {
		case err != nil:
			l.unreadable("read transcript", err)
			verdict = judgedOpen
		case cwd != "" && l.places.inside(cwd):
			return judgedOurs
		case cwd != "" && !all:
			return verdict
		case cwd == "" && complete:
			verdict = judgedOpen
		}
	}
	return verdict
}

// headLength is how much of a transcript is read to learn where it was made, in bytes.
// Claude Code names the folder in every record of a conversation, most often the first.
const headLength = 1 << 20

// firstFolder is the first working folder that a transcript names, empty when its head
// names none; complete says that the head was all of it, so it may still come.
func firstFolder(path string) (cwd string, complete bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	in := newLineReader(io.LimitReader(f, headLength))
	for {
		ln, err := in.next()
		if errors.Is(err, io.EOF) {
			return "", in.offset < headLength, nil
		}
		if err != nil {
			return "", false, err
		}
		// A line that the limit cut still shows what comes before the cut.
		fields(ln.text, func(key, value []byte) {
			if cwd == "" && string(key) == "cwd" {
				cwd = text(value)
			}
		})
		if cwd != "" {
			return cwd, false, nil
		}
	}
}
