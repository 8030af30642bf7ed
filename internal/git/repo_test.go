package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// The test binary stands in for another process: a rival that moves a ref.
const roleVar = "REKAL_GIT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "rival":
		os.Exit(rival())
	}
}

// draft writes a commit of one file and returns it.
func draft(t testing.TB, r *git.Repo, text string, parents ...git.OID) git.OID {
	t.Helper()
	id, err := r.WriteCommit(git.Draft{
		Files: map[string][]byte{"f": []byte(text)}, Parents: parents, Message: text + "\n",
		Author: repos.Someone(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// rival is another process that adds commits to a ref, as many as $COUNT says, each on top
// of the tip that it sees, again when another was faster.
func rival() int {
	r, err := git.Open(context.Background(), ".", os.Environ())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer r.Close()
	var count int
	if _, err := fmt.Sscan(os.Getenv("COUNT"), &count); err != nil {
		return 1
	}
	for i := range count {
		if err := grow(r, fmt.Sprintf("%s %d", os.Getenv("NAME"), i)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

const contested = "refs/heads/contested"

// grow puts one commit on top of the contested ref.
func grow(r *git.Repo, text string) error {
	for {
		tip, err := r.Ref(contested)
		if err != nil {
			return err
		}
		id, err := r.WriteCommit(git.Draft{
			Files: map[string][]byte{"f": []byte(text)}, Parents: []git.OID{tip},
			Message: text + "\n", Author: repos.Someone(),
		})
		if err != nil {
			return err
		}
		if err := r.CompareAndSwap(context.Background(), contested, tip, id, "grow"); !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
}

var background = context.Background()
