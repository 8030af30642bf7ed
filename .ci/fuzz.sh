#!/bin/sh
# fuzz.sh list: every fuzz target of the tree, one DIR:NAME a line.
# fuzz.sh TIME: runs each for TIME ("10s"); fails on the first crash, and when one has no seeds.
set -eu
cd "$(dirname "$0")/.."

list() {
	git ls-files --cached --others --exclude-standard '*_test.go' | while read -r file; do
		sed -n "s,^func \(Fuzz[A-Za-z0-9_]*\)(.*,${file%/*}:\1,p" "$file"
	done
}

if [ "${1-}" = list ]; then
	list
	exit
fi
.ci/rules.sh
for target in $(list); do
	echo "== $target"
	go test "./${target%:*}" -run '^$' -fuzz "^${target##*:}\$" -fuzztime "${1:?usage: fuzz.sh list|TIME}"
done
