//! API responses about finished runs.

use std::fs;

use serde_json::{Value, json};

use super::server::Server;

use crate::store::{Kept, Store};
use crate::stored_runs::package;

/// The values of a field in all elements of a list in a response.
fn all<'a>(answer: &'a Value, list: &str, field: &str) -> Vec<&'a Value> {
    answer[list].as_array().unwrap().iter().map(|one| &one[field]).collect()
}

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";
const C: &str = "cccccccccccc";

#[test]
fn runs_are_listed_filtered_and_sorted() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let ids = |query: &str| {
        let answer = server.json(&format!("/api/runs{query}"));
        all(&answer, "runs", "id")
            .into_iter()
            .map(|id| id.as_str().unwrap()[..1].to_owned())
            .collect::<String>()
    };
    assert_eq!(ids(""), "bca", "newest first");
    assert_eq!(ids("?order=asc"), "acb");
    assert_eq!(ids("?sort=name"), "bac");
    assert_eq!(ids("?sort=name&order=desc"), "cba");
    assert_eq!(ids("?limit=1&offset=1"), "c");
    assert_eq!(ids("?limit=0"), "");
    assert_eq!(ids("?offset=18446744073709551615"), "");
    assert_eq!(ids("?search=INTENT"), "c");
    assert_eq!(ids("?experiment=desk"), "ba");
    assert_eq!(ids("?experiment=desk%2Fmini"), "");
    assert_eq!(ids("?since=2026-02-02"), "bc");
    assert_eq!(ids("?until=2026-02-02"), "ca", "`until` includes the day");
    assert_eq!(ids("?verdict=failed"), "");
    let answer = server.json("/api/runs?limit=1");
    assert_eq!((&answer["matching"], &answer["known"]), (&json!(3), &json!(3)));
    assert_eq!(
        answer["experiments"],
        json!([{ "name": "desk", "runs": 2 }, { "name": "intent", "runs": 1 }])
    );
    let run = &answer["runs"][0];
    assert!(run["name"].is_string() && run["timestamp"].is_string() && run["tags"].is_array());
    assert!(run["avgScores"].is_object() && run["totalItems"].is_number() && run["durationMs"].is_number());
}

#[test]
fn runs_with_one_of_several_tags_are_found() {
    let store = Store::new();
    for (id, tags) in
        [("aaaaaaaaaaaa", &["fast"][..]), ("bbbbbbbbbbbb", &["slow", "nightly"]), ("cccccccccccc", &[])]
    {
        store.keep(&Kept { id, tags, ..Kept::default() });
    }
    let server = Server::at(store.folder());
    let ids = |tags: &str| {
        let answer = server.json(&format!("/api/runs?tags={tags}&sort=name"));
        let mut ids: Vec<_> =
            all(&answer, "runs", "id").into_iter().map(|id| id.as_str().unwrap()[..1].to_owned()).collect();
        ids.sort();
        ids.concat()
    };
    assert_eq!([ids("fast,%20nightly"), ids("slow"), ids("none"), ids("")], ["ab", "b", "", "abc"]);
}

#[test]
fn an_experiment_is_asked_for_by_either_form_of_its_name() {
    let store = Store::with_a_drop();
    store.keep(&Kept { id: "ffffffffffff", name: "desk/mini", day: 1, ..Kept::default() });
    let server = Server::at(store.folder());
    for name in ["desk%2Fmini", "desk-mini"] {
        let runs = server.json(&format!("/api/runs?experiment={name}"));
        assert_eq!(all(&runs, "runs", "id"), ["ffffffffffff"], "{name}");
        let trends = server.json(&format!("/api/trends?experiment={name}"));
        assert_eq!(all(&trends, "trends", "id"), ["ffffffffffff"], "{name}");
    }
}

