package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// Where they lie in a clone of SWE-ContextBench.
const (
	sweTranscripts = "cases/SWEContextBench Lite Past Experience"
	sweIssues      = "cases/SWEContextBench Lite"
)

// askSWE asks the titles of later issues of the transcripts of earlier ones.
func askSWE(ctx context.Context, bin, dir, qrels string) (all []asked, err error) {
	p, remove, err := newPlace(ctx, bin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	edited, err := copyTranscripts(p, filepath.Join(dir, sweTranscripts))
	if err != nil {
		return nil, err
	}
	var judged map[string]map[string]bool
	if qrels != "" {
		if judged, err = readJudgements(qrels); err != nil {
			return nil, err
		}
	}
	questions, err := issueTitles(filepath.Join(dir, sweIssues), edited, judged)
	if err != nil {
		return nil, err
	}
	return p.ask(ctx, questions)
}

// readJudgements reads lines of question, session and grade.
func readJudgements(path string) (map[string]map[string]bool, error) {
	text, err := os.ReadFile(path)
	out := map[string]map[string]bool{}
	for l := range strings.Lines(string(text)) {
		if of := strings.Fields(l); len(of) == 3 && of[2] != "0" {
			if out[of[0]] == nil {
				out[of[0]] = map[string]bool{}
			}
			out[of[0]][of[1]] = true
		}
	}
	return out, err
}

// sweFolder is the folder that the transcripts name as theirs.
const sweFolder = "./swebench_9_15"

// copyTranscripts copies transcripts to where they are of the place's repository, and says which files each session
// edited.
func copyTranscripts(p place, dir string) (edited map[string][]string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	edited = map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var id string
		for l := range bytes.Lines(text) {
			var r transcriptLine
			if json.Unmarshal(l, &r) == nil && r.SessionID != "" { // some lines are no JSON
				id = r.SessionID
				edited[id] = append(edited[id], r.editedPaths()...)
			}
		}
		if id == "" {
			return nil, errors.New(path + ": no session")
		}
		text = bytes.ReplaceAll(text, []byte(`"cwd":"`+sweFolder), []byte(`"cwd":"`+p.repo))
		if err := os.WriteFile(filepath.Join(p.sessions(), id+".jsonl"), text, 0o644); err != nil {
			return nil, err
		}
	}
	return edited, err
}

// transcriptLine is a line of a transcript.
type transcriptLine struct {
	SessionID string
	Message   struct{ Content json.RawMessage }
}

// editedPaths are those of the line's calls that write.
func (l transcriptLine) editedPaths() (out []string) {
	var blocks []struct {
		Type, Name string
		Input      struct {
			Path string `json:"file_path"`
		}
	}
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return nil // a text alone
	}
	for _, b := range blocks {
		if b.Type == "tool_use" && (b.Name == "Edit" || b.Name == "Write" || b.Name == "MultiEdit") {
			out = append(out, b.Input.Path)
		}
	}
	return out
}

var (
	changedFile = regexp.MustCompile(`(?m)^diff --git a/(\S+) b/`)
	htmlComment = regexp.MustCompile(`<!--.*?-->`)
)

// sweIssue is an issue with its fix.
type sweIssue struct {
	ID      string `json:"instance_id"`
	Patch   string
	Problem string `json:"problem_statement"`
}

// titleLength is how much of a title is asked, in bytes.
const titleLength = 200

// issueTitles are the first lines of issues for which some session is right.
func issueTitles(dir string, edited map[string][]string,
	judged map[string]map[string]bool,
) (out []question, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range paths {
		var issue sweIssue
		if err := harness.EachLine(path, func(i sweIssue) { issue = i }); err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(strings.TrimSpace(issue.Problem), "\n")
		title = strings.Join(strings.Fields(htmlComment.ReplaceAllString(title, "")), " ")
		q := question{text: title[:min(len(title), titleLength)], right: judged[issue.ID]}
		if judged == nil {
			q.right = sessionsThatEdited(edited, changedFile.FindAllStringSubmatch(issue.Patch, -1))
		}
		if len(q.right) > 0 {
			out = append(out, q)
		}
	}
	return out, err
}

func sessionsThatEdited(edited map[string][]string, files [][]string) map[string]bool {
	out := map[string]bool{}
	for id, paths := range edited {
		for _, path := range paths {
			for _, f := range files {
				if strings.HasSuffix(path, "/"+f[1]) {
					out[id] = true
				}
			}
		}
	}
	return out
}
