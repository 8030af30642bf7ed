package capture

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/statedb"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// What sessions did to files is kept as prints of lines, by path: so a commit reads only the edits of the paths that it changed. It is lost together with the
// state of captures, and then made again from the transcripts.

// maxEdits is how many edits of one path are read, the latest. An edit of 20 lines takes 300 bytes.
const maxEdits = 10_000

// editStore keeps what sessions edited.
type editStore struct {
	dir      string
	inMemory map[string][]editLine         // by path; not nil for a preview, which writes nothing
	cache    map[string][]attribution.Edit // by path: results of ofPath
	unsaved  map[string][]editLine         // by path: what commits say, until flush
}

func newEdits(dir string) *editStore {
	return &editStore{dir: dir, cache: map[string][]attribution.Edit{}, unsaved: map[string][]editLine{}}
}

// editLine is an edit, a former path of the edited file, or a commit that took lines of the edit of a session at that time.
type editLine struct {
	Session     string `json:"session,omitempty"`
	At          int64  `json:"at,omitempty"` // milliseconds since 1970
	FullContent bool   `json:"whole,omitempty"`
	Kinds       string `json:"kinds,omitempty"`
	Prints      []byte `json:"prints,omitempty"` // 8 bytes each
	FormerPath  string `json:"was,omitempty"`
	Commit      string `json:"commit,omitempty"`
}

// add stores the lines that are not stored yet, by path.
func (e *editStore) add(files map[string][]editLine) error {
	if len(files) == 0 {
		return nil
	}
	clear(e.cache)
	if e.inMemory != nil {
		for path, lines := range files {
			e.inMemory[path] = append(e.inMemory[path], lines...)
		}
		return nil
	}
	err := statedb.Change(context.Background(), e.dir, func(ctx context.Context, tx *db.Tx) error {
		for path, lines := range files {
			for _, l := range lines {
				text, err := json.Marshal(l)
				sum := fnv.New64a()
				sum.Write(text)
				if err == nil {
					err = tx.Exec(ctx, "INSERT INTO edits VALUES (?, ?, ?) ON CONFLICT DO NOTHING", path, int64(sum.Sum64()), text)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("capture: edits: %w", err)
	}
	return nil
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
		for _, l := range slices.Concat(e.read(paths[i]), e.inMemory[paths[i]], e.unsaved[paths[i]]) {
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

// take notes that a commit took lines of edits of a file.
func (e *editStore) take(path, commit string, edits map[editName]bool) {
	known := e.ofPath(path)
	for i, k := range known {
		if edits[nameOf(k)] && !slices.Contains(k.Commits, commit) {
			known[i].Commits = append(slices.Clip(k.Commits), commit)
			e.unsaved[path] = append(e.unsaved[path], editLine{Session: k.Session, At: k.At.UnixMilli(), Commit: commit})
		}
	}
}

// rename notes what a file was called before.
func (e *editStore) rename(path, former string) {
	e.unsaved[path] = append(e.unsaved[path], editLine{FormerPath: former})
	delete(e.cache, path)
}

// flush stores what commits said, in one transaction: an import looks at thousands of them.
func (e *editStore) flush() error {
	lines := e.unsaved
	e.unsaved = map[string][]editLine{}
	return e.add(lines)
}

func (e *editStore) read(path string) (out []editLine) {
	ctx := context.Background()
	err := statedb.Read(ctx, e.dir, func(q db.Querier) error {
		return db.Each(ctx, q, func(rows *db.Rows) error {
			var text []byte
			var l editLine
			err := rows.Scan(&text)
			if err == nil && json.Unmarshal(text, &l) == nil && len(l.Prints) == 8*len(l.Kinds) {
				out = append(out, l)
			}
			return err
		}, "SELECT line FROM edits WHERE path = ? ORDER BY rowid DESC LIMIT ?", path, maxEdits)
	})
	if err != nil {
		return nil // as if there were none
	}
	slices.Reverse(out)
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

// storeAllEdits stores the edits of all readings. If that fails, their transcripts will be read again. It notes the time of the earliest new edit in
// newEditsSince: an examined commit made later may hold it.
func (g *collector) storeAllEdits() {
	all := map[string][]editLine{}
	for _, r := range g.done {
		g.takeEditsOf(r, all)
	}
	var failed error
	if len(all) > 0 {
		failed = g.edits.add(all)
	}
	if failed != nil {
		g.out.Warnings = append(g.out.Warnings, failed)
	}
	for _, r := range g.done {
		r.editsLost = r.editsLost || failed != nil && len(r.edited) > 0
		g.editsLost = g.editsLost || r.editsLost
	}
}

// takeEditsOf adds the edits of a reading to those of all, by path.
func (g *collector) takeEditsOf(r *reading, all map[string][]editLine) {
	for _, s := range r.edited {
		id := g.sessionID(r.agent, s.nativeID)
		if id == "" {
			continue
		}
		for path, lines := range s.files {
			for _, l := range lines {
				l.Session = id
				if at := time.UnixMilli(l.At); g.newEditsSince.IsZero() || at.Before(g.newEditsSince) {
					g.newEditsSince = at
				}
				all[path] = append(all[path], l)
			}
		}
	}
}
