//! New items of a data file: the changes from the command line, and how they are written.

use cobalt::Dataset;
use cobalt_core::item::Item;
use cobalt_core::redact::{REDACTED, has_mark, redacted};
use cobalt_core::wording::{count, join_quoted};
use serde_json::Value;

use super::edit::DataFile;
use crate::cli::AddItems;
use crate::error::Error;
use crate::terminal::{one_line, print};

/// The maximum number of new items that are named.
const MOST_NAMED: usize = 20;

/// An item to add to the file.
#[derive(Debug)]
pub struct NewItem {
    pub name: String,
    pub item: Item,
}

/// Refuses changes of one item if several would be added.
pub fn check_single(items: usize, arguments: &AddItems) -> Result<(), Error> {
    let of_one = [("--expected", arguments.expected.is_some()), ("--id", arguments.id.is_some())];
    match of_one.iter().find(|(_, is_given)| *is_given && items > 1) {
        Some((flag, _)) => Err(Error::Arguments(format!(
            "`{flag}` applies to a single item, but {items} would be added: add them one at a time"
        ))),
        None => Ok(()),
    }
}

/// Sets the fields from the command line; `expected` is the field of the expected output.
pub fn set_fields(item: &mut Item, expected: &str, arguments: &AddItems) {
    let expected = arguments.expected.iter().map(|value| (expected.to_owned(), value.clone()));
    let id = arguments.id.iter().map(|id| ("id".to_owned(), Value::String(id.clone())));
    item.extend(arguments.set.iter().cloned().chain(expected).chain(id));
}

/// Writes the items and reports the result.
pub fn write_items(file: DataFile, new: Vec<NewItem>, arguments: &AddItems) -> Result<(), Error> {
    let path = one_line(&arguments.file.display().to_string());
    new.iter().for_each(|new| warn_about_secrets(new, &path));
    if new.is_empty() {
        eprintln!("Nothing added to `{path}`");
        return Ok(());
    }
    let names = names(&new);
    let place = if file.exists() { "" } else { "the new file " };
    let what = format!("{} to {place}`{path}`: {names}", count(new.len(), "item"));
    let draft = file.append(new.into_iter().map(|new| new.item).collect())?;
    if arguments.dry_run {
        print(&format!("{}\n", draft.inserted())).map_err(Error::Print)?;
        eprintln!("Would add {what}");
    } else {
        draft.save()?;
        eprintln!("Added {what}");
    }
    Ok(())
}

/// Warns about fields that contain a redaction placeholder, or what looks like a secret.
fn warn_about_secrets(NewItem { name, item }: &NewItem, path: &str) {
    let those = |holds: fn(&str) -> bool| {
        let fields =
            item.iter().filter(|(_, value)| any_string(value, holds)).map(|(field, _)| field.as_str());
        let fields: Vec<_> = fields.collect();
        (!fields.is_empty()).then(|| one_line(&join_quoted(fields)))
    };
    if let Some(fields) = those(has_mark) {
        eprintln!(
            "warning: `{name}` contains `{REDACTED}` in {fields}, the placeholder for a secret in saved outputs: put the intended \
             value into `{path}`"
        );
    }
    if let Some(fields) = those(|text| redacted(text) != text) {
        eprintln!(
            "warning: `{name}` contains what looks like a key or a password in {fields}: if it is one, remove it from `{path}`"
        );
    }
}

/// Whether `holds` is true for any string in a value.
fn any_string(value: &Value, holds: fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(values) => values.iter().any(|value| any_string(value, holds)),
        Value::Object(fields) => fields.values().any(|value| any_string(value, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The names of the first items.
fn names(new: &[NewItem]) -> String {
    let named = join_quoted(new.iter().take(MOST_NAMED).map(|new| &*new.name));
    match new.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The key that matches an item across runs: its `id`, else a hash of its `input`, else of the whole item. Not unique.
pub fn item_key(item: &Item) -> String {
    Dataset::from_items([item.clone()]).keys().swap_remove(0)
}
