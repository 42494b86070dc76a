//! Whether a build is the first, which takes far longer than the next ones.

use std::fs;
use std::path::{Path, PathBuf};

use cobalt::wording::thousands;

use super::Project;
use crate::cli::Build;

impl Project {
    /// What the first build takes, in a sentence; `None` if the library has been built before.
    pub(crate) fn first_build(&self, build: &Build) -> Option<String> {
        first_build(&profile_folder(self.target_folder(), build), &self.root().join("Cargo.lock"))
    }
}

fn first_build(profile: &Path, lock: &Path) -> Option<String> {
    let is_library = |name: &str| name.starts_with("libcobalt-");
    let mut files = fs::read_dir(profile.join("deps")).into_iter().flatten().flatten();
    if files.any(|file| file.file_name().to_str().is_some_and(is_library)) {
        return None;
    }
    let crates = fs::read_to_string(lock).ok();
    let crates = crates.map(|lock| lock.lines().filter(|line| *line == "[[package]]").count());
    let crates = crates.filter(|crates| *crates > 0);
    let what =
        crates.map_or_else(String::new, |crates| format!(" of up to {} crates", thousands(crates as u64)));
    Some(format!("this is the first build here{what}, which takes some minutes; the next ones take seconds"))
}

/// Where cargo puts what it builds by these flags.
fn profile_folder(target: &Path, build: &Build) -> PathBuf {
    let folder = build.target_dir.as_deref().unwrap_or(target);
    let folder = build.target.as_ref().map_or_else(|| folder.to_owned(), |triple| folder.join(triple));
    folder.join(match build.profile.as_deref() {
        None if build.release => "release",
        None | Some("dev" | "test") => "debug",
        Some("bench") => "release",
        Some(profile) => profile,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_the_first_until_the_library_is_built() {
        let folder = tempfile::tempdir().unwrap();
        let (deps, lock) = (folder.path().join("deps"), folder.path().join("Cargo.lock"));
        let said = || first_build(folder.path(), &lock);
        assert_eq!(
            said().unwrap(),
            "this is the first build here, which takes some minutes; the next ones take seconds"
        );
        fs::write(&lock, "[[package]]\nname = \"a\"\n".repeat(1_234)).unwrap();
        fs::create_dir(&deps).unwrap();
        fs::write(deps.join("libcobalt_macros-1.so"), "").unwrap();
        assert!(said().unwrap().contains("the first build here of up to 1,234 crates, which"));
        fs::write(deps.join("libcobalt-1.rlib"), "").unwrap();
        assert_eq!(said(), None);
    }

    #[test]
    fn cargo_builds_in_a_folder_for_each_profile_and_target() {
        let folder = |build: &Build| profile_folder(Path::new("target"), build);
        let profile = |name: &str| Build { profile: Some(name.to_owned()), ..Build::default() };
        assert_eq!(folder(&Build::default()), Path::new("target/debug"));
        assert_eq!(folder(&Build { release: true, ..Build::default() }), Path::new("target/release"));
        assert_eq!(folder(&profile("test")), Path::new("target/debug"));
        assert_eq!(folder(&profile("bench")), Path::new("target/release"));
        let cross =
            Build { target_dir: Some("elsewhere".into()), target: Some("wasm".into()), ..profile("slim") };
        assert_eq!(folder(&cross), Path::new("elsewhere/wasm/slim"));
    }
}
