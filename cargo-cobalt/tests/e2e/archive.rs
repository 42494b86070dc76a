//! `cargo cobalt archive` and `run --archive`: a machine without cargo and without the repository gets the same results.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::{ProgramOutput, Project};
use crate::shards::{cities, reports, timeless};

/// An archive of a package with 20 cities, in its folder.
fn archived(project: &Project) -> String {
    cities(project, 20);
    project.write(".gitignore", "data/private.txt\n");
    project.write("data/private.txt", "private");
    project.write(".env", "KEY=sk-not-for-others\n");
    project.cobalt(&["archive"], 0).stderr_has("packed 1 test target and ");
    project.path("cobalt-archive.tar.zst").to_str().unwrap().to_owned()
}

/// The command on a machine without cargo, git and a compiler.
fn elsewhere(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program(COBALT, folder);
    command.arg("cobalt").args(arguments).env("PATH", "").env_remove("CARGO").env_remove("CARGO_TARGET_DIR");
    command
}

fn worker() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs an archive with these arguments, and checks the exit code.
fn run(folder: &Path, archive: &str, arguments: &[&str], code: i32) -> ProgramOutput {
    ProgramOutput::by(&mut elsewhere(folder, &[&["run", "--archive", archive], arguments].concat()), code)
}

#[test]
fn shards_of_an_archive_are_merged_into_the_report_of_one_run() {
    let project = Project::steered();
    let archive = archived(&project);
    project.cobalt(&["run"], 0);
    let folder = worker();
    for shard in ["1/3", "2/3", "3/3"] {
        run(folder.path(), &archive, &["--shard", shard, "-q"], 0);
    }
    ProgramOutput::by(elsewhere(folder.path(), &["merge", ".cobalt"]).env("COBALT_DIR", "merged"), 0);
    let (one, other) = (reports(&project.path(".cobalt")), reports(&folder.path().join("merged")));
    assert_eq!(one.len(), 2);
    assert_eq!(one.iter().map(timeless).collect::<Vec<_>>(), other.iter().map(timeless).collect::<Vec<_>>());
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".cobalt", "merged"], "results and nothing else");
}

#[test]
fn an_archive_has_the_baselines_and_the_hash_of_the_sources() {
    let project = Project::steered();
    cities(&project, 20);
    project.cobalt(&["run"], 0);
    project.cobalt(&["baseline", "set", "--experiment", "gated"], 0);
    let archive = archived(&project);
    let folder = worker();
    run(folder.path(), &archive, &["-q"], 0).stdout_has("vs. baseline ");
    let kept = folder.path().join("kept");
    let again = ["--changed", "--extract-to", kept.to_str().unwrap()];
    run(folder.path(), &archive, &again, 0).stderr_has("nothing to run");
    let report = &reports(&folder.path().join(".cobalt"))[0];
    assert!(report.sources.is_some() && report.baseline.is_some());
    let private = ["workspace/.env", "workspace/data/private.txt"].map(|file| kept.join(file).exists());
    assert_eq!(private, [false, false]);
    assert!(
        kept.join("workspace/data/items.jsonl").exists() && kept.join("workspace/tests/evals.rs").exists()
    );
}

#[test]
fn shards_of_an_archive_are_merged_with_its_gates_and_baselines() {
    let project = Project::steered();
    cities(&project, 20);
    project.write("cobalt.toml", "[ci]\nthresholds = [\"vs_baseline.score.drop <= 0.1\"]\n");
    project.cobalt(&["run", "--experiment", "gated"], 0);
    project.cobalt(&["baseline", "set", "--experiment", "gated"], 0);
    let archive = archived(&project);
    let folder = worker();
    for shard in ["1/2", "2/2"] {
        run(folder.path(), &archive, &["--shard", shard, "-q", "--experiment", "gated"], 0);
    }
    let merge = |arguments: &[&str], code| {
        let arguments = [&["merge", "--ci", "--on-inconclusive", "fail", ".cobalt"], arguments].concat();
        ProgramOutput::by(&mut elsewhere(folder.path(), &arguments), code)
    };
    // Without the archive, the gate is unknown.
    merge(&[], 0).stderr_has("the current folder is in no project, so its thresholds of `[ci]` are not used");
    let gated = merge(&["--archive", &archive], 0).stdout_has("vs. baseline ");
    assert!(!gated.stderr.contains("in no project"), "{}", gated.stderr);
    let merged = reports(&folder.path().join(".cobalt"));
    let with_baseline = merged.iter().filter(|report| report.shard.is_none() && report.baseline.is_some());
    assert_eq!(with_baseline.count(), 1);
    project.write("cobalt.toml", "[ci]\nthresholds = [\"latency.p95 < 0.000001s\"]\n");
    let strict = archived(&project);
    merge(&["--archive", &strict], 1);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".cobalt"], "results and nothing else");
    merge(&["--workspace-remap", "."], 2);
}

