//! Every `cargo cobalt …` command shown in the repository is valid.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::Cargo;

/// Files and folders that show commands.
const DOCUMENTED_PATHS: [&str; 7] = [
    "README.md",
    "CONTRIBUTING.md",
    "action.yml",
    "action",
    "docs",
    "cobalt/docs",
    "cargo-cobalt/src/init/templates",
];

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<_> = path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| files(entry, found));
    } else {
        found.push(path.to_owned());
    }
}

/// The arguments of each command in a text. In prose, commands are in backticks; an ellipsis stands for anything.
fn commands(text: &str, is_prose: bool) -> Vec<Vec<String>> {
    // Join lines continued with a backslash (YAML, shell).
    let text = text.replace("\\\n", " ");
    let mut is_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        }
        for (start, _) in line.match_indices("cargo cobalt ") {
            let is_set_off = is_block || !is_prose || line[..start].matches('`').count() % 2 == 1;
            let is_comment = line.trim_start().starts_with("#");
            if is_set_off && (is_prose || !is_comment) {
                found.push(arguments(&line[start + "cargo cobalt ".len()..]));
            }
        }
    }
    found.retain(|arguments| !arguments.is_empty());
    found
}

/// The words of a command up to its end, without shell expansions.
fn arguments(rest: &str) -> Vec<String> {
    let end = rest.find(['`', ';', '|', '#', '>', ')']).unwrap_or(rest.len());
    let words = rest[..end].split_whitespace().take_while(|word| *word != "&&" && *word != "-");
    let words = words.filter(|word| !word.contains("[@]") && *word != "…");
    words.map(|word| word.replace('"', "")).collect()
}

#[test]
fn every_command_that_is_shown_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut found = Vec::new();
    DOCUMENTED_PATHS.iter().for_each(|path| files(&root.join(path), &mut found));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in found {
        // commands.md is generated; images are not text.
        if file.ends_with("docs/commands.md") || file.extension().is_some_and(|extension| extension == "png")
        {
            continue;
        }
        let is_prose = file.extension().is_some_and(|extension| extension == "md");
        for arguments in commands(&fs::read_to_string(&file).unwrap(), is_prose) {
            seen += 1;
            let all = ["cargo", "cobalt"].into_iter().chain(arguments.iter().map(String::as_str));
            // Prose and scripts often omit required arguments.
            if let Err(error) = Cargo::try_parse_from(all)
                && error.use_stderr()
                && error.kind() != ErrorKind::MissingRequiredArgument
            {
                wrong.push(format!("{}: {}: {error}", file.display(), arguments.join(" ")));
            }
        }
    }
    assert!(seen > 30, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn short_flags_say_the_same_as_those_that_are_spelled_out() {
    for (short, long) in [
        ("run -f a.rs -n b -c 3 -e d", "run --file a.rs --filter b --concurrency 3 --experiment d"),
        ("history -n 3 -e desk", "history --limit 3 --experiment desk"),
        ("serve -p 4000", "serve --port 4000"),
        ("clean -r -c -d 3 -f", "clean --results --cache --days 3 --force"),
        ("clean -r -y", "clean --results --force"),
    ] {
        let [short, long] = [short, long].map(|arguments| {
            let all = ["cargo", "cobalt"].into_iter().chain(arguments.split(' '));
            format!("{:?}", Cargo::try_parse_from(all).unwrap())
        });
        assert_eq!(short, long);
    }
}

#[test]
fn commands_are_found_in_prose_and_in_scripts() {
    let prose =
        "Run `cargo cobalt run --ci`; cargo cobalt is fine.\n```console\n$ cargo cobalt list # all\n```\n";
    assert_eq!(commands(prose, true), [vec!["run", "--ci"], vec!["list"]]);
    let script = "  - cargo cobalt merge --ci ${a[@]+\"${a[@]}\"} \"x\" && b\n# cargo cobalt nothing\n";
    assert_eq!(commands(script, false), [["merge", "--ci", "x"]]);
}

/// Collects the commands with the exit codes in their help.
fn exit_codes(command: &clap::Command, name: &str, found: &mut Vec<(String, String)>) {
    for command in command.get_subcommands() {
        let name = format!("{name} {}", command.get_name()).trim().to_owned();
        let help = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        if let Some((_, codes)) = help.split_once("Exit codes: ") {
            found.push((name.clone(), codes.to_owned()));
        }
        exit_codes(command, &name, found);
    }
}

#[test]
fn the_table_of_exit_codes_names_every_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let page = fs::read_to_string(root.join("docs/exit-codes.md")).unwrap();
    let table = page.split_once("| code | meaning | commands |").unwrap().1;
    let table = table.split_once("\n\n").map_or(table, |(table, _)| table);
    // A row without a code has the code of the row above.
    let mut code = "";
    let rows: Vec<_> = table
        .lines()
        .filter_map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let [_, number, _, commands, _] = cells[..] else { return None };
            code = if number.is_empty() { code } else { number };
            Some((code, commands))
        })
        .collect();
    let mut found = Vec::new();
    let cargo = Cargo::command();
    exit_codes(cargo.find_subcommand("cobalt").unwrap(), "", &mut found);
    assert!(found.len() > 15, "{found:?}");
    for (name, codes) in found {
        for code in ["1", "4", "5", "130"] {
            let is_used = codes.split("; ").any(|part| part.split(' ').next() == Some(code));
            let is_named = rows.iter().any(|row| row.0 == code && row.1.contains(&format!("`{name}`")));
            assert_eq!(is_used, is_named, "`{name}`, code {code}");
        }
    }
}
