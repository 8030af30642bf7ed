package ties

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// history is one repository's: a bare server, and two authors with a clone each. Where hooks run from the start,
// time is real, because they look at the clock; else it took place in the hours or weeks before.
type history struct {
	t       *testing.T
	rng     *rand.Rand
	kind    string
	late    bool // git-rekal is set up at the end
	now     time.Time
	slow    bool // it takes weeks, not an hour
	bin     string
	hub     *harness.Place // the server, with a worktree for what it merges itself
	there   *commit        // main on the server
	topics  []topic        // branches that are on the server
	authors [2]*author
	count   int // of commits
	files   int
	log     []note
}

// topic is a branch that somebody pushed.
type topic struct {
	name      string
	head, was *commit // was is where it left main
}

// author is a person with a machine and a clone.
type author struct {
	*history
	*harness.Place
	name, email, dir string
	branch           string
	head             *commit // of the branch
	main             *commit // of the branch main
	work             tree    // what lies in the folder
	talks            []*talk // that go on
	all              []*talk
	talked           int
	behindIs         []expected
}

// newHistory draws one.
func newHistory(t *testing.T, seed uint64, kind string) *history {
	t.Helper()
	sum := fnv.New64a()
	fmt.Fprint(sum, kind)
	rng := rand.New(rand.NewPCG(seed, sum.Sum64()))
	late := rng.IntN(3) == 0 && kind != "at once" // which is a matter of hooks
	h := begin(t, rng, late)
	h.kind, h.slow = kind, rng.IntN(2) == 0
	if h.slow {
		h.now = h.now.Add(-60 * 24 * time.Hour)
	}
	return h
}

// settings keep git from collecting garbage when it likes.
const settings = `[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
`

func (h *history) author(name string) *author {
	h.t.Helper()
	p := harness.New(h.t)
	a := &author{
		history: h, Place: p, name: name[:1], email: name + "@example.com", dir: p.At("repo"), branch: "main",
		work: tree{},
	}
	p.Write("home/.gitconfig", fmt.Sprintf("[user]\n\tname = %s\n\temail = %s\n%s", name, a.email, settings))
	return a
}

// begin makes the server, the clones and the first commit, with a few files that a person wrote.
func begin(t *testing.T, rng *rand.Rand, late bool) *history {
	t.Helper()
	h := &history{t: t, rng: rng, late: late, bin: harness.Binary(t), hub: harness.New(t)}
	h.now = time.Now().UTC().Add(-70 * 24 * time.Hour)
	h.hub.Git(".", "init", "-q", "--bare", "server.git")
	a, b := h.author("alice"), h.author("bob")
	h.authors = [2]*author{a, b}
	a.Git(".", "clone", "-q", h.hub.At("server.git"), a.dir)
	for _, path := range []string{
		"src/store.go", "src/token.go", "src/route.go", "api/views.py", "api/models.py",
		"web/app.js",
	} {
		a.creates(path, tongueOf(path).beginning(rng, 2+rng.IntN(3)), nil, "person")
	}
	a.commit("First commit", nil)
	a.Git(a.dir, "push", "-q", "origin", "main")
	h.there = a.head
	b.Git(".", "clone", "-q", h.hub.At("server.git"), b.dir)
	b.to(a.head)
	h.hub.Git("server.git", "worktree", "add", "-q", "--detach", h.hub.At("desk"), "main")
	h.now = time.Now().UTC().Add(-6 * time.Hour)
	if !late {
		a.setUp()
		b.setUp()
	}
	return h
}

func (a *author) setUp() { a.git("rekal", "init") }

// tick lets time pass.
func (h *history) tick() {
	switch {
	case !h.late:
		h.now = time.Now().UTC()
	case h.slow && h.rng.IntN(8) == 0:
		h.now = h.now.Add(time.Duration(1+h.rng.IntN(9)) * time.Hour)
	default:
		h.now = h.now.Add(time.Duration(2+h.rng.IntN(20)) * time.Second)
	}
}

// note says for a report what happened: to a file, by its number, or to all where that is 0.
type note struct {
	file int
	what string
}

func (a *author) notes(file int, format string, args ...any) {
	a.log = append(a.log, note{file, a.name + ": " + fmt.Sprintf(format, args...)})
}

func (a *author) must(err error) {
	a.T.Helper()
	if err != nil {
		a.T.Fatal(err)
	}
}

// machine is the author's place, at the history's time.
func (a *author) machine(env ...string) *harness.Place {
	if a.late {
		env = append(env, "GIT_COMMITTER_DATE="+a.date(), "GIT_AUTHOR_DATE="+a.date())
	}
	return a.With(append(env, "PATH="+a.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GIT_EDITOR=true")...)
}

// date is the time as git takes it.
func (h *history) date() string { return fmt.Sprintf("@%d +0000", h.now.Unix()) }

func (a *author) git(args ...string) string {
	a.T.Helper()
	return a.machine().Git(a.dir, args...)
}

// try is git for what may not go: an error is an answer.
func (a *author) try(args ...string) bool {
	_, err := a.machine().Try(a.dir, args...)
	return err == nil
}

// asks is what git-rekal prints, without its hints.
func (a *author) asks(args ...string) []byte {
	a.T.Helper()
	p := a.machine()
	cmd := exec.CommandContext(a.T.Context(), "git", append([]string{"rekal"}, args...)...)
	cmd.Dir, cmd.Env = a.dir, p.Environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		a.T.Fatalf("git rekal %q: %v\n%s", args, err, stderr.String())
	}
	return out
}

// creates makes a new file.
func (a *author) creates(path string, lines []string, by *talk, how string) int {
	a.T.Helper()
	var t text
	for _, l := range lines {
		t = append(t, written(l, by, how))
	}
	a.files++
	a.puts(a.files, file{path, t})
	return a.files
}

// puts lays a file into the folder.
func (a *author) puts(number int, f file) {
	a.T.Helper()
	a.work = a.work.with(number, f)
	a.Write(filepath.Join(a.dir, f.path), f.text.String())
}

// lies reports whether a folder holds what the model says.
func lies(dir string, t tree) bool {
	for _, f := range t {
		b, err := os.ReadFile(filepath.Join(dir, f.path))
		if err != nil || string(b) != f.text.String() {
			return false
		}
	}
	return true
}

// made numbers a commit. Its second ends: what is written next is younger.
func (h *history) made(sha string, t tree, parents ...*commit) *commit {
	if !h.late {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	}
	h.count++
	return &commit{sha: sha, n: h.count, parents: parents, tree: t}
}
