//! Finds the items of a file that can be called from outside its crate: public items in public modules, and re-exports.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, UseTree, Visibility};

/// A public item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicItem {
    /// Its path, starting with the crate.
    pub path: String,
    /// Its kind, as a Rust keyword.
    pub kind: &'static str,
}

impl fmt::Display for PublicItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.path, self.kind)
    }
}

/// Whether a file is a module of the crate with this root file.
pub fn contains_file(root: &Path, file: &Path) -> bool {
    public_items(root, "", file).is_some()
}

/// The items of a file that can be called from outside the crate with this root file and name; `None` if the file is not a module of it.
pub fn public_items(root: &Path, name: &str, file: &Path) -> Option<Vec<PublicItem>> {
    let folder = root.parent()?;
    let module = Module {
        path: vec![name.to_owned()],
        is_public: true,
        file: root.to_owned(),
        children: folder.to_owned(),
    };
    let mut callable = find(&module, file, &mut BTreeSet::new())?.callable;
    callable.sort_by(|one, other| one.path.cmp(&other.path));
    callable.dedup();
    Some(callable)
}

/// The file that was searched for.
struct FoundModule {
    /// The name of its module.
    name: String,
    items: Vec<Item>,
    callable: Vec<PublicItem>,
}

/// A module with its file.
struct Module {
    path: Vec<String>,
    /// Whether it can be named from outside.
    is_public: bool,
    file: PathBuf,
    /// The folder of its child modules' files.
    children: PathBuf,
}

/// Searches for the file in a module and its children. Skips files in `seen`, as a file may include itself.
fn find(module: &Module, wanted: &Path, seen: &mut BTreeSet<PathBuf>) -> Option<FoundModule> {
    let file = module.file.canonicalize().ok()?;
    if !seen.insert(file.clone()) {
        return None;
    }
    let items = syn::parse_file(&fs::read_to_string(&module.file).ok()?).ok()?.items;
    if file == wanted {
        let mut callable = Vec::new();
        add_items(&items, &module.path, module.is_public, &mut callable);
        return Some(FoundModule { name: module.path.last().cloned().unwrap_or_default(), items, callable });
    }
    find_below(module, &items, wanted, seen)
}

fn find_below(
    module: &Module,
    items: &[Item],
    wanted: &Path,
    seen: &mut BTreeSet<PathBuf>,
) -> Option<FoundModule> {
    for item in items {
        let Item::Mod(declared) = item else { continue };
        let name = declared.ident.to_string();
        let path = [&module.path[..], std::slice::from_ref(&name)].concat();
        let is_public = module.is_public && is_public(&declared.vis);
        let children = module.children.join(&name);
        let below = |file| Module { path, is_public, file, children };
        let found = match &declared.content {
            Some((_, items)) => find_below(&below(module.file.clone()), items, wanted, seen),
            None => file_of(module, declared).and_then(|file| {
                let mut module = below(file);
                if module.file.ends_with("mod.rs") || path_attribute(&declared.attrs).is_some() {
                    module.children = module.file.parent()?.to_owned();
                }
                find(&module, wanted, seen)
            }),
        };
        if let Some(mut found) = found {
            // Items of a private module may be re-exported here.
            if module.is_public {
                add_re_exports(module, items, &name, &mut found);
            }
            return Some(found);
        }
    }
    None
}

fn file_of(module: &Module, declared: &ItemMod) -> Option<PathBuf> {
    if let Some(path) = path_attribute(&declared.attrs) {
        return Some(module.file.parent()?.join(path));
    }
    let name = declared.ident.to_string();
    let places = [module.children.join(format!("{name}.rs")), module.children.join(name).join("mod.rs")];
    places.into_iter().find(|file| file.is_file())
}

/// The file of a `#[path]` attribute.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
        _ => None,
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Adds the public items of a module and its inline modules, if the module can be named.
fn add_items(items: &[Item], path: &[String], is_named: bool, found: &mut Vec<PublicItem>) {
    for item in items {
        if let Item::Mod(ItemMod { ident, vis, content: Some((_, items)), .. }) = item {
            let path = [path, &[ident.to_string()]].concat();
            add_items(items, &path, is_named && is_public(vis), found);
        }
        if let Some((name, what)) = public(item).filter(|_| is_named) {
            found.push(PublicItem { path: format!("{}::{name}", path.join("::")), kind: what });
        }
    }
}

