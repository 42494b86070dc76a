//! Reads manifests and adds to them without changing existing content.

/// The name, version and features of a model crate.
fn model_dependency(model: AgentCrate) -> (&'static str, &'static str, &'static [&'static str]) {
    match model {
        AgentCrate::Rig => ("rig", "0.44", &[]),
        AgentCrate::AsyncOpenai => ("async-openai", "0.43", &["chat-completion"]),
    }
}

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::dependency::{Dependency, InitError};
use crate::cli::AgentCrate;
use crate::project::{LIBRARY, LIBRARY_CRATE, harness};

const DEPENDENCY_COMMENT: &str = "# The package `cobalt` in the package registry is unrelated.\n";
const TARGET_COMMENT: &str =
    "# Experiments are test cases: `cobalt::main()` replaces the default test harness.\n";

/// A `Cargo.toml` and the additions to it.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    document: DocumentMut,
    encoding: Encoding,
    /// Whether the document can be written back byte for byte.
    is_faithful: bool,
    additions: Vec<Addition>,
}

/// How the tests of a package can use serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serde {
    /// With its derive macros.
    Derives,
    /// The dev-dependency lacks the feature `derive`.
    WithoutDerive,
    Missing,
}

#[derive(Debug)]
struct Addition {
    by_hand: String,
    description: String,
}

/// Properties of the file that the document does not keep.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    byte_order_mark: bool,
    carriage_returns: bool,
}

impl Encoding {
    fn restore(self, text: &str) -> String {
        let mark = if self.byte_order_mark { "\u{feff}" } else { "" };
        let text = if self.carriage_returns { text.replace('\n', "\r\n") } else { text.to_owned() };
        format!("{mark}{text}")
    }
}

impl Manifest {
    pub fn read(path: &Path) -> Result<Self, InitError> {
        let text = fs::read_to_string(path).map_err(InitError::file("read", path))?;
        Self::parse(path, &text)
    }

