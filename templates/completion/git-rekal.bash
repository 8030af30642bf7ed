# bash completion of git-rekal, also as "git rekal": git's own completion calls _git_rekal.

_git_rekal()
{
	local i=1 start=1 IFS=$'\n' line
	if [ "${words[0]##*/}" = git ]; then # behind git's own options
		while [ "$i" -lt "$cword" ] && [ "${words[i]}" != rekal ]; do i=$((i + 1)); done
		start=$((i + 1))
	fi
	# readline puts words in place of what stands behind "=" alone
	local typed=
	case $cur$COMP_WORDBREAKS in --*=*=*) typed=${cur%%=*}= ;; esac
	local -a found=($(git-rekal completion --line -- "${words[@]:start:cword-start+1}" 2>/dev/null))
	COMPREPLY=()
	for line in "${found[@]}"; do
		line=${line#"$typed"}
		if [ "${#found[@]}" -eq 1 ] || [ -z "${line#*$'\t'}" ]; then
			COMPREPLY+=("${line%%$'\t'*} ")
		else
			COMPREPLY+=("${line/$'\t'/  -- }")
		fi
	done
	if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}

_git_rekal_direct()
{
	local cur prev words cword
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur prev words cword
	else
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
	fi
	_git_rekal
}

complete -o bashdefault -o default -o nospace -F _git_rekal_direct git-rekal
