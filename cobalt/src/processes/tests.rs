use std::io::{BufRead, BufReader};
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use super::leader::MARKER;
use super::table::is_running;
#[cfg(target_os = "linux")]
use super::table::{Members, group_of, has_members, start_of};
use super::*;

/// Runs a script that writes the IDs of its processes, one a line, and returns the first `count`.
fn start(group: &ProcessGroup, script: &str, count: usize) -> (ChildGuard, Vec<u32>) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
    let guard = group.start(&mut command).unwrap();
    let output = guard.child().stdout.take().unwrap();
    let ids = BufReader::new(output).lines().take(count).map(|line| line.unwrap().parse().unwrap());
    let ids = ids.collect();
    (guard, ids)
}

#[track_caller]
fn assert_none_runs(ids: &[u32]) {
    let left: Vec<_> = ids.iter().copied().filter(|id| is_running(*id)).collect();
    assert!(!ids.is_empty() && left.is_empty(), "{left:?} of {ids:?}");
}

#[test]
fn grandchildren_end_with_the_group() {
    let group = ProcessGroup::default();
    let (_guard, ids) = start(&group, "echo $$; sh -c 'echo $$; sleep 60 & echo $!; wait'", 3);
    group.end();
    assert_none_runs(&ids);
}

#[test]
fn background_programs_end_with_the_group() {
    let group = ProcessGroup::default();
    let (guard, ids) = start(&group, "sleep 60 & echo $!", 1);
    while guard.status().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(is_running(ids[0]));
    group.end();
    assert_none_runs(&ids);
}

#[test]
fn programs_may_end_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved");
    let group = ProcessGroup::default();
    let script =
        format!("trap 'echo > {}; exit 7' TERM; echo $$; while :; do sleep 0.01; done", file.display());
    let (guard, ids) = start(&group, &script, 1);
    group.end();
    assert_eq!(guard.status().unwrap().code(), Some(7));
    assert!(file.exists());
    assert_none_runs(&ids);
}

#[test]
fn programs_that_ignore_sigterm_are_killed() {
    let group = ProcessGroup::default();
    let (guard, ids) = start(&group, "trap '' TERM; echo $$; while :; do sleep 0.01; done", 1);
    group.end();
    assert_eq!(guard.status().unwrap().signal(), Some(9));
    assert_none_runs(&ids);
}

#[cfg(target_os = "linux")]
#[test]
fn daemons_end_with_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let group = ProcessGroup::in_folder(&folder);
    let daemon = |how: &str| format!("setsid {how} sh -c 'echo $$; exec sleep 60' &");
    // Found by their parent, the variable, and the folder.
    let script = format!(
        "cd '{}'; {} {} (cd /; {}); setsid sh -c 'echo $$; cd /; env -i sleep 60; :' & wait",
        folder.display(),
        daemon(""),
        daemon("env -i"),
        daemon("")
    );
    let (_guard, ids) = start(&group, &script, 4);
    group.end();
    assert_none_runs(&ids);
}

#[cfg(target_os = "linux")]
#[test]
fn programs_that_keep_forking_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("next");
    // Each process starts the next one and exits, so that none of them lives long enough to be found and killed alone.
    std::fs::write(&file, "sleep 0.004\nsh \"$0\" &\n").unwrap();
    let group = ProcessGroup::default();
    let chain = format!("sh -c 'echo $$; sh \"{}\"' &", file.display());
    let script = format!("trap '' TERM; {chain} setsid {chain} echo $$; while :; do sleep 1; done");
    let (_guard, ids) = start(&group, &script, 3);
    let groups: Vec<_> = ids.iter().copied().chain(ids.iter().filter_map(|id| group_of(*id))).collect();
    group.end();
    for _ in 0..20 {
        assert!(!has_members(&groups));
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn programs_that_start_during_the_end_end() {
    for delay in 0..20 {
        let group = ProcessGroup::default();
        let mut command = Command::new("sleep");
        group.join(command.arg("60")).unwrap();
        let starting = thread::spawn(move || {
            thread::sleep(Duration::from_micros(delay * 500));
            command.spawn()
        });
        group.end();
        if let Ok(mut child) = starting.join().unwrap() {
            assert!(!is_running(child.id()), "{delay}");
            child.wait().unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn reused_leader_ids_are_not_signalled() {
    let mut leader = Command::new("/bin/sh");
    leader.args(["-c", "(echo; exec cat); :"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut leader = leader.process_group(0).spawn().unwrap();
    BufReader::new(leader.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let (id, started) = (leader.id(), start_of(leader.id()));
    let targets = |started| Members::new((id, started), MARKER.to_owned(), None).targets().unwrap();
    assert_eq!(targets(started), [format!("-{id}")]);
    assert_eq!(targets(started - 1), [""; 0]);
    leader.kill().unwrap();
    leader.wait().unwrap();
}

#[test]
fn a_group_that_ended_starts_nothing() {
    let group = ProcessGroup::default();
    let mut joined = Command::new("true");
    group.join(&mut joined).unwrap();
    group.end();
    assert!(joined.spawn().is_err());
    let mut late = Command::new("true");
    assert!(group.join(&mut late).is_err() && late.spawn().is_err());
    assert!(group.start(&mut Command::new("true")).is_err());
}

#[test]
fn a_program_that_is_restarted_at_once_ends() {
    let group = ProcessGroup::default();
    let mut command = Command::new("sleep");
    group.join(command.arg("60")).unwrap();
    let restarting = thread::spawn(move || {
        let began = Instant::now();
        while command.status().is_ok() && began.elapsed() < Duration::from_secs(30) {}
        began.elapsed()
    });
    thread::sleep(Duration::from_millis(20));
    group.end();
    assert!(restarting.join().unwrap() < Duration::from_secs(30));
}
