package transcript

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Kept are transcripts of one agent that lie elsewhere than where it keeps them: copies, exports, what another tool
// made of them, maybe on another machine. Its sessions have the source and the native IDs that they have at home.
type Kept struct {
	Agent
	Copies []Copy
	// Has reports whether the repository has a file at a slash-separated path. It tells where the repository lay on
	// another machine.
	Has func(path string) bool
}

// Copy is one of them.
type Copy struct {
	File                        // ReadWhole; Path names it to people
	Text func() ([]byte, error) // all that it says; nil: the agent opens it
	// Person is whose session it is, as the tool says that kept it; "" for the user's own, or where it says nothing.
	Person string
}

// MaxCopy bounds what is read of one, in bytes. The longest real transcript that was heard of has 225 MB.
const MaxCopy = 256 << 20

// Locate lists them all.
func (k Kept) Locate(ctx context.Context, _ Env) (Found, error) {
	var l finder
	for _, c := range k.Copies {
		l.found.Files = append(l.found.Files, c.File)
	}
	return l.result(ctx)
}

// index is where the copy of a path stands; -1 for none.
func (k Kept) index(path string) int {
	return slices.IndexFunc(k.Copies, func(c Copy) bool { return c.Path == path })
}

// Open gives one as lines.
func (k Kept) Open(ctx context.Context, opt Options) (io.ReadCloser, error) {
	i := k.index(opt.File.Path)
	if i < 0 {
		return nil, fmt.Errorf("no copy %q", opt.File.Path)
	}
	if opener, ok := k.Agent.(Opener); ok && k.Copies[i].Text == nil {
		return opener.Open(ctx, opt)
	}
	raw, err := k.Copies[i].Text()
	if err != nil {
		return nil, err
	}
	if l, ok := k.Agent.(lineMaker); ok {
		raw = l.lines(raw)
	}
	return io.NopCloser(bytes.NewReader(raw)), nil
}

// lineMaker is an agent whose transcripts, or exports of them, may be a document that is no lines: lines makes lines of
// it.
type lineMaker interface {
	// lines makes of a whole transcript what Decode reads.
	lines(raw []byte) []byte
}

// Decode reads one transcript. Sessions in another repository of this machine stay that repository's. Otherwise the
// caller says that the transcript belongs here, even if it names no folder, or a folder of another machine.
func (k Kept) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	doc, err := k.decode(ctx, r, opt)
	if i := k.index(opt.File.Path); i >= 0 {
		for j := range doc.Sessions {
			doc.Sessions[j].Person = k.Copies[i].Person
		}
	}
	return doc, err
}

func (k Kept) decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return Document{}, fmt.Errorf("transcript: %w", err)
	}
	decode := func(opt Options) (Document, error) { return k.Agent.Decode(ctx, bytes.NewReader(raw), opt) }
	doc, err := decode(opt)
	if err != nil || len(doc.Sessions) > 0 {
		return doc, err
	}
	here := newPlaces(opt.Roots)
	here.past = opt.OtherRepos
	if slices.ContainsFunc(doc.ElsewhereDirs, func(dir string) bool { return here.whereIs(dir) != nowhere }) {
		return doc, nil
	}
	anywhere := opt
	anywhere.Inside = true
	all, err := decode(anywhere)
	if err != nil {
		return Document{}, err
	}
	opt.Inside = !slices.ContainsFunc(doc.ElsewhereDirs, func(dir string) bool { return filepath.IsAbs(slashPath(dir)) })
	opt.Roots = slices.Clone(opt.Roots)
	root := k.originalRoot(doc.ElsewhereDirs, all.Sessions)
	for _, dir := range append([]string{root}, doc.ElsewhereDirs...) {
		if dir != "" && (dir == root || root == "" || !isBelow(root, slashPath(dir))) {
			opt.Roots = append(opt.Roots, dir)
		}
	}
	return decode(opt)
}

// maxVotes is how many paths of a transcript are asked where the repository lay.
const maxVotes = 300

// originalRoot is where the repository lay on the machine of some sessions: the folder, above those in which they were
// begun if they say so, below which most of the files that they name are files of the repository. It is empty where
// nothing tells.
func (k Kept) originalRoot(begun []string, sessions []Part) string {
	votes, seen := map[string]int{}, map[string]bool{}
	for _, s := range sessions {
		for _, c := range s.ToolCalls {
			path := slashPath(c.Path)
			if !filepath.IsAbs(path) || seen[path] || len(seen) == maxVotes {
				continue
			}
			seen[path] = true
			for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
				if rel, _ := relativeTo(dir, path); (len(begun) == 0 || isBelow(dir, slashPath(begun[0]))) &&
					k.Has(filepath.ToSlash(rel)) {
					votes[dir]++
				}
			}
		}
	}
	best := ""
	for dir, n := range votes {
		if c := cmp.Or(n-votes[best], len(best)-len(dir), strings.Compare(best, dir)); c > 0 {
			best = dir
		}
	}
	return best
}

