#!/bin/sh
# Puts a page on a pull request as a comment. The one of an earlier run is edited: it begins with the page's first line, and AUTHOR wrote it.
# Needs curl and jq:
#
#   HOST=github|gitea|gitlab|bitbucket COMMENTS=URL TOKEN=… [AUTHOR='NAME NAME'] sh comment.sh page.md
#
# COMMENTS is where the host's API lists the comments of the pull request. Without AUTHOR it is who the token says (GitLab), or anybody.
set -eu
page=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
auth="Authorization: Bearer $TOKEN" edit=PATCH at=$COMMENTS paging='per_page=100&page=' list=. text=.body by=.user.login body='{body: .}'
case $HOST in
github) at=${COMMENTS%/*/comments}/comments ;;
gitea) at=${COMMENTS%/*/comments}/comments auth="Authorization: token $TOKEN" paging= ;; # it lists all at once
gitlab) auth="PRIVATE-TOKEN: $TOKEN" edit=PUT by=.author.username ;;
bitbucket) edit=PUT paging='pagelen=100&page=' list=.values text=.content.raw by=.user.nickname body='{content: {raw: .}}' ;;
*) echo "comment.sh: unknown host: $HOST" >&2 && exit 2 ;;
esac

# call METHOD URL [FILE] speaks to the host; the token stays out of the list of processes.
call() {
	printf 'header = "%s"\n' "$auth" | curl --config - --silent --show-error --fail --max-time 60 --request "$1" \
		--header 'Content-Type: application/json' ${3:+--data-binary "@$3"} "$2"
}

[ "$HOST" != gitlab ] || AUTHOR=${AUTHOR:-$(call GET "${COMMENTS%%/projects/*}/user" | jq -r .username)}
jq -Rs "$body" "$page" >"$work/body"
n=1
while :; do
	call GET "$COMMENTS${paging:+?$paging$n}" >"$work/list"
	id=$(jq -r --arg mark "$(head -n 1 "$page")" --arg by "${AUTHOR-}" "[$list[] | select((($text // \"\") | startswith(\$mark))
		and (\$by == \"\" or ($by as \$one | \$by | split(\" \") | index(\$one) != null)))][0].id // empty" "$work/list")
	[ -z "$id" ] && [ -n "$paging" ] && [ "$(jq "$list | length" "$work/list")" -eq 100 ] || break
	n=$((n + 1))
done
if [ -n "$id" ]; then
	call "$edit" "$at/$id" "$work/body" >/dev/null
else
	call POST "$COMMENTS" "$work/body" >/dev/null
fi
