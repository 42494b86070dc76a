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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn folder(path: &str, item: &Item) -> Result<PathBuf, String> {
        folder_in_package(&Template::parse(path), item, "workspace")
    }

    #[test]
    fn a_path_that_cannot_be_used_is_refused_with_the_reason() {
        for (path, reason) in [
            ("src/none", "the workspace folder `"),
            ("..", "`..` is not inside the package"),
            ("src/../../cobalt-core", "`src/../../cobalt-core` is not inside the package"),
            ("/", "`/` is not inside the package"),
            (" ", "` ` is not inside the package"),
            ("src/{{ids}}", "the item has no field `ids` for `src/{{ids}}`; did you mean `id`?"),
        ] {
            let error = folder(path, &item! { "id": "a" }).unwrap_err();
            assert!(error.starts_with(reason), "{path}: {error}");
        }
        // A value cannot lead out of the package either.
        assert!(folder("src/{{id}}", &item! { "id": "../../cobalt-core" }).is_err());
    }
}
