#!/bin/sh
# Prints, as Markdown, the sessions behind a pull request. It runs nothing of it, needs no token but git's, and sends nothing.
# Run it in the checkout that the host made, which may be shallow, with git-rekal on the PATH:
#
#   BASE=BRANCH-OR-SHA [HEAD=SHA] [COMMITS=N] [BASE_NAME=main] [HEAD_NAME=topic] sh pull-request.sh >page.md
#
# HEAD is what is checked out, COMMITS how many commits the pull request has: 50, unless it says another number. The names are for the title.
# comment.sh knows the page's comment again by the first line, which no host shows.
set -eu
depth=
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
	depth=--depth=$((${COMMITS:-50} + 1))
	git fetch --quiet "$depth" origin "${HEAD:=$(git rev-parse HEAD)}"
fi
git fetch --quiet ${depth:+"$depth"} origin "$BASE"
base=$(git rev-parse FETCH_HEAD) head=$(git rev-parse "${HEAD:-HEAD}")
git fetch --quiet origin '+refs/heads/rekal/*:refs/remotes/origin/rekal/*'
git config user.name >/dev/null || git config user.name CI
git config user.email >/dev/null || git config user.email ci@localhost
git rekal init >&2
page=$(git rekal show --md "$base..$head")
names=$(printf '%s..%s' "${BASE_NAME:-$BASE}" "${HEAD_NAME:-$(git rev-parse --short "$head")}" | tr -d '`')
commits=$(printf '%s\n' "$page" | sed -n '3s/.*; \([0-9,]* commits*\) .*/, \1/p')
printf '[git-rekal]: # (sessions)\n\n## The sessions behind `%s`%s\n' "$names" "$commits"
printf '%s\n' "$page" | tail -n +2
printf '\nTo read on, in a clone with git-rekal: `git fetch`, then `git rekal show %.12s..%.12s`, or `git rekal show ID` for a whole session.\n' "$base" "$head"
git rekal check "$base..$head" >&2 || : # what commits say of agents; in a step of its own, without "|| :", it fails the job
