//! `cargo cobalt dataset show`: a dataset as a table, with statistics of its fields.

mod statistics;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::process::ExitCode;

use cobalt::Dataset;
use cobalt::command::config::Flags;
use cobalt_core::item::Item;
use cobalt_core::report::Fetch;
use cobalt_core::reporters::{Paint, expected_field, fetched, printable};
use cobalt_core::wording::{self, count, decimal, thousands};
use serde::Serialize;
use serde_json::Value;

use super::grid::{Column, grid, plain};
use super::resolve::Set;
use crate::cli::ShowDataset;
use crate::error::Error;
use crate::terminal::{Align, one_line, paint, print, print_json, stdout_width};
use statistics::{FieldStatistics, Spread, statistics};

/// The JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'s> {
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
    let set = Set::find(&arguments.set, flags)?;
    let (source, fetched) = (set.source.clone(), set.fetched.clone());
    let (dataset, lines) = set.whole()?;
    let keys = dataset.keys();
    let indexes = match &arguments.key {
        Some(key) => {
            let index = find(key, &keys, &source)?;
            index..index + 1
        }
        None => 0..arguments.limit.min(dataset.len()),
    };
    let shown = dataset.iter().enumerate().skip(indexes.start).take(indexes.len());
    if arguments.json {
        let shown =
            shown.map(|(index, item)| ShownItem { index, key: &keys[index], line: lines[index], item });
        print_json(&Shown {
            source: &source,
            items: dataset.len(),
            hash: dataset.hash(),
            fetched,
            fields: statistics(dataset.iter()),
            shown: shown.collect(),
        })
        .map_err(Error::Print)?;
    } else if arguments.key.is_some() {
        for (index, item) in shown {
            print(&item_table(&keys[index], lines[index], item, paint(&io::stdout())))
                .map_err(Error::Print)?;
        }
    } else {
        let shown: Vec<_> = shown.map(|(index, item)| (keys[index].clone(), item)).collect();
        print(&overview(&source, fetched.as_ref(), &dataset, &shown)).map_err(Error::Print)?;
        if shown.len() < dataset.len() && !shown.is_empty() {
            eprintln!(
                "showing the first {} of {} items; use `--limit {}` to show all",
                shown.len(),
                dataset.len(),
                dataset.len()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn overview(source: &str, fetched: Option<&Fetch>, dataset: &Dataset, shown: &[(String, &Item)]) -> String {
    let (width, paint) = (stdout_width(), paint(&io::stdout()));
    let mut text = heading(source, fetched, dataset, paint);
    if !shown.is_empty() {
        text += &format!("\n{}", item_lines(shown, width, paint));
    }
    let fields = statistics(dataset.iter());
    if !fields.is_empty() {
        text += &format!("\n{}", field_table(&fields, width, paint));
    }
    text
}

fn find(key: &str, keys: &[String], source: &str) -> Result<usize, Error> {
    let known = || keys.iter().map(String::as_str);
    let index = known().position(|known| known == key);
    index.ok_or_else(|| {
        Error::NothingMatched(format!(
            "{source}: no item has the key `{key}`; {}",
            wording::instead(key, known())
        ))
    })
}

/// The maximum number of an object's fields to show: with more, the keys are probably data.
const MOST_INNER: usize = 30;
/// The maximum number of decimals.
const DECIMALS: usize = 3;

/// A getter for one count of a field.
type Figure = fn(&FieldStatistics) -> usize;

/// The items as a table: keys, inputs, expected outputs, then all other fields.
fn item_lines(shown: &[(String, &Item)], width: Option<usize>, paint: Paint) -> String {
    let keys = shown.iter().map(|(key, _)| key.clone());
    let mut columns = vec![Column::new("key", Align::Left, keys)];
    for name in names(shown) {
        let is_number = |(_, item): &(String, &Item)| item.get(name).is_none_or(Value::is_number);
        let align = if shown.iter().all(is_number) { Align::Right } else { Align::Left };
        let value = |(_, item): &(String, &Item)| item.get(name).map(plain).unwrap_or_default().into_owned();
        columns.push(Column::new(name, align, shown.iter().map(value)));
    }
    grid(&columns, width, paint)
}

/// The fields of these items, without an id that equals the key.
fn names<'i>(shown: &[(String, &'i Item)]) -> Vec<&'i str> {
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
        let is_key = |name: &str| name == "id" && item.get(name).is_some_and(|id| plain(id) == *key);
        item.keys().filter(|name| !is_key(name)).for_each(|name| add(name));
    }
    names
}

