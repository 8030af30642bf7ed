package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// place is a person's home with one repository.
type place struct{ bin, home, repo string }

// newPlace makes one in a folder that is gone after close.
func newPlace(ctx context.Context, bin string) (p place, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "rekal-public")
	if err != nil {
		return p, nil, err
	}
	p = place{bin, filepath.Join(dir, "home"), filepath.Join(dir, "repo")}
	remove = func() error { return os.RemoveAll(dir) }
	if err = os.MkdirAll(p.sessions(), 0o755); err == nil {
		err = os.Mkdir(p.repo, 0o755)
	}
	for _, args := range [][]string{
		{"config", "--global", "user.email", "dev@example.com"},
		{"config", "--global", "user.name", "Dev"},
		{"init", "-q", "-b", "main"},
		{"commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if err == nil {
			_, err = p.git(ctx, args...)
		}
	}
	return p, remove, err
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9]`)

// sessions is where Claude Code keeps the transcripts of the repository.
func (p place) sessions() string {
	return filepath.Join(p.home, ".claude/projects", notInName.ReplaceAllString(p.repo, "-"))
}

func (p place) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = p.repo
	cmd.Env = append(os.Environ(), "HOME="+p.home, "PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "CI=1")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %q: %w: %s", args, err, failed.Bytes())
	}
	return out, err
}

// ask has git-rekal take the transcripts in, makes their vectors, and asks.
func (p place) ask(ctx context.Context, questions []question) ([]asked, error) {
	for _, args := range [][]string{{"rekal", "init"}, {"rekal", "index", "--vectors"}} {
		if _, err := p.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	listed, err := p.git(ctx, "rekal", "query", "SELECT id, native_id FROM sessions")
	if err != nil {
		return nil, err
	}
	native := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(listed)); dec.More(); {
		var row struct {
			ID     string
			Native string `json:"native_id"`
		}
		if err := dec.Decode(&row); err != nil {
			return nil, err
		}
		native[row.ID] = row.Native
	}
	all := make([]asked, len(questions))
	for i, q := range questions {
		answer, err := p.git(ctx, "rekal", "--json", "--full", "-n", strconv.Itoa(depth), "--", q.text)
		if err != nil {
			return nil, err
		}
		var found struct {
			Results []struct {
				ID   string
				Weak bool
			}
		}
		if err := json.Unmarshal(answer, &found); err != nil {
			return nil, fmt.Errorf("%q: %w", q.text, err)
		}
		all[i].question = q
		for _, r := range found.Results {
			all[i].found, all[i].weak = append(all[i].found, native[r.ID]), r.Weak
		}
	}
	return all, nil
}
