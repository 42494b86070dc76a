//! Which test targets bring their own `main`: what cargo's metadata does not tell, and the manifest does.

use std::path::Path;

use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Whether a test target has the usual front end; `None` where the manifest does not list it.
pub(crate) fn harness(manifest: &DocumentMut, target: &str) -> Option<bool> {
    let tests: Vec<&dyn TableLike> = match manifest.get("test")? {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    };
    let test = tests.into_iter().find(|test| name(*test) == Some(target))?;
    Some(test.get("harness").and_then(Item::as_bool).unwrap_or(true))
}

/// The name of a target, which cargo takes from its file where there is no other.
fn name(test: &dyn TableLike) -> Option<&str> {
    let text = |key| test.get(key).and_then(Item::as_str);
    text("name").or_else(|| Path::new(text("path")?).file_stem()?.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_harness_are_known_by_their_name_or_their_file() {
        let tables = "[[test]]\nname = \"evals\"\nharness = false\n[[test]]\nname = \"unit\"\n\
                      [[test]]\npath = \"tests/more.rs\"\nharness = false\n";
        let inline = "test = [{ name = \"evals\", harness = false }, { name = \"unit\" }, \
                      { path = \"tests/more.rs\", harness = false }]\n";
        for text in [tables, inline] {
            let manifest = text.parse().unwrap();
            let found = ["evals", "unit", "more", "other"].map(|target| harness(&manifest, target));
            assert_eq!(found, [Some(false), Some(true), Some(false), None], "{text}");
        }
    }
}
