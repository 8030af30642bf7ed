# fish completion of git-rekal, also as "git rekal": fish's completion of git asks it.

function __git_rekal_line
    set -l words (commandline -opc) (commandline -ct)
    set -l found (git-rekal completion --line -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete -c git-rekal -f -k -a '(__git_rekal_line)'
