//! `cargo cobalt dataset check`: finds what is broken in data sets, and items that are alike.

mod alike;
mod encoding;
mod fields;
mod finding;
mod items;
mod text;

use std::io;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::{Dataset, Item};
use serde::Serialize;

use self::finding::{Check, Finding, Level};
use self::items::Items;
use super::resolve::{Set, place};
use crate::cli::CheckDatasets;
use crate::error::Error;
use crate::terminal::{paint, print, print_json, stdout_width};

/// What was found in a data set.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    source: String,
    /// How many items can be read.
    items: usize,
    /// The errors first, then by what was looked for, then by their first items.
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct All<'c> {
    sets: &'c [Checked],
}

pub(super) fn check(arguments: &CheckDatasets, flags: &Flags) -> Result<ExitCode, Error> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for set in &arguments.sets {
        match Set::find(set, flags) {
            Ok(set) => all.push(checked(set, arguments.near)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if arguments.json {
        print_json(&All { sets: &all }).map_err(Error::Print)?;
    } else {
        let (width, paint) = (stdout_width(), paint(&io::stdout()));
        print(&all.iter().map(|checked| text::text(checked, width, paint)).collect::<Vec<_>>().join("\n"))
            .map_err(Error::Print)?;
    }
    if !errors.is_empty() {
        return Err(Error::Broken(errors));
    }
    let counts = |finding: &Finding| finding.level == Level::Error || arguments.strict;
    let is_broken = all.iter().flat_map(|checked| &checked.findings).any(counts);
    Ok(ExitCode::from(u8::from(is_broken)))
}

fn checked(set: Set, near: f64) -> Checked {
    let Set { source, rows, end, .. } = set;
    let (mut items, mut lines, mut findings): (Vec<Item>, Vec<_>, Vec<_>) = Default::default();
    for row in rows {
        match row.item {
            Ok(item) => {
                items.push(item);
                lines.push(row.line);
            }
            Err(reason) => findings.push(unreadable(&place(row.line, &reason))),
        }
    }
    findings.extend(end.map(|reason| unreadable(&reason)));
    let dataset = Dataset::from_items(items);
    let items = Items::new(&dataset, lines);
    findings.extend(fields::fields(&items));
    findings.extend(encoding::encoding(&items));
    findings.extend(alike::equal(&items));
    findings.extend(alike::near(&items, near));
    findings.sort_by_key(|finding| (finding.level, finding.check));
    Checked { source, items: dataset.len(), findings }
}

fn unreadable(reason: &str) -> Finding {
    Finding::new(Check::Unreadable, reason, Vec::new())
}
