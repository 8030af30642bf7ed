package notes

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
)

// What a note says is taken to hold as long as nobody can tell that it does not: something is gone only if the history
// shows it there, and HEAD does not have it. So a name of a library, or a word that was never one of the code, is no
// alarm. A path below a folder of HEAD that has such an ending is the exception: nothing else looks like it.
//
// Names in prose prove nothing: a change log tells of what was removed. They are looked for in all files but texts.

// Gone is a thing that is not there any more.
type Gone struct {
	Thing
	Commit git.OID   // that took it away; "" where the history does not say
	When   time.Time // of it
	Now    string    // of a file: its name today
	// of a file that is named by its end alone: several were, which one commit took away or gave other names
	Several bool
}

// Code is what stands in a commit, and what stood before.
type Code struct {
	repo  *git.Repo
	head  git.OID
	tree  git.OID
	files map[string]git.OID
	dirs  map[string]bool
	bases map[string]bool
	// Hurried says that time was up before all was known.
	Hurried bool
	// How many commits are looked at for what was there before; how long that may take.
	Commits  int
	Patience time.Duration
	Since    time.Time // the oldest commits that are looked at; zero: all of them
}

// The bounds that are usual.
const (
	manyCommits = 5000
	patience    = 20 * time.Second
)

// OpenCode looks into HEAD.
func OpenCode(repo *git.Repo) (*Code, error) {
	c := &Code{repo: repo, Commits: manyCommits, Patience: patience}
	head, err := repo.Head()
	if c.head = head.OID; err != nil || head.OID == "" {
		return c, err
	}
	commit, err := repo.Commit(head.OID)
	c.tree = commit.Tree
	return c, err
}

// load reads the names of the files, once.
func (c *Code) load(ctx context.Context) error {
	if c.files != nil || c.tree == "" {
		return nil
	}
	c.files, c.dirs, c.bases = map[string]git.OID{}, map[string]bool{}, map[string]bool{}
	return c.repo.EachDifference("", c.tree, func(name string, _, after git.TreeEntry) (into bool, err error) {
		c.bases[path.Base(name)] = true
		if after.IsDir() {
			c.dirs[name] = true
			return true, ctx.Err()
		}
		c.files[name] = after.ID()
		return false, nil
	})
}

// Head is the commit; "" before the first.
func (c *Code) Head() git.OID { return c.head }

// Blob is what stands in a file of HEAD; "" for none.
func (c *Code) Blob(file string) git.OID {
	if at := c.repo.EntryAt(c.tree, path.Clean(file)); at.IsFile() {
		return at.ID()
	}
	return ""
}

// FilesMatching are files of HEAD, at most so many, in order.
func (c *Code) FilesMatching(ctx context.Context, matches func(file string) bool, most int) (out []string, err error) {
	err = c.load(ctx)
	for _, file := range slices.Sorted(maps.Keys(c.files)) {
		if matches(file) && len(out) < most {
			out = append(out, file)
		}
	}
	return out, err
}

// hasFile reports whether HEAD has a file or folder that a note may mean: by its path, by the end of one, or by its
// name alone.
func (c *Code) hasFile(name string) bool {
	if c.dirs[name] || c.files[name] != "" {
		return true
	}
	if root := c.repo.Layout().WorkTree; root != "" { // what git ignores is there, too
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			return true
		}
	}
	if !strings.Contains(name, "/") {
		return c.bases[name]
	}
	if !c.bases[path.Base(name)] {
		return false
	}
	for file := range c.files {
		if strings.HasSuffix(file, "/"+name) {
			return true
		}
	}
	for dir := range c.dirs {
		if strings.HasSuffix(dir, "/"+name) {
			return true
		}
	}
	return false
}

// isOwnPath reports whether a path that HEAD lacks must have been one of this repository: its folder is one of HEAD's,
// its ending a known one, and its name no placeholder.
func (c *Code) isOwnPath(name string) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(path.Base(name), ext)
	return strings.Contains(name, "/") && c.dirs[path.Dir(name)] && knownEnds()[strings.TrimPrefix(ext, ".")] &&
		!madeUp.MatchString(stem)
}

// madeUp is a name that stands for any.
var madeUp = lazy.Expr(`(?i)^(foo|bar|baz|example|sample|name|file|x+|new[-_]?.*|my[-_]?.*|your[-_]?.*|some[-_]?.*)$`)

