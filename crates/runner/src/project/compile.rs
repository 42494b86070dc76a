//! Builds test targets with cargo and locates their binaries.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use cargo_metadata::{Artifact, BuildScript, Message, Package, PackageId, TargetKind};
use cobalt::command::log;

use super::build_inputs::BuildInputs;
use super::cargo_env;
use super::discover::{Candidate, ProjectError};
use super::greeting::is_cobalt_binary;
use crate::cli::{BuildOptions, Color, MessageFormat};
use crate::error::Error;
use crate::interrupt::ForwardGuard;
use crate::terminal::print;

/// A test binary that calls `cobalt::main()`.
#[derive(Clone, Debug)]
pub struct Binary {
    pub path: PathBuf,
    /// The target's name.
    pub target: String,
    pub package: Rc<Package>,
    /// The package's folder.
    pub root: PathBuf,
    /// Environment variables that cargo sets.
    pub variables: Vec<(String, String)>,
    pub parts: BinaryParts,
}

/// What a binary uses at run time besides its package.
#[derive(Clone, Debug, Default)]
pub struct BinaryParts {
    /// The search path for libraries of build scripts; of these folders, only those in the target folder count.
    pub linked: Vec<PathBuf>,
    /// The folders of the toolchain's libraries.
    pub toolchain: Vec<PathBuf>,
    /// The programs of its package, by name.
    pub programs: Vec<(String, PathBuf)>,
    /// The variables that the package's build script set.
    pub script: Vec<(String, String)>,
    /// What local packages were built from.
    pub inputs: Rc<BuildInputs>,
}

impl Binary {
    /// The binary of a target in this file, with the variables that cargo would set.
    pub fn new(candidate: &Candidate, path: PathBuf, parts: BinaryParts) -> Option<Self> {
        let package = Rc::clone(&candidate.package);
        let mut variables = cargo_env::package_variables(&package);
        variables.extend(cargo_env::library_path(&path, &parts.linked, &parts.toolchain));
        let program = |(name, path): &(String, PathBuf)| {
            Some((format!("CARGO_BIN_EXE_{name}"), path.to_str()?.to_owned()))
        };
        variables.extend(parts.programs.iter().filter_map(program));
        variables.extend(parts.script.iter().cloned());
        let root = package.manifest_path.parent()?.into();
        Some(Self { path, target: candidate.target.clone(), package, root, variables, parts })
    }

    /// The folders in which its libraries are searched.
    pub fn library_folders(&self) -> Vec<PathBuf> {
        cargo_env::library_folders(&self.path, &self.parts.linked, &self.parts.toolchain)
    }

    /// The package and the target, for messages.
    pub fn name(&self) -> String {
        format!("`{}/{}`", self.package.name, self.target)
    }
}

/// The result of a build: binaries with experiments, and why others are not run.
#[derive(Debug, Default)]
pub struct BuildOutput {
    pub binaries: Vec<Binary>,
    /// For each target that is not run, the reason.
    pub skipped: Vec<String>,
    /// With `--keep-going`, errors of targets that could not be built.
    pub not_built: Vec<String>,
}

