#!/bin/sh
# Rules that no linter knows: every package of internal/ has its depguard rule, every fuzz target
# has committed seeds, every module that we use its reason and licence in CONTRIBUTING.md, no
# line of Go but one with a string has more than 120 characters, and nothing else lies at the top.
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
long=$(git ls-files --cached --others --exclude-standard '*.go' | LC_ALL=C xargs awk '
	FNR == 1 { raw = 0; made = /^\/\/ Code generated/ }
	{ chars = $0; gsub(/[\200-\277]/, "", chars) }
	length(chars) > 120 && !raw && !made && !/["`]/ { print FILENAME ":" FNR ": more than 120 characters" }
	!raw { gsub(/"([^"\\]|\\.)*"|\047.\047/, ""); sub(/\/\/.*/, "") }
	gsub(/`/, "`") % 2 { raw = !raw }')
[ -z "$long" ] || fail "$long"
for file in $(git ls-files | sed 's,/.*,,' | sort -u); do
	case $file in
	.ci | .editorconfig | .gitattributes | .github | .gitignore | .golangci.yml | CHANGELOG.md | CONTRIBUTING.md | LICENSE | Makefile | \
		README.md | docs | editors | git-rekal | go.mod | go.sum | hooks | internal | templates | tests) ;;
	*) fail "$file: does not belong at the top of the tree" ;;
	esac
done
exit $failed
