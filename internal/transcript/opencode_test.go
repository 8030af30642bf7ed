package transcript_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// openCodeSchema is what OpenCode 1.18 makes of what is read here.
const openCodeSchema = `
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
	time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);`

// openCodeDB is a database as OpenCode keeps it, in WAL mode and open.
type openCodeDB struct {
	*sql.DB
	t    testing.TB
	home string
}

func newOpenCodeDB(t testing.TB, home string) openCodeDB {
	t.Helper()
	dir := filepath.Join(home, ".local", "share", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "opencode.db")+"?_journal_mode=WAL&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	out := openCodeDB{db, t, home}
	out.do(openCodeSchema)
	return out
}

func (db openCodeDB) do(statement string, args ...any) {
	db.t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		db.t.Fatal(err)
	}
}

func (db openCodeDB) session(id, parent, dir, title string, at int64) {
	db.t.Helper()
	db.do(`INSERT OR REPLACE INTO session VALUES (?, nullif(?, ''), ?, ?, '1.18.33', ?, ?)`, id, parent, dir, title, at,
		at)
}

func (db openCodeDB) message(id, session string, at int64, data string) {
	db.t.Helper()
	db.do(`INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)`, id, session, at, at, data)
}

func (db openCodeDB) part(id, message, session string, at int64, data string) {
	db.t.Helper()
	db.do(`INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)`, id, message, session, at, at, data)
}

// find locates the sessions of a folder.
func (db openCodeDB) find(known []byte, root string) transcript.Found {
	db.t.Helper()
	found, err := transcript.OpenCode{}.Locate(context.Background(),
		transcript.Env{Home: db.home, Roots: []string{root}, LocateState: known, Now: time.Now().Add(time.Hour)})
	if err != nil || len(found.Unreadable) > 0 {
		db.t.Fatal(err, found.Unreadable)
	}
	return found
}

// export is what `opencode export` prints.
type export struct {
	Info struct {
		ID, ParentID, Directory, Title, Version string
		Time                                    struct{ Created, Updated int64 }
	}
	Messages []struct {
		Info  map[string]any
		Parts []map[string]any
	}
}

// load puts an export into the database, with stand-ins for IDs that its exporter took out.
func (db openCodeDB) load(raw []byte) export {
	db.t.Helper()
	var e export
	if err := json.Unmarshal(raw, &e); err != nil {
		db.t.Fatal(err)
	}
	db.session(e.Info.ID, e.Info.ParentID, e.Info.Directory, e.Info.Title, e.Info.Time.Updated)
	for i, m := range e.Messages {
		id := fmt.Sprintf("msg_%s_%05d", e.Info.ID[4:], i)
		var made struct {
			Time struct{ Created int64 }
		}
		info, _ := json.Marshal(m.Info)
		if err := json.Unmarshal(info, &made); err != nil {
			db.t.Fatal(err)
		}
		at := made.Time.Created + int64(len(m.Parts)) // so that growth shows
		delete(m.Info, "id")
		data, _ := json.Marshal(m.Info)
		db.message(id, e.Info.ID, at, string(data))
		for k, p := range m.Parts {
			delete(p, "id")
			data, _ := json.Marshal(p)
			db.part(fmt.Sprintf("prt_%s_%05d_%05d", e.Info.ID[4:], i, k), id, e.Info.ID, at, string(data))
		}
	}
	return e
}

func readOpenCode(t *testing.T, id string, raw []byte) transcript.Document {
	t.Helper()
	db := newOpenCodeDB(t, t.TempDir())
	root := db.load(raw).Info.Directory
	for _, f := range db.find(nil, root).Files {
		if f.NativeID == id {
			return readFile(t, transcript.OpenCode{}, f, []string{root})
		}
	}
	t.Fatalf("%s is not found", id)
	return transcript.Document{}
}

