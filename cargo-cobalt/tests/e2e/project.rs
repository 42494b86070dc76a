//! A temporary package with experiments, and the command run in it.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::git::git;

/// Sources shared by many packages. Cargo builds them once and reuses the output for all packages that have them: it identifies
/// packages by name, version and targets, and checks whether sources are newer than the output.
const SHARED: [(&str, &str); 15] = [
    ("src/lib.rs", ""),
    ("tests/early.rs", include_str!("fixture/early.rs")),
    ("tests/evals.rs", include_str!("fixture/evals.rs")),
    ("tests/fetching.rs", include_str!("fixture/fetched.rs")),
    ("tests/foreign.rs", include_str!("fixture/foreign.rs")),
    ("tests/judge/mod.rs", include_str!("fixture/judge.rs")),
    ("tests/keyed.rs", include_str!("fixture/keyed.rs")),
    ("tests/leaky.rs", include_str!("fixture/leaky.rs")),
    ("tests/leaky_dataset.rs", include_str!("fixture/leaky_dataset.rs")),
    ("tests/native_exit.rs", include_str!("fixture/native_exit.rs")),
    ("tests/noisy.rs", include_str!("fixture/noisy.rs")),
    ("tests/paid.rs", include_str!("fixture/paid.rs")),
    ("tests/safety.rs", include_str!("fixture/safety.rs")),
    ("tests/talker.rs", include_str!("fixture/talker.rs")),
    ("tests/variants.rs", include_str!("fixture/variants.rs")),
];

/// The name in manifests of packages with only shared sources. The version is derived from their content, so changed sources are
/// rebuilt even in an existing target folder.
static SHARED_PACKAGE: LazyLock<String> = LazyLock::new(|| package("", &SHARED));

/// A package name, and a version derived from an earlier name and version and from sources.
fn package(before: &str, sources: &[(&str, &str)]) -> String {
    let mut hasher = DefaultHasher::new();
    (before, sources).hash(&mut hasher);
    format!("name = \"trial\"\nversion = \"0.1.0+{:016x}\"", hasher.finish())
}

/// A package that depends on the library.
pub(crate) struct Project(TempDir);

