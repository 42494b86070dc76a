
# What follows `cargo cobalt` is completed as what follows `cargo-cobalt`.
function __fish_cargo_cobalt_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l last (commandline --current-token --cut-at-cursor)
    complete --do-complete (string join ' ' -- cargo-cobalt (string escape -- $words[3..]) $last)
end

complete --command cargo --condition '__fish_seen_subcommand_from cobalt' --no-files --arguments '(__fish_cargo_cobalt_complete)'
complete --command cargo --condition 'test (count (commandline --tokenize --cut-at-cursor --current-process)) -eq 1' --arguments cobalt --description 'Run experiments'
