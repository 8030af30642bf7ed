package forge_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/forge"
)

func TestCommit(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"git@github.com:example/tenants.git", "https://github.com/example/tenants/commit/70ee311"},
		{"https://github.com/example/tenants", "https://github.com/example/tenants/commit/70ee311"},
		{"https://alice:secret@GitHub.com/example/tenants.git/", "https://github.com/example/tenants/commit/70ee311"},
		{"ssh://git@gitlab.com:22/group/sub/tenants.git", "https://gitlab.com/group/sub/tenants/-/commit/70ee311"},
		{"git://codeberg.org/example/tenants.git", "https://codeberg.org/example/tenants/commit/70ee311"},
		{"bitbucket.org:example/tenants", "https://bitbucket.org/example/tenants/commits/70ee311"},
		{"https://github.com/example/te nants\x1b", ""},
		{"git@github.com:example/te nants\x1b", "https://github.com/example/te%20nants%1B/commit/70ee311"},
		{"https://github.com/tenants", ""},
		{"https://example.com/example/tenants", ""},
		{"../github.com:example/tenants", ""},
		{"/srv/git/tenants.git", ""},
		{"https://github.com/%zz/tenants", ""},
		{"", ""},
	} {
		if got := forge.Of(tt.remote).Commit("70ee311"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.remote, got, tt.want)
		}
	}
}
