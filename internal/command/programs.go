package command

import (
	"strings"
	"sync"
)

// How much a program says of what a line is for. Whether it passes says nothing, but for an attempt.
const (
	setsUp  = iota // it makes room for another one
	reads          // it only looks
	attempt        // everything else
)

//nolint:gochecknoglobals // a table
var quietPrograms = map[string]int{
	"cd": setsUp, "echo": setsUp, "export": setsUp, "set": setsUp, "source": setsUp, ".": setsUp, "true": setsUp,
	"sleep": setsUp, "printf": setsUp, "pwd": setsUp,
	"mkdir": setsUp, "unset": setsUp, "pushd": setsUp, "popd": setsUp, "read": setsUp, "wait": setsUp, "exit": setsUp,
	"test": setsUp, "[": setsUp, "[[": setsUp,
	"ls": reads, "cat": reads, "grep": reads, "rg": reads, "find": reads, "head": reads, "tail": reads, "wc": reads,
	"which": reads, "diff": reads, "sed": reads,
}

//nolint:gochecknoglobals // a table
var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ash": true}

// keywords are words of the shell that stand before a command.
//
//nolint:gochecknoglobals // a table
var keywords = wordSet("if then else elif do while until ! { }")

// withoutCommand are words of the shell behind which no command stands.
//
//nolint:gochecknoglobals // a table
var withoutCommand = wordSet("for case select function in done fi esac")

// wrapper is a program that runs another one.
type wrapper struct {
	own    int    // how many words of its own stand before that, beside options
	values string // its options that take a word, each in spaces
}

// before is how many words of a wrapper stand before the command.
func (w wrapper) before(words []string) (n int) {
	own := w.own
	for n < len(words) && (own > 0 || strings.HasPrefix(words[n], "-")) {
		switch {
		case !strings.HasPrefix(words[n], "-"):
			own--
		case strings.Contains(w.values, " "+words[n]+" "):
			n++
		}
		n++
	}
	return min(n, len(words))
}

//nolint:gochecknoglobals // a table
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"time": {0, " -f -o "}, "sudo": {0, " -u -g -C -D -h "}, "doas": {0, " -u -C "}, "env": {0, " -u -C "},
		"nice": {0, " -n "}, "ionice": {0, " -c -n "}, "nohup": {},
		"timeout": {1, " -k -s "}, "gtimeout": {1, " -k -s "}, "stdbuf": {0, " -i -o -e "}, "setsid": {}, "command": {},
		"exec": {0, " -a "}, "xvfb-run": {0, " -n -s "},
		"rtk": {}, "git rekal run": {}, "git-rekal run": {},
		"python -m": {}, "python3 -m": {}, "npx": {0, " -p --package "}, "bunx": {}, "npm exec": {}, "pnpm exec": {},
		"pnpm dlx": {}, "yarn dlx": {}, "yarn exec": {},
		"uv run": {0, " --with -p --python --package --extra --group --directory --project "},
		"uvx":    {0, " --from --with -p --python "}, "poetry run": {}, "pipenv run": {},
		"pdm run": {}, "hatch run": {}, "bundle exec": {}, "mise exec": {}, "direnv exec": {1, ""}, "dotenv": {0, " -f -e "},
	}
})

// hasSubcommands are programs, and subcommands of some, whose first argument says what they do.
//
//nolint:gochecknoglobals // a table
var hasSubcommands = sync.OnceValue(func() map[string]bool {
	return wordSet(`git go cargo rustup npm pnpm yarn bun deno node-gyp nx turbo lerna ng vite next vercel wrangler firebase expo
	make gmake just task mise rake ninja meson bazel bazelisk buck2 gradle gradlew mvn mvnw sbt lein mix rebar3 zig swift xcodebuild flutter dart dotnet nuget msbuild
	stack cabal opam dune composer artisan symfony bundle gem rails pip pip3 uv poetry pipenv pdm hatch conda mamba tox nox invoke alembic flask ruff pre-commit lefthook husky
	docker docker-compose podman buildah kubectl oc helm kustomize minikube kind k3d skaffold terraform tofu terragrunt pulumi ansible-galaxy vagrant packer nomad vault consul
	aws gcloud gsutil az doctl heroku fly flyctl gh glab tea hub svn hg jj systemctl service launchctl apt apt-get dnf yum apk brew pacman snap flatpak port
	golangci-lint buf sqlc goose migrate prisma sequelize supabase dbt hugo jekyll git-rekal adb`,
		"npm run", "pnpm run", "yarn run", "bun run", "deno task", "mise run", "docker compose", "docker buildx", "go mod",
		"go tool", "uv pip", "git rekal",
		"gh pr", "gh issue", "gh repo", "gh run", "gh release", "gh workflow", "glab mr", "glab issue", "glab ci",
		"poetry self", "dotnet ef", "bundle exec")
})

// valued are options before a subcommand that take a word.
//
//nolint:gochecknoglobals // a table
var valued = wordSet("-C -c -f -n -p -R -w --prefix --namespace --context --kubeconfig --git-dir --work-tree --repo --dir --cwd --filter --file --project --profile --region")

func wordSet(words string, phrases ...string) map[string]bool {
	set := map[string]bool{}
	for _, w := range append(strings.Fields(words), phrases...) {
		set[w] = true
	}
	return set
}
