# git-rekal. `make demo` shows it, `make test` tests it; CONTRIBUTING.md says the rest.

PREFIX   ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
FUZZTIME ?= 10s
# More flags for go test, e.g. make test TESTFLAGS='-run Append ./internal/ledger'
TESTFLAGS ?= ./...
BENCHFLAGS ?= ./...
BENCH ?= 11k 225k
BENCHDIR ?= .build/bench
DATA ?= ../shared/data

# Asked when a recipe runs, after setup had its turn; hence = and not :=.
system_libgit2 = $(shell pkg-config --exists 'libgit2 >= 1.5 libgit2 < 1.6' 2>/dev/null && echo yes)
version = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
ldflags = -X main.version=$(version)

# How to call go so that it links our own static libgit2. Go's build cache does not see what
# pkg-config answers, so git2go would stay linked to the library it was first built with; it
# does see CGO_CFLAGS, hence the library's id there.
libgit2 = .build/libgit2
static = PKG_CONFIG_PATH=$(CURDIR)/$(libgit2)/lib/pkgconfig \
	CGO_CFLAGS="-O2 -g -I$(CURDIR)/$(libgit2)/include -DREKAL_LIBGIT2_$$(cat $(libgit2)/id)" \
	GOFLAGS="$$(go env GOFLAGS) -tags=static,system_libgit2"
# How to call go otherwise: with the system's libgit2 when it is 1.5.
env = $(if $(system_libgit2),,$(static))
# How to link the release on Linux: without the system's C++ library, which takes 4 ms to load at each
# start. The folder holds nothing but the archive, so that the linker finds no shared one there.
cxx = $(CURDIR)/.build/cxx
linked = $(if $(filter Linux,$(shell uname -s)),-extldflags "-static-libgcc -L$(cxx)")

tool = $(env) go tool -modfile=.ci/tools.mod
# git knows which files are ours: not .build, not what git ignores.
gofiles = $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: build setup libgit2 release test race torture team lint fmt fuzz vuln bench microbench rank demo vectors hook-managers ollama install check clean

build: setup
	$(env) go build -buildvcs=false -ldflags '$(ldflags)' -o bin/git-rekal ./git-rekal

# What the build needs beside Go, gcc, git and make; silent when nothing is missing.
setup:
	@.ci/setup.sh

libgit2:
	@.ci/libgit2.sh

# The binary to give away: it needs no libgit2 on the machine where it runs.
release: setup libgit2
	@mkdir -p $(cxx) && ln -sf "$$(c++ -print-file-name=libstdc++.a)" $(cxx)/libstdc++.a
	$(static) go build -buildvcs=false -trimpath -ldflags '-s -w $(linked) $(ldflags)' -o dist/git-rekal ./git-rekal
	@.ci/linked.sh dist/git-rekal

test: setup
	$(env) go test $(TESTFLAGS)

race: setup
	$(env) go test -race $(TESTFLAGS)

# Crashes, full disks and crowds, for about half an hour; SEED=N repeats a run, RUN=Kills
# takes one test, TORTURE_N=100 its number of rounds. As root also small disks.
torture: setup
	$(env) TORTURE=long go test ./tests/torture -count=1 -v -timeout 3h -run 'Test$(RUN)'

# What a team of 200 authors costs, TEAM=200x50 sessions each.
team: setup
	$(env) TEAM=$(or $(TEAM),200x50) go test ./tests/torture -count=1 -v -timeout 1h -run TestTeam

# git-rekal on large ledgers made of real sessions, beside rg and SQLite: BENCH='11k 225k 1100k'
# names the sizes. They are generated once, into BENCHDIR, from the sessions in DATA.
bench: release
	$(env) go build -buildvcs=false -o .build/bench/bench ./tests/bench
	@.build/bench/bench -bin dist -dir '$(BENCHDIR)' -data '$(DATA)' $(BENCH)

# The benchmarks beside the code, e.g. make microbench BENCHFLAGS=./internal/search
microbench: setup
	$(env) go test -run '^$$' -bench . -benchmem $(BENCHFLAGS)

lint: setup
	@.ci/rules.sh
	$(tool) golangci-lint run
	@unformatted=$$($(tool) gofumpt -l $(gofiles)) && test -z "$$unformatted" || \
		{ printf 'not gofumpt-ed (make fmt mends it):\n%s\n' "$$unformatted" >&2; exit 1; }

fmt: setup
	$(tool) gofumpt -w $(gofiles)

# Every fuzz target for FUZZTIME each.
fuzz: setup
	$(env) .ci/fuzz.sh $(FUZZTIME)

# Known vulnerabilities, where the network allows; it decides nothing.
vuln: setup
	$(env) go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

# make rank CORPUS=DIR QUERIES=FILE OUT=run.tsv
rank: setup
	@test -n '$(CORPUS)' -a -n '$(QUERIES)' -a -n '$(OUT)' || \
		{ echo 'usage: make rank CORPUS=DIR QUERIES=FILE OUT=run.tsv' >&2; exit 2; }
	$(env) go run ./tests/rank '$(CORPUS)' '$(QUERIES)' '$(OUT)'

demo: build
	@sh .ci/demo.sh

# What gitleaks' own rules are tested with against internal/redact; makes them from its sources.
vectors: setup
	$(env) .ci/vectors.sh

# husky, lefthook, pre-commit and git-lfs, really installed: needs the network, and is no test.
hook-managers: build
	@.ci/hook-managers.sh bin

# A real embedding server, built from the module proxy: takes minutes, and is no test.
ollama: build
	@.ci/ollama.sh bin

# The release is what starts fast: the system's libgit2 brings twenty libraries and all of the
# system's certificates, about 15 ms at each start.
install:
	@set -e; binary=dist/git-rekal; $(MAKE) --no-print-directory release || { \
		echo 'note: linked with the libgit2 of the system instead, which takes longer to start' >&2; \
		binary=bin/git-rekal; $(MAKE) --no-print-directory build; }; \
	install -d '$(DESTDIR)$(PREFIX)/bin'; \
	install -m 755 $$binary '$(DESTDIR)$(PREFIX)/bin/git-rekal'
	@set -e; for page in docs/man/*.1; do \
		[ -f "$$page" ] || continue; \
		install -d '$(DESTDIR)$(PREFIX)/share/man/man1'; \
		install -m 644 "$$page" '$(DESTDIR)$(PREFIX)/share/man/man1/'; \
	done
	@command -v git-rekal >/dev/null || echo 'note: $(PREFIX)/bin is not on PATH' >&2

# What CI runs.
check:
	@.ci/run

# Leaves .build, where the static libgit2 lies; rm -r .build builds it anew.
clean:
	rm -rf bin dist
