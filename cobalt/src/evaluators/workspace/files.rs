//! `Files`: checks the files of the finished workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::wording::{count, truncate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::texts::Texts;
use super::{READS_FOLDER, folder, require_workspace};
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::schema::{Validator, compile, validate};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::settings::{NoSharedKeys, NonEmptyString, ScoreValue};
use crate::template::Template;
use crate::thread_pool;
use crate::workspace::{filled, path_in_package};

/// The maximum size of a file whose contents are checked, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The maximum number of problems that a reason names.
const MAX_NAMED: usize = 5;

/// Scores the files of the [workspace](crate::workspaces) as the agent left them: the share of the requirements that are met.
///
/// By default an output passes only if all of them are met; [`pass_mark`](Self::pass_mark) changes that.
///
/// ```
/// use cobalt::Files;
///
/// let files = Files::new("files")
///     .exist(["src/lib.rs", "README.md"])
///     .absent(["debug.log"])
///     .contain("README.md", "# {{title}}")
///     .equal("Cargo.lock", "fixtures/{{id}}/Cargo.lock")
///     .match_schema("config.json", "schemas/config.json");
/// ```
///
/// All paths and texts may contain fields of the item. A symlink that leads out of the workspace is not followed: it counts as missing.
#[derive(Clone)]
pub struct Files(FilesOptions);

fingerprint! {
    Files as "Files", it: name = it.name(), exist = it.0.exist.0, absent = it.0.absent.0, contain = it.0.contain, equal = it.0.equal,
    equal_text = it.0.equal_text, match_schema = it.0.match_schema, pass_mark = Evaluator::pass_mark(it)
}

/// The keys of `type = "files"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FilesOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: NonEmptyString,
    /// Files or folders that must exist.
    #[serde(default = "none")]
    exist: Texts,
    /// Files or folders that must not exist.
    #[serde(default = "none")]
    absent: Texts,
    /// Files with one text or several that they must contain.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    contain: BTreeMap<String, Texts>,
    /// Files that must be equal to files of the package, such as { "out.txt" = "expected/{{id}}.txt" }.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    equal: BTreeMap<String, String>,
    /// Files with their whole contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    equal_text: BTreeMap<String, String>,
    /// JSON files that must be valid for the JSON schema in a file of the package.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    match_schema: BTreeMap<String, String>,
    /// Minimum score for an output to pass. Default: 1.
    pass_mark: Option<ScoreValue>,
}

fn type_name() -> NonEmptyString {
    NonEmptyString("files".to_owned())
}

fn none() -> Texts {
    Texts(Vec::new())
}

impl Options for FilesOptions {
    type Shared = NoSharedKeys;

    fn checked(self, _: &NoSharedKeys) -> Result<Self, String> {
        match self.number_of_requirements() {
            0 => Err(NOTHING_REQUIRED.to_owned()),
            _ => Ok(self),
        }
    }

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(Files(self)))
    }
}

const NOTHING_REQUIRED: &str = "nothing is required of the files; add `exist`, `absent`, `contain`, `equal`, `equal-text` or `match-schema`";

impl FilesOptions {
    fn number_of_requirements(&self) -> usize {
        let Self { exist, absent, contain, equal, equal_text, match_schema, .. } = self;
        let texts: usize = contain.values().map(|texts| texts.0.len()).sum();
        exist.0.len() + absent.0.len() + texts + equal.len() + equal_text.len() + match_schema.len()
    }

