//! Resolves the name of a dataset on the command line.

use std::env;
use std::path::Path;
use std::sync::Arc;

use cobalt::command::config::{Flags, project_root};
use cobalt::dataset::{CachedDataset, Row, Rows, read_rows};
use cobalt::{Dataset, DatasetError};
use cobalt_core::item::Item;
use cobalt_core::paths::workspace_root;
use cobalt_core::report::Fetch;
use cobalt_core::wording;

use crate::config::settings_of;
use crate::environment::Environment;
use crate::error::Error;

/// A dataset, as far as it is readable.
#[derive(Debug)]
pub struct ResolvedSet {
    /// Its name: the path as typed, or the source it was fetched from.
    pub source: String,
    /// When it was fetched, if it is remote.
    pub fetched: Option<Fetch>,
    /// The rows of its file, or its items.
    pub rows: Vec<Row>,
    /// Why the rest cannot be read, if so.
    pub rest_error: Option<String>,
}

impl ResolvedSet {
    /// The dataset in a file (relative to the current folder), else of a table `[datasets.NAME]`, else the latest cached copy of a
    /// source.
    pub fn resolve(name: &str, flags: &Flags) -> Result<Self, Error> {
        let folder = env::current_dir().map_err(Error::CurrentFolder)?;
        let path = folder.join(name);
        let root = project_root(&folder);
        // An error in the settings does not affect a plain file.
        let settings = match settings_of(&root, flags) {
            Err(_) if path.is_file() => return Self::from_file(&path, name),
            settings => settings?,
        };
        let copies = CachedDataset::all_in(&settings.layout().datasets())?;
        if let Some(copy) = copies.iter().find(|copy| is_same_file(&copy.path, &path)) {
            return Self::from_cached(copy, flags);
        }
        if path.is_file() {
            return Self::from_file(&path, name);
        }
        // Glob patterns are read as a whole, below.
        let of_table = settings.dataset_path(name).map(|path| (workspace_root(&root).join(path), path));
        if let Some((path, written)) = of_table.filter(|(path, _)| path.is_file()) {
            return Self::from_file(&path, &written.display().to_string());
        }
        if settings.datasets().any(|known| known == name) {
            let environment = Environment::read(&[&root, &workspace_root(&root)])?;
            let loaded = settings.load_dataset(name, |variable| environment.get(variable));
            return Ok(Self::from_dataset(loaded.map_err(adapt_error)?));
        }
        if let Some(copy) = copies.iter().find(|copy| copy.source == name) {
            return Self::from_cached(copy, flags);
        }
        let known: Vec<_> =
            settings.datasets().chain(copies.iter().map(|copy| copy.source.as_str())).collect();
        if known.is_empty() || name.contains(['.', '/']) {
            return Self::from_file(&path, name);
        }
        Err(Error::Multiple(vec![format!(
            "dataset `{name}` not found: it is not a file, not a table `[datasets.{name}]` in cobalt.toml, and not a source with a \
             cached copy; {}",
            wording::suggest_or_list(name, known)
        )]))
    }

    /// The items of a cached copy. Its request is not stored, so it cannot be refreshed.
    fn from_cached(copy: &CachedDataset, flags: &Flags) -> Result<Self, Error> {
        if flags.refresh.is_some() {
            let source = &copy.source;
            return Err(Error::Arguments(format!(
                "`--refresh` works for tables `[datasets.NAME]` in cobalt.toml, not for the cached copy of {source} alone: refresh it \
                 with `cargo cobalt list --refresh` or with a run"
            )));
        }
        Ok(Self::from_dataset(copy.load()?))
    }

    fn from_file(path: &Path, name: &str) -> Result<Self, Error> {
        let Rows { rows, end } = read_rows(path, name).map_err(cobalt::Error::from)?;
        let end = end.map(|end| match end {
            DatasetError::Malformed { line, reason, .. } => with_line(Some(line), &reason),
            DatasetError::FeatureOff { format, feature, .. } => feature_off(format, feature),
            other => strip_file_name(&other.to_string(), name),
        });
        Ok(Self { source: name.to_owned(), fetched: None, rows, rest_error: end })
    }

    fn from_dataset(dataset: Dataset) -> Self {
        let rows = dataset.iter().map(|item| Row { line: None, item: Ok(Arc::unwrap_or_clone(item)) });
        Self {
            source: dataset.source().to_owned(),
            fetched: dataset.fetch().cloned(),
            rows: rows.collect(),
            rest_error: None,
        }
    }

    /// The items with their line numbers. The error names the first row that is not an item.
    pub fn into_dataset(self) -> Result<(Dataset, Vec<Option<usize>>), Error> {
        let Self { source, rows, rest_error: end, .. } = self;
        let mut lines = Vec::with_capacity(rows.len());
        let mut items: Vec<Item> = Vec::with_capacity(rows.len());
        for row in rows {
            lines.push(row.line);
            items.push(row.item.map_err(|reason| unreadable_error(&source, &with_line(row.line, &reason)))?);
        }
        match end {
            Some(reason) if items.is_empty() => Err(Error::Multiple(vec![format!("{source}: {reason}")])),
            Some(reason) => Err(unreadable_error(&source, &reason)),
            None => Ok((Dataset::from_items(items), lines)),
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.canonicalize().ok());
    one.is_some() && one == other
}

fn unreadable_error(source: &str, reason: &str) -> Error {
    Error::Multiple(vec![format!(
        "{source}: {reason}; run `cargo cobalt dataset check` to list all problems"
    )])
}

/// An error of the library, adapted to the command: here it reads the file, not the user's test binary.
fn adapt_error(error: cobalt::Error) -> Error {
    match error {
        cobalt::Error::Dataset(DatasetError::FeatureOff { file, format, feature }) => {
            Error::Multiple(vec![format!("{file}: {}", feature_off(format, feature))])
        }
        other => other.into(),
    }
}

/// Explains that the command lacks a feature. The features of the project apply only to its test binaries.
fn feature_off(format: &str, feature: &str) -> String {
    format!(
        "reading {format} files needs the feature `{feature}` of the command itself: install it from its clone with \
         `cargo install --locked --path cargo-cobalt --features {feature}`"
    )
}

/// A reason with its line number.
pub fn with_line(line: Option<usize>, reason: &str) -> String {
    line.map_or_else(|| reason.to_owned(), |line| format!("line {line}: {reason}"))
}

/// A message without the leading file name.
fn strip_file_name(reason: &str, name: &str) -> String {
    let rest = reason.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
    rest.unwrap_or(reason).to_owned()
}
