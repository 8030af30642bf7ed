#!/bin/sh
# Builds libgit2 1.5 from source as a small static library in .build/libgit2. No ssh and no https: git-rekal
# leaves the network to git, and starts faster without. Does nothing when the library is already there.
#
# The source is the first of
#   LIBGIT2_SRC=FILE   a libgit2 1.5.x source tarball that you checked yourself
#   apt                where the release packages libgit2 1.5 (Debian 12), the newest source
#                      it still serves, with Debian's security patches; apt checks signatures
#   curl               upstream's 1.5.2, checked against the checksum below, without the
#                      security fixes that Debian added to its 1.5.1
#
# With CROSS=aarch64-linux-gnu it is one for that Linux, in .build/libgit2-aarch64-linux-gnu: made with Debian's compiler for it, and with
# the libraries that Debian has for it.
set -eu
cd "$(dirname "$0")/.."

# The sum that public packaging recipes agree on for this tarball (Homebrew formulae among
# them); never yet compared with a download of our own.
upstream=https://github.com/libgit2/libgit2/archive/refs/tags/v1.5.2.tar.gz
upstream_sha256=57638ac0e319078f56a7e17570be754515e5b1276d3750904b4214c92e8fa196

CROSS=${CROSS-}
prefix=$PWD/.build/libgit2${CROSS:+-$CROSS}
work=$prefix-work
cc=cc cxx=c++
[ -z "$CROSS" ] || cc=$CROSS-gcc cxx=$CROSS-g++

say() { printf 'libgit2: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# fetch_apt leaves ORIG.tar.* and DEBIAN.tar.* in $work/src. It asks apt with a source list
# of its own, so that the system's lists stay as they are and root is not needed.
fetch_apt() {
	command -v apt-get >/dev/null || return 1
	case $(apt-cache show --no-all-versions libgit2-dev 2>/dev/null) in
	*"Version: 1.5."*) ;;
	*) return 1 ;;
	esac
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	# shellcheck disable=SC2016 # the fields are apt's
	apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' | sort -u >"$work/apt/sources.list"
	set -- -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
		-o APT::Sandbox::User="$(id -un)"
	apt-get "$@" update -qq </dev/null || return 1
	# The index may name a version whose files the mirror does not have: then the next one.
	for v in $(apt-cache "$@" showsrc libgit2 | sed -n 's/^Version: \(1\.5\..*\)/\1/p' | sort -rVu); do
		if (cd "$work/src" && apt-get "$@" source -qq --download-only "libgit2=$v" </dev/null) \
			>>"$work/apt/log" 2>&1; then
			say "source: Debian's $v"
			return
		fi
	done
	return 1
}

# needed leaves in $work/root what libgit2 needs of the system that it is made for.
needed() {
	[ -n "$CROSS" ] || return 0
	command -v "$cxx" >/dev/null || die "$cxx is missing: apt-get install g++-$CROSS"
	arch=$(dpkg-architecture -f -t "$CROSS" -q DEB_TARGET_ARCH)
	mkdir -p "$work/foreign/lists/partial" "$work/foreign/cache/archives/partial" "$work/root"
	# shellcheck disable=SC2016 # the fields are apt's
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' | sort -u >"$work/foreign/sources.list"
	set -- -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State::status=/dev/null \
		-o Dir::Etc::SourceList="$work/foreign/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/foreign/lists" -o Dir::Cache="$work/foreign/cache" -o APT::Sandbox::User="$(id -un)"
	apt-get "$@" update -qq </dev/null
	(cd "$work/foreign" && apt-get "$@" download -qq zlib1g-dev libhttp-parser-dev </dev/null >/dev/null)
	for package in "$work/foreign"/*.deb; do dpkg -x "$package" "$work/root"; done
}

fetch_upstream() {
	command -v curl >/dev/null || return 1
	curl -fsSL -o "$work/src/libgit2.tar.gz" "$upstream" || return 1
	echo "$upstream_sha256  $work/src/libgit2.tar.gz" | $sha256 -c >&2 || die "$upstream: wrong checksum"
	say "source: $upstream"
}

# $sha256 -c checks a list of sums on its input; alone it computes one.
sha256=sha256sum
command -v sha256sum >/dev/null || sha256='shasum -a 256'

fetch() {
	if [ -n "${LIBGIT2_SRC-}" ]; then
		cp "$LIBGIT2_SRC" "$work/src/"
		say "source: $LIBGIT2_SRC"
	else
		fetch_apt || fetch_upstream ||
			die "no source: give a libgit2 1.5.x tarball as LIBGIT2_SRC=FILE"
	fi
}

# unpack leaves the patched source in $work/tree.
unpack() {
	mkdir "$work/tree"
	for t in "$work"/src/*.tar.*; do
		case $t in
		*.debian.tar.*) tar -xf "$t" -C "$work/tree" ;;
		*.asc) ;;
		*) tar -xf "$t" -C "$work/tree" --strip-components=1 ;;
		esac
	done
	[ -f "$work/tree/debian/patches/series" ] || return 0
	# Inside our own work tree git would skip the patches without a word.
	sed 's/[[:space:]#].*//; /^$/d' "$work/tree/debian/patches/series" | while read -r p; do
		(cd "$work/tree" && GIT_CEILING_DIRECTORIES=$work git apply "debian/patches/$p") ||
			die "patch $p does not apply"
	done
}

