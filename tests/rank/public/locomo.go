package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// conversation is two people's talk over months. Its fields session_1, session_2, … are read apart.
type conversation struct {
	SpeakerA string `json:"speaker_a"`
	QA       []struct {
		Question string
		Evidence []string
		Category int
	}
	rest map[string]json.RawMessage
}

// line is what one of the two said, or what a picture shows that went with it.
type line struct {
	Speaker, Text string
	Caption       string `json:"blip_caption"`
}

var (
	sessionField = regexp.MustCompile(`^session_(\d+)$`)
	evidenceID   = regexp.MustCompile(`D(\d+):`)
	dateWords    = regexp.MustCompile(`(?i)\b(?:19|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b`)
)

// askLocomo asks of each conversation its questions. Each has its own repository.
func askLocomo(ctx context.Context, bin, dir string) (all []asked, err error) {
	conversations, err := readLocomo(filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	for _, c := range conversations {
		p, remove, err := newPlace(ctx, bin)
		if err != nil {
			return nil, err
		}
		var some []asked
		if err = c.writeTranscripts(p); err == nil {
			some, err = p.ask(ctx, c.questions())
		}
		if err = errors.Join(err, remove()); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// readLocomo reads locomo10.json, or the files in locomo10.zip that stood in its place before.
func readLocomo(dir string) (out []conversation, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "locomo10.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return unzipLocomo(filepath.Join(dir, "locomo10.zip"))
	}
	var samples []struct {
		Conversation json.RawMessage
		QA           json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(text, &samples)
	}
	for _, s := range samples {
		var c conversation
		if err = errors.Join(err, c.decode(s.Conversation), json.Unmarshal(s.QA, &c.QA)); err != nil {
			break
		}
		out = append(out, c)
	}
	return out, err
}

func unzipLocomo(path string) (out []conversation, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".json") {
			continue
		}
		text, err := fs.ReadFile(z, f.Name)
		if err != nil {
			return nil, err
		}
		var c conversation
		if err := c.decode(text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func (c *conversation) decode(text []byte) error {
	return errors.Join(json.Unmarshal(text, c), json.Unmarshal(text, &c.rest))
}

// questions are those with evidence. LoCoMo counts five categories; those that name a month or a year are counted, too.
func (c *conversation) questions() (out []question) {
	categories := []string{"", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"}
	for _, q := range c.QA {
		x := question{text: q.Question, right: map[string]bool{}}
		for _, e := range q.Evidence {
			for _, d := range evidenceID.FindAllStringSubmatch(e, -1) {
				x.right["S"+d[1]] = true
			}
		}
		if len(x.right) == 0 {
			continue
		}
		x.kinds = []string{"category " + categories[q.Category]}
		if q.Category < 5 {
			x.kinds = append(x.kinds, "all but adversarial")
		}
		if dateWords.MatchString(q.Question) {
			x.kinds = append(x.kinds, "names a month or year")
		}
		out = append(out, x)
	}
	return out
}

// writeTranscripts writes each session as Claude Code would, one of the two as the person, a minute a line.
func (c *conversation) writeTranscripts(p place) error {
	for field, text := range c.rest {
		of := sessionField.FindStringSubmatch(field)
		if of == nil {
			continue
		}
		var lines []line
		var at string
		if err := errors.Join(json.Unmarshal(text, &lines), json.Unmarshal(c.rest[field+"_date_time"], &at)); err != nil {
			return err
		}
		start, err := time.Parse("3:04 pm on 2 January, 2006", at)
		if err != nil {
			return err
		}
		id := "S" + of[1]
		var out strings.Builder
		for i, l := range lines {
			out.Write(l.record(i, l.Speaker == c.SpeakerA, id, p.repo, start.Add(time.Duration(i)*time.Minute)))
		}
		if err := os.WriteFile(filepath.Join(p.sessions(), id+".jsonl"), []byte(out.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// record is a line of a transcript.
func (l line) record(i int, isPerson bool, id, repo string, at time.Time) []byte {
	role, text := "assistant", l.Speaker+": "+l.Text
	if l.Caption != "" {
		text += " [shares " + l.Caption + "]"
	}
	var content any = []any{map[string]any{"type": "text", "text": text}}
	if isPerson {
		role, content = "user", text
	}
	out, err := json.Marshal(map[string]any{
		"type": role, "uuid": id + "-" + strconv.Itoa(i), "parentUuid": nil, "sessionId": id, "cwd": repo,
		"version": "2.1.37", "gitBranch": "main",
		"userType": "external", "isSidechain": false, "timestamp": at.Format("2006-01-02T15:04:05.000Z"),
		"message": map[string]any{
			"id": "msg_" + strconv.Itoa(i), "type": "message", "role": role, "model": "claude-opus-4-6",
			"content": content,
		},
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	return append(out, '\n')
}
