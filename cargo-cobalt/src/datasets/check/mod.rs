//! `cargo cobalt dataset check`: finds problems and duplicates in datasets.

mod checks;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use cobalt::Dataset;
use cobalt::command::config::Flags;
use cobalt_core::item::Item;
use cobalt_core::reporters::Style;
use cobalt_core::wording::{count, format_decimal, truncate};
use serde::Serialize;
use serde_json::Value;

use super::resolved_set::{ResolvedSet, with_line};
use crate::cli::CheckDatasets;
use crate::error::Error;
use crate::terminal::{one_line, paint, print, print_json, stdout_width, truncate_to_width};
use crate::text_table::plain_text;

/// The findings in a dataset.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckReport {
    source: String,
    /// The number of readable items.
    items: usize,
    /// Errors first, then by check, then by first item.
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct CheckOutput<'c> {
    sets: &'c [CheckReport],
}

pub fn check(arguments: &CheckDatasets, flags: &Flags) -> Result<ExitCode, Error> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for set in &arguments.sets {
        match ResolvedSet::resolve(set, flags) {
            Ok(set) => all.push(check_set(set, arguments.near)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if arguments.json {
        print_json(&CheckOutput { sets: &all }).map_err(Error::Print)?;
    } else {
        let (width, paint) = (stdout_width(), paint(&io::stdout()));
        print(&all.iter().map(|checked| render(checked, width, paint)).collect::<Vec<_>>().join("\n"))
            .map_err(Error::Print)?;
    }
    if !errors.is_empty() {
        return Err(Error::Multiple(errors));
    }
    let counts = |finding: &Finding| finding.level == Level::Error || arguments.strict;
    let is_broken = all.iter().flat_map(|checked| &checked.findings).any(counts);
    Ok(ExitCode::from(u8::from(is_broken)))
}

fn check_set(set: ResolvedSet, near: f64) -> CheckReport {
    let ResolvedSet { source, rows, rest_error: end, .. } = set;
    let (mut items, mut lines, mut findings): (Vec<Item>, Vec<_>, Vec<_>) = Default::default();
    for row in rows {
        match row.item {
            Ok(item) => {
                items.push(item);
                lines.push(row.line);
            }
            Err(reason) => findings.push(unreadable(&with_line(row.line, &reason))),
        }
    }
    findings.extend(end.map(|reason| unreadable(&reason)));
    let dataset = Dataset::from_items(items);
    let all: Vec<_> = dataset.iter().collect();
    let items = Items::new(&all, dataset.keys(), lines);
    findings.extend(checks::check_fields(&items));
    findings.extend(checks::check_encoding(&items));
    findings.extend(checks::find_duplicates(&items));
    findings.extend(checks::find_similar(&items, near));
    findings.sort_by_key(|finding| (finding.level, finding.check));
    CheckReport { source, items: dataset.len(), findings }
}

fn unreadable(reason: &str) -> Finding {
    Finding::new(Check::Unreadable, reason, Vec::new())
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Data is lost or misread.
    Error,
    /// Worth a look.
    Note,
}

/// A kind of check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// A line, row or element that is not an item.
    Unreadable,
    /// Items without an input, while others have one.
    NoInput,
    /// An id shared by several items.
    RepeatedId,
    /// Equal inputs with different expected outputs.
    Conflict,
    /// Items without an id or an expected output, while others have one.
    Missing,
    /// A field with mixed types.
    MixedTypes,
    /// Strings that are only whitespace.
    Blank,
    /// Text decoded with the wrong encoding.
    Encoding,
    /// Identical items, or equal inputs.
    Duplicate,
    /// Similar inputs.
    NearDuplicate,
}

impl Check {
    pub fn level(self) -> Level {
        match self {
            Self::Unreadable | Self::NoInput | Self::RepeatedId | Self::Conflict => Level::Error,
            Self::Missing
            | Self::MixedTypes
            | Self::Blank
            | Self::Encoding
            | Self::Duplicate
            | Self::NearDuplicate => Level::Note,
        }
    }
}

/// A result of a check.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub check: Check,
    pub level: Level,
    pub message: String,
    /// The affected items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<AffectedItem>,
}

