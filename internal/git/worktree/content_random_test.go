package worktree_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// drift is a repository to which things happen at random, and what git says of it.
type drift struct {
	*repos.Place
	*rand.Rand
	hash  git.ObjectFormat
	texts map[string][]string // lines by file, as they were written last
	left  []git.Entry         // what stood in files of earlier commits
	log   []string
}

// TestContentOfRandomHistories compares what stands in files, and what became of those of earlier commits,
// with what git says. REKAL_SEED runs one seed only, as a failure names it.
func TestContentOfRandomHistories(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("REKAL_SEED"), 10, 64)
	drifts(t, seed)
}

func TestLongContentOfRandomHistories(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			drifts(t, seed)
		})
	}
}

func drifts(t *testing.T, seed uint64) {
	t.Helper()
	d := &drift{Place: repos.New(t), Rand: rand.New(rand.NewPCG(seed, 6)), texts: map[string][]string{}}
	defer func() {
		if t.Failed() {
			t.Logf("REKAL_SEED=%d, what happened:\n%s", seed, strings.Join(d.log, "\n"))
		}
	}()
	d.Start("r")
	d.hash = d.Open("r").ObjectFormat()
	d.Git("r", "config", "core.safecrlf", "false")
	for range 12 {
		d.add()
	}
	d.commitAll()
	for range 14 {
		for range 1 + d.IntN(4) {
			d.happen()
		}
		if d.check(); t.Failed() {
			return
		}
	}
}

// pick is one of some.
func pick[T any](d *drift, of ...T) T { return of[d.IntN(len(of))] }

// file is one that was written.
func (d *drift) file() string { return pick(d, slices.Sorted(maps.Keys(d.texts))...) }

func (d *drift) newName() string {
	return pick(d, "", "a/", "a/b/", "c/", "d e/") + fmt.Sprintf("%c%d", 'f'+d.IntN(9), d.IntN(100)) +
		pick(d, ".go", ".txt", ".bin", "é", `"q`)
}

func (d *drift) try(args ...string) {
	out, err := d.Place.Try("r", args...)
	d.log = append(d.log, fmt.Sprintf("git %q %v %.80s", args, err, out))
}

func (d *drift) put(name string, lines []string, end string) {
	d.log = append(d.log, fmt.Sprintf("write %q %q", name, end))
	text := strings.Join(lines, end) + end
	_ = os.RemoveAll(d.At("r/" + name))
	_ = os.MkdirAll(path.Dir(d.At("r/"+name)), 0o777)
	if os.WriteFile(d.At("r/"+name), []byte(text), 0o666) == nil {
		d.texts[name] = lines
	}
}

func (d *drift) add() {
	lines := []string{pick(d, "// $Id$", "// $Id: of another place $", "", "", "", "\x00", "é")}
	for range 12 {
		lines = append(lines, fmt.Sprintf("%x", d.Uint64()))
	}
	d.put(d.newName(), lines, pick(d, "\n", "\n", "\r\n"))
}

func (d *drift) commitAll() {
	d.try("add", "-A")
	d.commitStaged()
}

func (d *drift) commitStaged() {
	d.try("commit", "-q", "-m", "some")
	for l := range strings.SplitSeq(d.Git("r", "ls-tree", "-rz", "HEAD"), "\x00") {
		if f := strings.Fields(l); len(f) > 3 && f[1] == "blob" {
			_, name, _ := strings.Cut(l, "\t")
			d.left = append(d.left, git.Entry{Path: name, OID: git.OID(f[2])})
		}
	}
}

