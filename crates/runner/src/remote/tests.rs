//! A store in a folder: packs, retention, and a list of runs that is made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;
use tempfile::TempDir;

use super::entry::{RemoteEntry, RemoteFile};
use super::error::RemoteError;
use super::fetch::compress;
use super::location::Location;
use super::push::RunToPush;
use super::store::Remote;
use super::{RemoteRetention, layout};
use crate::index::{RunFilter, parse_run};

/// The text of a result file.
fn result(id: &str, day: u32) -> String {
    json!({
        "schema": 1, "id": id, "name": "desk", "timestamp": format!("2026-02-{day:02}T10:00:00.000Z"),
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
        "summary": { "totalItems": 1 }, "passed": true,
        "items": [{ "index": 0, "key": "a", "input": { "input": "what now?" }, "output": { "output": "this" }, "latencyMs": 1,
            "status": "ok", "passed": true, "evaluations": { "exact": { "score": 1 } } }],
    })
    .to_string()
}

/// The entry of a run.
pub fn entry(id: &str, day: u32) -> RemoteEntry {
    let text = result(id, day);
    let bytes = text.len() as u64;
    RemoteEntry {
        format: layout::FORMAT_VERSION,
        pushed_at: "2026-03-01T10:00:00.000Z".to_owned(),
        repeated: 0,
        redacted: false,
        run: parse_run(text.as_bytes()).unwrap(),
        result: RemoteFile { hash: sha256(text.as_bytes()), bytes, stored_bytes: bytes },
        items: None,
    }
}

/// A store in a folder, and machines that use it.
struct Team(TempDir);

impl Team {
    /// A store with this many runs, pushed by one machine.
    fn with_runs(runs: u32) -> Self {
        let team = Self(tempfile::tempdir().unwrap());
        let remote = team.remote();
        remote.prepare(&team.machine("first")).unwrap();
        for number in 1..=runs {
            let path = team.path(&format!("{number}.json"));
            fs::write(&path, result(&format!("{number:012x}"), number)).unwrap();
            assert!(remote.push_run(&path, None).unwrap().is_new);
        }
        team
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn remote(&self) -> Remote {
        let url = self.path("team").display().to_string();
        Remote::at(Location::folder(&url).unwrap()).unwrap()
    }

    /// The IDs that a machine lists, newest first.
    fn listed_by(&self, machine: &str) -> Vec<String> {
        let index = self.remote().sync(&self.machine(machine)).unwrap();
        let entries = index.query(&RunFilter::ALL).unwrap().entries;
        entries.into_iter().map(|entry| entry.run.id.trim_start_matches('0').to_owned()).collect()
    }

    fn machine(&self, name: &str) -> Layout {
        let root = self.path(name);
        Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"))
    }

    /// Packs all index objects.
    fn pack(&self) -> Result<usize, RemoteError> {
        self.remote().pack_settled(1, Duration::ZERO)
    }

    /// Makes an object three days old.
    fn age(&self, object: &str) {
        let file = fs::File::options().write(true).open(self.path("team").join(object)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60)).unwrap();
    }

    fn objects(&self, folder: &str) -> usize {
        fs::read_dir(self.path("team").join(folder)).map_or(0, Iterator::count)
    }
}

#[test]
fn packed_runs_are_listed_like_others_by_old_and_new_machines() {
    let team = Team::with_runs(5);
    assert_eq!(team.listed_by("old"), ["5", "4", "3", "2", "1"]);
    assert_eq!(team.remote().pack().unwrap(), 0, "they are few");
    assert_eq!(team.pack().unwrap(), 5);
    assert_eq!((team.objects("index"), team.objects("packs")), (0, 1));
    let path = team.path("6.json");
    fs::write(&path, result("000000000006", 6)).unwrap();
    team.remote().push_run(&path, None).unwrap();
    for machine in ["old", "new", "old"] {
        assert_eq!(team.listed_by(machine), ["6", "5", "4", "3", "2", "1"], "{machine}");
    }
    // A second pack of another writer, which has a run of the first one, too.
    team.remote().push_run(&team.path("5.json"), None).unwrap();
    assert_eq!(team.pack().unwrap(), 2);
    for machine in ["old", "new", "newest"] {
        assert_eq!(team.listed_by(machine), ["6", "5", "4", "3", "2", "1"], "{machine}");
    }
}