    pub fn parse(path: &Path, text: &str) -> Result<Self, InitError> {
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document: DocumentMut = bare.parse().map_err(|error| InitError::syntax(path, bare, &error))?;
        let encoding =
            Encoding { byte_order_mark: bare.len() < text.len(), carriage_returns: bare.contains("\r\n") };
        let written = encoding.restore(&document.to_string());
        // A missing final line break may be added.
        let is_faithful = written.strip_prefix(text).is_some_and(|rest| rest.trim_ascii().is_empty());
        Ok(Self { path: path.to_owned(), document, encoding, is_faithful, additions: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub fn has_package(&self) -> bool {
        self.document.contains_key("package")
    }

    pub fn has_workspace(&self) -> bool {
        self.document.contains_key("workspace")
    }

    /// Whether the manifest contains settings of Cobalt.
    pub fn has_settings(&self) -> bool {
        self.get(&["package", "metadata", "cobalt"]).is_some()
    }

    /// The paths and patterns in a list of the workspace: `members` or `exclude`.
    pub fn workspace_list(&self, key: &str) -> Vec<&str> {
        let list = self.get(&["workspace", key]).and_then(Item::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The workspace's dependency on the library, if any, and its name.
    pub fn workspace_dependency(&self) -> Option<(&'static str, &Item)> {
        self.get(&["workspace", "dependencies"]).and_then(find_library)
    }

    /// Whether the workspace declares serde for its members.
    pub fn shares_serde(&self) -> bool {
        self.get(&["workspace", "dependencies", "serde"]).is_some()
    }

    /// The package's dependency on serde as tests see it, which must have the feature `derive`.
    pub fn serde(&self) -> Serde {
        let has_derive = |serde: &Item| {
            let features = serde.get("features").and_then(Item::as_array);
            features.into_iter().flatten().any(|feature| feature.as_str() == Some("derive"))
        };
        let find = |kind| self.document.get(kind)?.get("serde");
        let of_tests = find("dev-dependencies").or_else(|| find("dev_dependencies"));
        if find("dependencies").into_iter().chain(of_tests).any(has_derive) {
            Serde::Derives
        } else if of_tests.is_some() {
            Serde::WithoutDerive
        } else {
            Serde::Missing
        }
    }

    /// The package's unconditional dependency on the library, and its name.
    pub fn dependency(&self) -> Option<(&'static str, &Item)> {
        self.dependencies().find(|(_, dependency)| !is_optional(dependency))
    }

    /// The package's optional dependency on the library.
    pub fn optional_dependency(&self) -> Option<(&'static str, &Item)> {
        self.dependencies().find(|(_, dependency)| is_optional(dependency))
    }

    fn dependencies(&self) -> impl Iterator<Item = (&'static str, &Item)> {
        let targets = self.document.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(TableLike::iter).map(|(_, target)| target);
        let places = std::iter::once(self.document.as_item()).chain(targets);
        places.flat_map(|place| {
            let kinds = ["dev-dependencies", "dev_dependencies", "dependencies"];
            kinds.into_iter().filter_map(|kind| find_library(place.get(kind)?))
        })
    }

    /// The `harness` setting of a test target; `None` if the manifest does not list the target.
    pub fn harness(&self, target: &str) -> Option<bool> {
        harness(&self.document, "test", target)
    }

    fn get(&self, path: &[&str]) -> Option<&Item> {
        path.iter().try_fold(self.document.as_item(), |item, key| item.get(key))
    }

    pub fn add_dependency(&mut self, name: &str, dependency: &Dependency) {
        self.add_dev_dependency(name, dependency.to_table(), DEPENDENCY_COMMENT);
    }

    /// Adds serde with the feature `derive`, as the workspace declares it if it does.
    pub fn add_serde(&mut self, is_shared: bool) {
        let mut serde = InlineTable::new();
        if is_shared {
            serde.insert("workspace", true.into());
        } else {
            serde.insert("version", "1".into());
        }
        serde.insert("features", Array::from_iter(["derive"]).into());
        self.add_dev_dependency("serde", serde, "");
    }

    fn add_dev_dependency(&mut self, name: &str, dependency: InlineTable, comment: &str) {
        self.add_to("dev-dependencies", name, dependency, comment);
    }

    /// Adds a dependency to a section.
    fn add_to(&mut self, section: &str, name: &str, dependency: InlineTable, comment: &str) {
        let dotted = if dependency.is_dotted() { ".workspace = true" } else { &format!(" = {dependency}") };
        let by_hand = format!("[{section}]\n{name}{dotted}\n");
        self.additions.push(Addition { by_hand, description: format!("the dependency `{name}`") });
        // Cargo reads the older spelling only if the newer one is missing.
        let older = section.replace('-', "_");
        let kind = if self.document.contains_key(&older) { &*older } else { section };
        if !self.document.contains_key(kind) {
            let section = self.append_table("");
            self.document.insert(kind, Item::Table(section));
        }
        match &mut self.document[kind] {
            Item::Value(Value::InlineTable(table)) => append_to_inline(table, name, dependency),
            Item::Table(table) => {
                let may_comment = !table.is_dotted() && !dependency.is_dotted();
                table.insert(name, value(dependency));
                if let Some(mut key) = table.key_mut(name).filter(|_| may_comment) {
                    key.leaf_decor_mut().set_prefix(comment);
                }
            }
            _ => {}
        }
    }

    /// Adds a test target with `harness = false`; `path` is its file, if it is not the default one.
    pub fn add_test(&mut self, target: &str, path: Option<&str>) {
        let by_path = path.map(|path| format!("path = \"{path}\"\n")).unwrap_or_default();
        let by_hand = format!("[[test]]\nname = \"{target}\"\n{by_path}harness = false\n");
        self.additions.push(Addition { by_hand, description: format!("the test target `{target}`") });
        let fill = |table: &mut dyn TableLike| {
            table.insert("name", value(target));
            if let Some(path) = path {
                table.insert("path", value(path));
            }
            table.insert("harness", value(false));
        };
        if let Some(Item::Value(Value::Array(tests))) = self.document.get_mut("test") {
            let mut test = InlineTable::new();
            fill(&mut test);
            append_to_array(tests, test.into());
            return;
        }
        let mut test = self.append_table(TARGET_COMMENT);
        fill(&mut test);
        let tests = self.document.entry("test").or_insert_with(|| ArrayOfTables::new().into());
        if let Some(tests) = tests.as_array_of_tables_mut() {
            tests.push(test);
        }
    }

    /// Adds the crate of a sample agent to a section, unless the package depends on it.
    pub fn add_crate(&mut self, section: &str, built_on: AgentCrate) {
        let (name, version, features) = model_dependency(built_on);
        let is_known = |kind: &&str| self.get(&[kind, name]).is_some();
        if ["dependencies", "dev-dependencies", "dev_dependencies"].iter().any(is_known) {
            return;
        }
        let mut dependency = InlineTable::new();
        dependency.insert("version", version.into());
        if !features.is_empty() {
            dependency.insert("features", Array::from_iter(features.iter().copied()).into());
        }
        self.add_to(section, name, dependency, "");
    }

    pub fn add_member(&mut self, member: &str) {
        let by_hand = format!("[workspace]\nmembers = [\"{member}\"]\n");
        self.additions.push(Addition { by_hand, description: format!("the member `{member}`") });
        if let Some(workspace) = self.document.get_mut("workspace").and_then(Item::as_table_like_mut) {
            let members = workspace.entry("members").or_insert_with(|| value(Array::new()));
            if let Some(members) = members.as_array_mut() {
                append_to_array(members, member.into());
            }
        }
    }

    /// A short description of the additions.
    pub fn additions(&self) -> String {
        let words: Vec<_> = self.additions.iter().map(|addition| addition.description.as_str()).collect();
        words.join(", ")
    }

    /// An empty table at the end of the file, after trailing comments.
    fn append_table(&mut self, comment: &str) -> Table {
        let end = self.document.trailing().as_str().unwrap_or_default().trim_end().to_owned();
        self.document.set_trailing("");
        let separator = if end.is_empty() { "" } else { "\n" };
        let mut table = Table::new();
        table.decor_mut().set_prefix(format!("{end}{separator}\n{comment}"));
        table.set_position(Some(isize::MAX / 2 + isize::try_from(self.additions.len()).unwrap_or_default()));
        table
    }

    /// The text with the additions; `None` if there are none.
    pub fn render_changes(&self) -> Result<Option<String>, InitError> {
        if self.additions.is_empty() {
            return Ok(None);
        }
        if !self.is_faithful {
            let additions: Vec<_> = self.additions.iter().map(|addition| addition.by_hand.as_str()).collect();
            return Err(InitError::Format { path: self.path.clone(), additions: additions.join("\n") });
        }
        Ok(Some(self.encoding.restore(&self.document.to_string())))
    }
}

/// The library in a section of dependencies: under the name of its crate or, as `cargo add` writes it, its package.
fn find_library(section: &Item) -> Option<(&'static str, &Item)> {
    [LIBRARY_CRATE, LIBRARY].into_iter().find_map(|name| Some((name, section.get(name)?)))
}

fn is_optional(dependency: &Item) -> bool {
    dependency.get("optional").and_then(Item::as_bool).unwrap_or(false)
}

/// Adds a dependency to `{ … }`.
fn append_to_inline(table: &mut InlineTable, name: &str, mut dependency: InlineTable) {
    dependency.set_dotted(false);
    let mut dependency = Value::from(dependency);
    let has_comma = table.trailing_comma();
    if let Some((_, last)) = table.iter_mut().last().filter(|_| !has_comma) {
        let end = suffix(last);
        last.decor_mut().set_suffix("");
        dependency.decor_mut().set_suffix(end);
    }
    if table.is_empty() {
        table.set_trailing("");
    }
    table.insert(name, dependency);
}

/// Adds an element to `[ … ]`, on its own line if the others are.
fn append_to_array(array: &mut Array, mut element: Value) {
    let has_comma = array.trailing_comma();
    // The text before the closing bracket, after the comma or the last element.
    let end = match array.iter_mut().last() {
        Some(last) if !has_comma => {
            let end = suffix(last);
            last.decor_mut().set_suffix("");
            end
        }
        _ => array.trailing().as_str().unwrap_or_default().to_owned(),
    };
    let last = array.iter().last().and_then(|last| last.decor().prefix()?.as_str().map(str::to_owned));
    let indent = last.as_deref().and_then(|prefix| prefix.rsplit_once('\n')).map(|(_, indent)| indent);
    let (before, after) = match (indent, end.rsplit_once('\n')) {
        (Some(indent), Some((comments, closing))) => {
            (format!("{}\n{indent}", comments.trim_end()), format!("\n{closing}"))
        }
        (Some(indent), None) => (format!("\n{indent}"), end),
        (None, _) => (if array.is_empty() { "" } else { " " }.to_owned(), end),
    };
    element.decor_mut().set_prefix(before);
    if has_comma || array.is_empty() {
        array.set_trailing(after);
    } else {
        element.decor_mut().set_suffix(after);
    }
    array.push_formatted(element);
}

fn suffix(value: &Value) -> String {
    value.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default().to_owned()
}
