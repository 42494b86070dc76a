//! `cargo cobalt dataset dedupe`: takes items that are there twice out of a data file.

mod found;

use std::fmt::Write as _;
use std::process::ExitCode;

use cobalt::Dataset;
use cobalt::config::Flags;
use cobalt::wording::count;

use self::found::{Duplicates, Reason};
use super::write::DataFile;
use crate::cli::DedupeDataset;
use crate::config::settings;
use crate::error::Error;
use crate::terminal::{one_line, print};

pub(super) fn dedupe(arguments: &DedupeDataset, flags: &Flags) -> Result<ExitCode, Error> {
    let file = DataFile::read_existing(&arguments.file, &settings(flags)?.layout().datasets())?;
    let found = Duplicates::find(file.items(), arguments)?;
    let listing = listing(&file, &found, arguments.by.as_deref());
    let path = one_line(&arguments.file.display().to_string());
    let (all, gone) = (file.items().len(), found.removed.len());
    let indexes: Vec<_> = found.removed.keys().copied().collect();
    let draft = file.without(&indexes)?;
    let (stay, gone) = (count(all - gone, "item"), count(gone, "duplicate"));
    let done = match &arguments.output {
        _ if arguments.dry_run => format!("would remove {gone} of {all} from `{path}`"),
        // Whoever asks for a file gets one.
        Some(output) => {
            draft.save_as(output)?;
            format!("wrote {stay} to `{}`, without {gone}", one_line(&output.display().to_string()))
        }
        None if indexes.is_empty() => {
            format!("`{path}` is as it was: there is no duplicate among {}", count(all, "item"))
        }
        None => {
            draft.save()?;
            format!("removed {gone} from `{path}`, which has {stay} now")
        }
    };
    // The work is done by now, also where nobody reads on, as in front of `head`.
    print(&listing).map_err(Error::Print)?;
    eprintln!("{done}");
    Ok(ExitCode::SUCCESS)
}

/// A line for each item that goes, and for each that stays although its input is there twice.
fn listing(file: &DataFile, found: &Duplicates, by: Option<&str>) -> String {
    let keys = Dataset::from_items(file.items().iter().cloned()).keys();
    let named = |index: usize| format!("line {} (`{}`)", file.line(index), one_line(&keys[index]));
    let mut text = String::new();
    for (index, (first, reason)) in &found.removed {
        let why = match reason {
            Reason::Equal => "is equal to".to_owned(),
            Reason::EqualInput => "has the input of".to_owned(),
            Reason::EqualField => format!("has the `{}` of", one_line(by.unwrap_or_default())),
            Reason::Near(similarity) => format!("is {similarity:.2} like"),
        };
        let also = match found.differing.contains(index) {
            true => ", with another expected output",
            false => "",
        };
        let _ = writeln!(text, "{}: {why} {}{also}", named(*index), named(*first));
    }
    for (index, first) in &found.conflicts {
        let _ = writeln!(
            text,
            "{} stays: its input is that of {}, and its expected output another; `--by input` removes it",
            named(*index),
            named(*first)
        );
    }
    text
}
