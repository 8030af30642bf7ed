package command_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/command"
)

func TestPasses(t *testing.T) {
	for _, tt := range []struct {
		failed, passed string
		want           bool
	}{
		{"mise run lint 2>&1", "mise run lint", true},
		{"mise run fmt && mise run lint", "mise run lint && mise run test", true},
		{"mise run lint", "mise run test", false},
		{"go test ./a -run TestX", "go test -count=1 ./a -run TestX", true},
		{"go test ./a", "go test ./b", false},
		{"git diff main --no-stat", "git diff main", true},
		{"cd sub && timeout 60 go build ./...", "FOO=1 git rekal run -- go build ./...", true},
		{"cd nowhere", "cd nowhere", true},
		{"echo a", "echo a", false},
		{"python3 <<'EOF'\nprint(1)\nEOF", "python3 x.py", false},
		{"make >log 2> err", "make", true},
	} {
		if got := command.Passes(command.Form(tt.passed), command.Form(tt.failed)); got != tt.want {
			t.Errorf("%q passes for %q: %v, want %v (%q, %q)", tt.passed, tt.failed, got, tt.want, command.Form(tt.passed),
				command.Form(tt.failed))
		}
	}
}

func TestHides(t *testing.T) {
	for line, want := range map[string]bool{
		"go test | tail": true, "go test || go vet": false, "go test; echo x": true,
		"go test || true": true, "go test && go vet": false,
	} {
		if got := command.Hides(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestProgram(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...": "go test",
		"cd web && timeout -k 5 60 go test ./a | tail":  "go test",
		"(cd web && npm run lint)":                      "npm run lint",
		"git -C /srv/x -c a.b=c log --oneline":          "git log",
		"git":                                           "git",
		"git --version":                                 "git",
		"make":                                          "make",
		"make -j4 test":                                 "make test",
		"docker compose -f a.yml up -d":                 "docker compose up",
		"sudo -u postgres psql shop":                    "psql",
		"FOO='a b' BAR=1 env -u X cargo build --quiet":  "cargo build",
		"python3 -m pytest tests":                       "pytest",
		"uv run --with httpx pytest -q":                 "pytest",
		"python3 tools/check.py":                        "python3",
		"./gradlew build":                               "gradlew build",
		"node_modules/.bin/jest":                        "jest",
		"npx --yes tsc -p .":                            "tsc",
		"# Let's check\ngo vet ./...":                   "go vet",
		"out=$(go build ./... 2>&1); echo \"$out\"":     "go build",
		"bash -lc 'cd web && cargo clippy -- -D warn'":  "cargo clippy",
		"sh -c \"sh -c 'make lint'\"":                   "make lint",
		"for f in *.go; do gofmt -l $f; done":           "gofmt",
		"if ! go vet ./...; then exit 1; fi":            "go vet",
		"set -e; ls -la; pwd":                           "ls",
		"cat a | grep b":                                "cat",
		"echo y | npm run seed":                         "npm run seed",
		"cat x && git stash pop":                        "git stash",
		"cd /tmp":                                       "cd",
		"echo done":                                     "echo",
		"server --port 1 & sleep 2; curl localhost":     "server",
		"make >log 2>&1":                                "make",
		"go \\\n  test ./a":                             "go test",
		"git commit -m \"$(cat <<'EOF'\nFix && tidy\n)": "git commit",
		"git commit -m 'a; rm b && c'":                  "git commit",
		"grep TODO":                                     "grep",
		"pytest tests":                                  "pytest",
		"git rekal run -- go test ./...":                "go test",
		"git rekal why a.go":                            "git rekal why",
		"":                                              "",
		"   ":                                           "",
		"x=1":                                           "",
		"(((":                                           "",
		"\"a quoted thing\" x":                          "",
		"for a in":                                      "",
		// Of a line that was cut, the last word may be half a one.
		strings.Repeat("x", 92) + " && git commi": strings.Repeat("x", 92),
	} {
		if got := command.Program(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// FuzzProgram: any line has at most one program, which reads as one.
func FuzzProgram(f *testing.F) {
	for _, line := range []string{
		"cd a && go test ./...", "out=$(x \"`y 'z\"", "sh -c 'bash -lc \"sh -c a\"'",
		"timeout -k", "uv run --with", "a |& b &> c << d", "\\", "# a\n\\\n&&",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if got := command.Program(line); strings.ContainsAny(got, "\n\t/\"'()") || strings.Count(got, " ") > 3 {
			t.Errorf("%q: %q", line, got)
		}
		command.Form(line)
	})
}