    /// The requirements, with the fields of the item.
    fn requirements(&self, item: &Item) -> Result<Vec<Requirement>, String> {
        let fill = |text: &String| filled(&Template::parse(text), item);
        let path = |text: &String| fill(text).and_then(|path| relative(&path));
        let mut all = Vec::with_capacity(self.number_of_requirements());
        for name in &self.exist.0 {
            all.push(Requirement { path: path(name)?, what: What::Exists });
        }
        for name in &self.absent.0 {
            all.push(Requirement { path: path(name)?, what: What::IsAbsent });
        }
        for (name, Texts(texts)) in &self.contain {
            if texts.is_empty() {
                return Err(format!("`contain` has no text for `{name}`; add one, or remove the file"));
            }
            for text in texts {
                let (path, text) = (path(name)?, fill(text)?);
                if text.is_empty() {
                    return Err(format!(
                        "the text that `{}` must contain is empty, and every file contains it; correct the text or the field",
                        path.display()
                    ));
                }
                all.push(Requirement { path, what: What::Contains(text) });
            }
        }
        for (name, file) in &self.equal {
            let file = fill(file)?;
            let equal = fs::read(path_in_package(&file)?);
            let equal =
                equal.map_err(|error| format!("failed to read `{file}`: {error}; correct the path"))?;
            all.push(Requirement { path: path(name)?, what: What::Equals(equal, format!("`{file}`")) });
        }
        for (name, text) in &self.equal_text {
            let equal = fill(text)?.into_bytes();
            all.push(Requirement {
                path: path(name)?,
                what: What::Equals(equal, "the expected text".to_owned()),
            });
        }
        for (name, file) in &self.match_schema {
            let schema = read_schema(&fill(file)?)?;
            all.push(Requirement { path: path(name)?, what: What::Matches(Box::new(schema)) });
        }
        Ok(all)
    }
}

/// Reads a JSON schema of the package.
fn read_schema(file: &str) -> Result<Validator, String> {
    let failed = |problem: String| format!("the schema in `{file}`: {problem}");
    let text = fs::read_to_string(path_in_package(file)?).map_err(|error| failed(error.to_string()))?;
    compile(&Value::String(text)).map_err(failed)
}

/// A path in the workspace.
fn relative(path: &str) -> Result<PathBuf, String> {
    let parts: Vec<_> = Path::new(path).components().filter(|part| *part != Component::CurDir).collect();
    match !parts.is_empty() && parts.iter().all(|part| matches!(part, Component::Normal(_))) {
        true => Ok(parts.iter().collect()),
        false => Err(format!(
            "`{path}` is not a path in the workspace; write it relative to the workspace, without `..`"
        )),
    }
}

/// What is required of a file.
struct Requirement {
    path: PathBuf,
    what: What,
}

enum What {
    Exists,
    IsAbsent,
    Contains(String),
    /// The contents, and what they are for reasons.
    Equals(Vec<u8>, String),
    Matches(Box<Validator>),
}

impl Requirement {
    /// Why it is not met; `None` if it is.
    fn problem(&self, dir: &Path) -> Option<String> {
        let found = find(dir, &self.path);
        let problem = match (&self.what, found) {
            (What::Exists, Some(_)) | (What::IsAbsent, None) => None,
            (What::IsAbsent, Some(_)) => Some("exists".to_owned()),
            (_, None) => Some("does not exist".to_owned()),
            (what, Some(path)) => match read(&path) {
                Ok(bytes) => what.problem_of(&bytes),
                Err(problem) => Some(problem),
            },
        };
        problem.map(|problem| format!("`{}` {problem}", self.path.display()))
    }
}

impl What {
    fn problem_of(&self, bytes: &[u8]) -> Option<String> {
        const LONGEST: usize = 60;
        let text = || String::from_utf8_lossy(bytes);
        match self {
            Self::Contains(wanted) if !text().contains(wanted.as_str()) => {
                Some(format!("does not contain {:?}", truncate(wanted, LONGEST)))
            }
            Self::Equals(wanted, name) if bytes != wanted => Some(match first_difference(bytes, wanted) {
                Some(line) => format!("differs from {name} in line {line}"),
                None => format!("differs from {name}"),
            }),
            Self::Matches(validator) => match validate(&Value::String(text().into_owned()), validator) {
                Ok(score) if score.value() == 1.0 => None,
                Ok(score) => Some(format!("does not match the schema: {}", score.why().unwrap_or_default())),
                Err(error) => Some(error.to_string()),
            },
            Self::Exists | Self::IsAbsent | Self::Contains(_) | Self::Equals(..) => None,
        }
    }
}

