// Package brief selects what an agent should know without asking: at the start of a session, at a prompt, and before an
// edit.
//
// In: an open index, the repository, and what the agent's hook told. Out: lines, the strongest first. Each is one
// session, memory or record with its ID. Without anything to say there are no lines.
//
// Promises: it never names the running session or a purged item; it never repeats what the session was told
// (Source.Seen); its lines pass today's redaction, are printable, and name author and time. It reads by keys only, with
// one recall at a prompt. It never writes.
package brief

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Why a line is told: result.BriefLine.About.
const (
	AboutBranch  = "branch"  // the last session on the branch that is checked out
	AboutChanged = "changed" // it changed the files that are changed and not committed
	AboutMemory  = "memory"  // a memory that names one of these files, or what a prompt names
	AboutFailed  = "failed"  // the last command that failed, and was not run well since
	AboutNew     = "new"     // somebody else's, since one's own last session here
	AboutPrompt  = "prompt"  // a prompt names what it is about
	AboutSame    = "same"    // it changed the files that the running session changes
	AboutLines   = "lines"   // it wrote the lines that are about to be edited
	AboutTried   = "tried"   // it changed the file in a commit that was reverted
)

// mostOfKind is how many lines of a kind the brief at a start has at most.
const mostOfKind = 3

// failedFor is how long a failure is worth a line.
const failedFor = 14 * 24 * time.Hour

// Source is what lines are made of.
type Source struct {
	Index   *ask.Moment
	Repo    *git.Repo
	Now     time.Time
	Own     string                 // the user's address, in lower case; "" when git does not know it
	Native  string                 // the agent's ID of the running session; "" for none
	Seen    func(name string) bool // whether the session was told what is called so; nil: nothing
	Records []records.Record       // of this clone, in their order
}

