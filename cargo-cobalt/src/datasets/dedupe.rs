//! `cargo cobalt dataset dedupe`: removes duplicate items from a data file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::process::ExitCode;

use cobalt::Dataset;
use cobalt::command::config::Flags;
use cobalt_core::item::{Item, value_hash};
use cobalt_core::wording::{self, count};
use serde_json::Value;

use super::duplicates::{equal_inputs, equal_items, expected, similar_inputs};
use super::edit::DataFile;
use crate::cli::DedupeDataset;
use crate::config::settings;
use crate::error::Error;
use crate::terminal::{one_line, print};

pub fn dedupe(arguments: &DedupeDataset, flags: &Flags) -> Result<ExitCode, Error> {
    let file = DataFile::read_existing(&arguments.file, &settings(flags)?.layout().datasets())?;
    let found = Duplicates::find(file.items(), arguments)?;
    let listing = listing(&file, &found, arguments.by.as_deref());
    let path = one_line(&arguments.file.display().to_string());
    let (all, gone) = (file.items().len(), found.removed.len());
    let indexes: Vec<_> = found.removed.keys().copied().collect();
    let draft = file.remove(&indexes)?;
    let (stay, gone) = (count(all - gone, "item"), count(gone, "duplicate"));
    let done = match &arguments.output {
        _ if arguments.dry_run => format!("Would remove {gone} of {all} from `{path}`"),
        // With `--output`, the file is written in any case.
        Some(output) => {
            draft.save_as(output)?;
            format!("Wrote {stay} to `{}`, without {gone}", one_line(&output.display().to_string()))
        }
        None if indexes.is_empty() => {
            format!("`{path}` is unchanged: no duplicates among {}", count(all, "item"))
        }
        None => {
            draft.save()?;
            format!("Removed {gone} from `{path}`; {stay} left")
        }
    };
    // Print after the work is done: the reader may have closed the pipe, as with `head`.
    print(&listing).map_err(Error::Print)?;
    eprintln!("{done}");
    Ok(ExitCode::SUCCESS)
}

/// A line for each removed item, and for each kept item whose input is a duplicate.
fn listing(file: &DataFile, found: &Duplicates, by: Option<&str>) -> String {
    let keys = Dataset::from_items(file.items().iter().cloned()).keys();
    let named = |index: usize| format!("line {} (`{}`)", file.line(index), one_line(&keys[index]));
    let mut text = String::new();
    for (index, (first, reason)) in &found.removed {
        let why = match reason {
            DuplicateReason::Equal => "is identical to".to_owned(),
            DuplicateReason::EqualInput => "has the same input as".to_owned(),
            DuplicateReason::EqualField => format!("has the same `{}` as", one_line(by.unwrap_or_default())),
            DuplicateReason::Similar(similarity) => format!("has a similarity of {similarity:.2} to"),
        };
        let also = match found.differing.contains(index) {
            true => ", but a different expected output",
            false => "",
        };
        let _ = writeln!(text, "{}: {why} {}{also}", named(*index), named(*first));
    }
    for (index, first) in &found.conflicts {
        let _ = writeln!(
            text,
            "{} kept: same input as {}, but a different expected output; use `--by input` to remove it",
            named(*index),
            named(*first)
        );
    }
    text
}

/// Why an item is a duplicate of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DuplicateReason {
    /// All fields are equal.
    Equal,
    /// The inputs are equal.
    EqualInput,
    /// The named field is equal.
    EqualField,
    /// The inputs have this similarity.
    Similar(f64),
}

/// The duplicates among items, by index.
#[derive(Debug, Default)]
pub struct Duplicates {
    /// The removed items, each with the item that stays and the reason.
    pub removed: BTreeMap<usize, (usize, DuplicateReason)>,
    /// The removed items whose expected output differs from that of the item that stays.
    pub differing: BTreeSet<usize>,
    /// The items that stay because their expected output differs from that of an earlier item with the same input.
    pub conflicts: Vec<(usize, usize)>,
}