// happen is one thing that people do.
func (d *drift) happen() {
	f, to := d.file(), d.newName()
	lines := slices.Clone(d.texts[f])
	d.log = append(d.log, "file "+f)
	switch d.IntN(26) {
	case 0:
		d.add()
	case 1, 2:
		lines[1+d.IntN(3)] = fmt.Sprintf("%x", d.Uint64())
		d.put(f, lines, pick(d, "\n", "\r\n"))
	case 3:
		for i := range lines {
			lines[i] = fmt.Sprintf("%x", d.Uint64())
		}
		d.put(f, lines, "\n")
	case 4:
		d.put(f, lines, pick(d, "\n", "\r\n")) // the same, or other ends of lines
	case 5:
		_ = os.Remove(d.At("r/" + f))
	case 6:
		_ = os.Chmod(d.At("r/"+f), 0o777)
	case 7:
		_ = errors.Join(os.Remove(d.At("r/"+f)), os.Symlink("away", d.At("r/"+f)))
	case 8, 9, 10:
		_ = os.MkdirAll(path.Dir(d.At("r/"+to)), 0o777)
		if d.try("mv", "-f", f, to); len(lines) > 0 {
			d.texts[to] = lines
		}
		if text, _ := os.ReadFile(d.At("r/" + to)); d.IntN(2) == 0 && len(lines) > 3 {
			lines[2] = "edited"
			end := "\n"
			if strings.Contains(string(text), "\r\n") {
				end = "\r\n"
			}
			d.put(to, lines, end)
			d.try("add", to)
		}
	case 11:
		_ = os.MkdirAll(path.Dir(d.At("r/"+to)), 0o777)
		if err := os.Rename(d.At("r/"+f), d.At("r/"+to)); err == nil {
			d.texts[to] = lines
			d.try("add", pick(d, "-v", "-N"), to)
		}
	case 12:
		d.try("add", f)
	case 13:
		d.try("rm", "-q", "-f", pick(d, "-f", "--cached"), f)
	case 14, 15:
		d.commitAll()
	case 16:
		d.commitStaged()
	case 17:
		attributes := ""
		for range d.IntN(3) {
			attributes += pick(d, "*", "*.go", "a/*", "a/**", "*.txt", `"*\"q"`, "[f-k]*", "*é") + " " +
				pick(d, "text", "-text", "text=auto", "text eol=crlf", "text eol=lf", "binary", "ident", "crlf", "-crlf",
					"text=auto eol=crlf", "diff") + "\n"
		}
		to := pick(d, "", "a/") + ".gitattributes"
		d.Write("r/"+to, attributes)
		d.log = append(d.log, fmt.Sprintf("%s: %q", to, attributes))
	case 18:
		d.try("config", "core.autocrlf", pick(d, "true", "input", "false"))
	case 19:
		d.try("update-index", pick(d, "--assume-unchanged", "--skip-worktree", "--no-skip-worktree", "--chmod=+x"), f)
	case 20:
		d.try("update-index", pick(d, "--index-version=4", "--index-version=2", "--untracked-cache", "--force-remove=nothing",
			"--refresh"))
	case 21:
		d.try(strings.Fields(pick(d, "sparse-checkout set a", "sparse-checkout set --no-sparse-index c",
			"sparse-checkout disable", "sparse-checkout disable"))...)
	case 22:
		d.try("stash", "-q")
		d.try("checkout", "-q", "--detach", "HEAD~1")
		d.try("stash", "pop", "-q")
	case 23:
		then := time.Unix(1e9+int64(d.IntN(1e8)), 0)
		_ = os.Chtimes(d.At("r/"+f), then, then)
	case 24:
		d.try("checkout", "-q", "--", f)
	case 25:
		d.try("stash", "-q")
		d.try("checkout", "-q", "-b", fmt.Sprint("b", d.Uint32()), "HEAD~1")
		lines[1+d.IntN(3)] = "theirs"
		d.put(f, lines, "\n")
		d.commitAll()
		d.try("merge", "-q", "-m", "merge", "@{-1}")
	}
}

