package worktree_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// BenchmarkContent looks at the 100 files of 20 results in a repository of 50,000 files in 500 folders, as the
// commit left them, then after 12 of them were moved or deleted by a commit, and 48 changed, 6 deleted
// and 4 moved since.
func BenchmarkContent(b *testing.B) {
	p := repos.New(b)
	p.Start("r")
	name := func(dir, n int) string { return fmt.Sprintf("src/m%d/p%d/f%d.go", dir%25, dir, n) }
	for dir := range 500 {
		for n := range 100 {
			p.Write("r/"+name(dir, n), fmt.Sprintf("package p%d\n\nfunc f%d() {\n\tprintln(%d, %d)\n}\n", dir, n, dir, n))
		}
	}
	p.Git("r", "add", ".")
	p.Git("r", "-c", "gc.auto=0", "commit", "-qm", "all")
	p.Git("r", "config", "gc.auto", "0") // not in the middle of a measurement
	p.Git("r", "gc", "-q")
	var files []string
	for i := range 100 {
		files = append(files, name(5*i, i))
	}
	b.Run("as committed", func(b *testing.B) { lookAt(b, p, files) })
	for i, f := range files[:12] {
		if i%2 == 0 {
			p.Git("r", "mv", f, f+".moved.go")
			p.Write("r/"+f+".moved.go", "package other\n") // a rename with a change of content
			p.Git("r", "add", f+".moved.go")
		} else {
			p.Git("r", "rm", "-q", f)
		}
	}
	p.Git("r", "commit", "-qm", "moved and deleted")
	for _, f := range files[12:60] {
		p.Write("r/"+f, "changed\n")
	}
	for _, f := range files[60:66] {
		repos.Must(0, os.Remove(p.At("r/"+f)))(b)
	}
	for _, f := range files[66:70] {
		p.Git("r", "mv", f, f+".moved.go")
	}
	b.Run("changed, moved and deleted", func(b *testing.B) { lookAt(b, p, files) })
}

// lookAt does what a recall does, in a repository that was just opened.
func lookAt(b *testing.B, p *repos.Place, files []string) {
	for b.Loop() {
		b.StopTimer()
		repo := repos.Must(git.Open(b.Context(), p.At("r"), p.Environ()))(b)
		b.StartTimer()
		c := repos.Must(worktree.Open(repo, ""))(b)
		c.ExpectFiles(files...)
		var gone []string
		for _, f := range files {
			if c.Blob(f, nil) == "" {
				gone = append(gone, f)
			}
		}
		c.NewNames(gone)
		c.Close()
		b.StopTimer()
		repo.Close()
		b.StartTimer()
	}
}
