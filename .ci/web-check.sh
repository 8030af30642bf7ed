#!/bin/sh
# The pages of `git rekal web` in a real Chromium: search as one types, the keyboard alone, 320 px to 4K, hostile text, axe-core, an export.
# Writes pictures of all pages into .build/web/shots, and the two of docs/web. `make web-check` runs it; it is no part of `make test`. The first time needs the network.
set -eu
cd "$(dirname "$0")/.."
dir=.build/web
axe='axe-core@4.11.0'

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || :)}
if [ -z "$CHROMIUM" ]; then
	echo 'web-check: no Chromium is here: apt-get install chromium, or CHROMIUM=/path/to/one' >&2
	exit 1
fi
command -v npm >/dev/null || {
	echo 'web-check: npm is missing: apt-get install nodejs npm' >&2
	exit 1
}
mkdir -p "$dir/shots"
if [ "$(cat "$dir/installed" 2>/dev/null)" != "$axe" ]; then
	echo "web-check: installing $axe" >&2
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" "$axe"
	echo "$axe" >"$dir/installed"
fi
export CHROMIUM AXE="$PWD/$dir/node_modules/axe-core/axe.min.js" SHOTS="$PWD/$dir/shots"
go test -count=1 -timeout 20m ./tests/web "$@"
cp "$dir/shots/session-light-1280.png" "$dir/shots/file-dark-1280.png" docs/web/
