package notes_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Tokens are checked in `auth/jwt.go:42`.", "file auth/jwt.go"},
		{"See `Validate()` and `Server.handleLogin`.", "symbol Validate, symbol Server.handleLogin"},
		{"`parse_config` of `config.py` reads it", "symbol parse_config in config.py, file config.py"},
		{"Run `make lint` and `npm run e2e:ci` first.", "command make lint, command npm run e2e:ci"},
		{"Run `go test ./internal/auth/...`", "file internal/auth"},
		{"Set REKAL_ACTOR=agent, or `server.port`.", "symbol server.port, setting REKAL_ACTOR"},
		{"Call load_all() from src/loader.ts", "symbol load_all in src/loader.ts, file src/loader.ts"},
		{"`pytest tests/test_a.py::TestA`", "file tests/test_a.py"},
		{"```sh\ncd web && make web-check\n```", "command make web-check"},
		{"We removed `oldName()`. Use `newName()`.", "symbol newName"},
		{"GitHub and PostgreSQL, e.g. https://example.com/a/b.go, mail a@b.c, 1.2.3, and/or", "file and/or"},
		{"`/etc/hosts`, `~/.ssh/config`, `src/*.go`, `$HOME/x.go`, `@scope/pkg`, `../up.go`", ""},
		{"- [Role](role.md) — what the user does", ""},
		{"the `cache`, an `id`, and `--dry-run`", "symbol cache, setting --dry-run"},
	} {
		t.Run(c.text, func(t *testing.T) {
			var got []string
			for _, thing := range notes.Named(c.text) {
				in := ""
				if thing.In != "" {
					in = " in " + thing.In
				}
				got = append(got, thing.Kind+" "+thing.Name+in)
			}
			harness.Equal(t, "things", c.want, strings.Join(got, ", "))
		})
	}
}

// source is a repository of real code, of whose names notes are made up.
type source struct {
	*harness.Place
	repo    string
	files   []string // of code
	symbols map[string][]string
	draw    *rand.Rand
}

func newSource(t *testing.T, from string, seed uint64) *source {
	s := &source{Place: harness.New(t), symbols: map[string][]string{}, draw: rand.New(rand.NewPCG(seed, 67))}
	s.Init("code")
	s.repo = s.At("code")
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || strings.Count(rel, "/") > 3) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || len(s.files) == 400 {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.Write(filepath.Join("code", rel), string(text))
		s.files = append(s.files, rel)
		for _, name := range declared(string(text)) {
			s.symbols[name] = append(s.symbols[name], rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Write("code/Makefile", "build test lint fmt:\n\tgo $@\nrace-all: build\n\tgo test -race\n"+
		"gen-mocks:\n\tgo generate\nweb-bundle:\n\tnpm run bundle\n")
	s.Write("code/package.json", "{\"scripts\": {\n  \"bundle\": \"vite build\",\n"+
		"  \"e2e:ci\": \"playwright test\",\n  \"storybook\": \"sb dev\"\n}}\n")
	s.Write("code/README.md", "# Code\nSet OLD_DOC_ONLY.\n")
	s.Write("code/.env.example", "API_BASE_URL=x\nCACHE_TTL_SECONDS=1\nWORKER_POOL_SIZE=2\nFEATURE_NEW_LOGIN=1\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "All")
	return s
}

func (s *source) git(args ...string) string { s.T.Helper(); return s.Git("code", args...) }

var camel = regexp.MustCompile(`[a-z][A-Z]`)

func declared(text string) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if is, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, is.Name.Name)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return !camel.MatchString(n) || len(n) < 6 })
}

