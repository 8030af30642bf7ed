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
# Go makes each input that is new as short as it can, for up to a minute, and counts that as fuzzing: of 20 s of FuzzDecode 22
# inputs were left. Ten tries each leave 3,500 of 15 s.
for target in $(list); do
	echo "== $target"
	go test "./${target%:*}" -run '^$' -fuzz "^${target##*:}\$" -fuzzminimizetime 10x -fuzztime "${1:?usage: fuzz.sh list|TIME}"
done