/// The number of the first line that differs, if both are text.
fn first_difference(one: &[u8], two: &[u8]) -> Option<usize> {
    let (one, two) = (std::str::from_utf8(one).ok()?, std::str::from_utf8(two).ok()?);
    let (mut left, mut right) = (one.split('\n'), two.split('\n'));
    (1..).find(|_| match (left.next(), right.next()) {
        (None, None) => true,
        (left, right) => left != right,
    })
}

/// The file or folder, if it is there and no symlink leads out of the workspace.
fn find(dir: &Path, path: &Path) -> Option<PathBuf> {
    let (dir, found) = (dir.canonicalize().ok()?, dir.join(path).canonicalize().ok()?);
    found.starts_with(dir).then_some(found)
}

/// The contents of a file, or why they cannot be read.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error| format!("cannot be read: {error}");
    if !path.is_file() {
        return Err("is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(format!("is larger than {} MiB", MAX_BYTES >> 20)),
        false => Ok(bytes),
    }
}

impl Files {
    /// Without requirements yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self(FilesOptions {
            name: NonEmptyString(name.into()),
            exist: none(),
            absent: none(),
            contain: BTreeMap::new(),
            equal: BTreeMap::new(),
            equal_text: BTreeMap::new(),
            match_schema: BTreeMap::new(),
            pass_mark: None,
        })
    }

    /// Requires that files or folders exist.
    #[must_use]
    pub fn exist<T: Into<String>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.0.exist.0.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Requires that files or folders do not exist.
    #[must_use]
    pub fn absent<T: Into<String>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.0.absent.0.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Requires that a file contains a text. Can be called several times for a file.
    #[must_use]
    pub fn contain(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.contain.entry(path.into()).or_insert_with(none).0.push(text.into());
        self
    }

    /// Requires that a file is equal to a file of the package.
    #[must_use]
    pub fn equal(mut self, path: impl Into<String>, file: impl Into<String>) -> Self {
        self.0.equal.insert(path.into(), file.into());
        self
    }

    /// Requires that a file has exactly these contents.
    #[must_use]
    pub fn equal_text(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.equal_text.insert(path.into(), text.into());
        self
    }

    /// Requires that a file is JSON that is valid for the JSON schema in a file of the package. It needs the feature `json-schema`.
    #[must_use]
    pub fn match_schema(mut self, path: impl Into<String>, schema: impl Into<String>) -> Self {
        self.0.match_schema.insert(path.into(), schema.into());
        self
    }

    /// Sets the minimum score for an output to pass. Default: 1.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(ScoreValue(mark));
        self
    }

    fn score(&self, item: &Item, dir: &Path) -> Result<Score, EvalError> {
        let requirements = self.0.requirements(item).map_err(EvalError::new)?;
        if requirements.is_empty() {
            return Err(EvalError::new(NOTHING_REQUIRED));
        }
        let problems: Vec<_> =
            requirements.iter().filter_map(|requirement| requirement.problem(dir)).collect();
        let (all, unmet) = (requirements.len(), problems.len());
        let reason = match unmet {
            0 => format!("{} met", count(all, "requirement")),
            unmet => {
                let named = problems[..unmet.min(MAX_NAMED)].join("; ");
                let more = unmet.saturating_sub(MAX_NAMED);
                if more > 0 { format!("{named}; and {more} more") } else { named }
            }
        };
        let score = Score::new((all - unmet) as f64 / all as f64).reason(reason);
        Ok(score.metadata("requirements", all).metadata("unmet", unmet))
    }
}

