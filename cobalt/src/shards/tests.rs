//! Merging shards: which sets are complete, and the merged run.

use serde_json::{Value, json};

use super::*;

/// The result file of a shard with these items of four, changed by a function.
fn shard(index: u32, items: &[usize], change: impl FnOnce(&mut Value)) -> ShardFile {
    let item = |index: &usize| {
        json!({ "index": index, "key": index.to_string(), "input": {}, "passed": true,
        "output": { "output": "x" }, "latencyMs": 1, "evaluations": { "e": { "score": 1 } } })
    };
    let mut report = json!({
        "id": format!("{index:012}"), "name": "desk", "timestamp": format!("2026-02-05T14:30:0{index}.000Z"),
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["e"], "passMarks": [0.5],
            "evaluatorHashes": ["0"], "thresholds": ["e.min>=0.5"], "writtenThresholds": ["e.min >= 0.5"] },
        "summary": { "totalItems": items.len(), "totalDurationMs": index * 100, "avgLatencyMs": 1, "scores": {} },
        "partial": true, "shard": { "index": index, "of": 2 }, "passed": true,
        "dataset": { "source": "d", "items": 4, "hash": "0" },
        "git": { "commit": "0".repeat(40), "dirty": index == 2 },
        "items": items.iter().map(item).collect::<Vec<_>>(),
    });
    change(&mut report);
    ShardFile { path: format!("{index}.json").into(), report: serde_json::from_value(report).unwrap() }
}

fn merged(files: Vec<ShardFile>) -> Result<Report, MergeError> {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::load(folder.path(), |_| None).unwrap();
    merge(files, &config)?.evaluate(&OtherVariants::new(), &config)
}

#[test]
fn a_merged_report_begins_with_the_first_shard_and_takes_as_long_as_the_longest() {
    let report = merged(vec![shard(2, &[0, 3], |_| {}), shard(1, &[2, 1], |_| {})]).unwrap();
    assert_eq!(report.items.iter().map(|item| item.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(report.timestamp.to_string(), "2026-02-05T14:30:01.000Z");
    assert_eq!((report.summary.total_items, report.summary.total_duration_ms), (4, 200));
    assert_eq!(report.shards, ["000000000001", "000000000002"]);
    assert!(report.passed && !report.partial && report.shard.is_none());
    assert_eq!(report.thresholds().len(), 1);
    assert!(report.git.unwrap().dirty, "one shard was dirty");
    assert_eq!(report.sources, None);
}

#[test]
fn shards_that_differ_are_refused_with_what_differs() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 11] = [
        ("the experiments", |it| it["name"] = json!("sums")),
        ("the numbers of shards", |it| it["shard"]["of"] = json!(3)),
        ("the data", |it| it["dataset"]["hash"] = json!("1")),
        ("the commits", |it| it["git"]["commit"] = json!("1".repeat(40))),
        ("the numbers of trials", |it| it["config"]["runs"] = json!(2)),
        ("the numbers of retries", |it| it["config"]["retries"] = json!(2)),
        ("the evaluators", |it| it["config"]["evaluators"] = json!(["f"])),
        ("the pass marks", |it| it["config"]["passMarks"] = json!([0.6])),
        ("the settings of the evaluators", |it| it["config"]["evaluatorHashes"] = json!(["1"])),
        ("the bounds of the thresholds", |it| it["config"]["writtenThresholds"] = json!(["e.min >= 0.4"])),
        ("the settings `strict`", |it| it["config"]["strict"] = json!(true)),
    ];
    for (what, change) in changes {
        let error =
            merged(vec![shard(1, &[0, 1], |_| {}), shard(2, &[2, 3], change)]).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("`1.json` and `2.json` do not belong together: {what} differ (")),
            "{error}"
        );
    }
}

#[test]
fn shards_of_several_groups_are_refused_with_the_group_of_each() {
    let of_group = |group: &'static str| move |it: &mut Value| it["shardGroup"] = json!(group);
    let error = |files| merged(files).unwrap_err().to_string();
    let several = error(vec![shard(1, &[0, 1], of_group("7")), shard(2, &[2, 3], of_group("8"))]);
    assert_eq!(
        several,
        "the shards belong to different groups: 1/2 of group `7`, 2/2 of group `8`; pass only the files of one group, or choose it \
         with --shard-group"
    );
    let without = error(vec![shard(1, &[0, 1], of_group("7")), shard(2, &[2, 3], |_| {})]);
    assert!(without.contains("2/2 without a group, 1/2 of group `7`"), "{without}");
    let same = merged(vec![shard(1, &[0, 1], of_group("7")), shard(2, &[2, 3], of_group("7"))]).unwrap();
    assert_eq!(same.shard_group.as_deref(), Some("7"));
}

#[test]
fn items_that_are_missing_or_there_twice_are_named() {
    let refused = |files| merged(files).unwrap_err().to_string();
    let error = refused(vec![shard(1, &[0, 1], |_| {})]);
    assert!(
        error.starts_with("2 of 4 items are missing from all shards (indexes, from 0: 2, 3); "),
        "{error}"
    );
    assert!(error.contains("no results of shard 2/2: "), "{error}");
    let one_of_many = |it: &mut Value| it["shard"]["of"] = json!(u16::MAX);
    let error = refused(vec![shard(1, &[0, 1], one_of_many)]);
    assert!(error.contains("9/65535 and 65,526 more: run it with"), "{error}");
    let of_many_items = |it: &mut Value| it["dataset"]["items"] = json!(u32::MAX);
    let error = refused(vec![shard(1, &[0, 1], of_many_items)]);
    let missing = "4,294,967,293 of 4,294,967,295 items are missing from all shards (indexes, from 0: 2, 3, 4, 5, 6, 7, 8, 9 and";
    assert!(error.starts_with(missing), "{error}");
    let error = refused(vec![shard(1, &[0, 1], |_| {}), shard(2, &[1, 2, 3], |_| {})]);
    assert!(error.starts_with("item 1 (`1`) is in both `1.json` and `2.json`"), "{error}");
    let error = refused(vec![shard(1, &[0, 1, 2, 3, 4], |_| {})]);
    assert!(error.starts_with("`1.json` contains item 4, but its dataset has 4 items"), "{error}");
}

#[test]
fn what_is_no_shard_is_refused() {
    let remove = |field: &'static str| move |it: &mut Value| drop(it.as_object_mut().unwrap().remove(field));
    let refused = |files| merged(files).unwrap_err().to_string();
    assert!(
        refused(vec![shard(1, &[0], remove("shard"))]).contains("`1.json` is not the result file of a shard")
    );
    assert!(refused(vec![shard(1, &[0], remove("dataset"))]).contains("`1.json` does not name its dataset"));
    let empty = |it: &mut Value| it["dataset"]["items"] = json!(0);
    assert!(
        refused(vec![shard(1, &[], empty)]).contains("`1.json` does not name its dataset"),
        "the merged run would pass"
    );
    assert!(refused(Vec::new()).contains("no shard to merge"));
    let nonsense = |it: &mut Value| it["config"]["writtenThresholds"] = json!(["nonsense"]);
    let unread = refused(vec![shard(1, &[0, 1, 2, 3], nonsense)]);
    assert!(unread.contains("the thresholds of `desk` cannot be read"), "{unread}");
}
