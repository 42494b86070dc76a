//! `cargo cobalt import`: takes result files from elsewhere into the results of this project.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use cobalt::command::config::Flags;
use cobalt_core::report::Report;
use cobalt_core::store::{Layout, ResultFileName, check_report, keep_report, read_journal, without_mark};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::Import;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Filter, Index, IndexError};
use crate::terminal::{one_line, print};

/// What became of a file.
enum Outcome {
    Imported(PathBuf),
    /// The run is there with the same content: in this file.
    There(PathBuf),
}

pub fn import(arguments: &Import, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let root = [settings.workspace_root().to_owned()];
    let paths = if arguments.paths.is_empty() { &root[..] } else { &arguments.paths };
    let (mut files, mut refused) = files(paths);
    let is_named = !arguments.paths.is_empty();
    if !is_named {
        files.retain(|file| is_result(file) && !file.starts_with(settings.layout().results()));
    }
    if files.is_empty() && refused.is_empty() {
        let what = if is_named {
            "no file `*.json`"
        } else {
            "no result file of another project or of the original"
        };
        let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", shown(path))).collect();
        return Err(Error::NothingMatched(format!("there is {what} in {}", paths.join(", "))));
    }
    let mut there = There::read(settings.layout())?;
    let (mut imported, mut known) = (0, 0);
    for path in &files {
        match take(path, settings.layout(), &mut there) {
            Ok((run, Outcome::Imported(to))) => {
                imported += 1;
                print(&format!("imported {run} from `{}` as `{}`\n", shown(path), shown(&to)))
                    .map_err(Error::Print)?;
            }
            Ok((run, Outcome::There(at))) => {
                known += 1;
                print(&format!("kept     {run}, which is there already as `{}`\n", shown(&at)))
                    .map_err(Error::Print)?;
            }
            Err(reason) => refused.push(format!("`{}` is refused: {}", shown(path), one_line(&reason))),
        }
    }
    print(&format!("{imported} imported, {known} there already, {} refused\n", refused.len()))
        .map_err(Error::Print)?;
    if refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Broken(refused)) }
}

/// Takes a file in, unless its run is there. Answers with the run in words, or says why the file is refused.
fn take(path: &Path, layout: &Layout, there: &mut There) -> Result<(String, Outcome), String> {
    let file = ResultFile::read(path)?;
    let report = &file.report;
    let items = report.items.len();
    let noun = if items == 1 { "item" } else { "items" };
    let run = format!("run {} of `{}` ({items} {noun})", report.id, one_line(&report.name));
    if let Some(at) = there.find(&report.id) {
        return match file.is_same_as(at) {
            true => Ok((run, Outcome::There(at.to_owned()))),
            false => Err(format!(
                "{run} is there with another content, as `{}`; keep one of the two, and remove the other",
                shown(at)
            )),
        };
    }
    let to = keep_report(layout, report, &file.bytes).map_err(|error| error.to_string())?;
    there.add(&report.id, &to);
    Ok((run, Outcome::Imported(to)))
}

/// A path on one line, as seen from the current folder.
fn shown(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}

/// Where results lie below a folder that was named: this project's and those of the original.
const BELOW: [&str; 5] = ["results", "data/results", ".cobalt/results", ".cobalt/data/results", "data"];

/// Files as they are, and of folders the files `*.json` in them and in the folders with results below, sorted; each once. Beside
/// them, why others cannot be read.
fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut refused, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for path in paths {
        match of_path(path) {
            Ok(found) => files.extend(found.into_iter().filter(|file| seen.insert(file.clone()))),
            Err(error) => {
                let path = one_line(&path.display().to_string());
                refused.push(format!(
                    "failed to read `{path}`: {error}; name result files, or folders with some"
                ));
            }
        }
    }
    (files, refused)
}

