// Package external reads the sessions of agents that have no file in package transcript, by programs of the user:
// git-rekal-agent-NAME on PATH, for each NAME that the setting rekal.agent names.
//
// In: a name. Out: a transcript.Agent. The program is run as `git-rekal-agent-NAME list ROOT…` and prints one JSON
// object a line for each session of these folders: {"id":…, "cwd":…, "version":…}, where the version changes whenever
// the session does; and as `git-rekal-agent-NAME show ID`, which prints that session in the neutral form
// (transcript.Neutral).
//
// Promises: the program gets a bounded time, and what it prints is bounded; it is data, as any transcript is. A program
// that is missing, fails or takes too long costs its own sessions only, and one line of warning. Who is in a hurry gets
// ErrSlow instead, and asks again when nobody waits.
package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/transcript"
)

// The bounds of a program.
const (
	listTime = 30 * time.Second
	showTime = 30 * time.Second
	maxList  = 4 << 20
	maxShow  = 64 << 20
	maxID    = 200                    // bytes
	endTime  = 100 * time.Millisecond // that its output may stay open behind its end
)

// Agent is one program.
type Agent struct {
	transcript.Neutral
	path  string
	env   []string
	hurry *atomic.Int64 // nanoseconds that are left for all its calls together; nil: nobody waits
}

// ErrSlow is a program that takes longer than its caller can wait.
var ErrSlow = errors.New("it takes longer than a commit may wait")

// Find looks for the program of a name on PATH. It is none of the repository's: folders of PATH that are not absolute
// do not count. Its calls together get a patience; 0 is none in particular.
func Find(name string, env []string, patience time.Duration) (Agent, error) {
	var hurry *atomic.Int64
	if patience > 0 {
		hurry = &atomic.Int64{}
		hurry.Store(int64(patience))
	}
	path := ""
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			path = list
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, "git-rekal-agent-"+name); filepath.IsAbs(dir) {
			if found, err := exec.LookPath(file); err == nil {
				return Agent{transcript.Neutral{Source: name}, found, env, hurry}, nil
			}
		}
	}
	return Agent{}, fmt.Errorf("rekal.agent %q: no program git-rekal-agent-%s is on PATH", name, name)
}

// Locate asks for the sessions of the repository.
func (a Agent) Locate(ctx context.Context, env transcript.Env) (transcript.Found, error) {
	var found transcript.Found
	text, err := a.run(ctx, listTime, maxList, append([]string{"list"}, env.Roots...)...)
	if ctx.Err() != nil {
		return found, ctx.Err()
	}
	if err != nil {
		found.Unreadable = append(found.Unreadable, err)
		return found, nil
	}
	for line := range bytes.Lines(text) {
		if !gjson.ValidBytes(line) {
			continue
		}
		rec := gjson.ParseBytes(line)
		id := rec.Get("id").Str
		if id == "" || len(id) > maxID || id[0] == '-' ||
			strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == '/' || r == '\\' || r == 0x7f }) {
			continue
		}
		sum := fnv.New64a()
		_, _ = io.WriteString(sum, rec.Get("version").String())
		found.Files = append(found.Files, transcript.File{
			Path: filepath.Join(a.path, id), NativeID: id, Cwd: rec.Get("cwd").Str, ReadWhole: true,
			Size: int64(sum.Sum64() >> 1), ModTime: time.Unix(0, 0).UTC(),
		})
	}
	return found, nil
}

// Open asks for one session.
func (a Agent) Open(ctx context.Context, opt transcript.Options) (io.ReadCloser, error) {
	text, err := a.run(ctx, showTime, maxShow, "show", opt.File.NativeID)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

var errLong = errors.New("it prints too much")

// run is what the program prints.
func (a Agent) run(ctx context.Context, most time.Duration, bytes int, args ...string) ([]byte, error) {
	slow := fmt.Errorf("it takes longer than %v", most)
	if a.hurry != nil {
		if left := time.Duration(a.hurry.Load()); left < most {
			most, slow = max(left, 0), ErrSlow
		}
		//nolint:forbidigo // how long somebody waits is measured, and told to nobody
		began := time.Now()
		defer func() { a.hurry.Add(-int64(time.Since(began))) }() //nolint:forbidigo // as above
	}
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	cmd := exec.CommandContext(ctx, a.path, args...)
	cmd.Env, cmd.WaitDelay = a.env, endTime
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // what it started, too
	out := &bounded{most: bytes, end: stop}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case out.over:
		err = errLong
	case ctx.Err() != nil:
		err = slow
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", filepath.Base(a.path), args[0], err)
	}
	return out.held.Bytes(), nil
}

// bounded takes up to so many bytes. The buffer is no embedded one: that would be read into, past Write.
type bounded struct {
	held bytes.Buffer
	most int
	over bool
	end  func() // ends the program, which may print for ever
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.held.Len()+len(p) > b.most {
		b.over = true
		b.end()
		return 0, errLong
	}
	return b.held.Write(p) //nolint:wrapcheck // it never fails
}
