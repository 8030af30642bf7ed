package transcript

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Gemini reads the sessions of Google's Gemini CLI, versions 0.1 to 0.61:
//
//	<home>/.gemini/tmp/<project>/chats/session-<time>-<8 of the session ID>.jsonl   (.json before 0.39)
//	<home>/.gemini/tmp/<project>/chats/<parent's session ID>/<session ID>.jsonl     (subagents)
//
// where <home> is ${GEMINI_CLI_HOME:-~}. <project> is a name that projects.json and <project>/.project_root tell the
// folder of, or the SHA-256 of that folder. No record names it.
//
// A document (.json) is written anew with each message, and a line (.jsonl) may change what an earlier one said: so
// both are read whole.
type Gemini struct{}

// Name is the source of the sessions.
func (Gemini) Name() string { return "gemini-cli" }

// geminiLocator is one call of Locate.
type geminiLocator struct{ finder }

// Locate lists the sessions of the projects that are folders of the repository.
func (Gemini) Locate(ctx context.Context, env Env) (Found, error) {
	l := geminiLocator{newFinder(env, Gemini{}, geminiTools)}
	home := env.homeFolder("GEMINI_CLI_HOME")
	if home == "" {
		return Found{}, nil
	}
	store := filepath.Join(home, ".gemini", "tmp")
	folders := l.folders(filepath.Join(home, ".gemini", "projects.json"))
	for _, e := range l.list(store) {
		dir := filepath.Join(store, e.Name())
		cwd := folders[e.Name()]
		if cwd == "" {
			cwd, _ = readLink(filepath.Join(dir, ".project_root"))
		}
		if cwd != "" && ctx.Err() == nil {
			l.takeChats(filepath.Join(dir, "chats"), cwd)
		}
	}
	return l.result(ctx)
}

// maxProjects bounds projects.json, in bytes.
const maxProjects = 4 << 20

// folders are the folders of projects by their names. A name that is a hash tells those that are roots.
func (l *geminiLocator) folders(path string) map[string]string {
	out := map[string]string{}
	for _, root := range l.places.roots {
		sum := sha256.Sum256([]byte(root.spelling))
		out[hex.EncodeToString(sum[:])] = root.spelling
	}
	raw, err := readBounded(path, maxProjects)
	l.unreadable("read projects", err)
	if endOfValue(raw, skipSpace(raw, 0)) > 0 {
		gjson.GetBytes(raw, "projects").ForEach(func(dir, slug gjson.Result) bool {
			out[slug.Str] = validText(dir.Str)
			return true
		})
	}
	return out
}

// takeChats takes the sessions of one project, and those of their subagents.
func (l *geminiLocator) takeChats(dir, cwd string) {
	entries := l.list(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		stem, document := strings.CutSuffix(e.Name(), ".json")
		switch {
		case e.IsDir():
			l.takeSubagents(path, File{Parent: ledgerName(e.Name()), Cwd: cwd, ReadWhole: true})
		case document && !contains(entries, stem+".jsonl"), strings.HasSuffix(e.Name(), ".jsonl"):
			if !strings.HasPrefix(e.Name(), "session-") {
				continue
			}
			f := File{Path: path, Cwd: cwd, ReadWhole: true}
			if !l.stat(&f) || !l.isSearched(f, cwd) {
				continue
			}
			if f.NativeID = l.id(path); f.NativeID != "" {
				l.considerBegun(f, cwd)
			}
		}
	}
}

func contains(entries []os.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
}

// id is the session's ID, of which the file's name has a part. It stands at the beginning, and never changes.
func (l *geminiLocator) id(path string) string {
	id := l.had.IDs[path]
	if id == "" && isRegular(path) {
		file, err := os.Open(path)
		if err != nil {
			l.unreadable("read session", err)
			return ""
		}
		defer file.Close()
		head := make([]byte, 4<<10)
		n, _ := io.ReadFull(file, head) // a shorter file is no error
		id = ledgerName(validText(gjson.GetBytes(head[:n], "sessionId").Str))
	}
	if id != "" {
		l.next.IDs[path] = id
	}
	return id
}

// maxDocument bounds a session that is one JSON document, in bytes. The largest of 117 real ones has 1 MB.
const maxDocument = 64 << 20

// Open gives a session as lines: a document as the CLI itself turns it into them, the session first and then each
// message.
func (Gemini) Open(_ context.Context, opt Options) (io.ReadCloser, error) {
	if strings.HasSuffix(opt.File.Path, ".jsonl") {
		return os.Open(opt.File.Path)
	}
	return openDocument(opt.File.Path, "messages", nil)
}

// openDocument gives a document as lines, behind others.
func openDocument(path, named string, before []byte) (io.ReadCloser, error) {
	raw, err := readBounded(path, maxDocument)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(append(before, documentLines(raw, named)...))), nil
}

// exportLines makes lines of a document that somebody kept; what is lines stays.
func exportLines(raw []byte, named string) []byte {
	if !gjson.ValidBytes(raw) {
		return raw
	}
	return documentLines(raw, named)
}

// documentLines writes a JSON object as lines: its members but a list, and then each of its values. What is no
// object, as one that is being written, is a line that is none.
func documentLines(raw []byte, named string) []byte {
	var lines, list []byte
	head := []byte("{")
	whole := eachMember(bytes.TrimSpace(raw), func(key, value []byte) {
		if string(key) == named {
			list = value
			return
		}
		head = append(head, '"')
		head = append(append(append(head, key...), `":`...), value...)
		head = append(head, ',')
	})
	if !whole || !gjson.ValidBytes(raw) {
		return []byte("not a document\n")
	}
	lines = appendLine(lines, append(bytes.TrimSuffix(head, []byte(",")), '}'))
	gjson.ParseBytes(list).ForEach(func(_, m gjson.Result) bool {
		lines = appendLine(lines, []byte(m.Raw))
		return true
	})
	return lines
}

// appendLine appends a JSON value on one line.
func appendLine(lines, value []byte) []byte {
	var one bytes.Buffer
	if json.Compact(&one, value) == nil {
		lines = append(append(lines, one.Bytes()...), '\n')
	}
	return lines
}

// readBounded reads a regular file that is not longer than some bytes.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("read %q: no file of at most %d MB", path, most>>20)
	}
	return os.ReadFile(path)
}

func (Gemini) recognises(rec gjson.Result) (File, bool) {
	f := File{NativeID: ledgerNameOf(rec.Get("sessionId"))}
	if rec.Get("kind").Str == "subagent" {
		f.AgentID = f.NativeID
	}
	return f, f.NativeID != "" && rec.Get("startTime").Exists() && !rec.Get("type").Exists()
}

func (Gemini) lines(raw []byte) []byte { return exportLines(raw, "messages") }
