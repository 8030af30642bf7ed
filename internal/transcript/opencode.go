package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// OpenCode reads the sessions of OpenCode, versions 1.2 to 2.0, in one SQLite database:
//
//	<data>/opencode.db, or opencode-<channel>.db
//
// where <data> is ${XDG_DATA_HOME:-~/.local/share}/opencode; $OPENCODE_DB names another file. A session is named
// <database>/<session ID>, and is read as lines: its row, and then each message with its parts. The database may be
// open in the agent: see sqlite.go.
type OpenCode struct{}

// Name is the source of the sessions.
func (OpenCode) Name() string { return openCode.name }

// openCodeKind is OpenCode, or a program that was made of it and keeps its sessions as it does.
type openCodeKind struct {
	name     string // of the source, and of the folder and the database
	variable string // names another database; "" for none
}

//nolint:gochecknoglobals // two constants
var (
	openCode = openCodeKind{"opencode", "OPENCODE_DB"}
	kilo     = openCodeKind{"kilo", ""}
)

// openCodeDB is what is known of one database.
type openCodeDB struct {
	Path  string
	Stamp string // see stampOf
	Files []File // sessions that may concern the repository
	// LastMessage is the row of the last message. Their IDs don't tell: they begin anew every 795 days, as in August 2026.
	LastMessage, LastMessageV2 int64
	// Over are sessions of Files whose last answer was over, and when their rows were written last, in milliseconds since
	// 1970: without a new message, nothing of them changes but the row.
	Over           map[string]int64
	Parts, PartsV2 partsSearched
}

// partsSearched is how far the parts of a database were searched for edits of files here.
type partsSearched struct {
	Last int64 // the last row that there was
	// rows up to there that were not looked at yet: those behind one row, up to another; the latest at the end
	Left [][2]int64
}

// Locate lists the sessions that were begun in the repository, or edited a file there. A database that has not changed
// is not opened.
func (OpenCode) Locate(ctx context.Context, env Env) (Found, error) { return openCode.locate(ctx, env) }

func (o openCodeKind) locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, OpenCode{}, openCodeTools)
	for _, path := range o.stores(env) {
		stamp, changed := stampOf(path)
		if stamp == "" {
			continue
		}
		db := openCodeDB{Path: path}
		if at := slices.IndexFunc(l.had.DBs, func(k openCodeDB) bool { return k.Path == path }); at >= 0 {
			db = l.had.DBs[at]
		}
		if db.Stamp != stamp {
			now, err := l.openCodeSessions(ctx, path, db)
			switch {
			case err == nil:
				db = now
			case isBusy(err) || ctx.Err() != nil: // the next capture looks again
				stamp = ""
			default:
				l.unreadable(fmt.Sprintf("read %q", path), err)
				continue
			}
		}
		for _, f := range db.Files {
			l.considerBegun(f, f.Cwd)
		}
		if db.Stamp = stamp; env.Now.Sub(changed) < settled || len(db.Parts.Left)+len(db.PartsV2.Left) > 0 {
			db.Stamp = "" // what is written in the same instant would not show
		}
		l.next.DBs = append(l.next.DBs, db)
	}
	return l.result(ctx)
}

// stores are the databases that there may be.
func (o openCodeKind) stores(env Env) []string {
	data := env.homeFolder("XDG_DATA_HOME", ".local", "share")
	if data == "" {
		return nil
	}
	data = filepath.Join(data, o.name)
	stores := []string{filepath.Join(data, o.name+".db")}
	channels, _ := fs.Glob(os.DirFS(data), o.name+"-*.db") // the pattern is well formed
	for _, name := range channels {
		stores = append(stores, filepath.Join(data, name))
	}
	if own := env.getenv(o.variable); own != "" && own != ":memory:" {
		if !filepath.IsAbs(own) {
			own = filepath.Join(data, own)
		}
		stores = append(stores, filepath.Clean(own))
	}
	slices.Sort(stores)
	return slices.Compact(stores)
}

