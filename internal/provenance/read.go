package provenance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// What anybody may have written is read within bounds: a note or file of MaxNote bytes, so many ranges of a file, so
// long a name.
const (
	MaxNote   = 4 << 20
	maxRanges = 10_000
	maxName   = 200
)

// ReadGitAINote tells what a note of Git AI's, of version 3, says of the lines of one file; nothing where it is no such
// note.
func ReadGitAINote(note, path string) []result.Note {
	if len(note) > MaxNote {
		return nil
	}
	log, err := parseNote(note)
	if err != nil {
		return nil
	}
	var out noteList
	var humans map[string]struct{ Author string }
	sessions := map[string]gitAISession{}
	for _, of := range []string{"prompts", "sessions"} { // the former are those of older tools
		_ = json.Unmarshal(log.meta[of], &sessions) // what does not fit says nothing
	}
	_ = json.Unmarshal(log.meta["humans"], &humans)
	for _, e := range log.entries[quotedPath(path)] {
		key, lines, _ := strings.Cut(strings.TrimSpace(e), " ")
		key, _, _ = strings.Cut(key, "::")
		n := result.Note{Ranges: parseRanges(lines), By: "ai"}
		if s, ok := sessions[key]; ok {
			n.Tool, n.Model, n.Person, n.Conversation = s.AgentID.Tool, s.AgentID.Model, s.HumanAuthor, s.AgentID.ID
		} else if h, ok := humans[key]; ok || strings.HasPrefix(key, "h_") {
			n.By, n.Person = "human", h.Author
		}
		out.add(n)
	}
	return out.notes
}

// parseRanges reads "1-4,9"; what is no range is left out.
func parseRanges(text string) (out []result.Range) {
	for r := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(r, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err == nil && len(out) < maxRanges {
			out = append(out, result.Range{first, last})
		}
	}
	return out
}

// noteList is notes of one file, with as many ranges as are read.
type noteList struct {
	notes  []result.Note
	ranges int
}

// add adds a note that says something of some lines; to the one before, where that is of the same writer.
func (l *noteList) add(n result.Note) {
	n.Ranges = slices.DeleteFunc(n.Ranges, func(r result.Range) bool { return r[0] < 1 || r[1] < r[0] })
	n.Ranges = n.Ranges[:min(len(n.Ranges), maxRanges-l.ranges)]
	if len(n.Ranges) == 0 {
		return
	}
	if n.Model == "unknown" {
		n.Model = ""
	}
	for _, name := range []*string{&n.Tool, &n.Model, &n.Person, &n.Conversation} {
		*name = strings.ToValidUTF8((*name)[:min(len(*name), maxName)], "")
	}
	l.ranges += len(n.Ranges)
	if last := len(l.notes) - 1; last >= 0 && sameWriter(l.notes[last], n) {
		l.notes[last].Ranges = append(l.notes[last].Ranges, n.Ranges...)
		return
	}
	l.notes = append(l.notes, n)
}

func sameWriter(a, b result.Note) bool {
	return a.By == b.By && a.Tool == b.Tool && a.Model == b.Model && a.Person == b.Person &&
		a.Conversation == b.Conversation
}

// foreignRecord is an Agent Trace record as any tool writes it.
type foreignRecord struct {
	VCS   struct{ Revision string }
	Tool  struct{ Name string }
	Files []struct {
		Path          string
		Conversations []struct {
			URL         string
			Contributor foreignContributor
			Ranges      []struct {
				Start       int `json:"start_line"`
				End         int `json:"end_line"`
				Contributor *foreignContributor
			}
		}
	}
}

type foreignContributor struct {
	Type  string
	Model string `json:"model_id"`
}

// ReadAgentTrace tells what Agent Trace records, one or one a line, say of the lines that a revision brought into one
// file. A record without a revision is one of this.
func ReadAgentTrace(records, revision, path string) []result.Note {
	if len(records) > MaxNote {
		return nil
	}
	var out noteList
	if r, ok := parseRecord(records); ok {
		r.notes(revision, path, &out)
		return out.notes
	}
	for line := range strings.Lines(records) {
		if strings.Contains(line, revision) || !strings.Contains(line, `"revision"`) {
			r, _ := parseRecord(line)
			r.notes(revision, path, &out)
		}
	}
	return out.notes
}

func parseRecord(text string) (r foreignRecord, ok bool) {
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil
}

func (r foreignRecord) notes(revision, path string, out *noteList) {
	if r.VCS.Revision != "" && r.VCS.Revision != revision {
		return
	}
	for _, f := range r.Files {
		if f.Path != path {
			continue
		}
		for _, c := range f.Conversations {
			for _, span := range c.Ranges {
				who := c.Contributor
				if span.Contributor != nil {
					who = *span.Contributor
				}
				n := result.Note{
					By: who.Type, Tool: r.Tool.Name, Model: who.Model, Conversation: c.URL,
					Ranges: []result.Range{{span.Start, span.End}},
				}
				switch n.By {
				case "human":
					n.Tool, n.Model = "", ""
					out.add(n)
				case "ai", "mixed":
					out.add(n)
				}
			}
		}
	}
}
