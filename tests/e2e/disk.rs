//! Full disks, file systems without locks, and fsync. A preloaded library (`LD_PRELOAD`) simulates the disk.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use cobalt::files::read_journal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model::Model;
use crate::sandbox::{Program, Sandbox, fixture, numbered};

/// Limits journals and recordings to a number of bytes, fails locks, and logs syncs and renames.
const DISK: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void note(const char *call, const char *path) {
    const char *log = getenv("DISK_LOG");
    if (!log) return;
    char line[8192];
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    int fd = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
    syscall(SYS_write, fd, line, length);
    close(fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    static long room = -1;
    const char *journals = getenv("DISK_ROOM"), *recordings = getenv("DISK_RECORDINGS");
    if (journals || recordings) {
        char path[4096];
        path_of(fd, path, sizeof path);
        size_t length = strlen(path);
        int is_journal = length > 6 && !strcmp(path + length - 6, ".jsonl");
        const char *limit = is_journal ? journals : strstr(path, "/cassettes/") ? recordings : 0;
        if (limit) {
            if (room < 0) room = atol(limit);
            if (room == 0) {
                errno = ENOSPC;
                return -1;
            }
            if ((long)count > room) count = room;
            room -= count;
        }
    }
    return syscall(SYS_write, fd, bytes, count);
}

int flock(int fd, int operation) {
    if (getenv("DISK_WITHOUT_LOCKS")) {
        errno = ENOLCK;
        return -1;
    }
    return syscall(SYS_flock, fd, operation);
}

static int synced(int fd) {
    char path[4096];
    path_of(fd, path, sizeof path);
    note("sync", path);
    return 0;
}

int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

int rename(const char *from, const char *to) {
    note("rename", to);
    return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
"#;

/// The library, built once.
fn library() -> &'static str {
    static LIBRARY: OnceLock<(TempDir, String)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("disk.c"), folder.path().join("disk.so"));
        std::fs::write(&source, DISK).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output();
        let built = built.expect("the linker that Rust uses");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let path = library.to_str().unwrap().to_owned();
        (folder, path)
    });
    path
}

/// A fixture on the simulated disk.
fn on_disk(program: Program, variable: &str, value: impl ToString) -> Program {
    program.env("LD_PRELOAD", library()).env(variable, value)
}

/// The number of items in the only journal.
fn kept(sandbox: &Sandbox) -> usize {
    read_journal(&std::fs::read(&sandbox.journals()[0]).unwrap()).unwrap().items.len()
}

#[test]
fn a_full_disk_stops_the_run_at_once_and_what_is_kept_is_resumed() {
    for (name, items) in [("gated", 200), ("steered", 200), ("values", 200)] {
        let fixture = match name {
            "gated" => fixture!("gated"),
            "steered" => fixture!("steered"),
            _ => fixture!("values"),
        };
        let sandbox = Sandbox::with_items(numbered(items, 2));
        let program = |sandbox: &Sandbox| {
            let program = sandbox.program(fixture);
            if name == "values" { program.args(["current-thread"]) } else { program }
        };
        let finished = on_disk(program(&sandbox), "DISK_ROOM", 5_000).run();
        assert!(!finished.status.success(), "{finished}");
        if name != "values" {
            assert_eq!(finished.status.code(), Some(3), "{finished}");
        }
        let (started, id, kept) = (sandbox.starts().len(), sandbox.cut_short(), kept(&sandbox));
        assert!(started < items / 2, "{started} items were called\n{finished}");
        assert!(kept > 0 && started - kept <= 16, "{kept} of {started} are saved");
        let path = sandbox.journals()[0].display().to_string();
        finished.stderr_has(&[
            &format!("failed to write `{path}`: No space left on device"),
            &format!("stopped with {kept} of {items} items saved"),
            &format!("cargo cobalt run --resume {id}"),
            &format!("COBALT_RESUME={id}"),
        ]);
        assert!(sandbox.result_files().is_empty());

        sandbox.forget_calls();
        program(&sandbox).env("COBALT_RESUME", &id).run().code(0);
        assert_eq!(sandbox.starts().len(), items - kept, "saved items are not called again");
        assert_eq!(sandbox.report().items.len(), items);
        assert!(sandbox.journals().is_empty());
    }
}

