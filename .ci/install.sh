#!/bin/sh
# Installs a release of git-rekal below ~/.local, or below $PREFIX, once its checksum is right:
#
#   curl -fsSL https://github.com/git-rekal/git-rekal/releases/latest/download/install.sh | sh
#
# REKAL_RELEASE names where the packages lie (default: the latest release).
set -eu
from=${REKAL_RELEASE:-https://github.com/git-rekal/git-rekal/releases/latest/download}
prefix=${PREFIX:-$HOME/.local}

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
mkdir -p "$prefix"
cp -R "${file%.tar.gz}/." "$prefix/"
printf 'installed %s in %s\n' "$("$prefix/bin/git-rekal" version)" "$prefix/bin"
case :$PATH: in *":$prefix/bin:"*) ;; *) printf 'put %s on PATH\n' "$prefix/bin" ;; esac
