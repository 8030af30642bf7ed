#!/bin/sh
# Coding agents as they come from npm, run without a network against a scripted model: tests/agents has what is looked at.
# `make agents` runs it; it is no part of `make test`. AGENTS='codex gemini-cli' takes a part. The first time needs
# the network, and 2 GB in .build/agents. Node comes with them: Pi needs a newer one than Debian 12 has.
set -eu
bin=$(cd "${1:?usage: agents.sh FOLDER-OF-GIT-REKAL}" && pwd)
cd "$(dirname "$0")/.."
dir=.build/agents
packages='node@22.23.3 @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @github/copilot@1.0.102 @qwen-code/qwen-code@0.24.4 @earendil-works/pi-coding-agent@1.6.0 cline@3.0.65 @kilocode/cli@7.7.7 droid@0.215.0 @continuedev/cli@1.5.47'

command -v npm >/dev/null || {
	echo 'agents: npm is missing: apt-get install nodejs npm' >&2
	exit 1
}
mkdir -p "$dir"
if [ "$(cat "$dir/installed" 2>/dev/null)" != "$packages" ]; then
	echo "agents: installing $packages" >&2
	# shellcheck disable=SC2086 # one argument each
	npm install --silent --no-audit --no-fund --prefix "$dir" $packages
	echo "$packages" >"$dir/installed"
fi
go test -c -o "$dir/agents.test" ./tests/agents
export AGENTS AGENTS_BIN="$bin" AGENTS_NPM="$PWD/$dir/node_modules"
set -- "$PWD/$dir/agents.test" -test.v -test.timeout 2h
if unshare -rn true 2>/dev/null && command -v ip >/dev/null; then
	# shellcheck disable=SC2016 # for the shell inside
	exec unshare -rn sh -c 'ip link set lo up && exec "$@"' agents "$@"
fi
echo 'agents: no namespaces here: the agents could reach the network' >&2
exec "$@"
