//! What an agent may read besides its Rust sources, for `--changed`: files of its package, and environment variables.
//!
//! What a program will read cannot be known in advance, so everything counts that it is likely to read: all files of the package and of its
//! path dependencies, unless git ignores them; files that the compiler and build scripts named; and variables whose names are in the
//! sources. Datasets, recordings and fixtures of workspaces do not count, as their changes are detected for each item.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use cargo_metadata::Package;
use cobalt::command::config::{Config, Flags, Setting};
use cobalt_core::hash::sha256_hex;
use cobalt_core::paths::normalize;
use cobalt_core::redact::looks_like_key;
use cobalt_core::store::GITIGNORE;
use glob::Pattern;
use ruzstd::decoding::StreamingDecoder;
use serde_json::Value;

use super::build_inputs::BuildInputs;
use super::discover::{Project, ProjectError};
use super::source_texts::SourceTexts;
use super::sources::{CACHE_TAG, LOCK, MANIFEST};
use crate::config::settings_of;
use crate::environment::Environment;
use crate::error::Error;

/// Suffixes of temporary files of editors, and of logs.
pub const TEMPORARY_SUFFIXES: [&str; 6] = ["~", ".swp", ".tmp", ".bak", ".orig", ".log"];
/// The first entry of an archive that `cargo cobalt archive` writes.
pub const ARCHIVE_MANIFEST: &str = "cobalt-archive.json";
/// Folders with generated files, at any depth.
pub const GENERATED_FOLDERS: [&str; 2] = ["node_modules", "__pycache__"];
/// The default folder of recordings.
const RECORDINGS: &str = "cassettes";
/// Files that are covered otherwise: settings by what they change, `.env` by its variables, the lock file by the sources.
const OTHERWISE_COVERED: [&str; 6] = ["cobalt.toml", ".env", LOCK, MANIFEST, ".gitignore", ".gitattributes"];
/// Variables of the system, of cargo and of nextest, which differ between machines.
const SYSTEM_VARIABLES: [&str; 12] =
    ["CI", "HOME", "LANG", "LOGNAME", "OUT_DIR", "PATH", "PWD", "SHELL", "TEMP", "TERM", "TMPDIR", "USER"];
const SYSTEM_PREFIXES: [&str; 4] = ["CARGO", "COBALT_", "NEXTEST", "RUST"];
/// Ends of the names of credentials: another key does not change what an agent does.
const CREDENTIALS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"];
/// Variables that common model clients read.
const CLIENT_VARIABLES: [&str; 5] =
    ["ANTHROPIC_BASE_URL", "OLLAMA_HOST", "OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_MODEL"];
/// Larger files are compared by their size and modification time, in bytes.
const LARGEST: u64 = 64 << 20;

/// What an agent may read besides its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// A hash of the files.
    pub files: String,
    /// The names of the variables.
    pub variables: BTreeSet<String>,
}

impl Inputs {
    /// A hash of the variables' values, for a process with these additional ones; of two with the same name, the later one wins.
    pub fn hash_variables(&self, added: &[(String, OsString)]) -> String {
        let value = |name: &String| {
            let added = added.iter().rev().find(|(added, _)| added == name).map(|(_, value)| value.clone());
            added.or_else(|| env::var_os(name))
        };
        let mut parts = Vec::new();
        for name in &self.variables {
            // Without a value, only the name, so that an unset variable is not an empty one.
            parts.push(name.clone());
            parts.extend(value(name).map(|value| format!("={}", value.to_string_lossy())));
        }
        sha256_hex(&parts)
    }
}

impl Project {
    /// What the binaries of a package may read.
    pub fn inputs(&self, package: &Package, built: &BuildInputs, flags: &Flags) -> Result<Inputs, Error> {
        let root =
            package.manifest_path.parent().map(|root| root.as_std_path().to_owned()).unwrap_or_default();
        let settings = settings_of(&root, flags)?;
        let folders = self.agent_folders(package)?;
        let mut texts = SourceTexts::default();
        self.rust_files(&folders)?.iter().for_each(|file| texts.add(file));
        let environment = Environment::read(&[&root, self.root()])?;
        let files = InputFiles::new(self, &root, &folders, &settings, &texts);
        let mut found = BTreeSet::new();
        for folder in &folders {
            files.add_package(folder, &mut found)?;
        }
        files.add_named(&texts.texts, &mut found)?;
        let built_from = built.of(&folders).flat_map(|inputs| &inputs.files).map(|file| normalize(file));
        found.extend(built_from.filter(|file| !files.is_excluded(file)));
        found.extend(also(&settings, [root.as_path(), self.root()]));
        let variables = texts
            .texts
            .iter()
            .chain(built.of(&folders).flat_map(|inputs| &inputs.variables))
            .chain(settings.env().keys())
            .cloned();
        let variables = variables.chain(environment.file_variables().map(|(name, _)| name.to_owned()));
        let variables = variables.chain(CLIENT_VARIABLES.map(str::to_owned)).filter(|name| is_read(name));
        Ok(Inputs {
            files: hash(&found, &[root.as_path(), self.root()])?,
            variables: variables.chain(settings.changed().variables.iter().cloned()).collect(),
        })
    }
}

