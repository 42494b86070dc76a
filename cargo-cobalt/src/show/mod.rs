//! `cargo cobalt show`: the items of a past run as a table, or one item in full.

mod item;
mod items;
mod large;
mod trace;

use std::process::ExitCode;
use std::{io, slice};

use cobalt::command::config::{Config, Flags};
use cobalt_core::report::Report;
use cobalt_core::store::ReportFile;

use crate::cli::{RunName, Show};
use crate::config::settings;
use crate::error::Error;
use crate::lookup::RunLookup;
use crate::runs::{journals, report_file_of, unfinished_report};
use crate::terminal::{one_line, paint, print, print_json, stdout_width};

pub use large::items_named;

use items::{NamedItem, find, is_below_pass_mark_or_error, named_items, to_file_json};

pub fn show(arguments: &Show, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let lookup = RunLookup::open(&settings)?;
    let (run, item) = requested(arguments, &lookup);
    let file = match report(&run, &lookup, &settings)? {
        ShownRun::Report(report) => return show_report(&report, item, arguments, &settings),
        ShownRun::InParts(file) => file,
    };
    if item.is_none() && arguments.json && !arguments.low {
        large::print_all(&file).map_err(Error::Print)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = match item {
        Some(typed) => large::items_named(&file, typed)?,
        None => large::worst_items(file)?,
    };
    show_report(&report, item, arguments, &settings)
}

fn show_report(
    report: &Report,
    item: Option<&str>,
    arguments: &Show,
    settings: &Config,
) -> Result<ExitCode, Error> {
    let named = named_items(report);
    match item {
        Some(item) if arguments.trace => {
            let found = find(report, &named, item)?;
            print(&trace::text(report, found, paint(&io::stdout()))).map_err(Error::Print)?;
        }
        Some(item) => {
            let found = find(report, &named, item)?;
            if arguments.json {
                print_json(&to_file_json(found)).map_err(Error::Print)?;
            } else {
                print(&item::text(report, found, settings.prices(), paint(&io::stdout())))
                    .map_err(Error::Print)?;
            }
        }
        None if arguments.trace => {
            let run = one_line(arguments.run.as_str());
            return Err(Error::Arguments(format!(
                "`--trace` shows one item: add its key, as in `cargo cobalt show {run} KEY --trace`; `cargo cobalt show {run}` lists the items"
            )));
        }
        None => {
            let is_shown =
                |named: &&NamedItem<'_>| !arguments.low || is_below_pass_mark_or_error(report, named.item);
            let shown: Vec<_> = named.iter().filter(is_shown).collect();
            if arguments.json {
                print_json(&shown.into_iter().map(to_file_json).collect::<Vec<_>>()).map_err(Error::Print)?;
            } else {
                print(&items::text(report, &shown, stdout_width(), paint(&io::stdout())))
                    .map_err(Error::Print)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The requested run and item. A full test-case name, `experiment::key`, selects both; the experiment name itself can contain `::`.
fn requested<'a>(arguments: &'a Show, lookup: &RunLookup<'_>) -> (RunName, Option<&'a str>) {
    let typed = arguments.run.as_str();
    let mut cases = typed.match_indices("::").map(|(at, mark)| (&typed[..at], &typed[at + mark.len()..]));
    let case =
        cases.find(|(experiment, key)| !key.is_empty() && lookup.known().experiment(experiment).is_some());
    match (case, &arguments.item) {
        (Some((experiment, key)), None) if !arguments.low => (RunName::latest_of(experiment), Some(key)),
        (_, item) => (arguments.run.clone(), item.as_deref()),
    }
}

/// The run to show.
enum ShownRun {
    Report(Box<Report>),
    /// A large run, of which not all items are read.
    InParts(Box<ReportFile>),
}

/// The report of a run, or of the finished items of an unfinished run.
fn report(name: &RunName, lookup: &RunLookup<'_>, settings: &Config) -> Result<ShownRun, Error> {
    match lookup.resolve(slice::from_ref(name)) {
        Ok(mut found) => {
            let run = found.remove(0);
            run.note.iter().for_each(|note| eprintln!("note: {}", one_line(note)));
            let file = report_file_of(&run, settings.prices())?;
            Ok(match file.parts() {
                Some(_) => ShownRun::InParts(Box::new(file)),
                None => ShownRun::Report(Box::new(file.into_report()?)),
            })
        }
        Err(error) => match unfinished(name.as_str(), settings)? {
            Some(report) => Ok(ShownRun::Report(Box::new(report))),
            None => Err(error),
        },
    }
}

/// The finished items of the unfinished run with this unique ID prefix.
fn unfinished(typed: &str, settings: &Config) -> Result<Option<Report>, Error> {
    let journals = journals(&settings.layout().journals());
    let mut begun = journals.iter().filter(|(id, _)| !typed.is_empty() && id.starts_with(typed));
    let (Some((_, path)), None) = (begun.next(), begun.next()) else { return Ok(None) };
    let report = unfinished_report(path, settings)
        .map_err(|error| Error::RunFile { path: path.clone(), reason: error.to_string() })?;
    eprintln!("note: run {} is not finished; showing its finished items", report.id);
    Ok(Some(report))
}
