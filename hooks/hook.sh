#!/bin/sh
# git-rekal hook {{.Name}}: `git rekal init` wrote it, `git rekal clean` removes it.
# A hook that stood here before is now {{.Name}}.pre-rekal: it runs first, and its exit
# status is this script's. What git-rekal does afterwards never fails or stops git.
# Git LFS needs no hook of its own here, whatever `git lfs install` says: where it is in use, this one runs it first.
# Each gets the lines that git writes to stdin.
# REKAL_SKIP=1 leaves git-rekal out; so does a binary that is not there.
# The next line tells whether somebody edited this file.
# git-rekal: sum @SUM@
rekal_hook={{.Name}}
rekal_bin={{.Binary}}
rekal_git=${0%/*}/{{.GitDir}}
rekal_old=${0%/*}/$rekal_hook.pre-rekal
rekal_exit=0
case $0 in
*/"$rekal_hook") ;;
*)
	# A hook manager moved this file and calls it from its own hook. If an older copy
	# of that hook is what runs first here, the two would call each other for ever.
	[ -z "$REKAL_MOVED" ] || exit 0
	REKAL_MOVED=1
	export REKAL_MOVED
	;;
esac
rekal_first() { "$rekal_old" "$@"; }
if [ ! -f "$rekal_old" ] || [ ! -x "$rekal_old" ]; then
	rekal_old=
	case $rekal_hook in
	pre-push | post-checkout | post-commit | post-merge)
		rekal_first() { git lfs "$rekal_hook" "$@"; }
		if command -v git-lfs >/dev/null 2>&1; then
			if [ -d "$rekal_git/lfs" ] || git config lfs.storage >/dev/null; then
				rekal_old=lfs
			fi
		elif [ "$rekal_hook" = pre-push ] && [ -d "$rekal_git/lfs/objects" ]; then
			echo "git-rekal: this repository uses Git LFS, but git-lfs is not on PATH: install it, or remove .git/lfs" >&2
			exit 2
		fi
		;;
	esac
fi
rekal_ran=$rekal_git/rekal/ran
if [ "$rekal_hook" = post-checkout ]; then
	rekal_bin= # it is for Git LFS alone
elif [ -f "$rekal_ran" ] && read -r rekal_line <"$rekal_ran" && [ "$rekal_line" = "$PPID $rekal_hook" ]; then
	rekal_bin= # a git that knows configured hooks has run this one already, as one of those
elif [ "$rekal_hook" = commit-msg ] && [ ! -f "$rekal_git/rekal/trailers" ]; then
	rekal_bin= # the hook before this one leaves them there, if the message was not written yet
elif [ "${REKAL_SKIP:-0}" != 0 ]; then
	rekal_bin=
elif command -v git-rekal >/dev/null 2>&1; then
	rekal_bin=git-rekal
elif [ ! -x "$rekal_bin" ]; then
	rekal_bin=
fi
case $rekal_hook in
post-rewrite | pre-push) ;;
*)
	[ -z "$rekal_old" ] || rekal_first "$@" || rekal_exit=$?
	[ -z "$rekal_bin" ] || "$rekal_bin" hook "$rekal_hook" "$@" </dev/null
	exit $rekal_exit
	;;
esac
if [ -z "$rekal_old" ]; then
	[ -z "$rekal_bin" ] || "$rekal_bin" hook "$rekal_hook" "$@"
	exit 0
fi
if [ -z "$rekal_bin" ]; then
	rekal_first "$@"
	exit
fi
# $(…) drops trailing newlines; the dot keeps them, and keeps empty input empty.
rekal_in=$(cat; echo .)
rekal_in=${rekal_in%.}
printf %s "$rekal_in" 2>/dev/null | rekal_first "$@" || rekal_exit=$?
# If that hook refused the push, nothing of ours may be sent beside it.
[ "$rekal_hook" != pre-push ] || [ "$rekal_exit" = 0 ] || exit "$rekal_exit"
printf %s "$rekal_in" 2>/dev/null | "$rekal_bin" hook "$rekal_hook" "$@"
exit $rekal_exit
