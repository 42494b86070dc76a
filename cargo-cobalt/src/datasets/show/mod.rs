//! `cargo cobalt dataset show`: a dataset as a table, with statistics of its fields.

mod statistics;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use cobalt::Dataset;
use cobalt::command::config::Flags;
use cobalt_core::item::Item;
use cobalt_core::report::Fetch;
use cobalt_core::reporters::{Style, escape_control, expected_field, format_fetch};
use cobalt_core::wording::{self, count, format_decimal, group_thousands};
use serde::Serialize;
use serde_json::Value;

use super::resolved_set::ResolvedSet;
use crate::cli::ShowDataset;
use crate::error::Error;
use crate::terminal::{Align, one_line, paint, print, print_json, stdout_width};
use crate::text_table::{Column, plain_text, render_table};
use statistics::{FieldStatistics, NumberRange, statistics};

/// The JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowOutput<'s> {
    source: &'s str,
    items: usize,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched: Option<Fetch>,
    fields: Vec<FieldStatistics>,
    shown: Vec<ShownItem<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownItem<'s> {
    /// Its index in the dataset, from 0.
    index: usize,
    key: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    item: &'s Item,
}

pub fn show(arguments: &ShowDataset, flags: &Flags) -> Result<ExitCode, Error> {
    let set = ResolvedSet::resolve(&arguments.set, flags)?;
    let (source, fetched) = (set.source.clone(), set.fetched.clone());
    let (dataset, lines) = set.into_dataset()?;
    let keys = dataset.keys();
    let indexes = match &arguments.key {
        Some(key) => {
            let index = find_key(key, &keys, &source)?;
            index..index + 1
        }
        None => 0..arguments.limit.min(dataset.len()),
    };
    let items: Vec<_> = dataset.iter().collect();
    let items: Vec<_> = items.iter().map(Arc::as_ref).collect();
    let shown = items.iter().copied().enumerate().skip(indexes.start).take(indexes.len());
    if arguments.json {
        let shown =
            shown.map(|(index, item)| ShownItem { index, key: &keys[index], line: lines[index], item });
        print_json(&ShowOutput {
            source: &source,
            items: dataset.len(),
            hash: dataset.hash(),
            fetched,
            fields: statistics(items.iter().copied()),
            shown: shown.collect(),
        })
        .map_err(Error::Print)?;
    } else if arguments.key.is_some() {
        for (index, item) in shown {
            print(&item_details(&keys[index], lines[index], item, paint(&io::stdout())))
                .map_err(Error::Print)?;
        }
    } else {
        let shown: Vec<_> = shown.map(|(index, item)| (keys[index].clone(), item)).collect();
        print(&overview(&source, fetched.as_ref(), &dataset, &items, &shown)).map_err(Error::Print)?;
        if shown.len() < dataset.len() && !shown.is_empty() {
            eprintln!(
                "Showing the first {} of {}; use `--limit {}` to show all.",
                group_thousands(shown.len() as u64),
                count(dataset.len(), "item"),
                dataset.len()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn overview(
    source: &str,
    fetched: Option<&Fetch>,
    dataset: &Dataset,
    items: &[&Item],
    shown: &[(String, &Item)],
) -> String {
    let (width, paint) = (stdout_width(), paint(&io::stdout()));
    let mut text = heading(source, fetched, dataset, paint);
    if !shown.is_empty() {
        text += &format!("\n{}", item_lines(shown, width, paint));
    }
    let fields = statistics(items.iter().copied());
    if !fields.is_empty() {
        text += &format!("\n{}", field_table(&fields, width, paint));
    }
    text
}

fn find_key(key: &str, keys: &[String], source: &str) -> Result<usize, Error> {
    let known = || keys.iter().map(String::as_str);
    let index = known().position(|known| known == key);
    index.ok_or_else(|| {
        Error::NothingMatched(format!(
            "{source}: no item has the key `{key}`; {}",
            wording::suggest_or_list(key, known())
        ))
    })
}

/// The maximum number of an object's fields to show: with more, the keys are probably data.
const MAX_INNER_FIELDS: usize = 30;
/// The maximum number of decimals.
const DECIMALS: usize = 3;

/// A getter for one count of a field.
type CountGetter = fn(&FieldStatistics) -> usize;

/// The items as a table: keys, inputs, expected outputs, then all other fields.
fn item_lines(shown: &[(String, &Item)], width: Option<usize>, paint: Style) -> String {
    let keys = shown.iter().map(|(key, _)| key.clone());
    let mut columns = vec![Column::new("key", Align::Left, keys)];
    for name in field_names(shown) {
        let is_number = |(_, item): &(String, &Item)| item.get(name).is_none_or(Value::is_number);
        let align = if shown.iter().all(is_number) { Align::Right } else { Align::Left };
        let value =
            |(_, item): &(String, &Item)| item.get(name).map(plain_text).unwrap_or_default().into_owned();
        columns.push(Column::new(name, align, shown.iter().map(value)));
    }
    render_table(&columns, width, paint)
}

/// The fields of these items, without an id that equals the key.
fn field_names<'i>(shown: &[(String, &'i Item)]) -> Vec<&'i str> {
    let mut names = Vec::new();
    let mut known = HashSet::new();
    let mut add = |name: &'i str| {
        if known.insert(name) {
            names.push(name);
        }
    };
    for (_, item) in shown {
        item.keys().filter(|name| *name == "input").for_each(|name| add(name));
    }
    shown.iter().filter_map(|(_, item)| expected_field(item)).for_each(&mut add);
    for (key, item) in shown {
        let is_key = |name: &str| name == "id" && item.get(name).is_some_and(|id| plain_text(id) == *key);
        item.keys().filter(|name| !is_key(name)).for_each(|name| add(name));
    }
    names
}

