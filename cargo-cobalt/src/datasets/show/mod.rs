//! `cargo cobalt dataset show`: a data set as a table, with statistics of its fields.

mod statistics;
mod table;

use std::io;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::dataset::Fetch;
use cobalt::{Dataset, Item, suggest};
use serde::Serialize;

use self::statistics::{FieldStatistics, statistics};
use super::resolve::Set;
use crate::cli::ShowDataset;
use crate::error::Error;
use crate::terminal::{paint, print, print_json, stdout_width};

/// What is shown, for programs.
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
    /// Its place in the data set, from 0.
    index: usize,
    key: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    item: &'s Item,
}

pub(super) fn show(arguments: &ShowDataset, flags: &Flags) -> Result<ExitCode, Error> {
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
            print(&table::item(&keys[index], lines[index], item, paint(&io::stdout())))
                .map_err(Error::Print)?;
        }
    } else {
        let shown: Vec<_> = shown.map(|(index, item)| (keys[index].clone(), item)).collect();
        print(&overview(&source, fetched.as_ref(), &dataset, &shown)).map_err(Error::Print)?;
        if shown.len() < dataset.len() && !shown.is_empty() {
            eprintln!(
                "the first {} of {} items; `--limit {}` shows all",
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
    let mut text = table::heading(source, fetched, dataset, paint);
    if !shown.is_empty() {
        text += &format!("\n{}", table::items(shown, width, paint));
    }
    let fields = statistics(dataset.iter());
    if !fields.is_empty() {
        text += &format!("\n{}", table::fields(&fields, width, paint));
    }
    text
}

fn find(key: &str, keys: &[String], source: &str) -> Result<usize, Error> {
    let known = || keys.iter().map(String::as_str);
    let index = known().position(|known| known == key);
    index.ok_or_else(|| {
        Error::NothingMatched(format!(
            "{source}: no item has the key `{key}`; {}",
            suggest::instead(key, known())
        ))
    })
}
