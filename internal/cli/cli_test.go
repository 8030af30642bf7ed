package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

var names = []string{
	"recall", "init", "clean", "checkpoint", "import", "sync", "push", "log", "query", "save", "purge", "restore", "scrub",
	"forget", "export", "pause", "resume", "why", "show", "run", "compress", "mcp",
	"index", "doctor", "completion", "help", "version", "hook",
}

func TestHelp(t *testing.T) {
	d := newDesk(t)
	flags := map[string][]string{
		"recall": {"--file REGEX", "--commit REV", "--author TEXT", "--actor WHO", "--purged", "-n, --limit N"},
		"save":   {"--title", "--source"},
		"clean":  {"--ledger"}, "log": {"-n, --limit N", "--json"}, "version": {"--json"},
		"query": {"--session ID", "--offset N", "--limit N", "--role WHO", "--full", "--index"},
		"why":   {"-n, --limit N", "--checkpoint REF", "PATH[:LINE"},
	}
	for _, name := range names {
		forms := [][]string{{name, "-h"}, {name, "--help"}, {"help", name}}
		if name == "recall" {
			forms = forms[2:] // a topic
		}
		for _, args := range forms {
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				text := d.must(args...)
				if lead := "usage: git rekal " + name; name != "recall" && !strings.HasPrefix(text, lead) {
					t.Errorf("begins with %.40q", text)
				}
				if !strings.Contains(text, "\nExit status: ") {
					t.Errorf("says nothing of the exit status:\n%s", text)
				}
				for _, f := range flags[name] {
					if !strings.Contains(text, f) {
						t.Errorf("%q is not in\n%s", f, text)
					}
				}
			})
		}
	}
	text := d.must("--help")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,\n", r) })
	for _, name := range names[1 : len(names)-1] {
		if !slices.Contains(words, name) {
			t.Errorf("the command %q is not listed in\n%s", name, text)
		}
	}
	if strings.Contains(text, "hook ") {
		t.Errorf("hook is listed:\n%s", text)
	}
}

func TestWrongUsage(t *testing.T) {
	d := ready(t)
	for _, c := range []struct{ args, says string }{
		{"--nonsense", "--nonsense"},
		{"token --nonsense", "--nonsense"},
		{"-n 0 token", "-n must be at least 1"},
		{"-n x token", `"x"`},
		{"--file=", `--file "": must not be empty`},
		{"--commit=", `--commit "": must not be empty`},
		{"--author= token", `--author "": must not be empty`},
		{"--actor=", `--actor "": must not be empty`},
		{"--file a(b", "a(b"},
		{"--actor robot", "robot"},
		{"--agent robot", "claude-code, codex"},
		{"log --agent robot", "claude-code, codex"},
		{"import --agent robot", "claude-code, codex"},
		{"init here", `"here"`},
		{"init --force", "--force"},
		{"clean all", `"all"`},
		{"checkpoint now", `"now"`},
		{"save --title", "--title"},
		{"purge", "give the ID of a session or memory"},
		{"restore", "give the ID of a session or memory"},
		{"--purged --checkpoint HEAD", "--purged does not go with --checkpoint"},
		{"log nothing", `"nothing" is neither a revision nor a file here`},
		{"log -n 0", "-n must be at least 1"},
		{"log -n -3", "-n must be at least 1"},
		{"index all", `"all"`},
		{"version all", `"all"`},
		{"query", "give a SELECT or --session ID"},
		{"query --index", "give a SELECT or --session ID"},
		{"query SELECT --session 01KAB3F9", "not both"},
		{"query --session 01KAB3F9 --index", "--index goes with a SELECT"},
		{"query --session 01KAB3F9 --limit 0", "--limit must be at least 1"},
		{"query --session 01KAB3F9 --offset -1", "--offset must not be negative"},
		{"query --session 01KAB3F9 --role robot", "robot"},
		{"query --session 01K", "01K"},
		{"query SELECT --offset 1", "--offset goes with --session"},
		{"query SELECT --limit 1", "--limit goes with --session"},
		{"query SELECT --role human", "--role goes with --session"},
		{"query SELECT --full", "--full goes with --session"},
	} {
		t.Run(c.args, func(t *testing.T) { d.fails(2, c.says, strings.Fields(c.args)...) })
	}
}

func TestFailures(t *testing.T) {
	d := ready(t)
	for _, c := range []struct{ name, statement, says string }{
		{"a table that is not there", "SELECT * FROM nowhere", "nowhere"},
		{"a statement that writes", "DROP TABLE turns", "SELECT"},
		{"two statements", "SELECT 1; SELECT 2", "SELECT"},
		{"another file", "SELECT * FROM read_text('/etc/passwd')", "disabled"},
	} {
		t.Run(c.name, func(t *testing.T) { d.fails(1, c.says, "query", c.statement) })
	}
	d.fails(1, "01ZZZZZZZZ", "query", "--session", "01ZZZZZZZZ")

	fresh := newDesk(t)
	for _, name := range []string{"token", "checkpoint", "log", "index", "query SELECT", "query --session 01KAB3F9"} {
		fresh.fails(1, `run "git rekal init"`, strings.Fields(name)...)
	}
	if entries, err := filepath.Glob(filepath.Join(fresh.dir, ".git/rekal")); err != nil || entries != nil {
		t.Errorf("left %q, %v", entries, err)
	}
	fresh.dir = t.TempDir()
	for _, name := range []string{"token", "init", "clean", "checkpoint", "log", "index", "query SELECT"} {
		fresh.fails(1, "run it inside a git repository", strings.Fields(name)...)
	}
}

