package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// What is typed wrong is told by its name, and with what to do instead.
func TestNextStep(t *testing.T) {
	d := ready(t)
	d.write("repo/src/a.go", "package a\n")
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, `-n "abc": not a valid number: see "git rekal help recall"`, []string{"-n", "abc"}},
		{2, `-n "99999999999999999999": not a valid number`, []string{"log", "-n", "99999999999999999999"}},
		{2, `-n needs a value: see "git rekal log -h"`, []string{"log", "-n"}},
		{2, `--file needs a value: see "git rekal help recall"`, []string{"token", "--file"}},
		{2, `--file "b": the flag is given twice`, []string{"--file", "a", "--file", "b"}},
		{2, `--timeout "soon": not a duration such as 10s or 2m`, []string{"query", "SELECT 1", "--timeout", "soon"}},
		{2, `--full "maybe": neither true nor false`, []string{"query", "--session", "01KAB3F9", "--full=maybe"}},
		{2, `unknown flag: --leeway: see "git rekal help recall"; to search for words that begin with "-", write them behind "--"`, []string{"--leeway"}},
		{
			2, `unknown flag: --stat: see "git rekal help recall"; to run a command: "git rekal show"`,
			[]string{"shwo", "--stat"},
		},
		{
			2, `unexpected argument "the": see "git rekal clean -h"; to search for words, write "git rekal -- clean …"`,
			[]string{"clean", "the", "cache"},
		},
		{2, `unexpected argument "b": see "git rekal push -h"`, []string{"push", "a", "b"}},
		{2, `"nosuch" is no command and no topic: see "git rekal help -h"`, []string{"help", "nosuch"}},
		{1, `--commit "nowhere": no such revision: give a branch, a tag or a SHA`, []string{"--commit", "nowhere"}},
		{
			2, `"tomorrow" is no date: give a checkpoint ("git rekal log" lists them), a revision`,
			[]string{"--checkpoint", "@{tomorrow}"},
		},
		{2, `why "nowhere": no such file: paths are from here`, []string{"why", "nowhere"}},
		{2, `why "README:9": "README" has only 1 line`, []string{"why", "README:9"}},
		{2, `why "README:2-1": lines are LINE, FIRST,LAST or FIRST,+COUNT, from 1 on`, []string{"why", "README:2-1"}},
		{2, `why "README:1,": lines are LINE`, []string{"why", "-L", "1,", "README"}},
		{
			2, `-L "/x/,+2": lines are LINE, FIRST,LAST or FIRST,+COUNT: see "git rekal why -h"`,
			[]string{"why", "-L/x/,+2", "README"},
		},
		{2, `why "src:1": it is a folder: name one of its files`, []string{"why", "src:1"}},
		{
			2, `"01KAB3F9" is no SELECT; to read a session or memory, write "git rekal query --session 01KAB3F9"`,
			[]string{"query", "01KAB3F9"},
		},
		{
			1, `this lists tables and columns, with --index those of index.db: git rekal query "SELECT table_name, column_name`,
			[]string{"query", "SELECT nothing FROM turns"},
		},
		{
			1, `session "01ZZZZZZ": nothing has that ID: IDs are in the answers of recall`,
			[]string{"query", "--session", "01ZZZZZZ"},
		},
		{2, `the text is empty: give it as an argument, or on stdin: see "git rekal save -h"`, []string{"save"}},
		{1, `no remote to share the ledger with: add one with "git remote add origin URL"`, []string{"push"}},
		{1, `no remote to share the ledger with: add one with "git remote add origin URL"`, []string{"sync"}},
		{
			2, `the question has 300 KB, and at most 256 KB are searched: give the words that matter`,
			[]string{strings.Repeat("word ", 60<<10) + "end"},
		},
	} {
		d.fails(c.status, c.says, c.args...)
	}
}

