package history_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// kept is a memory that counts what it is asked to keep.
type kept struct {
	texts map[string][]byte
	n     int
}

func (k *kept) Text(_ context.Context, name string) []byte { return k.texts[name] }

func (k *kept) SetText(_ context.Context, name string, text []byte) {
	k.texts[name], k.n = text, k.n+1
}

// TestUnreachedRemembers: what a former walk came by says the same as a walk, also after a reset, on another branch,
// and with a damaged memory; and no walk is kept twice.
func TestUnreachedRemembers(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	for i := range 300 {
		p.Git("r", "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
	}
	p.Git("r", "branch", "long")
	oldest, tip := p.Rev("r", "long~250"), p.Rev("r", "long")
	p.Git("r", "commit", "-q", "--allow-empty", "-m", "thrown away")
	lost := p.Rev("r", "HEAD")
	p.Git("r", "reset", "-q", "--hard", "long")
	memory := &kept{texts: map[string][]byte{}}
	check := func(name string, want string, ids ...git.OID) {
		t.Helper()
		r := p.Open("r")
		for _, with := range []history.Memory{nil, memory, memory} {
			got := repos.Must(history.Unreached(t.Context(), r, ids, with))(t)
			if fmt.Sprint(got) != want {
				t.Errorf("%s: %v, want %s", name, got, want)
			}
		}
	}
	gone := fmt.Sprintf("map[%s:true]", lost)
	check("the newest", "map[]", tip)
	if memory.n != 0 {
		t.Errorf("a short walk was kept %d times", memory.n)
	}
	check("the oldest", "map[]", oldest)
	if memory.n != 1 {
		t.Errorf("a long walk was kept %d times", memory.n)
	}
	check("one that is gone", gone, oldest, lost)
	p.Git("r", "branch", "back", string(lost))
	check("one that is back on a branch", "map[]", oldest, lost)
	p.Git("r", "checkout", "-q", "back")
	check("one that is HEAD", "map[]", oldest, lost)
	p.Git("r", "checkout", "-q", "long")
	p.Git("r", "branch", "-D", "back")
	check("one that is gone again", gone, oldest, lost)
	for name := range memory.texts {
		memory.texts[name] = []byte("\x84 damaged")
	}
	check("a damaged memory", gone, oldest, lost)
}

// TestUnmergedInABusyRepository: a commit that a walk did not get to is not said to be on a branch, which the amend of
// a commit on a branch is not.
func TestUnmergedInABusyRepository(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "commit", "-q", "--allow-empty", "-m", "amended")
	amended := p.Rev("r", "HEAD")
	p.Git("r", "reset", "-q", "--hard", "HEAD~1")
	p.Git("r", "checkout", "-q", "-b", "topic")
	p.Git("r", "commit", "-q", "--allow-empty", "-m", "on a branch")
	topic := p.Rev("r", "HEAD")
	p.Git("r", "checkout", "-q", "-")
	check := func(name, want string) {
		t.Helper()
		got := repos.Must(history.Unmerged(t.Context(), p.Open("r"), []git.OID{amended, topic}, nil))(t)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	check("a short history", fmt.Sprintf("map[%s:true]", topic))
	var busy strings.Builder
	when := time.Now().Add(time.Hour).Unix()
	for i := range 2100 {
		from := ""
		if i == 0 {
			from = "from refs/heads/topic^0\n"
		}
		fmt.Fprintf(&busy, "commit refs/heads/busy\ncommitter A <a@example.com> %d +0000\ndata 1\nx\n%s", when, from)
	}
	made := exec.Command("git", "fast-import", "--quiet")
	made.Dir, made.Env, made.Stdin = p.At("r"), p.Environ(), strings.NewReader(busy.String())
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check("behind many newer commits", "map[]")
}
