#!/bin/sh
# git-rekal beside hook managers that are really installed: husky and lefthook from npm (which
# needs the network), pre-commit and git-lfs where this machine has them. Each with `git rekal
# init` after the manager and before it, then a commit, an amend and a push, `git rekal clean`,
# and the manager taken away. `make hook-managers` runs it; it is no part of `make test`.
set -eu
bin=$(cd "${1:?usage: hook-managers.sh FOLDER-OF-GIT-REKAL}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" GIT_CONFIG_NOSYSTEM=1 PATH="$work/node_modules/.bin:$bin:$PATH" LC_ALL=C CI= REKAL_EMBED=off
export PRE_COMMIT_HOME="$work/pre-commit" NO_UPDATE_NOTIFIER=1
names='post-commit post-merge post-applypatch post-rewrite pre-push'
mkdir "$HOME"
git config --global user.name Alice
git config --global user.email alice@example.com
git config --global init.defaultBranch main

fail() {
	printf 'FAILED: %s: %s\n' "$case" "$*" >&2
	exit 1
}

# new NAME: an empty project with a remote, in which a hook of the manager's will write to "ran".
new() {
	case=$1
	printf '%s\n' "$case"
	rm -rf "$work/repo" "$work/remote.git" "$HOME/.claude"
	git init -q --bare "$work/remote.git"
	git init -q "$work/repo"
	cd "$work/repo"
	git remote add origin ../remote.git
	printf '%s\n' ran stdin node_modules >.gitignore
	git add .
	git commit -q -m 'First commit'
	sessions=0
}

# session: one more session in this project.
session() {
	sessions=$((sessions + 1))
	folder="$HOME/.claude/projects/$(printf %s "$work/repo" | tr -c 0-9A-Za-z -)"
	mkdir -p "$folder"
	for role in user assistant; do
		printf '{"type":"%s","uuid":"%s-%s","sessionId":"s%s","cwd":"%s","timestamp":"%s","version":"2","gitBranch":"main","isSidechain":false,"userType":"external","message":{"role":"%s","content":"session %s"}}\n' \
			$role $sessions $role $sessions "$work/repo" "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" $role $sessions
	done >"$folder/s$sessions.jsonl"
}

# captured WHAT: every session so far is in the ledger, without the help of a command.
captured() {
	n=$(git log -p --format= "rekal/alice@example.com" | grep -c '^+{"t":"session"') || true
	[ "$n" = $sessions ] || fail "$1: $n of $sessions sessions were captured"
}

# works HOOK…: commits, amends and pushes are captured, and the manager's hooks ran.
works() {
	session
	echo more >>a.txt
	git add .
	git commit -q -m More >log 2>&1 || fail "commit: $(cat log)"
	captured commit
	old=$(git rev-parse HEAD)
	session
	git commit -q --amend -m 'More of it' >log 2>&1 || fail "amend: $(cat log)"
	captured amend
	git rekal --commit "$old" | grep -q '"total":2' || fail 'the amended commit is not found by its former name'
	session
	: >ran
	: >stdin
	git push -q --force origin main >log 2>&1 || fail "push: $(cat log)"
	captured push
	for hook; do
		case $hook in
		pre-push)
			grep -q '^pre-push.*origin' ran || fail "the manager's pre-push did not run with its arguments"
			grep -q '^refs/heads/main [0-9a-f]* refs/heads/main ' stdin || fail "the manager's pre-push got no stdin"
			;;
		esac
	done
	rm -f log
}

# refuses: the exit status of the manager's pre-push still counts.
refuses() {
	touch refuse
	git commit -q --allow-empty -m Refused >log 2>&1
	if git push -q origin main >log 2>&1; then fail "the manager's pre-push could not refuse"; fi
	rm -f refuse log
}

# init: as a person would, heeding the hint. What it says stays in $work/hint.
init() {
	git rekal init >log 2>"$work/hint" || fail "init: $(cat "$work/hint")"
	rm -f log
}

