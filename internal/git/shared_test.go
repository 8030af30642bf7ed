package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestShared: what core.sharedRepository asks for, objects and refs get as git itself would make them.
func TestShared(t *testing.T) {
	const ref = "refs/heads/rekal/a@b.c"
	for _, setting := range []string{
		"", "umask", "false", "0", "group", "true", "1", "all", "world", "everybody", "2",
		"0640", "0660", "0600", "0666",
	} {
		for _, umask := range []int{0o022, 0o002, 0o077} {
			t.Run(setting+", "+os.FileMode(umask).String(), func(t *testing.T) {
				p := repos.New(t)
				p.Start("r")
				if setting != "" {
					p.Git("r", "config", "core.sharedRepository", setting)
				}
				defer syscall.Umask(syscall.Umask(umask))
				var want, got []string
				modes := func(paths ...string) (out []string) {
					for _, path := range paths {
						info, err := os.Stat(p.At(filepath.Join("r/.git", path)))
						if err != nil {
							t.Fatal(err)
						}
						out = append(out, strings.TrimPrefix(path, "objects/")[:2]+" "+info.Mode().String())
					}
					return out
				}
				object := func(id git.OID) []string {
					folder := filepath.Join("objects", string(id[:2]))
					return append(modes(folder), modes(filepath.Join(folder, string(id[2:])))...)
				}
				refs := func() []string { return modes("refs/heads/rekal", ref, "logs/refs/heads/rekal", "logs/"+ref) }
				text := "shared"
				for strings.Contains("\n"+p.Git("r", "rev-list", "--objects", "HEAD"),
					"\n"+string(git.SHA1().BlobID([]byte(text))[:2])) {
					text += "." // its folder goes, and nothing of HEAD's with it
				}
				blob := git.SHA1().BlobID([]byte(text))
				p.Write("r/text", text)
				harness.Equal(t, "blob", string(blob), p.Git("r", "hash-object", "-w", "text"))
				want = object(blob)
				p.Git("r", "update-ref", "-m", "x", "--create-reflog", ref, "HEAD")
				want = append(want, refs()...)

				for _, made := range []string{"objects/" + string(blob[:2]), "refs/heads/rekal", "logs/refs/heads/rekal"} {
					if err := os.RemoveAll(p.At("r/.git/" + made)); err != nil {
						t.Fatal(err)
					}
				}
				r := p.Open("r")
				harness.Equal(t, "blob", blob, repos.Must(r.WriteBlob([]byte(text)))(t))
				got = object(blob)
				if err := r.CompareAndSwap(t.Context(), ref, "", p.Rev("r", "HEAD"), "x"); err != nil {
					t.Fatal(err)
				}
				got = append(got, refs()...)
				harness.Equal(t, "modes", want, got)
			})
		}
	}
}
