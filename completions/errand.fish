# Completion of errand for fish, which filters what it is given and quotes what it inserts.
# To use it: errand completion fish >~/.config/fish/completions/errand.fish

# The word at the cursor without its quotes, the last of which may still be missing.
function __errand_current
    set -l word (commandline -ct)
    for end in '' "'" '"'
        set -l text (string unescape -- $word$end | string collect)
        and echo -n $text
        and return
    end
    echo -n $word
end

function __errand_complete
    set -l current (__errand_current | string collect --allow-empty)
    set -l words (commandline -opc)
    set -l records (command errand __complete -- $words[2..-1] "$current" </dev/null 2>/dev/null | string split0)
    if test "$records[1]" = files
        set -l before (string match -r -- '^--[^=]*=' $current)
        for path in (__fish_complete_path (string replace -- "$before" '' $current))
            echo -n "$before$path"
            printf '\0'
        end
    else
        printf '%s\0' $records[2..-1]
    end
end

complete -c errand -f -k -a '(__errand_complete | string split0)'