func TestWordsAreOneQuery(t *testing.T) {
	d := ready(t)
	for _, c := range []struct {
		name, query string
		args        []string
	}{
		{"one argument", "token expire", []string{"token expire"}},
		{"two", "token expire", []string{"token", "expire"}},
		{"filters between them", "token expire", []string{"token", "--author", "alice@example.com", "expire", "-n", "3"}},
		{"a command's name", "log", []string{"--", "log"}},
		{"what looks like a flag", "--file token", []string{"--", "--file", "token"}},
		{"a command's name behind another word", "token log", []string{"token", "log"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got struct {
				Query   string
				Total   int
				Results []struct{ Title string }
			}
			if err := json.Unmarshal([]byte(d.must(c.args...)), &got); err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "query", c.query, got.Query)
			if strings.Contains(c.query, "token") != (got.Total == 1) {
				t.Errorf("found %d", got.Total)
			}
		})
	}
	if out := d.must("zebra"); !strings.HasSuffix(out, `"total":0,"results":[]}`+"\n") {
		t.Errorf("nothing found prints %q", out)
	}
}

// The tables are brought up to the ledger by whichever command comes first after a commit.
func TestLongEveryReaderCatchesUp(t *testing.T) {
	for name, args := range map[string][]string{
		"recall": {"token"}, "latest": {}, "log": {"log", "--json"}, "sql": {"query", "SELECT content FROM turns"},
		"sql on the index": {"query", "--index", "SELECT content FROM turns_ft"},
	} {
		t.Run(name, func(t *testing.T) {
			if out := ready(t).must(args...); !strings.Contains(out, "token") {
				t.Errorf("printed %q", out)
			}
		})
	}
	d := ready(t)
	id := strings.TrimSpace(d.Git(d.dir, "grep", "-ohE", `"session","id":"[0-9A-Z]{26}"`, "rekal/alice@example.com"))
	id = strings.TrimSuffix(strings.TrimPrefix(id, `"session","id":"`), `"`)
	if out := d.must("query", "--session", id, "--full"); !strings.Contains(out, "The clock is local.") ||
		!strings.Contains(out, `"path":"README"`) {
		t.Errorf("query --session as the first command printed %q", out)
	}
}

func TestInitTwiceAndClean(t *testing.T) {
	d := newDesk(t)
	before := d.snapshot()
	d.say("one", "human why does the token expire early?", "assistant The clock is local.")
	d.write("repo/README", "hello\n")
	const keeps = "claude-code deletes a transcript 30 days after it was last written (cleanupPeriodDays)"
	if d.run("init") != 0 || !strings.Contains(d.stdout, "imported 1 session, 2 turns, 0 tool calls") ||
		!strings.Contains(d.stderr, keeps) {
		t.Errorf("init printed %q and %q", d.stdout, d.stderr)
	}
	once := d.snapshot()
	if out := d.must("init"); out != "" {
		t.Errorf("init again printed %q", out)
	}
	again := d.snapshot()
	// who only reads makes these, and can't remove them
	for _, log := range []string{".git/rekal/recall.db-shm", ".git/rekal/recall.db-wal"} {
		delete(again, log)
	}
	harness.Equal(t, "after init again", once, again)
	if status := d.run("clean"); status != 0 || !strings.Contains(d.stdout, "left: the ledger rekal/alice@example.com") {
		t.Errorf("clean: exit status %d, printed %q", status, d.stdout)
	}
	d.fails(1, `run "git rekal init"`, "token")
	if d.run("init") != 0 {
		t.Errorf("init after clean: %q", d.stderr)
	}
	if out := d.must("token"); !strings.Contains(out, `"total":1`) {
		t.Errorf("init after clean: %q", out)
	}
	if out := d.must("clean", "--ledger"); !strings.Contains(out, "removed: the ledger rekal/alice@example.com (was ") {
		t.Errorf("clean --ledger printed %q", out)
	}
	harness.Equal(t, "after clean --ledger", before, d.snapshot())
}

// snapshot is every file of the repository but for git's objects and logs, and what caches
// and databases hold.
func (d *desk) snapshot() map[string]string {
	d.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(d.dir, path)
		if err != nil || e.IsDir() {
			if rel == ".git/objects" || rel == ".git/logs" {
				return filepath.SkipDir
			}
			return err
		}
		b, err := os.ReadFile(path)
		info, err2 := e.Info()
		if err2 != nil {
			return err2
		}
		if strings.HasPrefix(rel, ".git/rekal/") {
			b = nil
		}
		out[rel] = fmt.Sprintf("%v %s", info.Mode(), b)
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return out
}

func TestVersion(t *testing.T) {
	d := newDesk(t)
	d.dir = t.TempDir() // no repository is needed
	if out := d.must("version"); !strings.HasPrefix(out, "git-rekal v1.2.3 (libgit2 1.5.") ||
		!strings.Contains(out, "ledger format 1") {
		t.Errorf("printed %q", out)
	}
	harness.Equal(t, "--version", d.must("version"), d.must("--version"))
	var v map[string]any
	if err := json.Unmarshal([]byte(d.must("version", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "version", "v1.2.3", v["version"])
	harness.Equal(t, "ledger_format", 1.0, v["ledger_format"])
}

func TestIndexRebuilds(t *testing.T) {
	d := ready(t)
	d.must("token")
	for _, file := range []string{"data.db", "index.db"} {
		d.write("repo/.git/rekal/"+file, strings.Repeat("no database ", 9000))
	}
	if out := d.must("index"); out != "" {
		t.Errorf("index printed %q", out)
	}
	if out := d.must("token"); !strings.Contains(out, `"total":1`) {
		t.Errorf("recall printed %q", out)
	}
}
