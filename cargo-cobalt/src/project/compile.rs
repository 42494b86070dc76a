//! Has cargo build test targets, and tells where the binaries are.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cargo_metadata::{Artifact, Message, TargetKind};

use super::discover::Experiments;
use crate::cli::Run;
use crate::error::Error;

/// A test binary, and the folder of its package.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    pub(crate) package_root: PathBuf,
}

/// Builds the targets, in one call of cargo; diagnostics go to stderr as usual.
pub(crate) fn compile(experiments: &[Experiments], arguments: &Run) -> Result<Vec<Binary>, Error> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(&cargo);
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    command.args(arguments.build.release.then_some("--release"));
    for Experiments { package, target, .. } in experiments {
        command.args(["--package", package, "--test", target]);
    }
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|source| Error::Start { program: cargo, source })?;
    let output = child.stdout.take().into_iter().map(BufReader::new);
    let mut binaries = Vec::new();
    for message in output.flat_map(Message::parse_stream) {
        if let Message::CompilerArtifact(artifact) = message.map_err(Error::Messages)? {
            binaries.extend(binary_of(&artifact, experiments));
        }
    }
    let status = child.wait().map_err(Error::Messages)?;
    if !status.success() {
        return Err(Error::Build);
    }
    binaries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(binaries)
}

/// The binary that cargo has built, if it is one of these targets.
///
/// Of several packages, cargo builds every target that has one of the names: another package's unit tests, too.
fn binary_of(artifact: &Artifact, experiments: &[Experiments]) -> Option<Binary> {
    let is_asked_for = |asked: &Experiments| {
        asked.id == artifact.package_id
            && asked.target == artifact.target.name
            && artifact.target.kind.contains(&TargetKind::Test)
    };
    let path = artifact.executable.as_ref().filter(|_| experiments.iter().any(is_asked_for))?;
    Some(Binary { path: path.into(), package_root: artifact.manifest_path.parent()?.into() })
}

#[cfg(test)]
mod tests {
    use cargo_metadata::PackageId;

    use super::*;

    fn built(package: &str, kind: &str, target: &str) -> Artifact {
        let message = serde_json::json!({
            "package_id": package, "manifest_path": "/w/p/Cargo.toml", "executable": "/w/target/evals-1",
            "target": {
                "name": target, "kind": [kind], "crate_types": ["bin"], "src_path": "/w/p/tests/evals.rs",
                "edition": "2024", "doctest": false, "test": true, "doc": false,
            },
            "profile": {
                "opt_level": "0", "debuginfo": 2, "debug_assertions": true, "overflow_checks": true, "test": true,
            },
            "features": [], "filenames": ["/w/target/evals-1"], "fresh": false,
        });
        serde_json::from_value(message).unwrap()
    }

    #[test]
    fn a_test_target_of_the_same_name_in_another_package_is_not_run() {
        let id = |package: &str| PackageId { repr: package.to_owned() };
        let asked = |package: &str, target: &str| Experiments {
            package: package.to_owned(),
            id: id(package),
            target: target.to_owned(),
        };
        let experiments = [asked("a", "evals"), asked("b", "more")];
        let binary = binary_of(&built("a", "test", "evals"), &experiments).unwrap();
        assert_eq!(binary.package_root, PathBuf::from("/w/p"));
        assert!(binary_of(&built("b", "test", "more"), &experiments).is_some());
        assert!(binary_of(&built("a", "test", "more"), &experiments).is_none());
        assert!(binary_of(&built("a", "bin", "evals"), &experiments).is_none());
    }
}
