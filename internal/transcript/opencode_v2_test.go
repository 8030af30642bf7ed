package transcript_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// openCodeSchemaV2 are the tables of version 2.
const openCodeSchemaV2 = `
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text, version text NOT NULL, time_created integer NOT NULL,
	time_updated integer NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer, time_created integer NOT NULL,
	time_updated integer NOT NULL, data text NOT NULL);`

func (db openCodeDB) sessionV2(id, dir, title string, at int64) {
	db.t.Helper()
	db.do(`INSERT OR REPLACE INTO session_v2 VALUES (?, NULL, ?, ?, '2.0.21', ?, ?)`, id, dir, title, at, at)
}

func (db openCodeDB) messageV2(id, of, kind string, at int64, data string) {
	db.t.Helper()
	db.do(`INSERT OR REPLACE INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)`, id, of, kind, at, at, at, data)
}

const (
	askedV2    = `{"text":"round the total"}`
	answeredV2 = `{"model":{"id":"glm-5"},"finish":"stop","tokens":{"input":9,"output":3,"reasoning":0,"cache":{"read":0,"write":0}},"content":[
		{"type":"reasoning","text":"hm"},{"type":"text","text":"Rounded."},
		{"type":"tool","id":"c1","name":"edit","state":{"status":"completed","input":{"filePath":"/work/shop/cart.go","oldString":"one","newString":"two"},"structured":{},"content":[]}},
		{"type":"tool","id":"c2","name":"bash","state":{"status":"completed","input":{"command":"go test"},"structured":{"exit":1},"content":[{"type":"text","text":"FAIL"}]}},
		{"type":"tool","id":"c3","name":"write","state":{"status":"error","input":{"filePath":"no.go","content":"x"},"error":{"message":"no"}}}]}`
)

// saysV2 is what is read of a session.
func saysV2(t *testing.T, f transcript.File) (out []string) {
	t.Helper()
	doc := readWith(t, transcript.OpenCode{}, transcript.Options{File: f, Roots: []string{root}, Outputs: true})
	for kind := range doc.Skipped.Unknown {
		out = append(out, "unknown "+kind)
	}
	for _, s := range doc.Sessions {
		for _, turn := range s.Turns {
			out = append(out, turn.Role+" "+turn.Content)
		}
		for _, c := range s.ToolCalls {
			out = append(out, fmt.Sprintf("%s %s %s %s %v", c.Tool, c.Act, c.Path, c.Cmd, c.Failed))
		}
		for _, o := range s.Outputs {
			out = append(out, "printed "+o.Text)
		}
	}
	return out
}

// TestOpenCodeV2 reads what version 2 writes, alone and beside the frozen tables of version 1.
func TestOpenCodeV2(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).UnixMilli()
	whole := []string{
		"human round the total", "assistant Rounded.", "edit edit cart.go  false", "bash run  go test true",
		"write edit no.go  true", "printed FAIL",
	}
	for _, c := range []struct {
		name string
		fill func(db openCodeDB)
		want []string
	}{
		{"alone", func(db openCodeDB) {
			db.do(`DROP TABLE session; DROP TABLE message; DROP TABLE part`)
			db.sessionV2("ses_1", root, "Round", at)
			db.messageV2("msg_1", "ses_1", "user", at, askedV2)
			db.messageV2("msg_2", "ses_1", "assistant", at+1000, answeredV2)
		}, whole},
		{"beside version 1", func(db openCodeDB) {
			db.session("ses_0", "", "/elsewhere", "Old", at-9000)
			db.sessionV2("ses_1", root, "Round", at)
			db.messageV2("msg_1", "ses_1", "user", at, askedV2)
			db.messageV2("msg_2", "ses_1", "assistant", at+1000, answeredV2)
		}, whole},
		{"gone on with from version 1", func(db openCodeDB) {
			db.session("ses_1", "", root, "Round", at)
			db.message("msg_1", "ses_1", at, `{"role":"user","time":{"created":1}}`)
			db.part("prt_1", "msg_1", "ses_1", at, `{"type":"text","text":"round the total"}`)
			db.sessionV2("ses_1", root, "Round", at+9000)
			db.messageV2("msg_1", "ses_1", "user", at, askedV2)
			db.messageV2("msg_5", "ses_1", "user", at+2000, `{"text":"and ship it"}`)
		}, []string{"human round the total", "human and ship it"}},
		{"what the program says, and what nobody knows", func(db openCodeDB) {
			db.sessionV2("ses_1", root, "Round", at)
			db.messageV2("msg_1", "ses_1", "user", at, askedV2)
			db.messageV2("msg_2", "ses_1", "synthetic", at+1, `{"text":"Continue."}`)
			db.messageV2("msg_3", "ses_1", "system", at+2, `{"text":"You are"}`)
			db.messageV2("msg_4", "ses_1", "shell", at+3, `{"command":"ls","output":"cart.go","exit":0}`)
			db.messageV2("msg_5", "ses_1", "dream", at+4, `{"text":"?"}`)
			db.messageV2("msg_6", "ses_1", "compaction", at+5, `{"summary":"so far"}`)
			db.messageV2("msg_7", "ses_1", "user", at+6, `not JSON`)
		}, []string{"unknown dream", "human round the total", "human !ls"}},
		{"an answer under way", func(db openCodeDB) {
			db.sessionV2("ses_1", root, "Round", at)
			db.messageV2("msg_1", "ses_1", "user", at, askedV2)
			db.messageV2("msg_2", "ses_1", "assistant", at+1,
				`{"content":[{"type":"text","text":"I look."},{"type":"text","text":"It is"}]}`)
		}, []string{"human round the total", "assistant I look."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := newOpenCodeDB(t, t.TempDir())
			db.do(openCodeSchemaV2)
			c.fill(db)
			found := db.find(nil, root)
			if len(found.Files) != 1 {
				t.Fatalf("found %v", found.Files)
			}
			harness.Equal(t, "it says", c.want, saysV2(t, found.Files[0]))
		})
	}
}

// TestOpenCodeV2GoesOn: a session whose answer is over is looked at again when it has a new message, and one of another
// folder when it edits a file here.
func TestOpenCodeV2GoesOn(t *testing.T) {
	at := time.Now().Add(-time.Hour).UnixMilli()
	db := newOpenCodeDB(t, t.TempDir())
	db.do(openCodeSchemaV2)
	db.sessionV2("ses_1", root, "Round", at)
	db.messageV2("msg_1", "ses_1", "user", at, askedV2)
	db.messageV2("msg_2", "ses_1", "assistant", at+1, `{"finish":"stop","content":[{"type":"text","text":"Done."}]}`)
	db.sessionV2("ses_2", "/elsewhere", "Beside", at)
	first := db.find(nil, root)
	harness.Equal(t, "found", 1, len(first.Files))
	db.messageV2("msg_3", "ses_1", "user", at+5000, `{"text":"and now?"}`)
	db.messageV2("msg_4", "ses_2", "assistant", at+5000, answeredV2)
	then := db.find(first.LocateState, root)
	harness.Equal(t, "found then", 2, len(then.Files))
	if was, is := first.Files[0], then.Files[0]; was.NativeID == is.NativeID && was.ModTime.Equal(is.ModTime) {
		t.Error("the session has not changed")
	}
	for _, f := range then.Files {
		if s := readFile(t, transcript.OpenCode{}, f, []string{root}).Sessions; f.NativeID == "ses_2" &&
			(len(s) != 1 || s[0].ToolCalls[0].Act != session.ActEdit) {
			t.Errorf("of the session beside: %+v", s)
		}
	}
}
