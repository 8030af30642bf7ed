package tests

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	_ "github.com/mattn/go-sqlite3" // what OpenCode keeps its sessions in
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// commands are what scripts may call beside testscript's own commands.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"git":        runGit,
		"oldgit":     hideConfiguredHooks,
		"status":     runStatus,
		"transcript": putTranscript,
		"place":      placeFixture,
		"sqlite":     runSQL,
		"bigline":    addBigLine,
		"append":     addLine,
		"keep":       keepOutput,
		"json":       checkJSON,
		"results":    checkResults,
		"snapshot":   takeSnapshot,
		"tables":     dumpTables,
		"freeze":     freezePath,
		"embedder":   serveEmbeddings,
		"asked":      checkAsked,
	}
}

// git ARG…: exec git, shorter. With "!" it must fail.
func runGit(ts *testscript.TestScript, neg bool, args []string) {
	if err := ts.Exec("git", args...); (err != nil) != neg {
		ts.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
}

// oldgit: from here on git seems to be one without configured hooks, so that hooks are files; until $WORK/oldgit/git is
// removed.
func hideConfiguredHooks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: oldgit")
	}
	real, err := exec.LookPath("git")
	ts.Check(err)
	dir := ts.MkAbs(ts.Getenv("WORK") + "/oldgit")
	ts.Check(os.MkdirAll(dir, 0o777))
	script := "#!/bin/sh\ncase \"$1 $2\" in 'hook -h') exit 129 ;; esac\nexec " + real + " \"$@\"\n"
	ts.Check(os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o777))
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// status N PROGRAM [ARG…]: the program must exit with exactly N.
func runStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// keep NAME: the last standard output, trimmed, becomes $NAME.
func keepOutput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// append FILE TEXT: adds a line to a file, which need not exist.
func addLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append FILE TEXT")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	ts.Check(err)
	_, err = f.WriteString(args[1] + "\n")
	ts.Check(errors.Join(err, f.Close()))
}

// json PATH WANT: the value at a gjson path of the last standard output, as text. With one
// argument: it exists. With "!": not so.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: json PATH [WANT]")
	}
	out := ts.ReadFile("stdout")
	if !gjson.Valid(out) {
		ts.Fatalf("stdout is no JSON:\n%s", out)
	}
	got := gjson.Get(out, args[0])
	ok := got.Exists() && (len(args) == 1 || got.String() == args[1])
	if ok == neg {
		ts.Fatalf("%s is %s in\n%s", args[0], got.Raw, out)
	}
}

// results FILE: the last standard output is an answer of recall with the very results of the
// one in FILE. With "!": with others.
func checkResults(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] results FILE")
	}
	got, want := gjson.Get(ts.ReadFile("stdout"), "results"), gjson.Get(ts.ReadFile(args[0]), "results")
	if !got.Exists() || !want.Exists() || (got.Raw == want.Raw) == neg {
		ts.Fatalf("results are\n%s\nin %s they are\n%s", got.Raw, args[0], want.Raw)
	}
}

// transcript FILE DIR [N]: puts a fixture of $WORK where Claude Code keeps the sessions of
// a working folder DIR, under the fixture's own relative path, and its full name into
// $TRANSCRIPT. A .chat file becomes JSON lines (see chat_test.go), with N only its first N
// entries; another file is copied. In both @CWD@ is DIR, and @NAME@ is $NAME.
func putTranscript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: transcript FILE DIR [N]")
	}
	name, dir, limit := args[0], ts.MkAbs(args[1]), -1
	if len(args) == 3 {
		var err error
		limit, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	text := fixture(ts, name, dir)
	var err error
	if stem, ok := strings.CutSuffix(name, ".chat"); ok {
		name = stem + ".jsonl"
		text, err = chat(stem, text, dir, ts.Getenv("NOW"), limit)
		ts.Check(err)
	}
	path := filepath.Join(filepath.Dir(harness.Transcript(ts.Getenv("HOME"), dir, "")), name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, []byte(text), 0o666))
	ts.Setenv("TRANSCRIPT", path)
}

var variable = regexp.MustCompile(`@[A-Z_]+@`)

// fixture reads a file of $WORK, in which @CWD@ is a folder and @NAME@ is $NAME.
func fixture(ts *testscript.TestScript, name, cwd string) string {
	raw, err := os.ReadFile(filepath.Join(ts.Getenv("WORK"), name))
	ts.Check(err)
	return variable.ReplaceAllStringFunc(string(raw), func(s string) string {
		if s == "@CWD@" {
			return cwd
		}
		return ts.Getenv(strings.Trim(s, "@"))
	})
}

