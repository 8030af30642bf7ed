package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// editsDir lies in .git/rekal/. It holds what sessions did to files, as prints of lines, a file for each path: so a commit opens
// only the files of the paths that it changed. If the folder is lost, it is made again from the transcripts.
const editsDir = "edits"

// maxEdits is how many bytes at the end of the file of one path are read: its latest edits. An edit of 20 lines takes 300.
const maxEdits = 4 << 20

// editStore keeps what sessions edited, in a file for each edited path.
type editStore struct {
	dir      string
	inMemory map[string][]editLine         // by path; not nil for a preview, which writes no file
	cache    map[string][]attribution.Edit // by path: results of ofPath
}

func newEdits(dir string) *editStore {
	return &editStore{dir: filepath.Join(dir, editsDir), cache: map[string][]attribution.Edit{}}
}

// editLine is one line of a file of edits: an edit, a former path of the edited file, or a commit that took lines of the edit of a session at that time.
type editLine struct {
	Session     string `json:"session,omitempty"`
	At          int64  `json:"at,omitempty"` // milliseconds since 1970
	FullContent bool   `json:"whole,omitempty"`
	Kinds       string `json:"kinds,omitempty"`
	Prints      []byte `json:"prints,omitempty"` // 8 bytes each
	FormerPath  string `json:"was,omitempty"`
	Commit      string `json:"commit,omitempty"`
}

func (e *editStore) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(e.dir, name[:2], name[2:])
}

// areLost reports whether the folder is not there: somebody removed it, or no edit was ever stored.
func (e *editStore) areLost() bool {
	_, err := os.Stat(e.dir)
	return errors.Is(err, fs.ErrNotExist)
}

// add stores the lines that the file of a path does not hold yet, in one write, because several processes may add at once.
func (e *editStore) add(path string, lines []editLine) error {
	if e.inMemory != nil {
		clear(e.cache)
		e.inMemory[path] = append(e.inMemory[path], lines...)
		return nil
	}
	name := e.file(path)
	had, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("capture: edits: %w", err)
	}
	var more bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("capture: edits: %w", err)
		}
		if !bytes.Contains(had, text) && !bytes.Contains(more.Bytes(), text) {
			fmt.Fprintf(&more, "%s\n", text)
		}
	}
	if more.Len() == 0 {
		return nil
	}
	clear(e.cache)
	return e.write(name, more.Bytes())
}

// write adds lines to a file of edits.
func (e *editStore) write(name string, lines []byte) error {
	if err := makeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err == nil {
		if isTorn(f) {
			lines = append([]byte("\n"), lines...)
		}
		_, err = f.Write(lines)
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // not there: a clean has just removed the folder
		return fmt.Errorf("capture: edits: %w", err)
	}
	return nil
}

// isTorn reports whether the last line of a file has no end.
func isTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// makeFolder makes a folder in an existing folder.
func makeFolder(name string) error {
	err := os.Mkdir(name, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("capture: edits: %w", err)
}

// maxNames is how many former names of a file are followed.
const maxNames = 16

// ofPath reads the edits of a file, under its former names, too. A file that can't be read counts as empty.
func (e *editStore) ofPath(path string) []attribution.Edit {
	all, ok := e.cache[path]
	if !ok {
		all = e.readWithFormerNames(path)
		e.cache[path] = all
	}
	return all
}

func (e *editStore) readWithFormerNames(path string) (out []attribution.Edit) {
	paths := []string{path}
	seen := map[string]bool{}
	took := map[editName][]string{}
	for i := 0; i < len(paths) && i < maxNames; i++ {
		if seen[paths[i]] {
			continue
		}
		seen[paths[i]] = true
		for _, l := range slices.Concat(e.read(paths[i]), e.inMemory[paths[i]]) {
			switch name := (editName{l.Session, l.At}); {
			case l.FormerPath != "":
				paths = append(paths, l.FormerPath)
			case l.Commit != "":
				took[name] = append(took[name], l.Commit)
			default:
				out = append(out, l.edit())
			}
		}
	}
	for i, e := range out {
		out[i].Commits = took[nameOf(e)]
	}
	return out
}

// editName names an edit of a file.
type editName struct {
	session string
	at      int64
}

func nameOf(e attribution.Edit) editName { return editName{e.Session, e.At.UnixMilli()} }

// took notes that a commit took lines of edits of a file.
func (e *editStore) took(path, commit string, edits map[editName]bool) error {
	var text bytes.Buffer
	known := e.ofPath(path)
	for i, k := range known {
		if !edits[nameOf(k)] || slices.Contains(k.Commits, commit) {
			continue
		}
		known[i].Commits = append(slices.Clip(k.Commits), commit)
		l := editLine{Session: k.Session, At: k.At.UnixMilli(), Commit: commit}
		line, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("capture: edits: %w", err)
		}
		fmt.Fprintf(&text, "%s\n", line)
		if e.inMemory != nil {
			e.inMemory[path] = append(e.inMemory[path], l)
		}
	}
	if text.Len() == 0 || e.inMemory != nil {
		return nil
	}
	return e.write(e.file(path), text.Bytes())
}

