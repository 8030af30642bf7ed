package capture

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/statedb"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// What sessions did to files is kept as prints of lines, by path: so a commit reads only the edits of the paths that it
// changed. It is lost together with the state of captures, and then made again from the transcripts.

// maxEdits is how many bytes of edits of one path are read, the latest, and as many of what is said of them. An edit of
// 20 lines takes 300 bytes.
const maxEdits = 4 << 20

// editStore keeps what sessions edited.
type editStore struct {
	dir      string
	inMemory map[string][]editLine         // by path; not nil for a preview, which writes nothing
	cache    map[string][]attribution.Edit // by path: what load has read
	unsaved  map[string][]editLine         // by path: what commits say, until flush
	failed   error                         // the first; see flush
}

func newEdits(dir string) *editStore {
	return &editStore{dir: dir, cache: map[string][]attribution.Edit{}, unsaved: map[string][]editLine{}}
}

// isBusy reports whether other processes were waited for in vain: once in a round, since a commit waits.
func (e *editStore) isBusy() bool { return errors.Is(e.failed, db.ErrLocked) }

func (e *editStore) fail(err error) error {
	if err != nil {
		err = fmt.Errorf("capture: edits: %w", err)
		e.failed = cmp.Or(e.failed, err)
	}
	return err
}

// editLine is an edit, a former path of the edited file, or a commit that took lines of the edit of a session at that
// time.
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
func (e *editStore) add(ctx context.Context, files map[string][]editLine) error {
	if len(files) == 0 {
		return nil
	}
	if e.isBusy() {
		return e.failed
	}
	clear(e.cache)
	if e.inMemory != nil {
		for path, lines := range files {
			e.inMemory[path] = append(e.inMemory[path], lines...)
		}
		return nil
	}
	return e.fail(statedb.Change(ctx, e.dir, func(ctx context.Context, tx *db.Tx) error {
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
	}))
}

// maxNames is how many former names of a file are followed.
const maxNames = 16

// load reads the edits of files into the cache, under their former names, too. It opens the database once.
func (e *editStore) load(ctx context.Context, paths []string) error {
	paths = slices.DeleteFunc(paths, func(path string) bool { _, known := e.cache[path]; return known })
	if len(paths) == 0 {
		return nil
	}
	if e.isBusy() {
		return e.failed
	}
	isThere := false
	err := statedb.Read(ctx, e.dir, func(q db.Querier) error {
		isThere = true
		return e.loadFrom(ctx, q, paths)
	})
	if err == nil && !isThere {
		err = e.loadFrom(ctx, nil, paths)
	}
	return e.fail(err)
}

func (e *editStore) loadFrom(ctx context.Context, q db.Querier, paths []string) error {
	for _, path := range paths {
		all, err := e.readWithFormerNames(ctx, q, path)
		if err != nil {
			return err
		}
		e.cache[path] = all
	}
	return nil
}

func (e *editStore) readWithFormerNames(ctx context.Context, q db.Querier,
	path string,
) (out []attribution.Edit, err error) {
	paths := []string{path}
	seen := map[string]bool{}
	took := map[editName][]string{}
	for i := 0; i < len(paths) && i < maxNames; i++ {
		if seen[paths[i]] {
			continue
		}
		seen[paths[i]] = true
		stored, err := readEdits(ctx, q, paths[i])
		if err != nil {
			return nil, err
		}
		for _, l := range slices.Concat(stored, e.inMemory[paths[i]], e.unsaved[paths[i]]) {
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
	return out, nil
}

// editName names an edit of a file.
type editName struct {
	session string
	at      int64
}

func nameOf(e attribution.Edit) editName { return editName{e.Session, e.At.UnixMilli()} }

// take notes that a commit took lines of edits of a file.
func (e *editStore) take(path, commit string, edits map[editName]bool) {
	known := e.cache[path]
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

// flush stores what commits said, in one transaction: an import looks at thousands of them. It returns what went wrong
// since the store was made.
func (e *editStore) flush(ctx context.Context) error {
	err := e.add(ctx, e.unsaved)
	e.unsaved = map[string][]editLine{}
	return cmp.Or(e.failed, err)
}

// readEdits reads the latest edits of a file, and what is said of them; none where there is no database.
func readEdits(ctx context.Context, q db.Querier, path string) (out []editLine, err error) {
	if q == nil {
		return nil, nil
	}
	err = db.Each(ctx, q, func(rows *db.Rows) error {
		var text []byte
		var l editLine
		err := rows.Scan(&text)
		if err == nil && json.Unmarshal(text, &l) == nil && len(l.Prints) == 8*len(l.Kinds) {
			out = append(out, l)
		}
		return err
	}, `SELECT line FROM edits WHERE rowid IN (SELECT id FROM (
			SELECT rowid AS id, sum(octet_length(line)) OVER (PARTITION BY instr(line, '"kinds":') > 0 ORDER BY rowid DESC) AS total FROM edits WHERE path = ?1)
		WHERE total <= ?2) ORDER BY rowid`, path, maxEdits)
	return out, err
}

// EachEdit hands on all edits that are kept in a folder, with the paths that they edited, in the order of the paths and
// then in which they were stored.
func EachEdit(ctx context.Context, dir string, each func(path string, e attribution.Edit) error) error {
	return statedb.Read(ctx, dir, func(q db.Querier) error {
		return db.Each(ctx, q, func(rows *db.Rows) error {
			var path string
			var text []byte
			var l editLine
			if err := rows.Scan(&path, &text); err != nil {
				return err
			}
			if json.Unmarshal(text, &l) != nil || l.Kinds == "" || len(l.Prints) != 8*len(l.Kinds) {
				return nil
			}
			return each(path, l.edit())
		}, `SELECT path, line FROM edits ORDER BY path, rowid`)
	})
}

func (l editLine) edit() attribution.Edit {
	e := attribution.Edit{
		Session: l.Session, At: time.UnixMilli(l.At), FullContent: l.FullContent,
		Lines: make([]attribution.Line, len(l.Kinds)),
	}
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

// takeEdits moves the edits out of a reading's document into reading.edited, which holds prints of lines and not their
// text.
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

// storeAllEdits stores the edits of all readings. If that fails, their transcripts will be read again. It notes the
// time of the earliest new edit in newEditsSince: an examined commit made later may hold it. Who stores the capture
// tells of a failure.
func (g *collector) storeAllEdits(ctx context.Context) {
	all := map[string][]editLine{}
	for _, r := range g.done {
		g.takeEditsOf(r, all)
	}
	failed := g.edits.add(ctx, all)
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