fn public(item: &Item) -> Option<(String, &'static str)> {
    let (visibility, name, what) = match item {
        Item::Fn(it) if it.sig.asyncness.is_some() => (&it.vis, &it.sig.ident, "async fn"),
        Item::Fn(it) => (&it.vis, &it.sig.ident, "fn"),
        Item::Struct(it) => (&it.vis, &it.ident, "struct"),
        Item::Enum(it) => (&it.vis, &it.ident, "enum"),
        Item::Trait(it) => (&it.vis, &it.ident, "trait"),
        Item::Const(it) => (&it.vis, &it.ident, "const"),
        Item::Static(it) => (&it.vis, &it.ident, "static"),
        Item::Type(it) => (&it.vis, &it.ident, "type"),
        _ => return None,
    };
    is_public(visibility).then(|| (name.to_string(), what))
}

/// Adds what a module re-exports from the file; `below` is its child module on the way to the file.
fn add_re_exports(module: &Module, items: &[Item], below: &str, found: &mut FoundModule) {
    let FoundModule { name, items: those, callable } = found;
    for item in items {
        let Item::Use(used) = item else { continue };
        if is_public(&used.vis) {
            let re_export = ReExport { path: module.path.join("::"), of: [name, below], items: those };
            re_export.add(&used.tree, None, callable);
        }
    }
}

/// A `pub use` in a module, and the items that it may re-export.
struct ReExport<'a> {
    /// The path of the module.
    path: String,
    /// The names of the modules that may contain the items.
    of: [&'a str; 2],
    items: &'a [Item],
}

impl ReExport<'_> {
    /// Adds the re-exported items. `last` is the path segment before the tree.
    fn add(&self, tree: &UseTree, last: Option<&str>, found: &mut Vec<PublicItem>) {
        let mut add = |wanted: Option<&str>, as_name: Option<&str>| {
            for (name, what) in self.items.iter().filter_map(public) {
                if last.is_some_and(|last| self.of.contains(&last))
                    && wanted.is_none_or(|wanted| wanted == name)
                {
                    let path = format!("{}::{}", self.path, as_name.unwrap_or(&name));
                    found.push(PublicItem { path, kind: what });
                }
            }
        };
        match tree {
            UseTree::Path(path) => self.add(&path.tree, Some(&path.ident.to_string()), found),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, last, found)),
            UseTree::Name(name) => add(Some(&name.ident.to_string()), None),
            UseTree::Rename(name) => add(Some(&name.ident.to_string()), Some(&name.rename.to_string())),
            UseTree::Glob(_) => add(None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn crate_with(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn found(folder: &TempDir, file: &str) -> Option<Vec<String>> {
        let root = folder.path().canonicalize().unwrap();
        let found = public_items(&root.join("lib.rs"), "desk", &root.join(file))?;
        Some(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn public_items_are_named_by_their_module_path() {
        let folder = crate_with(&[
            ("lib.rs", "pub mod agents;\nmod hidden;\npub fn root() {}"),
            ("agents/mod.rs", "pub mod router;"),
            (
                "agents/router.rs",
                "pub async fn route() {}\nfn own() {}\npub struct Team;\npub mod more { pub fn f() {} }",
            ),
            ("hidden.rs", "pub fn unseen() {}"),
            ("stray.rs", "pub fn stray() {}"),
        ]);
        let router = ["`desk::agents::router::Team` (struct)", "`desk::agents::router::more::f` (fn)"];
        let route = "`desk::agents::router::route` (async fn)";
        assert_eq!(found(&folder, "agents/router.rs").unwrap(), [&router[..], &[route]].concat());
        assert_eq!(found(&folder, "lib.rs").unwrap(), ["`desk::root` (fn)"]);
        assert_eq!(found(&folder, "hidden.rs").unwrap(), [""; 0], "its module is private");
        assert_eq!(found(&folder, "stray.rs"), None);
    }

    #[test]
    fn files_that_include_themselves_are_read_once() {
        let to_itself = "#[path = \"lib.rs\"]\nmod one;\n#[path = \"lib.rs\"]\nmod other;\n".repeat(2);
        let folder =
            crate_with(&[("lib.rs", &format!("{to_itself}pub mod agent;")), ("agent.rs", "pub fn ask() {}")]);
        assert_eq!(found(&folder, "agent.rs").unwrap(), ["`desk::agent::ask` (fn)"]);
        assert_eq!(found(&folder, "stray.rs"), None);
    }

    #[test]
    fn re_exported_items_are_named_by_the_path_of_the_re_export() {
        let folder = crate_with(&[
            (
                "lib.rs",
                "mod inner;\n#[path = \"odd.rs\"]\nmod even;\npub use inner::{ask, Reply as Answer};\npub use even::*;",
            ),
            ("inner.rs", "pub fn ask() {}\npub fn other() {}\npub struct Reply;"),
            ("odd.rs", "pub fn even() {}"),
        ]);
        assert_eq!(found(&folder, "inner.rs").unwrap(), ["`desk::Answer` (struct)", "`desk::ask` (fn)"]);
        assert_eq!(found(&folder, "odd.rs").unwrap(), ["`desk::even` (fn)"]);
    }
}
