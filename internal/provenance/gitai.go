package provenance

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// gitAISchema is the version of Git AI's notes.
const gitAISchema = "authorship/3.0.0"

// ErrNote is a note that is no authorship log of Git AI. It belongs to somebody else, and is not changed.
var ErrNote = errors.New("the note is no authorship log")

// agentID and gitAISession name a session in a note.
type agentID struct {
	Tool  string `json:"tool"`
	ID    string `json:"id"`
	Model string `json:"model"`
}

type gitAISession struct {
	AgentID     agentID `json:"agent_id"`
	HumanAuthor string  `json:"human_author,omitempty"`
}

// GitAINote adds to a commit's former note ("" for none) the lines of our sessions that the note does not claim yet.
// The entries of others stay as they are, to the byte. If there is nothing to add, it returns the former note.
func GitAINote(a result.Attribution, former string) (string, error) {
	log, err := parseNote(former)
	if err != nil {
		return "", fmt.Errorf("refs/notes/ai of %.7s: %w", a.Commit, err)
	}
	added := false
	for _, f := range a.Files {
		for _, id := range slices.Sorted(maps.Keys(f.Wrote)) {
			lines := log.unclaimed(f.Path, f.Wrote[id])
			if lines == "" {
				continue
			}
			if err := log.addSession(a.Sessions[id]); err != nil {
				return "", err
			}
			w := a.Sessions[id]
			log.add(f.Path, fmt.Sprintf("  %s::t_%s %s", gitAISessionKey(w), shortSum(a.Commit+id), lines))
			added = true
		}
	}
	if !added {
		return former, nil
	}
	return log.text(a.Commit)
}

// gitAISessionKey is "s_" and what the standard hashes: the tool's name and its own ID of the conversation.
func gitAISessionKey(w result.Writer) string {
	return "s_" + shortSum(gitAITool(w.Source)+":"+w.NativeID)
}

// gitAITool is an agent's name as Git AI has it.
func gitAITool(source string) string {
	return cmp.Or(map[string]string{"claude-code": "claude", "copilot-cli": "copilot", "gemini-cli": "gemini"}[source],
		source)
}

// shortSum is the beginning of a SHA-256: 14 hex digits, as the standard's keys have.
func shortSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:7])
}

// authorshipLog is a note: who wrote which lines, and what is said of the writers.
type authorshipLog struct {
	paths   []string            // in order
	entries map[string][]string // by path as it stands in the note
	meta    map[string]json.RawMessage
}

func parseNote(text string) (*authorshipLog, error) {
	log := &authorshipLog{entries: map[string][]string{}, meta: map[string]json.RawMessage{}}
	if text == "" {
		return log, nil
	}
	entries, meta, found := strings.Cut("\n"+text, "\n---\n")
	if !found || json.Unmarshal([]byte(meta), &log.meta) != nil ||
		!bytes.Contains(log.meta["schema_version"], []byte(`"authorship/`)) {
		return nil, ErrNote
	}
	path := ""
	for line := range strings.Lines(strings.TrimPrefix(entries, "\n")) {
		switch line = strings.TrimRight(line, "\n"); {
		case line == "":
		case strings.HasPrefix(line, "  ") && path != "":
			log.entries[path] = append(log.entries[path], line)
		case strings.HasPrefix(line, " "):
			return nil, ErrNote
		default:
			path = log.add(line)
		}
	}
	return log, nil
}

// add puts entries below a path, and returns it as the note has it.
func (l *authorshipLog) add(path string, entries ...string) string {
	path = quotedPath(path)
	if _, known := l.entries[path]; !known {
		l.paths = append(l.paths, path)
	}
	l.entries[path] = append(l.entries[path], entries...)
	return path
}

// quotedPath is a path as a note has it.
func quotedPath(path string) string {
	if strings.ContainsAny(path, " \t\n") && !strings.HasPrefix(path, `"`) {
		return `"` + path + `"`
	}
	return path
}

// unclaimed are those of the given lines about which the note says nothing, in the note's form: "1-4,9".
func (l *authorshipLog) unclaimed(path string, ranges []result.Range) string {
	var claimed []result.Range
	for _, e := range l.entries[quotedPath(path)] {
		_, lines, _ := strings.Cut(strings.TrimSpace(e), " ")
		claimed = append(claimed, parseRanges(lines)...)
		claimed = claimed[:min(len(claimed), maxRanges)]
	}
	slices.SortFunc(claimed, func(a, b result.Range) int { return cmp.Compare(a[0], b[0]) })
	var out []string
	for _, r := range ranges {
		from := r[0]
		for _, c := range claimed {
			if c[0] > from && c[0] <= r[1] {
				out = append(out, rangeText(from, c[0]-1))
			}
			if c[0] <= r[1] && c[1] >= from {
				from = min(c[1], r[1]) + 1
			}
		}
		if from <= r[1] {
			out = append(out, rangeText(from, r[1]))
		}
	}
	return strings.Join(out, ",")
}

func rangeText(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return strconv.Itoa(from) + "-" + strconv.Itoa(to)
}

func (l *authorshipLog) addSession(w result.Writer) error {
	var sessions map[string]json.RawMessage
	if raw, ok := l.meta["sessions"]; ok {
		if err := json.Unmarshal(raw, &sessions); err != nil {
			return ErrNote
		}
	}
	if sessions == nil {
		sessions = map[string]json.RawMessage{}
	}
	if _, known := sessions[gitAISessionKey(w)]; known {
		return nil
	}
	entry, err := json.Marshal(gitAISession{
		agentID{gitAITool(w.Source), w.NativeID, cmp.Or(w.Model, "unknown")},
		w.Author,
	})
	if err == nil {
		sessions[gitAISessionKey(w)] = entry
		l.meta["sessions"], err = json.Marshal(sessions)
	}
	return err
}

// text writes the note.
func (l *authorshipLog) text(commit string) (string, error) {
	for key, value := range map[string]any{
		"schema_version": gitAISchema, "base_commit_sha": commit,
		"prompts": struct{}{},
	} {
		if _, there := l.meta[key]; !there {
			raw, err := json.Marshal(value)
			if err != nil {
				return "", err
			}
			l.meta[key] = raw
		}
	}
	var b bytes.Buffer
	for _, path := range l.paths {
		b.WriteString(path + "\n")
		for _, e := range l.entries[path] {
			b.WriteString(e + "\n")
		}
	}
	b.WriteString("---\n")
	meta := json.NewEncoder(&b)
	meta.SetEscapeHTML(false) // people's names hold <…>
	meta.SetIndent("", "  ")
	err := meta.Encode(l.meta)
	return b.String(), err
}
