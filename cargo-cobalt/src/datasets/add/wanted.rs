//! Which items of a run are meant.

use std::collections::HashSet;

use cobalt::Report;
use cobalt::name::case_name;
use cobalt::report::{ItemNames, ItemResult};
use cobalt::suggest;

use crate::error::Error;
use crate::formats::notable;
use crate::terminal::one_line;

/// An item of a run that is to be added.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    /// The item's key in the run.
    pub(super) name: String,
    pub(super) item: &'a ItemResult,
}

/// The items that are named, and those that failed if these are asked for, in the order of the data set.
pub(super) fn wanted<'a>(
    report: &'a Report,
    named: &[String],
    failed: bool,
) -> Result<Vec<Wanted<'a>>, Error> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    let (keys, cases) = (names.keys(), names.case_names());
    let mut is_wanted = vec![false; report.items.len()];
    for name in named {
        let place = place(report, name, &keys, &cases).ok_or_else(|| unknown(report, name, &keys))?;
        is_wanted[place] = true;
    }
    let failing = if failed { failing(report) } else { Vec::new() };
    failing.into_iter().for_each(|place| is_wanted[place] = true);
    let all = report.items.iter().zip(keys).zip(is_wanted).filter(|(_, is_wanted)| *is_wanted);
    Ok(all.map(|((item, name), _)| Wanted { name, item }).collect())
}

/// By the key, else the name in test cases, also behind that of the experiment, else the index.
pub(crate) fn place(report: &Report, name: &str, keys: &[String], cases: &[String]) -> Option<usize> {
    let find = |known: &[String], name: &str| known.iter().position(|known| known == name);
    let index = || {
        name.parse().ok().and_then(|index: usize| report.items.iter().position(|item| item.index == index))
    };
    find(keys, name)
        .or_else(|| find(cases, name))
        .or_else(|| within(report, name).and_then(|name| find(cases, name)))
        .or_else(index)
}

/// What stands behind the experiment's name and `::`, in either form of that name.
pub(crate) fn within<'n>(report: &Report, name: &'n str) -> Option<&'n str> {
    let forms = [report.name.clone(), case_name(&report.name)];
    forms.iter().find_map(|form| name.strip_prefix(form.as_str())?.strip_prefix("::"))
}

/// The places of the items in error, and of those with a score below its mark.
fn failing(report: &Report) -> Vec<usize> {
    let indexes: HashSet<_> = notable(report).iter().map(|notable| notable.item.index).collect();
    (0..report.items.len()).filter(|place| indexes.contains(&report.items[*place].index)).collect()
}

fn unknown(report: &Report, name: &str, keys: &[String]) -> Error {
    let meant = suggest::closest(name, keys.iter().map(String::as_str));
    let meant = meant.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
    let failing = failing(report);
    let there = match failing.is_empty() {
        true => format!("no item failed; there are {}", suggest::list(keys.iter().map(String::as_str))),
        false => {
            format!("those that failed are {}", suggest::list(failing.iter().map(|place| &*keys[*place])))
        }
    };
    let id = &report.id;
    Error::NothingMatched(one_line(&format!(
        "run {id} of `{}` has no item `{name}`{meant}; {there}",
        report.name
    )))
}
