//! `CommandSucceeds`: runs a command in a copy of the finished workspace.

use std::collections::BTreeMap;
use std::fmt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{env, io};

use cobalt_core::duration::milliseconds;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{READS_FOLDER, folder, require_workspace};
use crate::evaluators::command::{
    CommandConfig, EXIT_GRACE, OutputTail, POLL_INTERVAL, describe_exit, not_empty,
};
use crate::evaluators::options::Options;
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::processes::{ChildGuard, ProcessGroup};
use crate::settings::{
    Argument, DurationValue, EnvironmentName, NoSharedKeys, NonEmptyString, VariableValue, format_duration,
};
use crate::template::Template;
use crate::thread_pool;
use crate::workspace::{WorkspaceCopy, WorkspaceDir, copy_folder_over, folder_in_package};

/// The variables that a command gets from this process, besides those of `RUSTUP_`: programs are found and run with them, and they hold
/// no keys.
const PASSED_VARIABLES: [&str; 19] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "CARGO_HOME",
    "SHELL",
    "TERM",
    "TZ",
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMFILES",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
];

/// Scores 1 if a command succeeds in the [workspace](crate::workspaces) as the agent left it, else 0.
///
/// ```
/// use std::time::Duration;
///
/// use cobalt::CommandSucceeds;
///
/// let tests = CommandSucceeds::new("tests", ["cargo", "test", "--offline"])
///     .files("hidden/{{id}}")
///     .timeout(Duration::from_secs(120));
/// ```
///
/// The command runs in its own copy of the folder, so evaluators affect neither each other nor the patch. [`files`](Self::files) adds
/// files that the agent did not see, such as hidden tests. No shell is involved.
///
/// It runs code that an agent wrote. Of the environment it gets only variables such as `PATH`, `HOME`, `CARGO_HOME` and `RUSTUP_*`, and
/// those that you set, so it sees no keys in variables. It can still read files and use the network, unless the workspace has a
/// [sandbox](crate::Workspace::sandbox), in which the command then runs. When it ends, or at the time limit, so does
/// everything that it started (on Unix).
#[derive(Clone)]
pub struct CommandSucceeds(CommandSucceedsOptions);

/// The keys of `type = "command-succeeds"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandSucceedsOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: NonEmptyString,
    /// The program and its arguments, without a shell.
    #[serde(deserialize_with = "not_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    command: Vec<Argument>,
    /// A folder of the package whose files are added before the command runs, such as hidden tests: "hidden/{{id}}".
    files: Option<NonEmptyString>,
    /// Environment variables for the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<EnvironmentName, VariableValue>,
    /// Further variables of the test binary that the command gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pass_env: Vec<EnvironmentName>,
    /// Whether the copy includes what the workspace ignores, such as "node_modules". Default: false.
    with_ignored: Option<bool>,
    /// The time limit of the command. Default: the experiment's `timeout`.
    timeout: Option<DurationValue>,
}

fn type_name() -> NonEmptyString {
    NonEmptyString("command-succeeds".to_owned())
}

impl Options for CommandSucceedsOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(CommandSucceeds(self)))
    }
}

impl CommandSucceeds {
    /// Runs a program with arguments. An empty command is an error before the run.
    pub fn new<T: Into<String>>(name: impl Into<String>, command: impl IntoIterator<Item = T>) -> Self {
        Self(CommandSucceedsOptions {
            name: NonEmptyString(name.into()),
            command: command.into_iter().map(|argument| Argument(argument.into())).collect(),
            files: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            with_ignored: None,
            timeout: None,
        })
    }

    /// Adds the files of a folder before the command runs, over those of the agent: hidden tests, for example. The path is relative to the
    /// package and may contain fields of the item, as in `hidden/{{id}}`.
    #[must_use]
    pub fn files(mut self, folder: impl Into<String>) -> Self {
        self.0.files = Some(NonEmptyString(folder.into()));
        self
    }

