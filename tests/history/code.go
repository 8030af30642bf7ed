package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// code writes one branch of everybody's commits, in turns, and returns their names by author.
func (p Plan) code(ctx context.Context, repo string) ([][]string, error) {
	marks, err := filepath.Abs(filepath.Join(repo, "history-marks"))
	if err != nil {
		return nil, err
	}
	err = fastImport(ctx, repo, []string{"--export-marks=" + marks}, func(out io.Writer) error {
		from := ""
		if p.More {
			from = "from refs/heads/main^0\n"
		}
		for n := range p.Steps {
			for author := range p.Authors {
				s := p.Step(author, n)
				fmt.Fprintf(out, "commit refs/heads/main\nmark :%d\n%s%s%s", p.mark(author, n), committer(s), data(s.Subject+"\n"), from)
				for _, f := range s.Files {
					fmt.Fprintf(out, "M 100644 inline %s\n%s", f.Path, data(f.Text))
				}
				from = ""
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shas, err := p.readMarks(marks)
	return shas, errors.Join(err, os.Remove(marks))
}

func (p Plan) mark(author, n int) int { return author*p.Steps + n + 1 }

// readMarks reads which commit git made of each step.
func (p Plan) readMarks(path string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	shas := make([][]string, p.Authors)
	for a := range shas {
		shas[a] = make([]string, p.Steps)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		var sha string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &sha); err != nil {
			return nil, fmt.Errorf("marks: %q: %w", line, err)
		}
		shas[(n-1)/p.Steps][(n-1)%p.Steps] = sha
	}
	return shas, nil
}
