#!/bin/sh
# Shows the main job with bin/git-rekal: init, a commit that the hook captures, checkpoint,
# recall, reading on, log, clean. `make demo` builds and runs it.
#
# It works in a temporary folder with a home of its own, so that neither your git settings
# nor your sessions are touched. The project and the transcripts are in tests/testdata/demo.
# It fails when a step fails, or when recall does not find the right session first.
set -eu
cd "$(dirname "$0")/.."
sample=${REKAL_SAMPLE:-$PWD/tests/testdata/demo}
PATH=$PWD/bin:$PATH

for name in $(env | sed -n 's/^\([A-Z][A-Z0-9_]*\)=.*/\1/p'); do
	case $name in
	GIT_* | REKAL_* | CLAUDE_* | XDG_* | CI) unset "$name" ;;
	esac
done
place=$(mktemp -d "${TMPDIR:-/tmp}/rekal-demo.XXXXXX")
place=$(cd "$place" && pwd -P)
HOME=$place/home GIT_CONFIG_NOSYSTEM=1 TZ=UTC REKAL_EMBED=off
export PATH HOME GIT_CONFIG_NOSYSTEM TZ REKAL_EMBED
mkdir "$HOME" "$place/tenants"
git config --global user.name 'Alice Example'
git config --global user.email alice@example.com
git config --global init.defaultBranch main

# show COMMAND: prints and runs it.
show() {
	printf '\n$ %s\n' "$1"
	eval "$1"
}

say() { printf '\n# %s\n' "$*"; }

# agent NAME [LINES]: the sample session NAME, or its first LINES lines, appears where Claude
# Code would have written it.
agent() {
	folder=$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$folder"
	id=$(sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p;q' "$sample/$1.jsonl")
	sed "s|@CWD@|$(pwd -P)|g" "$sample/$1.jsonl" | sed "${2:-\$}q" >"$folder/$id.jsonl"
}

cd "$place/tenants"
say 'A project with some history, made with Claude Code before git-rekal was there.'
git init -q
cp -R "$sample/project/." .
git add .
GIT_COMMITTER_DATE=2026-03-02T08:00:00Z git commit -q -m 'Add tenants'
cp -R "$sample/export-change/." .
agent export
GIT_COMMITTER_DATE=2026-03-02T09:08:00Z git commit -q -a -m 'Stream the CSV export'
show 'git log --oneline'

say 'Set up once. What the agent recorded is imported and tied to the commits that it made.'
show 'git rekal init'

say 'Work with the agent on a bug, and commit as ever. The hook captures the session.'
agent jwt 26
cp -R "$sample/jwt-change/." .
show 'git add . && git commit -m "Read expires_at as UTC, allow 30 s of leeway"'

say 'The conversation goes on; a checkpoint by hand takes the rest.'
agent jwt
show 'git rekal checkpoint'

say 'Weeks later: why does the check allow 30 seconds? Recall answers in JSON, for agents.'
show 'git rekal "JWT expiry"'
answer=$(git rekal "JWT expiry")
session=$(printf '%s' "$answer" | sed 's/.*"results":\[{"id":"\([^"]*\)".*/\1/')
case $answer in
*'"results":[{"id":"'"$session"'","kind":"session",'*'"title":"Fix JWT expiry in other time zones"'*) ;;
*)
	echo 'demo: recall did not find the session on JWT expiry first' >&2
	exit 1
	;;
esac

say 'Read on where the decision was made.'
show "git rekal query --session $session --offset 7 --limit 3"

say 'By file, and as a log.'
show "git rekal --file '^export/'"
show 'git rekal log -n 2'

say 'Take it all out again. The ledger stays, with all that was captured.'
show 'git rekal clean'
show 'git status --short'

cat <<END

This ran in $place/tenants
(rm -r $place removes it).
Try it on a project of yours: make install, then in the project
    git rekal init
    git rekal "a few words about something you worked on with Claude Code"
END
