package history

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's name of a blob
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/templates"
)

// chunk is how many steps are made and encoded side by side.
const chunk = 64

// ledger writes one author's branch.
func (p Plan) ledger(ctx context.Context, redactor *redact.Redactor, out io.Writer, author int, shas []string) error {
	from := ""
	for first := 0; first < p.Steps; first += chunk {
		steps, err := p.encode(ctx, redactor, author, shas, first)
		if err != nil {
			return err
		}
		for _, s := range steps {
			ref, err := ledger.RefName(s.Email)
			if err != nil {
				return err
			}
			if s.n == 0 && !p.More {
				fmt.Fprintf(out, "commit %s\n%s%s", ref, committer(s.Step), data("rekal ledger\n"))
				fmt.Fprintf(out, "M 100644 inline format\n%sM 100644 inline README.md\n%s",
					data(fmt.Sprintf("%d\n", ledger.Format)), data(templates.LedgerReadme()))
			} else if s.n == 0 {
				from = "from " + ref + "^0\n"
			}
			if err := s.write(out, ref, from); err != nil {
				return err
			}
			from = ""
		}
	}
	return nil
}

// encoded is a step with its segments.
type encoded struct {
	Step
	n     int
	sha   string // of the code commit
	parts [][]byte
}

// encode makes the steps from first on, a chunk of them.
func (p Plan) encode(ctx context.Context, redactor *redact.Redactor, author int, shas []string, first int) ([]encoded, error) {
	out := make([]encoded, min(chunk, p.Steps-first))
	failed := make([]error, len(out))
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range out {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			n := first + i
			out[i] = encoded{Step: p.Step(author, n), n: n, sha: shas[n]}
			out[i].parts, failed[i] = segments(ctx, redactor, out[i].Step, shas[n])
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s encoded) write(out io.Writer, ref, from string) error {
	id, err := ulid.New(ulid.Timestamp(s.When), rand.NewChaCha8(sha256.Sum256([]byte(s.Email+s.sha))))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "commit %s\n%s%s%s", ref, committer(s.Step), data(fmt.Sprintf("%.7s %s\n", s.sha, s.Subject)), from)
	for n, part := range s.parts {
		name := id.String()
		if n > 0 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		fmt.Fprintf(out, "M 100644 inline segments/%s/%s.ndjson\n%s", s.When.Format("2006/01/02"), name, data(string(part)))
	}
	return nil
}

// segments makes the segments of a checkpoint as git-rekal does.
func segments(ctx context.Context, redactor *redact.Redactor, s Step, sha string) ([][]byte, error) {
	cp := &session.Checkpoint{
		GitSHA: sha, GitBranch: "main", UserEmail: s.Email, TS: s.When, ActorType: session.ActorHuman, Via: session.ViaCommit,
	}
	for _, f := range s.Files {
		cp.Files = append(cp.Files, session.File{Path: f.Path, Change: "M", Blob: blob(f.Text)})
	}
	clean, _, err := redactor.Apply(ctx, session.Entry{Checkpoint: cp, Sessions: s.Sessions})
	if err != nil {
		return nil, err
	}
	return segment.Encode(clean)
}

func blob(text string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)) //nolint:gosec // git's name of a blob
	return hex.EncodeToString(sum[:])
}
