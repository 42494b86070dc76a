//! The test target that holds the experiments: one that is there, or a name for a new one.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Package, Target, TargetKind};

use super::code::code;
use super::manifest::Manifest;
use super::plan::is_there;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Experiments {
    Present { target: String, source: PathBuf },
    Missing { target: String },
}

impl Experiments {
    pub(super) fn find(package: &Package, manifest: &Manifest) -> Self {
        let tests = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Test));
        let tests: Vec<_> = tests.collect();
        let ready = |test: &&&Target| {
            manifest.harness(&test.name) == Some(false) && code_of(test).contains("cobalt::")
        };
        // What the manifest does not list is built with the usual front end, and its `main` is never called.
        let unlisted = |test: &&&Target| {
            let code = code_of(test);
            let calls_main = code.contains("fn main()") && code.contains("cobalt::main()");
            let is_program = calls_main && !code.contains("#[test]");
            manifest.harness(&test.name).is_none() && is_program
        };
        if let Some(test) = tests.iter().find(ready).or_else(|| tests.iter().find(unlisted)) {
            return Self::Present { target: test.name.clone(), source: test.src_path.clone().into() };
        }
        let is_taken =
            |name: &str| tests.iter().any(|test| test.name == name) || manifest.harness(name) == Some(true);
        Self::Missing { target: free_name(manifest.folder(), is_taken) }
    }

    pub(super) fn target(&self) -> &str {
        match self {
            Self::Present { target, .. } | Self::Missing { target } => target,
        }
    }
}

fn code_of(test: &Target) -> String {
    code(&fs::read_to_string(&test.src_path).unwrap_or_default())
}

/// The usual name, or the first that no target has and no file in the package's `tests`.
pub(super) fn free_name(package: &Path, is_taken: impl Fn(&str) -> bool) -> String {
    let tests = package.join("tests");
    let is_free = |name: &String| {
        !is_taken(name) && !is_there(&tests.join(name)) && !is_there(&tests.join(format!("{name}.rs")))
    };
    let mut others = (2..).map(|number| format!("experiments-{number}"));
    let usual = ["evals", "experiments"].map(str::to_owned).into_iter().find(is_free);
    usual.or_else(|| others.find(is_free)).unwrap_or_default()
}
