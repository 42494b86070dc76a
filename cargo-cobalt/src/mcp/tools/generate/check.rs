//! Where generated files go, which names are taken, and whether cargo accepts the test target.

use std::path::{Path, PathBuf};

use cargo_metadata::{Message, TargetKind};
use cobalt_core::experiment_name::case_name;
use cobalt_core::wording;
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, package_around};
use super::public_paths;
use crate::error::Error;
use crate::init::exists_or_link;
use crate::mcp::command::Commands;
use crate::mcp::paths::{resolve_existing, resolve_new};
use crate::mcp::plain_errors::Diagnostic;
use crate::mcp::projects::Project;
use crate::mcp::tools::ToolContext;
use crate::mcp::tools::list::list_experiments;
use crate::mcp::tools::run::Progress;
use crate::project::MANIFEST;

/// The request for an experiment.
pub struct GenerateRequest {
    pub project: Project,
    pub agent: Agent,
    pub place: OutputFiles,
    pub taken: TakenNames,
    pub size: usize,
    pub context: Option<String>,
    pub overwrite: bool,
}

/// The result of `cargo check`.
pub enum CheckResult {
    Compiles,
    /// The target's compiler errors, as rendered.
    Errors(Vec<String>),
    /// Errors elsewhere in the project, or of cargo, so that the target could not be checked.
    OtherErrors(String),
}

/// Checks the target in the project's own target folder.
pub async fn check(
    commands: &Commands,
    wanted: &GenerateRequest,
    cancelled: &CancellationToken,
    progress: &mut Progress,
) -> Result<CheckResult, Error> {
    let GenerateRequest { project, agent, place, .. } = wanted;
    let OutputFiles { target, .. } = place;
    let arguments = [
        "check".to_owned(),
        format!("--manifest-path={}", agent.package.manifest_path),
        // Otherwise, in a workspace root, cargo checks the default members.
        format!("--package={}", agent.package.id),
        format!("--test={target}"),
        "--message-format=json".to_owned(),
    ];
    let mut running = commands.start_cargo(project, &arguments, cancelled)?;
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    loop {
        tokio::select! {
            line = running.next_line() => {
                let Some(line) = line else { break };
                if let Some(Diagnostic { rendered, .. }) = Diagnostic::parse(&line) {
                    if is_of_target(&line, place) { &mut ours } else { &mut others }.push(rendered);
                }
            }
            () = progress.wait_for_silence() => progress.report_partial(None, &format!("checking it for {}", running.build_progress())).await,
        }
    }
    let ended = running.wait().await?;
    if ended.was_cancelled || cancelled.is_cancelled() {
        return Err(Error::Interrupted);
    }
    if ended.status.success() {
        return Ok(CheckResult::Compiles);
    }
    if others.is_empty() && !ours.is_empty() {
        return Ok(CheckResult::Errors(ours));
    }
    let said = if others.is_empty() { ended.stderr } else { others };
    Ok(CheckResult::OtherErrors(said.join("\n")))
}

/// Whether a compiler message is about the target.
fn is_of_target(line: &str, place: &OutputFiles) -> bool {
    let Ok(Message::CompilerMessage(message)) = serde_json::from_str(line) else { return false };
    message.target.name == place.target && message.target.src_path == *place.test
}

/// The names of existing experiments, with their locations.
#[derive(Debug, Default)]
pub struct TakenNames(Vec<(String, String)>);

impl TakenNames {
    /// Builds the project and lists its experiments, except those of the new target. Also returns a note if the build fails.
    pub async fn list(
        call: ToolContext<'_>,
        wanted: &GenerateRequest,
        progress: &mut Progress,
    ) -> Result<(Self, Option<String>), Error> {
        let GenerateRequest { project, agent, place, .. } = wanted;
        let listing = list_experiments(call, project, &["--workspace".to_owned()], progress).await?;
        let is_other = |row: &&crate::list::Row| {
            row.package != agent.package.name.as_str() || row.target != place.target
        };
        let others = listing.rows.iter().filter(is_other).map(|row| &row.experiment);
        let taken = others.map(|other| (other.name.clone(), format!("{}:{}", other.file, other.line)));
        let note = (!listing.compile_errors.is_empty()).then(|| {
            "The project does not build, so its experiments could not be listed: the name of the new one may be taken. \
             Check with `cobalt_list`."
                .to_owned()
        });
        Ok((Self(taken.collect()), note))
    }

    /// The location of the experiment with this name, or with a name that is the same in test cases.
    fn location_of(&self, name: &str) -> Option<&str> {
        let case = case_name(name);
        let other = self.0.iter().find(|(other, _)| case_name(other) == case)?;
        Some(&other.1)
    }

    /// A name for the new experiment: the agent's, the target's, or a numbered one.
    pub fn free_name(&self, agent: &Agent, place: &OutputFiles) -> String {
        let numbered = (2..).map(|number| format!("{}_{number}", agent.name));
        let mut names = [agent.name.clone(), place.target.clone()].into_iter().chain(numbered);
        names.find(|name| self.location_of(name).is_none()).unwrap_or_default()
    }

    /// The names of experiments that are taken, as errors for the model.
    pub fn problems(&self, experiments: &[String], free: &str) -> Vec<String> {
        let problem = |name: &String| {
            let place = self.location_of(name)?;
            Some(format!("another experiment is named `{name}`, at {place}: name this one `{free}`"))
        };
        experiments.iter().filter_map(problem).collect()
    }

    /// The names, as a sentence for the model.
    pub fn prompt_text(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let names = wording::join_quoted(self.0.iter().map(|(name, _)| name.as_str()));
        format!("\nThese names of experiments are taken: {names}.\n")
    }
}