impl Evaluator for Files {
    fn name(&self) -> &str {
        &self.0.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move {
            let (files, cx, dir) = (self.clone(), cx.clone(), folder(cx)?.path().to_owned());
            let scored = thread_pool::run(move || files.score(cx.item(), &dir)).await;
            scored.unwrap_or_else(|error| Err(EvalError::new(error.to_string())))
        })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |ScoreValue(mark)| mark)
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        if self.0.number_of_requirements() == 0 {
            return Err(CheckError::new(NOTHING_REQUIRED));
        }
        require_workspace(setup)?;
        setup.items().try_for_each(|item| self.0.requirements(&item).map(drop).map_err(CheckError::new))
    }

    fn needs_live_agent(&self) -> Option<&str> {
        Some(READS_FOLDER)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::item;

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/lib.rs"), "fn add() {}\nfn sub() {}\n").unwrap();
        fs::write(folder.path().join("data.json"), r#"{ "price": 3 }"#).unwrap();
        folder
    }

    fn scored(files: &Files) -> (f64, String) {
        let score = files.score(&item! { "name": "add" }, folder().path()).unwrap();
        (score.value(), score.why().unwrap().to_owned())
    }

    #[test]
    fn the_score_is_the_share_of_met_requirements() {
        let files = Files::new("files")
            .exist(["src", "./src/lib.rs"])
            .absent(["target"])
            .contain("src/lib.rs", "fn {{name}}()")
            .equal_text("data.json", r#"{ "price": 3 }"#);
        assert_eq!(scored(&files), (1.0, "5 requirements met".to_owned()));
        let files = Files::new("files")
            .exist(["README.md", "src"])
            .absent(["src/lib.rs"])
            .contain("src/lib.rs", "fn mul")
            .contain("src", "x")
            .equal_text("src/lib.rs", "fn add() {}\n");
        let expected = "`README.md` does not exist; `src/lib.rs` exists; `src` is not a file; `src/lib.rs` does not contain \
                        \"fn mul\"; `src/lib.rs` differs from the expected text in line 2";
        assert_eq!(scored(&files), (1.0 / 6.0, expected.to_owned()));
    }

    #[test]
    fn a_file_is_compared_with_one_of_the_package() {
        let equal = Files::new("files").equal("src/lib.rs", "src/lib.rs");
        assert_eq!(scored(&equal), (0.0, "`src/lib.rs` differs from `src/lib.rs` in line 1".to_owned()));
        let error = Files::new("files").equal("a", "no/such").0.requirements(&Item::new()).err().unwrap();
        assert!(error.starts_with("failed to read `no/such`: "), "{error}");
    }

    #[test]
    fn an_empty_text_that_every_file_contains_is_refused_also_from_the_item() {
        let files = Files::new("files").contain("src/lib.rs", "{{name}}");
        let error = files.0.requirements(&item! { "name": "" }).err().unwrap();
        assert!(error.starts_with("the text that `src/lib.rs` must contain is empty"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_workspace_is_not_followed() {
        let (folder, other) = (folder(), folder());
        std::os::unix::fs::symlink(other.path(), folder.path().join("link")).unwrap();
        let files = Files::new("files").exist(["link/src/lib.rs"]);
        let score = files.score(&Item::new(), folder.path()).unwrap();
        assert_eq!(score.why().unwrap(), "`link/src/lib.rs` does not exist");
    }

    #[test]
    fn a_path_out_of_the_workspace_is_refused() {
        for path in ["../a", "/a", ".", ""] {
            let error = Files::new("files").exist([path]).0.requirements(&Item::new()).err().unwrap();
            assert!(error.starts_with(&format!("`{path}` is not a path in the workspace")), "{error}");
        }
        let error = Files::new("files").exist(["{{id}}"]).0.requirements(&item! { "ids": 1 }).err().unwrap();
        assert!(error.starts_with("the item has no field `id`"), "{error}");
    }

    #[cfg(feature = "json-schema")]
    #[test]
    fn json_is_validated_with_a_schema() {
        let schema = |wanted: &str| {
            let schema =
                serde_json::json!({ "required": ["price"], "properties": { "price": { "type": wanted } } });
            What::Matches(Box::new(compile(&schema).unwrap()))
        };
        let problem = |wanted, contents: &str| schema(wanted).problem_of(contents.as_bytes());
        assert_eq!(problem("number", r#"{ "price": 3 }"#), None);
        let violation = problem("string", r#"{ "price": 3 }"#).unwrap();
        assert!(violation.starts_with("does not match the schema: /price: "), "{violation}");
        assert!(problem("number", "price: 3").unwrap().starts_with("does not match the schema: not JSON"));
    }
}