// stampOf tells whether a database has changed: the sizes and times of its file and of its log. It is empty where there
// is none. The time is that of the last change.
func stampOf(path string) (stamp string, changed time.Time) {
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			if name == path {
				return "", changed
			}
			continue
		}
		stamp += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
		if info.ModTime().After(changed) {
			changed = info.ModTime()
		}
	}
	return stamp, changed
}

// openCodeSessions lists the sessions of a database that concern the repository; had is what was known of it.
func (l *finder) openCodeSessions(ctx context.Context, path string, had openCodeDB) (now openCodeDB, err error) {
	err = readDB(path, func(db *rows) error {
		now = openCodeDB{Path: path, Over: map[string]int64{}}
		goesOn, err := db.goOn(ctx, had, &now)
		if err != nil {
			return err
		}
		all, newest, err := db.sessions(ctx, path)
		if err != nil {
			return err
		}
		if now.Files, err = l.ofRepository(ctx, db, all, had, &now); err != nil {
			return err
		}
		known := map[string]File{}
		for _, f := range had.Files {
			known[f.NativeID] = f
		}
		for i, f := range now.Files {
			if f.ModTime.Before(newest.Add(-atWork)) {
				continue
			}
			row, k := f.ModTime.UnixMilli(), known[f.NativeID]
			over := had.Over[f.NativeID] == row && k.Path == f.Path && !goesOn(f.NativeID)
			if over {
				now.Files[i] = k
			} else if over, err = now.Files[i].latest(ctx, db); err != nil {
				return err
			}
			if over {
				now.Over[f.NativeID] = row
			}
		}
		return nil
	})
	return now, err
}

