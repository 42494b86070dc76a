//! `cargo cobalt export`: exports past runs in another format.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum as _;
use cobalt::command::config::{Config, Flags};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::report::{Measurements, Report};

use crate::atomic_file::write;
use crate::cli::{Export, Format};
use crate::config::settings;
use crate::error::Error;
use crate::formats::{csv, html, junit, markdown};
use crate::results::{FinishedExperiment, Results};
use crate::runs::{KnownRuns, ResolvedRun, report_of};
use crate::terminal::{one_line, print};

pub fn export(arguments: &Export, flags: &Flags) -> Result<ExitCode, Error> {
    let format = format(arguments)?;
    let settings = settings(flags)?;
    let found = KnownRuns::open(settings.layout())?.resolve(&arguments.runs)?;
    for note in found.iter().filter_map(|run| run.note.as_ref()) {
        eprintln!("note: {}", one_line(note));
    }
    if matches!(format, Format::Arrow | Format::Parquet) {
        return export_columns(&found, format, arguments.output.as_deref(), &settings);
    }
    let text = render(found, format, &settings)?;
    match &arguments.output {
        None => print(&text).map_err(Error::Print)?,
        Some(path) => {
            write(path, &text).map_err(|source| Error::ReportFile { path: path.clone(), source })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The format from `--format`, or from the extension of the output file.
fn format(arguments: &Export) -> Result<Format, Error> {
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let ending = arguments.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let named = ending.and_then(|ending| match &*ending.to_ascii_lowercase() {
        "xml" => Some(Format::Junit),
        "htm" => Some(Format::Html),
        other => Format::from_str(other, false).ok(),
    });
    named.ok_or_else(|| {
        let names = Format::value_variants().iter().filter_map(|format| format.to_possible_value());
        let names: Vec<_> = names.map(|name| format!("`{}`", name.get_name())).collect();
        let why = match &arguments.output {
            Some(path) => {
                format!("no format for the extension of `{}`", one_line(&path.display().to_string()))
            }
            None => "no format given".to_owned(),
        };
        Error::Arguments(format!("{why}; choose one with `--format`: {}", names.join(", ")))
    })
}

fn render(found: Vec<ResolvedRun>, format: Format, settings: &Config) -> Result<String, Error> {
    // In any format, files that are not result files are refused.
    let finished = found.into_iter().map(|run| load_finished(run, settings)).collect::<Result<_, Error>>()?;
    let mut results = Results::of(finished);
    results.rankings = rank_groups(&results.experiments, settings.prices());
    Ok(match format {
        Format::Csv => csv(&results, settings.prices()),
        Format::Html => html(&results),
        Format::Json => json(&read_contents(&results)?),
        Format::Junit => junit(&results),
        Format::Markdown => markdown::markdown(&results),
        Format::Arrow | Format::Parquet => unreachable!("columns are not text"),
    })
}

/// Writes columns, item by item: runs of any size.
#[cfg(feature = "parquet")]
fn export_columns(
    found: &[ResolvedRun],
    format: Format,
    output: Option<&Path>,
    settings: &Config,
) -> Result<ExitCode, Error> {
    use std::io::{self, IsTerminal as _};

    use crate::atomic_file::write_streamed;
    use crate::formats::{ColumnarError, ColumnarFormat, write_columns};

    let columns = match format {
        Format::Arrow => ColumnarFormat::Arrow,
        _ => ColumnarFormat::Parquet,
    };
    let paths: Vec<_> = found.iter().map(|run| run.path.clone()).collect();
    let fill = |file: &fs::File| write_columns(&paths, settings.prices(), columns, file);
    match output {
        Some(path) => write_streamed(path, fill).map_err(|error| match error {
            ColumnarError::Write(source) => Error::ReportFile { path: path.to_owned(), source },
            error => error.into(),
        })?,
        None if io::stdout().is_terminal() => {
            let message = "a terminal cannot show this format; write it to a file with `--output PATH`";
            return Err(Error::Arguments(message.to_owned()));
        }
        None => write_columns(&paths, settings.prices(), columns, io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "parquet"))]
fn export_columns(
    _: &[ResolvedRun],
    format: Format,
    _: Option<&Path>,
    _: &Config,
) -> Result<ExitCode, Error> {
    let name = if format == Format::Arrow { "Arrow" } else { "Parquet" };
    Err(Error::Arguments(format!(
        "this `cargo-cobalt` was built without {name}; install it with `cargo install --locked --path cargo-cobalt --features \
         parquet` in a clone of Cobalt, or use a release archive"
    )))
}

fn load_finished(run: ResolvedRun, settings: &Config) -> Result<FinishedExperiment, Error> {
    let report = report_of(&run, settings.prices())?;
    Ok(FinishedExperiment { report, path: Some(run.path), without_items: None })
}

/// The rankings of groups of variants with several runs among these.
fn rank_groups(finished: &[FinishedExperiment], prices: &PriceTable) -> Vec<Ranking> {
    let mut groups: Vec<(&str, Vec<&Report>)> = Vec::new();
    for report in finished.iter().map(|finished| &finished.report) {
        let Some(variant) = &report.variant else { continue };
        match groups.iter_mut().find(|(group, _)| *group == variant.group) {
            Some((_, runs)) => runs.push(report),
            None => groups.push((&variant.group, vec![report])),
        }
    }
    groups.retain(|(_, runs)| runs.len() > 1);
    let rank_group = |(_, mut runs): (&str, Vec<&Report>)| {
        runs.sort_by_key(|report| report.variant.as_ref().map(|variant| variant.position));
        let measured: Vec<_> = runs.iter().map(|report| Measurements::from_report(report, prices)).collect();
        let runs = runs.iter().zip(&measured);
        let runs: Vec<_> = runs.map(|(report, measurements)| RankInput { report, measurements }).collect();
        rank(&runs)
    };
    groups.into_iter().map(rank_group).collect()
}

/// The contents of the result files.
fn read_contents(results: &Results) -> Result<Vec<String>, Error> {
    let files = results.experiments.iter().filter_map(|finished| finished.path.as_ref());
    let text = |path: &PathBuf| {
        fs::read_to_string(path)
            .map_err(|error| Error::RunFile { path: path.clone(), reason: error.to_string() })
    };
    files.map(text).collect()
}

/// Joins the contents of result files, including fields unknown to this version.
fn json(files: &[String]) -> String {
    // A byte order mark in the middle is not valid JSON.
    let files: Vec<_> = files.iter().map(|file| file.trim_start_matches('\u{feff}').trim()).collect();
    match files[..] {
        [file] => format!("{file}\n"),
        _ => format!("[\n{}\n]\n", files.join(",\n")),
    }
}
