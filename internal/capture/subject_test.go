package capture

import "testing"

func TestGivesSubject(t *testing.T) {
	for _, tt := range []struct {
		command, subject string
		want             bool
	}{
		{`git commit -qm "fix tests"`, "fix tests", true},
		{`git commit -qm "fix tests"`, "fix", false},
		{`git commit -qm "a fix"`, "fix", false},
		{`git commit -q -m fix && git push`, "fix", true},
		{`git commit -q -m prefix`, "fix", false},
		{"git commit -qF - <<'EOF'\nRead as UTC\n\nBecause.\nEOF\n", "Read as UTC", true},
		{`git commit -qm "fix" -m "fix tests"`, "fix", true},
		{`git add fix && git commit -qm "other"`, "fix", false},
	} {
		if got := givesSubject(tt.command, tt.subject); got != tt.want {
			t.Errorf("%q, %q: %v", tt.command, tt.subject, got)
		}
	}
}