// check compares.
func (d *drift) check() {
	d.T.Helper()
	want := d.ask()
	c := repos.Must(worktree.Open(d.Open("r"), ""))(d.T)
	defer c.Close()
	for _, f := range slices.Sorted(maps.Keys(d.texts)) {
		if got := c.Blob(f, nil); got != want.now[f] && !d.excused(f, got) {
			d.T.Errorf("%q: %q, want %q\n%s", f, got, want.now[f], d.facts(f))
		}
	}
	var gone []string
	for _, l := range d.left {
		if c.Blob(l.Path, nil) == "" && !slices.Contains(gone, l.Path) {
			gone = append(gone, l.Path)
		}
	}
	moved := c.NewNames(gone)
	for _, l := range d.left {
		at, id := end(l.Path, moved, func(f string) git.OID {
			return c.Blob(f,
				func(id git.OID) bool { return id == l.OID })
		})
		gitAt, gitID := end(l.Path, want.moved, func(f string) git.OID { return want.now[f] })
		switch {
		case state(l, id) == state(l, gitID), d.excused(at, id), d.excused(gitAt, id), d.copied(at, l):
		case id == l.OID && d.holds(at, id): // whatever git makes of these bytes today
		default:
			d.T.Errorf("%q, once %.7s: %s in %q, want %s in %q\n%s\n%s", l.Path, l.OID, state(l, id), at, state(l, gitID), gitAt,
				d.facts(at), d.facts(gitAt))
		}
	}
}

// end is where a file is now, and what stands there.
func end(file string, moved map[string]string, now func(string) git.OID) (string, git.OID) {
	id := now(file)
	if to := moved[file]; id == "" && to != "" {
		return to, now(to)
	}
	return file, id
}

// state is what became of what stood in a file.
func state(was git.Entry, now git.OID) string {
	switch now {
	case was.OID:
		return "fresh"
	case "":
		return "deleted"
	}
	return "changed"
}

// excused reports whether git says something else of a file for a reason: what is said to be unknown; bytes that are as
// in the index, but for what git converts, which it does or not by when it looked last; bytes that git overlooks,
// because they came in the moment in which it looked; what was added and then left out; what was named and not
// added, with a change; what has another one's content, also where git would call it a copy.
func (d *drift) excused(file string, id git.OID) bool {
	index, _ := d.Place.Try("r", "ls-files", "-t", "-s", "--", ":(literal)"+file)
	_, inHead := d.Place.Try("r", "rev-parse", "-q", "--verify", "HEAD:"+file)
	switch id {
	case worktree.Unread:
		text, _ := d.Place.Try("r", "cat-file", "-p", ":"+file)
		split, _ := d.Place.Try("r", "rev-parse", "--shared-index-path")
		return strings.Contains(text, "\r\n") || strings.HasPrefix(index, "M") || split != ""
	case "":
		return strings.Contains(index, "S 1") && inHead != nil || strings.Contains(index, string(d.hash.BlobID(nil)[:7]))
	}
	text, _ := os.ReadFile(d.At("r/" + file))
	return strings.HasPrefix(index, "M") || d.holds(file, id) &&
		(strings.Contains(index, string(id)) || !strings.ContainsAny(string(text), "\r$"))
}

// copied reports whether the index has of a file what stood in another one.
func (d *drift) copied(file string, was git.Entry) bool {
	out, err := d.Place.Try("r", "rev-parse", "-q", "--verify", ":"+file)
	return err == nil && file != was.Path && git.OID(out) == was.OID
}

// holds reports whether these are the bytes of a file, as it is or with what git may convert taken out.
func (d *drift) holds(file string, id git.OID) bool {
	text, err := os.ReadFile(d.At("r/" + file))
	if err != nil {
		return false
	}
	for _, unix := range []string{"\r\n", "\n"} {
		for _, ident := range []string{"$0", "$$Id$$"} {
			t := ids.ReplaceAllString(strings.ReplaceAll(string(text), "\r\n", unix), ident)
			if d.hash.BlobID([]byte(t)) == id {
				return true
			}
		}
	}
	return false
}

var ids = regexp.MustCompile(`\$Id[^$\n]*\$`)

