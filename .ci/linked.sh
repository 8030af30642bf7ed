#!/bin/sh
# linked.sh BINARY: shows what BINARY is linked to at run time, and fails when libgit2 is
# among it.
set -eu
command -v ldd >/dev/null || exit 0 # not Linux: nothing to ask
libs=$(ldd "$1")
printf 'ldd %s\n%s\n' "$1" "$libs"
case $libs in
*libgit2*)
	echo "$1 needs libgit2 at run time: it is not a release" >&2
	exit 1
	;;
esac