# ours FOLDER: how many of our scripts, in whichever place.
ours() { grep -l 'git-rekal: the' "$1"/* 2>/dev/null | wc -l; }

# clean: nothing of ours is left in the hooks folder.
clean() {
	git rekal clean >log 2>&1 || fail "clean: $(cat log)"
	[ "$(ours .git/hooks)" -eq 0 ] || fail "clean left $(grep -l 'git-rekal: the' .git/hooks/*)"
	[ ! -e .git/rekal ] || fail 'clean left .git/rekal'
	rm -f log
	session
	git commit -q --allow-empty -m 'After clean' >log 2>&1 || fail "commit after clean: $(cat log)"
	sessions=$((sessions - 1))
	captured 'clean, then commit'
	rm -f log "$folder"/*.jsonl
}

hook_body='printf "%s\n" "pre-push $*" >>ran; cat >>stdin; [ ! -e refuse ]'

husky_setup() {
	printf '%s\n' "$hook_body" >.husky/pre-push
}

# The lines that the hint names, each into its file: "    .husky/pre-push:  LINE".
husky_follow() {
	grep -q '^    .husky/' "$work/hint" || fail "no hint: $(cat "$work/hint")"
	sed -n 's/^    \(\.husky\/[a-z-]*\):  \(.*\)/\1 \2/p' "$work/hint" | while read -r file line; do
		printf '%s\n' "$line" >>"$file"
	done
}

husky_cases() {
	new 'husky, then init'
	husky
	husky_setup
	init
	husky_follow
	works pre-push
	refuses
	husky # again, as at every npm install
	works pre-push
	init
	! grep -q 'no hooks were written' "$work/hint" || fail 'the hint stays although it was followed'
	clean
	git config --unset core.hooksPath

	new 'init, then husky'
	init
	works
	husky
	husky_setup
	init
	husky_follow
	works pre-push
	clean
	git config --unset core.hooksPath
	for name in $names; do [ ! -e ".git/hooks/$name" ] || fail "$name is left"; done
}

lefthook_setup() {
	cat >lefthook.yml <<-'END'
		post-commit:
		  commands:
		    mine:
		      run: "true"
		pre-push:
		  commands:
		    mine:
		      run: printf "%s\n" "pre-push {0}" >>ran; cat >>stdin; [ ! -e refuse ]
		      use_stdin: true
	END
	git add .
	git commit -q -m 'Use lefthook' >log 2>&1
	lefthook install >log 2>&1 || fail "lefthook install: $(cat log)"
	rm -f log
}

lefthook_follow() {
	sed -n '/lefthook-local.yml/,/^git-rekal/s/^    //p' "$work/hint" >lefthook-local.yml
	grep -q 'git-rekal hook pre-push' lefthook-local.yml || fail "no hint: $(cat "$work/hint")"
}

lefthook_cases() {
	new 'lefthook, then init'
	lefthook_setup
	init
	works pre-push
	refuses
	lefthook_follow
	lefthook install >log 2>&1
	works pre-push
	refuses
	init
	! grep -q lefthook "$work/hint" || fail 'the hint stays although it was followed'
	works pre-push
	rm lefthook-local.yml
	lefthook install >log 2>&1
	clean
	lefthook uninstall >log 2>&1
	for name in $names; do [ ! -e ".git/hooks/$name" ] || fail "$name is left"; done

	new 'init, then lefthook'
	init
	works
	lefthook_setup
	init
	works pre-push
	clean
	lefthook uninstall >log 2>&1
	for name in $names; do [ ! -e ".git/hooks/$name" ] || fail "$name is left"; done
}

pre_commit_setup() {
	cat >.pre-commit-config.yaml <<-'END'
		repos:
		- repo: local
		  hooks:
		  - {id: mine, name: mine, language: system, stages: [push], always_run: true, pass_filenames: false, verbose: true,
		     entry: 'sh -c "echo pre-push $PRE_COMMIT_REMOTE_NAME >>ran; echo $PRE_COMMIT_LOCAL_BRANCH 0 $PRE_COMMIT_REMOTE_BRANCH x >>stdin; [ ! -e refuse ]"'}
		  - {id: after, name: after, language: system, stages: [post-commit], always_run: true, entry: 'true'}
	END
	git add .
	git commit -q --allow-empty -m 'Use pre-commit' >log 2>&1
	for type in pre-commit pre-push post-commit post-rewrite; do
		pre-commit install -t "$type" >log 2>&1 || fail "pre-commit install: $(cat log)"
	done
	rm -f log
}

pre_commit_away() {
	for type in pre-commit pre-push post-commit post-rewrite; do
		pre-commit uninstall -t "$type" >log 2>&1 || fail "pre-commit uninstall: $(cat log)"
	done
	rm -f log
}

pre_commit_cases() {
	new 'pre-commit, then init'
	pre_commit_setup
	init
	works pre-push
	refuses
	pre_commit_setup # again
	works pre-push
	clean
	pre_commit_away
	for name in $names; do [ ! -e ".git/hooks/$name" ] || fail "$name is left"; done

	new 'init, then pre-commit'
	init
	works
	pre_commit_setup
	works pre-push # without another init
	init
	works pre-push
	pre_commit_away
	init
	works
	clean
	for name in $names; do [ ! -e ".git/hooks/$name" ] || fail "$name is left"; done
}

lfs_cases() {
	new 'git-lfs, then init'
	git lfs install --local >log 2>&1
	init
	works
	git lfs update --force >log 2>&1 # writes its hooks anew, over whatever is there
	init
	works
	clean
	grep -q 'git lfs pre-push' .git/hooks/pre-push || fail "git-lfs's own hook is gone"

	new 'init, then git-lfs'
	init
	git lfs install --local --force >log 2>&1
	init
	works
	clean
	grep -q 'git lfs pre-push' .git/hooks/pre-push || fail "git-lfs's own hook is gone"
}

cd "$work"
printf '{"private":true}\n' >package.json
npm install --silent --no-audit --no-fund husky lefthook >npm.log 2>&1 || {
	cat npm.log >&2
	exit 1
}
printf 'husky %s, lefthook %s\n' "$(sed -n 's/.*"version": "\(.*\)".*/\1/p' node_modules/husky/package.json)" "$(lefthook version)"
husky_cases
lefthook_cases
if command -v pre-commit >/dev/null; then pre_commit_cases; else echo 'pre-commit: not on this machine, left out'; fi
if git lfs version >/dev/null 2>&1; then lfs_cases; else echo 'git-lfs: not on this machine, left out'; fi
echo 'all hook managers: as it should be'