// place FILE PATH: adds a fixture of $WORK to a file below $HOME, which need not exist. @CWD@ is the current folder.
func placeFixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: place FILE PATH")
	}
	text := fixture(ts, args[0], ts.MkAbs("."))
	addLine(ts, false, []string{filepath.Join(ts.Getenv("HOME"), args[1]), strings.TrimSuffix(text, "\n")})
}

// sqlite FILE DATABASE: runs the statements of a fixture of $WORK in a SQLite database below $HOME, in WAL mode, as
// another program would.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE DATABASE")
	}
	path := filepath.Join(ts.Getenv("HOME"), args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL")
	ts.Check(err)
	_, err = db.Exec(fixture(ts, args[0], ts.MkAbs(".")))
	ts.Check(errors.Join(err, db.Close()))
}

// bigline FILE MEGABYTES: adds one valid record of that size to a transcript.
func addBigLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bigline FILE MEGABYTES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	addLine(ts, false, []string{args[0], `{"type":"user","uuid":"big","message":{"role":"user","content":"` +
		strings.Repeat("enormous ", n<<20/9) + `"}}`})
}

// freeze PATH: makes a file, or a folder with all in it, read-only until "! freeze PATH" or
// the script's end.
func freezePath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] freeze PATH")
	}
	path := ts.MkAbs(args[0])
	ts.Check(freeze(path, !neg))
	ts.Defer(func() { _ = freeze(path, false) })
}

// freeze takes the right to write away by mode; for root, who ignores modes, by the file
// system's immutable flag, which not every machine has.
func freeze(path string, on bool) error {
	program, flag := "chmod", map[bool]string{true: "a-w", false: "u+w"}[on]
	if os.Getuid() == 0 {
		program, flag = "chattr", map[bool]string{true: "+i", false: "-i"}[on]
	}
	return exec.Command(program, "-R", flag, path).Run()
}

// snapshot DIR FILE [SKIP…]: writes path, mode and content hash of everything below DIR to
// FILE, without the paths that begin with one of SKIP.
func takeSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: snapshot DIR FILE [SKIP…]")
	}
	root := ts.MkAbs(args[0])
	var out strings.Builder
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || slices.ContainsFunc(args[2:], func(p string) bool { return strings.HasPrefix(rel, p) }) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := "-"
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			sum, err = os.Readlink(path)
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			sum = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		fmt.Fprintf(&out, "%s %s %s\n", info.Mode(), rel, sum)
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o666))
}

// tables FILE [TABLE.COLUMN…]: writes every row of every table of both databases to FILE,
// in order, without the columns named (TABLE.* is all of it). What package search packs into
// blocks for itself is left out: how it is packed depends on how it grew.
func dumpTables(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: tables FILE [TABLE.COLUMN…]")
	}
	var out strings.Builder
	for _, flag := range []string{"", "--index"} {
		for _, table := range columnsOf(ts, flag) {
			name := table.Get("t").Str
			if strings.HasPrefix(name, "search_") || slices.Contains(args[1:], name+".*") {
				continue
			}
			var cols []string
			for _, c := range table.Get("c").Array() {
				if !slices.Contains(args[1:], name+"."+c.Str) {
					cols = append(cols, c.Str)
				}
			}
			fmt.Fprintf(&out, "== %s%s\n%s", flag, name,
				query(ts, flag, fmt.Sprintf("SELECT %s FROM %s ORDER BY ALL", strings.Join(cols, ", "), name)))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o666))
}

func columnsOf(ts *testscript.TestScript, flag string) []gjson.Result {
	rows := query(ts, flag, `SELECT table_name AS t, list(column_name ORDER BY ordinal_position) AS c
		FROM information_schema.columns WHERE table_catalog = 'rekal' GROUP BY ALL ORDER BY ALL`)
	var out []gjson.Result
	for line := range strings.Lines(rows) {
		out = append(out, gjson.Parse(line))
	}
	if len(out) == 0 {
		ts.Fatalf("no tables")
	}
	return out
}

func query(ts *testscript.TestScript, flag, sql string) string {
	args := []string{"rekal", "query", sql}
	if flag != "" {
		args = append(args, flag)
	}
	ts.Check(ts.Exec("git", args...))
	return ts.ReadFile("stdout")
}
