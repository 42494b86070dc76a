//! The test target that holds the experiments: one that is there, or a name for a new one.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Package, Target, TargetKind};

use super::manifest::Manifest;
use super::plan::is_there;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Experiments {
    /// There are experiments, and the manifest says that they bring their own front end.
    Ready {
        name: String,
        source: PathBuf,
    },
    /// There are experiments that the manifest does not list, so that nothing would run them.
    Unlisted {
        name: String,
        source: PathBuf,
    },
    Missing {
        name: String,
    },
}

impl Experiments {
    pub(super) fn find(package: &Package, manifest: &Manifest) -> Self {
        let tests: Vec<_> = package.targets.iter().filter(|target| is_test(target)).collect();
        let place = |test: &&&Target| (test.name.clone(), test.src_path.clone().into_std_path_buf());
        let ready = |test: &&&Target| {
            manifest.harness(&test.name) == Some(false) && source(test).contains("cobalt::")
        };
        if let Some((name, source)) = tests.iter().find(ready).as_ref().map(place) {
            return Self::Ready { name, source };
        }
        let unlisted = |test: &&&Target| {
            let source = source(test);
            let is_program = source.contains("cobalt::main()") && !source.contains("#[test]");
            manifest.harness(&test.name).is_none() && is_program
        };
        if let Some((name, source)) = tests.iter().find(unlisted).as_ref().map(place) {
            return Self::Unlisted { name, source };
        }
        let folder = manifest.folder();
        let name = free_name(folder, |name| tests.iter().any(|test| test.name == name));
        Self::Missing { name }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Ready { name, .. } | Self::Unlisted { name, .. } | Self::Missing { name } => name,
        }
    }
}

fn is_test(target: &Target) -> bool {
    target.kind.contains(&TargetKind::Test)
}

fn source(test: &Target) -> String {
    fs::read_to_string(&test.src_path).unwrap_or_default()
}

/// The usual name, or the first that no target has and no file in the package's `tests`.
pub(super) fn free_name(package: &Path, is_target: impl Fn(&str) -> bool) -> String {
    let tests = package.join("tests");
    let is_free = |name: &String| {
        !is_target(name) && !is_there(&tests.join(name)) && !is_there(&tests.join(format!("{name}.rs")))
    };
    let mut others = (2..).map(|number| format!("experiments-{number}"));
    let usual = ["evals", "experiments"].map(str::to_owned).into_iter().find(is_free);
    usual.or_else(|| others.find(is_free)).unwrap_or_default()
}
