//! The file as it is written: its keys, what each may hold, and what each means.
//!
//! The JSON schema is made of these types and their comments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cobalt_core::wording::Cursor;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::baseline::Baseline;
use super::error::{ConfigError, Place, malformed};
use super::evaluators::Entry;
use super::find::Source;
use super::models::{Cache, Embedding, Judge};
use super::platforms::Platforms;
use super::reporter::Reporter;
use super::sections::{Dashboard, ModelPrice, Redaction, Storage};
use super::settings::dotted;
use super::webhooks::Hook;
use crate::dataset::tables::DatasetTable;
pub(super) use crate::settings::at_least_one;
use crate::settings::{AgeOrOff, Bound, Count, Length, Target, VariableName, VariableValue, bounds};

/// The settings of Cobalt, `cargo test` for AI agents. Everything is optional.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(title = "cobalt.toml"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct File {
    /// How many items of an experiment are worked on at a time, where the experiment does not say; 5 unless it is set.
    pub(super) concurrency: Option<Count>,
    /// How long a run of an item may take, and each evaluator for its output, where the experiment does not say; "30s"
    /// unless it is set.
    pub(super) timeout: Option<Length>,
    /// What shows a run of `cargo cobalt run`; `["cli"]` unless it is set.
    #[serde(default, deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) reporters: Option<Vec<Reporter>>,
    /// The test targets that hold experiments, by name or by a pattern with `*`, `?` or `[…]`; all of them unless it is
    /// set.
    #[serde(default, deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) targets: Option<Vec<Target>>,
    /// The evaluators of the experiments that list none.
    // Read apart, as what a table may hold depends on its `type`.
    #[serde(default, deserialize_with = "left_for_later")]
    pub(super) evaluators: Option<Vec<Entry>>,
    /// The thresholds of the experiments that declare none. Such an experiment is then no longer strict by itself.
    #[serde(default, deserialize_with = "bounds")]
    pub(super) thresholds: Option<Vec<Bound>>,
    /// Where runs are kept. Relative paths begin at the root of the workspace.
    pub(super) storage: Option<Storage>,
    /// Whom judges ask that do not say it themselves, and how.
    pub(super) judge: Option<Judge>,
    /// Whom texts are embedded by, where an evaluator does not say it.
    pub(super) embedding: Option<Embedding>,
    /// What is kept of the answers of models.
    pub(super) cache: Option<Cache>,
    /// What models cost, by their names: added to the built-in prices, or in their place.
    pub(super) prices: Option<BTreeMap<String, ModelPrice>>,
    /// Environment variables for the test binaries. One that is set already stays as it is.
    pub(super) env: Option<BTreeMap<VariableName, VariableValue>>,
    /// What a run is held against by thresholds that begin with `vs_baseline.`.
    pub(super) baseline: Option<Baseline>,
    /// The data sets that `Dataset::named` gives, by their names.
    // Read apart, as what a table may hold depends on its `type`.
    #[serde(default, deserialize_with = "left_for_later")]
    pub(super) datasets: Option<BTreeMap<String, DatasetTable>>,
    /// By which accounts the platforms are asked where teams keep their data sets.
    pub(super) platforms: Option<Platforms>,
    /// Whom `cargo cobalt run` and `merge` tell of the end of a run.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<super::webhooks::Table>>"))]
    pub(super) webhooks: Option<Vec<Hook>>,
    /// Where `cargo cobalt serve` shows the runs, and how.
    pub(super) dashboard: Option<Dashboard>,
    /// What is taken out of the texts that are stored, shown or served.
    pub(super) redaction: Option<Redaction>,
    /// What is in force under `cargo cobalt run --ci`, or with `COBALT_CI=1`.
    pub(super) ci: Option<Ci>,
}

/// What is in force under `cargo cobalt run --ci`, or with `COBALT_CI=1`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Ci {
    /// Thresholds for every experiment, in addition to its own.
    #[serde(default, deserialize_with = "bounds")]
    pub(super) thresholds: Option<Vec<Bound>>,
    /// How many items of an experiment are worked on at a time, whatever the experiment says.
    pub(super) concurrency: Option<Count>,
    /// How long a run of an item may take, and each evaluator for its output, whatever the experiment says.
    pub(super) timeout: Option<Length>,
    /// For how long the scores of a run count in the thresholds of further runs of the same commit, or "off"; "12h" unless it
    /// is set.
    pub(super) pool_reruns: Option<AgeOrOff>,
}

fn left_for_later<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// The settings of a file.
#[derive(Debug)]
pub struct Read {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Where each key stands, by its dotted path.
    pub(super) places: BTreeMap<String, Place>,
    /// Where each evaluator stands.
    pub(super) evaluators: Vec<Place>,
}

impl Source {
    /// The settings, where the file has any: a manifest need not.
    pub fn read(self) -> Result<Option<Read>, ConfigError> {
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