/// The field statistics as a table.
fn field_table(fields: &[FieldStatistics], width: Option<usize>, paint: Paint) -> String {
    let mut inner: BTreeMap<&str, usize> = BTreeMap::new();
    for of in fields.iter().filter_map(|field| field.within.as_deref()) {
        *inner.entry(of).or_default() += 1;
    }
    inner.retain(|_, number| *number > MOST_INNER);
    let is_shown =
        |field: &&FieldStatistics| field.within.as_deref().is_none_or(|of| !inner.contains_key(of));
    let shown: Vec<_> = fields.iter().filter(is_shown).collect();
    let text = |title, cell: &dyn Fn(&FieldStatistics) -> String| {
        Column::new(title, Align::Left, shown.iter().map(|field| cell(field)))
    };
    let number = |title, figure: Figure| {
        let cell = |field: &&FieldStatistics| match figure(field) {
            0 => String::new(),
            figure => thousands(figure as u64),
        };
        Column::new(title, Align::Right, shown.iter().map(cell))
    };
    let mut columns = vec![text("field", &|field| field.name.clone()), text("type", &types)];
    columns.push(number("items", |field| field.items));
    let sometimes: [(&str, Figure); 3] =
        [("missing", |field| field.missing), ("null", |field| field.null), ("empty", |field| field.empty)];
    let occurring = sometimes.into_iter().filter(|(_, figure)| shown.iter().any(|field| figure(field) > 0));
    columns.extend(occurring.map(|(title, figure)| number(title, figure)));
    columns.push(number("distinct", |field| field.distinct));
    columns.push(text("min / median / max", &spreads));
    let mut text = grid(&columns, width, paint);
    for (of, number) in inner {
        let number = thousands(number as u64);
        text +=
            &format!("{}: {number} distinct keys in its objects (use `--json` to see all)\n", one_line(of));
    }
    text
}

/// The types of a field's values; with counts if there are several.
fn types(field: &FieldStatistics) -> String {
    let several = field.types.len() > 1;
    let named = |(name, number): (&&str, &usize)| match several {
        true => format!("{name} {}", thousands(*number as u64)),
        false => (*name).to_owned(),
    };
    field.types.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// The ranges of string lengths, numbers and list lengths.
fn spreads(field: &FieldStatistics) -> String {
    let spread = |spread: Option<Spread>, unit: &str| {
        let Spread { min, median, max } = spread?;
        let [min, median, max] = [min, median, max].map(|figure| decimal(figure, DECIMALS));
        Some(format!("{min} / {median} / {max}{unit}"))
    };
    let spreads =
        [spread(field.characters, " chars"), spread(field.numbers, ""), spread(field.elements, " elements")];
    spreads.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The heading of a dataset: source, number of items, version.
pub fn heading(source: &str, fetch: Option<&Fetch>, dataset: &Dataset, paint: Paint) -> String {
    let source = match fetch {
        Some(fetch) => fetched(source, fetch),
        None => source.to_owned(),
    };
    let items = count(dataset.len(), "item");
    let mut text = format!("{}: {items}\n", paint.strong(one_line(&source)));
    if let Some(version) = fetch.and_then(|fetch| fetch.version.as_ref()) {
        text += &paint.faint(format!("version {}\n", one_line(version)));
    }
    text + &paint.faint(format!("hash {}\n", dataset.hash()))
}

/// One item in full: a paragraph for each field.
fn item_table(key: &str, line: Option<usize>, item: &Item, paint: Paint) -> String {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let mut text = format!("{}{line}\n", paint.strong(one_line(key)));
    for (name, value) in item {
        let value = match value {
            Value::Array(_) | Value::Object(_) => format!("{value:#}"),
            other => plain(other).into_owned(),
        };
        let value = printable(&value).trim_end_matches('\n').replace('\n', "\n  ");
        text += &format!("\n{}\n  {value}\n", paint.faint(one_line(name)));
    }
    text
}