#[test]
fn items_are_paged_sorted_filtered_and_searched() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let items = |query: &str| server.json(&format!("/api/runs/{B}/items?{query}"));
    let page = items("limit=2&offset=9&sort=index");
    assert_eq!(all(&page, "items", "key"), ["item-9", "item-10"]);
    assert_eq!((&page["matching"], &page["total"]), (&json!(40), &json!(40)));
    let worst = items("limit=1&sort=score:right");
    assert_eq!(all(&worst, "items", "key"), ["item-10"], "ties are in dataset order");
    assert_eq!(all(&items("limit=1&sort=score:right&order=desc"), "items", "key"), ["item-0"]);
    assert_eq!(items("state=low")["matching"], 30);
    assert_eq!(
        (&items("state=passed")["matching"], &items("state=failing")["matching"]),
        (&json!(10), &json!(30))
    );
    let states = &server.json(&format!("/api/runs/{B}/overview"))["states"];
    assert_eq!(
        (&states["passed"], &states["failing"], &states["error"]),
        (&json!(10), &json!(30), &json!(0))
    );
    let runs = server.json("/api/runs");
    let row = runs["runs"].as_array().unwrap().iter().find(|run| run["id"] == B).unwrap();
    assert_eq!((&row["passedItems"], &row["lowItems"]), (&json!(10), &json!(30)));
    assert_eq!(items("evaluator=right&minScore=0.5")["matching"], 10);
    assert_eq!(items("search=OR%60%20%3Cnot")["matching"], 30, "search ignores case");
    assert_eq!(items("search=item-39")["matching"], 1);
    assert_eq!(items("search=evaluations")["matching"], 0, "field names are not searched");
    assert_eq!(items("limit=0")["items"], json!([]));

    let item = server.json(&format!("/api/runs/{B}/items/item-11?state=low"));
    assert_eq!(
        (&item["previous"], &item["next"], &item["position"]),
        (&json!("item-10"), &json!("item-12"), &json!(1))
    );
    assert_eq!(item["item"]["evaluations"]["right"]["reason"], "it is worth 0");
    assert_eq!(item["row"]["low"], json!(["right"]));
}

#[test]
fn runs_are_compared_item_by_item() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let compare = |query: &str| server.json(&format!("/api/compare?a={A}&b={B}&{query}"));
    let whole = compare("");
    assert_eq!(whole["items"].as_array().unwrap().len(), 40, "all items without a limit");
    assert_eq!(all(&whole, "runs", "id"), [A, B]);
    assert_eq!(
        (&whole["regressed"], &whole["improved"], &whole["total"]),
        (&json!(30), &json!(0), &json!(40))
    );
    let item = &whole["items"][10];
    assert_eq!((&item["index"], &item["key"]), (&json!(10), &json!("item-10")));
    assert_eq!(item["outputs"][0]["output"]["output"], "this");
    assert_eq!(item["outputs"][1]["evaluations"]["right"]["score"], 0.0);
    assert_eq!(item["changes"], json!([-1.0]));
    assert_eq!(all(&compare("only=regressed&limit=2"), "items", "key"), ["item-10", "item-11"]);
    assert_eq!(all(&compare("sort=worst&limit=1&offset=29"), "items", "key"), ["item-39"]);
    assert_eq!(compare("only=improved&limit=9")["items"], json!([]));
    let found = compare("search=item-1&only=improved&limit=9");
    assert_eq!((&found["matching"], &found["total"]), (&json!(0), &json!(40)));
    assert_eq!(
        (&found["found"], &found["changed"], &found["regressed"], &found["improved"]),
        (&json!(11), &json!(10), &json!(10), &json!(0)),
        "counts are of all items that match the search, not only those shown"
    );
    assert_eq!(compare("item=item-39&only=regressed&limit=1")["itemAt"], 29);
    assert_eq!(compare("item=item-7&only=regressed&limit=1")["itemAt"], json!(null));
    assert_eq!(whole["items"][10]["outputs"][1]["failedRuns"], 0);
    assert_eq!(compare("evaluator=right&limit=1")["regressed"], 30);
    assert!(server.refusal(&format!("/api/compare?a={A}&b={B}&evaluator=rigth"), 400).contains("`right`"));
    assert!(server.refusal(&format!("/api/compare?a={A}"), 400).contains('b'));
    let three = server.json(&format!("/api/compare?a={A}&b={B}&c={C}&limit=1"));
    assert_eq!(three["items"][0]["outputs"].as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_answered_is_said_in_json() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    for (path, status, said) in [
        ("/api/runs/zzz", 404, "run zzz not found; it may have been deleted"),
        ("/api/runs/..%2F..%2Fetc", 404, "not found"),
        ("/api/runs/zzz/overview", 404, "or the link is incomplete"),
        (&*format!("/api/runs/{A}/items/none"), 404, "no item “none”"),
        (&*format!("/api/runs/{A}/items?sort=colour"), 400, "`colour`"),
        (&*format!("/api/runs/{A}/items?sort=score:rigth"), 400, "`right`"),
        (&*format!("/api/runs/{A}/items?minScore=1&maxScore=0"), 400, "invalid score range 1 to 0"),
        (&*format!("/api/runs/{A}/items?minScore=NaN"), 400, "invalid score range"),
        (&*format!("/api/runs/{A}/items?limit=-1"), 400, "limit"),
        (&*format!("/api/compare?a={A}&b=zzz"), 404, "run zzz not found"),
        ("/api/runs?since=yesterday", 400, "2026-02-05"),
        ("/api/runs?colour=red", 400, "colour"),
        ("/api/trends", 400, "experiment"),
        ("/api/nothing", 404, "`/api`"),
    ] {
        let refusal = server.refusal(path, status);
        assert!(refusal.contains(said), "{path}: {refusal}");
    }
}

