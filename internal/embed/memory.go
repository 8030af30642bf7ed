package embed

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// memory is what the state file says of one server and model:
//
//	{"url":"http://127.0.0.1:11434","model":"nomic-embed-text","not_before":"2026-11-20T10:00:00Z"}
//
// It is read once, and written only when it changes. One that is missing or says something
// of another server says nothing.
type memory struct {
	path  string
	disk  stateFile // as it was read or written
	known stateFile
}

type stateFile struct {
	URL       string    `json:"url"`
	Model     string    `json:"model"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

// readMemory reads the file.
func readMemory(path, url, model string) *memory {
	m := memory{path: path}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &m.known) != nil || m.known.URL != url || m.known.Model != model {
		m.known = stateFile{URL: url, Model: model}
	}
	m.disk = m.known
	return &m
}

// isResting reports whether the server is to be left alone. A time that is too far off was
// written by a clock that went wrong.
func (m *memory) isResting(now time.Time) bool {
	return now.Before(m.known.NotBefore) && !m.known.NotBefore.After(now.Add(Rest))
}

func (m *memory) noteAnswer() error {
	m.known.NotBefore = time.Time{}
	return m.save()
}

// noteFailure lets the server rest.
func (m *memory) noteFailure(now time.Time) error {
	m.known.NotBefore = now.Add(Rest).UTC().Truncate(time.Second)
	return m.save()
}

// save writes the file where something changed. What was torn off by a crash says nothing.
func (m *memory) save() error {
	if m.known == m.disk {
		return nil
	}
	data, err := json.Marshal(m.known)
	if err == nil {
		err = os.WriteFile(m.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("embed: state: %w", err)
	}
	m.disk = m.known
	return nil
}