/// Builds the targets in one call of cargo; diagnostics go to stderr, or to stdout as JSON.
pub fn compile(
    candidates: &[Candidate],
    build: &BuildOptions,
    color: Color,
    workspace: &Path,
) -> Result<BuildOutput, Error> {
    let needs_features = candidates.iter().filter_map(Candidate::needs_features).collect();
    let mut not_built: Vec<_> = candidates.iter().filter_map(|candidate| candidate.problem.clone()).collect();
    let is_buildable =
        |candidate: &&Candidate| candidate.missing_features.is_empty() && candidate.problem.is_none();
    let candidates = || candidates.iter().filter(is_buildable);
    if candidates().next().is_none() {
        return Err(Error::Multiple(not_built));
    }
    let cargo = cargo();
    let mut command = Command::new(&cargo);
    for name in cargo_env::inherited_names() {
        command.env_remove(name);
    }
    let format = match build.message_format {
        MessageFormat::Human => "--message-format=json-render-diagnostics",
        MessageFormat::Json => "--message-format=json",
    };
    if build.keep_going {
        // `cargo test` stops at the first error.
        command.args(["build", "--keep-going", format]);
        let has_profile = build.release || build.profile.is_some();
        command.args((!has_profile).then_some("--profile=test"));
    } else {
        command.args(["test", "--no-run", format]);
    }
    command.args(arguments(build, color));
    for Candidate { package, target, .. } in candidates() {
        command.args(["--package", &package.name, "--test", target]);
    }
    log::debug!(
        cargo = cargo,
        targets = candidates().count(),
        keep_going = build.keep_going,
        "builds the test targets"
    );
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|source| Error::Start { program: cargo, source })?;
    let below = ForwardGuard::new(&child);
    let output = child.stdout.take().into_iter().map(BufReader::new);
    let mut messages = BuildMessages::default();
    for line in output.flat_map(BufRead::lines) {
        let line = line.map_err(ProjectError::Messages)?;
        // Ignore messages of later versions.
        let Ok(message) = serde_json::from_str(&line) else { continue };
        match message {
            Message::CompilerMessage(_) => print(&format!("{line}\n")).map_err(Error::Print)?,
            Message::CompilerArtifact(artifact) => messages.artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => {
                messages.scripts.insert(script.package_id.clone(), script);
            }
            _ => {}
        }
    }
    let status = child.wait().map_err(ProjectError::Messages)?;
    drop(below);
    log::debug!(status = status, artifacts = messages.artifacts.len(), "cargo has ended");
    messages.inputs = Rc::new(BuildInputs::read(&messages.artifacts, messages.scripts.values(), workspace));
    let binaries: Vec<_> =
        candidates().filter_map(|candidate| Some((candidate, messages.binary_of(candidate)?))).collect();
    if !status.success() {
        if !build.keep_going || binaries.is_empty() && not_built.is_empty() {
            return Err(ProjectError::Build.into());
        }
        if binaries.is_empty() {
            return Err(Error::Multiple([not_built, vec![ProjectError::Build.to_string()]].concat()));
        }
        let is_built =
            |candidate: &Candidate| binaries.iter().any(|(built, _)| std::ptr::eq(*built, candidate));
        let failed = candidates().filter(|candidate| !is_built(candidate));
        not_built.extend(
            failed.map(|candidate| format!("failed to build `{candidate}`; fix the compiler errors above")),
        );
    }
    let built = BuildOutput::new(binaries.into_iter(), needs_features, &cargo_env::configured_variables()?)?;
    Ok(BuildOutput { not_built, ..built })
}

impl BuildOutput {
    /// The binaries that call `cobalt::main()`, each with the configured variables. A target that does not is an error if it was
    /// selected explicitly, or has experiments.
    pub fn new<'a>(
        binaries: impl Iterator<Item = (&'a Candidate, Binary)>,
        skipped: Vec<String>,
        configured: &[(String, String)],
    ) -> Result<Self, Error> {
        let mut built = Self { skipped, ..Self::default() };
        let mut unfit = Vec::new();
        for (candidate, mut binary) in binaries {
            // Cargo's own variables come later and take precedence.
            binary.variables.splice(0..0, configured.iter().cloned());
            let is_ours = is_cobalt_binary(&binary.path)
                .map_err(|source| ProjectError::Binary { path: binary.path.clone(), source })?;
            log::debug!(
                target = candidate,
                binary = binary.path.display(),
                calls_main = is_ours,
                "examined the test binary"
            );
            if is_ours {
                built.binaries.push(binary);
            } else if candidate.is_named || candidate.has_experiments {
                let or =
                    if candidate.is_named { "do not select the target" } else { "remove its experiments" };
                unfit.push(format!(
                    "`{candidate}` does not call `cobalt::main()`, so its experiments cannot run; call it from `main`, or {or}"
                ));
            } else {
                built.skipped.push(format!("`{candidate}` does not call `cobalt::main()`"));
            }
        }
        if unfit.is_empty() { Ok(built) } else { Err(Error::Multiple(unfit)) }
    }
}

/// The cargo that started this program, or else `cargo`.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// The build options as cargo flags.
fn arguments(build: &BuildOptions, color: Color) -> Vec<String> {
    let mut arguments = Vec::new();
    let flags = [
        ("--release", build.release),
        ("--all-features", build.all_features),
        ("--no-default-features", build.no_default_features),
        ("--locked", build.locked),
        ("--offline", build.offline),
        ("--frozen", build.frozen),
    ];
    arguments.extend(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| (*flag).to_owned()));
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.push(format!("{name}={value}"));
        }
    };
    option("--profile", build.profile.clone());
    option("--target", build.target.clone());
    option("--jobs", build.jobs.clone());
    option("--target-dir", build.target_dir.as_ref().map(|path| path.display().to_string()));
    option("--manifest-path", build.manifest_path.as_ref().map(|path| path.display().to_string()));
    option("--color", color.name().map(str::to_owned));
    for features in &build.features {
        option("--features", Some(features.clone()));
    }
    arguments
}

/// Cargo's messages about a build.
#[derive(Default)]
struct BuildMessages {
    artifacts: Vec<Artifact>,
    scripts: HashMap<PackageId, BuildScript>,
    /// What local packages were built from.
    inputs: Rc<BuildInputs>,
}

