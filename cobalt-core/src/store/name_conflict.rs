//! Detects another experiment with the same name by the files of its runs: the baseline and the newest result contain the place
//! of the declaration. It counts only if that file still declares it, so experiments can be moved.

use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserializer as _;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};

use super::layout::Layout;
use super::runs::newest_file;
use crate::experiment_name::case_name;
use crate::report::SourceLocation;

/// An experiment that is declared elsewhere and would use the same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    /// The name and declaration of the checked experiment.
    this: (String, SourceLocation),
    /// The name and declaration of the other experiment.
    other: (String, SourceLocation),
    /// The file of a run of the other experiment.
    found_in: PathBuf,
    /// Whether the source certainly declares the name. It may also declare it with a name computed at run time.
    pub is_certain: bool,
}

impl fmt::Display for NameConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { this: (name, this), other: (other_name, other), found_in, is_certain } = self;
        let found_in = found_in.display();
        match is_certain {
            true if name == other_name => write!(f, "the name is declared twice, at {this} and at {other}")?,
            true => write!(
                f,
                "the experiments `{name}` at {this} and `{other_name}` at {other} have the same name in test cases, `{}`",
                case_name(name)
            )?,
            false => write!(f, "`{name}` is declared at {this}, and `{other}` may declare it too")?,
        }
        write!(
            f,
            " (see `{found_in}`); results and baselines are stored by name, so give one of them a different `name`"
        )
    }
}

/// Finds an experiment declared elsewhere with the name of this one. `root` is the workspace root, the base of the compiler's paths.
/// Unreadable files are ignored.
#[must_use]
pub fn find_name_conflict(
    layout: &Layout,
    root: &Path,
    this: &(String, SourceLocation),
) -> Option<NameConflict> {
    let (name, place) = this;
    let files = newest_file(layout, name).into_iter().chain([layout.baseline(name)]);
    let mut others = files.filter_map(|file| {
        let head = Head::read(&file)?;
        Some((head.name?, head.declared_at?, file))
    });
    others.find_map(|(other_name, other, found_in)| {
        if other.is_same_file(place) || case_name(&other_name) != case_name(name) {
            return None;
        }
        let source = fs::read_to_string(root.join(&other.file)).ok()?;
        let is_certain = match declares(&source, &other_name) {
            Declaration::Yes => true,
            Declaration::Maybe => false,
            Declaration::No => return None,
        };
        Some(NameConflict { this: this.clone(), other: (other_name, other), found_in, is_certain })
    })
}

/// Whether a source declares an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Declaration {
    No,
    /// It declares one whose name is not a literal.
    Maybe,
    Yes,
}

/// Searches for the attribute without a parser. Ignores line comments on separate lines.
fn declares(source: &str, experiment: &str) -> Declaration {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let source: String = source.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect();
    let attribute = Regex::new(r"#\[\s*(?:\w+\s*::\s*)*experiment\b((?s).*?)\bfn\s+(?:r#)?(\w+)");
    let named = Regex::new(r#"\bname\s*=\s*(?:r?#*"([^"]*)")?"#);
    let (Ok(attribute), Ok(named)) = (attribute, named) else { return Declaration::No };
    let claim = |found: regex::Captures<'_>| match named.captures(&found[1]) {
        Some(name) => match name.get(1) {
            Some(name) if name.as_str() == experiment => Declaration::Yes,
            Some(_) => Declaration::No,
            None => Declaration::Maybe,
        },
        None if found[2] == *experiment => Declaration::Yes,
        None => Declaration::No,
    };
    attribute.captures_iter(&source).map(claim).max().unwrap_or(Declaration::No)
}

/// The first fields of a result file or a baseline.
#[derive(Debug, Default)]
struct Head {
    name: Option<String>,
    declared_at: Option<SourceLocation>,
}

impl Head {
    /// Reads only the start of a file: a result may be large.
    fn read(path: &Path) -> Option<Self> {
        let mut head = Self::default();
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(File::open(path).ok()?));
        // Ends with an error when it has read enough.
        let _ = json.deserialize_map(&mut head);
        Some(head)
    }
}

impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result file or a baseline")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key::<String>()? {
            match &*field {
                "name" => self.name = map.next_value()?,
                "declaredAt" => self.declared_at = map.next_value()?,
                "items" => return Err(A::Error::custom("the head is read")),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace, and its store.
    struct Workspace(tempfile::TempDir);

    impl Workspace {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn layout(&self) -> Layout {
            let root = self.0.path().join(".cobalt");
            Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"))
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// Stores a result file with damaged items.
        fn ran(&self, second: u32, name: &str, file: &str) {
            let head = json!({ "schema": 1, "id": "0123456789ab", "name": name,
                "declaredAt": { "file": file, "line": 3 }, "config": {} });
            let path =
                format!(".cobalt/results/2026-02-05T14-30-0{second}_{}_0123456789ab.json", case_name(name));
            let head = head.to_string();
            self.write(&path, &format!("{}, \"items\": [{{]", &head[..head.len() - 1]));
        }

        fn namesake(&self, name: &str, file: &str) -> Option<NameConflict> {
            let place = SourceLocation { file: file.to_owned(), line: 7 };
            find_name_conflict(&self.layout(), self.0.path(), &(name.to_owned(), place))
        }
    }

    const DESK: &str = "#[cobalt::experiment(dataset = \"d.jsonl\", evaluators = [right])]\nfn desk() {}\n";

    #[test]
    fn the_newest_result_tells_of_an_experiment_that_another_file_declares() {
        let workspace = Workspace::new();
        workspace.write("tests/a.rs", DESK);
        assert_eq!(workspace.namesake("desk", "tests/b.rs"), None);
        workspace.ran(1, "desk", "tests/a.rs");
        let found = workspace.namesake("desk", "tests/b.rs").unwrap();
        let text = found.to_string();
        assert!(
            found.is_certain
                && text.starts_with("the name is declared twice, at tests/b.rs:7 and at tests/a.rs:3 (see "),
            "{text}"
        );
        assert_eq!(workspace.namesake("desk", "tests/a.rs"), None, "it is the same experiment");
        workspace.ran(2, "desk", "tests/b.rs");
        assert_eq!(workspace.namesake("desk", "tests/b.rs"), None, "the newer run is from the same file");
        workspace.write("tests/common.rs", DESK);
        workspace.write("tests/a/main.rs", "");
        workspace.ran(3, "desk", "tests/a/../common.rs");
        for file in ["tests/common.rs", "tests/b/../common.rs", "./tests/common.rs"] {
            assert_eq!(workspace.namesake("desk", file), None, "{file} is the same file");
        }
    }

    #[test]
    fn a_baseline_tells_it_too() {
        let workspace = Workspace::new();
        workspace.write("tests/a.rs", DESK);
        workspace.ran(2, "desk", "tests/b.rs");
        let baseline =
            json!({ "measurements": 1, "name": "desk", "declaredAt": { "file": "tests/a.rs", "line": 1 } });
        workspace.write(".cobalt/baselines/desk.json", &baseline.to_string());
        assert!(workspace.namesake("desk", "tests/b.rs").unwrap().is_certain);
    }

    #[test]
    fn an_experiment_that_moved_is_none() {
        let workspace = Workspace::new();
        workspace.ran(1, "desk", "tests/a.rs");
        assert_eq!(workspace.namesake("desk", "tests/b.rs"), None, "the other file does not exist");
        workspace.write("tests/a.rs", &DESK.replace("desk", "help"));
        assert_eq!(
            workspace.namesake("desk", "tests/b.rs"),
            None,
            "the other file has a different experiment"
        );
    }

    #[test]
    fn names_that_differ_in_case_names_only_in_their_form_are_told_apart_nowhere() {
        let workspace = Workspace::new();
        workspace.write("tests/a.rs", "#[experiment(name = \"a/b\", dataset = d())]\nfn x() {}\n");
        workspace.ran(1, "a/b", "tests/a.rs");
        let text = workspace.namesake("a b", "tests/b.rs").unwrap().to_string();
        assert!(
            text.contains("`a b` at tests/b.rs:7 and `a/b` at tests/a.rs:3") && text.contains("`a-b`"),
            "{text}"
        );
    }

    #[test]
    fn a_source_declares_what_its_attributes_name() {
        assert_eq!(declares(DESK, "desk"), Declaration::Yes);
        let named = "#[cobalt::experiment(\n    name = \"help/desk\",\n    dataset = \"d\",\n)]\n#[inline]\npub async fn desk() {}\n";
        assert_eq!(
            (declares(named, "help/desk"), declares(named, "desk")),
            (Declaration::Yes, Declaration::No)
        );
        let computed =
            "#[cobalt::experiment(name = format!(\"desk-{MODEL}\"), dataset = \"d\")]\nfn desk() {}\n";
        assert_eq!(
            (declares(computed, "desk-m"), declares(&format!("{computed}{DESK}"), "desk")),
            (Declaration::Maybe, Declaration::Yes)
        );
        let commented = format!("//! {}", DESK.replace('\n', "\n// "));
        assert_eq!(declares(&commented, "desk"), Declaration::No);
        assert_eq!(declares("fn desk() {}\nconst TAG: &str = \"desk\";\n", "desk"), Declaration::No);
    }
}
