//! Reads a file into its model, and keeps where everything stands in it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde::de::Error as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::error::{ConfigError, Place, malformed};
use super::evaluators::Entry;
use super::find::Source;
use super::model::File;
use crate::dataset::tables::DatasetTable;
use crate::position::Cursor;

/// The settings of a file.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Where each key stands, by its dotted path.
    pub(super) places: BTreeMap<String, Place>,
    /// Where each evaluator stands.
    pub(super) evaluators: Vec<Place>,
}

impl Source {
    /// The settings, where the file has any: a manifest need not.
    pub(super) fn read(self) -> Result<Option<Read>, ConfigError> {
        let Self { path, text, tables } = self;
        let root = DeTable::parse(&text).map_err(|error| malformed(&path, &text, &error, 0))?;
        let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
        match tables.iter().try_fold(root, child) {
            Some(settings) => read(path, &text, settings).map(Some),
            None => Ok(None),
        }
    }
}

fn read(path: PathBuf, text: &str, mut settings: Spanned<DeValue<'_>>) -> Result<Read, ConfigError> {
    let mut places = BTreeMap::new();
    let (mut evaluators, mut datasets) = (None, None);
    if let DeValue::Table(table) = settings.get_mut() {
        let mut keys = Vec::new();
        note_places(table, "", &mut |key, at| keys.push((at, key)));
        // In the order of the text, so that it is gone through once, however many keys there are.
        keys.sort_unstable();
        let mut cursor = Cursor::new(text);
        places.extend(keys.into_iter().map(|(at, key)| (key, Place::at(&path, cursor.go_to(at)))));
        evaluators = table.get("evaluators").cloned();
        datasets = table.get("datasets").cloned();
    }
    let around = settings.span().start;
    let file = File::deserialize(ValueDeserializer::from(settings));
    let mut file = file.map_err(|error| malformed(&path, text, &error, around))?;
    let list = evaluators.map(|list| read_evaluators(&path, text, list)).transpose()?;
    let (entries, evaluators) = list.unzip();
    file.evaluators = entries;
    file.datasets = datasets.map(|tables| read_datasets(&path, text, tables)).transpose()?;
    Ok(Read { file, places, evaluators: evaluators.unwrap_or_default(), path })
}

/// The list of evaluators, and where each stands.
fn read_evaluators(
    path: &Path,
    text: &str,
    list: Spanned<DeValue<'_>>,
) -> Result<(Vec<Entry>, Vec<Place>), ConfigError> {
    let around = list.span().start;
    let DeValue::Array(list) = list.into_inner() else {
        let error = toml::de::Error::custom("expected a list of evaluators: names and tables");
        return Err(malformed(path, text, &error, around));
    };
    // They stand in the order of the text.
    let mut cursor = Cursor::new(text);
    let one = |element: Spanned<DeValue<'_>>| {
        let at = element.span().start;
        let entry = Entry::read(element).map_err(|error| malformed(path, text, &error, at))?;
        Ok((entry, Place::at(path, cursor.go_to(at))))
    };
    list.into_iter().map(one).collect()
}

/// The tables of data sets, by their names.
fn read_datasets(
    path: &Path,
    text: &str,
    tables: Spanned<DeValue<'_>>,
) -> Result<BTreeMap<String, DatasetTable>, ConfigError> {
    let expected = |what: &str, at: usize| {
        let error = toml::de::Error::custom(format!("expected {what}"));
        malformed(path, text, &error, at)
    };
    let around = tables.span().start;
    let DeValue::Table(tables) = tables.into_inner() else {
        return Err(expected("a table of data sets, as in [datasets.support]", around));
    };
    let one = |(name, table): (Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)| {
        let span = table.span();
        let at = span.start;
        let DeValue::Table(table) = table.into_inner() else {
            return Err(expected("a table with a `type`", at));
        };
        let set = DatasetTable::read(span, table).map_err(|error| malformed(path, text, &error, at))?;
        Ok((name.into_inner().into_owned(), set))
    };
    tables.into_iter().map(one).collect()
}

/// The value of a key of a table, if both are there.
fn child<'text>(table: Spanned<DeValue<'text>>, key: &&str) -> Option<Spanned<DeValue<'text>>> {
    match table.into_inner() {
        DeValue::Table(mut table) => table.remove(*key),
        _ => None,
    }
}

/// Tells the dotted path of each key in a table and in those below it, and where it begins.
fn note_places(table: &DeTable<'_>, above: &str, note: &mut impl FnMut(String, usize)) {
    for (key, value) in table {
        let path = dotted(above, key.get_ref());
        note(path.clone(), key.span().start);
        if let DeValue::Table(table) = value.get_ref() {
            note_places(table, &path, note);
        }
    }
}

/// A key of a table as a path: `storage.dir`, and `prices."gpt-4.1"` where the key would be read otherwise without quotes.
pub(crate) fn dotted(above: &str, key: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let key = if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { format!("{key:?}") };
    if above.is_empty() { key } else { format!("{above}.{key}") }
}
