package agents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// noted is what a session notes, and the next one is to be told.
const noted = "# Task Group: greeting\nscope: tests\napplies_to: cwd={repo}; reuse_rule=always\n\n## Tests\n\n" +
	"The greeting of `hello.py` is tried by `make zqgreet`, in 30 s.  \n\n"

// noteFolder is where the agent keeps notes of its repository.
func (s *stage) noteFolder() string {
	root := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(s.repo, "-")
	return filepath.Join(s.Home(), fill([]string{s.Notes}, "{root}", root, "{name}", filepath.Base(s.repo))[0])
}

// noteFollows: a note that a session writes is found with that session, and comes to another machine of the same
// person, with another home, where the agent reads it.
func (s *stage) noteFollows(url string) {
	if s.Notes == "" {
		s.T.Skip("it keeps no notes of a repository")
	}
	s.git(s.repo, "config", "rekal.memoryFiles", "true")
	file := filepath.Join(s.noteFolder(), "MEMORY.md")
	if err := os.MkdirAll(s.noteFolder(), 0o700); err != nil {
		s.T.Fatal(err)
	}
	note := strings.ReplaceAll(noted, "{repo}", s.repo)
	added := "+" + strings.ReplaceAll(strings.TrimSuffix(note, "\n"), "\n", "\n+") + "\n" // as a patch has it
	s.asks(s.repo, s.Run, turn{
		prompt: "Please remember how the greeting is tried.", word: "I will.",
		steps: []step{{"write", map[string]string{"write": file, "text": note, "added": added}}},
	})
	text, err := os.ReadFile(file)
	if err != nil {
		s.T.Fatal(err)
	}
	s.git(s.repo, "rekal", "checkpoint")
	out := s.git(s.repo, "rekal", "--kind", "memory", "zqgreet")
	_, rest, _ := strings.Cut(out, `"written_by":"`)
	writer, _, _ := strings.Cut(rest, `"`)
	said := s.git(s.repo, "rekal", "show", writer)
	if !strings.Contains(said, "Please remember how the greeting is tried.") {
		s.T.Fatalf("the note is %s, and %q wrote it: %s", out, writer, said)
	}
	remote := s.At("remote.git")
	s.git(s.repo, "init", "-q", "--bare", remote)
	s.git(s.repo, "remote", "add", "origin", remote)
	s.git(s.repo, "push", "-q", "origin", "main")
	s.git(s.repo, "rekal", "sync", "--yes")
	s.noteArrives(url, remote, string(text))
}

// noteArrives: on another machine the note is the same to the byte, and the agent's next session is told it.
func (s *stage) noteArrives(url, remote, text string) {
	there := *s
	there.Place = &harness.Place{Root: s.At("second"), Env: s.Place.Env, T: s.T}
	there.repo = there.At("elsewhere/project")
	there.linked = there.At("elsewhere/linked")
	there.settle(url)
	if err := os.MkdirAll(there.Home(), 0o777); err != nil {
		s.T.Fatal(err)
	}
	there.git(s.repo, "clone", "-q", "--branch", "main", remote, there.repo)
	there.git(there.repo, "config", "user.name", "Alice")
	there.git(there.repo, "config", "user.email", "alice@example.com")
	there.asks(there.repo, there.Run, turn{prompt: "Please say that you are here.", word: "I am."})
	there.git(there.repo, "rekal", "init")
	there.git(there.repo, "config", "rekal.memoryFiles", "true")
	there.git(there.repo, "rekal", "sync", "--yes")
	told := there.git(there.repo, "rekal", "memory", "pull")
	got, err := os.ReadFile(filepath.Join(there.noteFolder(), "MEMORY.md"))
	if there.Unread { // it is of all repositories, and names this one's folder
		text = strings.ReplaceAll(text, s.repo, there.repo)
	}
	if err != nil || string(got) != text {
		s.T.Fatalf("there it is %q, want %q (%v): %s", got, text, err, told)
	}
	there.asks(there.repo, there.Run, turn{prompt: "Please say what you know.", word: "The greeting."})
	if !there.Unread && there.model.times("zqgreet") == 0 {
		s.T.Error("the next session there was not told")
	}
}
