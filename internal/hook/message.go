package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/trailer"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// The hooks of a message. Trailers are written by the first one. Where nobody has written a message yet, they wait for
// the second, behind the editor: with them alone, git would take a message for written that its author left empty, or
// as its template was.
const (
	prepareMessage = "prepare-commit-msg"
	commitMessage  = "commit-msg"
)

// Bounds of what a message waits for; beyond them a commit has no trailers, and "git rekal trailers" tells them later.
const (
	messagePatience = 300 * time.Millisecond
	messageBudget   = 4 << 20 // bytes of transcripts
	maxMessage      = 1 << 20
)

// runOnMessage is Run for the hooks of a message. What it has no time for is left.
func (c Call) runOnMessage(ctx context.Context, p workspace.Process) error {
	soon, stop := context.WithTimeout(ctx, messagePatience)
	defer stop()
	w, err := workspace.Open(soon, p)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.CheckReady(); err != nil || c.Name == commitMessage && !hasWaiting(w) {
		return err
	}
	if c.By != "" {
		w.NoteHookRan(c.By, c.Name)
	}
	author, err := w.Author(soon)
	if err != nil || !author.Config.Enabled || author.Config.Skip {
		return err
	}
	return c.writeTrailers(soon, w, author)
}

// writeTrailers names who wrote lines of the commit that is being made, in its message. It never fails a commit, and
// never looks at a merge, or at what git makes by itself.
func (c Call) writeTrailers(ctx context.Context, w *workspace.Workspace, author workspace.Author) error {
	if len(c.Args) == 0 || author.Config.Trailers == "" || author.Config.CheckPaused() != nil || IsBusy(w.Repo) {
		return nil
	}
	file := w.Path(c.Args[0])
	waiting := waitingFile(w)
	if c.Name == commitMessage {
		return addWaiting(ctx, w, file, waiting)
	}
	if err := os.Remove(waiting); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a commit that was not made
		return err
	}
	if len(c.Args) > 1 && c.Args[1] == "merge" {
		return nil
	}
	base, err := c.base(ctx, w.Repo)
	if err != nil {
		return nil //nolint:nilerr // nothing can be told
	}
	form, _, err := w.TrailerForm(ctx)
	if err != nil {
		return err
	}
	lines, _, err := StagedTrailers(ctx, w, author, form, base, Hurried)
	if err != nil || len(lines) == 0 {
		return err
	}
	text, err := readMessage(file)
	if err != nil {
		return err
	}
	said, err := messageWords(ctx, w.Repo, text)
	if err != nil {
		return err
	}
	switch {
	case len(c.Args) > 1 && c.Args[1] == "template":
		return os.WriteFile(waiting, []byte(file+"\n"+strings.Join(lines, "\n")+"\n\n"+said), 0o600)
	case len(c.Args) < 2 || said == "":
		return os.WriteFile(waiting, []byte(file+"\n"+strings.Join(lines, "\n")), 0o600)
	}
	if author.Config.Trailers == config.TrailersReplace {
		if err := os.WriteFile(file, []byte(WithoutNames(text)), 0o666); err != nil {
			return err
		}
	}
	return addTrailers(ctx, w.Repo, file, lines)
}

// waitingFile is where trailers wait for a message, below the path of that.
func waitingFile(w *workspace.Workspace) string { return filepath.Join(w.RekalDir(), "trailers") }

func hasWaiting(w *workspace.Workspace) bool {
	_, err := os.Lstat(waitingFile(w))
	return err == nil
}

// withoutPatience leaves out that something took too long.
func withoutPatience(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, capture.ErrBehind) ||
		errors.Is(err, workspace.ErrLater) {
		return nil
	}
	return err
}

// IsBusy reports whether git is in the middle of something that makes commits.
func IsBusy(r *git.Repo) bool { return isPicking(r) || history.IsMerging(r) }

// isPicking reports whether git makes commits of others in this worktree.
func isPicking(r *git.Repo) bool {
	for _, state := range []string{"rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if _, err := os.Lstat(filepath.Join(r.Layout().GitDir, state)); err == nil {
			return true
		}
	}
	return false
}

