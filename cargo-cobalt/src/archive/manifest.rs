//! `cobalt-archive.json`, the first entry of an archive: what is in it, and how its binaries are run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use cargo_metadata::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ArchiveError;
pub use crate::project::ARCHIVE_MANIFEST as MANIFEST;

/// The version of the format. A change that this version cannot read gets another number.
pub const FORMAT: u64 = 1;
/// Where the workspace and the target folder are in the archive.
pub const WORKSPACE: &str = "workspace";
pub const TARGET: &str = "target";
/// The workspace root in the metadata of the archive.
pub const NOMINAL_ROOT: &str = "/workspace";

/// The manifest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub format: u64,
    /// The version of Cobalt that wrote it.
    pub version: String,
    /// The target triple of the binaries.
    pub platform: String,
    /// The commit of the sources, followed by `-dirty` if tracked files had uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// Cargo's metadata of the packages with binaries, as if the workspace was in `/workspace`.
    pub metadata: Metadata,
    pub binaries: Vec<PackedBinary>,
    /// Every other entry of the archive, sorted by path.
    pub files: Vec<PackedFile>,
}

/// A test binary. Paths are those of entries.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackedBinary {
    pub package: String,
    pub target: String,
    pub path: String,
    /// The folders of the shared libraries it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
    /// The programs of its package.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, String>,
    /// The variables that the package's build script set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The hash of the sources, and after a `+` that of the files that the agent may read.
    pub sources: String,
    /// The names of the variables that the agent may read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub read_variables: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    pub path: String,
    pub size: u64,
    pub sha256: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl Manifest {
    /// Reads a manifest, and checks that it can be unpacked.
    pub fn parse(bytes: &[u8], archive: &Path) -> Result<Self, ArchiveError> {
        let damaged =
            |error: serde_json::Error| ArchiveError::damaged(archive, format!("{MANIFEST}: {error}"));
        let value: Value = serde_json::from_slice(bytes).map_err(damaged)?;
        if let Some(format) = value.get("format").and_then(Value::as_u64).filter(|format| *format > FORMAT) {
            let version =
                value.get("version").and_then(Value::as_str).unwrap_or("a later version").to_owned();
            return Err(ArchiveError::Newer { path: archive.to_owned(), format, known: FORMAT, version });
        }
        let manifest: Self = serde_json::from_value(value).map_err(damaged)?;
        let mut known = BTreeSet::new();
        let entries = manifest.files.iter().map(|file| &file.path);
        let named = manifest.binaries.iter().flat_map(|binary| {
            std::iter::once(&binary.path).chain(&binary.libraries).chain(binary.programs.values())
        });
        for entry in entries.clone().chain(named) {
            let refused =
                |reason| ArchiveError::Unsafe { path: archive.to_owned(), entry: entry.clone(), reason };
            inner_path(entry).ok_or_else(|| refused("leads out of the archive"))?;
        }
        for entry in entries {
            if !known.insert(entry) {
                return Err(ArchiveError::damaged(archive, format!("{MANIFEST} lists `{entry}` twice")));
            }
        }
        if let Some(binary) = manifest.binaries.iter().find(|binary| !known.contains(&binary.path)) {
            return Err(ArchiveError::damaged(archive, format!("the binary `{}` is missing", binary.path)));
        }
        Ok(manifest)
    }

    /// The size of all files.
    pub fn unpacked(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }
}

/// The path of an entry, if it is relative and stays within the folder it is unpacked to.
pub fn inner_path(entry: &str) -> Option<PathBuf> {
    let path = Path::new(entry);
    let is_inner = |component| matches!(component, Component::Normal(_));
    // On Windows, a backslash separates and a colon names a drive or a stream. Elsewhere, names may contain them.
    let is_special = |letter| letter == '\0' || cfg!(windows) && ['\\', ':'].contains(&letter);
    let is_plain = !entry.is_empty() && !entry.contains(is_special) && path.components().all(is_inner);
    is_plain.then(|| path.to_owned())
}

