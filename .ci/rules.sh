#!/bin/sh
# Two rules that no linter knows: every package of internal/ has its depguard rule, and
# every fuzz target has committed seeds.
set -eu
cd "$(dirname "$0")/.."

failed=0
fail() {
	printf '%s\n' "$*" >&2
	failed=1
}

for dir in $(git ls-files --cached --others --exclude-standard 'internal/*.go' | sed 's,/[^/]*$,,' | sort -u); do
	case $dir in *testdata*) continue ;; esac
	grep -qF "**/$dir/*.go" .golangci.yml || fail "$dir: no depguard rule in .golangci.yml"
done

for target in $(.ci/fuzz.sh list); do
	seeds=${target%:*}/testdata/fuzz/${target##*:}
	[ -n "$(git ls-files --cached --others --exclude-standard "$seeds" 2>/dev/null)" ] ||
		fail "${target%:*}: ${target##*:} has no seeds in $seeds"
done
exit $failed