/// Whether a text can be the name of a variable that changes what an agent does.
pub fn is_read(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_uppercase())
        && name.len() > 1
        && bytes.all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !SYSTEM_VARIABLES.contains(&name)
        && !SYSTEM_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !CREDENTIALS.iter().any(|end| name.ends_with(end))
        && !env::var(name).is_ok_and(|value| looks_like_key(&value))
}

/// Whether a folder has the results of runs, perhaps those of another invocation.
fn is_store(folder: &Path) -> bool {
    fs::read_to_string(folder.join(".gitignore")).is_ok_and(|text| text == GITIGNORE)
}

/// The files of `[changed] also`, relative to these folders.
fn also<'a>(settings: &'a Config, folders: [&'a Path; 2]) -> impl Iterator<Item = PathBuf> + 'a {
    let patterns = folders
        .into_iter()
        .flat_map(move |folder| settings.changed().also.iter().map(move |pattern| folder.join(pattern)));
    let matches = patterns.filter_map(|pattern| glob::glob(pattern.to_str()?).ok()).flatten().flatten();
    matches.flat_map(|path| {
        let mut files = BTreeSet::new();
        // What cannot be read is reported when it is hashed.
        let _ = walk(&path, &|_| true, &mut BTreeSet::new(), &mut files);
        files
    })
}

/// Which files count.
struct InputFiles<'a> {
    root: &'a Path,
    folders: &'a [PathBuf],
    /// Files and folders that builds and runs write.
    written: Vec<PathBuf>,
    /// What is compared for each item, and what the settings exclude.
    excluded: Vec<Pattern>,
}

impl<'a> InputFiles<'a> {
    fn new(
        project: &Project,
        root: &'a Path,
        folders: &'a [PathBuf],
        settings: &Config,
        texts: &SourceTexts,
    ) -> Self {
        let layout = settings.layout();
        let mut written = vec![project.target_folder().to_owned(), project.build_folder().to_owned()];
        written.extend([layout.results(), layout.history(), layout.cache()].map(Path::to_owned));
        written.extend([layout.journals(), layout.reports(), layout.baselines(), layout.datasets()]);
        written.extend(settings.reporters().iter().filter_map(|reporter| reporter.path.clone()));
        let mut per_item = texts.per_item.clone();
        per_item.insert(RECORDINGS.to_owned());
        for Setting { key, value, .. } in settings.settings() {
            if key.starts_with("datasets.") || key == "recordings.dir" {
                add_texts(value, &mut per_item);
            }
        }
        let ignored = per_item.iter().chain(&settings.changed().ignore);
        let around = || folders.iter().map(PathBuf::as_path).chain([project.root()]);
        let excluded = ignored.flat_map(|path| around().filter_map(move |folder| pattern(folder, path)));
        let excluded = excluded.collect();
        Self { root, folders, written, excluded }
    }

    /// Whether a file, or a folder around it, does not count.
    fn is_excluded(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_generated = |path: &Path| path.ends_with(".cobalt") || is_generated(path) || is_store(path);
        let package = self.folders.iter().find(|folder| path.starts_with(folder));
        let mut inside =
            path.ancestors().take_while(|above| package.is_some_and(|package| *above != package.as_path()));
        OTHERWISE_COVERED.contains(&&*name)
            || inside.any(is_generated)
            || self.written.iter().any(|written| path.starts_with(written))
            || path.ancestors().any(|path| self.excluded.iter().any(|pattern| pattern.matches_path(path)))
    }

    /// Whether a file of a package belongs to another package below it.
    fn is_of_another_package(&self, file: &Path, package: &Path) -> bool {
        let mut between = file.ancestors().skip(1).take_while(|folder| *folder != package);
        between.any(|folder| folder.join(MANIFEST).exists())
    }

