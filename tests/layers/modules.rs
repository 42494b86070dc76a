//! The modules of a crate and the dependencies between its files, with re-exports resolved, from the source text alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, Meta, UseTree, Visibility};

/// The segments of a path from the crate root.
type Segments = Vec<String>;

/// A module, in its own file or inline.
#[derive(Debug)]
struct Module {
    file: PathBuf,
    /// Its declarations by name; true for modules.
    declared: BTreeMap<String, bool>,
    imports: Vec<Import>,
    /// The paths in its code.
    paths: Vec<Segments>,
}

/// An imported name.
#[derive(Debug)]
struct Import {
    path: Segments,
    /// The local name; `None` for a glob.
    name: Option<String>,
    is_public: bool,
}

/// The modules of a crate, without its tests.
#[derive(Debug, Default)]
pub(crate) struct Modules(BTreeMap<Segments, Module>);

/// Names that a file uses from other files.
pub(crate) type Dependencies = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

impl Modules {
    /// Reads the crate whose root is `lib.rs` or `main.rs` in `src`.
    pub(crate) fn read(src: &Path) -> Self {
        let mut modules = Self::default();
        let root = ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|file| file.exists());
        modules.add_file(Vec::new(), &root.expect("a crate has a root"), src);
        modules
    }

    /// The files, without duplicates.
    pub(crate) fn files(&self) -> BTreeSet<&Path> {
        self.0.values().map(|module| &*module.file).collect()
    }

    /// Adds a file; the files of its modules are in `folder`.
    fn add_file(&mut self, path: Segments, file: &Path, folder: &Path) {
        let source = fs::read_to_string(file).expect("the file of a module can be read");
        let parsed = syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(path, file, folder, &parsed.items);
    }

    fn add(&mut self, path: Segments, file: &Path, folder: &Path, items: &[Item]) {
        let mut module = Module {
            file: file.to_owned(),
            declared: BTreeMap::new(),
            imports: Vec::new(),
            paths: Vec::new(),
        };
        for item in items {
            match item {
                Item::Mod(inner) if !is_for_tests(&inner.attrs) => {
                    let name = inner.ident.to_string();
                    module.declared.insert(name.clone(), true);
                    let inner_path = [&path[..], std::slice::from_ref(&name)].concat();
                    let inner_folder = folder.join(&name);
                    match &inner.content {
                        Some((_, items)) => self.add(inner_path, file, &inner_folder, items),
                        None => {
                            let beside =
                                file_of(&inner.attrs, file).unwrap_or(folder.join(format!("{name}.rs")));
                            let inside = inner_folder.join("mod.rs");
                            let file = if beside.exists() { beside } else { inside };
                            self.add_file(inner_path, &file, &inner_folder);
                        }
                    }
                }
                Item::Use(item) if !is_for_tests(&item.attrs) => {
                    let is_public = !matches!(item.vis, Visibility::Inherited);
                    module.import(&item.tree, &mut Vec::new(), is_public);
                }
                item => {
                    if let Some(name) = name_of(item) {
                        module.declared.insert(name, false);
                    }
                    if !attributes_of(item).is_some_and(is_for_tests) {
                        paths_in(item.to_token_stream(), &mut module.paths);
                    }
                }
            }
        }
        // Of two modules with the same name for different features, only the first is read.
        self.0.entry(path).or_insert(module);
    }

    /// What each file uses from others. Re-exports count only `with_reexports`: a `mod.rs` that re-exports names of its files
    /// does not use them.
    pub(crate) fn dependencies(&self, with_reexports: bool) -> Dependencies {
        let mut dependencies = Dependencies::new();
        for (at, module) in &self.0 {
            let counts = |import: &&Import| with_reexports || !import.is_public;
            let imports = module.imports.iter().filter(counts).map(|import| &import.path);
            for path in imports.chain(&module.paths) {
                let Some((target, name)) = self.resolve(at, path, &mut Vec::new()) else { continue };
                let file = &self.0[&target].file;
                if *file != module.file {
                    let taken = dependencies.entry(module.file.clone()).or_default();
                    taken.entry(file.clone()).or_default().insert(name.unwrap_or("*".to_owned()));
                }
            }
        }
        dependencies
    }

    /// Resolves a path in the module `at` to the declaring module and the name; no name if the path is the module itself.
    fn resolve(
        &self,
        at: &[String],
        path: &[String],
        seen: &mut Vec<(Segments, String)>,
    ) -> Option<(Segments, Option<String>)> {
        let first = path.first()?;
        let mut rest = path;
        let mut from = at.to_vec();
        match &**first {
            "crate" => (from, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    from.pop()?;
                    rest = &rest[1..];
                }
            }
            // A module or an imported name; otherwise it belongs to another crate or a type.
            name => {
                let module = &self.0[at];
                let is_known = module.declared.get(name) == Some(&true)
                    || module
                        .imports
                        .iter()
                        .any(|import| import.name.as_deref() == Some(name) && import.path != path);
                if !is_known {
                    return None;
                }
            }
        }
        self.walk(from, rest, seen)
    }

    /// Follows a path from a module, through its modules and imports.
    fn walk(
        &self,
        mut from: Segments,
        mut path: &[String],
        seen: &mut Vec<(Segments, String)>,
    ) -> Option<(Segments, Option<String>)> {
        while let [name, rest @ ..] = path {
            let module = self.0.get(&from)?;
            match module.declared.get(name) {
                Some(true) => {
                    from.push(name.clone());
                    path = rest;
                    continue;
                }
                Some(false) => return Some((from, Some(name.clone()))),
                None => {}
            }
            if name == "*" {
                break;
            }
            let step = (from.clone(), name.clone());
            if seen.contains(&step) {
                return None;
            }
            seen.push(step);
            let imported = module.imports.iter().find(|import| import.name.as_ref() == Some(name));
            if let Some(import) = imported {
                return match self.resolve(&from, &import.path, seen)? {
                    (target, None) => self.walk(target, rest, seen),
                    found => Some(found),
                };
            }
            let globs = module.imports.iter().filter(|import| import.name.is_none());
            return globs.into_iter().find_map(|glob| {
                let (target, item) = self.resolve(&from, &glob.path, seen)?;
                if item.is_some() { None } else { self.walk(target, path, seen) }
            });
        }
        Some((from, None))
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, prefix: &mut Segments, is_public: bool) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.import(&path.tree, prefix, is_public);
                prefix.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix, is_public);
                }
            }
            UseTree::Glob(_) => self.imports.push(Import { path: prefix.clone(), name: None, is_public }),
            UseTree::Name(name) if name.ident == "self" => {
                let name = prefix.last().cloned();
                self.imports.push(Import { path: prefix.clone(), name, is_public });
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                let path = [&prefix[..], std::slice::from_ref(&name)].concat();
                self.imports.push(Import { path, name: Some(name), is_public });
            }
            UseTree::Rename(rename) => {
                let path = [&prefix[..], &[rename.ident.to_string()]].concat();
                self.imports.push(Import { path, name: Some(rename.rename.to_string()), is_public });
            }
        }
    }
}

