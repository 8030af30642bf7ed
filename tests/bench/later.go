package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/tests/history"
)

// more is how many sessions come later, one by one, to be captured; and as often somebody
// fetches what the others have done meanwhile, a session each.
const more = 5

// writeLater makes what comes later: transcripts of the first author's sessions, and the others'
// ledgers as they stand after each of some more steps, at refs/later/<step>/.
func (b bench) writeLater(ctx context.Context, mix *remix, steps int) error {
	if err := os.MkdirAll(b.later(), 0o755); err != nil {
		return err
	}
	for i := range 2 * more {
		if err := b.writeSession(mix, steps, i); err != nil {
			return err
		}
	}
	work := filepath.Join(b.dir, "work.git")
	if err := b.git(ctx, b.dir, "clone", "-q", "--bare", "--shared", b.team(), work); err != nil {
		return err
	}
	for i := range more {
		plan := history.Plan{Authors: mix.authors, Steps: 1, More: true, Step: func(author, _ int) history.Step {
			return mix.step(author, steps+i)
		}}
		if err := plan.Write(ctx, work); err != nil {
			return err
		}
		if err := b.git(ctx, b.dir, "-C", work, "push", "-q", b.team(), fmt.Sprintf("refs/heads/rekal/*:refs/later/%d/*", i)); err != nil {
			return err
		}
	}
	return os.RemoveAll(work)
}

func (b bench) writeSession(mix *remix, steps, i int) error {
	f, err := os.Create(filepath.Join(b.later(), fmt.Sprintf("%d.jsonl", i)))
	if err != nil {
		return err
	}
	writeTranscript(f, mix.session(0, steps+i).session, folderMark)
	return f.Close()
}

// folderMark stands in transcripts for the folder in which the session took place.
const folderMark = "/FOLDER"

// speak leaves the i-th of the later transcripts where Claude Code would.
func (s *scratch) speak(i int) error {
	text, err := os.ReadFile(filepath.Join(s.later(), fmt.Sprintf("%d.jsonl", i)))
	if err != nil {
		return err
	}
	folder := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, s.repo())
	dir := filepath.Join(s.home(), ".claude", "projects", folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("later-%d.jsonl", i)), []byte(strings.ReplaceAll(string(text), folderMark, s.repo())), 0o644)
}

// grow captures new sessions one by one, and brings the caches up after each: once as the
// next reader does, without a process of its own, and once as a process.
func (s *scratch) grow(ctx context.Context) error {
	s.head("one more session, %d times", more)
	if err := s.forget(); err != nil {
		return err
	}
	if _, _, err := process(s.rekalCommand(ctx, "checkpoint")); err != nil { // reads the ledger for the hooks
		return err
	}
	var hooks, catchUps, readers, idle samples
	for i := range 2 * more {
		if err := s.speak(i); err != nil {
			return err
		}
		hook, _, err := process(s.rekalCommand(ctx, "hook", "post-commit"))
		if err != nil {
			return err
		}
		hooks = append(hooks, hook)
		if i%2 == 0 {
			caught, err := s.catchUp(ctx)
			if err != nil {
				return err
			}
			catchUps = append(catchUps, caught)
			continue
		}
		for _, into := range []*samples{&readers, &idle} {
			took, _, err := process(s.rekalCommand(ctx, "log", "-n", "1"))
			if err != nil {
				return err
			}
			*into = append(*into, took)
		}
	}
	s.times("the hook (capture)", hooks)
	if err := s.lost(ctx); err != nil {
		return err
	}
	s.times("CatchUp, inside", catchUps)
	s.times("git rekal log, which catches up", readers)
	s.times("git rekal log, when nothing is new", idle)
	s.row("recall.db; data.db, index.db", "%s; %s, %s", megabytes(s.size("recall.db")), megabytes(s.size("data.db")), megabytes(s.size("index.db")))
	return s.forget()
}

// lost measures hooks that find no cache, as behind a clone or an upgrade.
func (s *scratch) lost(ctx context.Context) error {
	var hooks samples
	for range more {
		if err := os.Remove(filepath.Join(s.repo(), ".rekal", "capture.cache")); err != nil {
			return err
		}
		hook, _, err := process(s.rekalCommand(ctx, "hook", "post-commit"))
		if err != nil {
			return err
		}
		hooks = append(hooks, hook)
		if _, _, err := process(s.rekalCommand(ctx, "checkpoint")); err != nil { // beside what the hook left
			return err
		}
	}
	s.times("the hook without its cache", hooks)
	return nil
}

// forget removes transcripts from the home folder.
func (s *scratch) forget() error { return os.RemoveAll(filepath.Join(s.home(), ".claude")) }

// fetch brings in what everybody else has done meanwhile.
func (s *scratch) fetch(ctx context.Context) error {
	s.head("after a fetch of one session of each of the %d others, %d times", team-1, more)
	var fetches, catchUps samples
	for i := range more {
		later := fmt.Sprintf("refs/later/%d/", i)
		fetch, _, err := process(s.command(ctx, s.repo(), "git", "fetch", "-q", "origin", later+"*:refs/rekal/origin/*", "^"+later+email(0)))
		if err != nil {
			return err
		}
		caught, err := s.catchUp(ctx)
		if err != nil {
			return err
		}
		fetches, catchUps = append(fetches, fetch), append(catchUps, caught)
	}
	s.times("git fetch", fetches)
	s.times("CatchUp, inside", catchUps)
	return nil
}

// catchUp brings the caches up in a process of ours, which tells what that took in it.
func (s *scratch) catchUp(ctx context.Context) (sample, error) { return s.asChild(ctx, "catch-up", "") }
