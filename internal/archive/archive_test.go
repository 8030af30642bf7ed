package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// place is a repository with a branch of Entire's.
type place struct {
	*harness.Place
	n int
}

func newPlace(t *testing.T) *place {
	p := &place{Place: harness.New(t)}
	p.Env = []string{
		"GIT_AUTHOR_NAME=Dev", "GIT_COMMITTER_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com",
		"GIT_COMMITTER_EMAIL=dev@example.com",
	}
	p.Init("repo")
	p.Commit("repo", "first", "a.go", "package a\n")
	p.Git("repo", "checkout", "-q", "--orphan", "entire/checkpoints/v1")
	p.Git("repo", "rm", "-rfq", ".")
	return p
}

// checkpoint commits files (path, text, …) below a checkpoint's folder.
func (p *place) checkpoint(id string, files ...string) {
	for i := 0; i < len(files); i += 2 {
		files[i] = id[:2] + "/" + id[2:] + "/" + files[i]
	}
	p.Commit("repo", "Checkpoint: "+id, files...)
}

// meta is a session's metadata.json; each is a minute later.
func (p *place) meta(session string) string {
	p.n++
	return fmt.Sprintf(`{"session_id":%q,"created_at":"2026-03-04T10:%02d:00Z","agent":"Codex"}`, session, p.n)
}

// rollout is a transcript of Codex with some prompts.
func rollout(id string, prompts ...string) string {
	out := fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/gone/shop"}}`,
		id)
	for i, text := range prompts {
		out += fmt.Sprintf("\n"+`{"timestamp":"2026-03-04T10:%02d:30Z","type":"event_msg","payload":{"type":"user_message","message":%q}}`, i, text)
	}
	return out
}

func (p *place) open() *git.Repo {
	p.T.Helper()
	repo, err := git.Open(p.T.Context(), p.At("repo"), p.Environ())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(repo.Close)
	return repo
}

func (p *place) entire() archive.Source {
	p.T.Helper()
	all := func(emails []string) (map[string]bool, error) { return map[string]bool{"dev@example.com": true}, nil }
	s, err := archive.Entire(context.Background(), p.open(), all, false)
	if err != nil {
		p.T.Fatal(err)
	}
	return s
}

// prompts are what was typed in each transcript, by path.
func prompts(t *testing.T, s archive.Source) (out []string) {
	t.Helper()
	for _, a := range s.Agents {
		found, err := a.Locate(t.Context(), transcript.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Files {
			opt := transcript.Options{File: f, Roots: []string{"/nowhere"}}
			in, err := a.(transcript.Kept).Open(t.Context(), opt) //nolint:errcheck,forcetypeassert // all are
			if err != nil {
				out = append(out, f.Path+": "+err.Error())
				continue
			}
			doc, err := a.Decode(t.Context(), in, opt)
			if err = errors.Join(err, in.Close()); err != nil {
				t.Fatal(err)
			}
			said := f.Path + " " + a.Name()
			for _, p := range doc.Sessions {
				for _, turn := range p.Turns {
					said += " " + turn.Content
				}
			}
			out = append(out, said)
		}
	}
	return out
}

// TestEntire: the last transcript of each session is taken, in however many parts, and one before it that is longer;
// also where it lay until
// 2026. What can't be read costs itself.
func TestEntire(t *testing.T) {
	p := newPlace(t)
	p.checkpoint("aa0000000001", "metadata.json", `{}`, "0/metadata.json", p.meta("s1"), "0/full.jsonl",
		rollout("s1", "one"))
	one, two, three := rollout("s1", "one"), strings.Split(rollout("s1", "", "two"), "\n")[2],
		strings.Split(rollout("s1", "", "", "three"), "\n")[3]
	p.checkpoint("aa0000000002", "0/metadata.json", p.meta("s1"), "0/full.jsonl", one, "0/full.jsonl.002", three,
		"0/full.jsonl.001", two,
		"0/full.jsonl.123abc.tmp", "x", "1/metadata.json", p.meta("s2"), "1/full.jsonl",
		rollout("s2", "a long prompt", "and more"))
	p.checkpoint("aa0000000003", "0/metadata.json", p.meta("s2"), "0/full.jsonl", rollout("s2", "anew"),
		"metadata.json", p.meta("s3"), "full.jsonl", rollout("s3", "old"), "1/metadata.json", "torn", "1/full.jsonl",
		rollout("s4", "lost"))
	p.Git("repo", "checkout", "-q", "main")
	s := p.entire()
	const branch = "heads/entire/checkpoints/v1:"
	harness.Equal(t, "transcripts", []string{
		branch + "aa/0000000002/0/full.jsonl codex one two three",
		branch + "aa/0000000002/1/full.jsonl codex a long prompt and more",
		branch + "aa/0000000003/0/full.jsonl codex anew",
		branch + "aa/0000000003/full.jsonl codex old",
	}, sorted(prompts(t, s)))
	if len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Error(),
		"aa/0000000003/1/full.jsonl: its metadata.json can't be read") {
		t.Errorf("failed: %v", s.Failed)
	}
	for message, want := range map[string]string{
		"a\n\nEntire-Checkpoint: aa0000000001\n":                                       "[codex/s1]",
		"squashed\n\nEntire-Checkpoint: aa0000000001\nEntire-Checkpoint: aa0000000002": "[codex/s1 codex/s2]",
		"a\n\nEntire-Checkpoint: ffffffffffff":                                         "[]", "Entire-Checkpoint: aa00000000010": "[]",
	} {
		made := s.Stated(git.Commit{Message: message})
		slices.SortFunc(made, func(a, b session.NativeRef) int { return strings.Compare(a.NativeID, b.NativeID) })
		harness.Equal(t, message, want, fmt.Sprint(made))
	}
}

