#!/bin/sh
# Exports the sample of `make demo` with bin/git-rekal into a folder and into a local S3 server, and has three engines answer docs/engines/statements.sql from an export
# of its tables, generated large. SIZE="10 1000" makes it 10 repositories with 1,000 sessions.
set -eu
cd "$(dirname "$0")/../.."
sample=$PWD/tests/testdata/demo bin=$PWD/bin here=$PWD/tests/engines
place=$(mktemp -d "${TMPDIR:-/tmp}/rekal-engines.XXXXXX")
place=$(cd "$place" && pwd -P)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install -q -r "$here/requirements.txt"
mkdir "$place/home" "$place/shop"
cd "$place/shop"
(
	export HOME="$place/home" PATH="$bin:$PATH" GIT_CONFIG_NOSYSTEM=1 REKAL_EMBED=off TZ=UTC
	git config --global user.name 'Alice Example'
	git config --global user.email alice@example.com
	git config --global init.defaultBranch main
	git init -q
	cp -R "$sample/project/." .
	git add .
	git commit -q -m 'Add tenants'
	folder=$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$folder"
	for name in jwt export; do
		id=$(sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p;q' "$sample/$name.jsonl")
		sed "s|@CWD@|$(pwd -P)|g" "$sample/$name.jsonl" >"$folder/$id.jsonl"
	done
	git rekal init >/dev/null 2>&1
	cp -R "$sample/jwt-change/." .
	git commit -q -a -m 'Read expires_at as UTC'
	git rekal export --parquet "$place/small"
	"$place/venv/bin/python" "$here/s3.py" "$place/small"
	git rekal export --format otel | "$place/venv/bin/python" "$here/otel.py"
)
# shellcheck disable=SC2086 # two numbers
"$place/venv/bin/python" -u "$here/engines.py" "$place/small" "$place/large" ${SIZE:-1000 100000}