// FindGone tells which of the things that texts name are gone, for each text.
func (c *Code) FindGone(ctx context.Context, named [][]Thing) ([][]Gone, error) {
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	s := newSearch(c)
	for _, things := range named {
		for _, t := range things {
			s.add(t)
		}
	}
	err := s.find(ctx)
	out := make([][]Gone, len(named))
	for i, things := range named {
		for _, t := range things {
			isSame := func(o Gone) bool { return o.Name == t.Name && o.Kind == t.Kind }
			if g, ok := s.gone[t]; ok && !slices.ContainsFunc(out[i], isSame) {
				out[i] = append(out[i], g)
			}
		}
	}
	return out, err
}

// search looks for many things at once.
type search struct {
	*Code
	// files and folders that HEAD lacks, until they are settled: whether it also has none whose path ends so
	missing map[Thing]bool
	words   map[string]bool
	uses    map[string][]Thing // by word: what it is a part of
	present map[string]bool    // words that stand in HEAD's code
	local   map[fileWord][]Thing
	targets map[Thing]target
	gone    map[Thing]Gone
}

// fileWord is a word that a note says to be in a file.
type fileWord struct{ file, word string }

// target is a command of the repository: in which files it is defined, and how such a line begins.
type target struct{ file, begin string }

func newSearch(c *Code) *search {
	return &search{
		Code: c, missing: map[Thing]bool{}, words: map[string]bool{}, uses: map[string][]Thing{},
		present: map[string]bool{}, local: map[fileWord][]Thing{}, targets: map[Thing]target{}, gone: map[Thing]Gone{},
	}
}

func (s *search) add(t Thing) {
	switch t.Kind {
	case File:
		if c := s.Code; !c.dirs[t.Name] && c.files[t.Name] == "" && (strings.Contains(t.Name, "/") || !c.hasFile(t.Name)) {
			s.missing[t] = !c.hasFile(t.Name)
		}
	case Command:
		s.targets[t] = targetIn(t.Name)
	default:
		for _, word := range wordsOf(t) {
			s.words[word] = true
			s.uses[word] = append(s.uses[word], t)
			if file := s.fileNamed(t.In); file != "" {
				at := fileWord{file, word}
				s.local[at] = append(s.local[at], t)
			}
		}
	}
}

// fileNamed is the one file of HEAD that a note means; "" for none or several.
func (c *Code) fileNamed(name string) (found string) {
	if name == "" || c.files[name] != "" {
		return name
	}
	for file := range c.files {
		if strings.HasSuffix(file, "/"+name) {
			if found != "" {
				return ""
			}
			found = file
		}
	}
	return found
}

// wordsOf are the words by which a symbol or setting is looked for: of a joined name its last part, and of the others
// those that look like code.
func wordsOf(t Thing) (out []string) {
	name := strings.TrimPrefix(t.Name, "--")
	if t.Kind == Setting {
		return []string{name}
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#>", r) })
	for i, p := range parts {
		if p = strings.Trim(p, "-"); len(p) > 2 && (i == len(parts)-1 || isShapedAsCode(p)) {
			out = append(out, p)
		}
	}
	return out
}

// targetIn says where a command is defined.
func targetIn(command string) target {
	at := strings.LastIndexByte(command, ' ')
	name := command[at+1:]
	switch program, _, _ := strings.Cut(command, " "); program {
	case "make", "gmake":
		return target{"makefile", name + ":"}
	case "just":
		return target{"justfile", name}
	case "task":
		return target{"taskfile.yml", name + ":"}
	case "composer":
		return target{"composer.json", `"` + name + `":`}
	case "deno":
		return target{"deno.json", `"` + name + `":`}
	}
	return target{"package.json", `"` + name + `":`}
}

// isIn reports whether a file may define a target.
func (t target) isIn(file string) bool {
	base := strings.ToLower(path.Base(file))
	return base == t.file || t.file == "makefile" && (base == "gnumakefile" || strings.HasSuffix(base, ".mk")) ||
		strings.HasSuffix(t.file, ".json") && base == t.file+"c" || strings.TrimSuffix(t.file, ".yml")+".yaml" == base
}

// defines reports whether a line of such a file defines it.
func (t target) defines(line string) bool {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, strings.TrimSuffix(t.begin, ":")); ok {
		return strings.HasPrefix(strings.TrimLeft(rest, " "), ":") || !strings.HasSuffix(t.begin, ":")
	}
	if t.file == "makefile" { // one line may define several
		names, _, ok := strings.Cut(line, ":")
		return ok && slices.Contains(strings.Fields(names), strings.TrimSuffix(t.begin, ":"))
	}
	return false
}