#[cfg(unix)]
#[test]
fn a_copy_that_others_can_change_is_not_run() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::steered();
    let archive = archived(&project);
    let folder = worker();
    let copy = folder.path().join("copy");
    let kept = ["--extract-to", "copy", "-q", "--experiment", "gated"];
    run(folder.path(), &archive, &kept, 0);
    run(folder.path(), &archive, &kept, 0);
    for file in [copy.clone(), copy.join(".cobalt-archive")] {
        let before = fs::metadata(&file).unwrap().permissions();
        fs::set_permissions(&file, PermissionsExt::from_mode(before.mode() | 0o020)).unwrap();
        run(folder.path(), &archive, &kept, 3).stderr_has("belongs to another user or is writable by others");
        fs::set_permissions(&file, before).unwrap();
    }
    run(folder.path(), &archive, &kept, 0);
}

#[test]
fn the_latencies_of_an_earlier_run_beside_the_archive_balance_its_shards() {
    let project = Project::steered();
    let archive = archived(&project);
    let folder = worker();
    run(folder.path(), &archive, &["-q", "--experiment", "gated"], 0);
    let shard = ["--experiment", "gated", "--shard", "1/2", "--balance", "gated@latest"];
    run(folder.path(), &archive, &shard, 0).stderr_has("balanced by the latencies of run ");
}

#[cfg(unix)]
#[test]
fn names_with_colons_are_packed_and_what_stays_out_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::steered();
    project.write("data/12:30.txt", "noon");
    project.write("data/key.p8", "secret");
    project.write(".cobalt/baselines/old/gated.json", "{}");
    project.write(".cobalt/notes.md", "stored");
    project.write("cobalt.toml", "[datasets.far]\ntype = \"file\"\npath = \"/data/far.jsonl\"\n");
    let archive = archived(&project);
    let said = project.cobalt(&["archive"], 0);
    assert!(
        said.stderr.contains("skipped the dataset `/data/far.jsonl`: its path is absolute"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("skipped `data/key.p8`: it may contain secrets"), "{}", said.stderr);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        mode(Path::new(&archive)),
        mode(&project.path("cobalt.toml")),
        "that of any file, by the umask"
    );
    let folder = worker();
    run(folder.path(), &archive, &["-q", "--extract-to", "kept", "--experiment", "gated"], 0);
    let kept = |file: &str| folder.path().join("kept/workspace").join(file).exists();
    assert!(kept("data/12:30.txt"));
    assert!(!kept("data/key.p8") && !kept(".cobalt/notes.md") && !kept(".cobalt/baselines/old"));
}

#[test]
fn the_same_input_gives_the_same_bytes_and_included_secrets_are_named() {
    let project = Project::steered();
    let archive = fs::read(archived(&project)).unwrap();
    project.cobalt(&["archive", "-o", "again.tar.zst"], 0);
    // The first archive is a file of the package now.
    fs::remove_file(project.path("cobalt-archive.tar.zst")).unwrap();
    project.cobalt(&["archive", "-o", "again.tar.zst"], 0);
    assert!(archive == fs::read(project.path("again.tar.zst")).unwrap());
    fs::remove_file(project.path("again.tar.zst")).unwrap();
    let included = ["archive", "--include", ".env", "--include", "data/private.*"];
    project.cobalt(&included, 0).stderr_has("warning: packed `.env`, which may contain secrets");
    let folder = worker();
    let kept = folder.path().join("kept");
    let archive = project.path("cobalt-archive.tar.zst");
    run(folder.path(), archive.to_str().unwrap(), &["-q", "--extract-to", kept.to_str().unwrap()], 0);
    assert_eq!(fs::read_to_string(kept.join("workspace/data/private.txt")).unwrap(), "private");
    assert!(kept.join("workspace/.env").exists());
}

