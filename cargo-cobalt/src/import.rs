//! `cargo cobalt import`: imports result files from elsewhere into this project.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_core::report::Report;
use cobalt_core::store::{
    Layout, PartsReader, ReportReader, ResultFileName, StoreError, import_report, items_file, read_journal,
    result_file_name, storage_error, strip_bom, validate_report,
};
use serde::Deserialize;
use serde_json::Value;

use crate::atomic_file::write_with;
use crate::cli::Import;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, IndexError, RunFilter};
use crate::terminal::{one_line, print};

/// What happened to a file.
enum ImportOutcome {
    Imported(PathBuf),
    /// The run already exists with the same content, in this file.
    AlreadyExists(PathBuf),
}

pub fn import(arguments: &Import, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let root = [settings.workspace_root().to_owned()];
    let paths = if arguments.paths.is_empty() { &root[..] } else { &arguments.paths };
    let (mut files, mut refused) = collect_files(paths);
    let is_named = !arguments.paths.is_empty();
    if !is_named {
        files.retain(|file| is_result(file) && !file.starts_with(settings.layout().results()));
    }
    if files.is_empty() && refused.is_empty() {
        let what = if is_named {
            "no `*.json` files"
        } else {
            "no result files of another project or of the original tool"
        };
        let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", display_path(path))).collect();
        return Err(Error::NothingMatched(format!("{what} in {}", paths.join(", "))));
    }
    let mut there = ExistingRuns::read(settings.layout())?;
    let (mut imported, mut known) = (0, 0);
    for path in &files {
        match import_file(path, settings.layout(), &mut there) {
            Ok((run, ImportOutcome::Imported(to))) => {
                imported += 1;
                print(&format!("imported {run} from `{}` as `{}`\n", display_path(path), display_path(&to)))
                    .map_err(Error::Print)?;
            }
            Ok((run, ImportOutcome::AlreadyExists(at))) => {
                known += 1;
                print(&format!("skipped  {run}, which already exists as `{}`\n", display_path(&at)))
                    .map_err(Error::Print)?;
            }
            Err(reason) => refused.push(format!("`{}` refused: {}", display_path(path), one_line(&reason))),
        }
    }
    print(&format!("{imported} imported, {known} skipped, {} refused\n", refused.len()))
        .map_err(Error::Print)?;
    if refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(refused)) }
}

/// Imports a file, unless its run exists. Returns a description of the run, or why the file is refused.
fn import_file(
    path: &Path,
    layout: &Layout,
    there: &mut ExistingRuns,
) -> Result<(String, ImportOutcome), String> {
    let file = ResultFile::read(path)?;
    let report = &file.report;
    let items = file.parts.as_ref().map_or(report.items.len(), |parts| parts.index().items);
    let noun = if items == 1 { "item" } else { "items" };
    let run = format!("run {} of `{}` ({items} {noun})", report.id, one_line(&report.name));
    if let Some(at) = there.find(&report.id) {
        return match file.is_same_as(at) {
            true => Ok((run, ImportOutcome::AlreadyExists(at.to_owned()))),
            false => Err(format!(
                "{run} already exists with different content as `{}`; keep one of the two and delete the other",
                display_path(at)
            )),
        };
    }
    let to = file.import(layout).map_err(|error| error.to_string())?;
    there.add(&report.id, &to);
    Ok((run, ImportOutcome::Imported(to)))
}

/// A path on one line, relative to the current folder.
fn display_path(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}

/// Folders with results below a given folder: Cobalt's and those of the original tool.
const RESULT_FOLDERS: [&str; 5] =
    ["results", "data/results", ".cobalt/results", ".cobalt/data/results", "data"];

/// The given files and, for folders, the `*.json` files in them and in the results folders below, sorted and without duplicates;
/// and errors for unreadable paths.
fn collect_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut refused, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for path in paths {
        match json_files_of(path) {
            Ok(found) => files.extend(found.into_iter().filter(|file| seen.insert(file.clone()))),
            Err(error) => {
                let path = one_line(&path.display().to_string());
                refused.push(format!(
                    "failed to read `{path}`: {error}; pass result files or folders that contain them"
                ));
            }
        }
    }
    (files, refused)
}

fn json_files_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let below: Vec<_> =
        RESULT_FOLDERS.iter().map(|folder| path.join(folder)).filter(|folder| folder.is_dir()).collect();
    let beside = in_folder(path)?;
    let mut files = Vec::new();
    for folder in below {
        files.extend(
            in_folder(&folder)?.into_iter().filter(|file| !folder.ends_with("data") || is_result(file)),
        );
    }
    // Other JSON files in a project root, such as settings, are not results.
    let is_root =
        path.join(".cobalt").is_dir() && (!files.is_empty() || beside.iter().any(|file| is_result(file)));
    let beside = beside.into_iter().filter(|file| !is_root || is_result(file));
    Ok(beside.chain(files).collect())
}