// byCommands are the files that changed in a message in which a command ran, no subagent did, and no call edited them,
// and how often.
func byCommands(e export) map[string]int {
	out := map[string]int{}
	for _, m := range e.Messages {
		named, ran, others := "", false, false
		for _, p := range m.Parts {
			ran, others = ran || p["tool"] == "bash", others || p["tool"] == "task"
			if p["tool"] == "edit" || p["tool"] == "write" || p["tool"] == "apply_patch" {
				if state, ok := p["state"].(map[string]any); ok {
					named += fmt.Sprint(state["input"])
				}
			}
		}
		for _, p := range m.Parts {
			files, ok := p["files"].([]any)
			for _, f := range files {
				path := fmt.Sprint(f)
				if ok && ran && !others && !strings.Contains(named, strings.TrimPrefix(path, e.Info.Directory+"/")) {
					out[path]++
				}
			}
		}
	}
	return out
}

func TestRealOpenCode(t *testing.T) {
	for name, want := range realSessions(t, "opencode") {
		id, _, _ := strings.Cut(path.Base(name), ".")
		raw := harness.Unzipped(t, "agents/"+name)
		var e export
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		want.Prompts += want.Commands // a command that a person gave is what was said
		want.Tools["apply_patch"] = 0 // one call for each file that a patch names
		for _, m := range e.Messages {
			for _, p := range m.Parts {
				state, _ := p["state"].(map[string]any)
				if p["tool"] == "apply_patch" {
					patch, _ := json.Marshal(state["input"])
					want.Tools["apply_patch"] += len(patchHeaders.FindAll(patch, -1))
				}
				about, _ := state["metadata"].(map[string]any)
				if exit, ok := about["exit"].(float64); ok && exit != 0 { // OpenCode calls such a command completed
					want.Failed++
				}
			}
		}
		for path, n := range byCommands(e) {
			want.Tools["patch"] += n
			if !slices.Contains(want.Edited, path) {
				want.Edited = append(want.Edited, path)
			}
		}
		if want.Tools["apply_patch"] == 0 {
			delete(want.Tools, "apply_patch")
		}
		if want.Child { // its answers and calls are a subagent's
			want.Tools, want.ToolsSub, want.Texts, want.TextsSub = want.ToolsSub, want.Tools, 0, want.Texts
		}
		doc := readOpenCode(t, id, raw)
		harness.Equal(t, name, want.rooted(e.Info.Directory).sums(), sum(doc, e.Info.Directory))
		spokeLast(t, id, doc)
	}
}

// TestOpenCodeInProgress: an answer that is being given waits, and so does what is typed meanwhile; a call that runs
// does not.
func TestOpenCodeInProgress(t *testing.T) {
	const ses, root = "ses_1", "/work/shop"
	db := newOpenCodeDB(t, t.TempDir())
	db.session(ses, "", root, "New session - 2026", 1000)
	db.message("msg_1", ses, 1000, `{"role":"user","time":{"created":1000}}`)
	db.part("prt_1", "msg_1", ses, 1000, `{"type":"text","text":"fix it"}`)
	db.message("msg_2", ses, 2000, `{"role":"assistant","time":{"created":2000}}`)
	db.part("prt_2", "msg_2", ses, 2000, `{"type":"text","text":"On i","time":{"start":2001}}`)
	said := func() []string {
		t.Helper()
		doc := readFile(t, transcript.OpenCode{}, db.find(nil, root).Files[0], []string{root})
		return flatten(doc)[ses]
	}
	harness.Equal(t, "while text is written", 1, len(said()))
	db.part("prt_2", "msg_2", ses, 2100, `{"type":"text","text":"On it.","time":{"start":2001,"end":2100}}`)
	db.part("prt_3", "msg_2", ses, 2200,
		`{"type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"git commit"},"time":{"start":2200}}}`)
	db.message("msg_3", ses, 2300, `{"role":"user","time":{"created":2300}}`)
	db.part("prt_4", "msg_3", ses, 2300, `{"type":"text","text":"faster"}`)
	doc := readFile(t, transcript.OpenCode{}, db.find(nil, root).Files[0], []string{root})
	if s := doc.Sessions[0]; len(s.Turns) != 2 || len(s.ToolCalls) != 1 || s.ToolCalls[0].Cmd != "git commit" ||
		s.Title != "fix it" {
		t.Errorf("while a command runs: %+v", s)
	}
	db.message("msg_4", ses, 2400, `{"role":"assistant","time":{"created":2400},"error":{"name":"MessageAbortedError"}}`)
	if n := len(said()); n != 3 {
		t.Errorf("%d turns when the answer was given up, want 3", n)
	}
}