func isBelow(dir, path string) bool {
	_, ok := relativeTo(dir, path)
	return ok
}

// minID is how long the name of a file is at least that may be a session's ID, in bytes: OpenCode's have 30, the
// others' 36.
const minID = 16

// maxHead is how many records are looked at to tell whose a transcript is.
const maxHead = 1000

// recogniser is an agent whose records tell that they are its own, and of which session.
type recogniser interface {
	// recognises takes a record, or a whole document. A NativeID that is empty stands nowhere in a transcript.
	recognises(rec gjson.Result) (File, bool)
}

// Recognise finds out by the content of a transcript which agent wrote it, and describes it. agent is the name of the
// agent, if it is known: then no other agent is tried. id is the session's ID by the file's name; it counts if the
// transcript holds no ID, or the same one. Recognise reports false if the text is no transcript.
func Recognise(path string, raw []byte, agent, id string) (Agent, File, bool) {
	if s, f, ok := recogniseSpecStory(raw); ok && (agent == "" || agent == s.Name()) {
		if f.Path = path; f.NativeID == "" {
			f.NativeID = ledgerName(id)
		}
		return s, f, true
	}
	if n, f, ok := recogniseNeutral(raw); ok && (agent == "" || agent == n.Source) {
		f.Path = path
		return n, f, true
	}
	agents := slices.DeleteFunc(Agents(), func(a Agent) bool { return agent != "" && a.Name() != agent })
	for rec := range firstRecords(raw) {
		for _, a := range agents {
			if f, ok := a.(recogniser).recognises(rec); ok { //nolint:errcheck,forcetypeassert // TestRecognise: all do
				return a, describeFile(f, path, id, raw), true
			}
		}
	}
	if agent == "" || len(agents) == 0 {
		return nil, File{}, false
	}
	f, _ := agents[0].(recogniser).recognises(gjson.Result{}) //nolint:errcheck,forcetypeassert // as above
	return agents[0], describeFile(f, path, id, raw), true
}

func describeFile(f File, path, id string, raw []byte) File {
	if dir, ok := strings.CutSuffix(filepath.ToSlash(filepath.Dir(path)), "/"+antigravityLogs); ok {
		f.NativeID = ledgerName(filepath.Base(dir))
	}
	if filepath.Base(path) == kimiWire {
		f = kimiFile(f, path)
		f.ReadWhole = true
		return f
	}
	// A transcript may begin with records that were copied from another session.
	if f.NativeID == "" || f.AgentID == "" && len(id) >= minID && bytes.Contains(raw, []byte(`"`+id+`"`)) {
		f.NativeID = ledgerName(id)
	}
	// Gemini's subagents lie in the folder of their parent
	if up := filepath.Base(filepath.Dir(path)); f.AgentID != "" && f.Parent == "" && len(up) > 8 {
		f.Parent = ledgerName(up)
	}
	f.Path, f.ReadWhole = path, true
	return f
}

// firstRecords are the document that a text is, or the first of the lines that it has.
func firstRecords(raw []byte) func(yield func(gjson.Result) bool) {
	return func(yield func(gjson.Result) bool) {
		if gjson.ValidBytes(raw) {
			yield(gjson.ParseBytes(raw))
			return
		}
		for n := 0; len(raw) > 0 && n < maxHead; n++ {
			var line []byte
			line, raw, _ = bytes.Cut(raw, []byte("\n"))
			if line = trim(line); len(line) <= MaxLine && gjson.ValidBytes(line) && !yield(gjson.ParseBytes(line)) {
				return
			}
		}
	}
}

// AgentOfDatabase is the agent whose database a file is, by the file's name.
func AgentOfDatabase(path string) Agent {
	if strings.HasPrefix(filepath.Base(path), kilo.name) {
		return Kilo{}
	}
	return OpenCode{}
}

// IsDatabase reports whether a file that begins so is a database.
func IsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// DatabaseSessions lists the sessions of an OpenCode database that concern the repository of some worktrees.
func DatabaseSessions(ctx context.Context, path string, roots []string) ([]File, error) {
	l := newFinder(Env{Roots: roots}, OpenCode{}, openCodeTools)
	db, err := l.openCodeSessions(ctx, path, openCodeDB{})
	for _, f := range db.Files {
		l.considerBegun(f, f.Cwd)
	}
	l.search(ctx)
	return l.found.Files, err
}

// ledgerNameOf is a name or an ID that a record says.
func ledgerNameOf(v gjson.Result) string { return ledgerName(validText(strings.Clone(v.Str))) }
