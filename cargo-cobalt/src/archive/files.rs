//! Which files of the workspace are packed: those of the packages that git does not ignore, without likely secrets, and what
//! `--include` names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::error::ArchiveError;
use crate::project::{CACHE_TAG, MANIFEST};

/// Names of files that usually have secrets, and patterns for them.
const SECRETS: [&str; 25] = [
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".dev.vars",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    // Of Cargo and of AWS.
    "credentials",
    "credentials.json",
    "credentials.toml",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.jks",
    "secrets.*",
];
/// Those of them without secrets.
const TEMPLATES: [&str; 4] = [".env.example", ".env.sample", ".env.template", "secrets.rs"];
/// The folder of git.
const GIT: &str = ".git";

/// The files to pack, by their path from the workspace root.
#[derive(Debug, Default)]
pub struct WorkspaceFiles {
    pub files: BTreeMap<PathBuf, PathBuf>,
    /// What the user should know about them.
    pub warnings: Vec<String>,
}

/// What is not packed, although git does not ignore it.
#[derive(Debug)]
pub struct Exclusions {
    /// Generated folders and files.
    pub generated: Vec<PathBuf>,
    /// The folders of packages that are packed.
    pub packages: BTreeSet<PathBuf>,
}

impl WorkspaceFiles {
    /// Adds the files of a folder in the workspace.
    pub fn add_folder(
        &mut self,
        folder: &Path,
        root: &Path,
        without: &Exclusions,
    ) -> Result<(), ArchiveError> {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let (start, generated, packages) =
            (folder.to_owned(), without.generated.clone(), without.packages.clone());
        let mut walk = walk(folder);
        walk.filter_entry(move |entry| {
            let path = entry.path();
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_cache = || path.join(CACHE_TAG).exists();
            let is_other_package =
                || path != start && path.join(MANIFEST).exists() && !packages.contains(path);
            let is_left_out = entry.file_name() == GIT || generated.iter().any(|generated| path == generated);
            !is_left_out && !(is_folder && (is_cache() || is_other_package()))
        });
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                // A broken symlink, or one to a folder around it.
                Err(error) if is_broken_link(&error) => continue,
                Err(error) => return Err(ArchiveError::Walk(error)),
            };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.add_file(entry.path(), root, &real_root);
            }
        }
        Ok(())
    }

    /// Adds the files with these paths from the workspace root.
    pub fn add_named(&mut self, names: &[&str], root: &Path) {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let deepest = names.iter().map(|name| Path::new(name).components().count()).max();
        let entries = walk(root).max_depth(deepest).build().flatten();
        let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        for entry in files.filter(|entry| names.iter().any(|name| root.join(name) == entry.path())) {
            self.add_file(entry.path(), root, &real_root);
        }
    }

    fn add_file(&mut self, path: &Path, root: &Path, real_root: &Path) {
        let Ok(relative) = path.strip_prefix(root) else { return };
        let Ok(real) = path.canonicalize() else { return };
        let shown = relative.display();
        if relative.to_str().is_none() {
            self.warnings.push(format!("skipped `{shown}`: its name is not UTF-8"));
        } else if !real.starts_with(real_root) {
            self.warnings.push(format!(
                "skipped `{shown}`: a symlink out of the workspace; pack it with `--include {shown}`"
            ));
        } else if [path, &real].into_iter().any(is_likely_secret) {
            self.warnings
                .push(format!("skipped `{shown}`: it may contain secrets; pack it with `--include {shown}`"));
        } else {
            self.files.insert(relative.to_owned(), path.to_owned());
        }
    }

    /// Adds files by a pattern, whether git ignores them or not.
    pub fn include(&mut self, pattern: &str, root: &Path) -> Result<(), ArchiveError> {
        let refused = |reason: String| ArchiveError::Include { pattern: pattern.to_owned(), reason };
        let full = Path::new(&glob::Pattern::escape(&root.to_string_lossy())).join(pattern);
        let found = glob::glob(&full.to_string_lossy()).map_err(|error| refused(error.to_string()))?;
        let mut is_empty = true;
        for path in found {
            let path = path.map_err(|error| refused(error.to_string()))?;
            for entry in walkdir::WalkDir::new(&path).follow_links(true) {
                let entry = entry.map_err(|error| refused(error.to_string()))?;
                if !entry.file_type().is_file() {
                    continue;
                }
                let relative = entry.path().strip_prefix(root).ok();
                let relative = relative.filter(|relative| {
                    relative.components().all(|part| matches!(part, std::path::Component::Normal(_)))
                });
                let relative =
                    relative.ok_or_else(|| refused("expected files in the workspace".to_owned()))?;
                is_empty = false;
                if relative.to_str().is_none() {
                    return Err(refused(format!("the name of `{}` is not UTF-8", relative.display())));
                }
                if is_likely_secret(relative) {
                    self.warnings.push(format!("packed `{}`, which may contain secrets", relative.display()));
                }
                self.warnings
                    .retain(|warning| !warning.starts_with(&format!("skipped `{}`:", relative.display())));
                self.files.insert(relative.to_owned(), entry.path().to_owned());
            }
        }
        if is_empty { Err(refused("no such file in the workspace".to_owned())) } else { Ok(()) }
    }
}

