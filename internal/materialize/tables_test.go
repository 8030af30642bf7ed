package materialize_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// The columns that the schema page documents, in its order; a table may have more behind
// them.
var documented = map[string]string{
	"data.sessions":            "id parent_session_id session_hash captured_at actor_type agent_id user_email branch",
	"data.turns":               "id session_id turn_index role content ts",
	"data.tool_calls":          "id session_id call_order tool path cmd_prefix",
	"data.checkpoints":         "id git_sha git_branch user_email ts actor_type agent_id",
	"data.files_touched":       "id checkpoint_id file_path change_type",
	"data.checkpoint_sessions": "checkpoint_id session_id",
	"index.turns_ft":           "id session_id turn_index role content ts",
	"index.tool_calls_index":   "id session_id call_order tool path cmd_prefix",
	"index.files_index":        "checkpoint_id session_id file_path change_type",
	"index.session_facets": "session_id user_email git_branch actor_type agent_id captured_at turn_count tool_call_count " +
		"file_count checkpoint_id git_sha",
	"index.session_embeddings": "session_id embedding model generated_at",
	"index.file_cooccurrence":  "file_a file_b session_count",
	"index.index_state":        "session_count turn_count embedding_dim last_indexed_at",
}

func TestDocumentedColumns(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1)
	m := w.materializer()
	for name, want := range documented {
		file, table, _ := strings.Cut(name, ".")
		ask := w.data
		if file == "index" {
			ask = w.index
		}
		var got []string
		for _, row := range ask(m, `SELECT column_name AS c FROM duckdb_columns() WHERE table_name = '`+table+`' ORDER BY column_index`) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(row, `{"c":"`), `"}`))
		}
		if !strings.HasPrefix(strings.Join(got, " ")+" ", want+" ") {
			t.Errorf("%s has the columns %q, want %q first", name, got, want)
		}
	}
}

// story is a ledger with everything that tables are made from: a session before the first
// commit that goes on, its subagent, a commit that only links, notes. It returns the commits.
func (w *world) story() (parent, child session.Session, commits []git.OID) {
	w.t.Helper()
	parent = chat("parent", 0, "human why do tokens expire early", "assistant the clock is local", "Edit src/jwt.go",
		"Bash go test ./...", "human and the refresh", "Read src/refresh.go", "assistant it is fine")
	child = chat("child", 3, "human look at the clock", "Read src/clock.go", "assistant it is local")
	child.Parent, child.ActorType, child.AgentID, child.Branch = parent.ID, session.ActorAgent, "a1", ""
	commits = append(commits,
		w.append(alice, 10, entryOf(commit("0", alice), until(parent, 2, 2), child)),
		w.append(alice, 20, entryOf(commit("1", alice, "M src/jwt.go", "A README"), from(parent, 2, 2))),
	)
	link := commit("2", alice, "D src/jwt.go", "R old.go new.go")
	link.Links = []session.Link{{Session: parent.ID, Tie: session.TieMade, Evidence: "shell"}}
	commits = append(commits, w.append(alice, 30, entryOf(link)))
	w.append(alice, 40, session.Entry{
		Memories: []session.Memory{{
			ID: session.NewID(later(40), "", "memory"), Title: "t", Content: "remember UTC",
			Source: "agent", TS: later(40), ActorType: session.ActorAgent,
		}},
		Purges:   []session.Mark{{ID: child.ID, N: 1, TS: later(40)}},
		Restores: []session.Mark{{ID: child.ID, N: 2, TS: later(41)}},
		Rewrites: []session.Rewrite{{Old: strings.Repeat("1", 40), New: strings.Repeat("3", 40), TS: later(40)}},
	})
	return parent, child, commits
}