// TestOpenCodeUnread: a database that has not changed is not opened, one whose parts changed is; a row that is broken
// costs that row.
func TestOpenCodeUnread(t *testing.T) {
	const root = "/work/shop"
	db := newOpenCodeDB(t, t.TempDir())
	for i := range 3 {
		id := fmt.Sprint("ses_", i)
		db.session(id, "", root, "title", 1000)
		db.message("msg_"+id, id, 1000, `{"role":"user","time":{"created":1000}}`)
		db.part("prt_"+id, "msg_"+id, id, 1000, `{"type":"text","text":"hello"}`)
	}
	db.session("ses_other", "", "/work/elsewhere", "title", 1000)
	db.part("prt_broken", "msg_ses_0", "ses_0", 1000, `{"type":`)
	db.part("prt_odd", "msg_ses_0", "ses_0", 1000, `{"type":"tool","tool":7,"state":{"input":"no object"}}`)
	first := db.find(nil, root)
	if len(first.Files) != 3 {
		t.Fatalf("%d sessions, want 3", len(first.Files))
	}
	if doc := readFile(t, transcript.OpenCode{}, first.Files[0], []string{root}); len(doc.Sessions) != 1 ||
		len(doc.Sessions[0].Turns) != 1 {
		t.Errorf("beside a broken row: %+v", doc)
	}
	if again := db.find(first.LocateState, root); !reflect.DeepEqual(first, again) {
		t.Errorf("again %+v, first %+v", again, first)
	}
	db.part("prt_ses_1b", "msg_ses_1", "ses_1", 5000, `{"type":"text","text":"more"}`)
	changed := db.find(first.LocateState, root).Files[1]
	if changed.ModTime.UnixMilli() != 5000 || changed.Size == first.Files[1].Size {
		t.Errorf("a part more: %+v, before %+v", changed, first.Files[1])
	}
}

// TestOpenCodeGoesOn: what is known of a database changes nothing of what is found in it, whatever is written: to a
// session whose answer is over, or is not, or to a new one.
func TestOpenCodeGoesOn(t *testing.T) {
	const root = "/work/shop"
	db := newOpenCodeDB(t, t.TempDir())
	answer := func(n int, session string, done bool) {
		id := fmt.Sprintf("msg_%03d", n)
		data := `{"role":"assistant","time":{"created":1000}}`
		if done {
			data = `{"role":"assistant","time":{"created":1000,"completed":2000}}`
		}
		db.message(id, session, int64(1000+n), data)
		db.part("prt_"+id, id, session, int64(1000+n), `{"type":"text","text":"hello"}`)
	}
	db.session("ses_over", "", root, "title", 1000)
	db.session("ses_runs", "", root, "title", 1000)
	answer(1, "ses_over", true)
	answer(2, "ses_runs", false)
	known := db.find(nil, root).LocateState
	for i, step := range []struct {
		name    string
		changes func()
	}{
		{"nothing", func() {}},
		{"a part of what runs", func() { db.part("prt_x", "msg_002", "ses_runs", 1500, `{"type":"text","text":"more"}`) }},
		{"its end", func() { answer(2, "ses_runs", true) }},
		{"an answer when IDs begin anew", func() {
			db.message("msg_000", "ses_runs", 1510,
				`{"role":"assistant","time":{"created":1510}}`)
		}},
		{"an answer behind one that is over", func() { answer(3, "ses_over", false) }},
		{"a part of it", func() { db.part("prt_y", "msg_003", "ses_over", 1600, `{"type":"text","text":"more"}`) }},
		{"a title", func() { db.session("ses_runs", "", root, "another", 1700) }},
		{"a new session", func() { db.session("ses_new", "", root, "title", 1800); answer(4, "ses_new", true) }},
		{"one that is gone", func() { db.do(`DELETE FROM session WHERE id = 'ses_over'`) }},
		{"nothing again", func() { db.do(`UPDATE part SET time_created = 7 WHERE id = 'prt_x'`) }},
	} {
		step.changes()
		db.do(`CREATE TABLE step` + strconv.Itoa(i) + ` (x)`) // so that the database changes in any case
		found := db.find(known, root)
		harness.Equal(t, step.name, db.find(nil, root).Files, found.Files)
		known = found.LocateState
	}
}

