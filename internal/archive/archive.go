// Package archive finds sessions that others kept: on Entire's branch, in SpecStory's folder, or in named files. It
// says what capture is to read.
//
// In: a repository, paths. Out: a Source, whose agents give these transcripts instead of those at home. Sessions keep
// the source and the native ID that they have at home, so capture knows which it holds already.
//
// A Source reads from the repository while capture works: hand in a *git.Repo of its own, and close it afterwards.
//
// Promises: reading is bounded; an unreadable transcript is named (Failed, Unread) and costs nothing else; the order is
// by time. It stores nothing.
package archive

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Source is what one tool kept.
type Source struct {
	Name        string // "entire", "specstory" or "file"
	Agents      []transcript.Agent
	Transcripts int // how many they give
	// Stated tells which sessions made a code commit, as the tool says; nil: of none.
	Stated func(git.Commit) []session.NativeRef
	Others map[string]int // sessions of other people that are left out, by e-mail address
	Unread map[string]int // sessions of agents that are not read, by how the tool calls these
	Absent []Absent       // transcripts that are not in this clone, which may have been made with a filter
	Failed []error        // one for each transcript that can't be read
}

// NameEntire is the name of the Source that Entire makes.
const NameEntire = "entire"

// Absent is a transcript that can't be read before it is fetched.
type Absent struct {
	Path string
	OID  git.OID // the first of its parts that is not here
}

// kept are copies by their agents.
type kept map[transcript.Agent][]transcript.Copy

func (k kept) add(a transcript.Agent, c transcript.Copy) { k[a] = append(k[a], c) }

// fillSource gives a source what was kept for a repository: transcripts before what was made of some.
func (k kept) fillSource(s *Source, repo *git.Repo) {
	held := headPaths(repo)
	has := func(path string) bool { return held[path] }
	for a, copies := range k {
		slices.SortStableFunc(copies, func(a, b transcript.Copy) int { return a.ModTime.Compare(b.ModTime) })
		s.Agents = append(s.Agents, transcript.Kept{Agent: a, Copies: copies, Has: has})
		s.Transcripts += len(copies)
	}
	slices.SortFunc(s.Agents, func(a, b transcript.Agent) int {
		return cmp.Compare(sortKey(a)+a.Name(),
			sortKey(b)+b.Name())
	})
}

func sortKey(a transcript.Agent) string {
	if k, ok := a.(transcript.Kept); ok && k.Copies[0].Rendered {
		return "1"
	}
	return "0"
}

// headPaths are the paths of the commit that is checked out; none where they can't be read.
func headPaths(repo *git.Repo) map[string]bool {
	held := map[string]bool{}
	head, err := repo.Head()
	if err != nil || head.OID == "" {
		return held
	}
	c, err := repo.Commit(head.OID)
	if err != nil {
		return held
	}
	trees := repo.Trees(maxTrees)
	all, _ := trees.All(c.Tree, maxFiles) // of too many, the first
	for _, f := range all {
		held[f.Path] = true
	}
	return held
}

// Bounds on the trees that are looked at.
const (
	maxTrees = 256 << 20 // bytes
	maxFiles = 500_000   // of one commit
)

// ErrNoTranscript is a file that no known agent wrote.
var ErrNoTranscript = advice.New("no transcript of an agent that is known",
	"say which agent wrote it, with --agent NAME")

// Files takes transcripts from anywhere. The content of a transcript tells which agent wrote it; if it does not, agent
// names the agent.
func Files(ctx context.Context, repo *git.Repo, paths []string, agent string) Source {
	s, k := Source{Name: "file"}, kept{}
	roots := repo.Worktrees()
	for _, path := range paths {
		s.failed(path, k.addFile(ctx, path, agent, roots))
	}
	k.fillSource(&s, repo)
	return s
}

// failed notes a transcript that can't be read.
func (s *Source) failed(path string, err error) {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err // which names it again
	}
	if err != nil {
		s.Failed = append(s.Failed, fmt.Errorf("import %q: %w", path, err))
	}
}

// addFile takes one transcript, or the sessions of a database that were made here.
func (k kept) addFile(ctx context.Context, path, agent string, roots []string) error {
	raw, info, err := read(path)
	if err != nil {
		return err
	}
	if transcript.IsDatabase(raw) {
		files, err := transcript.DatabaseSessions(ctx, path, roots)
		for _, f := range files {
			k.add(transcript.AgentOfDatabase(path), transcript.Copy{File: f})
		}
		return err
	}
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	a, f, ok := transcript.Recognise(path, raw, agent, stem)
	if !ok {
		return ErrNoTranscript
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	k.add(a, transcript.Copy{File: f, Text: func() ([]byte, error) {
		raw, _, err := read(path)
		return raw, err
	}})
	return nil
}

// sniffed is how much of a file tells whether it is a database, in bytes.
const sniffed = 16

// read reads a file, and unpacks it if it is compressed: at most transcript.MaxCopy bytes. Of a database it reads only
// the beginning.
func read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path) // what is no file may never end
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a file")
	}
	in, err := transcript.OpenUncompressed(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close() // it was only read
	text := bufio.NewReader(in)
	if head, _ := text.Peek(sniffed); transcript.IsDatabase(head) { // of a shorter file, what there is
		return head, info, nil
	}
	raw, err := io.ReadAll(io.LimitReader(text, transcript.MaxCopy+1))
	if err == nil && len(raw) > transcript.MaxCopy {
		err = fmt.Errorf("more than %d MB", transcript.MaxCopy>>20)
	}
	return raw, info, err
}

const (
	nameSpecStory  = "specstory"
	specStoryFiles = ".specstory/history/*.md"
)

// SpecStory takes .specstory/history/*.md of some folders.
func SpecStory(repo *git.Repo, roots []string) Source {
	s, k := Source{Name: nameSpecStory}, kept{}
	for _, root := range roots {
		names, _ := fs.Glob(os.DirFS(root), specStoryFiles) // the pattern is well formed
		for _, name := range names {
			path := filepath.Join(root, name)
			// people may keep notes there
			if err := k.addFile(context.Background(), path, "", nil); !errors.Is(err, ErrNoTranscript) {
				s.failed(path, err)
			}
		}
	}
	k.fillSource(&s, repo)
	return s
}

// Sources are the names of the tools that kept sessions of a repository with some worktrees, "entire" and "specstory",
// as far as a glance tells.
func Sources(repo *git.Repo, roots []string) (out []string) {
	for _, glob := range entireGlobs {
		refs, _ := repo.Refs(glob) // where they can't be read, nothing else can
		if slices.ContainsFunc(slices.Collect(maps.Keys(refs)), isEntire) {
			out = append(out, NameEntire)
			break
		}
	}
	for _, root := range roots {
		if names, _ := fs.Glob(os.DirFS(root), specStoryFiles); len(names) > 0 {
			return append(out, nameSpecStory)
		}
	}
	return out
}
