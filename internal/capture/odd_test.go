package capture_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// Whatever a transcript or a code commit holds, what is captured of it can be read back
// (w.held fails otherwise), and is not captured again.
func TestWhatIsCapturedIsReadable(t *testing.T) {
	w := newWorld(t)
	odd := `aaaa\u001b[2J`
	quote := func(r string) string { return strings.ReplaceAll(r, "ODD", odd) }
	w.add("odd", quote(ask("ODD", 0, "why")),
		quote(rec("ODD", "assistant", 1, `"message":{"role":"assistant","content":[`+
			`{"type":"tool_use","id":"1","name":"Ed\u001bit\n","input":{"file_path":"~/../../x"}},`+
			`{"type":"tool_use","id":"2","name":"Edit","input":{"file_path":"/x\u0000\u001b"}}]}`)),
		quote(strings.Replace(say("ODD", 2, "so"), `"gitBranch":"main"`, `"gitBranch":"a\u001b\nb"`, 1)))

	// A tree that git itself would not make: a/../../evil.
	w.Write(filepath.Join(w.Root, "evil"), "quite another text\n")
	blob := w.git("hash-object", "-w", filepath.Join(w.Root, "evil"))
	tree := w.tree("100644 blob " + blob + "\tevil")
	for _, name := range []string{"..", "..", "a"} {
		tree = w.tree("040000 tree " + tree + "\t" + name)
	}
	head := w.dated(10).Git("repo", "commit-tree", "-p", "HEAD", "-m", "evil", tree)
	w.git("update-ref", "HEAD", head)
	stored(t, w.capture(), 1, 2, 2)
	w.ties("evil commit: aaaa\uFFFD[2J; DREADME")
	w.tells("aaaa\uFFFD[2J", "0 human: why", "Ed\uFFFDit\uFFFD", "Edit /x\uFFFD\x1b", "1 assistant: so")
	w.forget()
	stored(t, w.capture(), 0, 0, 0)
}

func (w *world) tree(entry string) string {
	w.T.Helper()
	cmd := exec.CommandContext(w.T.Context(), "git", "mktree")
	cmd.Dir, cmd.Env, cmd.Stdin = w.repo(), w.Environ(), strings.NewReader(entry+"\n")
	out, err := cmd.Output()
	if err != nil {
		w.T.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// In a shallow clone the own ledger, too, has its history cut. What it holds is not captured
// again, and what is new goes on from there.
func TestCaptureInAShallowClone(t *testing.T) {
	for _, depth := range []int{1, 2} {
		t.Run(fmt.Sprint("depth ", depth), func(t *testing.T) {
			w := newWorld(t)
			w.add(sidA, ask(sidA, 0, "one"), use(sidA, 1, "Edit", "a.go"))
			w.commit(10, "first", "a.go", "1")
			w.capture()
			w.add(sidA, say(sidA, 11, "two"))
			w.add(sidB, ask(sidB, 12, "another"))
			w.commit(20, "second", "a.go", "2")
			w.capture()
			before := w.held()

			// The clone takes the place of the repository, so that the transcripts are its own.
			old := filepath.Join(w.Root, "old")
			if err := exec.Command("mv", w.repo(), old).Run(); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("git", "clone", "-q", "--no-single-branch", fmt.Sprint("--depth=", depth), "file://"+old,
				w.repo()).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			w.git("branch", "-q", "--no-track", "rekal/"+email, "origin/rekal/"+email)
			w.forget()
			w.at(7200)
			stored(t, w.capture(), 0, 0, 0)
			harness.Equal(t, "sessions", before.sessions, w.held().sessions)

			w.add(sidA, ask(sidA, 30, "three"))
			w.commit(40, "third", "a.go", "3")
			stored(t, w.capture(), 1, 1, 0)
			w.forget()
			stored(t, w.capture(), 0, 0, 0)
			w.tells(sidA, "0 human: one", "Edit a.go", "1 assistant: two", "2 human: three")
		})
	}
}

// Where blobs of the own ledger are missing, nothing is captured: it might be there already.
func TestCaptureInAPartialClone(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "one"))
	w.capture()
	tip := w.git("rev-parse", "rekal/"+email)
	for name := range strings.FieldsSeq(w.git("ls-tree", "-r", "--format=%(objectname)", tip, "segments/")) {
		if err := exec.Command("rm", "-f", filepath.Join(w.repo(), ".git/objects", name[:2], name[2:])).Run(); err != nil {
			t.Fatal(err)
		}
	}
	w.forget()
	c, done, err := w.capturer()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if out, err := c.Run(context.Background(), w.via, nil); err == nil ||
		!strings.Contains(err.Error(), "not in this clone") {
		t.Errorf("%+v, %v", out, err)
	}
	harness.Equal(t, "the ledger", tip, w.git("rev-parse", "rekal/"+email))
}