/// The field statistics as a table.
fn field_table(fields: &[FieldStatistics], width: Option<usize>, paint: Style) -> String {
    let mut inner: BTreeMap<&str, usize> = BTreeMap::new();
    for of in fields.iter().filter_map(|field| field.within.as_deref()) {
        *inner.entry(of).or_default() += 1;
    }
    inner.retain(|_, number| *number > MAX_INNER_FIELDS);
    let is_shown =
        |field: &&FieldStatistics| field.within.as_deref().is_none_or(|of| !inner.contains_key(of));
    let shown: Vec<_> = fields.iter().filter(is_shown).collect();
    let text = |title, cell: &dyn Fn(&FieldStatistics) -> String| {
        Column::new(title, Align::Left, shown.iter().map(|field| cell(field)))
    };
    let number = |title, figure: CountGetter| {
        let cell = |field: &&FieldStatistics| match figure(field) {
            0 => String::new(),
            figure => group_thousands(figure as u64),
        };
        Column::new(title, Align::Right, shown.iter().map(cell))
    };
    let mut columns = vec![text("field", &|field| field.name.clone()), text("type", &format_types)];
    columns.push(number("items", |field| field.items));
    let sometimes: [(&str, CountGetter); 3] =
        [("missing", |field| field.missing), ("null", |field| field.null), ("empty", |field| field.empty)];
    let occurring = sometimes.into_iter().filter(|(_, figure)| shown.iter().any(|field| figure(field) > 0));
    columns.extend(occurring.map(|(title, figure)| number(title, figure)));
    columns.push(number("distinct", |field| field.distinct));
    columns.push(text("min / median / max", &format_ranges));
    let mut text = render_table(&columns, width, paint);
    for (of, number) in inner {
        let number = group_thousands(number as u64);
        text +=
            &format!("{}: {number} distinct keys in its objects (use `--json` to see all)\n", one_line(of));
    }
    text
}

/// The types of a field's values; with counts if there are several.
fn format_types(field: &FieldStatistics) -> String {
    let several = field.types.len() > 1;
    let named = |(name, number): (&&str, &usize)| match several {
        true => format!("{name} {}", group_thousands(*number as u64)),
        false => (*name).to_owned(),
    };
    field.types.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// The ranges of string lengths, numbers and list lengths.
fn format_ranges(field: &FieldStatistics) -> String {
    let spread = |spread: Option<NumberRange>, unit: &str| {
        let NumberRange { min, median, max } = spread?;
        let [min, median, max] = [min, median, max].map(|figure| format_decimal(figure, DECIMALS));
        Some(format!("{min} / {median} / {max}{unit}"))
    };
    let spreads =
        [spread(field.characters, " chars"), spread(field.numbers, ""), spread(field.elements, " elements")];
    spreads.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The heading of a dataset: source, number of items, version.
pub fn heading(source: &str, fetch: Option<&Fetch>, dataset: &Dataset, paint: Style) -> String {
    let source = match fetch {
        Some(fetch) => format_fetch(source, fetch),
        None => source.to_owned(),
    };
    let items = count(dataset.len(), "item");
    let mut text = format!("{}: {items}\n", paint.bold(one_line(&source)));
    if let Some(version) = fetch.and_then(|fetch| fetch.version.as_ref()) {
        text += &paint.faint(format!("version {}\n", one_line(version)));
    }
    text + &paint.faint(format!("hash {}\n", dataset.hash()))
}

/// One item in full: a paragraph for each field.
fn item_details(key: &str, line: Option<usize>, item: &Item, paint: Style) -> String {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let mut text = format!("{}{line}\n", paint.bold(one_line(key)));
    for (name, value) in item {
        let value = match value {
            Value::Array(_) | Value::Object(_) => format!("{value:#}"),
            other => plain_text(other).into_owned(),
        };
        let value = escape_control(&value).trim_end_matches('\n').replace('\n', "\n  ");
        text += &format!("\n{}\n  {value}\n", paint.faint(one_line(name)));
    }
    text
}
