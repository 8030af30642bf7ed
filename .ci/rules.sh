#!/bin/sh
# Rules that no linter knows: every package of internal/ has its depguard rule, every fuzz target
# has committed seeds, and every module that we use its reason and licence in CONTRIBUTING.md.
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
for module in $(sed -n '/^require/,/^)/{/indirect/d;s/^\(require\)\{0,1\}[	 (]*\([^ ]*\..*\) v.*/\2/p;}' go.mod); do
	grep -q "^.$module. | ..* | ..*$" CONTRIBUTING.md ||
		fail "$module: no reason or no licence in CONTRIBUTING.md"
done
for module in $(sed -n 's/^.\([a-z][^ ]*\.[^ ]*\). | .*/\1/p' CONTRIBUTING.md); do
	grep -q "^	$module v[^/]*\$" go.mod || fail "$module: in CONTRIBUTING.md, and not in go.mod"
done
exit $failed