    /// Sets an environment variable for the command.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.env.insert(EnvironmentName(name.into()), VariableValue(value.into()));
        self
    }

    /// Passes on variables of this process, in addition to those that every command gets.
    #[must_use]
    pub fn pass_env<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.0.pass_env.extend(names.into_iter().map(|name| EnvironmentName(name.into())));
        self
    }

    /// Whether the copy includes what the workspace [ignores](crate::Workspace::ignore), such as `node_modules`. Default: `false`.
    #[must_use]
    pub fn with_ignored(mut self, with_ignored: bool) -> Self {
        self.0.with_ignored = Some(with_ignored);
        self
    }

    /// Sets the time limit of the command. Default: the experiment's `timeout`. A command that takes longer has not succeeded.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(DurationValue(timeout));
        self
    }

    fn program(&self) -> Option<CommandConfig<'_>> {
        let (Argument(name), arguments) = self.0.command.split_first()?;
        Some(CommandConfig { name, arguments, variables: &self.0.env })
    }

    fn template(&self) -> Option<Template> {
        self.0.files.as_ref().map(|NonEmptyString(folder)| Template::parse(folder))
    }

    /// Copies the folder, and adds the files.
    async fn prepare(&self, cx: &EvalContext) -> Result<WorkspaceCopy, EvalError> {
        let (dir, with_ignored) = (folder(cx)?.clone(), self.0.with_ignored == Some(true));
        let files = self.template().map(|files| folder_in_package(&files, cx.item(), "files"));
        let files = files.transpose().map_err(EvalError::new)?;
        let copied = thread_pool::run(move || {
            let copy = dir.copy(with_ignored)?;
            if let Some(files) = files {
                copy_folder_over(&files, copy.dir.path())?;
            }
            Ok(copy)
        });
        let copied = copied.await.map_err(|error| EvalError::new(error.to_string()))?;
        copied.map_err(|error: crate::workspace::WorkspaceError| {
            EvalError::new(format!("failed to copy the workspace: {error}"))
        })
    }

    fn command(&self, program: &CommandConfig<'_>, dir: &WorkspaceDir) -> Command {
        let mut command = dir.command(program.name);
        command.args(program.arguments.iter().map(|Argument(argument)| argument));
        let is_passed = |name: &str| {
            let is =
                |known: &str| if cfg!(windows) { known.eq_ignore_ascii_case(name) } else { known == name };
            PASSED_VARIABLES.iter().any(|known| is(known))
                || name.starts_with("RUSTUP_")
                || self.0.pass_env.iter().any(|EnvironmentName(known)| is(known))
        };
        command.env_clear().envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)));
        command.envs(self.0.env.iter().map(|(EnvironmentName(name), VariableValue(value))| (name, value)));
        command.stdin(Stdio::null());
        command
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let program = self.program().ok_or_else(|| EvalError::new(EMPTY_COMMAND))?;
        let limit = self.0.timeout.map_or_else(|| cx.timeout(), |DurationValue(limit)| limit);
        let copy = self.prepare(cx).await?;
        let failed = |error: io::Error| {
            let hint =
                "install it, or correct the command; without a shell, a path is relative to the workspace";
            EvalError::new(format!("failed to start `{}`: {error}; {hint}", program.name))
        };
        let started = Instant::now();
        let (running, output) =
            start(copy.dir.processes(), self.command(&program, &copy.dir)).map_err(failed)?;
        let mut status = None;
        while status.is_none() && started.elapsed() < limit {
            tokio::time::sleep(POLL_INTERVAL).await;
            status = running.status();
        }
        let took = started.elapsed();
        // Ends what it started, which may hold its output open.
        let _ = tokio::task::spawn_blocking(move || drop(running)).await;
        output.wait(EXIT_GRACE).await;
        let what = match status {
            Some(_) => describe_exit(status),
            None => format!("did not end within {}", format_duration(limit)),
        };
        let succeeded = status.is_some_and(|status| status.success());
        let lines = output.last_lines();
        let reason = match lines.is_empty() {
            _ if succeeded => what,
            true => format!("{what}; it wrote nothing"),
            false => format!("{what}; its last lines:\n{}", lines.join("\n")),
        };
        let score = Score::from(succeeded).reason(program.redact(reason));
        let score = score.metadata("durationMs", milliseconds(took).round());
        // Removing many files takes time.
        let _ = thread_pool::run(move || drop(copy)).await;
        Ok(match status.and_then(|status| status.code()) {
            Some(code) => score.metadata("exitCode", code),
            None => score,
        })
    }
}

const EMPTY_COMMAND: &str = "the command is empty; name a program";

/// Starts a command whose output and errors are read together.
fn start(group: &ProcessGroup, mut command: Command) -> io::Result<(ChildGuard, OutputTail)> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let running = group.start(&mut command)?;
    // It holds the writing end open.
    drop(command);
    Ok((running, OutputTail::of(reader)?))
}

/// The settings that affect scores, without secrets.
impl fmt::Debug for CommandSucceeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(CommandSucceedsOptions { files, env, pass_env, with_ignored, .. }) = self;
        let nothing = CommandConfig { name: "", arguments: &[], variables: env };
        let program = self.program().unwrap_or(nothing);
        let mut shown = f.debug_struct("CommandSucceeds");
        shown.field("name", &self.name()).field("program", &program.name);
        shown.field("arguments", &program.redacted_arguments());
        shown.field("variables", &program.redacted_variables());
        let passed: Vec<_> = pass_env.iter().map(|EnvironmentName(name)| name).collect();
        shown.field("files", &files.as_ref().map(|NonEmptyString(files)| files)).field("pass_env", &passed);
        shown.field("with_ignored", &(*with_ignored == Some(true))).finish_non_exhaustive()
    }
}

