//! `cargo cobalt show`: the items of a past run as a table, or one item in full.

mod find;
mod item;
mod items;
mod trace;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;
use std::slice;

use cobalt::command::config::{Config, Flags};
use cobalt_core::report::item_keys;
use cobalt_core::store::ReportFile;
use cobalt_core::wording::group_thousands;
use serde::Serializer as _;
use serde::ser::SerializeSeq;

use crate::cli::{RunName, Show};
use crate::config::settings;
use crate::error::Error;
use crate::lookup::RunLookup;
use crate::results::Excerpt;
use crate::runs::{journals, report_file_of, unfinished_report};
use crate::terminal::{eprint_wrapped, one_line, paint, print, print_json, stdout_width};

use find::find;
pub use find::strip_experiment;
use items::to_file_json;

/// The maximum number of items of a run in parts in a table.
const SHOWN: usize = 1000;

pub fn show(arguments: &Show, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let lookup = RunLookup::open(&settings)?;
    let (run, item) = requested(arguments, &lookup);
    let file = run_file(&run, &lookup, &settings)?;
    if file.report().redacted && !arguments.json {
        let id = one_line(&file.report().id);
        eprint_wrapped(&format!("note: run {id} is redacted: it has no inputs and outputs"));
    }
    match item {
        Some(typed) => show_item(&file, typed, arguments, &settings)?,
        None if arguments.trace => {
            let run = one_line(arguments.run.as_str());
            return Err(Error::Arguments(format!(
                "`--trace` shows one item: add its key, as in `cargo cobalt show {run} KEY --trace`; `cargo cobalt show {run}` lists the items"
            )));
        }
        None if arguments.json => print_items(&file, arguments.low)?,
        None => show_items(file, arguments.low)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show_item(file: &ReportFile, typed: &str, arguments: &Show, settings: &Config) -> Result<(), Error> {
    let (report, found) = (file.report(), find(file, typed)?);
    let paint = paint(&io::stdout());
    let printed = if arguments.trace {
        print(&trace::text(report, &found, paint))
    } else if arguments.json {
        print_json(&to_file_json(&found.key, &found.item))
    } else {
        print(&item::text(report, &found, settings.prices(), paint))
    };
    printed.map_err(Error::Print)
}

/// Prints the items, or those in error or below a pass mark, as a table.
fn show_items(file: ReportFile, low: bool) -> Result<(), Error> {
    let (report, items) = if low { Excerpt::of_low(file, SHOWN)? } else { Excerpt::of(file, SHOWN)? };
    if items.left_out() > 0 {
        let shown = items.shown().len();
        let [shown, all] = [shown, shown + items.left_out()].map(|number| group_thousands(number as u64));
        let (of, more) = match low {
            true => (
                "items in error or below a pass mark are shown, those in error first",
                "show {} --low --json",
            ),
            false => ("items are shown, those in error or below a pass mark first", "export {} --format csv"),
        };
        let more = more.replace("{}", &report.id);
        eprint_wrapped(&format!("note: {shown} of {all} {of}; `cargo cobalt {more}` has all of them"));
    }
    let text = items::text(&report, items.shown(), stdout_width(), paint(&io::stdout()));
    print(&text).map_err(Error::Print)
}

/// Prints the items, or those in error or below a pass mark, as a JSON list, one after the other.
fn print_items(file: &ReportFile, low: bool) -> Result<(), Error> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut printer = serde_json::Serializer::pretty(&mut stdout);
    let print_error = |error: serde_json::Error| Error::Print(error.into());
    let mut list = printer.serialize_seq(None).map_err(print_error)?;
    // Only items of the original tool have other keys than their file says.
    let keys = file.parts().is_none().then(|| item_keys(&file.report().items));
    for (position, item) in file.items().enumerate() {
        let item = item?;
        if !low || !item.passed {
            let key = keys.as_ref().map_or(&item.key, |keys| &keys[position]);
            list.serialize_element(&to_file_json(key, &item)).map_err(print_error)?;
        }
    }
    SerializeSeq::end(list).map_err(print_error)?;
    stdout.write_all(b"\n").and_then(|()| stdout.flush()).map_err(Error::Print)
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

/// The result file of a run, or the finished items of an unfinished run.
fn run_file(name: &RunName, lookup: &RunLookup<'_>, settings: &Config) -> Result<ReportFile, Error> {
    match lookup.resolve(slice::from_ref(name)) {
        Ok(mut found) => {
            let run = found.remove(0);
            run.note.iter().for_each(|note| eprintln!("note: {}", one_line(note)));
            report_file_of(&run, settings.prices())
        }
        Err(error) => unfinished(name.as_str(), settings)?.ok_or(error),
    }
}

/// The finished items of the unfinished run with this unique ID prefix.
fn unfinished(typed: &str, settings: &Config) -> Result<Option<ReportFile>, Error> {
    let journals = journals(&settings.layout().journals());
    let mut begun = journals.iter().filter(|(id, _)| !typed.is_empty() && id.starts_with(typed));
    let (Some((_, path)), None) = (begun.next(), begun.next()) else { return Ok(None) };
    let report = unfinished_report(path, settings)
        .map_err(|error| Error::RunFile { path: path.clone(), reason: error.to_string() })?;
    eprintln!("note: run {} is not finished; showing its finished items", report.id);
    Ok(Some(ReportFile::of_report(path, report)))
}