    /// Adds the files of a package: those that git tracks or does not ignore. Without git, all but hidden ones, and the documents next to
    /// its manifest.
    fn add_package(&self, package: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
        let counts = |file: &Path| !self.is_excluded(file) && !self.is_of_another_package(file, package);
        if let Some(files) = files_in_git(package, &counts)? {
            found.extend(files);
            return Ok(());
        }
        let is_document = |file: &Path| file.parent() == Some(package) && is_markdown(file);
        let is_hidden =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let enters = |path: &Path| path == package || !is_hidden(path) && !is_temporary(path) && counts(path);
        let mut files = BTreeSet::new();
        walk(package, &enters, &mut BTreeSet::new(), &mut files)?;
        found.extend(files.into_iter().filter(|file| !is_document(file)));
        Ok(())
    }

    /// Adds files and folders outside of the packages, and documents next to the manifest, that texts of the sources name by relative
    /// paths.
    fn add_named(&self, texts: &BTreeSet<String>, found: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
        let is_left_out = |path: &Path| self.is_excluded(path) || is_generated(path) || is_temporary(path);
        for text in texts.iter().filter(|text| Path::new(text).is_relative()) {
            let path = normalize(&self.root.join(text));
            let is_inside = self.folders.iter().any(|folder| path.starts_with(folder));
            let is_document = path.parent() == Some(self.root) && is_markdown(&path) && path.is_file();
            if !self.root.starts_with(&path) && (!is_inside || is_document) && path.exists() {
                walk(&path, &|path| !is_left_out(path), &mut BTreeSet::new(), found)?;
            }
        }
        Ok(())
    }
}

/// Whether builds or tools generate a folder.
fn is_generated(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name == ".git"
        || GENERATED_FOLDERS.iter().any(|generated| name == *generated)
        || folder.join(CACHE_TAG).exists()
}

/// Whether an untracked file is temporary, a log or an archive.
fn is_temporary(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    TEMPORARY_SUFFIXES.iter().any(|end| name.ends_with(end)) || is_archive(file)
}

/// Whether `cargo cobalt archive` wrote a file, whatever its name is.
pub fn is_archive(path: &Path) -> bool {
    // A named pipe would block.
    let Some(file) = path.is_file().then(|| File::open(path).ok()).flatten() else { return false };
    let Ok(tar) = StreamingDecoder::new(BufReader::new(file)) else { return false };
    // It starts with the name of its first entry.
    let mut start = Vec::new();
    let is_read = tar.take(ARCHIVE_MANIFEST.len() as u64 + 1).read_to_end(&mut start).is_ok();
    is_read && start.strip_suffix(b"\0") == Some(ARCHIVE_MANIFEST.as_bytes())
}

fn is_markdown(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// Adds the texts in a value.
fn add_texts(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_texts(value, texts)),
        _ => {}
    }
}

/// A pattern relative to a folder, in which a placeholder `{{…}}` stands for any text.
fn pattern(folder: &Path, path: &str) -> Option<Pattern> {
    // A placeholder at the start would stand for everything in the folder.
    let first = Path::new(path).components().find(|part| matches!(part, Component::Normal(_)));
    if first.is_some_and(|part| part.as_os_str().to_string_lossy().starts_with("{{")) {
        return None;
    }
    let path = normalize(&Path::new(&Pattern::escape(folder.to_str()?)).join(path));
    let (mut text, mut rest) = (String::new(), path.to_str()?);
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        text.push('*');
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    Pattern::new(&(text + rest)).ok()
}

/// The files below a folder that git tracks or does not ignore; `None` without git, or if it ignores all of them.
fn known_to_git(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut files = listed_by_git(folder, &["--cached"])?;
    let untracked = listed_by_git(folder, &["--others", "--exclude-standard"])?;
    files.extend(untracked.into_iter().filter(|file| !is_temporary(file)));
    (!files.is_empty()).then_some(files)
}

fn listed_by_git(folder: &Path, which: &[&str]) -> Option<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .args(which)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let files = text.split('\0').filter(|file| !file.is_empty()).map(|file| folder.join(file)).collect();
    output.status.success().then_some(files)
}

/// The files of a folder and of submodules in it that git tracks or does not ignore, with those in linked folders; `None` without git.
fn files_in_git(folder: &Path, enters: &dyn Fn(&Path) -> bool) -> Result<Option<BTreeSet<PathBuf>>, Error> {
    let Some(known) = known_to_git(folder) else { return Ok(None) };
    let mut files = BTreeSet::new();
    for path in known {
        let is_repository = path != folder && path.join(".git").exists();
        let inner = if is_repository { files_in_git(&path, enters)? } else { None };
        match inner {
            Some(inner) => files.extend(inner),
            None => walk(&path, enters, &mut BTreeSet::new(), &mut files)?,
        }
    }
    Ok(Some(files))
}