/// Whether a file has the name of a result file.
fn is_result(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| ResultFileName::parse(name).is_some())
}

/// The `*.json` files of a folder. Files being written start with a dot.
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

/// Maximum length of an ID, which becomes part of a file name.
const LONGEST_ID: usize = 64;

/// A file with the report of a run.
struct ResultFile {
    report: Report,
    /// The whole file.
    bytes: Vec<u8>,
    /// The items, if they are in parts.
    parts: Option<PartsReader>,
}

impl ResultFile {
    /// Reads a file, or says what is wrong with it.
    fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("failed to read it: {error}"))?;
        if ReportReader::of(&bytes).is_ok_and(|text| text.parts().is_some()) {
            return Self::read_parts(path, bytes);
        }
        let report = serde_json::from_slice::<Report>(strip_bom(&bytes));
        let report = report.map_err(|error| explain_invalid(&bytes, &error))?;
        validate(&report)?;
        validate_report(&bytes, &report).map_err(|damage| damage.to_string())?;
        Ok(Self { report, bytes, parts: None })
    }

    /// Reads a run in parts. The items are checked one part after the other.
    fn read_parts(path: &Path, bytes: Vec<u8>) -> Result<Self, String> {
        let text = ReportReader::of(&bytes).map_err(|error| error.to_string())?;
        let report = text.head().clone();
        let index = text.parts().cloned().unwrap_or_default();
        validate(&report)?;
        let (name, expected) = (&index.file, items_file(Path::new(&result_file_name(&report))));
        if Path::new(name) != expected {
            return Err(format!("its items are in `{name}`, expected `{}`", expected.display()));
        }
        let parts = PartsReader::open(path, index).map_err(|error| error.to_string())?;
        parts.validate(&report).map_err(|error| error.to_string())?;
        Ok(Self { report, bytes, parts: Some(parts) })
    }

    /// Copies it into the store: the items first, so that no result file is without them.
    fn import(&self, layout: &Layout) -> Result<PathBuf, StoreError> {
        let Some(parts) = &self.parts else { return import_report(layout, &self.report, &self.bytes) };
        let head = layout.results().join(result_file_name(&self.report));
        let items = head.with_file_name(&parts.index().file);
        if !items.exists() {
            layout
                .create_folder(layout.results())
                .and_then(|()| {
                    let mut file = File::open(parts.path())?;
                    write_with(&items, |to| io::copy(&mut file, to).map(drop))
                })
                .map_err(|source| storage_error("write", &items, source))?;
        }
        import_report(layout, &self.report, &self.bytes)
    }

    /// Whether another file has the same content, regardless of formatting.
    fn is_same_as(&self, other: &Path) -> bool {
        let value = |bytes: &[u8]| serde_json::from_slice::<Value>(strip_bom(bytes)).ok();
        fs::read(other).is_ok_and(|other| other == self.bytes || value(&other) == value(&self.bytes))
    }
}

/// Refuses reports without a valid ID or name.
fn validate(report: &Report) -> Result<(), String> {
    let id = &report.id;
    // The ID follows the last `_` of a file name.
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '-';
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(fits) {
        return Err(format!("invalid run ID `{id}`: expected 1 to {LONGEST_ID} letters, digits or `-`"));
    }
    if report.name.trim().is_empty() {
        return Err("`name` is empty; it must be the name of the experiment".to_owned());
    }
    Ok(())
}

/// Explains what a file is that is not a result file.
fn explain_invalid(bytes: &[u8], error: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Baseline {
        measurements: u32,
        name: String,
    }

    if let Ok(journal) = read_journal(bytes) {
        let id = journal.header.id;
        return format!(
            "it is the journal of the unfinished run {id}; put it into `.cobalt/runs` and resume with \
             `cargo cobalt run --resume {id}`"
        );
    }
    match serde_json::from_slice::<Baseline>(strip_bom(bytes)) {
        Ok(Baseline { measurements: 1.., name }) => format!(
            "it is a baseline of `{name}`, which contains only metrics; compare runs with it with `--baseline PATH`, or put it \
             into `.cobalt/baselines`"
        ),
        _ => format!("not a result file: {error}"),
    }
}

/// The existing result files by run ID.
struct ExistingRuns(HashMap<String, PathBuf>);

impl ExistingRuns {
    /// Complete runs come from the index, whatever their file names; partial runs from file names.
    fn read(layout: &Layout) -> Result<Self, IndexError> {
        let results = layout.results();
        let all = RunFilter::ALL;
        let (found, _) = Index::open(layout)?.query(&all)?;
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

/// The files of a folder with a run ID in their name.
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