impl Duplicates {
    pub fn find(items: &[Item], arguments: &DedupeDataset) -> Result<Self, Error> {
        let mut found = Self::default();
        let all: Vec<_> = items.iter().collect();
        found.add(items, equal_items(&all), DuplicateReason::Equal);
        if let Some(field) = &arguments.by {
            found.add(items, equal_by_field(items, field)?, DuplicateReason::EqualField);
            return Ok(found);
        }
        // If the expected outputs differ, one of them is wrong, and only a person can decide which.
        found.conflicts = conflicts(items, &equal_inputs(&all));
        if let Some(bound) = arguments.near {
            found.add_near(items, &all, bound);
        }
        found.conflicts.retain(|(index, _)| !found.removed.contains_key(index));
        Ok(found)
    }

    /// The first of each group stays.
    fn add(&mut self, items: &[Item], groups: Vec<Vec<usize>>, reason: DuplicateReason) {
        for group in groups {
            for index in group[1..].iter().filter(|index| !items[**index].values().any(has_inexact_integer)) {
                let Entry::Vacant(entry) = self.removed.entry(*index) else { continue };
                entry.insert((group[0], reason));
                if !keeps_expected_output(&items[group[0]], &items[*index]) {
                    self.differing.insert(*index);
                }
            }
        }
    }

    /// Items with similar inputs, unless their expected outputs differ.
    fn add_near(&mut self, items: &[Item], all: &[&Item], bound: f64) {
        let equal = equal_inputs(all).into_iter().flat_map(|group| {
            let first = group[0];
            group.into_iter().skip(1).map(move |index| (index, first, DuplicateReason::EqualInput))
        });
        let near = similar_inputs(all, bound).into_iter().flat_map(|group| {
            let first = group.first;
            group
                .others
                .into_iter()
                .map(move |(index, similarity)| (index, first, DuplicateReason::Similar(similarity)))
        });
        for (index, first, reason) in equal.chain(near) {
            if keeps_expected_output(&items[first], &items[index])
                && !items[index].values().any(has_inexact_integer)
            {
                self.removed.entry(index).or_insert((first, reason));
            }
        }
    }
}

/// Whether a value contains an integer too large to be read exactly: a different one may look equal, so its item stays.
fn has_inexact_integer(value: &Value) -> bool {
    /// From here on, floating-point numbers cannot represent every integer.
    const INEXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|number| number.abs() >= INEXACT)
        }
        Value::Array(values) => values.iter().any(has_inexact_integer),
        Value::Object(fields) => fields.values().any(has_inexact_integer),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Whether removing the second item loses no expected output.
fn keeps_expected_output(first: &Item, second: &Item) -> bool {
    let hash = |item| expected(item).map(value_hash);
    expected(second).is_none() || hash(first) == hash(second)
}

/// Items with the same input as an earlier one but a different expected output, each with that one.
fn conflicts(items: &[Item], groups: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let differs = |first: usize, index: usize| {
        expected(&items[first]).is_some() && !keeps_expected_output(&items[first], &items[index])
    };
    let of_group = |group: &Vec<usize>| -> Vec<_> {
        let first = group[0];
        group[1..].iter().filter(|index| differs(first, **index)).map(|index| (*index, first)).collect()
    };
    groups.iter().flat_map(of_group).collect()
}

/// The indexes of items in which this field is equal, in groups of two or more. A missing, null or empty value equals no other.
fn equal_by_field(items: &[Item], field: &str) -> Result<Vec<Vec<usize>>, Error> {
    let is_given = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    let mut by_hash: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(value) = item.get(field).filter(is_given) {
            by_hash.entry(value_hash(value)).or_default().push(index);
        }
    }
    let names: BTreeSet<_> = items.iter().flat_map(Item::keys).map(String::as_str).collect();
    if !names.is_empty() && !names.contains(field) {
        let instead = wording::suggest_or_list(field, names.iter().copied());
        return Err(Error::Arguments(format!("no item has a field `{field}`; {instead}")));
    }
    Ok(by_hash.into_values().filter(|group| group.len() > 1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_numbers_that_are_too_long_to_be_told_apart_stay() {
        let items: Vec<Item> = ["{\"n\": [100000000000000000001]}", "{\"n\": [100000000000000000002]}"]
            .map(|text| serde_json::from_str(text).unwrap())
            .into();
        let groups = equal_items(&items.iter().collect::<Vec<_>>());
        assert_eq!(groups, [[0, 1]]);
        let mut found = Duplicates::default();
        found.add(&items, groups, DuplicateReason::Equal);
        assert!(found.removed.is_empty());
    }
}
