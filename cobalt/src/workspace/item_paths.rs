//! Paths and texts of settings with the fields of an item, and files of the package that they name.

use std::path::PathBuf;

use cobalt_core::item::Item;
use cobalt_core::paths;
use cobalt_core::wording::suggest_or_list;

use crate::template::Template;

/// The folder of the package that a template names; `what` it is for.
pub fn folder_in_package(template: &Template, item: &Item, what: &str) -> Result<PathBuf, String> {
    let path = path_in_package(&filled(template, item)?)?;
    match path.is_dir() {
        true => Ok(path),
        false => Err(format!(
            "the {what} folder `{}` does not exist; create it, or correct the path `{}`",
            path.display(),
            template.text()
        )),
    }
}

/// A path inside the package.
pub fn path_in_package(path: &str) -> Result<PathBuf, String> {
    let root = paths::package_root();
    let inside = paths::normalize(&root.join(path));
    if path.trim().is_empty() || !inside.starts_with(paths::normalize(&root)) {
        return Err(format!(
            "`{path}` is not inside the package `{}`; move the files into the package",
            root.display()
        ));
    }
    Ok(inside)
}

/// Fills a template with the fields of the item; a missing one is an error.
pub fn filled(template: &Template, item: &Item) -> Result<String, String> {
    match template.unresolved(item)[..] {
        [] => Ok(template.render(item)),
        [field, ..] => {
            let known = item.keys().map(String::as_str);
            let instead = suggest_or_list(field, known);
            Err(format!("the item has no field `{field}` for `{}`; {instead}", template.text()))
        }
    }
}