impl Project {
    /// A package without experiments.
    pub(crate) fn empty() -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let project = Self(tempfile::tempdir().unwrap());
        project.write("Cargo.lock", &fs::read_to_string(workspace.join("Cargo.lock")).unwrap());
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\n{}\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dev-dependencies]\ncobalt = {{ package = \"cobalt-evals\", path = {:?}, default-features = false }}\n",
                *SHARED_PACKAGE,
                workspace.join("cobalt")
            ),
        );
        project.write("src/lib.rs", "");
        project
    }

    /// A package with the experiments in the folder `fixture`, whose agent's answers are given by the data.
    pub(crate) fn steered() -> Self {
        let project = Self::empty();
        project.target("evals");
        project.target("foreign");
        project.write("tests/evals.rs", include_str!("fixture/evals.rs"));
        project.write("tests/foreign.rs", include_str!("fixture/foreign.rs"));
        project.answers(&[("paris", "Paris"), ("rome", "Rome")]);
        project
    }

    /// A package without experiments, whose library records, traces and fetches. These features are always the same, as Cargo builds
    /// the library once for each set of them.
    pub(crate) fn with_features() -> Self {
        let project = Self::empty();
        let features = "features = [\"record\", \"tracing\"], default-features = false";
        let manifest = project.read("Cargo.toml").replace("default-features = false", features);
        project.write("Cargo.toml", &manifest);
        project
    }

    /// A clone of the package's git repository.
    pub(crate) fn cloned(&self) -> Self {
        let clone = Self(tempfile::tempdir().unwrap());
        git(self, &["clone", "--quiet", ".", clone.0.path().to_str().unwrap()]);
        // Writing them again sets their times.
        for (file, text) in SHARED {
            if clone.path(file).exists() {
                clone.write(file, text);
            }
        }
        clone
    }

    /// Declares a test target with its own `main`.
    pub(crate) fn target(&self, name: &str) {
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap();
        self.write("Cargo.toml", &format!("{manifest}\n[[test]]\nname = \"{name}\"\nharness = false\n"));
    }

    /// Sets the agent's answer for each item; `Paris` and `Rome` are correct.
    pub(crate) fn answers(&self, says: &[(&str, &str)]) {
        let item = |(id, says): &(&str, &str)| {
            let answer = format!("{}{}", id[..1].to_uppercase(), &id[1..]);
            format!("{}\n", serde_json::json!({ "id": id, "answer": answer, "says": says }))
        };
        self.write("data/items.jsonl", &says.iter().map(item).collect::<String>());
    }

    /// Gives the package a unique name, so that cargo shares no build output: for packages whose sources change while the command runs.
    pub(crate) fn rename(&self, name: &str) {
        let manifest = self.read("Cargo.toml");
        self.write("Cargo.toml", &manifest.replace("name = \"trial\"", &format!("name = \"{name}\"")));
        for (file, _) in SHARED {
            if let Ok(source) = File::options().write(true).open(self.path(file)) {
                source.set_modified(SystemTime::now()).unwrap();
            }
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// Writes a file. Each Rust source that is not shared changes the package's version, so that no other package reuses its
    /// build output.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let Ok(manifest) = fs::read_to_string(self.path("Cargo.toml")) else { return };
        if SHARED.contains(&(file, text)) {
            // Only packages with the same sources share build output; in others, keep the file's time.
            if manifest.contains(&*SHARED_PACKAGE) {
                let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
                File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
            }
        } else if file.ends_with(".rs")
            && ["build.rs", "src/", "tests/"].iter().any(|part| file.starts_with(part))
        {
            // A renamed package has its own build output already, and `watch` would detect the changed manifest.
            let named = manifest.find("name = \"trial\"\n").zip(manifest.find("\nedition"));
            if let Some((start, end)) = named {
                let own = package(&manifest[start..end], &[(file, text)]);
                fs::write(self.path("Cargo.toml"), [&manifest[..start], &own, &manifest[end..]].concat())
                    .unwrap();
            }
        }
    }

    /// The sorted names of the experiments that have been run.
    pub(crate) fn results(&self) -> Vec<String> {
        let files = fs::read_dir(self.path(".cobalt/results")).into_iter().flatten().flatten();
        let name = |file: fs::DirEntry| {
            let report: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
            report["name"].as_str().unwrap().to_owned()
        };
        let mut names: Vec<_> = files.map(name).collect();
        names.sort();
        names
    }

    /// The latest result file. After a run of several experiments it can be that of any of them.
    pub(crate) fn newest_result(&self) -> Value {
        self.newest_result_where(|_| true)
    }

    /// The latest result file of this experiment.
    pub(crate) fn newest_result_of(&self, experiment: &str) -> Value {
        self.newest_result_where(|file| file.contains(&format!("_{experiment}_")))
    }

    fn newest_result_where(&self, is_wanted: impl Fn(&str) -> bool) -> Value {
        let files = fs::read_dir(self.path(".cobalt/results")).unwrap().flatten();
        let wanted = files.filter(|file| is_wanted(file.file_name().to_str().unwrap()));
        let newest =
            wanted.max_by_key(|file| file.metadata().and_then(|known| known.modified()).unwrap()).unwrap();
        serde_json::from_slice(&fs::read(newest.path()).unwrap()).unwrap()
    }

    /// The command with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(COBALT, self.0.path());
        command.arg("cobalt").args(arguments);
        command
    }

    /// Runs the command and checks its exit code.
    pub(crate) fn cobalt(&self, arguments: &[&str], code: i32) -> ProgramOutput {
        ProgramOutput::by(&mut self.command(arguments), code)
    }
}

/// The output of a command.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ProgramOutput {
    /// Runs a command and checks its exit code.
    pub(crate) fn by(command: &mut Command, code: i32) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let said = Self { stdout: text(stdout), stderr: text(stderr) };
        assert_eq!(status.code(), Some(code), "{command:?}: {said:?}");
        said
    }

    /// Asserts that stdout contains this.
    #[track_caller]
    pub(crate) fn stdout_has(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "stdout lacks `{part}`: {}\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr contains this.
    #[track_caller]
    pub(crate) fn stderr_has(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "stderr lacks `{part}`: {}\n{}", self.stderr, self.stdout);
        self
    }
}