#[test]
fn whoever_has_an_answer_is_told_that_it_is_the_same() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    for path in [
        "/api/runs".to_owned(),
        format!("/api/runs/{B}"),
        format!("/api/runs/{B}/overview"),
        format!("/api/runs/{B}/items?limit=3"),
        format!("/api/compare?a={A}&b={B}"),
        "/api/trends?experiment=desk".to_owned(),
    ] {
        let first = server.get(&path, &[]);
        let tag = first.header("etag");
        assert_eq!((first.status, first.header("cache-control")), (200, "no-cache"), "{path}");
        let again = server.get(&path, &[&format!("If-None-Match: \"x\", {tag}")]);
        assert_eq!((again.status, &*again.body), (304, ""), "{path}");
        assert_eq!(server.get(&path, &["If-None-Match: \"x\""]).status, 200, "{path}");
    }
    let path = format!("/api/runs/{B}/overview");
    let before = server.get(&path, &[]);
    store.keep(&Kept { id: B, day: 3, right: 2, ..Kept::default() });
    let after = server.get(&path, &[&format!("If-None-Match: {}", before.header("etag"))]);
    assert_eq!(after.status, 200, "a changed file changes the response");
    assert_ne!(after.header("etag"), before.header("etag"));
}

#[test]
fn files_come_change_break_and_go_while_the_server_runs() {
    let store = Store::new();
    let server = Server::at(store.folder());
    assert_eq!(server.json("/api/runs")["runs"], json!([]));
    let file = store.folder().join(store.keep(&Kept::default()));
    assert_eq!(all(&server.json("/api/runs"), "runs", "id"), [A]);
    assert_eq!(server.json(&format!("/api/runs/{A}/items?state=low"))["matching"], 0);
    store.keep(&Kept { right: 7, ..Kept::default() });
    assert_eq!(server.json(&format!("/api/runs/{A}/items?state=low"))["matching"], 33);
    let broken = store.folder().join(".cobalt/results/2026-02-09T14-30-00_desk_dddddddddddd.json");
    fs::write(&broken, "{").unwrap();
    let answer = server.json("/api/runs");
    assert_eq!(answer["skipped"][0]["file"], "2026-02-09T14-30-00_desk_dddddddddddd.json");
    assert!(answer["skipped"][0]["reason"].as_str().unwrap().contains("not a result file"));
    fs::remove_file(file).unwrap();
    assert!(server.refusal(&format!("/api/runs/{A}"), 404).contains("not found"));
    assert_eq!(server.json("/api/runs")["known"], 0);
}

#[test]
fn what_was_replayed_is_marked_in_lists_runs_items_and_comparisons() {
    let store = Store::new();
    store.keep(&Kept::default());
    store.keep_replayed(&Kept { id: B, day: 2, ..Kept::default() });
    let server = Server::at(store.folder());
    assert_eq!(all(&server.json("/api/runs"), "runs", "replayedItems"), [39, 0], "newest first");
    let trends = server.json("/api/trends?experiment=desk");
    assert_eq!(all(&trends, "trends", "replayedItems"), [0, 39]);
    let overview = server.json(&format!("/api/runs/{B}/overview"));
    let traffic = &overview["run"]["summary"]["traffic"];
    assert_eq!((&traffic["replayedItems"], &traffic["liveItems"]), (&json!(39), &json!(1)));
    assert_eq!((&traffic["attributedByContent"], &overview["states"]["diverged"]), (&json!(3), &json!(1)));

    let recorded = "2026-01-21T09:00:00.000Z";
    let items = server.json(&format!("/api/runs/{B}/items?limit=1"));
    let replayed = json!({ "replayed": 2, "live": 0, "recordedAt": recorded, "diverged": false });
    assert_eq!(items["items"][0]["traffic"], replayed);
    let diverged = server.json(&format!("/api/runs/{B}/items?state=diverged"));
    assert_eq!(all(&diverged, "items", "key"), ["item-39"]);
    let partly = json!({ "replayed": 1, "live": 1, "recordedAt": recorded, "diverged": true });
    assert_eq!(diverged["items"][0]["traffic"], partly);
    assert_eq!(server.json(&format!("/api/runs/{A}/items"))["items"][0].get("traffic"), None);
    let item = server.json(&format!("/api/runs/{B}/items/item-39"));
    let where_diverged = item["item"]["traffic"]["diverged"].as_str().unwrap();
    assert!(where_diverged.starts_with("`messages[1].content`"), "{where_diverged}");
    assert_eq!(item["row"]["traffic"], partly);

    let compared = server.json(&format!("/api/compare?a={A}&b={B}&limit=1"));
    assert_eq!(compared["items"][0]["outputs"][0].get("traffic"), None);
    assert_eq!(compared["items"][0]["outputs"][1]["traffic"], replayed);
    assert_eq!(compared["runs"][1]["summary"]["traffic"]["replayedItems"], 39);
}

