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

// editsDir lies in .rekal/. It holds what sessions did to files, as prints of lines, a file for each path: so a commit opens
// those of its own files and no other. The transcripts say the same; where it is lost they are read again.
const editsDir = "edits"

// maxEdits is how much is read of what is known of one path, the latest, in bytes. An edit of 20 lines takes 300.
const maxEdits = 4 << 20

// edits are the edits of files that sessions made.
type edits struct {
	dir   string
	held  map[string][]editLine         // by path; nil: what is added is written
	known map[string][]attribution.Edit // by path: what was asked for before
}

func newEdits(dir string) *edits {
	return &edits{dir: filepath.Join(dir, editsDir), known: map[string][]attribution.Edit{}}
}

// editLine is one line of a file of edits: an edit, or what the file was called before.
type editLine struct {
	Session string `json:"session,omitempty"`
	At      int64  `json:"at,omitempty"` // milliseconds since 1970
	Whole   bool   `json:"whole,omitempty"`
	Kinds   string `json:"kinds,omitempty"`
	Prints  []byte `json:"prints,omitempty"` // 8 bytes each
	Was     string `json:"was,omitempty"`
}

func (e *edits) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(e.dir, name[:2], name[2:])
}

// areLost reports whether nothing is there: somebody removed it, or nothing was ever kept.
func (e *edits) areLost() bool {
	_, err := os.Stat(e.dir)
	return errors.Is(err, fs.ErrNotExist)
}

// add keeps lines that are not there yet. It writes them at once, so that several processes may.
func (e *edits) add(path string, lines []editLine) error {
	if e.held != nil {
		clear(e.known)
		e.held[path] = append(e.held[path], lines...)
		return nil
	}
	name := e.file(path)
	had, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("capture: edits: %w", err)
	}
	var more bytes.Buffer
	if len(had) > 0 && had[len(had)-1] != '\n' { // torn: what follows is a line of its own
		more.WriteByte('\n')
	}
	torn := more.Len()
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("capture: edits: %w", err)
		}
		if !bytes.Contains(had, text) && !bytes.Contains(more.Bytes(), text) {
			fmt.Fprintf(&more, "%s\n", text)
		}
	}
	if more.Len() == torn {
		return nil
	}
	clear(e.known)
	if err := makeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write(more.Bytes())
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a clean took the folder away
		return fmt.Errorf("capture: edits: %w", err)
	}
	return nil
}

// makeFolder makes a folder in one that is there.
func makeFolder(name string) error {
	err := os.Mkdir(name, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("capture: edits: %w", err)
}

// maxNames is how many former names of a file are followed.
const maxNames = 16

// ofPath reads the edits of a file, also by former names. What can't be read is not there.
func (e *edits) ofPath(path string) []attribution.Edit {
	all, ok := e.known[path]
	if !ok {
		all = e.find(path)
		e.known[path] = all
	}
	return all
}

func (e *edits) find(path string) (out []attribution.Edit) {
	paths := []string{path}
	seen := map[string]bool{}
	for i := 0; i < len(paths) && i < maxNames; i++ {
		if seen[paths[i]] {
			continue
		}
		seen[paths[i]] = true
		for _, l := range slices.Concat(e.read(paths[i]), e.held[paths[i]]) {
			if l.Was != "" {
				paths = append(paths, l.Was)
			} else {
				out = append(out, l.edit())
			}
		}
	}
	return out
}

func (e *edits) read(path string) (out []editLine) {
	text, err := os.ReadFile(e.file(path))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text[max(0, len(text)-maxEdits):]) {
		var l editLine
		if json.Unmarshal(line, &l) == nil && len(l.Prints) == 8*len(l.Kinds) { // a torn one is none
			out = append(out, l)
		}
	}
	return out
}

func (l editLine) edit() attribution.Edit {
	e := attribution.Edit{Session: l.Session, At: time.UnixMilli(l.At), FullContent: l.Whole, Lines: make([]attribution.Line, len(l.Kinds))}
	for i := range e.Lines {
		e.Lines[i] = attribution.Line{Print: attribution.Print(binary.BigEndian.Uint64(l.Prints[8*i:])), Kind: l.Kinds[i]}
	}
	return e
}

// keptLine is an edit as it is kept; whose it is is told later.
func keptLine(e transcript.Edit) editLine {
	out := editLine{At: e.TS.UnixMilli(), Whole: e.FullContent}
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

// sessionEdits is what one session of a reading did to files, by path.
type sessionEdits struct {
	nativeID string
	files    map[string][]editLine
}

// take moves the edits of a reading to where their text is not held.
func (r *reading) takeEdits() {
	for i := range r.doc.Sessions {
		s := &r.doc.Sessions[i]
		if len(s.Edits) == 0 {
			continue
		}
		e := sessionEdits{nativeID: s.NativeID, files: map[string][]editLine{}}
		for _, ed := range s.Edits {
			e.files[ed.Path] = append(e.files[ed.Path], keptLine(ed))
		}
		r.edited, s.Edits = append(r.edited, e), nil
	}
}

// keepEdits stores what the readings tell of edits. Where that fails, this and the following transcripts are to be read again for them. It
// notes since when a commit may hold an edit that was not known.
func (g *collector) keepEdits() {
	var failed error
	if g.edits.held == nil {
		failed = makeFolder(g.edits.dir) // without it nothing is known to be kept
	}
	for _, r := range g.done {
		if failed == nil {
			failed = g.keep(r)
		}
		r.unkept = r.unkept || failed != nil
		g.unkept = g.unkept || r.unkept
	}
	if failed != nil {
		g.out.Warnings = append(g.out.Warnings, failed)
	}
}

func (g *collector) keep(r *reading) error {
	for _, s := range r.edited {
		id := g.idOf(r.agent, s.nativeID)
		if id == "" {
			continue
		}
		for path, lines := range s.files {
			for i := range lines {
				lines[i].Session = id
				if at := time.UnixMilli(lines[i].At); g.news.IsZero() || at.Before(g.news) {
					g.news = at
				}
			}
			if err := g.edits.add(path, lines); err != nil {
				return err
			}
		}
	}
	return nil
}
