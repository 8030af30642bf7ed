package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's name of a blob
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/templates"
)

// write adds steps of each author to a bare repository, from step first on: the code that they wrote on main, and
// everybody's ledger, as git-rekal's own codec writes it. Each step is made twice, because a ledger names the commits
// of the code and memory holds few sessions.
func (r *remix) write(ctx context.Context, repo string, first, steps int) error {
	err := fastImport(ctx, repo, func(out io.Writer) error {
		from := ""
		if first > 0 {
			from = "from refs/heads/main^0\n"
		}
		for i := range steps * r.authors {
			s := r.step(i%r.authors, first+i/r.authors)
			fmt.Fprintf(out, "commit refs/heads/main\n%s%s%s", committer(s), data(s.subject+"\n"), from)
			for _, path := range s.paths {
				fmt.Fprintf(out, "M 100644 inline %s\n%s", path, data(s.text))
			}
			from = ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	names, err := exec.CommandContext(ctx, "git", "-C", repo, "rev-list", "--reverse", fmt.Sprint("-n", steps*r.authors),
		"main").Output()
	if err != nil {
		return fmt.Errorf("git rev-list: %w", err)
	}
	shas, redactor := strings.Fields(string(names)), redact.New()
	failed := make([]error, r.authors)
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for author := range r.authors {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			failed[author] = fastImport(ctx, repo, func(out io.Writer) error {
				for i := range steps {
					if err := writeEntry(ctx, redactor, out, r.step(author, first+i), shas[i*r.authors+author], i == 0,
						first > 0); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// fastImport feeds git from a function.
func fastImport(ctx context.Context, repo string, write func(io.Writer) error) error {
	cmd := exec.CommandContext(ctx, "git", "-C", repo, "fast-import", "--quiet", "--date-format=raw")
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

// writeEntry writes a commit of a ledger. The first one written is behind what is there: nothing yet, unless there is
// more.
func writeEntry(ctx context.Context, redactor *redact.Redactor, out io.Writer, s step, sha string, first,
	more bool,
) error {
	parts, err := segments(ctx, redactor, s, sha)
	if err != nil {
		return err
	}
	ref, err := ledger.RefName(s.email)
	if err != nil {
		return err
	}
	from := ""
	switch {
	case first && more:
		from = "from " + ref + "^0\n"
	case first:
		fmt.Fprintf(out, "commit %s\n%s%s", ref, committer(s), data("rekal ledger\n"))
		fmt.Fprintf(out, "M 100644 inline format\n%sM 100644 inline README.md\n%s", data(fmt.Sprintf("%d\n", ledger.Format)),
			data(templates.LedgerReadme()))
	}
	id, err := ulid.New(ulid.Timestamp(s.when), rand.NewChaCha8(sha256.Sum256([]byte(s.email+sha))))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "commit %s\n%s%s%s", ref, committer(s), data(fmt.Sprintf("%.7s %s\n", sha, s.subject)), from)
	for n, part := range parts {
		name := id.String()
		if n > 0 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		fmt.Fprintf(out, "M 100644 inline segments/%s/%s.ndjson\n%s", s.when.Format("2006/01/02"), name, data(string(part)))
	}
	return nil
}

// segments makes the segments of a checkpoint as git-rekal does.
func segments(ctx context.Context, redactor *redact.Redactor, s step, sha string) ([][]byte, error) {
	cp := &session.Checkpoint{
		GitSHA: sha, GitBranch: "main", UserEmail: s.email, TS: s.when, ActorType: session.ActorHuman, Via: session.ViaCommit,
	}
	blob := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(s.text), s.text)) //nolint:gosec // git's name of a blob
	for _, path := range s.paths {
		cp.Files = append(cp.Files, session.File{Path: path, Change: "M", Blob: hex.EncodeToString(blob[:])})
	}
	clean, _, err := redactor.Apply(ctx, session.Entry{Checkpoint: cp, Sessions: s.sessions})
	if err != nil {
		return nil, err
	}
	return segment.Encode(clean)
}

func committer(s step) string {
	name, _, _ := strings.Cut(s.email, "@")
	return fmt.Sprintf("committer %s <%s> %d +0000\n", name, s.email, s.when.Unix())
}

func data(text string) string { return fmt.Sprintf("data %d\n%s\n", len(text), text) }