#[test]
fn an_interrupted_run_of_an_archive_is_resumed() {
    let project = Project::steered();
    cities(&project, 20);
    let items = project.read("data/items.jsonl").replacen("City-7\"}", "wait\"}", 1);
    project.write("data/items.jsonl", &items);
    assert!(items.contains("wait"));
    project.cobalt(&["archive"], 0);
    let archive = project.path("cobalt-archive.tar.zst").to_str().unwrap().to_owned();
    let folder = worker();
    let kept = folder.path().join("kept").to_str().unwrap().to_owned();
    let arguments = ["run", "--archive", &archive, "--extract-to", &kept, "--experiment", "gated"];
    let child = elsewhere(folder.path(), &arguments).stderr(Stdio::piped()).spawn().unwrap();
    let journals = folder.path().join(".cobalt/runs");
    let journal = wait_for(|| {
        let journal = fs::read_dir(&journals).ok()?.next()?.ok()?.path();
        (fs::read_to_string(&journal).ok()?.lines().count() > 10).then_some(journal)
    });
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let resume = format!("--archive {archive} --extract-to {kept}\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&resume));
    fs::write(folder.path().join("kept/workspace/go-on"), "").unwrap();
    let id = journal.file_stem().unwrap().to_str().unwrap();
    run(folder.path(), &archive, &["--extract-to", &kept, "--resume", id, "--experiment", "gated"], 0);
    let reports = reports(&folder.path().join(".cobalt"));
    assert_eq!((reports[0].id.as_str(), reports[0].items.len()), (id, 20));
}

/// Waits until there is a value.
fn wait_for<T>(value: impl Fn() -> Option<T>) -> T {
    for _ in 0..1_000 {
        if let Some(value) = value() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("nothing happened in 20 s")
}

fn interrupt(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
}

#[test]
fn a_folder_with_other_files_and_options_of_builds_are_refused() {
    let project = Project::steered();
    let archive = archived(&project);
    let folder = worker();
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/notes.txt"), "").unwrap();
    run(folder.path(), &archive, &["--extract-to", "full"], 3)
        .stderr_has("full` is not empty and is not an unpacked copy");
    run(folder.path(), &archive, &["--release"], 2)
        .stderr_has("'--archive <FILE>' cannot be used with '--release'");
    run(folder.path(), &archive, &["--record", "record"], 2).stderr_has("add `--extract-to DIR`");
    run(folder.path(), &archive, &["--workspace-remap", "."], 2).stderr_has("has its own workspace");
    run(folder.path(), "none.tar.zst", &[], 3).stderr_has("failed to read the archive `none.tar.zst`");
    run(folder.path(), &archive, &["-p", "other"], 4).stderr_has("no package named `other`");
    assert!(!folder.path().join(".cobalt").exists());
}

#[test]
fn an_archive_of_nextest_is_run_with_the_data_of_a_checkout() {
    let project = Project::steered();
    cities(&project, 20);
    let archive = project.path("../nextest.tar.zst");
    let archive = archive.to_str().unwrap();
    let mut nextest = program("cargo", &project.path(""));
    nextest.args(["nextest", "archive", "--archive-file", archive]);
    if !nextest.output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: `cargo nextest` is not installed");
        return;
    }
    let folder = worker();
    run(folder.path(), archive, &["-q"], 2).stderr_has("add `--workspace-remap DIR`");
    run(folder.path(), archive, &["-q", "--workspace-remap", "."], 3).stderr_has("it has no `Cargo.toml`");
    let checkout = project.path("").to_str().unwrap().to_owned();
    let said = run(folder.path(), archive, &["-q", "--workspace-remap", &checkout], 0);
    said.stderr_has("`trial/foreign` does not call `cobalt::main()`");
    assert_eq!(project.results(), ["gated", "strict"]);
    fs::remove_file(archive).unwrap();
}
