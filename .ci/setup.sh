#!/bin/sh
# Puts in place what the build needs beside Go, gcc, git and make: a C++ runtime to link DuckDB,
# pkg-config, and libgit2 1.5, the only version that git2go v34 works with.
#
#   setup.sh          what `make build` needs; says nothing when nothing is missing
#   setup.sh source   what .ci/libgit2.sh needs to build libgit2 from source
#
# On Debian and Ubuntu the packages come through apt (with sudo when not root);
# elsewhere it says what to install, and fails.
set -eu
cd "$(dirname "$0")/.."

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

missing=''
need() { # need PACKAGE COMMAND…: PACKAGE is missing when COMMAND fails
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}

has_header() { printf '#include <%s>\n' "$1" | cc -E -; }
has_cxx() {
	out=$(mktemp)
	linked=0
	echo 'int main(void) { return 0; }' | cc -x c - -lstdc++ -o "$out" || linked=1
	rm -f "$out"
	return $linked
}
has_libgit2() { pkg-config --exists 'libgit2 >= 1.5 libgit2 < 1.6' || [ -f .build/libgit2/id ]; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "not root and no sudo; run this as root: $*"
	fi
}

updated=''
apt_update() {
	[ -n "$updated" ] || as_root apt-get update -qq </dev/null
	updated=yes
}

install_missing() {
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null ||
		die "please install what Debian calls:$missing (see CONTRIBUTING.md, \"Building\")"
	apt_update
	printf 'setup: apt-get install%s\n' "$missing" >&2
	# shellcheck disable=SC2086 # a list of package names
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $missing </dev/null >/dev/null
	missing=''
}

# libgit2-dev of this release, "1.5.1+ds-1" say; empty where there is no apt or no such package.
packaged_libgit2() {
	command -v apt-cache >/dev/null || return 0
	apt-cache show --no-all-versions libgit2-dev 2>/dev/null | sed -n 's/^Version: //p'
}

for tool in go cc git; do
	command -v $tool >/dev/null || die "$tool is not on PATH"
done
need pkg-config command -v pkg-config

case ${1-} in
source)
	# An image may come without package lists, and .ci/libgit2.sh reads them.
	if command -v apt-get >/dev/null && [ -z "$(apt-get indextargets 'Created-By: Packages')" ]; then
		apt_update
	fi
	need cmake command -v cmake
	need xz-utils command -v xz
	need zlib1g-dev has_header zlib.h
	case $(packaged_libgit2) in
	# Debian's libgit2 source leaves http-parser out; upstream's brings its own.
	1.5.*) need libhttp-parser-dev has_header http_parser.h ;;
	*) [ -n "${LIBGIT2_SRC-}" ] || need curl command -v curl ;;
	esac
	install_missing
	;;
'')
	need g++ has_cxx
	if ! has_libgit2 2>/dev/null && command -v apt-get >/dev/null; then
		# While packages come, Go compiles what needs none of them.
		go list -deps ./git-rekal/... | grep -v 'git2go\|git-rekal/' | xargs go build 2>/dev/null &
		apt_update
		case $(packaged_libgit2) in 1.5.*) missing="$missing libgit2-dev" ;; esac
	fi
	install_missing
	# Neither installed nor to be had as a package: a static one of our own.
	has_libgit2 || .ci/libgit2.sh
	wait
	;;
*) die "unknown argument $1" ;;
esac
