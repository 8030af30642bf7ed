package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Entire keeps a checkpoint of all sessions at work whenever somebody commits, and names it in the message of that
// commit ("Entire-Checkpoint: a3b2c4d5e6f7"). Its sources (entireio/cli, docs/architecture/sessions-and-checkpoints.md
// and ref-checkpoint-backend.md, September 2026) say where: below <first two of the ID>/<rest>/ on the branch
// entire/checkpoints/v1, or, for newer repositories, at the top of a ref refs/entire/checkpoints/<last two of the
// ID>/<ID>, with IDs of 26 characters. There lie
//
//	metadata.json                          of the checkpoint
//	0/metadata.json                        of its first session: {"session_id", "created_at", "agent": "Claude Code", …}
//	0/full.jsonl                           its transcript from the beginning, as the agent writes it, redacted by Entire
//	0/full.jsonl.001 …                     what does not fit into 50 MB; parts are joined by line ends
//	tasks/<tool-use-id>/agent-<id>.jsonl   the transcript of a subagent
//
// and 1/, 2/, … of further sessions. Checkpoints of before 2026 have the files of the last session beside the first
// one's folder. The agent's name is wrong at times, so a transcript is recognised by what it says. OpenCode's is what
// "opencode export" prints.
//
// As each checkpoint has all of a session up to then, the last one is read; an earlier one only where it is longer.

// Bounds on what is looked at.
const (
	maxRefs     = 50_000
	maxMetadata = 4 << 20 // bytes of one metadata.json
)

// unknownPerson is who kept what no commit says the checkpoint of.
const unknownPerson = "unknown"

// checkpoint is a checkpoint of Entire, by its ID.
type checkpoint struct {
	author string // who wrote the newest such commit
	// who wrote and who committed it, by e-mail address in lower case; none where no commit names it
	people  map[string]bool
	folders map[string]*folder // by "0", "1", …; "" for the checkpoint's own; a subagent's by its path
}

// folder holds one session's transcript.
type folder struct {
	of    *checkpoint
	path  string // as git names it
	meta  git.OID
	parts map[int]git.OID

	Session string    `json:"session_id"`
	Created time.Time `json:"created_at"`
	Agent   string    `json:"agent"`
	size    int64
	text    func() ([]byte, error)
}

// entire is one reading.
type entire struct {
	repo        *git.Repo
	trees       *git.Trees
	checkpoints map[string]*checkpoint
	sessions    map[string][]*folder // by Entire's name
	names       map[string]session.NativeRef
	reading     sync.Mutex // one transcript at a time
	Source
}

// Entire takes what Entire kept of the user's own sessions, or of everyone's. Own is a checkpoint that nobody wrote or
// committed but those of whom own is true, given the addresses in lower case: all that a branch says of who that was,
// and whoever may push can write it.
func Entire(ctx context.Context, repo *git.Repo, own func(emails []string) (map[string]bool, error),
	everyone bool,
) (Source, error) {
	trees := repo.Trees(maxTrees)
	e := entire{
		repo: repo, trees: trees, checkpoints: map[string]*checkpoint{}, sessions: map[string][]*folder{},
		names:  map[string]session.NativeRef{},
		Source: Source{Name: NameEntire, Others: map[string]int{}, Unread: map[string]int{}},
	}
	if err := e.list(ctx); err != nil {
		return Source{}, err
	}
	mine, err := own(e.authors())
	if err != nil {
		return Source{}, err
	}
	e.readDescriptions()
	k := kept{}
	for _, name := range slices.Sorted(maps.Keys(e.sessions)) {
		if err := ctx.Err(); err != nil {
			return Source{}, fmt.Errorf("archive: %w", err)
		}
		if !everyone {
			e.keepOwn(name, mine)
		}
		e.takeTranscripts(name, k, mine)
	}
	e.Stated = e.sessionsInMessage
	k.fillSource(&e.Source, repo)
	return e.Source, nil
}

var (
	entireBranch = lazy.Expr(`^refs/(?:heads|remotes/[^/]+)/entire/checkpoints/v1$`)
	entireRef    = lazy.Expr(`^refs/entire/checkpoints/..?/([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})$`)
	entireName   = lazy.Expr(`(?:Entire-)?Checkpoint:\s*([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})(?:\s|$)`)
	entireShard  = lazy.Expr(`^([0-9a-f]{2})/([0-9a-f]{10})/(.+)$`)
	entireFile   = lazy.Expr(`^(?:(\d+)/)?(metadata\.json|full\.jsonl(?:\.\d{3,})?)$`)
	entireTask   = lazy.Expr(`^tasks/[^/]+/agent-([^/]+)\.jsonl$`)
)

