//! A run in parts: only the items that are shown are read.

use std::io::{self, BufWriter, Write};

use cobalt_core::report::Report;
use cobalt_core::store::{ReportFile, RowName};

use super::items::{named_items, to_file_json};
use crate::datasets::strip_experiment;
use crate::error::Error;
use crate::terminal::eprint_wrapped;

/// The maximum number of items in a table.
const SHOWN: usize = 1000;
/// The maximum number of items that a prefix selects.
const MATCHES: usize = 20;

/// The report with the items in error or below a pass mark first.
pub fn worst_items(file: Box<ReportFile>) -> Result<Report, Error> {
    let total = file.item_count();
    let report = file.worst_items(SHOWN)?;
    if report.items.len() < total {
        eprint_wrapped(&format!(
            "note: {} of {total} items are shown, those in error or below a pass mark first; `cargo cobalt export {} --format csv` \
             has all of them",
            report.items.len(),
            report.id
        ));
    }
    Ok(report)
}

/// The report with the items that a key, a test-case name, an index or a prefix selects.
pub fn items_named(file: &ReportFile, typed: &str) -> Result<Report, Error> {
    let wanted = strip_experiment(file.report(), typed).unwrap_or(typed);
    let (mut exact, mut begun) = (Vec::new(), Vec::new());
    let rows = file.parts().into_iter().flat_map(|parts| parts.rows());
    for (position, row) in rows.enumerate() {
        let row = row?;
        let name = match &row.name {
            RowName::Key => None,
            RowName::Index => Some(format!("{:04}", row.index)),
            RowName::Other(name) => Some(name.to_string()),
        };
        let names = || [Some(&row.key), name.as_ref()].into_iter().flatten();
        if names().any(|name| name == wanted) || wanted.parse() == Ok(row.index) {
            exact.push(position);
        } else if begun.len() < MATCHES && names().any(|name| name.starts_with(wanted)) {
            begun.push(position);
        }
    }
    let positions = if exact.is_empty() { begun } else { exact };
    Ok(file.with_items_at(&positions)?)
}

/// Prints all items as a JSON list, one after the other.
pub fn print_all(file: &ReportFile) -> io::Result<()> {
    let mut to = BufWriter::new(io::stdout().lock());
    to.write_all(b"[")?;
    for (index, item) in file.items().enumerate() {
        let item = item.map_err(io::Error::other)?.into_owned();
        let report = Report { items: vec![item], ..file.report().without_items() };
        to.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        for named in &named_items(&report) {
            serde_json::to_writer(&mut to, &to_file_json(named))?;
        }
    }
    to.write_all(b"\n]\n")?;
    to.flush()
}
