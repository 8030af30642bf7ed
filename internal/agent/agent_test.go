package agent_test

import (
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/agent"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestAll: each agent whose sessions are read is known, once.
func TestAll(t *testing.T) {
	var sources []string
	for _, a := range agent.All() {
		sources = append(sources, a.Source)
		if a.Launch.Program == "" || (a.Launch.Resume == "") == (a.Launch.Command == "") {
			t.Errorf("%s is started by %+v", a.Source, a.Launch)
		}
	}
	want := slices.DeleteFunc(session.Agents(), func(name string) bool { return name == session.Imported })
	slices.Sort(want)
	if slices.Sort(sources); !slices.Equal(sources, want) {
		t.Errorf("known are %v, want %v", sources, want)
	}
}
