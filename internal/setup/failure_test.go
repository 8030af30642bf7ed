package setup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// A failing part is named, leaves nothing half-written, and does not keep the others back.
func TestPartialFailure(t *testing.T) {
	for name, block := range map[string]struct{ path, others string }{
		"hooks folder is a file": {".git/hooks", "skill"},
		"agent folder is a file": {".claude", "hooks"},
		".git/rekal is a file":   {".git/rekal", "skill"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			r.remove(r.at(block.path))
			r.write(r.at(block.path), "in the way\n", 0o644)
			rep, err := setup.Install(l)
			if err == nil || !strings.Contains(err.Error(), r.at(block.path)) {
				t.Errorf("Install: %v; want an error that names %s", err, block.path)
			}
			contains(t, rep.Done, block.others)
			harness.Equal(t, block.path, "in the way\n", r.read(r.at(block.path)))
			for path := range r.snapshot() {
				if strings.Contains(path, ".rekal-tmp") {
					t.Errorf("%s was left behind", path)
				}
			}
		})
	}
}

// A hook of ours that can't be written leaves the user's where it was.
func TestFailedHookIsUndone(t *testing.T) {
	for name, begin := range map[string]func(*repo){
		"file": func(r *repo) { r.write(r.at(".git/hooks/post-commit"), userHook, 0o750) },
		"link": func(r *repo) { r.link("/nowhere/hook", r.at(".git/hooks/post-commit")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "work")
			begin(r)
			r.mkdir(r.at(fmt.Sprintf(".git/hooks/post-commit.rekal-tmp%d", os.Getpid())))
			before := r.snapshot()
			rep, err := setup.Install(r.layout())
			if err == nil || !strings.Contains(err.Error(), "post-commit") {
				t.Errorf("Install: %v; want an error that names post-commit", err)
			}
			contains(t, rep.Done, "hooks post-merge, post-applypatch, post-rewrite, pre-push in")
			after := r.snapshot()
			for _, file := range []string{"post-commit", "post-commit.pre-rekal"} {
				path := filepath.Join("work/.git/hooks", file)
				harness.Equal(t, path, before[path], after[path])
			}
		})
	}
}

func TestLayoutIsChecked(t *testing.T) {
	r := newRepo(t, "work")
	good := r.layout()
	for name, spoil := range map[string]func(*setup.Layout){
		"another folder": func(l *setup.Layout) { l.RekalDir = l.WorkTree },
		"relative":       func(l *setup.Layout) { l.HooksDir = ".git/hooks" },
		"empty":          func(l *setup.Layout) { *l = setup.Layout{} },
	} {
		t.Run(name, func(t *testing.T) {
			l := good
			spoil(&l)
			before := r.snapshot()
			if _, err := setup.Install(l); err == nil {
				t.Error("Install accepted it")
			}
			if _, err := setup.Remove(l); err == nil {
				t.Error("Remove accepted it")
			}
			harness.Equal(t, "tree", before, r.snapshot())
		})
	}
}

// A process that is about to take a lock in a folder of the caches is no obstacle to their removal.
func TestLongRemoveBesideOthers(t *testing.T) {
	for range 10 {
		r := newRepo(t, "work")
		l := r.layout()
		if _, err := setup.Install(l); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			r.write(r.at(fmt.Sprintf(".git/rekal/at/00/%d", i)), "", 0o600)
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					_ = os.WriteFile(r.at(".git/rekal/at/00/lock"), nil, 0o600) // fails when the folder is gone
				}
			}
		}()
		_, err := setup.Remove(l)
		close(stop)
		<-stopped
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(l.RekalDir); !os.IsNotExist(err) {
			t.Fatalf("the caches are left: %v", err)
		}
	}
}

// The folder may be a link to another file system. What a killed removal had set aside stays in it, and is removed by
// the next, and by Install.
func TestRemoveOnAnotherFileSystem(t *testing.T) {
	r := newRepo(t, "work")
	other := otherFileSystem(t, r)
	before := r.snapshot()
	l := r.layout()
	r.link(other, l.RekalDir)
	aside := filepath.Join(other, "gone", "at", "words")
	r.write(aside, "private", 0o600)
	install(t, l)
	harness.Equal(t, "set aside, after Install", "", r.read(aside))
	r.write(aside, "private", 0o600)
	r.write(filepath.Join(other, "at", "words"), "private", 0o600)
	remove(t, l)
	harness.Equal(t, "tree", before, r.snapshot())
	left, err := os.ReadDir(other)
	if err != nil || len(left) > 0 {
		t.Errorf("left on the other file system: %v, %v", left, err)
	}
}

// otherFileSystem makes a folder to which no file of the repository can be renamed.
func otherFileSystem(t *testing.T, r *repo) string {
	t.Helper()
	probe := filepath.Join(r.Root, "probe")
	r.write(probe, "", 0o600)
	defer r.remove(probe)
	for _, at := range []string{"/dev/shm", "/var/tmp", "/tmp"} {
		dir, err := os.MkdirTemp(at, "rekal-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if errors.Is(os.Rename(probe, filepath.Join(dir, "probe")), syscall.EXDEV) {
			return dir
		}
		r.write(probe, "", 0o600)
	}
	t.Skip("no other file system to write to")
	return ""
}
