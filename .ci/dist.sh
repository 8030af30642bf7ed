#!/bin/sh
# Makes the packages of this system from bin/, in dist/: a tar.gz, on Linux .deb and .rpm, a bill of
# materials, and SHA256SUMS. With CROSS=aarch64-linux-gnu, those of that Linux; qemu-user-static starts what was built. The same commit gives the same bytes in the same folder of the same system: `make dist`.
set -eu
cd "$(dirname "$0")/.."

die() {
	printf 'dist: %s\n' "$*" >&2
	exit 1
}

CROSS=${CROSS-}
libgit2=.build/libgit2${CROSS:+-$CROSS}
[ -f "$libgit2/id" ] || die 'a release is linked with a libgit2 of our own: run "make libgit2"'
.ci/linked.sh bin/git-rekal >/dev/null
.ci/linked.sh bin/git-rekal-full >/dev/null

# A tag v0.1.0 is the version 0.1.0; what has none comes before each release.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
day=$(TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y%m%d)
VERSION=$(git describe --exact-match --tags --match 'v[0-9]*' 2>/dev/null | sed 's/^v//')
VERSION=${VERSION:-0.0.0~$day.$(git rev-parse --short=8 HEAD)}
ARCH=$(go env GOARCH)
unset GOARCH CGO_ENABLED CC CXX # what runs here is made for here
STAGE=$PWD/.build/dist/stage
os=$(go env GOOS)
name=git-rekal-$(printf '%s' "$VERSION" | tr '~' '-')-$os-$ARCH
export SOURCE_DATE_EPOCH VERSION ARCH

rm -rf dist .build/dist
mkdir -p dist "$STAGE"
umask 022
make -s install-files DESTDIR="$STAGE" PREFIX=/usr
gzip -9n "$STAGE"/usr/share/man/man1/*.1
mkdir -p "$STAGE/usr/share/doc/git-rekal"
install -m 644 LICENSE "$STAGE/usr/share/doc/git-rekal/copyright"
[ -d "$libgit2/licenses" ] || die "$libgit2 lacks licence texts, as older ones do: rm -r $libgit2, and run \"make libgit2\""
env -u GOFLAGS go run .ci/sbom.go -licenses "$libgit2" bin/git-rekal bin/git-rekal-full >"$STAGE/usr/share/doc/git-rekal/LICENSES.txt"
install -m 644 README.md CHANGELOG.md "$STAGE/usr/share/doc/git-rekal/"

pack() { # pack FOLDER ARCHIVE TOP: with nothing in it that depends on when and by whom it was made
	"$(command -v gtar || echo tar)" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
		-C "$1" --transform "s,^\.,$3," -cf - . | gzip -9n >"$2"
}
pack "$STAGE/usr" "dist/$name.tar.gz" "$name"

if [ "$os" = linux ]; then
	GLIBC=$(readelf -VW bin/git-rekal bin/git-rekal-full | sed -n 's/.*Name: GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -uV | tail -n 1)
	export GLIBC
	# Debian's zsh looks elsewhere than others.
	for kind in rpm deb; do
		[ $kind = rpm ] || mv "$STAGE/usr/share/zsh/site-functions" "$STAGE/usr/share/zsh/vendor-completions"
		go tool -modfile=.ci/dist.mod nfpm package -f .ci/nfpm.yaml -p $kind -t dist >/dev/null
	done
fi

set -- bin/git-rekal-full
[ -z "$CROSS" ] || set -- "qemu-${CROSS%%-*}-static" -L "/usr/$CROSS" "$@"
part() { sed -n "s/^Version: //p" "$libgit2/lib/pkgconfig/$1.pc"; }
env -u GOFLAGS go run .ci/sbom.go bin/git-rekal-full "libgit2=$(part libgit2)" \
	"$("$@" version --json | sed 's/.*"duckdb":"v\{0,1\}\([^"]*\)".*/DuckDB=\1/')" >"dist/$name.cdx.json"

.ci/release.sh dist
cat dist/SHA256SUMS
