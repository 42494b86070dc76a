//! Finds an item of a run by its name.

use cobalt_core::experiment_name::case_name;
use cobalt_core::report::Report;

use cobalt_core::store::{ReportFile, StoreError};
use cobalt_core::wording::{self, group_thousands};

use crate::error::Error;
use crate::results::NamedItem;
use crate::terminal::one_line;

/// Maximum number of keys listed for an ambiguous prefix.
const MOST_NAMED: usize = 5;

/// The rest after the experiment's name and `::`, in either form of that name.
pub fn strip_experiment<'n>(report: &Report, name: &'n str) -> Option<&'n str> {
    let forms = [report.name.clone(), case_name(&report.name)];
    forms.iter().find_map(|form| name.strip_prefix(form.as_str())?.strip_prefix("::"))
}

/// Finds an item by key, else by test-case name (with or without the experiment's name), else by index, else by the unique prefix of
/// a key or name.
pub fn find(file: &ReportFile, typed: &str) -> Result<NamedItem, Error> {
    let names = file.case_names()?;
    let stripped = strip_experiment(file.report(), typed);
    let prefix = stripped.unwrap_or(typed);
    let index = typed.parse().ok();
    let mut exact = [None; 4];
    let mut begun = Prefixed::default();
    for (position, item) in file.outcomes().enumerate() {
        let item = item?;
        let case = names.name(position, &item.key, item.index);
        let matches = [
            item.key == typed,
            case == typed,
            stripped.is_some_and(|name| case == name),
            index == Some(item.index),
        ];
        for (found, _) in exact.iter_mut().zip(matches).filter(|(_, matches)| *matches) {
            found.get_or_insert(position);
        }
        if !prefix.is_empty() && (item.key.starts_with(prefix) || case.starts_with(prefix)) {
            begun.add(position, item.key);
        }
    }
    let position = match exact.into_iter().flatten().next() {
        Some(position) => position,
        None => begun.only(file, typed)?,
    };
    let (key, item) = file.keyed_items_at(&[position])?.remove(0);
    let case = names.name(position, &key, item.index).into_owned();
    Ok(NamedItem { case, key, item: item.into_owned() })
}

/// The items whose key or name has a prefix.
#[derive(Default)]
struct Prefixed {
    /// The position of the first.
    first: Option<usize>,
    /// The keys of the first few.
    keys: Vec<String>,
    count: usize,
}

impl Prefixed {
    fn add(&mut self, position: usize, key: String) {
        self.first.get_or_insert(position);
        self.count += 1;
        if self.keys.len() < MOST_NAMED {
            self.keys.push(key);
        }
    }

    /// The position of the only one.
    fn only(&self, file: &ReportFile, typed: &str) -> Result<usize, Error> {
        let (id, name) = (&file.report().id, &file.report().name);
        let problem = match (self.count, self.first) {
            (1, Some(position)) => return Ok(position),
            (0, _) | (_, None) => {
                let keys: Vec<_> =
                    file.outcomes().map(|item| Ok(item?.key)).collect::<Result<_, StoreError>>()?;
                let known = wording::suggest_or_list(typed, keys.iter().map(String::as_str));
                format!("run {id} of `{name}` has no item `{typed}`; {known}")
            }
            (count, _) => {
                let keys = wording::join_quoted(self.keys.iter().map(String::as_str));
                let more = count - self.keys.len();
                let more = if more > 0 {
                    format!(" and {} more", group_thousands(more as u64))
                } else {
                    String::new()
                };
                format!(
                    "`{typed}` matches several items of run {id} of `{name}`: {keys}{more}; use a longer prefix"
                )
            }
        };
        Err(Error::NothingMatched(one_line(&problem)))
    }
}
