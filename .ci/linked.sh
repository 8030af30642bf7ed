#!/bin/sh
# linked.sh BINARY: shows what BINARY is linked to at run time, and fails when libgit2 is
# among it.
set -eu
command -v readelf >/dev/null || exit 0 # not Linux: nothing to ask
libs=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
printf '%s needs\n%s\n' "$1" "$libs"
case $libs in
*libgit2*)
	echo "$1 needs libgit2 at run time: it is not a release" >&2
	exit 1
	;;
esac