// TestLongRealEntire: real transcripts of five agents, as Entire keeps them, are recognised, each with its own ID,
// whatever Entire calls their agent.
func TestLongRealEntire(t *testing.T) {
	raw, err := os.ReadFile(harness.Data(t, "agents/counts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var samples map[string]any
	if err := json.Unmarshal(raw, &samples); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	var want, files []string
	for i, name := range slices.Sorted(maps.Keys(samples)) {
		agent, file, _ := strings.Cut(name, "/")
		id, _, _ := strings.Cut(file, ".")
		want = append(want, map[string]string{"copilot": "copilot-cli", "gemini": "gemini-cli"}[agent]+" "+id)
		if want[i][0] == ' ' {
			want[i] = agent + want[i]
		}
		files = append(files, fmt.Sprintf("%d/metadata.json", i), p.meta(id), fmt.Sprintf("%d/full.jsonl", i),
			string(harness.Unzipped(t, "agents/"+name)))
	}
	p.checkpoint("aa0000000001", files...)
	s := p.entire()
	var got []string
	for _, a := range s.Agents {
		found, err := a.Locate(t.Context(), transcript.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Files {
			got = append(got, a.Name()+" "+f.NativeID)
		}
	}
	harness.Equal(t, "sessions", sorted(want), sorted(got))
}

func sorted(s []string) []string { slices.Sort(s); return s }

// TestEntireDamaged: an object that is missing costs the transcript that needs it.
func TestEntireDamaged(t *testing.T) {
	p := newPlace(t)
	p.checkpoint("aa0000000001", "0/metadata.json", p.meta("s1"), "0/full.jsonl", rollout("s1", "one"))
	p.checkpoint("aa0000000002", "0/metadata.json", p.meta("s1"), "0/full.jsonl", rollout("s1", "one", "two"),
		"1/metadata.json", p.meta("s2"), "1/full.jsonl", rollout("s2", "a"))
	blob := p.Git("repo", "rev-parse", "HEAD:aa/0000000002/0/full.jsonl")
	if err := os.Remove(filepath.Join(p.At("repo"), ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	s := p.entire()
	harness.Equal(t, "transcripts", 2, len(prompts(t, s)))
	if len(s.Failed) != 0 || len(s.Absent) != 1 || string(s.Absent[0].OID) != blob {
		t.Errorf("failed: %v, absent: %v", s.Failed, s.Absent)
	}
}

// TestFiles: what is no file, or too long, is told; a compressed one is read.
func TestFiles(t *testing.T) {
	p := newPlace(t)
	dir := t.TempDir()
	p.Write(filepath.Join(dir, "x.jsonl"), rollout("s1", "one"))
	s := archive.Files(t.Context(), p.open(), []string{dir, filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "no")}, "")
	if s.Transcripts != 1 || len(s.Failed) != 2 {
		t.Errorf("%d transcripts, failed: %v", s.Transcripts, s.Failed)
	}
	harness.Equal(t, "transcripts", []string{filepath.Join(dir, "x.jsonl") + " codex one"}, prompts(t, s))
}