// TestOpenCodeBeside: of sessions that were begun elsewhere those are found that edited a file here, whenever their
// parts were written, and nothing is searched for them twice.
func TestOpenCodeBeside(t *testing.T) {
	const root, edit = "/work/shop",
		`{"type":"tool","tool":"edit","state":{"status":"completed","input":{"filePath":"/work/shop/a.go"}}}`
	db := newOpenCodeDB(t, t.TempDir())
	add := func(session, part string) {
		t.Helper()
		db.session(session, "", "/work/elsewhere", "title", 1000)
		db.message("msg_"+session, session, 1000, `{"role":"user","time":{"created":1000}}`)
		db.part("prt_"+session, "msg_"+session, session, 1000, part)
	}
	var known []byte
	looks := func(step string, want ...string) {
		t.Helper()
		found := db.find(known, root)
		known = found.LocateState
		harness.Equal(t, step, want, natives(found))
		again := db.find(known, root)
		harness.Equal(t, step+", again", want, natives(again))
		if !bytes.Equal(known, again.LocateState) {
			t.Errorf("%s: what is known changes although nothing did", step)
		}
	}
	add("ses_text", `{"type":"text","text":"edit /work/shop/a.go"}`)
	add("ses_reads", `{"type":"tool","tool":"read","state":{"input":{"filePath":"/work/shop/edit.go"}}}`)
	add("ses_other", `{"type":"tool","tool":"edit","state":{"input":{"filePath":"/work/elsewhere/a.go"}}}`)
	add("ses_absolute", edit)
	add("ses_relative", `{"type":"tool","tool":"apply_patch","state":{"input":{"patchText":"*** Begin Patch\\n*** Update File: ../shop/a.go\\n*** End Patch"}}}`)
	add("ses_ran", `{"type":"patch","files":["/work/shop/a.go"]}`)
	found := []string{"ses_absolute", "ses_ran", "ses_relative"}
	looks("at first", found...)
	db.part("prt_late", "msg_ses_reads", "ses_reads", 1000,
		`{"type":"tool","tool":"edit","state":{"status":"pending","input":{}}}`)
	looks("a call that does not say yet what it edits", found...)
	db.do(`UPDATE part SET data = ? WHERE id = 'prt_late'`, edit)
	looks("once it does", append(found[:2:2], "ses_reads", "ses_relative")...)
	db.do(`DELETE FROM part WHERE session_id IN ('ses_reads', 'ses_text')`)
	add("ses_text", edit)
	found = []string{"ses_absolute", "ses_ran", "ses_reads", "ses_relative", "ses_text"}
	looks("in the row of a part that was deleted", found...)
	harness.Equal(t, "with a worktree more", found, natives(func() transcript.Found {
		f, err := transcript.OpenCode{}.Locate(t.Context(),
			transcript.Env{Home: db.home, Roots: []string{root, "/work/shop-two"}, LocateState: known})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}()))
	db.do(`DELETE FROM session WHERE id <> 'ses_ran'`)
	looks("when sessions are gone", "ses_ran")
}