fn of_path(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let below: Vec<_> =
        BELOW.iter().map(|folder| path.join(folder)).filter(|folder| folder.is_dir()).collect();
    let beside = in_folder(path)?;
    let mut files = Vec::new();
    for folder in below {
        files.extend(
            in_folder(&folder)?.into_iter().filter(|file| !folder.ends_with("data") || is_result(file)),
        );
    }
    // What else lies in the root of a project, such as its settings, is no result.
    let is_root =
        path.join(".cobalt").is_dir() && (!files.is_empty() || beside.iter().any(|file| is_result(file)));
    let beside = beside.into_iter().filter(|file| !is_root || is_result(file));
    Ok(beside.chain(files).collect())
}

/// Whether a file has the name of a result file.
fn is_result(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| ResultFileName::parse(name).is_some())
}

/// The files `*.json` of a folder. What is being written begins with a dot.
fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if is_json && !is_hidden && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The longest id, in characters: it becomes a part of a file's name.
const LONGEST_ID: usize = 64;

/// A file that holds the report of a run.
struct ResultFile {
    report: Report,
    /// The whole file.
    bytes: Vec<u8>,
}

impl ResultFile {
    /// Reads a file, or says what is wrong with it.
    fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("failed to read it: {error}"))?;
        let report = serde_json::from_slice::<Report>(without_mark(&bytes));
        let report = report.map_err(|error| other(&bytes, &error))?;
        check(&report)?;
        check_report(&bytes, &report).map_err(|damage| damage.to_string())?;
        Ok(Self { report, bytes })
    }

    /// Whether another file holds the same, however it is written.
    fn is_same_as(&self, other: &Path) -> bool {
        let value = |bytes: &[u8]| serde_json::from_slice::<Value>(without_mark(bytes)).ok();
        fs::read(other).is_ok_and(|other| other == self.bytes || value(&other) == value(&self.bytes))
    }
}

/// Refuses what would be no run, or no file.
fn check(report: &Report) -> Result<(), String> {
    let id = &report.id;
    // Behind the last `_` of a file's name stands the id.
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '-';
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(fits) {
        return Err(format!("its id `{id}` is none: it must have 1 to {LONGEST_ID} letters, digits or `-`"));
    }
    if report.name.trim().is_empty() {
        return Err("its `name` is empty, and it is the name of an experiment".to_owned());
    }
    Ok(())
}

/// What a file is that is no result file.
fn other(bytes: &[u8], error: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Baseline {
        measurements: u32,
        name: String,
    }

    if let Ok(journal) = read_journal(bytes) {
        let id = journal.header.id;
        return format!(
            "it is the journal of run {id}, which has not ended; put it into `.cobalt/runs`, and \
             `cargo cobalt run --resume {id}` goes on with it"
        );
    }
    match serde_json::from_slice::<Baseline>(without_mark(bytes)) {
        Ok(Baseline { measurements: 1.., name }) => format!(
            "it is a baseline of `{name}`, with the numbers of a run alone; `--baseline PATH` holds runs against it, and in \
             `.cobalt/baselines` it is the one of its experiment"
        ),
        _ => format!("it is no result file: {error}"),
    }
}

/// The result files that are there, by the ids of their runs.
struct There(HashMap<String, PathBuf>);

impl There {
    /// Whole runs are known by the index, whatever their files are called; those of some of the items by their names.
    fn read(layout: &Layout) -> Result<Self, IndexError> {
        let results = layout.results();
        let all = Filter::ALL;
        let (found, _) = Index::open(layout)?.runs(&all)?;
        let mut files =
            by_name(results).map_err(|source| IndexError::Results { path: results.to_owned(), source })?;
        files.extend(found.runs.into_iter().map(|run| (run.id, results.join(run.file))));
        Ok(Self(files))
    }

    fn find(&self, id: &str) -> Option<&Path> {
        self.0.get(id).map(PathBuf::as_path)
    }

    fn add(&mut self, id: &str, path: &Path) {
        self.0.insert(id.to_owned(), path.to_owned());
    }
}

/// The files of a folder that have the id of a run in their names.
fn by_name(folder: &Path) -> io::Result<HashMap<String, PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        entries => entries?,
    };
    let mut files = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(ResultFileName { id, .. }) = ResultFileName::parse(&name) {
            files.insert(id.to_owned(), path);
        }
    }
    Ok(files)
}
