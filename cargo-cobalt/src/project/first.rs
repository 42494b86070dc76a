//! Whether a build is the first, which takes far longer than the next ones.

use std::fs;
use std::path::PathBuf;

use cobalt::wording::thousands;

use super::Project;
use crate::cli::Build;

impl Project {
    /// What the first build takes, in a sentence; `None` where the library has been built before.
    pub(crate) fn first_build(&self, build: &Build) -> Option<String> {
        let deps = self.profile_folder(build).join("deps");
        let is_library = |name: &str| name.starts_with("libcobalt-");
        let mut files = fs::read_dir(deps).into_iter().flatten().flatten();
        if files.any(|file| file.file_name().to_str().is_some_and(is_library)) {
            return None;
        }
        let crates = fs::read_to_string(self.root().join("Cargo.lock")).ok();
        let crates = crates.map(|lock| lock.lines().filter(|line| *line == "[[package]]").count());
        let crates = crates.filter(|crates| *crates > 0);
        let what = crates
            .map_or_else(String::new, |crates| format!(" of up to {} crates", thousands(crates as u64)));
        Some(format!(
            "this is the first build here{what}, which takes some minutes; the next ones take seconds"
        ))
    }

    /// Where cargo puts what it builds by these flags.
    fn profile_folder(&self, build: &Build) -> PathBuf {
        let folder = build.target_dir.clone().unwrap_or_else(|| self.target_folder().to_owned());
        let folder = build.target.as_ref().map_or_else(|| folder.clone(), |target| folder.join(target));
        folder.join(match build.profile.as_deref() {
            None if build.release => "release",
            None | Some("dev" | "test") => "debug",
            Some("bench") => "release",
            Some(profile) => profile,
        })
    }
}