// TestNotices: what an older version stored as a person's words is the agent's, and gives no title.
func TestNotices(t *testing.T) {
	w := newWorld(t)
	notice := `{"task_id":"b1f","tool_use_id":"toolu_1","description":"Run the tests","task_type":"local_bash"}`
	s := chat("noticed", 0, "human "+notice, "human fix the clock", "assistant done")
	s.Title = notice
	w.append(alice, 10, session.Entry{Sessions: []session.Session{s}})
	got := w.data(w.materializer(), "SELECT role, left(content, 9) AS said FROM turns ORDER BY turn_index")
	want := []string{
		`{"role":"assistant","said":"{\"task_id"}`, `{"role":"human","said":"fix the c"}`,
		`{"role":"assistant","said":"done"}`,
	}
	harness.Equal(t, "turns", want, got)
	harness.Equal(t, "title", []string{`{"title":"fix the clock"}`},
		w.index(w.materializer(), "SELECT title FROM session_facets"))
}

func TestDataTables(t *testing.T) {
	w := newWorld(t)
	parent, child, cps := w.story()
	m := w.materializer()
	at := func(minutes int) string { return later(minutes).Format("2006-01-02T15:04:05Z") }
	id := func(s session.Session, kind string, minutes, i int) string {
		return session.RowID(later(minutes), s.ID, kind, i)
	}
	file := func(cp, minutes, i int) string {
		return session.RowID(later(minutes), string(cps[cp]), "file", i)
	}
	obj := func(format string, args ...any) string { return fmt.Sprintf("{"+format+"}", args...) }
	for _, c := range []struct {
		name, statement string
		want            []string
	}{
		{"sessions", `SELECT id, parent_session_id, captured_at, actor_type, agent_id, user_email, branch FROM sessions ORDER BY id`, []string{
			obj(`"id":%q,"parent_session_id":null,"captured_at":%q,"actor_type":"human","agent_id":null,"user_email":%q,"branch":"main"`, parent.ID, at(10), alice),
			obj(`"id":%q,"parent_session_id":%q,"captured_at":%q,"actor_type":"agent","agent_id":"a1","user_email":%q,"branch":null`, child.ID, parent.ID, at(10), alice),
		}},
		{"hashes", `SELECT DISTINCT session_hash AS h FROM sessions`, []string{obj(`"h":%q`, parent.Hash)}},
		{"numbers", `SELECT first_turn, next_turn, first_tool, next_tool, last_turn_at FROM sessions ORDER BY id`, []string{
			obj(`"first_turn":0,"next_turn":4,"first_tool":0,"next_tool":3,"last_turn_at":%q`, at(6)),
			obj(`"first_turn":0,"next_turn":2,"first_tool":0,"next_tool":1,"last_turn_at":%q`, at(5)),
		}},
		{"turns", `SELECT id, session_id, turn_index, role, content, ts FROM turns ORDER BY session_id, turn_index`, []string{
			obj(`"id":%q,"session_id":%q,"turn_index":0,"role":"human","content":"why do tokens expire early","ts":%q`,
				id(parent, "turn", 0, 0), parent.ID, at(0)),
			obj(`"id":%q,"session_id":%q,"turn_index":1,"role":"assistant","content":"the clock is local","ts":%q`,
				id(parent, "turn", 1, 1), parent.ID, at(1)),
			obj(`"id":%q,"session_id":%q,"turn_index":2,"role":"human","content":"and the refresh","ts":%q`,
				id(parent, "turn", 4, 2), parent.ID, at(4)),
			obj(`"id":%q,"session_id":%q,"turn_index":3,"role":"assistant","content":"it is fine","ts":%q`,
				id(parent, "turn", 6, 3), parent.ID, at(6)),
			obj(`"id":%q,"session_id":%q,"turn_index":0,"role":"human","content":"look at the clock","ts":%q`,
				id(child, "turn", 3, 0), child.ID, at(3)),
			obj(`"id":%q,"session_id":%q,"turn_index":1,"role":"assistant","content":"it is local","ts":%q`,
				id(child, "turn", 5, 1), child.ID, at(5)),
		}},
		{"tool_calls", `SELECT id, session_id, call_order, tool, path, cmd_prefix FROM tool_calls ORDER BY session_id, call_order`, []string{
			obj(`"id":%q,"session_id":%q,"call_order":0,"tool":"Edit","path":"src/jwt.go","cmd_prefix":null`,
				id(parent, "tool", 1, 0), parent.ID),
			obj(`"id":%q,"session_id":%q,"call_order":1,"tool":"Bash","path":null,"cmd_prefix":"go test ./..."`,
				id(parent, "tool", 1, 1), parent.ID),
			obj(`"id":%q,"session_id":%q,"call_order":2,"tool":"Read","path":"src/refresh.go","cmd_prefix":null`,
				id(parent, "tool", 4, 2), parent.ID),
			obj(`"id":%q,"session_id":%q,"call_order":0,"tool":"Read","path":"src/clock.go","cmd_prefix":null`,
				id(child, "tool", 3, 0), child.ID),
		}},
		{
			"programs", `SELECT program, cmd_prefix FROM tool_calls WHERE program IS NOT NULL`,
			[]string{`{"program":"go test","cmd_prefix":"go test ./..."}`},
		},
		{
			"checkpoints", `SELECT id, git_sha, git_branch, user_email, ts, actor_type, agent_id FROM checkpoints ORDER BY ts`,
			[]string{
				obj(`"id":%q,"git_sha":%q,"git_branch":"main","user_email":%q,"ts":%q,"actor_type":"human","agent_id":null`, cps[0],
					session.ZeroSHA, alice, at(10)),
				obj(`"id":%q,"git_sha":%q,"git_branch":"main","user_email":%q,"ts":%q,"actor_type":"human","agent_id":null`, cps[1],
					strings.Repeat("1", 40), alice, at(20)),
				obj(`"id":%q,"git_sha":%q,"git_branch":"main","user_email":%q,"ts":%q,"actor_type":"human","agent_id":null`, cps[2],
					strings.Repeat("2", 40), alice, at(30)),
			},
		},
		{"files_touched", `SELECT f.id, checkpoint_id, file_path, change_type FROM files_touched f JOIN checkpoints c ON c.id = checkpoint_id ORDER BY ts, file_path DESC`, []string{
			obj(`"id":%q,"checkpoint_id":%q,"file_path":"src/jwt.go","change_type":"M"`, file(1, 20, 0), cps[1]),
			obj(`"id":%q,"checkpoint_id":%q,"file_path":"README","change_type":"A"`, file(1, 20, 1), cps[1]),
			obj(`"id":%q,"checkpoint_id":%q,"file_path":"src/jwt.go","change_type":"D"`, file(2, 30, 0), cps[2]),
			obj(`"id":%q,"checkpoint_id":%q,"file_path":"new.go","change_type":"R"`, file(2, 30, 1), cps[2]),
		}},
		{"checkpoint_sessions", `SELECT checkpoint_id, session_id, inferred, tie FROM checkpoint_sessions JOIN checkpoints ON id = checkpoint_id ORDER BY ts, session_id`, []string{
			obj(`"checkpoint_id":%q,"session_id":%q,"inferred":true,"tie":"talked"`, cps[0], parent.ID),
			obj(`"checkpoint_id":%q,"session_id":%q,"inferred":true,"tie":"talked"`, cps[0], child.ID),
			obj(`"checkpoint_id":%q,"session_id":%q,"inferred":false,"tie":"edited"`, cps[1], parent.ID),
			obj(`"checkpoint_id":%q,"session_id":%q,"inferred":false,"tie":"made"`, cps[2], parent.ID),
		}},
		{
			"memories", `SELECT content, source, user_email FROM memories`,
			[]string{obj(`"content":"remember UTC","source":"agent","user_email":%q`, alice)},
		},
		{"marks", `SELECT kind, n FROM marks ORDER BY n`, []string{`{"kind":"purge","n":1}`, `{"kind":"restore","n":2}`}},
		{"rewrites", `SELECT old_sha[1] AS o, new_sha[1] AS n FROM rewrites`, []string{`{"o":"1","n":"3"}`}},
	} {
		t.Run(c.name, func(t *testing.T) { harness.Equal(t, c.name, c.want, w.data(m, c.statement)) })
	}
	w.noWarnings()
}