/// Moves the paths of the metadata from one workspace root to another.
pub fn rebase(metadata: &mut Metadata, from: &Path, to: &Path) {
    let moved = |path: &mut cargo_metadata::camino::Utf8PathBuf| {
        let relative = path.as_std_path().strip_prefix(from).ok().map(Path::to_owned);
        let relative = relative
            .map(|relative| if relative.as_os_str().is_empty() { to.to_owned() } else { to.join(relative) });
        if let Some(Ok(new)) = relative.map(cargo_metadata::camino::Utf8PathBuf::from_path_buf) {
            *path = new;
        }
    };
    for package in &mut metadata.packages {
        moved(&mut package.manifest_path);
        package.targets.iter_mut().for_each(|target| moved(&mut target.src_path));
        package.dependencies.iter_mut().filter_map(|dependency| dependency.path.as_mut()).for_each(moved);
    }
    moved(&mut metadata.workspace_root);
    moved(&mut metadata.target_directory);
    metadata.build_directory.iter_mut().for_each(moved);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(change: impl FnOnce(&mut Value)) -> Result<Manifest, String> {
        let mut manifest = json!({
            "format": 1, "version": "0.1.0", "platform": "x86_64-unknown-linux-gnu",
            "metadata": {
                "packages": [], "workspace_members": [], "version": 1, "workspace_root": NOMINAL_ROOT,
                "target_directory": "/target", "resolve": null,
            },
            "binaries": [{ "package": "app", "target": "evals", "path": "target/evals-1", "sources": "" }],
            "files": [{ "path": "target/evals-1", "size": 3, "sha256": "" }, { "path": "workspace/a", "size": 4, "sha256": "" }],
        });
        change(&mut manifest);
        Manifest::parse(manifest.to_string().as_bytes(), Path::new("a.tar.zst"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_lists_what_it_unpacks_to() {
        assert_eq!(parsed(|_| ()).unwrap().unpacked(), 7);
    }

    #[test]
    fn a_later_format_names_the_version_to_update_to() {
        let later = |manifest: &mut Value| {
            manifest["format"] = 2.into();
            manifest["version"] = "3.1.4".into();
            manifest["binaries"] = "in another form".into();
        };
        assert_eq!(
            parsed(later).unwrap_err(),
            "the archive `a.tar.zst` has format 2, and this version of Cobalt reads format 1; update cargo-cobalt to 3.1.4 or later"
        );
    }

    #[test]
    fn a_path_that_leads_out_is_refused_wherever_it_is() {
        let of_windows: &[&str] = if cfg!(windows) { &["C:x", "a\\..\\..\\x"] } else { &[] };
        for outside in ["../x", "/etc/passwd", "workspace/../../x", ""].iter().chain(of_windows) {
            for place in
                ["/files/1/path", "/binaries/0/path", "/binaries/0/libraries", "/binaries/0/programs"]
            {
                let error = parsed(|manifest| match place.rsplit_once('/') {
                    Some((_, "libraries")) => manifest["binaries"][0]["libraries"] = json!([outside]),
                    Some((_, "programs")) => {
                        manifest["binaries"][0]["programs"] = json!({ "agent": outside })
                    }
                    _ => *manifest.pointer_mut(place).unwrap() = (*outside).into(),
                });
                assert!(error.unwrap_err().contains("leads out of the archive"), "{outside} in {place}");
            }
        }
    }

    #[cfg(not(windows))]
    #[test]
    fn a_name_that_is_special_only_on_windows_is_a_name() {
        for name in ["data/12:30.json", "data/a\\b"] {
            assert_eq!(inner_path(name), Some(PathBuf::from(name)));
        }
    }

    #[test]
    fn what_is_listed_twice_or_missing_is_damage() {
        let error = parsed(|manifest| manifest["files"][1]["path"] = "target/evals-1".into()).unwrap_err();
        assert!(error.contains("lists `target/evals-1` twice"), "{error}");
        let error = parsed(|manifest| manifest["binaries"][0]["path"] = "target/evals-2".into()).unwrap_err();
        assert!(error.contains("the binary `target/evals-2` is missing"), "{error}");
    }
}