// base is the commit on which the new one will be made; of an amend the parent of HEAD.
func (c Call) base(ctx context.Context, r *git.Repo) (git.OID, error) {
	head, err := r.Head()
	if err != nil || head.OID == "" {
		return "", err
	}
	isAmend := len(c.Args) > 2 && c.Args[1] == "commit" && c.Args[2] == "HEAD" ||
		slices.Contains(gitArguments(ctx), "--amend")
	if !isAmend {
		return head.OID, nil
	}
	commit, err := r.Commit(head.OID)
	switch {
	case err != nil:
		return "", err
	case len(commit.Parents) == 0:
		return "", nil
	case len(commit.Parents) > 1:
		return "", errors.New("a merge")
	}
	return commit.Parents[0], nil
}

// Hurry says whether a commit waits.
type Hurry bool

// What a look at what is staged may take.
const (
	Hurried   Hurry = true
	Unhurried Hurry = false
)

// StagedTrailers are the lines that name who wrote lines of what is staged, against a commit, and the sessions.
func StagedTrailers(ctx context.Context, w *workspace.Workspace, author workspace.Author, form trailer.Form,
	base git.OID, hurry Hurry,
) (lines []string, by []capture.StagedWriter, err error) {
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return nil, nil, err
	}
	if hurry == Hurried {
		capturer.Budget, capturer.MaxBehind = messageBudget, ahead
	}
	if by, err = capturer.Staged(ctx, base); err != nil || len(by) == 0 {
		return nil, nil, err
	}
	all := 0
	if form.Counts() {
		if all, err = capturer.CountStaged(ctx, base); err != nil {
			return nil, nil, err
		}
	}
	for _, h := range helpersOf(by) {
		h.All = all
		if l := form.Write(h); l != "" && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines, by, nil
}

// helpersOf are agents with models, each with the lines of its sessions.
func helpersOf(by []capture.StagedWriter) (out []trailer.Helper) {
	for _, s := range by {
		i := slices.IndexFunc(out, func(h trailer.Helper) bool { return h.Agent == s.Source && h.Model == s.Model })
		if i < 0 {
			i, out = len(out), append(out, trailer.Helper{Agent: s.Source, Model: s.Model})
		}
		if out[i].Lines += s.Lines; !s.Private {
			out[i].Session = cmp.Or(out[i].Session, s.ID)
		}
	}
	return out
}

func readMessage(file string) (string, error) {
	info, err := os.Stat(file)
	if err == nil && info.Size() > maxMessage {
		err = fmt.Errorf("%s: the message is too long for trailers", file)
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// scissors stand above what git shows below a message.
const scissors = " ------------------------ >8 ------------------------\n"

// messageWords is a message without comments and what git shows below it; "" where nobody wrote any.
func messageWords(ctx context.Context, r *git.Repo, text string) (string, error) {
	if at := strings.Index(text, scissors); at >= 0 {
		text = text[:strings.LastIndexByte(text[:at], '\n')+1]
	}
	return r.Feed(ctx, text, "stripspace", "--strip-comments")
}

// WithoutNames is a message without the lines that name agents by themselves: those with sessions stay, as hosts make
// links of them.
func WithoutNames(text string) string {
	said := trailer.InMessage(text)
	var out strings.Builder
	for l := range strings.Lines(text) {
		if !slices.ContainsFunc(said, func(s trailer.Said) bool {
			return s.Session == "" &&
				s.Line == strings.TrimSpace(l)
		}) {
			out.WriteString(l)
		}
	}
	return out.String()
}

// addTrailers has git add trailers that are not there.
func addTrailers(ctx context.Context, r *git.Repo, file string, lines []string) error {
	args := []string{"interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"}
	for _, l := range lines {
		args = append(args, "--trailer", l)
	}
	_, err := r.Run(ctx, append(args, file)...)
	return err
}

// addWaiting adds the trailers that waited for a message.
func addWaiting(ctx context.Context, w *workspace.Workspace, file, waiting string) error {
	left, err := os.ReadFile(waiting)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err = errors.Join(err, os.Remove(waiting)); err != nil {
		return err
	}
	waited, template, _ := strings.Cut(string(left), "\n\n")
	of, lines, _ := strings.Cut(waited, "\n")
	text, err := readMessage(file)
	if err != nil || of != file {
		return err
	}
	said, err := messageWords(ctx, w.Repo, text)
	if err != nil || said == "" || said == template { // git makes no commit with it
		return err
	}
	return addTrailers(ctx, w.Repo, file, strings.Split(lines, "\n"))
}