/// A walk over what git does not ignore, including hidden files.
fn walk(folder: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(false).ignore(false).require_git(false).follow_links(true);
    walk
}

/// Whether a file with this name usually has secrets.
fn is_likely_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let matches = |pattern: &&str| glob::Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(&name));
    !TEMPLATES.contains(&&*name) && SECRETS.iter().any(matches)
}

fn is_broken_link(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::WithPath { err, .. } | ignore::Error::WithDepth { err, .. } => is_broken_link(err),
        ignore::Error::Loop { .. } => true,
        ignore::Error::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn workspace(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn packed(folder: &TempDir) -> WorkspaceFiles {
        let root = folder.path();
        let without = Exclusions {
            generated: vec![root.join("target")],
            packages: BTreeSet::from([root.join("near")]),
        };
        let mut found = WorkspaceFiles::default();
        found.add_folder(root, root, &without).unwrap();
        found
    }

    fn names(found: &WorkspaceFiles) -> Vec<&str> {
        found.files.keys().map(|path| path.to_str().unwrap()).collect()
    }

    #[test]
    fn what_git_ignores_is_built_or_is_of_another_package_stays_out() {
        let folder = workspace(&[
            "Cargo.toml",
            "src/lib.rs",
            ".cargo/config.toml",
            "data/items.jsonl",
            "data/private.jsonl",
            "target/debug/evals",
            "cache/CACHEDIR.TAG",
            "cache/x",
            "near/Cargo.toml",
            "near/src/lib.rs",
            "far/Cargo.toml",
            "far/src/lib.rs",
            ".git/config",
        ]);
        fs::write(folder.path().join(".gitignore"), "private.*\n").unwrap();
        let found = packed(&folder);
        let expected = [
            ".cargo/config.toml",
            ".gitignore",
            "Cargo.toml",
            "data/items.jsonl",
            "near/Cargo.toml",
            "near/src/lib.rs",
            "src/lib.rs",
        ];
        assert_eq!(names(&found), expected);
        assert_eq!(found.warnings, [""; 0]);
    }

    #[test]
    fn secrets_stay_out_unless_they_are_included_and_both_are_said() {
        let folder = workspace(&[
            ".env",
            ".env.example",
            "certs/server.pem",
            "id_rsa",
            "src/key.rs",
            "src/secrets.rs",
        ]);
        fs::write(folder.path().join(".gitignore"), ".env\n").unwrap();
        let mut found = packed(&folder);
        assert_eq!(names(&found), [".env.example", ".gitignore", "src/key.rs", "src/secrets.rs"]);
        let left_out =
            |file| format!("skipped `{file}`: it may contain secrets; pack it with `--include {file}`");
        let mut warnings = found.warnings.clone();
        warnings.sort();
        assert_eq!(warnings, ["certs/server.pem", "id_rsa"].map(left_out), "git ignores the third");
        found.include("certs", folder.path()).unwrap();
        found.include(".env", folder.path()).unwrap();
        assert_eq!(
            names(&found),
            [".env", ".env.example", ".gitignore", "certs/server.pem", "src/key.rs", "src/secrets.rs"]
        );
        let packed = |file| format!("packed `{file}`, which may contain secrets");
        assert_eq!(found.warnings, [left_out("id_rsa"), packed("certs/server.pem"), packed(".env")]);
    }

    #[test]
    fn credentials_of_tools_and_key_stores_are_secrets() {
        for secret in [
            ".git-credentials",
            ".cargo/credentials",
            ".cargo/credentials.toml",
            ".aws/credentials",
            "a.pfx",
            "a.jks",
            "a.p8",
            ".htpasswd",
            "secrets.yaml",
            ".dev.vars",
            "Secrets.JSON",
        ] {
            assert!(is_likely_secret(Path::new(secret)), "{secret}");
        }
        for file in ["src/secrets.rs", "credentials.md", "docs/secrets", ".env.example"] {
            assert!(!is_likely_secret(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn files_of_the_root_are_packed_unless_git_ignores_them() {
        let folder = workspace(&["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "member/Cargo.toml"]);
        let add = || {
            let mut found = WorkspaceFiles::default();
            found
                .add_named(&["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "cobalt.toml"], folder.path());
            names(&found).join(" ")
        };
        assert_eq!(add(), ".cargo/config.toml Cargo.lock Cargo.toml");
        fs::write(folder.path().join(".gitignore"), ".cargo\nCargo.lock\n").unwrap();
        assert_eq!(add(), "Cargo.toml");
    }

    #[test]
    fn included_are_files_by_patterns_that_match_in_the_workspace() {
        let folder = workspace(&["data/a.jsonl", "data/deep/b.jsonl", "notes.md"]);
        let include = |pattern: &str| {
            let mut found = WorkspaceFiles::default();
            found
                .include(pattern, folder.path())
                .map(|()| names(&found).join(" "))
                .map_err(|error| error.to_string())
        };
        assert_eq!(include("data/**/*.jsonl").unwrap(), "data/a.jsonl data/deep/b.jsonl");
        assert_eq!(include("data").unwrap(), "data/a.jsonl data/deep/b.jsonl");
        assert_eq!(include("nothing").unwrap_err(), "`--include nothing`: no such file in the workspace");
        let outside = folder.path().with_extension("beside");
        fs::write(&outside, "").unwrap();
        let pattern = format!("../{}", outside.file_name().unwrap().to_str().unwrap());
        assert!(include(&pattern).unwrap_err().ends_with("expected files in the workspace"));
        fs::remove_file(outside).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn links_within_the_workspace_are_files_and_others_stay_out() {
        use std::os::unix::fs::symlink;
        let outside = workspace(&["secret.txt", "folder/x"]);
        let folder = workspace(&["data/a.jsonl"]);
        let at = |name: &str| folder.path().join(name);
        symlink("data", at("more")).unwrap();
        symlink("..", at("data/circle")).unwrap();
        symlink("nowhere", at("broken")).unwrap();
        symlink(outside.path().join("secret.txt"), at("leak.txt")).unwrap();
        symlink(outside.path().join("folder"), at("leaks")).unwrap();
        let mut found = packed(&folder);
        assert_eq!(names(&found), ["data/a.jsonl", "more/a.jsonl"]);
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
        assert!(found.warnings.iter().all(|warning| warning.contains("a symlink out of the workspace")));
        found.include("leak.txt", folder.path()).unwrap();
        assert!(names(&found).contains(&"leak.txt") && found.warnings.len() == 1);
    }
}
