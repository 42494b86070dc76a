//! `cargo cobalt list`: names the experiments.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::reporters::{Event, Listed, Paint, printable};
use serde::Serialize;

use crate::cli::{Color, List};
use crate::error::Error;
use crate::project::{Binary, Project, compile};
use crate::run::{Asked, Message, run_binary, variables};
use crate::terminal::{paint, print};

/// An experiment with the place that it was found in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    package: String,
    target: String,
    experiment: Listed,
}

const TITLES: [&str; 4] = ["experiment", "items", "tags", "test target"];

/// Asks each binary for its experiments, which reads their data and runs nothing.
pub(crate) fn list(arguments: &List, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let project = Project::read(&arguments.build)?;
    let candidates = project.candidates(&arguments.selection, &arguments.build, flags)?;
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for binary in &compile(&candidates, &arguments.build, color)?.binaries {
        ask(binary, arguments, variables(&project, binary, flags)?, &mut rows, &mut errors)?;
    }
    errors.extend(rows.iter().filter_map(|row| row.experiment.error.clone()));
    print(&if arguments.json { json(&rows)? } else { table(&rows, paint(&io::stdout())) })?;
    if !errors.is_empty() {
        return Err(Error::Broken(errors));
    }
    if rows.is_empty() {
        return Err(Error::NothingMatched("no experiment matches".to_owned()));
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(
    binary: &Binary,
    arguments: &List,
    variables: Vec<(String, OsString)>,
    rows: &mut Vec<Row>,
    errors: &mut Vec<String>,
) -> Result<(), Error> {
    let filters = &arguments.selection.filter;
    let asked = Asked { filters, list: true, arguments: &[], variables: &variables };
    let (mut said, mut greeted) = (Vec::new(), false);
    let status = run_binary(binary, asked, |message| match message {
        Message::Event(Event::Hello { .. }, _) => greeted = true,
        Message::Event(Event::Listed(experiment), _) => rows.push(Row {
            package: binary.package.name.to_string(),
            target: binary.target.clone(),
            experiment,
        }),
        Message::Event(Event::Failed { error }, _) => errors.push(error),
        // Of use only where it ends badly.
        Message::Stderr(line) => said.push(line),
        _ => {}
    })?;
    if !(status.success() && greeted) && errors.is_empty() {
        let said = said.join("\n");
        errors.push(format!("{} ended ({status}) before it named its experiments\n{said}", binary.name()));
    }
    Ok(())
}

fn json(rows: &[Row]) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(rows).map_err(|error| Error::Print(error.into()))?;
    Ok(text + "\n")
}

fn table(rows: &[Row], paint: Paint) -> String {
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let width = |column: usize| {
        let cells = cells.iter().map(|row| row[column].chars().count());
        cells.chain([TITLES[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; 4] = std::array::from_fn(width);
    let line = |cells: &[String; 4]| {
        let [name, items, tags, target] = cells;
        let [a, b, c, _] = widths;
        format!("{name:a$}  {items:>b$}  {tags:c$}  {target}")
    };
    let head = paint.faint(line(&TITLES.map(str::to_owned)));
    std::iter::once(head).chain(cells.iter().map(line)).map(|line| format!("{}\n", line.trim_end())).collect()
}

fn cells(row: &Row) -> [String; 4] {
    let Row { package, target, experiment } = row;
    [
        printable(&experiment.name).into_owned(),
        experiment.items.map_or_else(|| "?".to_owned(), |items| items.to_string()),
        printable(&experiment.tags.join(", ")).into_owned(),
        format!("{package}/{target}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |name: &str, items, tags: &[&str]| Row {
            package: "desk".to_owned(),
            target: "evals".to_owned(),
            experiment: Listed {
                name: name.to_owned(),
                tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
                items,
                runs: 1,
                evaluators: Vec::new(),
                thresholds: Vec::new(),
                file: "tests/evals.rs".to_owned(),
                line: 1,
                error: None,
            },
        };
        let rows = [row("help-desk", Some(45), &["v1", "smoke"]), row("sums", None, &[])];
        let expected = "experiment  items  tags       test target\n\
                        help-desk      45  v1, smoke  desk/evals\n\
                        sums            ?             desk/evals\n";
        assert_eq!(table(&rows, Paint::Plain), expected);
    }
}
