//! The configuration file as written: its keys, their types and their meaning.
//!
//! The JSON schema is generated from these types and their doc comments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cobalt_core::wording::TextCursor;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::baseline::Baseline;
use super::error::{ConfigError, Location, parse_error};
use super::evaluators::EvaluatorEntry;
use super::limits::{LimitConfig, limit_list};
use super::locate::SourceFile;
use super::models::{Cache, Embedding, Judge};
use super::platforms::Platforms;
use super::recordings::RecordingsTable;
use super::reporter::Reporter;
use super::settings::dotted_key;
use super::small_tables::{Changed, Dashboard, ModelPrice, Redaction, Storage, TraceTable};
use super::webhooks::WebhookConfig;
use crate::dataset::tables::DatasetTable;
pub(super) use crate::settings::non_empty_list;
use crate::settings::{
    AgeOrOff, DurationValue, FieldNames, PositiveInt, TargetPattern, ThresholdExpr, VariableName,
    VariableValue, threshold_list,
};

/// The settings of Cobalt, `cargo test` for AI agents. Everything is optional.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(title = "cobalt.toml"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct ConfigFile {
    /// Maximum items of an experiment in parallel, unless the experiment sets it; default 5.
    pub(super) concurrency: Option<PositiveInt>,
    /// Time limit per trial, and per evaluator and output, unless the experiment sets it; default "30s".
    pub(super) timeout: Option<DurationValue>,
    /// Output formats of `cargo cobalt run`; default `["cli"]`.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) reporters: Option<Vec<Reporter>>,
    /// Test targets that contain experiments, by name or by a pattern with `*`, `?` or `[…]`; default all.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) targets: Option<Vec<TargetPattern>>,
    /// Evaluators of experiments that list none.
    // Read separately, because the keys of a table depend on its `type`.
    #[serde(default, deserialize_with = "skip_for_now")]
    pub(super) evaluators: Option<Vec<EvaluatorEntry>>,
    /// Thresholds of experiments that declare none. Such an experiment is then no longer strict by default.
    #[serde(default, deserialize_with = "threshold_list")]
    pub(super) thresholds: Option<Vec<ThresholdExpr>>,
    /// The field of the items, or the list of fields, by which the statistics of experiments that name none are grouped.
    pub(super) group_by: Option<FieldNames>,
    /// Where runs are stored, and the remote store of a team. Relative paths start at the workspace root.
    pub(super) storage: Option<Storage>,
    /// Default model of judges, and how to call it.
    pub(super) judge: Option<Judge>,
    /// Default embedding model.
    pub(super) embedding: Option<Embedding>,
    /// The cache of model responses.
    pub(super) cache: Option<Cache>,
    /// Model prices by name, added to the built-in prices or overriding them.
    pub(super) prices: Option<BTreeMap<String, ModelPrice>>,
    /// Environment variables for the test binaries. A variable that is already set keeps its value.
    pub(super) env: Option<BTreeMap<VariableName, VariableValue>>,
    /// The baseline for thresholds that begin with `vs_baseline.`.
    pub(super) baseline: Option<Baseline>,
    /// Datasets for `Dataset::named`, by name.
    // Read separately, because the keys of a table depend on its `type`.
    #[serde(default, deserialize_with = "skip_for_now")]
    pub(super) datasets: Option<BTreeMap<String, DatasetTable>>,
    /// Accounts for dataset platforms.
    pub(super) platforms: Option<Platforms>,
    /// Webhooks that `cargo cobalt run` and `merge` call when a run finishes.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<super::webhooks::WebhookTable>>"))]
    pub(super) webhooks: Option<Vec<WebhookConfig>>,
    /// What `cargo cobalt run --changed` compares besides the files of the package.
    pub(super) changed: Option<Changed>,
    /// Recordings of model traffic.
    pub(super) recordings: Option<RecordingsTable>,
    /// Limits for requests to models.
    #[serde(default, deserialize_with = "limit_list")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<super::limits::LimitTable>>"))]
    pub(super) limits: Option<Vec<LimitConfig>>,
    /// What is kept of traces.
    pub(super) trace: Option<TraceTable>,
    /// Settings of `cargo cobalt serve`.
    pub(super) dashboard: Option<Dashboard>,
    /// Redaction of stored, displayed and served text.
    pub(super) redaction: Option<Redaction>,
    /// Settings that apply under `cargo cobalt run --ci`, or with `COBALT_CI=1`.
    pub(super) ci: Option<Ci>,
}

/// Settings that apply under `cargo cobalt run --ci`, or with `COBALT_CI=1`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Ci {
    /// Additional thresholds for every experiment.
    #[serde(default, deserialize_with = "threshold_list")]
    pub(super) thresholds: Option<Vec<ThresholdExpr>>,
    /// Maximum items of an experiment in parallel; overrides the experiment.
    pub(super) concurrency: Option<PositiveInt>,
    /// Time limit per trial, and per evaluator and output; overrides the experiment.
    pub(super) timeout: Option<DurationValue>,
    /// How long the scores of a run count in the thresholds of later runs of the same commit, or "off"; default "12h".
    pub(super) pool_reruns: Option<AgeOrOff>,
}