build() {
	parser=builtin
	[ -d "$work/tree/deps/http-parser" ] || parser=system
	set --
	[ -z "$CROSS" ] || set -- -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${CROSS%%-*}" -DCMAKE_C_COMPILER="$cc" \
		-DCMAKE_FIND_ROOT_PATH="$work/root/usr" -DCMAKE_PREFIX_PATH="$work/root/usr" -DCMAKE_LIBRARY_ARCHITECTURE="$CROSS"
	cmake "$@" -S "$work/tree" -B "$work/obj" -DCMAKE_INSTALL_PREFIX="$prefix" \
		-DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
		-DBUILD_SHARED_LIBS=OFF -DBUILD_TESTS=OFF -DBUILD_CLI=OFF -DUSE_SSH=OFF -DUSE_HTTPS=OFF \
		-DUSE_GSSAPI=OFF -DREGEX_BACKEND=regcomp -DUSE_HTTP_PARSER=$parser
	cmake --build "$work/obj" --parallel "$(getconf _NPROCESSORS_ONLN)" --target install
}

# The linker prefers a shared library of a directory over a static one, so the static ones
# that libgit2 needs are put beside it, where nothing shared lies; on Linux the C++ library, too. licenses/NAME.a is the licence of NAME.a.
gather() {
	for l in libz.a:zlib1g-dev libhttp_parser.a:libhttp-parser-dev; do
		a=$work/root/usr/lib/$CROSS/${l%:*}
		[ -n "$CROSS" ] || a=$(cc -print-file-name="${l%:*}")
		[ "$a" = "${l%:*}" ] || { cp "$a" "$prefix/lib/" && licence "${l%:*}" "${l#*:}"; }
	done
	a=$("$cxx" -print-file-name=libstdc++.a)
	[ "$a" = libstdc++.a ] || { mkdir "$prefix/cxx" && ln -s "$a" "$prefix/cxx/" && licence libstdc++.a "libstdc++6"; }
}

# licence LIBRARY PACKAGE keeps what Debian's PACKAGE says of copyright, for .ci/sbom.go, which misses what is missing.
licence() {
	for doc in "$work/root/usr/share/doc" /usr/share/doc; do
		[ ! -f "$doc/$2/copyright" ] || { cp "$doc/$2/copyright" "$prefix/licenses/$1" && break; }
	done
}

if [ -f "$prefix/id" ]; then exit 0; fi
.ci/setup.sh source
rm -rf "$work" "$prefix"
mkdir -p "$work/src"
needed
fetch
unpack
say "building (log: $work/log)"
build >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; die "the build failed"; }
mkdir "$prefix/licenses"
cat "$work/tree/COPYING" "$work"/tree/deps/*/COPYING* "$work"/tree/deps/*/LICENSE* >"$prefix/licenses/libgit2.a" 2>/dev/null || : # some have no deps
gather
# The Makefile hands the id to the C compiler, see there: other library or place, other id.
(echo "$prefix" && cat "$prefix"/lib/*.a) | $sha256 | cut -c1-12 >"$prefix/id"
mv "$work/log" "$prefix/log"
rm -rf "$work"
say "built $(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/libgit2.pc") in $prefix"
