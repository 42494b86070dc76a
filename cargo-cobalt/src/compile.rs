//! Has cargo build test targets, and tells where the binaries are.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cargo_metadata::{Message, TargetKind};

use crate::cli::Run;
use crate::discover::Experiments;
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
    command.args(arguments.release.then_some("--release"));
    for Experiments { package, target } in experiments {
        command.args(["--package", package, "--test", target]);
    }
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|source| Error::Start { program: cargo, source })?;
    let output = child.stdout.take().into_iter().map(BufReader::new);
    let mut binaries = Vec::new();
    for message in output.flat_map(Message::parse_stream) {
        if let Message::CompilerArtifact(artifact) = message.map_err(Error::Messages)?
            && artifact.target.kind.contains(&TargetKind::Test)
            && let (Some(path), Some(root)) = (artifact.executable, artifact.manifest_path.parent())
        {
            binaries.push(Binary { path: path.into(), package_root: root.into() });
        }
    }
    let status = child.wait().map_err(Error::Messages)?;
    if !status.success() {
        return Err(Error::Build);
    }
    binaries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(binaries)
}
