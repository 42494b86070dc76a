//! `cargo cobalt export`: exports past runs in another format.

use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum as _;
use cobalt::command::config::{Config, Flags};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::store::{ReportFile, StoreError};

use crate::atomic_file::write_with;
use crate::cli::{Export, Format};
use crate::config::settings;
use crate::error::Error;
use crate::formats::{junit, markdown, write_csv};
use crate::html::html;
use crate::lookup::RunLookup;
use crate::results::{FinishedExperiment, Results};
use crate::runs::report_file_of;
use crate::terminal::one_line;

pub fn export(arguments: &Export, flags: &Flags) -> Result<ExitCode, Error> {
    let format = format(arguments)?;
    let settings = settings(flags)?;
    let found = RunLookup::open(&settings)?.resolve(&arguments.runs)?;
    for note in found.iter().filter_map(|run| run.note.as_ref()) {
        eprintln!("note: {}", one_line(note));
    }
    check_columns(format, arguments.output.is_none())?;
    // In any format, files that are not result files are refused.
    let files =
        found.iter().map(|run| report_file_of(run, settings.prices())).collect::<Result<Vec<_>, _>>()?;
    match &arguments.output {
        None => {
            let mut stdout = BufWriter::new(io::stdout());
            render(files, format, &settings, &mut stdout)
                .and_then(|()| stdout.flush())
                .map_err(Error::Print)?;
        }
        Some(path) => {
            write_with(path, |file| render(files, format, &settings, file))
                .map_err(|source| Error::ReportFile { path: path.clone(), source })?;
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

/// Checks that this program can write columns, and that they do not go to a terminal.
fn check_columns(format: Format, is_stdout: bool) -> Result<(), Error> {
    let name = match format {
        Format::Arrow => "Arrow",
        Format::Parquet => "Parquet",
        _ => return Ok(()),
    };
    if cfg!(not(feature = "parquet")) {
        return Err(Error::Arguments(format!(
            "this `cargo-cobalt` was built without {name}; in a clone of Cobalt, run `cargo install --locked --path \
             cargo-cobalt --features parquet`, or use a release archive"
        )));
    }
    if is_stdout && io::stdout().is_terminal() {
        return Err(Error::Arguments(format!(
            "a terminal cannot show {name}; write a file with `--output PATH`"
        )));
    }
    Ok(())
}

/// Writes columns, item by item.
#[cfg(feature = "parquet")]
fn write_columns(
    files: &[ReportFile],
    format: Format,
    settings: &Config,
    to: &mut (impl Write + Send),
) -> io::Result<()> {
    use crate::columnar::ColumnarFormat;

    let columns = if format == Format::Arrow { ColumnarFormat::Arrow } else { ColumnarFormat::Parquet };
    crate::columnar::write_columns(files, settings.prices(), columns, to).map_err(io::Error::other)
}

#[cfg(not(feature = "parquet"))]
fn write_columns(_: &[ReportFile], _: Format, _: &Config, _: &mut (impl Write + Send)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn render(
    files: Vec<ReportFile>,
    format: Format,
    settings: &Config,
    to: &mut (impl Write + Send),
) -> io::Result<()> {
    let as_text: fn(&Results) -> String = match format {
        Format::Csv => return write_csv(to, &files, settings.prices()),
        Format::Json => return json(&files, to),
        Format::Arrow | Format::Parquet => return write_columns(&files, format, settings, to),
        Format::Html => html,
        Format::Junit => junit,
        Format::Markdown => markdown::markdown,
    };
    let rankings = rank_groups(&files, settings.prices()).map_err(io::Error::other)?;
    let finished = files.into_iter().map(FinishedExperiment::of).collect::<Result<_, _>>();
    let mut results = Results::of(finished.map_err(io::Error::other)?);
    results.rankings = rankings;
    to.write_all(as_text(&results).as_bytes())
}

/// The rankings of groups of variants with several runs among these.
fn rank_groups(files: &[ReportFile], prices: &PriceTable) -> Result<Vec<Ranking>, StoreError> {
    let mut groups: Vec<(&str, Vec<&ReportFile>)> = Vec::new();
    for file in files {
        let Some(variant) = &file.report().variant else { continue };
        match groups.iter_mut().find(|(group, _)| *group == variant.group) {
            Some((_, runs)) => runs.push(file),
            None => groups.push((&variant.group, vec![file])),
        }
    }
    groups.retain(|(_, runs)| runs.len() > 1);
    let rank_group = |(_, mut runs): (&str, Vec<&ReportFile>)| {
        runs.sort_by_key(|file| file.report().variant.as_ref().map(|variant| variant.position));
        let measured = runs.iter().map(|file| file.measurements(prices)).collect::<Result<Vec<_>, _>>()?;
        let runs = runs.iter().zip(&measured);
        let runs: Vec<_> =
            runs.map(|(file, measurements)| RankInput { report: file.report(), measurements }).collect();
        Ok(rank(&runs))
    };
    groups.into_iter().map(rank_group).collect()
}

/// Joins the contents of result files, including fields unknown to this version. Those in parts are put together.
fn json(files: &[ReportFile], to: &mut impl Write) -> io::Result<()> {
    for (index, file) in files.iter().enumerate() {
        if files.len() > 1 {
            to.write_all(if index == 0 { b"[\n" } else { b",\n" })?;
        }
        match file.parts() {
            Some(_) => file.write_whole(to)?,
            None => {
                let text = fs::read_to_string(file.path())?;
                // A byte order mark in the middle is not valid JSON.
                to.write_all(text.trim_start_matches('\u{feff}').trim().as_bytes())?;
                if files.len() == 1 {
                    to.write_all(b"\n")?;
                }
            }
        }
    }
    to.write_all(if files.len() > 1 { b"\n]\n" } else { b"" })
}
