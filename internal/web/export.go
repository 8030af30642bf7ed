package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/gate"
)

// exportedFiles is how many pages of files an export has: those that most sessions touched. Each asks git for the
// history of its lines.
const exportedFiles = 200

// staticPolicy is policy for files, of which some browsers say that each has an origin of its own.
const staticPolicy = "default-src 'none'; style-src 'self' file:; img-src 'self' file:; form-action 'none'; base-uri 'none'"

// Export writes the pages as files of the user's own that link to each other, beginning with index.html, the list of
// all sessions; search needs a server. The folder must be empty or new. Progress is told after each page: how many are
// written, and how many are known to be left. It returns how many pages there are. A page that can't be made says so in
// its place, and its error is returned when all others are written.
func (s *Site) Export(ctx context.Context, dir string, progress func(done, left int)) (int, error) {
	if err := prepareFolder(dir); err != nil {
		return 0, err
	}
	s.reader = gate.Stranger
	queue, files := []string{""}, 0
	known := map[string]bool{"": true}
	l := links{Static: true, to: func(address string) string {
		if known[address] {
			return fileName(address)
		}
		if strings.HasPrefix(address, "file?") {
			if files++; files > exportedFiles {
				return ""
			}
		}
		known[address] = true
		queue = append(queue, address)
		return fileName(address)
	}}
	done := 0
	var failed error
	for ; len(queue) > 0; queue = queue[1:] {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		err := s.exportPage(ctx, dir, queue[0], l)
		if broken := (*pageError)(nil); errors.As(err, &broken) {
			failed = cmp.Or(failed, err)
		} else if err != nil {
			return done, err
		}
		done++
		progress(done, len(queue)-1)
	}
	return done, failed
}

// pageError is why a page says only that it can't be shown.
type pageError struct {
	address string
	cause   error
}

func (e *pageError) Error() string {
	return fmt.Sprintf("the page %q can't be made, the others stand: %v", e.address, e.cause)
}

// prepareFolder makes the folder, with what the pages need.
func prepareFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if held, err := os.ReadDir(dir); err != nil || len(held) > 0 {
		if err == nil {
			err = fmt.Errorf("%q is not empty: %w", dir, fs.ErrExist)
		}
		return err
	}
	for _, name := range []string{"style.css", "icon.svg"} {
		body, _, err := asset(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), body, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) exportPage(ctx context.Context, dir, address string, l links) error {
	name, query, _ := strings.Cut(address, "?")
	if name == "" {
		name = "sessions"
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	html, failed := s.renderPage(ctx, "", name, q, l)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, fileName(address)), html, 0o600); err != nil {
		return err
	}
	if failed != nil && statusOf(failed) == http.StatusInternalServerError {
		return &pageError{address, failed}
	}
	return nil
}
