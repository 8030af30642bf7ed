#!/bin/sh
# Installs a release of git-rekal below ~/.local, or below $PREFIX, once its checksum is right:
#
#   curl -fsSL https://github.com/git-rekal/git-rekal/releases/latest/download/install.sh | sh
#
# REKAL_RELEASE names where the packages lie (default: the latest release).
set -eu
from=${REKAL_RELEASE:-https://github.com/git-rekal/git-rekal/releases/latest/download}
prefix=${PREFIX:-$HOME/.local}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

die() {
	printf 'install: %s\n' "$*" >&2
	exit 1
}
get() { curl -fsSL "$from/$1" -o "$2" || die "$from/$1 can't be fetched"; }

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) die "there is no package for $(uname -s)" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no package for $(uname -m)" ;;
esac
command -v curl >/dev/null || die "curl is missing"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
get SHA256SUMS "$dir/SHA256SUMS"
line=$(grep -e "-$os-$arch\.tar\.gz\$" "$dir/SHA256SUMS") || die "$from has no package for $os-$arch"
file=${line##* }
get "$file" "$dir/$file"
cd "$dir"
if command -v sha256sum >/dev/null; then
	printf '%s\n' "$line" | sha256sum -c - >/dev/null || die "$file has another checksum than SHA256SUMS says: nothing was installed"
else
	printf '%s\n' "$line" | shasum -a 256 -c - >/dev/null || die "$file has another checksum than SHA256SUMS says: nothing was installed"
fi
tar -xzf "$file"
cd "${file%.tar.gz}"
former=$("$prefix/bin/git-rekal" version 2>/dev/null || :)
# Each file takes its place by a rename: a program that runs, as a server of an editor does, can't be written over.
find . -type d | while IFS= read -r name; do
	mkdir -p "$prefix/$name" 2>/dev/null || exit 1
done || die "$prefix can't be written: nothing was installed"
find . -type f | while IFS= read -r name; do
	cp -p "$name" "$prefix/$name.new" && mv -f "$prefix/$name.new" "$prefix/$name" || exit 1
done || die "$prefix can't be written: it may hold a part of the release"
printf 'installed %s in %s%s\n' "$("$prefix/bin/git-rekal" version)" "$prefix/bin" "${former:+ (was $former)}"
case :$PATH: in *":$prefix/bin:"*) ;; *) printf 'put %s on PATH\n' "$prefix/bin" ;; esac