// Start is what a session should know that begins. Changed are the files that are changed and not committed.
func (s Source) Start(ctx context.Context, branch string, changed []string) ([]result.BriefLine, error) {
	self, err := s.runningIDs(ctx)
	if err != nil {
		return nil, err
	}
	var out []result.BriefLine
	for _, part := range []func() ([]result.BriefLine, error){
		func() ([]result.BriefLine, error) { return s.onBranch(ctx, branch, self) },
		func() ([]result.BriefLine, error) {
			return s.sessionsThatChanged(ctx, AboutChanged, changed, self, mostOfKind)
		},
		func() ([]result.BriefLine, error) { return s.memoriesNaming(ctx, changed, mostOfKind) },
		func() ([]result.BriefLine, error) { return s.lastFailure(ctx, branch) },
		func() ([]result.BriefLine, error) { return s.fromOthers(ctx, self) },
	} {
		lines, err := part()
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return s.withoutRepeats(out), nil
}

// runningIDs are the IDs of the running session and of what it spawned, in order.
func (s Source) runningIDs(ctx context.Context) ([]string, error) {
	if s.Native == "" {
		return nil, nil
	}
	return s.Index.SessionAndSpawned(ctx, s.Native)
}

// withoutRepeats leaves out a line about the same ID as an earlier one, or about something that the session has Seen.
func (s Source) withoutRepeats(lines []result.BriefLine) []result.BriefLine {
	told := map[string]bool{}
	return slices.DeleteFunc(lines, func(l result.BriefLine) bool {
		again := told[l.ID] || s.Seen != nil && s.Seen(nameOfLine(l))
		told[l.ID] = true
		return again
	})
}

func (s Source) onBranch(ctx context.Context, branch string, self []string) ([]result.BriefLine, error) {
	if branch == "" {
		return nil, nil
	}
	ids, err := s.Index.OnBranch(ctx, branch, self, 1)
	if err != nil {
		return nil, err
	}
	return s.briefLines(ctx, ids, AboutBranch, branch)
}

// fromOthers are lines about sessions and memories of others since the user's last session here.
func (s Source) fromOthers(ctx context.Context, self []string) ([]result.BriefLine, error) {
	if s.Own == "" {
		return nil, nil
	}
	last, err := s.Index.LastActivity(ctx, s.Own, self)
	if err != nil || last.IsZero() {
		return nil, err
	}
	ids, err := s.Index.NewFromOthers(ctx, s.Own, last, mostOfKind)
	if err != nil {
		return nil, err
	}
	return s.briefLines(ctx, ids, AboutNew, result.Time(last))
}

// lastFailure is the last command that failed on a branch and was not run well since.
func (s Source) lastFailure(ctx context.Context, branch string) ([]result.BriefLine, error) {
	type command struct{ text, dir string }
	done := map[command]bool{}
	for _, r := range slices.Backward(s.Records) {
		c := command{r.Command, r.Dir}
		if r.Hidden || r.Command == "" || done[c] || r.Branch != branch || s.Now.Sub(r.At) > failedFor {
			continue
		}
		if done[c] = true; r.Failed == 0 && (r.Exit == nil || *r.Exit == 0) {
			continue
		}
		if r.From != nil && r.From.Session != "" { // a short output of one that passed leaves no record
			cmd := []rune(r.Command)
			passed, err := s.Index.PassedLast(ctx, r.From.Session, string(cmd[:min(len(cmd), session.CmdPrefix)]))
			if err != nil {
				return nil, err
			}
			if passed {
				continue
			}
		}
		return []result.BriefLine{recordLine(r)}, nil
	}
	return nil, nil
}

// briefLines are sessions and memories as lines, in that order; about and of say why they are told.
func (s Source) briefLines(ctx context.Context, ids []string, about, of string) ([]result.BriefLine, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	facets, err := s.Index.Facets(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []result.BriefLine
	for _, id := range ids {
		f, ok := facets[id]
		if !ok || f.Title == session.Scrubbed {
			continue
		}
		l := result.BriefLine{
			About: about, Of: of, ID: id, Kind: f.Kind, Author: f.Email, At: result.Time(f.Latest), Source: f.Source,
			Title: f.Title,
			Files: f.Shown[:min(len(f.Shown), shownFiles)], FilesTotal: f.Files,
		}
		if l.Kind == ask.KindMemory {
			l.Files = nil
		}
		out = append(out, l)
	}
	return out, nil
}

// memoriesNaming are lines about the memories that name one of some files, the latest first.
func (s Source) memoriesNaming(ctx context.Context, files []string, most int) ([]result.BriefLine, error) {
	words := namesOfFiles(files)
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := s.Index.MemoriesNaming(ctx, words, 20*most)
	if err != nil {
		return nil, err
	}
	var out []result.BriefLine
	for _, m := range rows {
		text := m.Title + " " + m.Content
		of := slices.IndexFunc(words, func(w string) bool { return hasSeparateWord(text, w) })
		if of < 0 {
			continue
		}
		l := result.BriefLine{
			About: AboutMemory, Of: words[of], ID: m.ID, Kind: ask.KindMemory, Author: m.Email,
			At: result.Time(m.TS), Source: m.Source, Title: memoryText(m),
		}
		if out = append(out, l); len(out) == most {
			break
		}
	}
	return out, nil
}

// memoryText is the text of a line about a memory: the memory's title, and its content if the content says more.
func memoryText(m ask.MemoryRow) string {
	if m.Title == "" || strings.HasPrefix(m.Content, m.Title) {
		return m.Content
	}
	return m.Title + ": " + m.Content
}

// namesOfFiles are words by which a text names files: their paths, and their names where those are no word of the
// language.
func namesOfFiles(files []string) (out []string) {
	for _, f := range files {
		out = append(out, f)
		if name := f[strings.LastIndexByte(f, '/')+1:]; name != f && strings.IndexByte(name, '.') > 2 {
			out = append(out, name)
		}
	}
	return out
}

// hasSeparateWord reports whether a word stands in a text by itself, and not as a part of a longer one.
func hasSeparateWord(text, word string) bool {
	inside := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(word)
		if (at == 0 || !inside(text[at-1])) && (end == len(text) || !inside(text[end])) {
			return true
		}
		from = at + 1
	}
}
