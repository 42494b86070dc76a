//! The notice that a first build takes longer.

use std::fs;
use std::path::Path;

use cobalt_core::wording::group_thousands;

use super::Project;
use crate::cli::BuildOptions;

impl Project {
    /// A notice that the first build takes longer; `None` if the library has been built before.
    pub fn first_build_notice(&self, build: &BuildOptions) -> Option<String> {
        let folder = build.target_dir.as_deref().unwrap_or_else(|| self.build_folder());
        first_build(folder, profile(build), &self.root().join("Cargo.lock"))
    }
}

/// `target` is cargo's target folder.
fn first_build(target: &Path, profile: &str, lock: &Path) -> Option<String> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let is_library = |name: &str| name.starts_with("libcobalt-");
    let has_library = |folder: &Path| {
        let mut files = entries(&folder.join(profile).join("deps"));
        files.any(|file| file.file_name().to_str().is_some_and(is_library))
    };
    // If cargo's settings specify a target triple, the output is in a folder of that name.
    if has_library(target) || entries(target).any(|entry| has_library(&entry.path())) {
        return None;
    }
    let crates = fs::read_to_string(lock).ok();
    let crates = crates.map(|lock| lock.lines().filter(|line| *line == "[[package]]").count());
    let crates = crates.filter(|crates| *crates > 0);
    let what = crates
        .map_or_else(String::new, |crates| format!(" of up to {} crates", group_thousands(crates as u64)));
    Some(format!("First build{what}: this takes a few minutes; later builds take seconds."))
}

/// The profile's folder in the target folder.
fn profile(build: &BuildOptions) -> &str {
    match build.profile.as_deref() {
        None if build.release => "release",
        None | Some("dev" | "test") => "debug",
        Some("bench") => "release",
        Some(profile) => profile,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_the_first_until_the_library_is_built() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("Cargo.lock");
        let said = |profile| first_build(folder.path(), profile, &lock);
        let build = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert_eq!(
            said("debug").unwrap(),
            "First build: this takes a few minutes; later builds take seconds."
        );
        fs::write(&lock, "[[package]]\nname = \"a\"\n".repeat(1_234)).unwrap();
        build("debug/deps/libcobalt_macros-1.so");
        assert!(said("debug").unwrap().contains("First build of up to 1,234 crates: "));
        build("debug/deps/libcobalt-1.rlib");
        assert_eq!(said("debug"), None);
        assert!(said("release").is_some());
        build("x86_64-unknown-linux-gnu/release/deps/libcobalt-2.rlib");
        assert_eq!(said("release"), None, "for the target triple in cargo's settings");
    }

    #[test]
    fn profiles_have_folders() {
        let named = |name: &str| {
            profile(&BuildOptions { profile: Some(name.to_owned()), ..BuildOptions::default() }).to_owned()
        };
        assert_eq!(profile(&BuildOptions::default()), "debug");
        assert_eq!(profile(&BuildOptions { release: true, ..BuildOptions::default() }), "release");
        assert_eq!(["dev", "test", "bench", "slim"].map(named), ["debug", "debug", "release", "slim"]);
    }
}
