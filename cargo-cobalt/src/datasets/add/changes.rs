//! What is changed of items on their way into a file.

use cobalt::Item;
use cobalt::reporters::expected_field;
use serde_json::Value;

use super::wanted::Wanted;
use crate::cli::AddItems;
use crate::error::Error;
use crate::terminal::one_line;

/// The items as they are to be written.
pub(super) fn changed(wanted: &[Wanted<'_>], arguments: &AddItems) -> Result<Vec<Item>, Error> {
    let of_one = [("--expected", arguments.expected.is_some()), ("--id", arguments.id.is_some())];
    if let Some((flag, _)) = of_one.iter().find(|(_, is_given)| *is_given && wanted.len() > 1) {
        let items = wanted.len();
        return Err(Error::Arguments(format!(
            "`{flag}` is for one item, and {items} are to be added: add them one by one"
        )));
    }
    wanted.iter().map(|wanted| one(wanted, arguments)).collect()
}

fn one(wanted: &Wanted<'_>, arguments: &AddItems) -> Result<Item, Error> {
    let mut item = Item::clone(&wanted.item.input);
    let usual = "expectedOutput";
    // Where that is null, another field may be meant for something else.
    let field = if item.contains_key(usual) { usual } else { expected_field(&item).unwrap_or(usual) };
    if arguments.output_as_expected {
        let output = wanted.item.first().output.as_ref().ok_or_else(|| {
            let name = one_line(&wanted.name);
            Error::Arguments(format!(
                "`{name}` has no output in this run: write what is expected with `--expected`"
            ))
        })?;
        item.insert(field.to_owned(), output.value().clone());
    }
    let expected = arguments.expected.iter().map(|expected| (field.to_owned(), expected.clone()));
    let id = arguments.id.iter().map(|id| ("id".to_owned(), Value::String(id.clone())));
    item.extend(arguments.set.iter().cloned().chain(expected).chain(id));
    Ok(item)
}
