#!/bin/sh
# git-rekal: the {{.Name}} hook. `git rekal init` wrote it, `git rekal clean` removes it.
# A hook that stood here before is now {{.Name}}.pre-rekal: it runs first, and its exit
# status is this script's. What git-rekal does afterwards never fails or stops git.
{{- if .Stdin}}
# Both get the lines that git writes to stdin.
{{- end}}
# REKAL_SKIP=1 leaves git-rekal out; so does a binary that is not there.
# The next line tells whether somebody edited this file.
# git-rekal: sum @SUM@
rekal_bin={{.Binary}}
rekal_old=${0%/*}/{{.Name}}.pre-rekal
rekal_exit=0
case $0 in
*/{{.Name}}) ;;
*)
	# A hook manager moved this file and calls it from its own hook. If an older copy
	# of that hook is what runs first here, the two would call each other for ever.
	[ -z "$REKAL_MOVED" ] || exit 0
	REKAL_MOVED=1
	export REKAL_MOVED
	;;
esac
if [ "${REKAL_SKIP:-0}" != 0 ]; then
	rekal_bin=
elif command -v git-rekal >/dev/null 2>&1; then
	rekal_bin=git-rekal
elif [ ! -x "$rekal_bin" ]; then
	rekal_bin=
fi
{{- if .Stdin}}
if [ ! -f "$rekal_old" ] || [ ! -x "$rekal_old" ]; then
	[ -z "$rekal_bin" ] || "$rekal_bin" hook {{.Name}} "$@"
	exit 0
fi
[ -n "$rekal_bin" ] || exec "$rekal_old" "$@"
# $(…) drops trailing newlines; the dot keeps them, and keeps empty input empty.
rekal_in=$(cat; echo .)
rekal_in=${rekal_in%.}
printf %s "$rekal_in" 2>/dev/null | "$rekal_old" "$@" || rekal_exit=$?
{{- if .Refuses}}
# That hook refused the push: nothing of ours may be sent beside it.
[ "$rekal_exit" = 0 ] || exit "$rekal_exit"
{{- end}}
printf %s "$rekal_in" 2>/dev/null | "$rekal_bin" hook {{.Name}} "$@"
{{- else}}
if [ -f "$rekal_old" ] && [ -x "$rekal_old" ]; then
	"$rekal_old" "$@" || rekal_exit=$?
fi
[ -z "$rekal_bin" ] || "$rekal_bin" hook {{.Name}} "$@" </dev/null
{{- end}}
exit $rekal_exit
