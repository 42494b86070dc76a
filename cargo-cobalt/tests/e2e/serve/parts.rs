//! The page of runs in parts, compared with that of the same runs that are not.

use serde_json::Value;

use super::server::Server;
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";

/// Two runs whose items have fields, errors, traffic and tools.
fn store() -> Store {
    let store = Store::new();
    for (id, day, right) in [(A, 1, 40), (B, 3, 10)] {
        store.keep_edited(&Kept { id, day, right, ..Kept::default() }, |report| {
            for (index, item) in report["items"].as_array_mut().unwrap().iter_mut().enumerate() {
                item["input"]["topic"] = ["refunds", "billing", "returns"][index % 3].into();
                item["latencyMs"] = (index * 7 % 40).into();
                match index % 9 {
                    2 => {
                        item["status"] = "error".into();
                        item["error"] = "no route".into();
                        item["evaluations"] = serde_json::json!({});
                    }
                    4 => item["input"]["id"] = format!("Item No. {index}").into(),
                    5 => item["traffic"] = serde_json::json!({ "live": 2, "asked": ["0123456789"] }),
                    7 => item["metrics"] = serde_json::json!({ "retrieved": { "value": index } }),
                    _ => {}
                }
            }
        });
    }
    store
}

#[test]
fn answers_about_a_run_in_parts_are_those_about_a_whole_one() {
    let (whole, parts) = (store(), store().into_parts());
    let servers = [&whole, &parts].map(|store| Server::at(store.folder()));
    let items = format!("/api/runs/{B}/items");
    for address in [
        "/api/runs".to_owned(),
        format!("/api/runs/{B}"),
        format!("/api/runs/{B}/overview"),
        items.clone(),
        format!("{items}?offset=7&limit=5&order=desc"),
        format!("{items}?sort=score:right&order=desc"),
        format!("{items}?sort=status&columns=expected,input.topic,metric.retrieved"),
        format!("{items}?state=error&sort=latency"),
        format!("{items}?search=NO%20ROUTE"),
        format!("{items}?search=item-17"),
        format!("{items}?where=input.topic=refunds&sort=input.topic"),
        format!("{items}?columns=input.topic,reason.right,latency&sort=latency&order=desc&limit=7"),
        format!("{items}?where=reason.right~worth%200&where=latency%3E9&limit=5"),
        format!("{items}?where=metric.retrieved%3E9"),
        format!("{items}?group=input.topic&minScore=0.5"),
        format!("{items}?compare={A}&only=regressed&sort=change"),
        format!("{items}/item-12"),
        format!("{items}/item-5?compare={A}"),
        format!("/api/compare?a={A}&b={B}&limit=20"),
        format!("/api/compare?a={A}&b={B}&limit=1000&sort=worst"),
        format!("/api/compare?a={A}&b={B}&limit=7&offset=5&sort=change"),
        format!("/api/compare?a={A}&b={B}&limit=2000&sort=best"),
        format!("/api/matrix?runs={A},{B}&only=failed&limit=9"),
        format!("/api/ranking?runs={A},{B}"),
        "/api/trends?experiment=desk".to_owned(),
    ] {
        let [one, other] = servers.each_ref().map(|server| server.json(&address));
        assert_eq!(without_files(one), without_files(other), "{address}");
    }
    for format in ["csv", "markdown", "junit", "html"] {
        let address = format!("/api/export?run={B}&format={format}");
        let [one, other] = servers.each_ref().map(|server| server.get(&address, &[]));
        assert!(one.body == other.body, "{format}");
    }
}

/// The answer without what only the form of a file changes.
fn without_files(mut answer: Value) -> Value {
    if let Some(runs) = answer.get_mut("runs").and_then(Value::as_array_mut) {
        for run in runs {
            run.as_object_mut().map(|run| run.remove("file"));
        }
    }
    // Written again, a report has the fields that a file may leave out.
    if let Some(run) = answer.get_mut("run").filter(|run| run.get("items").is_some()) {
        let report: cobalt::Report = serde_json::from_value(run.clone()).unwrap();
        *run = serde_json::to_value(report).unwrap();
    }
    answer
}

#[test]
fn all_items_of_a_comparison_are_refused_if_a_run_is_in_parts() {
    let store = store().into_parts();
    let server = Server::at(store.folder());
    let refusal = server.refusal(&format!("/api/compare?a={A}&b={B}&sort=worst"), 400);
    assert!(refusal.contains(&format!("run {A} is large, so `limit` is required")), "{refusal}");
}

#[test]
fn a_damaged_part_is_named_and_not_taken_for_a_file_that_changes() {
    let store = store().into_parts();
    let items = store.folder().join(".cobalt/results/2026-02-03T14-30-00_desk_bbbbbbbbbbbb.items.zst");
    let mut damaged = std::fs::read(&items).unwrap();
    damaged[100] ^= 1;
    std::fs::write(&items, damaged).unwrap();
    let server = Server::at(store.folder());
    for address in ["items", "items/item-7", "items?columns=input.topic&limit=1", "items?where=input.topic=x"]
    {
        let answer = server.get(&format!("/api/runs/{B}/{address}"), &[]);
        let is_told = answer.body.contains("items.zst") && answer.body.contains("part 1 of 1 is damaged");
        assert!(answer.status == 500 && is_told, "{address}: {} {}", answer.status, answer.body);
    }
    server.json(&format!("/api/runs/{B}/overview"));
}

#[test]
fn a_run_whose_items_file_is_gone_says_so() {
    let store = store().into_parts();
    let server = Server::at(store.folder());
    let folder = store.folder().join(".cobalt/results");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "zst") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let answer = server.get(&format!("/api/runs/{B}/overview"), &[]);
    assert!(answer.status >= 400 && answer.body.contains("items.zst"), "{} {}", answer.status, answer.body);
}
