//! `cargo cobalt list`: lists the experiments.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use cobalt::command::RequestKind;
use cobalt::command::config::Flags;
use cobalt_core::reporters::{Event, Listed, escape_control, format_fetch};
use cobalt_core::wording::{self, count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::{BuildOptions, Color, List, Selection};
use crate::error::Error;
use crate::project::{Binary, BinarySource, BuildOutput, CargoBuild};
use crate::run::{BinaryRequest, Message, check_names, listing_failed, run_binary, variables};
use crate::terminal::{Align, paint, print, print_json, table};

/// An experiment with its package and test target.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The package name.
    pub package: String,
    /// The test target name.
    pub target: String,
    pub experiment: Listed,
}

const TITLES: [(&str, Align); 4] = [
    ("experiment", Align::Left),
    ("items", Align::Right),
    ("tags", Align::Left),
    ("test target", Align::Left),
];

/// Asks each binary for its experiments, which reads their data but runs nothing.
pub fn list(arguments: &List, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let Experiments { rows, mut errors, built } =
        query(&arguments.selection, &arguments.build, flags, color)?;
    errors.extend(rows.iter().filter_map(|row| row.experiment.error.clone()));
    if arguments.json {
        print_json(&rows).map_err(Error::Print)?;
    } else if !rows.is_empty() {
        print(&table(TITLES, rows.iter().map(cells), paint(&io::stdout()))).map_err(Error::Print)?;
        print(&fetched_lines(&rows)).map_err(Error::Print)?;
    }
    if !errors.is_empty() {
        return Err(Error::Multiple(errors));
    }
    if rows.is_empty() {
        return Err(no_experiments(&arguments.selection, &built));
    }
    Ok(ExitCode::SUCCESS)
}

/// The selected experiments of a project.
#[derive(Debug)]
pub struct Experiments {
    pub rows: Vec<Row>,
    /// Why binaries did not list their experiments. An experiment that cannot run has its error in its row.
    pub errors: Vec<String>,
    pub built: BuildOutput,
}

/// Builds the selected test targets and lists their experiments.
pub fn query(
    selection: &Selection,
    build: &BuildOptions,
    flags: &Flags,
    color: Color,
) -> Result<Experiments, Error> {
    query_source(selection, &CargoBuild::read(build, color)?, flags)
}

/// Lists the experiments of the selected test targets.
pub fn query_source(
    selection: &Selection,
    source: &dyn BinarySource,
    flags: &Flags,
) -> Result<Experiments, Error> {
    let flags = &source.flags(flags);
    let mut built = source.binaries(&source.candidates(selection, flags)?)?;
    let mut errors = std::mem::take(&mut built.not_built);
    let with_variables = |binary| Ok((binary, variables(source, binary, flags)?));
    let binaries = built.binaries.iter().map(with_variables).collect::<Result<Vec<_>, Error>>()?;
    let clashes = check_names(&binaries, selection)?;
    let mut rows = Vec::new();
    for (binary, variables) in &binaries {
        query_binary(binary, selection, variables, &mut rows, &mut errors)?;
    }
    errors.extend(clashes);
    Ok(Experiments { rows, errors, built })
}

/// The error if there is no experiment to list.
pub fn no_experiments(selection: &Selection, built: &BuildOutput) -> Error {
    Error::NothingMatched(no_experiments_message(selection, built))
}

fn no_experiments_message(selection: &Selection, built: &BuildOutput) -> String {
    if built.binaries.is_empty() {
        return format!("no experiments found: {}", built.skipped.join("; "));
    }
    let filters: Vec<_> = selection.filter.iter().map(ToString::to_string).collect();
    let filters = wording::join_quoted(filters.iter().map(String::as_str));
    format!("no experiment matches {filters}; `cargo cobalt list` shows all experiments")
}

fn query_binary(
    binary: &Binary,
    selection: &Selection,
    variables: &[(String, OsString)],
    rows: &mut Vec<Row>,
    errors: &mut Vec<String>,
) -> Result<(), Error> {
    let asked =
        BinaryRequest { selection, wanted: RequestKind::List, traces: false, arguments: &[], variables };
    let (mut said, mut greeted, errors_before) = (Vec::new(), false, errors.len());
    let ended = run_binary(binary, asked, |message| match message {
        Message::Event(event, _) => match *event {
            Event::Hello { .. } => greeted = true,
            Event::Listed(experiment) => rows.push(Row {
                package: binary.package.name.to_string(),
                target: binary.target.clone(),
                experiment: *experiment,
            }),
            Event::Failed { error } => errors.push(error),
            _ => {}
        },
        // Progress of a long fetch.
        Message::Stderr(line) if line.starts_with("fetching ") => {
            eprintln!("{}", escape_control(line.trim_end()))
        }
        // Shown only if the binary fails.
        Message::Stderr(line) => said.push(line),
        Message::Stdout(_) => {}
    })?;
    if !(ended.is_success() && greeted) && errors.len() == errors_before {
        errors.push(listing_failed(binary, ended.status, &said));
    }
    Ok(())
}

/// The fetched datasets, one line each.
fn fetched_lines(rows: &[Row]) -> String {
    let of_row = |row: &Row| {
        let Listed { dataset, fetched: fetch, items, .. } = &row.experiment;
        let items = count(items.unwrap_or_default(), "item");
        Some(format!("data: {} ({items})\n", format_fetch(dataset.as_deref()?, fetch.as_ref()?)))
    };
    let lines: BTreeSet<_> = rows.iter().filter_map(of_row).collect();
    lines.into_iter().collect()
}

fn cells(row: &Row) -> [String; 4] {
    let Row { package, target, experiment } = row;
    let ignored = experiment.ignored_without.as_ref();
    let ignored = ignored.map(|variable| format!(" (ignored: {variable} is not set)"));
    [
        format!("{}{}", experiment.name, ignored.unwrap_or_default()),
        experiment.items.map_or_else(|| "?".to_owned(), |items| items.to_string()),
        experiment.tags.join(", "),
        format!("{package}/{target}"),
    ]
}
