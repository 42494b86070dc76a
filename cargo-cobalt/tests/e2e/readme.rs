//! The README's first experiment, step by step: its files are written, its command is run, and prints what the README shows.

use std::fs;
use std::path::Path;

use crate::command::program;
use crate::project::{ProgramOutput, Project};

/// The contents of the fenced blocks with this info string.
fn blocks<'a>(markdown: &'a str, info: &str) -> Vec<&'a str> {
    let fence = format!("\n```{info}\n");
    markdown.split(&fence).skip(1).map(|rest| rest.split_once("\n```").unwrap().0).collect()
}

/// The output with the lines of test cases sorted, as items finish in any order.
fn sorted_cases(output: &str) -> String {
    let mut lines: Vec<_> = output.lines().collect();
    let are_cases = |one: &&str, other: &&str| one.starts_with("test ") && other.starts_with("test ");
    lines.chunk_by_mut(are_cases).for_each(<[_]>::sort);
    lines.join("\n")
}

#[test]
fn the_first_experiment_prints_what_the_readme_shows() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(workspace.join("README.md")).unwrap();
    let (_, steps) = readme.split_once("\n**1. ").unwrap();
    let (steps, _) = steps.split_once("\n**5. ").unwrap();
    let [manifest] = blocks(steps, "toml")[..] else { panic!("expected one TOML block") };
    let [dataset] = blocks(steps, "json")[..] else { panic!("expected one JSON block") };
    let [source] = blocks(steps, "rust,no_run")[..] else { panic!("expected one Rust block") };
    let [console] = blocks(steps, "console")[..] else { panic!("expected one console block") };

    let project = Project::empty();
    let package = project.read("Cargo.toml");
    let (package, library) = package.split_once("[dev-dependencies]\n").unwrap();
    let library = library.lines().find(|line| line.starts_with("cobalt = ")).unwrap();
    let shown = "cobalt = { package = \"cobalt-evals\", path = \"../cobalt/cobalt\" }";
    assert!(manifest.contains(shown), "{manifest}");
    project.write("Cargo.toml", &format!("{package}{}\n", manifest.replace(shown, library)));
    project.write("datasets/questions.jsonl", dataset);
    project.write("tests/evals.rs", source);

    let (command, expected) = console.split_once('\n').unwrap();
    let expected = expected.strip_suffix("\n[…]").unwrap();
    let arguments: Vec<_> = command.strip_prefix("$ cargo ").unwrap().split(' ').collect();
    let output = ProgramOutput::by(program("cargo", project.path("").as_path()).args(arguments), 101);
    let (expected, printed) = (sorted_cases(expected), sorted_cases(output.stdout.trim_start()));
    assert!(printed.starts_with(&expected), "README.md shows:\n{expected}\nprinted:\n{printed}");
}