impl Finding {
    pub fn new(check: Check, message: impl Into<String>, items: Vec<AffectedItem>) -> Self {
        Self { check, level: check.level(), message: message.into(), items }
    }
}

/// An item of a finding.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AffectedItem {
    /// Its index among the readable items, from 0.
    pub index: usize,
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The affected value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The similarity of its input to that of the first item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
}

/// The readable items.
pub struct Items<'d> {
    pub items: Vec<&'d Item>,
    keys: Vec<String>,
    lines: Vec<Option<usize>>,
}

impl<'d> Items<'d> {
    pub fn new(items: &'d [Arc<Item>], keys: Vec<String>, lines: Vec<Option<usize>>) -> Self {
        Self { items: items.iter().map(Arc::as_ref).collect(), keys, lines }
    }

    pub fn place(&self, index: usize, value: Option<&Value>) -> AffectedItem {
        let (key, line) = (self.keys[index].clone(), self.lines[index]);
        AffectedItem { index, key, line, value: value.cloned(), similarity: None }
    }

    pub fn places(&self, indexes: &[usize]) -> Vec<AffectedItem> {
        indexes.iter().map(|index| self.place(*index, None)).collect()
    }

    /// The indexes of the matching items.
    pub fn indexes_where(&self, is_meant: impl Fn(&Item) -> bool) -> Vec<usize> {
        (0..self.items.len()).filter(|index| is_meant(self.items[*index])).collect()
    }
}

/// The maximum number of findings shown per check.
const MAX_FINDINGS: usize = 10;
/// The maximum number of items shown per finding.
const MAX_ITEMS: usize = 4;
/// The maximum length of a value without a terminal width, in characters.
const MAX_VALUE_LEN: usize = 200;
/// The indentation of a finding's items.
const INDENT: &str = "         ";

/// A line for the dataset, then its findings, errors first.
fn render(checked: &CheckReport, width: Option<usize>, paint: Style) -> String {
    let of = |level| checked.findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(of(Level::Error), "error"), (of(Level::Note), "note")];
    let counts: Vec<_> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(number, noun))
        .collect();
    let counts = if counts.is_empty() { paint.success("no problems found") } else { counts.join(", ") };
    let items = count(checked.items, "item");
    let mut text = format!("{}: {items}, {counts}\n", paint.bold(one_line(&checked.source)));
    for of_check in checked.findings.chunk_by(|one, other| one.check == other.check) {
        for finding in &of_check[..of_check.len().min(MAX_FINDINGS)] {
            text += &render_finding(finding, width, paint);
        }
        if let Some(more @ 1..) = of_check.len().checked_sub(MAX_FINDINGS) {
            let more = format!("{INDENT}and {more} more of this kind (use `--json` to see all)");
            text += &(paint.faint(fit_to(&more, width)) + "\n");
        }
    }
    text
}

fn render_finding(finding: &Finding, width: Option<usize>, paint: Style) -> String {
    let level = match finding.level {
        Level::Error => paint.error("error"),
        Level::Note => paint.warning("note "),
    };
    let mut text = format!("  {level}  {}\n", one_line(&finding.message));
    for place in &finding.items[..finding.items.len().min(MAX_ITEMS)] {
        text += &(fit_to(&format!("{INDENT}{}", render_item(place)), width) + "\n");
    }
    if let Some(more @ 1..) = finding.items.len().checked_sub(MAX_ITEMS) {
        text += &format!("{INDENT}{}\n", paint.faint(format!("and {}", count(more, "more item"))));
    }
    text
}

fn render_item(place: &AffectedItem) -> String {
    let line = place.line.map(|line| format!("line {line}, ")).unwrap_or_default();
    let similarity = place
        .similarity
        .map(|similarity| format!(", {}%", format_decimal((similarity * 1000.0).floor() / 10.0, 1)));
    let value =
        place.value.as_ref().map(|value| format!(": {}", truncate(&plain_text(value), MAX_VALUE_LEN)));
    let key = &place.key;
    one_line(&format!("{line}`{key}`{}{}", similarity.unwrap_or_default(), value.unwrap_or_default()))
}

fn fit_to(text: &str, width: Option<usize>) -> String {
    width.map_or_else(|| text.to_owned(), |width| truncate_to_width(text, width))
}