impl BuildMessages {
    /// The binary of this target.
    ///
    /// With several packages, cargo builds every target with one of the names, including unit tests of another package.
    fn binary_of(&self, candidate: &Candidate) -> Option<Binary> {
        let is_it = |artifact: &&Artifact| {
            candidate.package.id == artifact.package_id
                && candidate.target == artifact.target.name
                && artifact.target.kind.contains(&TargetKind::Test)
        };
        let path: PathBuf = self.artifacts.iter().find(is_it)?.executable.as_ref()?.into();
        let cargo = cargo();
        let script = self.scripts.get(&candidate.package.id);
        let parts = BinaryParts {
            linked: self.linked_folders(),
            toolchain: cargo_env::toolchain_libraries(Path::new(&cargo)),
            programs: self.programs_of(&candidate.package).collect(),
            script: script.map(|script| script.env.clone()).unwrap_or_default(),
            inputs: Rc::clone(&self.inputs),
        };
        let mut binary = Binary::new(candidate, path, parts)?;
        binary.variables.push(("CARGO".to_owned(), cargo));
        binary.variables.extend(script.map(|script| ("OUT_DIR".to_owned(), script.out_dir.to_string())));
        Some(binary)
    }

    /// The library search paths of build scripts, sorted.
    fn linked_folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> =
            self.scripts.values().flat_map(|script| &script.linked_paths).map(PathBuf::from).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// The programs of a package.
    fn programs_of<'a>(&'a self, package: &'a Package) -> impl Iterator<Item = (String, PathBuf)> + 'a {
        let is_its_program = |artifact: &&Artifact| {
            artifact.package_id == package.id
                && artifact.target.kind.contains(&TargetKind::Bin)
                && !artifact.profile.test
        };
        let programs = self.artifacts.iter().filter(is_its_program);
        programs.filter_map(|artifact| {
            let path = artifact.executable.as_ref()?;
            Some((artifact.target.name.clone(), path.into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(package: &str, kind: &str, target: &str) -> Artifact {
        let message = serde_json::json!({
            "package_id": package, "manifest_path": "/w/p/Cargo.toml", "executable": "/w/target/evals-1",
            "target": {
                "name": target, "kind": [kind], "crate_types": ["bin"], "src_path": "/w/p/tests/evals.rs",
                "edition": "2024", "doctest": false, "test": true, "doc": false,
            },
            "profile": {
                "opt_level": "0", "debuginfo": 2, "debug_assertions": true, "overflow_checks": true, "test": kind == "test",
            },
            "features": [], "filenames": ["/w/target/evals-1"], "fresh": false,
        });
        serde_json::from_value(message).unwrap()
    }

    fn candidate(package: &str, target: &str) -> Candidate {
        let metadata = serde_json::json!({
            "name": package, "version": "1.2.3", "id": package, "dependencies": [], "targets": [], "features": {},
            "manifest_path": "/w/p/Cargo.toml", "edition": "2024",
        });
        let package = Rc::new(serde_json::from_value(metadata).unwrap());
        Candidate {
            package,
            target: target.to_owned(),
            file: "/w/p/tests/evals.rs".into(),
            missing_features: Vec::new(),
            is_named: false,
            has_experiments: false,
            problem: None,
        }
    }

    fn binary(artifacts: Vec<Artifact>, candidate: &Candidate) -> Option<Binary> {
        BuildMessages { artifacts, ..BuildMessages::default() }.binary_of(candidate)
    }

    #[test]
    fn a_target_of_the_same_name_in_another_package_is_not_run() {
        assert!(binary(vec![built("a", "test", "evals")], &candidate("a", "evals")).is_some());
        assert!(binary(vec![built("b", "test", "evals")], &candidate("a", "evals")).is_none());
        assert!(binary(vec![built("a", "test", "more")], &candidate("a", "evals")).is_none());
        assert!(binary(vec![built("a", "bin", "evals")], &candidate("a", "evals")).is_none());
    }

    #[test]
    fn a_binary_gets_the_variables_that_cargo_would_set() {
        let artifacts = vec![built("a", "test", "evals"), built("a", "bin", "agent")];
        let variables: HashMap<_, _> =
            binary(artifacts, &candidate("a", "evals")).unwrap().variables.into_iter().collect();
        assert_eq!(variables["CARGO_MANIFEST_DIR"], "/w/p");
        assert_eq!(variables["CARGO_PKG_VERSION_MINOR"], "2");
        assert_eq!(variables["CARGO_BIN_EXE_agent"], "/w/target/evals-1");
    }
}