// entireGlobs are the refs among which those of Entire are.
var entireGlobs = []string{"refs/heads/entire/*", "refs/remotes/*", "refs/entire/checkpoints/*"} //nolint:gochecknoglobals // read-only

func isEntire(ref string) bool { return entireBranch.MatchString(ref) || entireRef.MatchString(ref) }

// list finds all checkpoints, and who committed them.
func (e *entire) list(ctx context.Context) error {
	var tips []git.OID
	for _, glob := range entireGlobs {
		refs, err := e.repo.Refs(glob)
		if err != nil {
			return err
		}
		for _, ref := range slices.Sorted(maps.Keys(refs)) {
			id := ""
			if m := entireRef.FindStringSubmatch(ref); m != nil {
				id = m[1]
			} else if !entireBranch.MatchString(ref) {
				continue
			}
			if len(tips) < maxRefs && !slices.Contains(tips, refs[ref]) {
				tips = append(tips, refs[ref])
				if err := e.listCheckpoints(ref, refs[ref], id); err != nil {
					e.Failed = append(e.Failed, fmt.Errorf("import %s: %w", ref, err))
				}
			}
		}
	}
	for c, err := range e.repo.Newest(ctx, tips, nil) {
		if err != nil {
			break // a history that is cut off says nothing of who
		}
		if m := entireName.FindStringSubmatch(c.Subject()); m != nil && e.checkpoints[m[1]] != nil {
			cp := e.checkpoints[m[1]]
			cp.author = cmp.Or(cp.author, strings.ToLower(c.Author.Email))
			for _, by := range []git.Signature{c.Author, c.Committer} {
				cp.people[strings.ToLower(by.Email)] = true
			}
		}
	}
	return ctx.Err()
}

// listCheckpoints lists the checkpoints of a ref, which is one's own where it has an ID.
func (e *entire) listCheckpoints(ref string, tip git.OID, id string) error {
	c, err := e.repo.Commit(tip)
	if err != nil {
		return err
	}
	files, err := e.trees.All(c.Tree, maxFiles)
	for _, f := range files {
		of, rest := id, f.Path
		if id == "" {
			m := entireShard.FindStringSubmatch(f.Path)
			if m == nil {
				continue
			}
			of, rest = m[1]+m[2], m[3]
		}
		e.file(of, rest, strings.TrimPrefix(ref, "refs/")+":"+f.Path, f.OID)
	}
	return err
}

// file notes a file of a checkpoint.
func (e *entire) file(id, rest, path string, blob git.OID) {
	name, file := "", ""
	if m := entireFile.FindStringSubmatch(rest); m != nil {
		name, file = m[1], m[2]
	} else if m := entireTask.FindStringSubmatch(rest); m != nil {
		name, file = rest, "full.jsonl"
	} else {
		return
	}
	cp := e.checkpoints[id]
	if cp == nil {
		cp = &checkpoint{people: map[string]bool{}, folders: map[string]*folder{}}
		e.checkpoints[id] = cp
	}
	f := cp.folders[name]
	if f == nil {
		f = &folder{of: cp, parts: map[int]git.OID{}}
		cp.folders[name] = f
	}
	if file == "metadata.json" {
		f.meta = blob
		return
	}
	part, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(file, "full.jsonl"), ".")) // none is the first
	if f.parts[part] = blob; part == 0 {
		f.path = path
	}
}

func (e *entire) authors() []string {
	all := map[string]bool{}
	for _, cp := range e.checkpoints {
		maps.Copy(all, cp.people)
	}
	return slices.Sorted(maps.Keys(all))
}

// readDescriptions reads what is said of each transcript.
func (e *entire) readDescriptions() {
	for _, id := range slices.Sorted(maps.Keys(e.checkpoints)) {
		var latest time.Time
		cp := e.checkpoints[id]
		for _, name := range slices.Sorted(maps.Keys(cp.folders)) { // subagents come last
			f := cp.folders[name]
			if len(f.parts) == 0 {
				continue
			}
			if m := entireTask.FindStringSubmatch(name); m != nil {
				f.Session, f.Created, f.Agent = m[1], latest, "a subagent"
			} else if raw, err := e.blob(f.meta, maxMetadata); err != nil || json.Unmarshal(raw, f) != nil || f.Session == "" {
				e.Failed = append(e.Failed, fmt.Errorf("import %s: its metadata.json can't be read", f.path))
				continue
			}
			if f.Created.After(latest) {
				latest = f.Created
			}
			for _, part := range f.parts {
				size, err := e.repo.BlobSize(part)
				if err == nil {
					f.size += int64(min(size, transcript.MaxCopy+1))
				}
			}
			f.text = func() ([]byte, error) { return e.transcript(f) }
			e.sessions[f.Session] = append(e.sessions[f.Session], f)
		}
	}
}