#[test]
fn a_disk_full_of_recordings_stops_the_run() {
    let item =
        |number: usize| json!({ "id": format!("i{number}"), "input": format!("question {number:03}") });
    let (sandbox, model) = (Sandbox::with_items((0..60).map(item)), Model::start());
    let program = || {
        let program = sandbox.program(fixture!("recorded")).env("NO_PROXY", "127.0.0.1");
        program.env("OPENAI_BASE_URL", model.base_url()).env("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    };
    let stopped = on_disk(program(), "DISK_RECORDINGS", 12_000).run().code(3);
    stopped.stderr_has(&["cannot record `recorded`: ", "No space left on device", "the run was stopped"]);
    assert!(model.asked() < 60, "{} requests", model.asked());
    program().run().code(0);
    drop(model);
    let replayed = sandbox.program(fixture!("recorded")).env("CI", "true").run().code(0);
    replayed.says(&["60 items: 60 replayed"]);
}

#[test]
fn a_disk_that_takes_no_item_leaves_no_journal_behind() {
    let sandbox = Sandbox::with_items(numbered(50, 2));
    // Less than the first line, only the first line, and a partial item.
    for room in [0, 10, 1_000] {
        sandbox.forget_calls();
        let finished = on_disk(sandbox.program(fixture!("gated")), "DISK_ROOM", room).run().code(3);
        assert!(sandbox.starts().len() <= 4, "{finished}");
        finished.stderr_has(&["failed to write", ".jsonl`: No space left on device"]);
        // Without items, only payments are kept.
        let has_payments = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains("\"paid\":");
        assert!(sandbox.journals().iter().all(has_payments), "{:?}", sandbox.journals());
        sandbox.journals().iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}

#[test]
fn an_event_tells_why_a_run_was_stopped() {
    let sandbox = Sandbox::with_items(numbered(100, 2));
    sandbox.write("events", "");
    let request = cobalt::command::Request::new(sandbox.path("events"), cobalt::command::RequestKind::Run);
    let (variable, request) = request.variable().unwrap();
    on_disk(sandbox.program(fixture!("gated")).env(variable, request), "DISK_ROOM", 5_000).run().code(3);
    let events = std::fs::read_to_string(sandbox.path("events")).unwrap();
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let interrupted = events.iter().find(|event| event["event"] == "experiment-interrupted").unwrap();
    assert_eq!(interrupted["kept"], kept(&sandbox));
    assert!(interrupted["error"].as_str().unwrap().contains("No space left on device"), "{interrupted}");
}

#[test]
fn where_files_cannot_be_locked_runs_are_made_and_resumed_with_a_note() {
    let sandbox = Sandbox::with_items(numbered(30, 20));
    let program = || on_disk(sandbox.program(fixture!("gated")), "DISK_WITHOUT_LOCKS", 1);
    let mut running = sandbox.start_until_kept(program(), 4);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    let finished = program().env("COBALT_RESUME", &id).run().code(0);
    finished.stderr_has(&["cannot be locked", "no other process", "COBALT_DIR"]);
    assert_eq!(sandbox.report().items.len(), 30);
    assert!(sandbox.journals().is_empty());
}

#[test]
fn a_journal_is_synced_every_second_and_a_result_with_its_folder() {
    let sandbox = Sandbox::with_items(numbered(12, 900));
    let program = sandbox.program(fixture!("gated")).env("E2E_CONCURRENCY", 3);
    let log = sandbox.path("disk.log");
    let started = std::time::Instant::now();
    on_disk(program, "DISK_LOG", log.display()).run().code(0);
    let seconds = started.elapsed().as_secs() as usize;
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<_> = log.lines().collect();
    let journal = lines.iter().filter(|line| line.starts_with("sync") && line.ends_with(".jsonl")).count();
    assert!((2..=seconds + 3).contains(&journal), "{seconds} s\n{log}");
    let results = sandbox.path(".cobalt/results").canonicalize().unwrap();
    let renamed = lines.iter().position(|line| line.starts_with("rename ") && line.ends_with(".json"));
    let renamed = renamed.expect("the result is renamed");
    assert!(lines[..renamed].iter().any(|line| line.starts_with("sync") && line.ends_with(".tmp")), "{log}");
    assert!(lines[renamed..].contains(&&*format!("sync {}", results.display())), "{log}");
    let runs = PathBuf::from(".cobalt/runs");
    assert!(
        lines.iter().any(|line| line.starts_with("sync") && line.ends_with(runs.to_str().unwrap())),
        "{log}"
    );
}
