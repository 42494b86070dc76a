//! Which of the items are in the file already.

use std::collections::HashMap;

use cobalt::dataset::item_hash;
use cobalt::{Item, suggest};

use crate::datasets::values::plain;
use crate::datasets::write::{DataFile, WriteError, key};
use crate::terminal::one_line;

/// An item that comes into the file.
#[derive(Debug)]
pub(super) struct New {
    pub(super) name: String,
    pub(super) item: Item,
}

/// What becomes of the items.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) new: Vec<New>,
    /// Of those that are there already, a sentence each.
    pub(super) kept: Vec<String>,
    /// Of those that cannot be added, why.
    pub(super) refused: Vec<String>,
}

/// Tells new items from those that are there, and from those that are called as another one is.
pub(super) fn sorted(
    file: &DataFile,
    items: impl Iterator<Item = (String, Result<Item, WriteError>)>,
) -> Sorted {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in file.items().iter().enumerate() {
        places.entry(key(item)).or_default().push(index);
    }
    let mut added: HashMap<String, usize> = HashMap::new();
    let mut sorted = Sorted::default();
    for (name, item) in items {
        let item = match item {
            Ok(item) => item,
            Err(error) => {
                sorted.refused.push(format!("`{name}` is refused: {error}"));
                continue;
            }
        };
        let key = key(&item);
        let there = places.get(&key).map(Vec::as_slice).unwrap_or_default();
        if let Some(place) = there.iter().find(|place| is_equal(&file.items()[**place], &item)) {
            sorted.kept.push(format!("`{name}` is there already, in line {}", file.line(*place)));
        } else if let Some(place) = there.first() {
            sorted.refused.push(conflict(&name, &item, file, *place));
        } else if let Some(new) = added.get(&key).map(|place| &sorted.new[*place]) {
            match is_equal(&new.item, &item) {
                true => sorted.kept.push(format!("`{name}` is equal to `{}`, and added once", new.name)),
                false => sorted.refused.push(format!(
                    "`{name}` is refused: `{}` is added, and has the same {}: add it by itself, with another `--id`",
                    new.name,
                    what(&item)
                )),
            }
        } else {
            added.insert(key, sorted.new.len());
            sorted.new.push(New { name, item });
        }
    }
    sorted
}

/// Whatever the spelling of numbers.
fn is_equal(one: &Item, other: &Item) -> bool {
    one == other || item_hash(one) == item_hash(other)
}

/// What tells an item from others: an id that says nothing does not.
fn what(item: &Item) -> &'static str {
    if item.get("id").is_some_and(|id| plain(id) == key(item)) { "id" } else { "input" }
}

/// Another item has the name.
fn conflict(name: &str, item: &Item, file: &DataFile, place: usize) -> String {
    let there = &file.items()[place];
    let fields = there.keys().chain(item.keys().filter(|field| !there.contains_key(*field)));
    let differing: Vec<_> =
        fields.filter(|field| there.get(*field) != item.get(*field)).map(String::as_str).collect();
    format!(
        "`{name}` is refused: in line {} is an item of the same {}, with other content in {}: change that one, or add this \
         one with another `--id`",
        file.line(place),
        what(item),
        one_line(&suggest::list(differing))
    )
}
