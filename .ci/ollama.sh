#!/bin/sh
# git-rekal with a real embedding server: Ollama v0.6.8, built from the Go module proxy, and nomic-embed-text,
# whose .gguf file MODEL names. Growth, a rebuild, a server that is killed while it works, one that is stopped
# in its tracks, and one without the model. `make ollama MODEL=FILE` runs it; it takes some minutes to build and
# is no part of `make test`. OLLAMA=FILE takes one that is there.
set -eu
bin=$(cd "${1:?usage: ollama.sh FOLDER-OF-GIT-REKAL}" && pwd)
cd "$(dirname "$0")/.."
sample=$PWD/tests/testdata/demo
work=$(mktemp -d)
served=
trap 'test -z "$served" || kill -9 "$served" 2>/dev/null || :; rm -rf "$work"' EXIT
ollama=${OLLAMA:-$work/bin/ollama}
[ -x "$ollama" ] || (cd "$work" && GOFLAGS= GOBIN=$work/bin CGO_CFLAGS='-O3 -march=native' CGO_CXXFLAGS='-O3 -march=native' \
	go install github.com/ollama/ollama@v0.6.8)
model=${MODEL:?names the .gguf file of nomic-embed-text}

export HOME="$work/home" GIT_CONFIG_NOSYSTEM=1 PATH="$bin:$PATH" LC_ALL=C CI=
export OLLAMA_HOST="${OLLAMA_HOST:-127.0.0.1:11599}" OLLAMA_MODELS="$work/models"
export REKAL_EMBED="http://$OLLAMA_HOST"
mkdir -p "$HOME" "$work/repo"
git config --global user.name Alice
git config --global user.email alice@example.com

fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}
say() { printf '\n# %s\n' "$*"; }

# serve: starts the server and waits until it answers.
serve() {
	setsid "$ollama" serve >>"$work/serve.log" 2>&1 &
	served=$!
	for _ in $(seq 100); do
		"$ollama" list >/dev/null 2>&1 && return
		sleep 0.1
	done
	fail "Ollama does not start: $(tail -3 "$work/serve.log")"
}

# kill_server: the server and the process that runs the model are gone at once.
kill_server() { kill -9 "-$served" && wait "$served" 2>/dev/null || :; }

# agent NAME ID [YEAR]: a sample session under an ID of its own, perhaps in another year.
agent() {
	folder=$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$folder"
	was=$(sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p;q' "$sample/$1.jsonl")
	sed "s|@CWD@|$(pwd -P)|g; s|$was|$2|g; s|\"2026-|\"${3:-2026}-|g" "$sample/$1.jsonl" >"$folder/$2.jsonl"
}

# vectors: how many sessions have vectors, and of how many dimensions.
vectors() {
	git rekal query --index "SELECT count(*) AS n, min(len(embedding)) AS dim FROM session_embeddings WHERE model = 'nomic-v1.5'"
}

# want TEXT: the last answer holds it.
want() {
	case $answer in *"$1"*) ;; *) fail "no $1 in: $answer" ;; esac
}

say 'The server has no such model: a line, and everything else works.'
serve
git init -q --bare "$work/team.git"
cd "$work/repo"
git init -q
git remote add origin "$work/team.git"
agent jwt one
agent export two
git rekal init >/dev/null 2>"$work/said" || fail init
answer=$(cat "$work/said") && want 'not found' && printf '%s\n' "$answer"
answer=$(git rekal "JWT expiry") && want '"content"'

say 'With the model: vectors of its dimensions, and recall that uses them.'
printf 'FROM %s\n' "$model" >"$work/Modelfile"
(cd "$work" && "$ollama" create nomic-embed-text -f Modelfile >/dev/null 2>&1) || fail create
rm -f .git/rekal/embed.json
time git rekal sync --yes
answer=$(vectors) && want '{"n":2,"dim":768}' && printf '%s\n' "$answer"
time git rekal "JWT expiry" >"$work/with"
answer=$(REKAL_EMBED=off git rekal "JWT expiry")
[ "$answer" != "$(cat "$work/with")" ] || fail 'the vectors changed no score'

vector() { git rekal query --index "SELECT embedding::VARCHAR AS v FROM session_embeddings WHERE model = 'nomic-v1.5'"; }
vector >"$work/ollama.vectors"

say 'A rebuild takes them over: no question reaches the server.'
asked() { grep -c 'POST .*embed' "$work/serve.log" || :; }
before=$(asked)
git rekal index
[ "$(asked)" = "$before" ] || fail 'the server was asked'
vector | cmp - "$work/ollama.vectors" || fail 'they differ'

say 'The server is killed while it works: what it had said is kept, and the rest comes later.'
for i in $(seq 100 159); do agent export "more-$i" "2$i"; done
git rekal sync >/dev/null 2>"$work/said" &
sync=$!
before=$(asked)
for _ in $(seq 600); do
	[ "$(asked)" -gt "$((before + 1))" ] && break
	sleep 0.1
done
kill_server
wait "$sync" || fail 'sync failed with the server'
answer=$(cat "$work/said") && want 'some sessions have no vectors yet' && printf '%s\n' "$answer"
answer=$(vectors) && printf '%s\n' "$answer"
case $answer in *'"n":2,'* | *'"n":62,'*) fail 'it was not in the middle' ;; esac
answer=$(git rekal "CSV export") && want '"content"'

say 'Nobody listens: recall says nothing of it.'
git rekal "CSV export" >"$work/out" 2>"$work/said"
[ ! -s "$work/said" ] || fail "$(cat "$work/said")"

say 'It is back.'
serve
git rekal index
answer=$(vectors) && want '{"n":62,"dim":768}' && printf '%s\n' "$answer"

say 'It hangs: one question waits for 300 ms, the next does not.'
kill -STOP "-$served"
time git rekal "CSV export" >/dev/null
time git rekal "CSV export" >/dev/null
cat .git/rekal/embed.json
kill -CONT "-$served"
kill_server
served=
echo
echo ok
