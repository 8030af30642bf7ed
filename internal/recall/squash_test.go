package recall_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// shop is a place where sessions stand behind commits of branches, and a server puts these
// into main without a hook. A minute passes between two commits.
type shop struct {
	*place
	email string // who works
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{place: newPlace(t), email: alice}
	s.write("a.go", text("a", 40))
	s.write("b.go", text("b", 40))
	s.write("log.md", text("log", 40))
	s.commit("base")
	return s
}

// text is a file of so many lines, in which some are others.
func text(name string, n int, changed ...string) string {
	var b strings.Builder
	for i := range n {
		line := fmt.Sprintf("line %d of file %s", i, name)
		for _, c := range changed {
			if at, what, _ := strings.Cut(c, " "); at == fmt.Sprint(i) {
				line = what
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func (s *shop) write(path, text string) {
	s.T.Helper()
	full := filepath.Join(s.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
		s.T.Fatal(err)
	}
}

// branch starts a branch from a revision.
func (s *shop) branch(name, from string) { s.git("checkout", "-q", "-B", name, from) }

// commit commits everything, and nobody captures it.
func (s *shop) commit(subject string) string {
	s.T.Helper()
	s.clock++
	s.git("add", "-A")
	return s.code(subject)
}

// work commits a file with a session behind it.
func (s *shop) work(name string, files ...string) string {
	s.T.Helper()
	for i := 0; i < len(files); i += 2 {
		s.write(files[i], files[i+1])
	}
	id := s.commit(name)
	s.capture(name, id, session.ViaCommit)
	return id
}

// capture writes into the ledger what a hook does of a commit.
func (s *shop) capture(name, id, via string) {
	s.T.Helper()
	c, err := s.repo.Commit(git.OID(id))
	if err != nil {
		s.T.Fatal(err)
	}
	changes, err := s.repo.Changes(c.OID)
	if err != nil {
		s.T.Fatal(err)
	}
	cp := &session.Checkpoint{
		GitSHA: id, GitBranch: s.git("branch", "--show-current"), Via: via,
		PatchID: history.PatchID(s.repo, c),
	}
	cp.GitBranch = map[bool]string{true: "HEAD", false: cp.GitBranch}[cp.GitBranch == ""]
	said := []string{"human do " + name}
	for _, ch := range changes {
		said = append(said, "Edit "+ch.Path)
		cp.Files = append(cp.Files, session.File{Path: ch.Path, OldPath: ch.OldPath, Change: ch.Kind, Blob: string(ch.OID)})
	}
	s.append(s.email, s.clock, session.Entry{
		Checkpoint: cp,
		Sessions:   []session.Session{chat(name, s.clock, append(said, "assistant done")...)},
	})
}

// squash merges a branch into main as a server does.
func (s *shop) squash(branch string) string {
	s.T.Helper()
	s.git("checkout", "-q", "main")
	s.git("merge", "-q", "--squash", branch)
	return s.commit("squash of " + branch)
}

// pick copies commits onto main, with the times of their authors, as a server rebases.
func (s *shop) pick(revs ...string) string {
	s.T.Helper()
	s.git("checkout", "-q", "main")
	for _, r := range revs {
		author := s.clock
		s.clock = 1000 + author
		s.git("cherry-pick", r)
		s.clock = author + 1
	}
	return s.git("rev-parse", "HEAD")
}

// forget drops every object that only branches of code other than main hold: what a
// teammate never had.
func (s *shop) forget() {
	s.T.Helper()
	s.git("checkout", "-q", "main")
	for _, b := range strings.Fields(s.git("for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		if b != "main" && !strings.HasPrefix(b, "rekal/") {
			s.git("branch", "-q", "-D", b)
		}
	}
	s.git("reflog", "expire", "--expire=all", "--all")
	s.git("gc", "-q", "--prune=now")
	s.reopen() // as every command does; a handle goes on to know what it has read
}

// behind names the sessions behind a commit, by name, the inferred ones with a "?".
func (s *shop) behind(rev string) string {
	s.T.Helper()
	var names []string
	for _, h := range s.recall(recall.Request{Commit: rev}).Results {
		name := s.names[h.ID]
		if h.Inferred {
			name += "?"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// three commits of a feature, the second and third in one file.
func (s *shop) feature() (ids []string) {
	s.branch("topic", "main")
	ids = append(ids, s.work("one", "a.go", text("a", 40, "5 the first change", "6 goes over", "7 three lines")))
	ids = append(ids, s.work("two", "b.go", text("b", 40, "5 the second change", "6 covers some", "7 more lines")))
	ids = append(ids, s.work("three", "b.go", text("b", 40, "5 the second change", "6 covers some", "7 more lines",
		"20 and the third", "21 is in the same", "22 file again", "23 with four")))
	return ids
}

func TestLongSquashMerge(t *testing.T) {
	const all = "one? three? two?"
	for _, c := range []struct {
		name string
		make func(s *shop) (rev string)
		here string // with the branch's objects
		gone string // without
	}{
		{"three commits", func(s *shop) string { s.feature(); return s.squash("topic") }, all, all},
		{"one commit", func(s *shop) string {
			s.branch("topic", "main")
			s.work("one", "a.go", text("a", 40, "5 changed"))
			return s.squash("topic")
		}, "one?", "one?"},
		{"one commit, main changed near by", func(s *shop) string {
			s.branch("topic", "main")
			s.work("one", "a.go", text("a", 40, "5 changed lines", "6 that are more", "7 than just one"))
			s.git("checkout", "-q", "main")
			s.write("a.go", text("a", 40, "10 meanwhile"))
			s.commit("meanwhile")
			return s.squash("topic")
		}, "one?", ""},
		{"one commit, main changed another part of its file", func(s *shop) string {
			s.branch("topic", "main")
			s.work("one", "a.go", text("a", 40, "5 changed"))
			s.git("checkout", "-q", "main")
			s.write("a.go", text("a", 40, "30 meanwhile"))
			s.commit("meanwhile")
			return s.squash("topic")
		}, "one?", "one?"},
		{"main changed another part of a file", func(s *shop) string {
			s.feature()
			s.git("checkout", "-q", "main")
			s.write("b.go", text("b", 40, "35 meanwhile"))
			s.commit("meanwhile")
			return s.squash("topic")
		}, all, "one?"},
		{"main changed another file", func(s *shop) string {
			s.feature()
			s.git("checkout", "-q", "main")
			s.write("log.md", text("log", 40, "35 meanwhile"))
			s.commit("meanwhile")
			return s.squash("topic")
		}, all, all},
		{"edited further", func(s *shop) string {
			s.feature()
			s.git("checkout", "-q", "main")
			s.git("merge", "-q", "--squash", "topic")
			s.write("b.go", text("b", 40, "5 the second change", "6 covers some", "7 more lines", "20 and the third",
				"21 is in the same", "22 file, fixed", "23 with four"))
			return s.commit("squash, with a fix")
		}, all, "one?"},
		{"main merged into the branch", func(s *shop) string {
			s.feature()
			s.git("checkout", "-q", "main")
			s.write("log.md", text("log", 40, "35 meanwhile"))
			s.commit("meanwhile")
			s.git("checkout", "-q", "topic")
			s.clock++
			s.git("merge", "-q", "--no-ff", "--no-edit", "main")
			s.capture("merge", s.git("rev-parse", "HEAD"), session.ViaMerge)
			s.work("four", "b.go", text("b", 40, "1 the fourth change"))
			return s.squash("topic")
		}, "four? one? three? two?", "four? one? three? two?"},
		{"main merged into the branch, with a conflict", func(s *shop) string {
			s.feature()
			s.git("checkout", "-q", "main")
			s.write("log.md", text("log", 40, "35 meanwhile"))
			for i := range 9 {
				s.write(fmt.Sprintf("%d.go", i), text("more", 9))
			}
			s.commit("meanwhile")
			s.git("checkout", "-q", "topic")
			s.clock++
			s.git("merge", "-q", "--no-ff", "--no-commit", "main")
			s.work("merge", "b.go", text("b", 40, "5 what came of", "6 two changes", "7 of one line"))
			return s.squash("topic")
		}, "merge? one? three? two?", "merge? one? three? two?"},
		{"a branch on a branch, squashed whole", func(s *shop) string {
			s.feature()
			s.branch("more", "topic")
			s.work("four", "log.md", text("log", 40, "1 the fourth change"))
			return s.squash("more")
		}, "four? one? three? two?", "four? one? three? two?"},
		{"files renamed and deleted on the way", func(s *shop) string {
			s.branch("topic", "main")
			s.work("edit", "a.go", text("a", 40, "5 changed lines", "6 that are more", "7 than just one"))
			s.git("mv", "a.go", "c.go")
			s.work("move", "new.go", text("new", 20))
			s.git("rm", "-q", "b.go")
			s.work("drop", "new.go", text("new", 20, "3 changed"))
			return s.squash("topic")
		}, "drop? edit? move?", "drop? edit? move?"},
		{"amended before, recorded", func(s *shop) string {
			s.branch("topic", "main")
			old := s.work("one", "a.go", text("a", 40, "5 a change that", "6 covers some", "7 lines of it"))
			s.write("b.go", text("b", 40, "5 an afterthought"))
			s.git("add", "-A")
			s.clock++
			s.git("commit", "-q", "--amend", "-m", "amended")
			s.append(alice, s.clock, session.Entry{Rewrites: []session.Rewrite{{
				Old: old, New: s.git("rev-parse", "HEAD"),
				TS: at(s.clock),
			}}})
			return s.squash("topic")
		}, "one?", "one?"},
		{"imported: when it was made is not known", func(s *shop) string {
			s.branch("topic", "main")
			s.write("a.go", text("a", 40, "5 changed"))
			id := s.commit("one")
			rev := s.squash("topic")
			s.git("checkout", "-q", "topic")
			s.clock += 60
			s.capture("one", id, session.ViaImport)
			s.git("checkout", "-q", "main")
			return rev
		}, "one?", "one?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			rev := c.make(s)
			s.open()
			harness.Equal(t, "with the branch", c.here, s.behind(rev))
			harness.Equal(t, "its parent", "", s.behind(rev+"~1"))
			s.forget()
			harness.Equal(t, "without it", c.gone, s.behind(rev))
		})
	}
}

// Each copy leads to what it is a copy of.
func TestLongRebaseMerge(t *testing.T) {
	for _, near := range []bool{false, true} {
		t.Run(fmt.Sprintf("main changed near by: %v", near), func(t *testing.T) {
			s := newShop(t)
			ids := s.feature()
			s.git("checkout", "-q", "main")
			if near {
				s.write("b.go", text("b", 40, "25 meanwhile", "9 meanwhile"))
			}
			s.write("log.md", text("log", 40, "24 meanwhile"))
			s.commit("meanwhile")
			s.pick(ids...)
			s.open()
			harness.Equal(t, "the first", "one?", s.behind("HEAD~2"))
			harness.Equal(t, "the second", "two?", s.behind("HEAD~1"))
			harness.Equal(t, "the third", "three?", s.behind("HEAD"))
			for i, name := range []string{"one", "two", "three"} {
				harness.Equal(t, "the original", name, s.behind(ids[i]))
			}
			s.forget()
			harness.Equal(t, "the first, elsewhere", "one?", s.behind("HEAD~2"))
			if !near {
				harness.Equal(t, "the second, elsewhere", "two?", s.behind("HEAD~1"))
				harness.Equal(t, "the third, elsewhere", "three?", s.behind("HEAD"))
			}
			for i, name := range []string{"one", "two", "three"} {
				harness.Equal(t, "the original, elsewhere", name, s.behind(ids[i]))
			}
		})
	}
}

// What only looks alike.
func TestLongNoSquashMerge(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(s *shop) (rev string)
		want string
	}{
		{"another branch touches the same files", func(s *shop) string {
			s.branch("topic", "main")
			s.work("topic", "a.go", text("a", 40, "5 what the topic", "6 wants of this", "7 file of code"))
			s.branch("other", "main")
			s.work("other", "a.go", text("a", 40, "25 the other", "26 has something", "27 else in mind"))
			return s.squash("topic")
		}, "topic?"},
		{"a later commit on the same branch", func(s *shop) string {
			s.feature()
			rev := s.squash("topic")
			s.git("checkout", "-q", "topic")
			s.work("later", "a.go", text("a", 40, "5 the first change", "6 goes over", "7 three lines", "9 later"))
			return rev
		}, "one? three? two?"},
		{"commits of its own history", func(s *shop) string {
			s.work("before", "a.go", text("a", 40, "5 x", "6 y"))
			s.write("a.go", text("a", 40))
			s.work("undone", "a.go", text("a", 40))
			s.write("a.go", text("a", 40, "5 x", "6 y"))
			return s.commit("done again by the server")
		}, ""},
		{"a revert brings back an old blob", func(s *shop) string {
			s.branch("old", "main")
			s.work("old", "a.go", text("a", 40, "5 the old way", "6 of doing it", "7 in this file"))
			s.squash("old")
			s.branch("new", "main")
			s.work("new", "a.go", text("a", 40, "5 the new way", "6 of doing that", "7 very thing"))
			s.squash("new")
			s.clock++
			s.git("revert", "--no-edit", "HEAD")
			return "HEAD"
		}, ""},
		{"a branch that goes on after it was squashed", func(s *shop) string {
			s.feature()
			s.squash("topic")
			s.git("checkout", "-q", "topic")
			s.work("four", "b.go", text("b", 40, "5 the second change", "6 covers some", "7 more lines", "20 and the third",
				"21 is in the same", "22 file again", "23 with four", "30 fourth"))
			s.work("five", "a.go", text("a", 40, "5 the first change", "6 goes over", "7 three lines", "30 fifth"))
			s.git("checkout", "-q", "main")
			s.write("a.go", text("a", 40, "5 the first change", "6 goes over", "7 three lines", "30 fifth"))
			s.write("b.go", text("b", 40, "5 the second change", "6 covers some", "7 more lines", "20 and the third",
				"21 is in the same", "22 file again", "23 with four", "30 fourth"))
			return s.commit("the second squash")
		}, "five? four?"},
		{"a lock file that two branches made alike", func(s *shop) string {
			lock := text("lock", 100)
			s.branch("topic", "main")
			s.work("lock", "go.sum", lock)
			s.work("topic", "a.go", text("a", 40, "5 what the topic", "6 wants of this", "7 file of code"))
			s.branch("other", "main")
			s.work("other", "go.sum", lock+"# other\n", "b.go", text("b", 40, "3 other"))
			s.work("other lock", "go.sum", lock)
			s.branch("alone", "main")
			s.work("lock alone", "go.sum", lock)
			s.branch("third", "main")
			s.work("third", "go.sum", lock, "log.md", text("log", 40, "3 third"), "b.go", text("b", 40, "3 third"))
			return s.squash("topic")
		}, "lock? topic?"},
		{"a lock file among other work", func(s *shop) string {
			lock := text("lock", 100)
			s.branch("other", "main")
			s.work("other", "go.sum", lock, "b.go", text("b", 40, "3 other"))
			s.git("checkout", "-q", "main")
			s.write("go.sum", lock)
			s.write("a.go", text("a", 40, "9 main"))
			return s.commit("dependencies")
		}, ""},
		{"empty files", func(s *shop) string {
			s.branch("other", "main")
			s.work("other", "pkg/__init__.py", "", "pkg/x/__init__.py", "")
			s.git("checkout", "-q", "main")
			s.write("pkg/__init__.py", "")
			s.write("pkg/x/__init__.py", "")
			s.write("pkg/x/y.py", "print(1)\n")
			return s.commit("a package")
		}, ""},
		{"pulled into another branch afterwards", func(s *shop) string {
			s.branch("topic", "main")
			s.write("a.go", text("a", 40, "5 by nobody", "6 with a session", "7 behind it"))
			s.commit("topic")
			s.branch("other", "main")
			s.work("other", "b.go", text("b", 40, "3 other"))
			rev := s.squash("topic")
			s.git("checkout", "-q", "other")
			s.clock++
			s.git("merge", "-q", "--no-ff", "--no-edit", "main")
			s.capture("pull", s.git("rev-parse", "HEAD"), session.ViaMerge)
			return rev
		}, ""},
		{"a name that was used before", func(s *shop) string {
			s.branch("fix", "main")
			s.work("given up", "a.go", text("a", 40, "15 given up"))
			s.clock += 30 * 24 * 60
			s.git("checkout", "-q", "main")
			s.branch("fix", "main")
			s.work("fix", "a.go", text("a", 40, "5 the fix"))
			s.work("fix again", "a.go", text("a", 40, "5 the fix", "6 again"))
			return s.squash("fix")
		}, "fix again? fix?"},
		{"somebody else's branch of that name", func(s *shop) string {
			s.email = bob
			s.branch("fix", "main")
			s.work("bob's", "a.go", text("a", 40, "15 of bob"))
			s.email = alice
			s.branch("fix", "main")
			s.work("fix", "a.go", text("a", 40, "5 the fix"))
			s.work("fix again", "a.go", text("a", 40, "5 the fix", "6 again"))
			return s.squash("fix")
		}, "fix again? fix?"},
		{"tied, too: no mark", func(s *shop) string {
			s.branch("topic", "main")
			s.work("topic", "a.go", text("a", 40, "5 topic"))
			rev := s.squash("topic")
			s.capture("squasher", rev, session.ViaCommit)
			return rev
		}, "squasher topic?"},
		{"backported later", func(s *shop) string {
			s.branch("release", "main")
			s.git("checkout", "-q", "main")
			s.write("a.go", text("a", 40, "5 by nobody"))
			rev := s.commit("on main")
			s.clock += 5
			s.branch("release", "main~1")
			s.work("backport", "a.go", text("a", 40, "5 by nobody"))
			return rev
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			rev := s.git("rev-parse", c.make(s))
			s.open()
			harness.Equal(t, "with the branches", c.want, s.behind(rev))
			s.forget()
			harness.Equal(t, "without them", c.want, s.behind(rev))
		})
	}
}

// A merge of what was just squashed leaves the same content, and a hook of its commit may see
// it within the minute that clocks are granted.
func TestLongBuiltOnSquashMerge(t *testing.T) {
	s := newShop(t)
	s.branch("topic", "main")
	s.write("a.go", text("a", 40, "5 by nobody", "6 with a session", "7 behind it"))
	s.commit("topic")
	s.branch("other", "main")
	s.work("other", "b.go", text("b", 40, "3 other"))
	rev := s.squash("topic")
	s.git("checkout", "-q", "other")
	s.git("merge", "-q", "--no-ff", "--no-edit", "main")
	s.capture("pull", s.git("rev-parse", "HEAD"), session.ViaCommit)
	s.open()
	harness.Equal(t, "behind it", "", s.behind(rev))
}

// Git may have thrown away the older part of a branch that was deleted.
func TestLongSquashMergeOfTornHistory(t *testing.T) {
	s := newShop(t)
	ids := s.feature()
	rev := s.squash("topic")
	s.open()
	s.git("branch", "-q", "-D", "topic")
	if err := os.Remove(filepath.Join(s.dir, ".git", "objects", ids[0][:2], ids[0][2:])); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	harness.Equal(t, "behind it", "one? three? two?", s.behind(rev))
}

// A partial clone lacks trees: what is tied directly is found all the same.
func TestCommitWithoutItsTree(t *testing.T) {
	s := newShop(t)
	id := s.work("one", "a.go", text("a", 40, "5 changed"))
	tree := s.git("rev-parse", id+"^{tree}")
	s.open()
	if err := os.Remove(filepath.Join(s.dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	harness.Equal(t, "behind it", "one", s.behind(id))
}