// pick draws something that was not drawn before.
func pick[T any](s *source, all *[]T) T {
	i := s.draw.IntN(len(*all))
	one := (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return one
}

// TestCheckFindsStaleNotes makes up 100 notes of real names, and has 40 of them name what a later commit takes away.
func TestCheckFindsStaleNotes(t *testing.T) {
	playStale(t, newSource(t, filepath.Join(harness.Root(t), "internal"), 1))
}

func TestLongCheckFindsStaleNotes(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goRoot := strings.TrimSpace(string(out))
	for name, from := range map[string]string{
		"this project": filepath.Join(harness.Root(t), "internal"),
		"Go's network": filepath.Join(goRoot, "src", "net"),
		"Go's crypto":  filepath.Join(goRoot, "src", "crypto"),
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				if _, err := os.Stat(from); err != nil {
					t.Skip("SKIPPED: it is not here")
				}
				playStale(t, newSource(t, from, seed+2))
			})
		}
	}
}

func playStale(t *testing.T, s *source) {
	stale, fine := s.makeUp()
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "Later")
	s.git("config", "grep.lineNumber", "true")
	s.git("config", "grep.column", "true")
	repo, err := git.Open(t.Context(), s.repo, s.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	code, err := notes.OpenCode(repo)
	if err != nil {
		t.Fatal(err)
	}
	var named [][]notes.Thing
	for _, n := range slices.Concat(stale, fine) {
		named = append(named, notes.Named(n))
	}
	gone, err := code.FindGone(t.Context(), named)
	if err != nil {
		t.Fatal(err)
	}
	found, alarms := 0, 0
	for i, n := range slices.Concat(stale, fine) {
		switch isStale := i < len(stale); {
		case isStale && len(gone[i]) > 0:
			found++
		case isStale:
			t.Logf("missed: %s", n)
		case len(gone[i]) > 0:
			alarms++
			t.Logf("false alarm: %s: %v", n, gone[i])
		}
	}
	t.Logf("found %d of %d, %d false alarms in %d", found, len(stale), alarms, len(fine))
	if found*100 < len(stale)*95 || alarms*100 > len(fine)*3 {
		t.Errorf("want 95%% found, and at most 3%% false alarms")
	}
}

// makeUp writes 40 notes that a change of the tree makes wrong, and 60 that it does not.
func (s *source) makeUp() (stale, fine []string) {
	files := slices.Clone(s.files)
	var symbols []string
	for name, in := range s.symbols {
		if len(in) == 1 {
			symbols = append(symbols, name)
		}
	}
	slices.Sort(symbols)
	lost := []string{} // files that go: nothing else may name what they declare
	for range 8 {
		f := pick(s, &files)
		lost = append(lost, f)
		stale = append(stale, []string{
			"The tables are in `" + f + "`; keep them sorted.", "Edit " + f + " by hand, never with the generator.",
			"## Where\n\n- `" + f + ":12` decides who may write.",
			"Run `go vet ./" + filepath.Dir(f) + "` before you touch `" + f + "`.",
		}[len(lost)%4])
	}
	renamed := map[string]string{}
	for range 8 {
		f := pick(s, &files)
		renamed[f] = filepath.Join(filepath.Dir(f), "moved_"+filepath.Base(f))
		stale = append(stale, "Start reading at `"+f+"`, it has the overview.")
	}
	symbols = slices.DeleteFunc(symbols, func(n string) bool {
		in := s.symbols[n][0]
		return slices.Contains(lost, in) || renamed[in] != ""
	})
	words := map[string]string{}
	for i := range 16 {
		n := pick(s, &symbols)
		words[n] = "zz" + n + "Anew"
		stale = append(stale, []string{
			"`" + n + "` must be called under the lock.", "Call " + n + "() only once, it caches.",
			"The user wants errors of `" + n + "()` wrapped.",
			"---\nname: a\ntype: feedback\n---\nPrefer `" + n + "` to a loop of your own.",
		}[i%4])
	}
	for i, n := range []string{
		"gen-mocks", "race-all", "storybook", "e2e:ci", "CACHE_TTL_SECONDS", "WORKER_POOL_SIZE", "FEATURE_NEW_LOGIN",
	} {
		stale = append(stale, []string{
			"Run `make " + n + "` after each change of an interface.", "`make " + n + "` takes five minutes.",
			"Look at it with `npm run " + n + "`.",
			"```sh\nnpm run " + n + "\n```", "Set " + n + "=60 for slow disks.",
			"`" + n + "` is 4 in production.", "Turn on `" + n + "` to try it.",
		}[i])
	}
	folder := s.folderToLose()
	stale = append(stale, "All adapters live in `"+folder+"/`.")
	fine = s.fineNotes(files, symbols)
	s.change(lost, renamed, words, folder)
	return stale, fine
}

