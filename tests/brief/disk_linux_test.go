package brief_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestHookOnReadOnlyDisk asks on a file system that nothing can be written to: with an index that is up to date, one
// that is behind, and none.
func TestHookOnReadOnlyDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	p := newProject(t)
	for _, tt := range []struct {
		name string
		make func()
	}{
		{"up to date", func() { p.Git("project", "rekal", "brief") }},
		{"behind", func() {
			p.Git("project", "rekal", "save", "A memory that the index has.")
			before := p.At("before")
			p.copy(p.At("project/.git/rekal"), before)
			p.Git("project", "rekal", "save", "A memory that the index lacks.")
			if err := errors.Join(os.RemoveAll(p.At("project/.git/rekal")),
				os.Rename(before, p.At("project/.git/rekal"))); err != nil {
				t.Fatal(err)
			}
		}},
		{"no index", func() { p.dropIndex() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.make()
			disk := t.TempDir()
			mount(t, disk)
			p.copy(p.At("project"), disk+"/project")
			if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(disk+"/project/new", nil, 0o600); !errors.Is(err, syscall.EROFS) {
				t.Fatalf("the disk takes a file: %v", err)
			}
			out := p.bounded(startIn(disk + "/project"))
			t.Logf("told %d bytes", len(out))
			if tt.name == "no index" && out != "" {
				t.Errorf("without an index it told %q", out)
			}
		})
	}
}

// mount mounts an empty disk until the test's end.
func mount(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", 256<<20)); err != nil {
		t.Skipf("can't mount a disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

func (p project) copy(from, to string) {
	p.T.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		p.T.Fatalf("cp: %v: %s", err, out)
	}
}