fn skip_for_now<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// A parsed configuration file.
#[derive(Debug)]
pub struct ParsedFile {
    pub(super) path: PathBuf,
    pub(super) file: ConfigFile,
    /// The location of each key, by its dotted path.
    pub(super) places: BTreeMap<String, Location>,
    /// The location of each evaluator.
    pub(super) evaluators: Vec<Location>,
}

impl SourceFile {
    /// Parses the configuration, if the file contains one: a manifest need not.
    pub fn read(self) -> Result<Option<ParsedFile>, ConfigError> {
        let Self { path, text, tables } = self;
        let root = DeTable::parse(&text).map_err(|error| parse_error(&path, &text, &error, 0))?;
        let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
        match tables.iter().try_fold(root, child) {
            Some(settings) => parse(path, &text, settings).map(Some),
            None => Ok(None),
        }
    }
}

fn parse(path: PathBuf, text: &str, mut settings: Spanned<DeValue<'_>>) -> Result<ParsedFile, ConfigError> {
    let mut places = BTreeMap::new();
    let (mut evaluators, mut datasets) = (None, None);
    if let DeValue::Table(table) = settings.get_mut() {
        let mut keys = Vec::new();
        collect_locations(table, "", &mut |key, at| keys.push((at, key)));
        // In text order, so that one pass over the text finds all locations.
        keys.sort_unstable();
        let mut cursor = TextCursor::new(text);
        places.extend(keys.into_iter().map(|(at, key)| (key, Location::at(&path, cursor.advance_to(at)))));
        evaluators = table.get("evaluators").cloned();
        datasets = table.get("datasets").cloned();
    }
    let around = settings.span().start;
    let file = ConfigFile::deserialize(ValueDeserializer::from(settings));
    let mut file = file.map_err(|error| parse_error(&path, text, &error, around))?;
    let list = evaluators.map(|list| read_evaluators(&path, text, list)).transpose()?;
    let (entries, evaluators) = list.unzip();
    file.evaluators = entries;
    file.datasets = datasets.map(|tables| read_datasets(&path, text, tables)).transpose()?;
    Ok(ParsedFile { file, places, evaluators: evaluators.unwrap_or_default(), path })
}

/// Parses the list of evaluators, each with its location.
fn read_evaluators(
    path: &Path,
    text: &str,
    list: Spanned<DeValue<'_>>,
) -> Result<(Vec<EvaluatorEntry>, Vec<Location>), ConfigError> {
    let around = list.span().start;
    let DeValue::Array(list) = list.into_inner() else {
        let error = toml::de::Error::custom("expected a list of evaluators (names and tables)");
        return Err(parse_error(path, text, &error, around));
    };
    // They are in text order.
    let mut cursor = TextCursor::new(text);
    let one = |element: Spanned<DeValue<'_>>| {
        let at = element.span().start;
        let entry = EvaluatorEntry::read(element).map_err(|error| parse_error(path, text, &error, at))?;
        Ok((entry, Location::at(path, cursor.advance_to(at))))
    };
    list.into_iter().map(one).collect()
}

/// Parses the dataset tables, by name.
fn read_datasets(
    path: &Path,
    text: &str,
    tables: Spanned<DeValue<'_>>,
) -> Result<BTreeMap<String, DatasetTable>, ConfigError> {
    let expected = |what: &str, at: usize| {
        let error = toml::de::Error::custom(format!("expected {what}"));
        parse_error(path, text, &error, at)
    };
    let around = tables.span().start;
    let DeValue::Table(tables) = tables.into_inner() else {
        return Err(expected("a table of datasets, as in [datasets.support]", around));
    };
    let one = |(name, table): (Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)| {
        let span = table.span();
        let at = span.start;
        let DeValue::Table(table) = table.into_inner() else {
            return Err(expected("a table with a `type`", at));
        };
        let set = DatasetTable::read(span, table).map_err(|error| parse_error(path, text, &error, at))?;
        Ok((name.into_inner().into_owned(), set))
    };
    tables.into_iter().map(one).collect()
}

/// The value of a key, if it exists and its parent is a table.
fn child<'text>(table: Spanned<DeValue<'text>>, key: &&str) -> Option<Spanned<DeValue<'text>>> {
    match table.into_inner() {
        DeValue::Table(mut table) => table.remove(*key),
        _ => None,
    }
}

/// Calls `note` with the dotted path and start of each key in a table and its subtables.
fn collect_locations(table: &DeTable<'_>, above: &str, note: &mut impl FnMut(String, usize)) {
    for (key, value) in table {
        let path = dotted_key(above, key.get_ref());
        note(path.clone(), key.span().start);
        if let DeValue::Table(table) = value.get_ref() {
            collect_locations(table, &path, note);
        }
    }
}