impl Evaluator for CommandSucceeds {
    fn name(&self) -> &str {
        &self.0.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.score(cx))
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        let is_named = self.program().is_some_and(|program| !program.name.trim().is_empty());
        if !is_named {
            return Err(CheckError::new(EMPTY_COMMAND));
        }
        require_workspace(setup)?;
        let Some(files) = self.template() else { return Ok(()) };
        setup
            .items()
            .try_for_each(|item| folder_in_package(&files, &item, "files").map(drop).map_err(CheckError::new))
    }

    /// It has its own limit, which starts with the command.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }

    fn needs_live_agent(&self) -> Option<&str> {
        Some(READS_FOLDER)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::path::Path;

    use cobalt_core::item::{Item, Output};
    use tempfile::TempDir;

    use super::*;

    fn scored(evaluator: &CommandSucceeds, folder: &Path) -> Result<Score, EvalError> {
        let cx = EvalContext::new(Item::new(), Output::new("")).with_dir(folder);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(evaluator.evaluate(&cx))
    }

    fn shell(script: &str) -> CommandSucceeds {
        CommandSucceeds::new("tests", ["sh", "-c", script])
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "1\n").unwrap();
        fs::create_dir(folder.path().join("node_modules")).unwrap();
        folder
    }

    #[test]
    fn the_exit_code_decides_and_the_reason_has_the_last_lines() {
        let folder = folder();
        let score = scored(&shell("cat a; echo bad >&2; exit 3"), folder.path()).unwrap();
        assert_eq!(
            (score.value(), score.why().unwrap()),
            (0.0, "exited with code 3; its last lines:\n1\nbad")
        );
        assert_eq!(score.all_metadata()["exitCode"], 3);
        let score = scored(&shell("test -f a"), folder.path()).unwrap();
        assert_eq!((score.value(), score.why().unwrap()), (1.0, "exited with code 0"));
        let silent = scored(&shell("exit 1"), folder.path()).unwrap();
        assert_eq!(silent.why().unwrap(), "exited with code 1; it wrote nothing");
        let long = scored(&shell("seq 1000; exit 1"), folder.path()).unwrap();
        assert!(long.why().unwrap().ends_with("\n999\n1000") && long.why().unwrap().len() < 200);
    }

    #[test]
    fn the_command_changes_only_its_own_copy() {
        let folder = folder();
        let score = scored(&shell("echo 2 > a && mkdir b && test ! -e node_modules"), folder.path()).unwrap();
        assert_eq!(score.value(), 1.0);
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "1\n");
        assert!(!folder.path().join("b").exists());
        let all = shell("test -e target").with_ignored(true);
        fs::create_dir(folder.path().join("target")).unwrap();
        assert_eq!(scored(&all, folder.path()).unwrap().value(), 1.0);
    }

    #[test]
    fn hidden_files_are_added_over_those_of_the_agent() {
        let folder = folder();
        fs::write(folder.path().join("mod.rs"), "cheated").unwrap();
        let overlay =
            shell("grep -q 'Evaluators of the files' mod.rs && test -f a").files("src/evaluators/workspace");
        assert_eq!(scored(&overlay, folder.path()).unwrap().value(), 1.0);
        assert_eq!(fs::read_to_string(folder.path().join("mod.rs")).unwrap(), "cheated");
        let missing = scored(&shell("true").files("no/such"), folder.path()).unwrap_err().to_string();
        assert!(missing.starts_with("the files folder `") && missing.contains("does not exist"), "{missing}");
    }

    #[test]
    fn the_environment_has_no_other_variables() {
        let folder = folder();
        let score = scored(&shell("env; exit 1").env("OWN", "1"), folder.path()).unwrap();
        let reason = score.why().unwrap();
        assert!(reason.contains("\nPATH=") && reason.contains("\nOWN=1"), "{reason}");
        assert!(!reason.contains("CARGO_MANIFEST_DIR") && !reason.contains("CARGO_PKG_NAME"), "{reason}");
        let passed = shell("test -n \"$CARGO_PKG_NAME\"").pass_env(["CARGO_PKG_NAME"]);
        assert_eq!(scored(&passed, folder.path()).unwrap().value(), 1.0);
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_what_it_started() {
        let folder = folder();
        let started = std::time::Instant::now();
        let marker = tempfile::tempdir().unwrap();
        let late = marker.path().join("late");
        let script = format!("(sleep 1; touch {}) & echo waiting; sleep 60", late.display());
        let score = scored(&shell(&script).timeout(Duration::from_millis(200)), folder.path()).unwrap();
        assert_eq!(
            (score.value(), score.why().unwrap()),
            (0.0, "did not end within 200ms; its last lines:\nwaiting")
        );
        assert!(started.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!late.exists());
    }

    #[test]
    fn a_program_that_is_not_there_is_no_score() {
        let error = scored(&CommandSucceeds::new("t", ["no-such-program"]), folder().path()).unwrap_err();
        assert!(error.to_string().starts_with("failed to start `no-such-program`: "), "{error}");
        assert!(scored(&CommandSucceeds::new("t", [""; 0]), folder().path()).is_err());
    }
}
