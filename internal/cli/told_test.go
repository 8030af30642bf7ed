package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/full"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// tenants is the project of tests/testdata/demo with its two sessions, in a home of its own, and
// the same wherever and whenever it is made: its clock stands still, and the binary is this
// test's (see TestMain), with randomness that follows from the clock. So what git-rekal says there
// can be told in documents. Only the SHAs of checkpoints differ: they are also of where it lies.
type tenants struct {
	t    *testing.T
	home string
	dir  string
	bin  string
	now  time.Time
}

const demo = "../../tests/testdata/demo"

// clockKey is the variable in which a process of tenants finds its time.
const clockKey = "TENANTS_CLOCK"

// TestMain is git-rekal itself where it is called by that name: git and hooks start processes.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "git-rekal" {
		os.Exit(asBinary())
	}
	os.Exit(m.Run())
}

func asBinary() int {
	now, err := time.Parse(time.RFC3339, os.Getenv(clockKey))
	exe, err2 := exec.LookPath("git-rekal")
	dir, err3 := os.Getwd()
	if cmp.Or(err, err2, err3) != nil {
		return 99
	}
	seed := [32]byte{}
	copy(seed[:], now.Format(time.RFC3339))
	return cli.Main(context.Background(), &cli.App{
		Process: workspace.Process{
			Dir: dir, Env: os.Environ(), Home: os.Getenv("HOME"), Exe: exe,
			Now: func() time.Time { return now }, Rand: rand.NewChaCha8(seed),
		},
		Version: "v1.2.3", Full: full.Parts(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Ends: true,
	}, os.Args[1:])
}

// newTenants has two commits, of which one was made with Claude Code, and no git-rekal yet.
func newTenants(t *testing.T) *tenants {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &tenants{t: t, home: home, dir: filepath.Join(home, "tenants"), bin: filepath.Join(home, "bin")}
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Mkdir(w.bin, 0o777), os.Symlink(test, filepath.Join(w.bin, "git-rekal")),
		os.CopyFS(w.dir, os.DirFS(demo+"/project")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.write(".gitconfig", "[user]\n\tname = Alice Example\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n")
	w.at("2026-03-02T08:00:00Z").must(`git init -q && git add . && git commit -qm 'Add tenants'`)
	w.agent("export", -1)
	w.change("export-change")
	w.at("2026-03-02T09:08:00Z").must(`git commit -qam 'Stream the CSV export'`)
	return w.at("2026-03-03T09:00:00Z")
}

// works on the bug, up to the commit, which is not made.
func (w *tenants) works() {
	w.t.Helper()
	w.agent("jwt", 26)
	w.change("jwt-change")
	w.at("2026-03-04T10:08:40Z").must(`git add .`)
}

// rests: what was said behind the commit is captured, and two weeks later there is a remote, to which nothing
// went yet.
func (w *tenants) rests() {
	w.t.Helper()
	w.agent("jwt", -1)
	w.at("2026-03-04T10:15:00Z").must(`git rekal checkpoint`)
	w.at("2026-03-18T10:00:00Z").must(`git init -q --bare ../origin.git && git remote add origin ../origin.git`)
}

// at sets the clock.
func (w *tenants) at(clock string) *tenants {
	w.t.Helper()
	now, err := time.Parse(time.RFC3339, clock)
	if err != nil {
		w.t.Fatal(err)
	}
	w.now = now
	return w
}

// teams has Bob push a ledger with one memory to the remote.
func (w *tenants) teams() {
	w.t.Helper()
	w.must(`git push -q origin main && git clone -q ../origin.git ../bob && cd ../bob && git config user.email bob@example.com &&
		git rekal init && git rekal save --title "Proxy timeout" "The proxy gives up after 60 s without a byte." && git rekal push --yes`)
}

// leaks has a session with a secret in it, made up here, in no commit yet.
func (w *tenants) leaks() {
	w.t.Helper()
	key := "ghp_" + strings.Repeat("R7kQ2mZx9LtV", 3)
	const id = "5e0c1b1e-92e5-4f0a-8d0e-3b8f6d2a7c10"
	record := func(kind, uuid, message string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"sessionId":%q,"cwd":%q,"version":"2.1.37","gitBranch":"main","timestamp":"2026-03-18T11:00:00Z","message":%s}`+"\n",
			kind, uuid, id, w.dir, message)
	}
	w.transcript(id, record("user", "1",
		`{"role":"user","content":"Ask the API for its status, with `+key+`; the door of the server room takes 4711."}`)+
		record("assistant", "2", `{"role":"assistant","content":[{"type":"text","text":"I ask it."},`+
			`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"API_KEY=`+key+` go run ./cmd/status"}}]}`))
}

// agent puts the demo's session where Claude Code keeps it, or its first lines.
func (w *tenants) agent(name string, lines int) {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(demo, name+".jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	all := strings.SplitAfter(strings.ReplaceAll(string(raw), "@CWD@", w.dir), "\n")
	if lines >= 0 {
		all = all[:lines]
	}
	_, id, _ := strings.Cut(all[0], `"sessionId":"`)
	id, _, _ = strings.Cut(id, `"`)
	w.transcript(id, strings.Join(all, ""))
}

// transcript puts a session where Claude Code keeps it.
func (w *tenants) transcript(id, text string) {
	w.t.Helper()
	folder := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, w.dir)
	w.write(filepath.Join(".claude", "projects", folder, id+".jsonl"), text)
}

// change copies a state of the project over the one that is there.
func (w *tenants) change(name string) {
	w.t.Helper()
	from := os.DirFS(filepath.Join(demo, name))
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, path)
		w.write(filepath.Join("tenants", path), string(text))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *tenants) write(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.home, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// sh runs a line as a shell does.
func (w *tenants) sh(line string) (stdout, stderr string, err error) {
	clock := w.now.Format(time.RFC3339)
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = []string{
		"PATH=" + w.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "REKAL_EMBED=off", "TZ=UTC", "LC_ALL=C.UTF-8",
		clockKey + "=" + clock, "GIT_AUTHOR_DATE=" + clock, "GIT_COMMITTER_DATE=" + clock,
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func (w *tenants) must(line string) string {
	w.t.Helper()
	out, errs, err := w.sh(line)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", line, err, errs)
	}
	return out
}
