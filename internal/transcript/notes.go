package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Which agents keep notes, apart from sessions, for later sessions to read; as their programs of November 2026 do.
//
//	agent       | where                                                               | of
//	Claude Code | <config>/projects/<main work tree>/memory/**.md                     | a repository, all its work trees
//	Gemini CLI  | <home>/.gemini/tmp/<project>/memory/**.md                           | a folder in which it was started
//	Qwen Code   | <home>/projects/<work tree>/memory/**.md                            | a work tree
//	Codex       | <home>/memories/MEMORY.md, with a "# Task Group" a folder           | all repositories of the user
//
// All are Markdown; MEMORY.md is the index that each session reads. Of Codex's notes those count whose group names a
// folder of this repository, and none else. What an agent keeps of its user everywhere (~/.claude/CLAUDE.md,
// ~/.gemini/GEMINI.md, ~/.qwen/memories, ~/.factory/memories.md, a folder that autoMemoryDirectory names) belongs to no
// repository. The other agents keep no notes, or keep them in the work tree.

// NoteFolder is a folder in which an agent keeps notes.
type NoteFolder struct {
	Agent string // claude-code
	Dir   string
	// Shared says that notes of other repositories lie there, too: then only sections count that name a folder in a work
	// tree; see InWorktrees.
	Shared bool
}

// NoteFolders are the folders of notes of a repository that there may be, those of the main work tree first.
func NoteFolders(env Env) (out []NoteFolder) {
	add := func(agent string, dir ...string) {
		f := NoteFolder{Agent: agent, Dir: filepath.Join(dir...)}
		if dir[0] != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	bases := claudeStores(env)
	if remote := env.getenv("CLAUDE_CODE_REMOTE_MEMORY_DIR"); filepath.IsAbs(remote) {
		bases = []string{filepath.Join(remote, "projects")}
	}
	qwen := env.homeFolder("QWEN_HOME", ".qwen")
	for _, name := range []string{"QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR"} {
		if own := env.getenv(name); filepath.IsAbs(own) {
			qwen = own
		}
	}
	for _, root := range env.Roots {
		name := encodeFolder(root)
		if len(name) == encodedLength { // it may be cut
			continue
		}
		for _, store := range bases {
			add(ClaudeCode{}.Name(), store, name, "memory")
		}
		add(Qwen{}.Name(), qwen, "projects", name, "memory")
	}
	for _, dir := range geminiProjects(env) {
		add(Gemini{}.Name(), dir, "memory")
	}
	if codex := env.homeFolder("CODEX_HOME", ".codex"); codex != "" {
		out = append(out, NoteFolder{Agent: Codex{}.Name(), Dir: filepath.Join(codex, "memories"), Shared: true})
	}
	return out
}

// geminiProjects are Gemini's folders of the repository's work trees.
func geminiProjects(env Env) (out []string) {
	home := env.homeFolder("GEMINI_CLI_HOME")
	if home == "" {
		return nil
	}
	l := geminiLocator{finder{env: env, places: newPlaces(env.Roots)}}
	for name, cwd := range l.folders(filepath.Join(home, ".gemini", "projects.json")) {
		if slices.Contains(env.Roots, cwd) && filepath.IsLocal(name) {
			out = append(out, filepath.Join(home, ".gemini", "tmp", name))
		}
	}
	slices.SortFunc(out, func(a, b string) int { // a name before the hash that older versions had, which is longer
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	return out
}

// NoteFile is a file of notes.
type NoteFile struct {
	NoteFolder
	Name    string // its path below Dir, with slashes
	Size    int64
	ModTime time.Time
}

// Path is where the file lies.
func (f NoteFile) Path() string { return filepath.Join(f.Dir, filepath.FromSlash(f.Name)) }

// Bounds of notes. Claude Code shows its model 25 KB of an index.
const (
	MaxNoteFile  = 256 << 10 // bytes
	maxNoteFiles = 500       // of a folder
	maxNoteDepth = 3
)

// Files are the notes in a folder, by name. Of a Shared one it is the index alone: all else there is made of sessions,
// or for the index to be made of.
func (f NoteFolder) Files() (out []NoteFile, err error) {
	if f.Shared {
		out, err = f.list("", 0)
		return slices.DeleteFunc(out, func(n NoteFile) bool { return n.Name != noteIndex }), err
	}
	return f.list("", maxNoteDepth)
}

const noteIndex = "MEMORY.md"

// list lists below a folder. Links are not followed: a note is a file of the agent's own.
func (f NoteFolder) list(below string, deeper int) (out []NoteFile, err error) {
	entries, err := os.ReadDir(filepath.Join(f.Dir, below))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name := filepath.ToSlash(filepath.Join(below, e.Name()))
		switch {
		case len(out) >= maxNoteFiles || strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && deeper > 0:
			more, _ := f.list(name, deeper-1)
			out = append(out, more...)
		case e.Type().IsRegular() && IsNoteName(name):
			if info, err := e.Info(); err == nil && info.Size() <= MaxNoteFile {
				out = append(out, NoteFile{f, name, info.Size(), info.ModTime()})
			}
		}
	}
	return out, err
}

// IsNoteName reports whether a path can be that of a note below its folder.
func IsNoteName(name string) bool {
	plain := func(r rune) bool {
		return r < ' ' || r == 0x7f || r == utf8.RuneError || r == '\\' || r == ':' || r == '#'
	}
	return filepath.IsLocal(filepath.FromSlash(name)) && strings.HasSuffix(name, ".md") && len(name) < 200 &&
		strings.Count(name, "/") <= maxNoteDepth && !strings.ContainsFunc(name, plain) &&
		!slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "" || part[0] == '.' })
}

// ErrNoText is a file that is no text, or not now: somebody may be writing it.
var ErrNoText = errors.New("no text")

// Read is the text of the file.
func (f NoteFile) Read() (string, error) {
	raw, err := readBounded(f.Path(), MaxNoteFile)
	if err == nil && (!utf8.Valid(raw) || strings.Contains(string(raw), "\x00")) {
		err = fmt.Errorf("%s: %w", f.Path(), ErrNoText)
	}
	return string(raw), err
}