// folderToLose makes a folder.
func (s *source) folderToLose() string {
	for i := range 3 {
		s.Write(fmt.Sprintf("code/adapters/old%d.go", i), "package adapters\n")
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "Adapters")
	return "adapters"
}

func (s *source) fineNotes(files, symbols []string) (fine []string) {
	for i := range 20 {
		f := pick(s, &files)
		fine = append(fine, []string{
			"`" + f + "` is the only place with a clock.", "See " + f + " for the format.",
			"Line `" + f + ":3` is odd on purpose.",
			"Tests beside `" + filepath.Base(f) + "` are slow.", "`" + filepath.Dir(f) + "/` has no dependencies.",
		}[i%5])
	}
	for i := range 20 {
		n := pick(s, &symbols)
		fine = append(fine, []string{
			"`" + n + "` is not safe for concurrent use.", "Use " + n + "() for that.",
			"`" + n + "` in `" + s.symbols[n][0] + "` is the door.",
			"We replaced `zzGone" + n + "` by `" + n + "`.",
		}[i%4])
	}
	return append(fine,
		"The user is a Go developer in Frankfurt, new to `React`.",
		"Use `kubectl get pods` and `docker compose up`; see https://example.com/docs/setup.md.",
		"Run `make build`, then `npm run bundle`.", "API_BASE_URL ends without a slash.",
		"`OLD_DOC_ONLY` stands in the README.",
		"- [Role](user_role.md) — who the user is", "Never edit `/etc/hosts` or `~/.ssh/config`.",
		"Prefer `useEffect` to `componentDidMount` in examples/app.",
		"Tests need `PGPASSWORD` and `CI=true`.", "Answers in English, and/or German.",
		"Version 1.2.3 of `protoc-gen-go` is pinned.",
		"Commit messages: `package: lower-case imperative`.",
		"Call `json.Marshal` and `strings.Builder`, not reflection.", "The cache is `sync.Map`.",
		"Ask before `git push --force-with-lease`.", "`true` means that it ran, `nil` that it did not.",
		"Use `src/**/*.go` as the glob.",
		"The branch is `feature/login`, the remote `origin`.", "The ticket is ABC-123, see Jira.",
		"Secrets are in 1Password under `team/ci`.",
	)
}

// change takes away what the stale notes name.
func (s *source) change(lost []string, renamed, words map[string]string, folder string) {
	for _, f := range lost {
		s.git("rm", "-q", f)
	}
	s.git("rm", "-rq", folder)
	for f, to := range renamed {
		s.git("mv", f, to)
	}
	var pairs []string
	for from := range words {
		pairs = append(pairs, from)
	}
	word := regexp.MustCompile(`\b(` + strings.Join(pairs, "|") + `)\b`)
	for f := range strings.Lines(s.git("ls-files", "*.go")) {
		path := s.At(filepath.Join("code", strings.TrimSpace(f)))
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, word.ReplaceAllFunc(text, func(w []byte) []byte { return []byte(words[string(w)]) }), 0o666)
		}
		if err != nil {
			s.T.Fatal(err)
		}
	}
	s.Write("code/Makefile", "build test lint fmt:\n\tgo $@\nweb-bundle:\n\tnpm run bundle\n")
	s.Write("code/package.json", "{\"scripts\": {\n  \"bundle\": \"vite build\"\n}}\n")
	s.Write("code/.env.example", "API_BASE_URL=x\n")
	s.Write("code/CHANGELOG.md", "# Changes\n\nRemoved: CACHE_TTL_SECONDS, make gen-mocks.\n")
}
