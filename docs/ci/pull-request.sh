#!/bin/sh
# Prints, as Markdown, the sessions behind a pull request. It runs nothing of it, needs no token but git's, and sends nothing.
# Run it in the checkout that the host made, which may be shallow, with git-rekal on the PATH:
#
#   BASE=BRANCH-OR-SHA [HEAD=SHA] [COMMITS=N] sh pull-request.sh >page.md
#
# HEAD is what is checked out, COMMITS how many commits the pull request has: 50, unless it says another number.
set -eu
depth=
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
	depth=--depth=$((${COMMITS:-50} + 1))
	git fetch --quiet "$depth" origin "${HEAD:=$(git rev-parse HEAD)}"
fi
git fetch --quiet ${depth:+"$depth"} origin "$BASE"
base=$(git rev-parse FETCH_HEAD)
git fetch --quiet origin '+refs/heads/rekal/*:refs/remotes/origin/rekal/*'
git config user.name >/dev/null || git config user.name CI
git config user.email >/dev/null || git config user.email ci@localhost
git rekal init >&2
git rekal show --md "$base..${HEAD:-HEAD}"
