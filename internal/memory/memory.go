// Package memory is what `git rekal memory` does with the notes that agents keep in files: it lists them, compares them
// with the ledger, checks whether they still hold, and brings those of another machine of the user back.
//
// In: an open index, the folders of agents on this machine, the code. Out: answers, patches, and with Pull files in the
// agents' folders. It promises that no text which the ledger does not hold is overwritten, that a mark of redaction
// never takes the place of what it stands for, and that what others noted goes nowhere unasked, and then quoted.
//
// How notes come into the ledger says package capture, what a note names says package notes.
package memory

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Notes are those of one repository, here and in the ledgers.
type Notes struct {
	W      *workspace.Workspace
	At     *ask.Moment
	Author workspace.Author
	Agent  string // only of this agent; "" for all
}

// files are the agents' files here, those of other repositories left out.
func (n Notes) files() (out []local, err error) {
	env := n.env()
	for _, folder := range transcript.NoteFolders(env) {
		if n.Agent != "" && folder.Agent != n.Agent {
			continue
		}
		files, err := folder.Files()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := f.Read()
			if errors.Is(err, transcript.ErrNoText) {
				continue
			}
			if err != nil {
				return nil, err
			}
			l := local{NoteFile: f, Text: text}
			l.own, l.others = notes.WithoutOthers(text)
			l.sections = notes.Split(f.Agent, f.Name, l.own, notes.Depth(f.Agent))
			if l.all = l.sections; f.Shared {
				isHere := transcript.InWorktrees(env.Roots)
				isOthers := func(s notes.Section) bool { return !isHere(notes.Folder(s.Text)) }
				l.sections = slices.DeleteFunc(slices.Clone(l.all), isOthers)
			}
			if len(l.all) > 0 || l.others != "" {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

func (n Notes) env() transcript.Env {
	return transcript.Env{Home: n.W.Home, Getenv: n.W.Getenv, Roots: n.W.Repo.Worktrees()}
}

// local is a file of notes on this machine.
type local struct {
	transcript.NoteFile
	Text        string
	own, others string // the text, without and with what others noted
	sections    []notes.Section
	all         []notes.Section // also those of other repositories
}

// key names a file on every machine.
func (l local) key() string { return l.Agent + ":" + l.Name }

// clean is the text of a section as the ledger would hold it.
func (n Notes) clean(ctx context.Context, f local, s notes.Section) (string, error) {
	if f.Shared {
		s.Text = notes.WithoutRoots(s.Text, n.W.Repo.Worktrees())
	}
	with := n.W.Redactor(n.Author.Config, workspace.ToShow)
	e, _, err := with.Apply(ctx, session.Entry{Memories: []session.Memory{{Title: s.Title, Content: s.Text}}})
	if err != nil {
		return "", err
	}
	return e.Entry().Memories[0].Content, nil
}

// stored is what the ledger of an author says of one file.
type stored struct {
	agent, name string
	sections    []*versions // by their place in the file
	distrusted  []string    // headings of others that stay as they are here, with the reason
}

// versions are those of a section, in the order of the ledger.
type versions struct {
	source string
	all    []ask.NoteRow
}

// heads are those that stand now: one, none if it is gone, more if machines changed it apart.
func (v *versions) heads() (out []ask.NoteRow) {
	for _, r := range v.all {
		if !r.Purged {
			out = append(out, r)
		}
	}
	return out
}

// was reports whether the section once had a text.
func (v *versions) was(text string) bool {
	return slices.ContainsFunc(v.all, func(r ask.NoteRow) bool { return r.Content == text })
}

// place orders sections.
func (v *versions) place() int {
	heads := v.heads()
	if len(heads) == 0 {
		heads = v.all
	}
	return heads[len(heads)-1].At
}

// ledger is what the ledgers of an author say, by file.
func (n Notes) ledger(ctx context.Context, email string) (map[string]*stored, error) {
	rows, err := n.At.Notes(ctx, email)
	if err != nil {
		return nil, err
	}
	out := map[string]*stored{}
	sections := map[string]*versions{}
	for _, r := range rows {
		agent, file, _, ok := notes.Parse(r.Source)
		if !ok || !slices.Contains(session.NoteAgents(), agent) || !transcript.IsNoteName(file) ||
			n.Agent != "" && agent != n.Agent || r.Content == session.Scrubbed {
			continue
		}
		key := agent + ":" + file
		if out[key] == nil {
			out[key] = &stored{agent: agent, name: file}
		}
		v := sections[r.Source]
		if v == nil {
			v = &versions{source: r.Source}
			sections[r.Source] = v
			out[key].sections = append(out[key].sections, v)
		}
		v.all = append(v.all, r)
	}
	for _, s := range out {
		slices.SortStableFunc(s.sections, func(a, b *versions) int { return cmp.Compare(a.place(), b.place()) })
	}
	return out, nil
}

func (s *stored) section(source string) *versions {
	for _, v := range s.sections {
		if v.source == source {
			return v
		}
	}
	return nil
}

// text is the file as it stands; of a section with several heads the last.
func (s *stored) text() string {
	var b strings.Builder
	for _, v := range s.sections {
		if heads := v.heads(); len(heads) > 0 {
			b.WriteString(heads[len(heads)-1].Content)
		}
	}
	return b.String()
}

// List are the notes that stand in the ledgers, of one author or with "" of all, the latest file first.
func (n Notes) List(ctx context.Context, email string) (out result.Notes, err error) {
	rows, err := n.At.Notes(ctx, email)
	if err != nil {
		return out, err
	}
	rows = slices.DeleteFunc(rows, func(r ask.NoteRow) bool {
		agent, _, _, ok := notes.Parse(r.Source)
		return r.Purged || !ok || n.Agent != "" && agent != n.Agent || r.Content == session.Scrubbed
	})
	slices.SortStableFunc(rows, func(a, b ask.NoteRow) int {
		return cmp.Or(strings.Compare(a.Email, b.Email), strings.Compare(fileOf(a.Source), fileOf(b.Source)),
			cmp.Compare(a.At, b.At))
	})
	out.Schema, out.Notes = result.Schema, []result.Memory{}
	described, err := n.At.DescribeNotes(ctx, rows)
	out.Notes = append(out.Notes, described...)
	return out, err
}

func fileOf(source string) string { name, _, _ := strings.Cut(source, "#"); return name }

// folderFor is the folder into which notes of an agent belong here; "" where there is none.
func folderFor(env transcript.Env, agent string) (best transcript.NoteFolder) {
	for _, f := range transcript.NoteFolders(env) {
		if f.Agent != agent {
			continue
		}
		if files, err := f.Files(); best.Dir == "" || err == nil && len(files) > 0 {
			if best = f; len(files) > 0 {
				return best
			}
		}
	}
	return best
}

// shown is a path for people.
func (n Notes) shown(path string) string {
	if rest, ok := strings.CutPrefix(path, n.W.Home+string(filepath.Separator)); ok && n.W.Home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}