/// Adds a file, or the files below a folder. `seen` holds canonical paths, against link cycles.
fn walk(
    path: &Path,
    enters: &dyn Fn(&Path) -> bool,
    seen: &mut BTreeSet<PathBuf>,
    files: &mut BTreeSet<PathBuf>,
) -> Result<(), Error> {
    let failed = |source| ProjectError::Sources { path: path.to_owned(), source };
    if !enters(path) {
        return Ok(());
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            if seen.insert(path.canonicalize().map_err(failed)?) {
                for entry in fs::read_dir(path).map_err(failed)? {
                    walk(&entry.map_err(failed)?.path(), enters, seen, files)?;
                }
            }
        }
        Ok(found) if found.is_file() => drop(files.insert(path.to_owned())),
        // A pipe or a device.
        Ok(_) => {}
        // A deleted file that git still tracks, or a broken link.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(failed(source).into()),
    }
    Ok(())
}

/// A hash of the names and contents of files. Names are relative to the first of these folders that contains the file.
fn hash(files: &BTreeSet<PathBuf>, folders: &[&Path]) -> Result<String, Error> {
    let mut parts = BTreeMap::new();
    for file in files {
        let failed = |source| ProjectError::Sources { path: file.clone(), source };
        let inside = folders.iter().find_map(|folder| file.strip_prefix(folder).ok());
        let name = inside.map_or_else(|| outside_name(file), |name| name.to_string_lossy().into_owned());
        let known = match fs::metadata(file) {
            Ok(known) => known,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(failed(source).into()),
        };
        let content = if known.len() > LARGEST {
            format!("{} bytes, {:?}", known.len(), known.modified().ok())
        } else {
            sha256_hex(&[fs::read(file).map_err(failed)?])
        };
        parts.insert((name, file), content);
    }
    let parts: Vec<_> = parts.into_iter().flat_map(|((name, _), content)| [name, content]).collect();
    Ok(sha256_hex(&parts))
}

/// The name of a file outside of the workspace, whose folder may be elsewhere on another machine.
fn outside_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    #[test]
    fn credentials_do_not_count() {
        for name in ["MODEL", "AGENT_TONE", "MAX_TOKENS", "LLM_2"] {
            assert!(is_read(name), "{name}");
        }
        for name in [
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "PATH",
            "CARGO_PKG_NAME",
            "COBALT_CI",
            "model",
            "A b",
            "A",
            "2X",
            "",
        ] {
            assert!(!is_read(name), "{name}");
        }
    }

    #[test]
    fn archives_are_known_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let is_known = |entry: &str| {
            let mut tar = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_gnu();
            header.set_size(2);
            tar.append_data(&mut header, entry, &b"{}"[..]).unwrap();
            let path = folder.path().join("data.tar.zst");
            fs::write(&path, compress_to_vec(&*tar.into_inner().unwrap(), CompressionLevel::Fastest))
                .unwrap();
            is_archive(&path)
        };
        assert!(is_known(ARCHIVE_MANIFEST));
        for entry in ["corpus.jsonl", "cobalt-archive.json5", "cobalt-archive"] {
            assert!(!is_known(entry), "{entry}");
        }
        fs::write(folder.path().join("plain"), ARCHIVE_MANIFEST).unwrap();
        assert!(!is_archive(&folder.path().join("plain")) && !is_archive(folder.path()));
    }

    #[test]
    fn unset_variables_are_not_empty_ones() {
        let inputs = Inputs { variables: ["COBALT_TEST_OF_UNSET".to_owned()].into(), ..Inputs::default() };
        let with = |value: &str| inputs.hash_variables(&[("COBALT_TEST_OF_UNSET".to_owned(), value.into())]);
        assert!(inputs.hash_variables(&[]) != with("") && with("") != with("a"));
        assert_eq!(with("a"), with("a"));
    }

    #[test]
    fn placeholders_stand_for_any_text() {
        let pattern = pattern(Path::new("/w/[a]"), "./fixtures/{{id}}").unwrap();
        assert!(pattern.matches_path(Path::new("/w/[a]/fixtures/one")));
        assert!(!pattern.matches_path(Path::new("/w/[a]/prompts/one")));
    }
}