#[test]
fn deleted_runs_are_gone_on_all_machines_even_if_a_pack_lists_them() {
    let team = Team::with_runs(4);
    team.listed_by("old");
    team.pack().unwrap();
    let remote = team.remote();
    let index = remote.sync(&team.machine("old")).unwrap();
    let old = RemoteRetention { before: None, keep: Some(2) }.select(index.entries().unwrap());
    assert_eq!(remote.remove(&index, &old).unwrap().runs, 2);
    for machine in ["old", "new"] {
        assert_eq!(team.listed_by(machine), ["4", "3"], "{machine}");
    }
    let gone = team.path("team/runs/000000000001");
    assert_eq!(fs::read_dir(gone).map_or(0, Iterator::count), 0);
    let index = remote.sync(&team.machine("new")).unwrap();
    assert!(index.is_removed("000000000001").unwrap() && !index.is_removed("000000000003").unwrap());
}

#[test]
fn a_lost_list_of_runs_is_made_again_from_the_result_files() {
    let team = Team::with_runs(3);
    let before = team.remote().sync(&team.machine("old")).unwrap().entries().unwrap();
    fs::remove_dir_all(team.path("team/index")).unwrap();
    assert!(team.listed_by("old").is_empty(), "what is gone is not listed");
    let remote = team.remote();
    assert_eq!(remote.rebuild_index().unwrap().added.len(), 3);
    let index = remote.sync(&team.machine("new")).unwrap();
    let strip = |entries: Vec<RemoteEntry>| {
        let entries = entries.into_iter();
        entries.map(|entry| RemoteEntry { pushed_at: String::new(), ..entry }).collect::<Vec<_>>()
    };
    assert_eq!(strip(index.entries().unwrap()), strip(before));
    assert!(remote.rebuild_index().unwrap().added.is_empty(), "nothing is missing");
}

#[test]
fn a_fetched_run_is_checked_and_kept_and_a_damaged_one_is_refused() {
    let team = Team::with_runs(1);
    let (remote, machine) = (team.remote(), team.machine("mine"));
    let entry = remote.sync(&machine).unwrap().entries().unwrap().remove(0);
    let path = remote.fetch(&entry, &machine).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), result("000000000001", 1));
    assert!(path.starts_with(machine.remote_runs()), "{}", path.display());
    let object = team.path("team").join(entry.result_object());
    fs::write(&object, "damaged").unwrap();
    assert_eq!(remote.fetch(&entry, &machine).unwrap(), path, "it is there already");
    let error = remote.fetch_into(&entry, Path::new(&team.path("other"))).unwrap_err();
    assert!(matches!(error, RemoteError::Damaged { .. }), "{error}");
}

#[test]
fn a_deleted_run_and_a_lost_store_are_not_taken_for_damage() {
    let team = Team::with_runs(1);
    let (remote, machine) = (team.remote(), team.machine("mine"));
    let entry = remote.sync(&machine).unwrap().entries().unwrap().remove(0);
    fs::remove_file(team.path("team").join(entry.result_object())).unwrap();
    let error = remote.fetch(&entry, &machine).unwrap_err();
    assert!(matches!(error, RemoteError::Gone { .. }), "{error}");
    assert!(error.to_string().contains("run `000000000001` is no longer in the remote store"), "{error}");
    fs::remove_dir_all(team.path("team")).unwrap();
    let error = remote.fetch(&entry, &machine).unwrap_err();
    assert!(matches!(error, RemoteError::NoStore { .. }), "{error}");
    let left = fs::read_dir(machine.remote_runs()).unwrap().flatten().flat_map(|it| fs::read_dir(it.path()));
    assert_eq!(left.flatten().count(), 0, "no folder is left of a run that could not be fetched");
}