// sessions lists all sessions of a database, and says when a row of theirs was written last.
func (r *rows) sessions(ctx context.Context, path string) (files []File, newest time.Time, err error) {
	table, err := r.sessionRows(ctx)
	if err != nil {
		return nil, newest, err
	}
	for last, more := "", true; more; {
		more, err = r.each(ctx, func(scan func(...any) error) error {
			var id, dir string
			var updated int64
			if scan(&id, &dir, &updated) != nil {
				return nil
			}
			last = id
			at := time.UnixMilli(updated).UTC()
			if at.After(newest) {
				newest = at
			}
			if id = ledgerName(validText(id)); id != "" && !strings.ContainsAny(id, `/\`) {
				files = append(files, File{
					Path: filepath.Join(path, id), NativeID: id, Cwd: validText(dir), ModTime: at,
					ReadWhole: true,
				})
			}
			return nil
		}, `SELECT id, directory, max(time_updated) FROM (`+table+`) WHERE id > ? GROUP BY id ORDER BY id`, last)
		if err != nil {
			return nil, newest, err
		}
	}
	return files, newest, nil
}

// ofRepository leaves of the sessions of a database those that were begun in the repository, or edited a file there. To
// read them as strangers are read takes some 10 ms each.
func (l *finder) ofRepository(ctx context.Context, db *rows, all []File, had openCodeDB,
	now *openCodeDB,
) (ours []File, err error) {
	begun := map[string]string{} // elsewhere, in which folder
	for _, f := range all {
		if l.places.whereIs(f.Cwd) != inside && l.had.Searched[f.Path] != visited {
			begun[f.NativeID] = f.Cwd
		}
	}
	if now.Parts, err = l.searchParts(ctx, db, "part", had.Parts, begun); err != nil {
		return nil, err
	}
	if now.PartsV2, err = l.searchParts(ctx, db, "session_message", had.PartsV2, begun); err != nil {
		return nil, err
	}
	for _, f := range all {
		if _, elsewhere := begun[f.NativeID]; !elsewhere {
			if l.places.whereIs(f.Cwd) != inside {
				l.had.Searched[f.Path] = visited
			}
			ours = append(ours, f)
		}
	}
	return ours, nil
}

// lastRow is the number of the last row of a table; 0 where there is none, or no such table.
func (r *rows) lastRow(ctx context.Context, table string) (last int64, err error) {
	if ok, err := r.has(ctx, table); !ok {
		return 0, err
	}
	_, err = r.each(ctx, func(scan func(...any) error) error { return scan(&last) },
		`SELECT coalesce(max(rowid), 0) FROM `+table)
	return last, err
}

// goOn finds the sessions that have messages which had none of, and notes which is the last one now.
func (r *rows) goOn(ctx context.Context, had openCodeDB, now *openCodeDB) (func(session string) bool, error) {
	ids, all := map[string]bool{}, false
	for _, t := range []struct {
		table string
		had   int64
		now   *int64
	}{{"message", had.LastMessage, &now.LastMessage}, {"session_message", had.LastMessageV2, &now.LastMessageV2}} {
		var err error
		if *t.now, err = r.lastRow(ctx, t.table); err != nil {
			return nil, err
		}
		// to look at them all would take long, and nothing is known to be over
		if *t.now > 0 && t.had == 0 || *t.now < t.had {
			all = true
			continue
		}
		if *t.now == t.had {
			continue
		}
		more, err := r.each(ctx, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids[id] = true
			return err
		}, `SELECT DISTINCT session_id FROM `+t.table+` WHERE rowid > ?`, t.had)
		if err != nil {
			return nil, err
		}
		all = all || more
	}
	return func(session string) bool { return all || ids[session] }, nil
}

// atWork is how long an agent may go on after a prompt, which is the last time that its session's own row is written. A
// session that is older is as old as its row.
const atWork = 24 * time.Hour

// lastParts is what was written last of a session: its own row does not follow its messages, nor these their parts.
// What still changes belongs to one of its last messages.
const lastParts = `WITH recent AS MATERIALIZED (
	SELECT id, time_updated FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 4)
SELECT count(*) + (SELECT count(*) FROM message WHERE session_id = ?1), coalesce(max(time_updated), 0), coalesce((
	SELECT json_extract(data, '$.role') = 'assistant' AND (json_type(data, '$.time.completed') IS NOT NULL OR json_type(data, '$.error') IS NOT NULL)
	FROM message WHERE session_id = ?1 AND json_valid(data) ORDER BY time_created DESC, id DESC LIMIT 1), 0) FROM (
	SELECT time_updated FROM recent
	UNION ALL SELECT p.time_updated FROM recent m CROSS JOIN part p ON p.message_id = m.id)`

// lastMessagesV2 is the same of version 2.
const lastMessagesV2 = `SELECT count(*), coalesce(max(time_updated), 0), coalesce((
	SELECT type = 'assistant' AND (json_type(data, '$.time.completed') IS NOT NULL OR json_type(data, '$.error') IS NOT NULL OR json_type(data, '$.finish') IS NOT NULL)
	FROM session_message WHERE session_id = ?1 AND json_valid(data) ORDER BY time_created DESC, id DESC LIMIT 1), 0)
	FROM session_message WHERE session_id = ?1`

// latest finds when anything of a session was last written, and whether its last answer is over. The number of rows
// stands for a size.
func (f *File) latest(ctx context.Context, db *rows) (over bool, err error) {
	f.Size = 0
	for _, t := range [...]struct{ table, query string }{{"message", lastParts}, {"session_message", lastMessagesV2}} {
		ok, err := db.has(ctx, t.table)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		_, err = db.each(ctx, func(scan func(...any) error) error {
			var n, at int64
			var done bool
			if err := scan(&n, &at, &done); err != nil || n == 0 {
				return err
			}
			f.Size, over = f.Size+n, done
			if time.UnixMilli(at).After(f.ModTime) {
				f.ModTime = time.UnixMilli(at).UTC()
			}
			return nil
		}, t.query, f.NativeID)
		if err != nil {
			return false, err
		}
	}
	return over, nil
}

// maxSession bounds the lines of one session, in bytes.
const maxSession = 256 << 20

// Open gives a session's rows as lines.
func (OpenCode) Open(ctx context.Context, opt Options) (io.ReadCloser, error) {
	return openOpenCode(ctx, opt)
}

func openOpenCode(ctx context.Context, opt Options) (io.ReadCloser, error) {
	path, id := filepath.Split(opt.File.Path)
	var lines bytes.Buffer
	err := readDB(filepath.Clean(path), func(db *rows) error {
		lines.Reset()
		return openCodeLines(ctx, db, id, opt.Outputs, &lines)
	})
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return io.NopCloser(&lines), nil
}

// openCodeRow is one line.
type openCodeRow struct {
	Session *openCodeSession `json:"session,omitempty"`
	Message *openCodeMessage `json:"message,omitempty"`
	Part    json.RawMessage  `json:"part,omitempty"`
	Unknown string           `json:"unknown,omitempty"` // the type of a message that nobody here knows
}

type openCodeSession struct {
	ID        string `json:"id"`
	Parent    string `json:"parent,omitempty"`
	Directory string `json:"directory"`
	Title     string `json:"title,omitempty"`
	Version   string `json:"version,omitempty"`
}

type openCodeMessage struct {
	ID      string `json:"id"`
	Created int64  `json:"created"` // milliseconds since 1970
	Role    string `json:"role"`
	Done    bool   `json:"done,omitempty"`    // nothing is added to it
	Summary bool   `json:"summary,omitempty"` // it sums up what was said before
	Model   string `json:"model,omitempty"`   // of an answer

	Tokens json.RawMessage `json:"tokens,omitempty"` // of an answer, as openCodeCounts names them
	Cost   float64         `json:"cost,omitempty"`   // in US dollars

	at int64 // of its row
}

// What is no JSON gives no row, nor does a part that is longer than a line may be.
const (
	openCodeMessages = `SELECT id, time_created, data FROM message
	WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) AND json_valid(data) ORDER BY time_created, id`

	openCodeParts = `SELECT id, data FROM part WHERE message_id = ?1 AND id > ?2
	AND CASE WHEN octet_length(data) <= ?3 AND json_valid(data) THEN json_extract(data, '$.type') END IN ('text', 'tool', 'subtask', 'patch') ORDER BY id`
)

// openCodeLines writes the lines of a session: its messages, each with its parts behind it.
func openCodeLines(ctx context.Context, db *rows, id string, outputs bool, out *bytes.Buffer) error {
	table, err := db.sessionRows(ctx)
	if err != nil {
		return err
	}
	_, err = db.each(ctx, func(scan func(...any) error) error {
		var s openCodeSession
		if err := scan(&s.ID, &s.Parent, &s.Directory, &s.Title, &s.Version); err != nil {
			return err
		}
		return openCodeRow{Session: &s}.write(out)
	}, `SELECT id, parent_id, directory, title, version FROM (`+table+`) WHERE id = ? ORDER BY time_updated DESC LIMIT 1`,
		id)
	if err != nil {
		return err
	}
	last := int64(-1)
	messages, err := openCodeList(ctx, db, id)
	if err != nil {
		return err
	}
	for _, m := range messages {
		last = max(last, m.at)
		err := openCodeRow{Message: m}.write(out)
		for last, more := "", true; more && err == nil; {
			more, err = db.each(ctx, func(scan func(...any) error) error {
				var part []byte
				if scan(&last, &part) != nil {
					return nil
				}
				return openCodeRow{Part: partRow(part, outputs)}.write(out)
			}, openCodeParts, m.ID, last, MaxLine)
		}
		if err != nil {
			return err
		}
	}
	return writeMessagesV2(ctx, db, id, last, outputs, out)
}

// openCodeList lists the messages of a session in their order.
func openCodeList(ctx context.Context, db *rows, id string) (out []*openCodeMessage, err error) {
	at, last := int64(-1), ""
	more, err := db.has(ctx, "message")
	for more && err == nil {
		more, err = db.each(ctx, func(scan func(...any) error) error {
			var data []byte
			if scan(&last, &at, &data) == nil {
				m := messageRow(gjson.ParseBytes(data))
				m.ID, m.Created, m.at = last, cmp.Or(m.Created, at), at
				out = append(out, m)
			}
			return nil
		}, openCodeMessages, id, at, last)
	}
	return out, err
}

func (r openCodeRow) write(out *bytes.Buffer) error {
	if out.Len() > maxSession {
		return fmt.Errorf("its lines are more than %d MB", maxSession>>20)
	}
	return json.NewEncoder(out).Encode(r)
}