func TestIndexTables(t *testing.T) {
	w := newWorld(t)
	parent, child, cps := w.story()
	m := w.materializer()
	tables := w.catchUp(m)
	obj := func(format string, args ...any) string { return fmt.Sprintf("{"+format+"}", args...) }
	for _, c := range []struct {
		name, statement string
		want            []string
	}{
		{"session_facets", `SELECT session_id, user_email, git_branch, actor_type, agent_id, captured_at, turn_count, tool_call_count,
			file_count, checkpoint_id, git_sha, files, left_paths FROM session_facets WHERE kind = 'session' ORDER BY session_id`, []string{
			obj(`"session_id":%q,"user_email":%q,"git_branch":"main","actor_type":"human","agent_id":null,"captured_at":"2026-03-04T10:10:00Z",`+
				`"turn_count":4,"tool_call_count":3,"file_count":2,"checkpoint_id":%q,"git_sha":%q,"files":["src/jwt.go","new.go"],"left_paths":["new.go","src/jwt.go"]`,
				parent.ID, alice, cps[2], strings.Repeat("2", 40)),
			obj(`"session_id":%q,"user_email":%q,"git_branch":null,"actor_type":"agent","agent_id":"a1","captured_at":"2026-03-04T10:10:00Z",`+
				`"turn_count":2,"tool_call_count":1,"file_count":0,"checkpoint_id":%q,"git_sha":%q,"files":[],"left_paths":[]`,
				child.ID, alice, cps[0], session.ZeroSHA),
		}},
		{"session_facets of a memory", `SELECT user_email, git_branch, actor_type, captured_at, turn_count, tool_call_count, title, source, last_turn_at
			FROM session_facets WHERE kind = 'memory'`, []string{
			obj(`"user_email":%q,"git_branch":null,"actor_type":"agent","captured_at":"2026-03-04T10:40:00Z","turn_count":1,`+
				`"tool_call_count":0,"title":"t","source":"agent","last_turn_at":"2026-03-04T10:40:00Z"`, alice),
		}},
		{
			"files_index", `SELECT checkpoint_id, session_id, file_path, change_type FROM files_index ORDER BY change_type`,
			[]string{
				obj(`"checkpoint_id":%q,"session_id":%q,"file_path":"src/jwt.go","change_type":"D"`, cps[2], parent.ID),
				obj(`"checkpoint_id":%q,"session_id":%q,"file_path":"src/jwt.go","change_type":"M"`, cps[1], parent.ID),
				obj(`"checkpoint_id":%q,"session_id":%q,"file_path":"new.go","change_type":"R"`, cps[2], parent.ID),
			},
		},
		{
			"file_cooccurrence", `FROM file_cooccurrence`,
			[]string{obj(`"file_a":"src/jwt.go","file_b":"src/refresh.go","session_count":1`)},
		},
		{"index_state", `SELECT session_count, turn_count, last_indexed_at, embedding_dim = coalesce((SELECT max(len(embedding)) FROM session_embeddings), 0) AS dim
			FROM index_state`, []string{obj(`"session_count":2,"turn_count":6,"last_indexed_at":%q,"dim":true`, later(1000).Format("2006-01-02T15:04:05Z"))}},
		{
			"turns_ft", `SELECT turn_index, ts FROM turns_ft WHERE content = 'and the refresh'`,
			[]string{`{"turn_index":2,"ts":"2026-03-04T10:04:00.000Z"}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) { harness.Equal(t, c.name, c.want, w.index(m, c.statement)) })
	}
	harness.Equal(t, "as many turns and memories in the index", len(tables["data.turns"])+len(tables["data.memories"]),
		len(tables["index.turns_ft"]))
	harness.Equal(t, "as many tool calls in the index", len(tables["data.tool_calls"]),
		len(tables["index.tool_calls_index"]))
}

// The facts that PRIMARY KEY and REFERENCES of the schema page declare.
func TestLongKeysHold(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.crowd(10)
	m := w.materializer()
	w.catchUp(m)
	for _, key := range []string{
		"sessions: id", "turns: id", "turns: session_id, turn_index", "tool_calls: id", "tool_calls: session_id, call_order",
		"memories: id", "purged: id", "checkpoints: id", "files_touched: id",
		"checkpoint_sessions: checkpoint_id, session_id",
	} {
		table, columns, _ := strings.Cut(key, ": ")
		harness.Equal(t, key, []string{}, w.data(m, `SELECT `+columns+` FROM `+table+` GROUP BY ALL HAVING count(*) > 1`))
	}
	for _, key := range []string{
		"turns_ft: id", "tool_calls_index: id", "session_facets: session_id", "session_embeddings: session_id, model",
		"file_cooccurrence: file_a, file_b", "files_index: checkpoint_id, session_id, file_path",
	} {
		table, columns, _ := strings.Cut(key, ": ")
		harness.Equal(t, key, []string{}, w.index(m, `SELECT `+columns+` FROM `+table+` GROUP BY ALL HAVING count(*) > 1`))
	}
	for _, ref := range []string{
		"turns.session_id sessions", "tool_calls.session_id sessions", "files_touched.checkpoint_id checkpoints",
		"checkpoint_sessions.session_id sessions", "checkpoint_sessions.checkpoint_id checkpoints",
		"sessions.parent_session_id sessions",
	} {
		column, to, _ := strings.Cut(ref, " ")
		table, name, _ := strings.Cut(column, ".")
		harness.Equal(t, ref, []string{}, w.data(m,
			`SELECT `+name+` FROM `+table+` WHERE `+name+` IS NOT NULL AND `+name+` NOT IN (SELECT id FROM `+to+`)`))
	}
}

func TestLongFilesBelongToThoseWhoEditedThem(t *testing.T) {
	for _, c := range []struct {
		name  string
		one   []string // what session one did, besides a prompt
		two   []string
		files []string // of the commit
		want  []string // "session path"
	}{
		{
			"own edit, not the neighbour's",
			[]string{"Edit a.go"},
			[]string{"Write b.go"},
			[]string{"M a.go", "A b.go"},
			[]string{"one a.go", "two b.go"},
		},
		{
			"both edited it",
			[]string{"MultiEdit a.go"},
			[]string{"NotebookEdit a.go"},
			[]string{"M a.go"},
			[]string{"one a.go", "two a.go"},
		},
		{"nobody is known to have edited it", []string{"Edit a.go"}, []string{"Bash make"}, []string{"M gen.go"}, nil},
		{
			"one has another file of the commit",
			[]string{"Edit a.go"},
			[]string{"Bash make"},
			[]string{"M a.go", "M gen.go"},
			[]string{"one a.go"},
		},
		{"reading claims nothing", []string{"Read a.go"}, []string{"Edit a.go"}, []string{"M a.go"}, []string{"two a.go"}},
		{
			"a rename of what was edited",
			[]string{"Edit old.go"},
			[]string{"Edit b.go"},
			[]string{"R old.go new.go"},
			[]string{"one new.go"},
		},
		{
			"an edit of the new name",
			[]string{"Edit new.go"},
			[]string{"Edit b.go"},
			[]string{"R old.go new.go"},
			[]string{"one new.go"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			one := chat("one", 0, append([]string{"human do"}, c.one...)...)
			two := chat("two", 1, append([]string{"human do"}, c.two...)...)
			w.append(alice, 10, entryOf(commit("1", alice, c.files...), one, two))
			names := map[string]string{one.ID: "one", two.ID: "two"}
			var got []string
			for _, row := range w.index(w.materializer(),
				`SELECT concat(session_id, ' ', file_path) AS s FROM files_index ORDER BY ALL`) {
				id, path, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(row, `{"s":"`), `"}`), " ")
				got = append(got, names[id]+" "+path)
			}
			harness.Equal(t, "files", c.want, got)
		})
	}
}

// An edit that an earlier checkpoint brought still claims the file of a later commit.
func TestEarlierEditClaimsLaterCommit(t *testing.T) {
	w := newWorld(t)
	one := chat("one", 0, "human do", "Edit a.go", "assistant done")
	two := chat("two", 1, "human do", "Edit b.go")
	pushed := commit("0", alice)
	pushed.Via = session.ViaPush
	w.append(alice, 10, entryOf(pushed, until(one, 1, 1)))
	m := w.materializer()
	w.catchUp(m)
	w.append(alice, 20, entryOf(commit("1", alice, "M a.go"), from(one, 1, 1), two))
	harness.Equal(t, "files", []string{fmt.Sprintf(`{"session_id":%q,"file_path":"a.go"}`, one.ID)},
		w.index(m, `SELECT session_id, file_path FROM files_index`))
}

func TestLongFilesTogether(t *testing.T) {
	w := newWorld(t)
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf("Read f%03d.go", i))
	}
	w.append(alice, 10,
		entryOf(nil, chat("one", 0, "human do", "Edit b.go", "Read a.go", "Read a.go", "Read /etc/passwd", "Read ~/x",
			"Bash ls", "Grep lib")),
		entryOf(nil, chat("two", 1, "human do", "Edit a.go", "Edit b.go", "Edit c.go", "Grep lib")),
		entryOf(nil, chat("other", 2, "human do", "Read lib/d.go")))
	m := w.materializer()
	harness.Equal(t, "pairs", []string{
		`{"file_a":"a.go","file_b":"b.go","session_count":2}`,
		`{"file_a":"a.go","file_b":"c.go","session_count":1}`,
		`{"file_a":"b.go","file_b":"c.go","session_count":1}`,
	}, w.index(m, `FROM file_cooccurrence ORDER BY ALL`))

	// The first fifty files of a session make 50·49/2 pairs, in however many parts they came.
	big := chat("big", 2, append([]string{"human do"}, many...)...)
	w.append(alice, 20, entryOf(nil, until(big, 1, 30)))
	w.catchUp(m)
	w.append(alice, 30, entryOf(nil, from(big, 1, 30)))
	w.catchUp(m)
	harness.Equal(t, "bounded", []string{`{"n":1225,"last":"f049.go"}`},
		w.index(m, `SELECT count(*) AS n, max(file_b) AS last FROM file_cooccurrence WHERE starts_with(file_a, 'f')`))
	same(t, "rebuilt", w.rebuilt(), w.dump(m))
}

// A fork's numbers go on from its origin's; what it copied is not its own.
func TestForkCountsItsOwn(t *testing.T) {
	w := newWorld(t)
	whole := chat("fork", 0, "human one", "Edit a.go", "assistant two", "Edit b.go", "human three", "Edit c.go",
		"assistant four")
	fork := from(whole, 2, 2)
	fork.ForkedFrom = session.NewID(later(-60), "claude-code", "origin")
	w.append(alice, 10, entryOf(nil, fork))
	m := w.materializer()
	harness.Equal(t, "numbers", []string{`{"first_turn":2,"next_turn":4,"first_tool":2,"next_tool":3}`},
		w.data(m, `SELECT first_turn, next_turn, first_tool, next_tool FROM sessions`))
	harness.Equal(t, "facets", []string{`{"turn_count":2,"tool_call_count":1}`},
		w.index(m, `SELECT turn_count, tool_call_count FROM session_facets`))
	harness.Equal(t, "turns", []string{`{"turn_index":2}`, `{"turn_index":3}`},
		w.data(m, `SELECT turn_index FROM turns ORDER BY ALL`))
}

// A checkpoint of very many files is spread over several segments.
func TestCheckpointInSeveralSegments(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1)
	s := chat("one", 0, "human do")
	head := `{"t":"checkpoint","git_sha":"` + strings.Repeat("1", 40) + `","git_branch":"main","user_email":"` + alice +
		`","ts":"2026-03-04T10:10:00.000Z","actor_type":"human","via":"commit"}` + "\n"
	name := "segments/2026/03/04/01KJWGYKR00000000000000000"
	w.raw("refs/heads/rekal/"+alice, map[string]string{
		name + ".ndjson": head + `{"t":"file","path":"a.go","change":"M"}` + "\n",
		name + ".1.ndjson": head + `{"t":"file","path":"b.go","change":"M"}` + "\n" + `{"t":"link","session":"` + s.ID +
			`"}` + "\n" + sessionLine(s) + `{"t":"turn","i":0,"role":"human","ts":"2026-03-04T10:00:00.000Z","content":"do"}` +
			"\n",
	})
	m := w.materializer()
	harness.Equal(t, "one checkpoint", []string{`{"n":1}`}, w.data(m, `SELECT count(*) AS n FROM checkpoints`))
	harness.Equal(t, "all files", []string{`{"file_path":"a.go"}`, `{"file_path":"b.go"}`},
		w.data(m, `SELECT file_path FROM files_touched ORDER BY ALL`))
	w.noWarnings()
}

func sessionLine(s session.Session) string {
	return fmt.Sprintf(`{"t":"session","id":%q,"source":"claude-code","native_id":%q,"actor_type":"human","started_at":%q,"bytes":0,"first_turn":%d,"first_tool":%d}`+"\n",
		s.ID, s.NativeID, s.StartedAt.Format("2006-01-02T15:04:05.000Z"), s.FirstTurn, s.FirstTool)
}

// Each session has a vector by latent semantic analysis in the tables for SQL, the same however the index came to be.
func TestVectorsForSQL(t *testing.T) {
	vectors := func(w *world, m *materialize.Materializer) []string {
		t.Helper()
		return w.index(m, `SELECT s.session_id, s.model, s.embedding, s.generated_at = i.last_indexed_at AND len(s.embedding) = i.embedding_dim AS fits
			FROM session_embeddings s, index_state i ORDER BY s.session_id`)
	}
	w := newWorld(t)
	m := w.materializer()
	w.crowd(60, func() { w.catchUp(m) })
	w.catchUp(m)
	got := vectors(w, m)
	if len(got) < 30 || !strings.Contains(got[0], `"model":"lsa-v1"`) ||
		strings.Contains(strings.Join(got, ""), `"fits":false`) {
		t.Errorf("%d vectors, the first of them %.200s", len(got), got[:min(1, len(got))])
	}
	anew := w.materializer()
	w.catchUp(anew)
	harness.Equal(t, "rebuilt", vectors(w, anew), got)
	for _, asks := range []string{
		`FROM Session_Embeddings`, `FROM "session_embeddings"`, `FROM query_table('session_' || 'embeddings')`,
		`FROM query('FROM session_' || 'embeddings')`, `FROM index_state WHERE embedding_dim > 0`,
	} {
		made := func() string {
			return w.index(m, `SELECT estimated_size > 0 AS made FROM duckdb_tables() WHERE table_name LIKE 'session_embed%'`)[0]
		}
		if err := os.Remove(filepath.Join(m.Dir, "index.db")); err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, asks+": before", `{"made":false}`, made())
		harness.Equal(t, asks, []string{`{"any":true}`}, w.index(m, `SELECT count(*) > 0 AS any `+asks))
		harness.Equal(t, asks+": behind", `{"made":true}`, made())
	}
}