// TestOpenCodeSpends: the latest parts are searched first, and what is too much waits; a database that is written to at
// the moment takes nothing away.
func TestOpenCodeSpends(t *testing.T) {
	db := newOpenCodeDB(t, t.TempDir())
	parts := func(first, n int, session string) {
		db.session(session, "", "/work/elsewhere", "title", 1000)
		db.do(`WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i+1 FROM n WHERE i+1 < ?1+?2) INSERT INTO part
			SELECT 'prt_' || i, 'msg', iif(i = ?1, ?3, 'ses_else'), 1, 1, iif(i = ?1, '{"type":"tool","tool":"write","state":{"input":{"filePath":"/work/shop/a.go"}}}', '{}') FROM n`, first, n, session)
	}
	parts(0, 3000, "ses_1")
	parts(5000, 3000, "ses_2")
	env := transcript.Env{Home: db.home, Roots: []string{"/work/shop"}, Search: 3000}
	steps := [][]string{
		nil, nil,
		{"ses_2"},
		{"ses_2", "ses_3"},
		{"ses_1", "ses_2", "ses_3"},
		{"ses_1", "ses_2", "ses_3"},
		{"ses_1", "ses_2", "ses_3"},
	}
	for i, want := range steps {
		switch i {
		case 3:
			parts(9000, 10, "ses_3")
		case 6:
			db.SetMaxOpenConns(1)
			db.do(`PRAGMA journal_mode = DELETE`)
			db.do(`BEGIN EXCLUSIVE`)
			db.do(`UPDATE session SET title = 'another'`)
		}
		found, err := transcript.OpenCode{}.Locate(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, fmt.Sprint("look ", i), want, natives(found))
		env.LocateState = found.LocateState
	}
}

// BenchmarkOpenCodeLocate looks for what is new of 441 sessions of today, of which one goes on.
func BenchmarkOpenCodeLocate(b *testing.B) {
	const root = "/work/shop"
	db := newOpenCodeDB(b, b.TempDir())
	text := strings.Repeat("x", 3000)
	db.do("BEGIN")
	for i := range 441 {
		session := fmt.Sprintf("ses_%03d", i)
		db.session(session, "", root, "title", 1000)
		for j := range 15 {
			id := fmt.Sprintf("msg_%03d_%02d", i, j)
			db.message(id, session, int64(1000+j), `{"role":"assistant","time":{"created":1000,"completed":1001}}`)
			for k := range 8 {
				db.part(fmt.Sprintf("prt_%s_%d", id, k), id, session, 1000, `{"type":"text","text":"`+text+`"}`)
			}
		}
	}
	db.do("COMMIT")
	known := db.find(nil, root).LocateState
	for n := 0; b.Loop(); n++ {
		db.message(fmt.Sprintf("msg_new_%06d", n), "ses_000", 2000, `{"role":"user"}`)
		known = db.find(known, root).LocateState
	}
}

// TestOpenCodeMeanwhile reads a database while two programs write to it: none of them waits.
func TestOpenCodeMeanwhile(t *testing.T) {
	rounds := 60
	if n := os.Getenv("OPENCODE_ROUNDS"); n != "" {
		var err error
		if rounds, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	meanwhile(t, rounds)
}

func meanwhile(t *testing.T, rounds int) {
	const root = "/work/shop"
	home := t.TempDir()
	db := newOpenCodeDB(t, home)
	db.session("ses_0", "", root, "title", 1000)
	db.session("ses_1", "", root, "title", 1000)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	var longest [2]time.Duration
	for w := range 2 {
		own := newOpenCodeWriter(t, home)
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if err := writeOnce(own, w, i); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				longest[w] = max(longest[w], time.Since(began))
				time.Sleep(time.Millisecond)
			}
		})
	}
	read := 0
	for range rounds {
		for _, f := range db.find(nil, root).Files {
			for _, s := range readFile(t, transcript.OpenCode{}, f, []string{root}).Sessions {
				read += len(s.Turns)
			}
		}
	}
	close(stop)
	writers.Wait()
	t.Logf("%d rounds, %d turns read; a writer waited at most %v and %v", rounds, read, longest[0], longest[1])
	if read == 0 {
		t.Error("nothing was read")
	}
}

// newOpenCodeWriter is another program that has the database open. Writers wait for each other; how long is logged.
func newOpenCodeWriter(t *testing.T, home string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, ".local", "share", "opencode",
		"opencode.db")+"?_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func writeOnce(db *sql.DB, w, i int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	ses, at := fmt.Sprint("ses_", w), 2000+i
	id := fmt.Sprintf("msg_%d_%06d", w, i%100)
	_, err = tx.Exec(`INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)`, id, ses, at, at,
		fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at))
	if err == nil {
		_, err = tx.Exec(`INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)`, "prt"+id[3:], id, ses, at, at,
			`{"type":"text","text":"a prompt that is written"}`)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}