// Lines may be given in all the ways that git blame takes numbers in.
func TestLinesOfWhy(t *testing.T) {
	d := ready(t)
	want := d.must("why", "README:1,1")
	for _, args := range [][]string{
		{"-L1,1", "README"},
		{"README", "-L", "1"},
		{"README:1-1"},
		{"README:1,+1"},
		{"-L", "1,+1", "README"},
	} {
		if got := d.must(append([]string{"why"}, args...)...); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

// Who searches for an ID is told how to read what has it; the answer stays an answer.
func TestSearchForAnID(t *testing.T) {
	d := ready(t)
	for query, want := range map[string]string{
		"01KJW4MN": `git-rekal: hint: "git rekal query --session 01KJW4MN" shows what has that ID` + "\n", "01 nothing": "",
		"token": "",
	} {
		if status := d.run(query); status != 0 || d.stderr != want || !strings.HasPrefix(d.stdout, `{"schema":1`) {
			t.Errorf("%q: exit status %d, stderr %q, want %q", query, status, d.stderr, want)
		}
	}
}

// Who cleaned without wanting to is told the way back.
func TestCleanTellsTheWayBack(t *testing.T) {
	d := ready(t)
	for _, want := range []string{`git-rekal: hint: "git rekal init" sets it up again; to search for the word, write "git rekal -- clean"` + "\n", ""} {
		if status := d.run("clean"); status != 0 || d.stderr != want {
			t.Errorf("exit status %d, stderr %q, want %q", status, d.stderr, want)
		}
	}
}

// Who typed a command that is none here is told which one is; words to search for get no hint.
func TestSlips(t *testing.T) {
	d := ready(t)
	for want, lines := range map[string][]string{
		"show":  {"shwo 01KGXMVG", "shwo", "diff HEAD~1", "diff main..topic"},
		"purge": {"purg 01KGXMVG 01KGXMVH", "rm 01KGXMVG", "delete 01KGXMVG", "delte"},
		"log":   {"ls", "list", "ls README.md"}, "pause": {"stop", "disable"}, "web": {"serve"}, "doctor": {"statsu", "status"},
		"why": {"blame a/b.go:12", "blame README.md:1,2"},
		"":    {"server", "deleted", "null", "token clock", "list tokens", "stop the clock", "removes"},
	} {
		for _, line := range lines {
			if want != "" {
				want := fmt.Sprintf("git-rekal: hint: searched for %q; to run a command: \"git rekal %s\"\n", line, want)
				if status := d.run(strings.Fields(line)...); status != 0 || d.stderr != want {
					t.Errorf("%q: exit status %d, stderr %q, want %q", line, status, d.stderr, want)
				}
			} else if status := d.run(strings.Fields(line)...); status != 0 || d.stderr != "" {
				t.Errorf("%q: exit status %d, stderr %q", line, status, d.stderr)
			}
		}
	}
	for word, want := range map[string]string{"logo": "", "lgo": "git rekal log"} {
		d.must("save", "The logo is blue.")
		if d.run(word); (d.stderr != "") != (want != "") || !strings.Contains(d.stderr, want) {
			t.Errorf("%q says %q", word, d.stderr)
		}
	}
	if d.run("list README.md"); d.stderr != "" {
		t.Errorf("a question in quotes: %q", d.stderr)
	}
}

// Several words behind "why" that are no paths are a search, with all flags of one, and "why" is among its words.
func TestWhyInWords(t *testing.T) {
	d := ready(t)
	d.write("repo/a b.txt", "1\n")
	for _, args := range [][]string{
		{"why", "does", "the", "token", "expire"},
		{"why", "does the token expire"},
		{"why", "-n", "1", "README", "expires", "--actor=human"},
		{"why", "README", "is", "--full", "token"},
		{"why", "is", "the", "token", "--file", "README"},
	} {
		want := d.must(append([]string{"--"}, strings.Fields("why does the token expire")...)...)
		got := d.must(args...)
		if strings.HasPrefix(args[1], "does") && got != want || !strings.HasPrefix(got, `{"schema":1,"query":"why `) {
			t.Errorf("%q: %s", args, got)
		}
	}
	for _, args := range [][]string{
		{"why", "README", "a b.txt"},
		{"why", "README", "src/gone.go"},
		{"why", "README", "40"},
	} {
		d.fails(2, fmt.Sprintf("unexpected argument %q", args[2]), args...)
	}
	d.fails(2, `why "old notes.txt": no such file`, "why", "old notes.txt")
	if got := d.must("why", "a b.txt:1"); !strings.Contains(got, `"why":`) {
		t.Error(got)
	}
}

// Who typed a word that is also a command, and may have searched for it, is told what was done; a script is not.
func TestActed(t *testing.T) {
	d := ready(t)
	d.Place = d.With("COLUMNS=150")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"checkpoint"}, `git-rekal: hint: captured what is new; to search instead: "git rekal -- checkpoint"`},
		{[]string{"index"}, `git-rekal: hint: rebuilt the caches; to search instead: "git rekal -- index"`},
		{[]string{"save", "button", "broken"}, ` hides; to search instead: "git rekal -- save button broken"`},
		{[]string{"save", "--title=Button", "button", "broke"}, ""},
		{[]string{"save", "button breaks"}, ""},
	} {
		d.must(c.args...)
		d.person = true
		if status := d.run(c.args...); status != 0 || !strings.HasSuffix(d.stderr,
			c.says+strings.Repeat("\n", min(1, len(c.says)))) {
			t.Errorf("%q: %d, %q", c.args, status, d.stderr)
		}
		d.person = false
	}
	agent := *d
	agent.Place = d.With("CLAUDECODE=1")
	if agent.run("checkpoint"); !strings.Contains(agent.stderr, "captured what is new") {
		t.Errorf("an agent is told %q", agent.stderr)
	}
}
