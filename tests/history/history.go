// Package history writes a repository that never was: the code that a team wrote, and
// everybody's ledger, as git-rekal's own codec writes them. The large repositories that
// tests measure are made with it.
//
// In: a Plan, whose Step says what an author did. Out: commits on refs/heads/main and on one
// ledger branch an author, through git fast-import. The same plan gives the same commits. It
// holds no more than a chunk of the sessions in memory, and asks for each step twice, because a
// ledger names the commits of the code.
package history

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Plan says what to write.
type Plan struct {
	Authors int
	Steps   int                      // how many each author makes
	More    bool                     // on top of what the repository holds
	Step    func(author, n int) Step // the same numbers give the same step; called from several goroutines
}

// Step is one commit of code, and the sessions or parts of sessions captured with it.
type Step struct {
	Email    string
	Subject  string
	When     time.Time
	Files    []File // what the commit changed
	Sessions []session.Session
}

// File is a file as a commit left it.
type File struct{ Path, Text string }

// Write writes a plan into a bare repository: the code first, because a ledger names its
// commits.
func (p Plan) Write(ctx context.Context, repo string) error {
	shas, err := p.code(ctx, repo)
	if err != nil {
		return err
	}
	redactor := redact.New()
	return fastImport(ctx, repo, nil, func(out io.Writer) error {
		for author := range p.Authors {
			if err := p.ledger(ctx, redactor, out, author, shas[author]); err != nil {
				return err
			}
		}
		return nil
	})
}

// fastImport feeds git from a function.
func fastImport(ctx context.Context, repo string, args []string, write func(io.Writer) error) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo, "fast-import", "--quiet", "--date-format=raw"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(in, 1<<20)
	failed := write(out)
	if failed == nil {
		failed = out.Flush()
	}
	failed = errors.Join(failed, in.Close())
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, stderr.Bytes())
	}
	return failed
}

func committer(s Step) string {
	name, _, _ := strings.Cut(s.Email, "@")
	return fmt.Sprintf("committer %s <%s> %d +0000\n", name, s.Email, s.When.Unix())
}

func data(text string) string { return fmt.Sprintf("data %d\n%s\n", len(text), text) }

// Session makes a session without turns yet, whose transcript was read up to its end.
func Session(start time.Time, native string, size int64) session.Session {
	sum := sha256.Sum256([]byte(native))
	return session.Session{
		Source: "claude-code", NativeID: native, ActorType: session.ActorHuman, Branch: "main",
		StartedAt: start, ID: session.NewID(start, "claude-code", native), Bytes: size, Hash: hex.EncodeToString(sum[:]),
	}
}
