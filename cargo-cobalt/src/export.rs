//! `cargo cobalt export`: writes past runs in another format.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum as _;
use cobalt::config::{Config, Flags};
use cobalt::store::read_report;

use crate::cli::{Export, Format};
use crate::config::settings;
use crate::error::Error;
use crate::formats::{csv, json, junit};
use crate::reporters::{Finished, Results, write};
use crate::runs::{FoundRun, KnownRuns};
use crate::terminal::{one_line, print};

pub(crate) fn export(arguments: &Export, flags: &Flags) -> Result<ExitCode, Error> {
    let format = format(arguments)?;
    let settings = settings(flags)?;
    let found = KnownRuns::open(settings.layout())?.resolve(&arguments.runs)?;
    for note in found.iter().filter_map(|run| run.note.as_ref()) {
        eprintln!("note: {}", one_line(note));
    }
    let experiments = found.into_iter().map(finished).collect::<Result<_, Error>>()?;
    let text = render(&Results::of(experiments), format, &settings)?;
    match &arguments.output {
        None => print(&text)?,
        Some(path) => {
            write(path, &text).map_err(|source| Error::ReportFile { path: path.clone(), source })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The format that is asked for by its name, or by the ending of the output.
fn format(arguments: &Export) -> Result<Format, Error> {
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let ending = arguments.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let named = ending.and_then(|ending| match &*ending.to_ascii_lowercase() {
        "xml" => Some(Format::Junit),
        other => Format::from_str(other, false).ok(),
    });
    named.ok_or_else(|| {
        let names = Format::value_variants().iter().filter_map(|format| format.to_possible_value());
        let names: Vec<_> = names.map(|name| format!("`{}`", name.get_name())).collect();
        let why = match &arguments.output {
            Some(path) => format!("the ending of `{}` names no format", one_line(&path.display().to_string())),
            None => "no format is named".to_owned(),
        };
        Error::Arguments(format!("{why}; name one with `--format`: {}", names.join(", ")))
    })
}

fn finished(run: FoundRun) -> Result<Finished, Error> {
    let report = read_report(&run.path)?;
    Ok(Finished { report, path: Some(run.path), without_items: None })
}

fn render(results: &Results, format: Format, settings: &Config) -> Result<String, Error> {
    Ok(match format {
        Format::Csv => csv(results, settings.prices()),
        Format::Json => json(results).map_err(|error| Error::Print(error.into()))?,
        Format::Junit => junit(results),
    })
}
