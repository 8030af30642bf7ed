# fish completion of git-rekal, also as "git rekal". It belongs into a conf.d: for "git rekal" fish reads the completions of git
# alone.

function __git_rekal_line
    set -l words (commandline -opc) (commandline -ct)
    set -l start 2
    if test (path basename $words[1]) = git
        set start (math (contains -i -- rekal $words) + 1)
    end
    set -l found (git-rekal completion --line -- $words[$start..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete -c git-rekal -f -k -a '(__git_rekal_line)'
complete -c git -f -k -n '__fish_git_using_command rekal' -a '(__git_rekal_line)'
