//! `cargo cobalt history`: shows past runs, out of an index of the result files.

mod table;
mod trends;

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::report::Timestamp;

use crate::cli::History;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Filter, Found, Index};
use crate::runs::RunView;
use crate::terminal::{eprint_folded, one_line, paint, print, print_json, stdout_width};

pub(crate) fn history(arguments: &History, flags: &Flags) -> Result<ExitCode, Error> {
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let settings = settings(flags)?;
    let layout = settings.layout();
    let shown = |path: &Path| one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string());
    let mut index = Index::open(layout)?;
    let (found, skipped) = index.runs(&Filter {
        experiment: arguments.experiment.clone(),
        tag: arguments.tag.clone(),
        since: arguments.since.map(|since| since.timestamp()),
        limit: arguments.limit.get(),
    })?;
    for skipped in skipped {
        let path = shown(&layout.results().join(&skipped.file));
        eprint_folded(&format!("warning: `{path}` is left out: {}", one_line(&skipped.reason)));
    }
    if arguments.json {
        print_json(&found.runs).map_err(Error::Print)?;
    } else if !found.runs.is_empty() {
        let today = Timestamp::now().to_string();
        let (width, paint) = (stdout_width(), paint(&io::stdout()));
        let runs: Vec<_> = found.runs.iter().map(|run| RunView::ended(run.clone(), false)).collect();
        print(&table::table(&runs, width, &today, paint)).map_err(Error::Print)?;
        let trends = trends::trends(&runs, width, paint);
        if !trends.is_empty() {
            print(&format!("\n{trends}")).map_err(Error::Print)?;
        }
    }
    if let Some(note) = note(&found, &shown(layout.results())) {
        eprint_folded(&note);
    }
    Ok(ExitCode::SUCCESS)
}

/// What the list does not say: that there is more, or why there is nothing.
fn note(found: &Found, results: &str) -> Option<String> {
    let Found { runs, matching, known, partial } = found;
    let shown = runs.len();
    if *matching > shown {
        Some(format!("the newest {shown} of {matching} runs; `--limit {matching}` shows all"))
    } else if shown > 0 {
        None
    } else if *known > 0 {
        Some(format!("none of the {known} runs in `{results}` matches"))
    } else if *partial > 0 {
        Some(format!(
            "there are only runs of some of the items in `{results}`, which are no measure; run all items with \
             `cargo cobalt run`"
        ))
    } else {
        Some(format!("there is no run in `{results}` yet; make one with `cargo cobalt run`"))
    }
}
