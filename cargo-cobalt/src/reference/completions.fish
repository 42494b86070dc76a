
# Completes `cargo cobalt …` like `cargo-cobalt …`.
function __fish_cargo_cobalt_is_typed
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    test "$words[2]" = cobalt
end

function __fish_cargo_cobalt_is_next
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    test (count $words) -eq 1
end

function __fish_cargo_cobalt_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l last (commandline --current-token --cut-at-cursor)
    complete --do-complete (string join ' ' -- cargo-cobalt (string escape -- $words[3..]) $last)
end

complete --command cargo --condition __fish_cargo_cobalt_is_next --arguments cobalt --description 'Run experiments'
complete --command cargo --condition __fish_cargo_cobalt_is_typed --no-files --arguments '(__fish_cargo_cobalt_complete)'
