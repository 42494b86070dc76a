//! `cargo xtask gen`: the files that are generated from the sources and committed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use crate::{Outcome, build_command, failed, npm, program, root, run};

/// What generates a file or a folder.
enum Generator {
    /// The output of the command with these arguments.
    Cobalt(&'static [&'static str]),
    /// A script of the dashboard.
    Npm(&'static str),
}

/// In this order: the API's types come from its description, and the page contains them.
const GENERATED: &[(&str, Generator)] = &[
    ("cobalt.schema.json", Generator::Cobalt(&["config", "--schema"])),
    ("docs/commands.md", Generator::Cobalt(&["man", "--markdown"])),
    ("dashboard/openapi.json", Generator::Cobalt(&["serve", "--openapi"])),
    ("dashboard/src/api/schema.ts", Generator::Npm("types")),
    ("dashboard/dist", Generator::Npm("build")),
];

/// The contents of files, by path.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Regenerates all files, or those named. With `--check`, restores what was there and fails if something differs.
pub fn generate(arguments: &[String]) -> Outcome {
    let is_check = arguments.iter().any(|argument| argument == "--check");
    let names: Vec<_> = arguments.iter().filter(|argument| *argument != "--check").collect();
    if let Some(unknown) = names.iter().find(|name| !GENERATED.iter().any(|(path, _)| path == *name)) {
        let known: Vec<_> = GENERATED.iter().map(|(path, _)| *path).collect();
        return Err(format!("`{unknown}` is not generated; expected one of {}", known.join(", ")));
    }
    let cobalt = build_command()?;
    let mut differ = Vec::new();
    let mut before = Contents::new();
    for (path, generator) in
        GENERATED.iter().filter(|(path, _)| names.is_empty() || names.iter().any(|name| name == path))
    {
        let place = root().join(path);
        let old = read(&place)?;
        let generated = write(&place, generator, &cobalt);
        before.extend(old.clone());
        if let Err(error) = generated {
            restore(is_check, &before)?;
            return Err(error);
        }
        if read(&place)? != old {
            println!("{} {path}", if is_check { "out of date:" } else { "changed:" });
            differ.push((place, old));
        }
    }
    if !is_check || differ.is_empty() {
        println!(
            "{}",
            if differ.is_empty() { "all generated files are up to date" } else { "commit the changes" }
        );
        return Ok(ExitCode::SUCCESS);
    }
    for (place, old) in &differ {
        for path in read(place)?.keys().filter(|path| !old.contains_key(*path)) {
            fs::remove_file(path).map_err(|error| problem(path, &error))?;
        }
    }
    restore(true, &before)?;
    Err("run `cargo xtask gen` and commit the changes".to_owned())
}

fn write(place: &Path, generator: &Generator, cobalt: &Path) -> Result<(), String> {
    match generator {
        Generator::Npm(script) => run(npm(&["run", script])?.stdout(Stdio::null())),
        Generator::Cobalt(arguments) => {
            let mut command = program(cobalt);
            command.arg("cobalt").args(*arguments).current_dir(root()).stderr(Stdio::inherit());
            let output = command.output().map_err(|error| failed(&command, &error))?;
            if !output.status.success() {
                return Err(failed(&command, &output.status));
            }
            fs::write(place, output.stdout).map_err(|error| problem(place, &error))
        }
    }
}

fn restore(is_check: bool, before: &Contents) -> Result<(), String> {
    for (path, content) in before.iter().filter(|_| is_check) {
        fs::write(path, content).map_err(|error| problem(path, &error))?;
    }
    Ok(())
}

/// A file, or all files of a folder; nothing if it does not exist.
fn read(place: &Path) -> Result<Contents, String> {
    let mut contents = Contents::new();
    let mut waiting = vec![place.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(|error| problem(&path, &error))? {
                waiting.push(entry.map_err(|error| problem(&path, &error))?.path());
            }
            continue;
        }
        match fs::read(&path) {
            Ok(content) => drop(contents.insert(path, content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(problem(&path, &error)),
        }
    }
    Ok(contents)
}

fn problem(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}