func (e *entire) blob(id git.OID, most int64) ([]byte, error) {
	if size, err := e.repo.BlobSize(id); err != nil || int64(min(size, 1<<40)) > most {
		return nil, cmp.Or(err, fmt.Errorf("more than %d MB", most>>20))
	}
	return e.repo.Blob(id)
}

// transcript joins the parts of one.
func (e *entire) transcript(f *folder) ([]byte, error) {
	e.reading.Lock()
	defer e.reading.Unlock()
	var all [][]byte
	left := int64(transcript.MaxCopy)
	for _, n := range slices.Sorted(maps.Keys(f.parts)) {
		raw, err := e.blob(f.parts[n], left)
		if err != nil {
			return nil, err
		}
		all, left = append(all, raw), left-int64(len(raw))
	}
	return bytes.Join(all, []byte("\n")), nil
}

// keepOwn leaves of a session what lies in checkpoints of the user's own, and counts it as somebody else's where none
// is: a checkpoint of another person may name a session of the user's and tell it otherwise.
func (e *entire) keepOwn(name string, mine map[string]bool) {
	var own []*folder
	other := ""
	for _, f := range e.sessions[name] {
		strangers := slices.DeleteFunc(slices.Sorted(maps.Keys(f.of.people)), func(email string) bool { return mine[email] })
		switch {
		case len(strangers) > 0:
			other = strangers[0]
		case len(f.of.people) == 0:
			other = cmp.Or(other, unknownPerson)
		default:
			own = append(own, f)
		}
	}
	if e.sessions[name] = own; len(own) == 0 {
		e.Others[other]++
	}
}

// takeTranscripts takes the last transcript of a session, and those before it that are longer than any behind them: the
// agent wrote it anew.
func (e *entire) takeTranscripts(name string, k kept, mine map[string]bool) {
	all := e.sessions[name]
	slices.SortStableFunc(all, func(a, b *folder) int { return a.Created.Compare(b.Created) })
	longest := int64(-1)
	for _, f := range slices.Backward(all) {
		if f.size <= longest {
			continue
		}
		raw, err := f.text()
		if errors.Is(err, git.ErrNotFound) {
			e.noteAbsent(f)
			continue
		}
		if err != nil {
			e.Failed = append(e.Failed, fmt.Errorf("import %s: %w", f.path, err))
			continue
		}
		agent, file, ok := transcript.Recognise(f.path, raw, "", f.Session)
		if !ok {
			if longest < 0 {
				e.Unread[cmp.Or(f.Agent, "an unknown agent")]++
			}
			return
		}
		file.Size, file.ModTime = f.size, f.Created
		if longest = f.size; file.Timeless { // each tells when its last part was said
			longest = -1
		}
		e.names[name] = session.NativeRef{Source: agent.Name(), NativeID: file.NativeID}
		person := f.of.author
		if mine[person] {
			person = ""
		}
		k.add(agent, transcript.Copy{File: file, Text: f.text, Person: person})
	}
}

// noteAbsent notes that a transcript is not in this clone.
func (e *entire) noteAbsent(f *folder) {
	for _, part := range f.parts {
		if _, err := e.repo.BlobSize(part); err != nil {
			e.Absent = append(e.Absent, Absent{f.path, part})
			return
		}
	}
}

// sessionsInMessage are the sessions of the checkpoints that a commit's message names.
func (e *entire) sessionsInMessage(c git.Commit) (out []session.NativeRef) {
	for _, m := range entireName.FindAllStringSubmatch(c.Message, -1) {
		cp := e.checkpoints[m[1]]
		if cp == nil {
			continue
		}
		for _, f := range cp.folders {
			if n, ok := e.names[f.Session]; ok && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// entireDay is what older versions put before an agent's ID of a session.
var entireDay = lazy.Expr(`^\d{4}-\d\d-\d\d-`)

// EntireNames tells which sessions made a commit by the Entire-Checkpoint in its message, as they are called where
// their agents keep them: of which agent is not told. What Entire keeps is read at the first commit that names a
// checkpoint.
func EntireNames(ctx context.Context, repo *git.Repo) func(git.Commit) []session.NativeRef {
	read := sync.OnceValue(func() *entire {
		e := &entire{
			repo: repo, trees: repo.Trees(maxTrees), checkpoints: map[string]*checkpoint{},
			sessions: map[string][]*folder{}, names: map[string]session.NativeRef{},
		}
		if e.list(ctx) == nil {
			e.readDescriptions()
		}
		for name := range e.sessions {
			e.names[name] = session.NativeRef{NativeID: entireDay.ReplaceAllString(name, "")}
		}
		return e
	})
	return func(c git.Commit) []session.NativeRef {
		if !strings.Contains(c.Message, "Entire-Checkpoint:") {
			return nil
		}
		return read().sessionsInMessage(c)
	}
}
