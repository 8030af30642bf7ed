#!/bin/sh
# release.sh DIR: writes SHA256SUMS of the packages in DIR, of one system or several, and where they are of all systems
# the Homebrew formula for them. The release workflow calls it on what each system's `make dist` made.
set -eu
cd "$(dirname "$0")"
formula=$PWD/git-rekal.rb.in
cd "../$1"

sum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
rm -f SHA256SUMS git-rekal.rb
sums=$(sum -- * | LC_ALL=C sort -k 2)

version=$(ls | sed -n 's/^git-rekal-\(.*\)-linux-amd64\.tar\.gz$/\1/p')
text=$(sed "s/@VERSION@/$version/g" "$formula")
for system in darwin-arm64 darwin-amd64 linux-arm64 linux-amd64; do
	one=$(printf '%s\n' "$sums" | sed -n "s/^\([0-9a-f]*\) .*-$system\.tar\.gz$/\1/p")
	[ -z "$one" ] || text=$(printf '%s\n' "$text" | sed "s/@$system@/$one/")
done
printf '%s\n' "$sums" >SHA256SUMS
case $text in *@*-*@*) ;; *) printf '%s\n' "$text" >git-rekal.rb ;; esac
