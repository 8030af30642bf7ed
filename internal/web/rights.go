package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Behind a proxy that logs people in, a command of the owner says which repositories a person may read. It is run with
// the name that the proxy gives in a header, and the address of a repository's remote; a status other than 0 is a no.
// So is everything that goes wrong: no name, or two; no remote; a command that can't be run, or is not done in time.

// visitorHeader is where the proxy says who asks.
const visitorHeader = "X-Forwarded-User"

// How long an answer holds, how long the command may take, and how many answers are kept before old ones are looked
// for.
const (
	rightsHold = 2 * time.Minute
	rightsTime = 15 * time.Second
	rightsKept = 4096
)

// errNoRights is a page that who asks may not see.
var errNoRights = errors.New("you may read none of these repositories")

// rights asks the command, and remembers what it said. Several goroutines may use it.
type rights struct {
	command string
	process workspace.Process

	mu    sync.Mutex
	known map[[2]string]*right
}

// right is what one person may do with one remote.
type right struct {
	ask   sync.Once
	may   bool
	until time.Time
}

// Rights has each visitor shown only the repositories that the command says they may read.
func (s *Site) Rights(command string) {
	s.rights = &rights{command: command, process: s.process, known: map[[2]string]*right{}}
}

// proxyUser is the name that a proxy gives; "" unless it is one that means the same to every command: no option, path
// or number of a user.
func proxyUser(h http.Header) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._@+-", r)
	}
	names := h.Values(visitorHeader)
	if len(names) != 1 || len(names[0]) > 256 || strings.HasPrefix(names[0], "-") || strings.ContainsFunc(names[0], odd) {
		return ""
	}
	return names[0]
}

// visible opens what somebody may read of a repository: what the remote holds that gives the right, and nothing that
// lies in this clone besides.
func (r *rights) visible(ctx context.Context, person string, w *workspace.Workspace) (*workspace.Workspace, error) {
	conf, err := w.Settings()
	if err != nil || person == "" {
		return nil, errNoRights
	}
	remote, err := conf.RemoteFor("", "")
	if err != nil || conf.Places[remote] == "" || !r.isAllowed(person, conf.Places[remote]) {
		return nil, errNoRights
	}
	return w.OfRemote(ctx, remote)
}

// isAllowed reports what the command says, now or some minutes ago.
func (r *rights) isAllowed(person, url string) bool {
	r.mu.Lock()
	now := r.process.Now()
	expired := func(_ [2]string, known *right) bool { return now.After(known.until) }
	if len(r.known) >= rightsKept {
		maps.DeleteFunc(r.known, expired)
	}
	key := [2]string{person, url}
	known := r.known[key]
	if known == nil || expired(key, known) {
		known = &right{until: now.Add(rightsHold)}
		r.known[key] = known
	}
	r.mu.Unlock()
	known.ask.Do(func() { known.may = r.run(person, url) })
	return known.may
}

// run runs the command. It goes on if the visitor leaves, because its answer is kept for the next page.
func (r *rights) run(person, url string) bool {
	ctx, stop := context.WithTimeout(context.Background(), rightsTime)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", r.command+` "$@"`, r.command, person, url)
	cmd.Env, cmd.WaitDelay = r.process.Env, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if status := cmd.ProcessState; err != nil && (status == nil || status.ExitCode() != 1) {
		r.process.Warn(fmt.Errorf("rekal.web.rights: %q %q: %w: not shown", person, url, err))
	}
	return err == nil
}