/// Where the files go.
#[derive(Clone, Debug)]
pub struct OutputFiles {
    /// The name of the test target.
    pub target: String,
    pub test: PathBuf,
    /// The test's path for the manifest, if cargo does not find it by its name.
    pub test_in_manifest: Option<String>,
    pub data: PathBuf,
    /// The dataset's path, relative to the package, as in an experiment.
    pub data_in_package: String,
}

impl OutputFiles {
    /// Determines the paths. Fails if files exist there.
    pub fn resolve(
        project: &Project,
        agent: &Agent,
        output: Option<&str>,
        overwrite: bool,
    ) -> Result<Self, Error> {
        let below = |path: &str| agent.folder.join(path).display().to_string();
        let argument = output.map_or_else(|| below(&format!("tests/{}_evals.rs", agent.name)), str::to_owned);
        let test = resolve_new(project, "outputFile", &argument)?;
        let target = target_name(agent, &test, &argument)?;
        let data_in_package = format!("data/{target}.jsonl");
        let data = resolve_new(project, "outputFile", &below(&data_in_package))?;
        let is_found = test == agent.folder.join(format!("tests/{target}.rs"));
        let in_package = || test.strip_prefix(&agent.folder).unwrap_or(&test);
        let test_in_manifest = (!is_found).then(|| with_slashes(in_package()));
        // If the manifest is a symlink, its target would be edited.
        resolve_existing(project, "agentFile", &below(MANIFEST))?;
        let place = Self { test_in_manifest, target, test, data, data_in_package };
        place.check_free(project, overwrite)?;
        Ok(place)
    }

    /// Fails if files exist at these paths, unless they may be replaced.
    pub fn check_free(&self, project: &Project, overwrite: bool) -> Result<(), Error> {
        let Some(path) = [&self.test, &self.data].into_iter().find(|path| exists_or_link(path) && !overwrite)
        else {
            return Ok(());
        };
        let shown = path.strip_prefix(&project.root).unwrap_or(path).display();
        Err(Error::Arguments(format!(
            "`{shown}` already exists: pass `overwrite: true` to replace it, or another `outputFile`"
        )))
    }

    /// Fails if a path now leads elsewhere because of a new symlink.
    pub fn check_still_inside(&self, project: &Project) -> Result<(), Error> {
        for path in [&self.test, &self.data] {
            let named = path.display().to_string();
            if resolve_new(project, "outputFile", &named)? != *path {
                return Err(Error::Arguments(format!(
                    "`outputFile`: a part of `{named}` has become a symlink; call again"
                )));
            }
        }
        Ok(())
    }
}

/// The name of the target, which is its file stem.
fn target_name(agent: &Agent, test: &Path, argument: &str) -> Result<String, Error> {
    let refused = |problem: &str| Err(Error::Arguments(format!("`outputFile`: `{argument}` {problem}")));
    if test.extension().is_none_or(|extension| extension != "rs") {
        return refused("is not a Rust source: name a `.rs` file, such as `tests/agent_evals.rs`");
    }
    let package = package_around(&agent.metadata, test).map(|(package, _)| &package.id);
    if package != Some(&agent.package.id) {
        return refused(&format!(
            "is not in the agent's package: name a file in `{}`, the folder of package `{}`",
            agent.folder.display(),
            agent.package.name
        ));
    }
    if is_of_another_target(agent, test) {
        return refused("is one of the package's source files: name a file in `tests/`");
    }
    let name = test.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let is_of_name =
        |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(is_of_name) {
        return refused("is not a valid name for a cargo target: use ASCII letters, digits, `_` and `-`");
    }
    let is_another = |target: &&cargo_metadata::Target| {
        target.kind.contains(&TargetKind::Test) && target.name == name && target.src_path != test
    };
    match agent.package.targets.iter().find(is_another) {
        Some(other) => refused(&format!(
            "would be a second test target `{name}`, in addition to `{}`: choose another name",
            other.src_path
        )),
        None => Ok(name),
    }
}

/// Whether a file belongs to another target, or would become one: cargo discovers some paths automatically, and runs a `build.rs`
/// as soon as it checks.
fn is_of_another_target(agent: &Agent, test: &Path) -> bool {
    let below = test.strip_prefix(&agent.folder).unwrap_or(test);
    let is_taken_up = ["src", "examples", "benches", "build.rs"].iter().any(|place| below.starts_with(place))
        || below.starts_with("tests") && below.components().count() > 2 && below.ends_with("main.rs");
    let mut targets = agent.package.targets.iter();
    is_taken_up
        || targets.any(|target| {
            let is_its_own = target.kind.contains(&TargetKind::Test) && target.src_path == test;
            !is_its_own && public_paths::contains_file(target.src_path.as_std_path(), test)
        })
}

/// A path with `/`, as in manifests.
fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_that_becomes_a_symlink_is_not_written_to() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let project = Project { name: "desk".to_owned(), root: root.clone() };
        let place = OutputFiles {
            target: "evals".to_owned(),
            test: root.join("tests/evals.rs"),
            test_in_manifest: None,
            data: root.join("data/evals.jsonl"),
            data_in_package: "data/evals.jsonl".to_owned(),
        };
        place.check_still_inside(&project).unwrap();
        symlink(outside.path(), root.join("data")).unwrap();
        assert!(place.check_still_inside(&project).unwrap_err().to_string().contains("outside the project"));
        fs::remove_file(root.join("data")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        symlink(root.join("other"), root.join("data")).unwrap();
        assert!(place.check_still_inside(&project).unwrap_err().to_string().contains("a symlink"));
    }
}
