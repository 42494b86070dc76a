//! `cargo cobalt show`: the items of a past run, as a table or one in full.

mod item;
mod table;

use std::fs;
use std::io;
use std::process::ExitCode;
use std::slice;

use cobalt::Report;
use cobalt::config::{Config, Flags};
use cobalt::report::{ItemNames, ItemResult};
use cobalt::store::read_journal;
use cobalt::suggest;
use serde_json::Value;

use crate::cli::{RunName, Show};
use crate::config::settings;
use crate::datasets::{place, within};
use crate::error::Error;
use crate::mcp::{journals, so_far};
use crate::runs::{KnownRuns, report_of};
use crate::terminal::{one_line, paint, print, print_json, stdout_width};

/// The most keys that an ambiguous one is said to begin.
const MOST_NAMED: usize = 5;

/// An item with the names by which it is found.
struct Named<'r> {
    key: String,
    /// Its name in test cases.
    case: String,
    item: &'r ItemResult,
}

pub(crate) fn show(arguments: &Show, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let known = KnownRuns::open(settings.layout())?;
    let (run, item) = asked(arguments, &known);
    let report = report(&run, &known, &settings)?;
    let named = named(&report);
    match item {
        Some(item) => {
            let found = find(&report, &named, item)?;
            if arguments.json {
                print_json(&as_in_file(found)).map_err(Error::Print)?;
            } else {
                print(&item::text(&report, found, settings.prices(), paint(&io::stdout())))
                    .map_err(Error::Print)?;
            }
        }
        None => {
            let is_shown = |named: &&Named<'_>| !arguments.low || is_low(&report, named.item);
            let shown: Vec<_> = named.iter().filter(is_shown).collect();
            if arguments.json {
                print_json(&shown.into_iter().map(as_in_file).collect::<Vec<_>>()).map_err(Error::Print)?;
            } else {
                print(&table::text(&report, &shown, stdout_width(), paint(&io::stdout())))
                    .map_err(Error::Print)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The run and the item that are asked for. The full name of a test case, `experiment::key`, names both; the experiment's own
/// name may have `::` in it.
fn asked<'a>(arguments: &'a Show, known: &KnownRuns) -> (RunName, Option<&'a str>) {
    let typed = arguments.run.as_str();
    let mut cases = typed.match_indices("::").map(|(at, mark)| (&typed[..at], &typed[at + mark.len()..]));
    let case = cases.find(|(experiment, key)| !key.is_empty() && known.experiment(experiment).is_some());
    match (case, &arguments.item) {
        (Some((experiment, key)), None) if !arguments.low => (RunName::latest_of(experiment), Some(key)),
        (_, item) => (arguments.run.clone(), item.as_deref()),
    }
}

/// The report of a run, or as much as the journal of one has that did not end.
fn report(name: &RunName, known: &KnownRuns, settings: &Config) -> Result<Report, Error> {
    match known.resolve(slice::from_ref(name)) {
        Ok(mut found) => {
            let run = found.remove(0);
            run.note.iter().for_each(|note| eprintln!("note: {}", one_line(note)));
            report_of(&run, settings.prices())
        }
        Err(error) => unfinished(name.as_str(), settings).ok_or(error),
    }
}

/// What is finished of the only run whose id begins so and that has a journal.
fn unfinished(typed: &str, settings: &Config) -> Option<Report> {
    let journals = journals(&settings.layout().journals());
    let mut begun = journals.iter().filter(|(id, _)| !typed.is_empty() && id.starts_with(typed));
    let (path, other) = (begun.next()?.1, begun.next());
    let contents = read_journal(&fs::read(path).ok()?).ok().filter(|_| other.is_none())?;
    let report = so_far(contents, settings);
    eprintln!("note: run {} has not ended; these items are finished", report.id);
    Some(report)
}

fn named(report: &Report) -> Vec<Named<'_>> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    let named = names.keys().into_iter().zip(names.case_names()).zip(&report.items);
    named.map(|((key, case), item)| Named { key, case, item }).collect()
}

/// Whether an item is below a pass mark or in error.
fn is_low(report: &Report, item: &ItemResult) -> bool {
    item.is_in_error() || report.config.low_scores(item).next().is_some()
}

/// By its key, its name in test cases, its index, or the only one whose key or name begins so.
fn find<'n, 'r>(report: &Report, named: &'n [Named<'r>], typed: &str) -> Result<&'n Named<'r>, Error> {
    let of = |name: fn(&Named<'_>) -> String| named.iter().map(name).collect::<Vec<_>>();
    let (keys, cases) = (of(|named| named.key.clone()), of(|named| named.case.clone()));
    if let Some(place) = place(report, typed, &keys, &cases) {
        return Ok(&named[place]);
    }
    let beginning = within(report, typed).unwrap_or(typed);
    let begins = |named: &&Named<'_>| named.key.starts_with(beginning) || named.case.starts_with(beginning);
    let begun: Vec<_> = named.iter().filter(begins).filter(|_| !beginning.is_empty()).collect();
    let (id, name) = (&report.id, &report.name);
    match &begun[..] {
        [only] => Ok(only),
        [] => {
            let known = suggest::instead(typed, keys.iter().map(String::as_str));
            Err(Error::NothingMatched(one_line(&format!(
                "run {id} of `{name}` has no item `{typed}`; {known}"
            ))))
        }
        several => {
            let keys = suggest::list(several.iter().take(MOST_NAMED).map(|named| &*named.key));
            let more = several.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let problem = format!("`{typed}` may mean several items of run {id} of `{name}`: {keys}{more}");
            Err(Error::NothingMatched(one_line(&format!("{problem}; type more of the key"))))
        }
    }
}

/// An item in the shape of result files. Those of the original have no key.
fn as_in_file(named: &Named<'_>) -> Value {
    let mut item = serde_json::to_value(named.item).unwrap_or_default();
    if let Some(key) = item.get_mut("key") {
        *key = named.key.clone().into();
    }
    item
}