func (e *editStore) read(path string) (out []editLine) {
	text, err := os.ReadFile(e.file(path))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text[max(0, len(text)-maxEdits):]) {
		var l editLine
		if json.Unmarshal(line, &l) == nil && len(l.Prints) == 8*len(l.Kinds) { // not a torn line
			out = append(out, l)
		}
	}
	return out
}

func (l editLine) edit() attribution.Edit {
	e := attribution.Edit{Session: l.Session, At: time.UnixMilli(l.At), FullContent: l.FullContent, Lines: make([]attribution.Line, len(l.Kinds))}
	for i := range e.Lines {
		e.Lines[i] = attribution.Line{Print: attribution.Print(binary.BigEndian.Uint64(l.Prints[8*i:])), Kind: l.Kinds[i]}
	}
	return e
}

// newEditLine is an edit as the store holds it. Its Session is set later.
func newEditLine(e transcript.Edit) editLine {
	out := editLine{At: e.TS.UnixMilli(), FullContent: e.FullContent}
	var kinds []byte
	for i, h := range e.Hunks {
		lines := attribution.Replace(attribution.Prints(h.Old), attribution.Prints(h.New))
		if i > 0 {
			lines = append([]attribution.Line{{Kind: attribution.Gap}}, lines...)
		}
		for _, l := range lines {
			kinds, out.Prints = append(kinds, l.Kind), binary.BigEndian.AppendUint64(out.Prints, uint64(l.Print))
		}
	}
	out.Kinds = string(kinds)
	return out
}

// sessionEdits are the edits of one session in a reading, by path.
type sessionEdits struct {
	nativeID string
	files    map[string][]editLine
}

// takeEdits moves the edits out of a reading's document into reading.edited, which holds prints of lines and not their text.
func (r *reading) takeEdits() {
	for i := range r.doc.Sessions {
		s := &r.doc.Sessions[i]
		if len(s.Edits) == 0 {
			continue
		}
		e := sessionEdits{nativeID: s.NativeID, files: map[string][]editLine{}}
		for _, ed := range s.Edits {
			e.files[ed.Path] = append(e.files[ed.Path], newEditLine(ed))
		}
		r.edited, s.Edits = append(r.edited, e), nil
	}
}

// storeAllEdits stores the edits of all readings. If that fails, this and the following transcripts will be read again. It notes the time of the
// earliest new edit in newEditsSince: an examined commit made later may hold it.
func (g *collector) storeAllEdits() {
	var failed error
	if g.edits.inMemory == nil {
		failed = makeFolder(g.edits.dir) // also if there is no edit: see areLost
	}
	for _, r := range g.done {
		if failed == nil {
			failed = g.storeEdits(r)
		}
		r.editsLost = r.editsLost || failed != nil
		g.editsLost = g.editsLost || r.editsLost
	}
	if failed != nil {
		g.out.Warnings = append(g.out.Warnings, failed)
	}
}

func (g *collector) storeEdits(r *reading) error {
	for _, s := range r.edited {
		id := g.sessionID(r.agent, s.nativeID)
		if id == "" {
			continue
		}
		for path, lines := range s.files {
			for i := range lines {
				lines[i].Session = id
				if at := time.UnixMilli(lines[i].At); g.newEditsSince.IsZero() || at.Before(g.newEditsSince) {
					g.newEditsSince = at
				}
			}
			if err := g.edits.add(path, lines); err != nil {
				return err
			}
		}
	}
	return nil
}