#[test]
fn one_of_several_writers_has_a_claim() {
    let team = Team::with_runs(0);
    let claims: Vec<_> = std::thread::scope(|scope| {
        let claim = |token: usize| {
            let remote = team.remote();
            remote.claim("journals/g/r/taken", &token.to_string()).unwrap()
        };
        let writers: Vec<_> = (0..6).map(|token| scope.spawn(move || claim(token))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(claims.iter().filter(|is_mine| **is_mine).count(), 1, "{claims:?}");
}

#[test]
fn an_object_that_no_version_reads_is_skipped_and_not_read_again() {
    let team = Team::with_runs(1);
    let newer = json!({ "format": 99, "run": {} }).to_string();
    team.remote().put("index/2026-02-09T10-00-00_desk_ffff00001111_0123456789abcdef.json", newer).unwrap();
    // A name that does not fit its content.
    let text = serde_json::to_vec(&entry("aaaa00001111", 3)).unwrap();
    team.remote().put("index/2026-02-09T10-00-00_desk_bbbb00001111_0123456789abcdef.json", text).unwrap();
    assert_eq!(team.listed_by("mine"), ["1"]);
    assert_eq!(team.listed_by("mine"), ["1"]);
}

#[test]
fn a_store_that_lost_its_runs_is_not_begun_again_by_a_machine_that_knows_them() {
    let team = Team::with_runs(1);
    assert_eq!(team.listed_by("mine"), ["1"]);
    fs::remove_dir_all(team.path("team")).unwrap();
    let (remote, mine) = (team.remote(), team.machine("mine"));
    for error in [remote.prepare(&mine).unwrap_err(), remote.sync(&mine).unwrap_err()] {
        assert!(matches!(error, RemoteError::Lost { .. }), "{error}");
        assert!(error.to_string().contains("history.db-remote`"), "{error}");
    }
    assert!(!team.path("team/cobalt.json").exists());
    remote.prepare(&team.machine("new")).unwrap();
}

#[test]
fn a_store_that_is_only_read_is_not_created() {
    let team = Team(tempfile::tempdir().unwrap());
    assert_eq!(team.listed_by("mine"), [""; 0]);
    assert!(!team.path("team").exists());
}

#[test]
fn an_interrupted_deletion_is_finished_later() {
    let team = Team::with_runs(2);
    let remote = team.remote();
    let removed = entry("000000000001", 1);
    remote.put(&layout::items(&removed.run.id, &"0".repeat(64)), "items").unwrap();
    remote.put(&layout::tombstone(&removed.run.id, &removed.result.hash), "").unwrap();
    assert_eq!(team.listed_by("mine"), ["2"]);
    let index = remote.sync(&team.machine("mine")).unwrap();
    let left = remote.leftovers(&index, None).unwrap().objects;
    let names: Vec<_> = left.iter().map(|object| &*object.name).collect();
    let index_object = format!("index/{}", removed.name());
    let items = layout::items(&removed.run.id, &"0".repeat(64));
    let mut expected = [&*index_object, &*items, &*removed.result_object()].map(str::to_owned);
    expected[1..].sort();
    assert_eq!(names, expected);
    remote.delete_all(&left).unwrap();
    assert!(remote.leftovers(&index, None).unwrap().objects.is_empty());
    assert_eq!(team.listed_by("new"), ["2"]);
}

#[test]
fn old_shards_and_pushes_that_did_not_end_are_left_over() {
    let team = Team::with_runs(2);
    let (remote, machine) = (team.remote(), team.machine("mine"));
    let old = ["journals/old/shards/1-of-2.json", "plans/old/desk.json"];
    let new = ["journals/new/shards/1-of-2.json", "plans/new/desk.json"];
    old.iter().chain(&new).for_each(|object| remote.put(object, "{}").unwrap());
    [old[0], old[1], new[1]].iter().for_each(|object| team.age(object));
    let unlisted = entry("000000000001", 1);
    remote.delete(&format!("index/{}", unlisted.name())).unwrap();
    let left = |before| {
        let index = remote.sync(&machine).unwrap();
        let left = remote.leftovers(&index, before).unwrap();
        (left.objects.into_iter().map(|object| object.name).collect::<Vec<_>>(), left.unlisted)
    };
    let now = Some(SystemTime::now());
    assert_eq!(left(None), (vec![], 0));
    assert_eq!(left(now), (old.map(str::to_owned).to_vec(), 0), "a push may be in progress");
    team.age(&unlisted.result_object());
    assert_eq!(left(now).0, [&*unlisted.result_object(), old[0], old[1]]);
    // Without an index, all runs look like that.
    fs::remove_dir_all(team.path("team/index")).unwrap();
    team.age(&entry("000000000002", 2).result_object());
    assert_eq!(left(now), (old.map(str::to_owned).to_vec(), 2));
}

#[test]
fn what_a_lost_or_damaged_pack_listed_is_listed_again() {
    let team = Team::with_runs(3);
    team.pack().unwrap();
    assert_eq!(team.listed_by("old"), ["3", "2", "1"]);
    let pack = fs::read_dir(team.path("team/packs")).unwrap().next().unwrap().unwrap().path();
    let remote = team.remote();
    for damage in [Some("damaged"), None] {
        match damage {
            Some(text) => fs::write(&pack, text).unwrap(),
            None => fs::remove_dir_all(team.path("team/packs")).unwrap(),
        }
        let machine = if damage.is_some() { "new" } else { "old" };
        let index = remote.sync(&team.machine(machine)).unwrap();
        assert!(index.entries().unwrap().is_empty(), "{machine}");
        assert_eq!(index.damaged.len(), usize::from(damage.is_some()));
        assert_eq!(remote.rebuild_index().unwrap().added.len(), 3);
        assert!(!pack.exists());
        for machine in ["old", "newest"] {
            assert_eq!(team.listed_by(machine), ["3", "2", "1"], "{machine}");
        }
        team.pack().unwrap();
        team.listed_by("old");
    }
}

#[test]
fn the_content_that_was_pushed_last_is_shown_even_if_it_is_an_earlier_one() {
    let team = Team::with_runs(0);
    let (remote, machine) = (team.remote(), team.machine("mine"));
    let path = team.path("1.json");
    let push = |tag: &str| {
        // Times of pushes have milliseconds.
        std::thread::sleep(Duration::from_millis(5));
        let text =
            result("000000000001", 1).replace("\"schema\":1", &format!("\"schema\":1,\"tags\":[\"{tag}\"]"));
        fs::write(&path, text).unwrap();
        let versions = remote.sync(&machine).unwrap().versions("000000000001").unwrap();
        let run = RunToPush { path: path.clone(), versions, is_removed: false };
        let is_new = remote.push_with(&run, None).unwrap().is_new;
        let entries = remote.sync(&team.machine("other")).unwrap().entries().unwrap();
        assert_eq!((entries.len(), &entries[0].run.tags), (1, &vec![tag.to_owned()]));
        is_new
    };
    for (tag, is_new) in [("a", true), ("a", false), ("b", true), ("a", true), ("a", false), ("b", true)] {
        assert_eq!(push(tag), is_new, "{tag}");
    }
}

/// A frame of Zstandard with this many blocks of 128 KiB, of four bytes each.
fn bomb(blocks: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68];
    for block in 1..=blocks {
        let header = (128 << 10 << 3) | (1 << 1) | u32::from(block == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

#[test]
fn content_of_small_objects_is_bounded() {
    let team = Team::with_runs(0);
    let remote = team.remote();
    assert_eq!(remote.decompress("runs/a", &bomb(2), u64::MAX).unwrap().len(), 256 << 10);
    for (blocks, most, problem) in [(600, u64::MAX, "more than"), (2, 1000, "more than 1000 bytes")] {
        let error = remote.decompress("runs/a", &bomb(blocks), most).unwrap_err().to_string();
        assert!(error.contains("`runs/a`") && error.contains(problem), "{error}");
    }
    remote.put("index/large", vec![b' '; 5 << 20]).unwrap();
    let error = remote.get("index/large").unwrap_err().to_string();
    assert!(error.contains("it has 5242880 bytes"), "{error}");
}

#[test]
fn any_compression_of_a_run_is_accepted() {
    let team = Team::with_runs(1);
    let (remote, machine) = (team.remote(), team.machine("mine"));
    let entry = remote.sync(&machine).unwrap().entries().unwrap().remove(0);
    let text = result("000000000001", 1);
    let object = compress_to_vec(text.as_bytes(), CompressionLevel::Uncompressed);
    assert_ne!(object.len() as u64, entry.result.stored_bytes);
    remote.put(&entry.result_object(), object).unwrap();
    assert_eq!(fs::read_to_string(remote.fetch(&entry, &machine).unwrap()).unwrap(), text);
    let rebuilt = remote.rebuild_index().unwrap();
    assert!(rebuilt.replaced.is_empty() && rebuilt.failed.is_empty());
}

#[test]
fn repetitive_content_can_be_fetched() {
    let remote = Team::with_runs(0).remote();
    let content = vec![b' '; 65 << 20];
    let fetched = remote.decompress("runs/a", &compress(&content), u64::MAX).unwrap();
    assert!(fetched == content);
}

#[test]
fn damaged_packs_are_replaced() {
    let team = Team::with_runs(3);
    team.pack().unwrap();
    let remote = team.remote();
    let damages: [fn(Vec<u8>) -> Vec<u8>; 5] = [
        |_| Vec::new(),
        |content| content[..content.len() / 2].to_vec(),
        |content| vec![0; content.len()],
        |mut content| {
            let middle = content.len() / 2;
            content[middle] ^= 1;
            content
        },
        |_| bomb(2100),
    ];
    for damage in damages {
        let pack = fs::read_dir(team.path("team/packs")).unwrap().next().unwrap().unwrap().path();
        fs::write(&pack, damage(fs::read(&pack).unwrap())).unwrap();
        let index = remote.sync(&team.machine("new")).unwrap();
        assert_eq!(index.damaged.len(), 1);
        let rebuilt = remote.rebuild_index().unwrap();
        assert_eq!((rebuilt.added.len(), rebuilt.replaced.len(), rebuilt.failed.len()), (3, 1, 0));
        assert_eq!(team.listed_by("newest"), ["3", "2", "1"]);
        assert_eq!(team.pack().unwrap(), 3);
        fs::remove_dir_all(team.path("new")).unwrap();
        fs::remove_dir_all(team.path("newest")).unwrap();
    }
}

#[test]
fn objects_of_newer_versions_are_left_alone() {
    let team = Team::with_runs(1);
    let object = fs::read_dir(team.path("team/index")).unwrap().next().unwrap().unwrap().path();
    fs::write(&object, "{\"format\":2,\"shape\":\"new\"}").unwrap();
    let remote = team.remote();
    let index = remote.sync(&team.machine("new")).unwrap();
    assert!(index.incomplete(remote.url()).is_none() && index.entries().unwrap().is_empty());
    let rebuilt = remote.rebuild_index().unwrap();
    assert!(rebuilt.added.is_empty() && rebuilt.replaced.is_empty());
    assert_eq!(fs::read_to_string(&object).unwrap(), "{\"format\":2,\"shape\":\"new\"}");
}
