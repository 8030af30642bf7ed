package machine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/git-rekal/git-rekal/internal/machine"
)

func folders(t *testing.T, home string, names ...string) (paths []string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func repositories(t *testing.T, m machine.Machine) []string {
	t.Helper()
	all, err := m.Repositories()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRepositories(t *testing.T) {
	for _, made := range []bool{false, true} {
		home := t.TempDir()
		if made {
			folders(t, home, ".config")
		}
		m := machine.ForUser(home, func(string) string { return "" })
		paths := folders(t, home, "a b", "c", "gone")
		for _, path := range append(paths, paths...) {
			if err := m.Add(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(paths[2]); err != nil {
			t.Fatal(err)
		}
		if got := repositories(t, m); !slices.Equal(got, paths[:2]) {
			t.Errorf("listed %q, want %q", got, paths[:2])
		}
		for _, path := range append(paths, filepath.Join(home, "never there")) {
			if err := m.Remove(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		if got := repositories(t, m); len(got) != 0 {
			t.Errorf("after all were removed: %q", got)
		}
		if _, err := os.Stat(filepath.Join(home, ".config")); (err == nil) != made {
			t.Errorf("the folder above was there: %v; afterwards: %v", made, err)
		}
		if left, _ := filepath.Glob(filepath.Join(home, ".config", "*")); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}
}

func TestWithoutHome(t *testing.T) {
	m := machine.ForUser("", func(string) string { return "" })
	if err := m.Add(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if got := repositories(t, m); len(got) != 0 {
		t.Errorf("listed %q", got)
	}
}

// Processes that add and remove at once lose no entry, also where the folder goes in between.
func TestAtOnce(t *testing.T) {
	home := t.TempDir()
	m := machine.ForUser(home, func(string) string { return "" })
	var beside sync.WaitGroup
	var want []string
	for i := range 8 {
		paths := folders(t, home, fmt.Sprint("stays", i), fmt.Sprint("goes", i))
		want = append(want, paths[0])
		beside.Go(func() {
			for _, err := range []error{
				m.Add(t.Context(), paths[1]), m.Remove(t.Context(), paths[1]),
				m.Add(t.Context(), paths[0]),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	beside.Wait()
	if got := repositories(t, m); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}
