//! Where the next page begins: a text that is good for one run and one choice of its items.

use cobalt::Report;
use cobalt::command::hash::sha256_hex;

use super::item::Wanted;
use crate::error::Error;

/// How many digits of the hash a cursor has.
const DIGITS: usize = 16;

/// The cursor of a place among the items that are wanted of a run.
pub fn at(place: usize, report: &Report, wanted: &Wanted) -> String {
    format!("{place}-{}", choice(report, wanted))
}

/// The place of a cursor.
pub fn place(cursor: &str, report: &Report, wanted: &Wanted) -> Result<usize, Error> {
    let place = cursor.split_once('-').and_then(|(place, choice)| Some((place.parse().ok()?, choice)));
    match place {
        Some((place, choice)) if choice == self::choice(report, wanted) => Ok(place),
        Some(_) => Err(Error::Arguments(format!(
            "`cursor` is one of another run than `{}`, or of other `status`, `evaluator` or `maxScore`: give those of the \
             answer that it came with, or leave `cursor` out to begin with the worst item",
            report.id
        ))),
        None => Err(malformed()),
    }
}

/// What is said of a text that is no cursor.
pub fn malformed() -> Error {
    Error::Arguments(
        "`cursor` is none of ours: give `nextCursor` of an answer as it is, or leave it out to begin anew"
            .to_owned(),
    )
}

/// A hash of what a cursor is good for.
fn choice(report: &Report, wanted: &Wanted) -> String {
    // Writing plain texts and numbers cannot fail.
    let wanted = serde_json::to_string(wanted).unwrap_or_default();
    sha256_hex(&[&report.id, "\0", &wanted])[..DIGITS].to_owned()
}