#[test]
fn what_was_retried_is_counted_in_runs_and_items_and_can_be_selected() {
    let store = Store::new();
    store.keep_retried(&Kept::default());
    let server = Server::at(store.folder());
    let overview = server.json(&format!("/api/runs/{A}/overview"));
    let summary = &overview["run"]["summary"];
    assert_eq!((&summary["retriedExecutions"], &summary["passedAfterRetry"]), (&json!(2), &json!(1)));
    assert_eq!(overview["states"]["retried"], 1);
    let items = server.json(&format!("/api/runs/{A}/items?limit=2"));
    assert_eq!(all(&items, "items", "retried"), [2, 0]);
    let retried = server.json(&format!("/api/runs/{A}/items?state=retried"));
    assert_eq!(all(&retried, "items", "key"), ["item-0"]);
    let item = server.json(&format!("/api/runs/{A}/items/item-0"));
    assert_eq!(item["item"]["retried"].as_array().unwrap().len(), 2);
}

#[test]
fn files_of_the_original_are_answered_in_its_shape() {
    let folder = package();
    let results = folder.path().join(".cobalt/results");
    fs::create_dir_all(&results).unwrap();
    let file = json!({
        "id": "5ea00522f3eb", "name": "Fn: é/名", "timestamp": "2026-02-05T10:00:34.836Z", "tags": ["t1"],
        "summary": { "totalItems": 2, "totalDurationMs": 1003, "avgLatencyMs": 2, "scores": {
            "exact": { "avg": 0.5, "min": 0, "max": 1, "p50": 0.5, "p95": 1, "p99": 1 } } },
        // The fields can be in any order.
        "items": [
            { "index": 0, "input": { "input": "a" }, "latencyMs": 1, "output": { "output": "A" }, "evaluations": { "exact": { "score": 1 } } },
            { "index": 1, "input": { "input": "b" }, "latencyMs": 3, "output": { "output": "" }, "evaluations": {}, "error": "no" },
        ],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
    });
    let text = format!("\u{feff}{}", serde_json::to_string_pretty(&file).unwrap());
    fs::write(results.join("2026-02-05T10-00-34_fn_5ea00522f3eb.json"), text).unwrap();
    let server = Server::at(folder.path());
    assert_eq!(server.json("/api/runs/5ea00522f3eb"), json!({ "run": file }), "the stored report, unchanged");
    let run = server.json("/api/runs")["runs"][0].clone();
    assert_eq!((&run["avgScores"]["exact"], &run["totalItems"]), (&json!(0.5), &json!(2)));
    let trends = server.json("/api/trends?experiment=Fn%3A%20%C3%A9%2F%E5%90%8D");
    assert_eq!(trends["trends"][0]["scores"], json!({ "exact": 0.5 }));
    let overview = server.json("/api/runs/5ea00522f3eb/overview");
    assert_eq!(
        (&overview["run"]["summary"]["failedItems"], &overview["states"]["error"]),
        (&json!(1), &json!(1))
    );
    let items = server.json("/api/runs/5ea00522f3eb/items?sort=status");
    assert_eq!(items["items"][0]["error"], "no");
}

#[test]
fn thresholds_of_the_newest_run_are_lines_among_its_trends() {
    let store = Store::with_a_drop();
    let file = store.folder().join(store.keep(&Kept { id: B, day: 3, right: 10, ..Kept::default() }));
    let mut report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    report["config"]["thresholds"] = json!([
        "right.avg>=0.8",
        "score.avg>=0.5",
        "latency.avg<=2s",
        "tokens.total<=100",
        "latency.p95<=5s"
    ]);
    fs::write(&file, report.to_string()).unwrap();
    let server = Server::at(store.folder());
    let trends = server.json("/api/trends?experiment=desk");
    assert_eq!(all(&trends, "trends", "id"), [A, B], "oldest first");
    assert_eq!(
        trends["thresholds"],
        json!([
            { "name": "right.avg>=0.8", "quantity": "score", "evaluator": "right", "bound": 0.8 },
            { "name": "score.avg>=0.5", "quantity": "score", "bound": 0.5 },
            { "name": "latency.avg<=2s", "quantity": "latency", "bound": 2000.0 },
            { "name": "tokens.total<=100", "quantity": "tokens", "bound": 100.0 },
        ])
    );
    assert_eq!(all(&server.json("/api/trends?experiment=desk&limit=1"), "trends", "id"), [B]);
    assert_eq!(server.json("/api/trends?experiment=none")["trends"], json!([]));
}
