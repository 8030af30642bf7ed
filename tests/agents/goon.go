package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// greeting is git-rekal's ID of the first session.
func (s *stage) greeting() (string, error) {
	out, err := s.git(s.repo, "rekal", "query", "SELECT session_id AS id FROM turns WHERE content LIKE '%Please add a greeting in%' LIMIT 1")
	return gjson.Get(out, "id").String(), err
}

// byID: `git rekal resume` goes on with the first session, from another folder, though others came behind it.
func (s *stage) byID() (string, error) {
	id, err := s.greeting()
	if err != nil {
		return "", err
	}
	line, err := s.git(s.linked, "rekal", "resume", "--no-hint", "--print", id)
	if err != nil {
		return "", err
	}
	if want := "cd " + s.repo + " && " + s.bin0(); !strings.HasPrefix(line, want) {
		return "", fmt.Errorf("it prints %q, want %q", line, want)
	}
	if s.More == nil && s.By == nil {
		return "it prints " + strings.TrimSpace(line), nil
	}
	t := turn{prompt: "Was the greeting good?", word: "It was."}
	saw, err := s.answers(t, func() (string, error) {
		if s.More != nil {
			return s.git(s.linked, append([]string{"rekal", "resume", "--no-hint", id, "--"}, fill(s.More, "{prompt}", t.prompt)...)...)
		}
		native, err := s.git(s.repo, "rekal", "query", "SELECT native_id FROM sessions WHERE id = '"+id+"'")
		if err != nil {
			return "", err
		}
		name := gjson.Get(native, "native_id").String()
		if !strings.Contains(line, name) {
			return "", fmt.Errorf("it prints %q, without %q", line, name)
		}
		return s.agent(s.repo, fill(s.By, "{id}", name, "{prompt}", t.prompt)...)
	})
	if err != nil {
		return "", err
	}
	if err := s.caught(); err != nil {
		return "", err
	}
	n, err := s.number("SELECT count(*) AS n FROM turns WHERE content LIKE '%" + t.prompt + "%' AND session_id = '" + id + "'")
	if err != nil || n != 1 {
		return "", errors.Join(err, fmt.Errorf("the prompt stands in %d turns of the session, want 1", n))
	}
	return saw + ", in the same session", nil
}

// bin0 is how the program is called.
func (s *stage) bin0() string { return s.Bin + " " }

// handsOver: another session of the agent begins with what the first one left, of which nothing is stored twice.
func (s *stage) handsOver() (string, error) {
	id, err := s.greeting()
	if err != nil {
		return "", err
	}
	if s.page, err = s.git(s.linked, "rekal", "handoff", id); err != nil {
		return "", err
	}
	saw, err := s.takes(s.page)
	if err != nil {
		return "", err
	}
	if err := s.caught(); err != nil {
		return "", err
	}
	n, err := s.number("SELECT count(*) AS n FROM turns WHERE content LIKE '%Going on with rekal:" + id + "%' AND content NOT LIKE '%Please add a farewell%'")
	if err != nil || n != 1 {
		return "", errors.Join(err, fmt.Errorf("the page's link stands in %d turns, want 1", n))
	}
	return saw + ", and the ledger has a link to the session", nil
}

// takes begins a session with a page.
func (s *stage) takes(page string) (string, error) {
	t := turn{prompt: "What follows was recorded by git-rekal", word: "I go on."} // OpenCode's command puts a prompt into quotes
	saw, err := s.answers(t, func() (string, error) { return s.agent(s.repo, fill(s.Run, "{prompt}", page)...) })
	if err == nil && !s.model.heard("## What was asked") {
		err = errors.New("the model did not get the page")
	}
	return saw, err
}