// find settles all that was added.
func (s *search) find(ctx context.Context) error {
	if s.head == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, s.Patience)
	defer stop()
	if err := s.findWords(ctx); err != nil || s.Hurried {
		return err
	}
	s.dropPresent()
	s.dropDefined()
	for t, lacks := range s.missing {
		if lacks && s.isOwnPath(t.Name) {
			s.gone[t] = Gone{Thing: t} // the history may tell more
		}
	}
	if len(s.missing)+len(s.words)+len(s.targets)+len(s.local) == 0 {
		return nil
	}
	return s.readHistory(ctx)
}

// texts are the files in which a name proves nothing, as git's pathspecs.
//
//nolint:gochecknoglobals // a table
var texts = []string{"*.md", "*.mdx", "*.rst", "*.adoc", "*.txt", "*.lock", "*.sum", "*-lock.json", "*.svg", "*.min.js"}

// provesNothing reports whether a file, in lower case, is one of texts, in which a word says nothing of the code.
func provesNothing(file string) bool {
	return slices.ContainsFunc(texts, func(glob string) bool { return strings.HasSuffix(file, glob[1:]) })
}

// findWords notes which words HEAD's code has.
func (s *search) findWords(ctx context.Context) error {
	if len(s.words) == 0 {
		return nil
	}
	args := []string{"grep", "-I", "-w", "-o", "-h", "-F", "--no-color", "--no-line-number", "--no-column"}
	for word := range s.words {
		args = append(args, "-e", word)
	}
	if s.Since.IsZero() || s.repo.Layout().WorkTree == "" { // who is in a hurry reads the work tree, which is faster
		args = append(args, string(s.head))
	}
	args = append(args, "--", ":/")
	for _, glob := range texts {
		args = append(args, ":(top,exclude,icase)"+glob)
	}
	return s.lines(ctx, args, func(line string) bool {
		s.present[line] = true
		return len(s.present) < len(s.words)
	})
}

// lines hands on what a git prints, until that says that it is enough. That git finds nothing is no error.
func (s *search) lines(ctx context.Context, args []string, each func(line string) bool) error {
	cmd := s.repo.Command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(out, 64<<10)
	more := true
	for more && err == nil {
		var line []byte
		var isPrefix bool
		line, isPrefix, err = r.ReadLine()
		if err == nil {
			more = each(string(line))
		}
		for isPrefix && err == nil { // a line that is so long says nothing more
			_, isPrefix, err = r.ReadLine()
		}
	}
	if !more {
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	// git grep ends with 1 where it finds nothing; what it could not look at is not known, and so not gone
	failed := more && err != nil && cmd.ProcessState.ExitCode() != 1
	s.Hurried = s.Hurried || failed || errors.Is(ctx.Err(), context.DeadlineExceeded)
	return nil
}

// dropPresent drops the words that HEAD has. Of those that a note names in a file stay those that HEAD has elsewhere
// alone.
func (s *search) dropPresent() {
	for at := range s.local {
		text, err := s.repo.Blob(s.files[at.file])
		if err != nil || !s.present[at.word] || holdsWord(string(text), at.word) {
			delete(s.local, at)
		}
	}
	for word := range s.words {
		if s.present[word] {
			delete(s.words, word)
		}
	}
}

// dropDefined drops the commands that HEAD defines.
func (s *search) dropDefined() {
	if len(s.targets) == 0 {
		return
	}
	for file, id := range s.files {
		here := maps.Clone(s.targets)
		if maps.DeleteFunc(here, func(_ Thing, is target) bool { return !is.isIn(file) }); len(here) == 0 {
			continue
		}
		text, err := s.repo.Blob(id)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			maps.DeleteFunc(s.targets, func(t Thing, is target) bool { return here[t] == is && is.defines(line) })
		}
	}
}

func holdsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !isNameByte(text[from-1])) && (to == len(text) || !isNameByte(text[to])) {
			return true
		}
		at = from + 1
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