// facts are what git says of a file.
func (d *drift) facts(file string) string {
	var all []string
	for _, args := range [][]string{
		{"hash-object", "--no-filters", "--", file},
		{"hash-object", "--", file},
		{"rev-parse", "HEAD:" + file},
		{"ls-files", "-t", "-s", "--debug", "--", file},
		{"check-attr", "-a", "--", file},
		{"config", "core.autocrlf"},
		{"status", "--short", "-uno"},
		{"log", "--format=%h %p", "-M", "--name-status", "--diff-merges=first-parent"},
	} {
		out, _ := d.Place.Try("r", args...)
		all = append(all, strings.Join(args, " ")+": "+out)
	}
	return strings.Join(all, "\n")
}

// verdict is what git says.
type verdict struct {
	now   map[string]git.OID
	moved map[string]string
}

// ask asks git in an index of its own, in which nothing is said to be unchanged.
func (d *drift) ask() verdict {
	d.T.Helper()
	v := verdict{map[string]git.OID{}, map[string]string{}}
	index, asked := d.At("r/.git/index"), d.At("r/.git/asked")
	own := d.With("GIT_INDEX_FILE=" + asked)
	written := repos.Must(os.Stat(index))(d.T).ModTime() // git takes nothing for unchanged that is as young
	repos.Must(0, errors.Join(os.WriteFile(asked, repos.Must(os.ReadFile(index))(d.T), 0o666),
		os.Chtimes(asked, written, written)))(d.T)
	var there []string
	for _, f := range append(slices.Collect(maps.Keys(d.texts)), ".gitattributes", "a/.gitattributes") {
		if info, err := os.Lstat(d.At("r/" + f)); err == nil && !info.IsDir() {
			there = append(there, f)
		}
	}
	slices.Sort(there)
	for l := range strings.SplitSeq(own.Git("r", "ls-files", "-vz"), "\x00") {
		if tag, name, _ := strings.Cut(l, " "); slices.Contains(there, name) && strings.Contains("hsS", tag) {
			own.Git("r", "update-index", "--no-assume-unchanged", name)
			own.Git("r", "update-index", "--no-skip-worktree", name)
		}
	}
	commits := pairs(own.Git("r", "log", "--first-parent", "--diff-merges=first-parent", "-M", "--name-status", "-z",
		"--format=", "--diff-filter=DR"))
	since := pairs(own.Git("r", "diff", "-M", "--name-status", "-z", "--diff-filter=R", "HEAD"))
	since = append(since, pairs(own.Git("r", "diff", "--cached", "-M", "--name-status", "-z", "--diff-filter=R",
		"HEAD"))...)
	since = append(since, pairs(own.Git("r", "diff", "-M", "--name-status", "-z", "--diff-filter=D", "HEAD"))...)
	own.Git("r", append([]string{"update-index", "--add", "--replace"}, there...)...)
	for l := range strings.SplitSeq(own.Git("r", "ls-files", "-stz"), "\x00") {
		if info, name, ok := strings.Cut(l, "\t"); ok && (info[0] == 'S' || slices.Contains(there, name)) {
			v.now[name] = git.OID(strings.Fields(info)[2])
		}
	}
	v.follow(commits, since)
	return v
}

// follow follows each file that is gone by what was not committed, where HEAD has it, else by what the last commit
// that took it away made of it.
func (v verdict) follow(commits, since []git.Entry) {
	next := func(f string) string {
		for _, e := range slices.Concat(since, commits) {
			if e.Path == f {
				return string(e.OID)
			}
		}
		return ""
	}
	for _, e := range slices.Concat(since, commits) {
		to := next(e.Path)
		for range 3 {
			if v.now[to] == "" {
				to = next(to)
			}
		}
		v.moved[e.Path] = to
	}
}

// pairs reads what `git diff --name-status -z` says of files that are gone: the name that each got, "" for none.
func pairs(out string) []git.Entry {
	var all []git.Entry
	f := strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
	for len(f) > 1 {
		e := git.Entry{Path: f[1]}
		if strings.HasPrefix(f[0], "R") {
			e.OID = git.OID(f[2])
			f = f[1:]
		}
		all, f = append(all, e), f[2:]
	}
	return all
}