/// Dependency cycles: sets of files that reach each other.
pub(crate) fn cycles(dependencies: &Dependencies) -> Vec<BTreeSet<PathBuf>> {
    let reached = |from: &PathBuf| {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(file) = left.pop() {
            for next in dependencies.get(file).into_iter().flat_map(|taken| taken.keys()) {
                if reached.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        reached
    };
    let reach: BTreeMap<_, _> = dependencies.keys().map(|file| (file, reached(file))).collect();
    let cycle = |file: &PathBuf| {
        let mutual =
            reach[file].iter().filter(|other| reach.get(other).is_some_and(|reach| reach.contains(file)));
        mutual.cloned().collect::<BTreeSet<_>>()
    };
    let cycles: BTreeSet<_> = dependencies.keys().map(cycle).filter(|cycle| !cycle.is_empty()).collect();
    cycles.into_iter().collect()
}

/// Paths with two or more segments in code, including macros.
fn paths_in(code: TokenStream, paths: &mut Vec<Segments>) {
    let mut path = Segments::new();
    let mut colons = 0;
    for token in code {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() && colons < 2 => {
                colons += 1
            }
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    finish(&mut path, paths);
                }
                path.push(ident.to_string());
                colons = 0;
            }
            token => {
                finish(&mut path, paths);
                colons = 0;
                if let TokenTree::Group(group) = token {
                    paths_in(group.stream(), paths);
                }
            }
        }
    }
    finish(&mut path, paths);
}

fn finish(path: &mut Segments, paths: &mut Vec<Segments>) {
    let path = std::mem::take(path);
    if path.len() > 1 {
        paths.push(path);
    }
}

fn is_for_tests(attributes: impl AsRef<[Attribute]>) -> bool {
    attributes.as_ref().iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition == "test" || condition == "doctest" || condition.starts_with("all (test")
        }
        _ => false,
    })
}

/// The file of `#[path = "…"]`.
fn file_of(attributes: &[Attribute], beside: &Path) -> Option<PathBuf> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => {
            let path = pair.value.to_token_stream().to_string();
            Some(beside.with_file_name(path.trim_matches('"')))
        }
        _ => None,
    })
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn attributes_of(item: &Item) -> Option<&Vec<Attribute>> {
    match item {
        Item::Const(item) => Some(&item.attrs),
        Item::Enum(item) => Some(&item.attrs),
        Item::Fn(item) => Some(&item.attrs),
        Item::Impl(item) => Some(&item.attrs),
        Item::Macro(item) => Some(&item.attrs),
        Item::Mod(item) => Some(&item.attrs),
        Item::Static(item) => Some(&item.attrs),
        Item::Struct(item) => Some(&item.attrs),
        Item::Trait(item) => Some(&item.attrs),
        Item::Type(item) => Some(&item.attrs),
        Item::Use(item) => Some(&item.attrs),
        _ => None,
    }
}
