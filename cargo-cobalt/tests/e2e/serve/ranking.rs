//! API responses about several runs: rankings, groups of variants, and the matrix of their items.

use serde_json::{Value, json};

use super::server::Server;

use crate::store::{ITEMS, Kept, Store};

const GROUP: &str = "/api/groups/ffff00001111";

fn labels(ranking: &Value) -> Vec<&str> {
    ranking["runs"].as_array().unwrap().iter().map(|run| run["label"].as_str().unwrap()).collect()
}

#[test]
fn a_group_is_ranked_in_the_order_of_its_variants() {
    let store = Store::with_variants();
    let server = Server::at(store.folder());
    let answer = server.json(GROUP);
    let ranking = &answer["ranking"];
    assert_eq!((&answer["group"], &ranking["experiment"]), (&json!("ffff00001111"), &json!("desk")));
    assert_eq!(labels(ranking), ["mini", "large", "nano"]);
    assert_eq!(ranking["runs"][0]["settings"], json!({ "model": "model-mini" }));
    assert_eq!(ranking["runs"][2]["scores"][0]["rank"], json!({ "best": 3, "worst": 3 }));
    assert_eq!(ranking["recommendation"]["cheapest"], json!(0), "{ranking}");
    assert_eq!(answer["live"], json!([]));
    assert!(server.refusal("/api/groups/000000000000", 404).contains("no run belongs to the group"));
}

#[test]
fn chosen_runs_are_ranked_in_their_order() {
    let store = Store::with_variants();
    store.keep(&Kept { id: "dddddddddddd", name: "intent", day: 2, ..Kept::default() });
    let server = Server::at(store.folder());
    let ranking = server.json("/api/ranking?runs=dddddddddddd,cccccccccccc");
    assert_eq!(labels(&ranking), ["intent", "desk::nano"]);
    assert!(ranking["group"].is_null() && ranking["experiment"].is_null());
    let ranking = server.json("/api/ranking?runs=cccccccccccc,aaaaaaaaaaaa");
    assert_eq!(labels(&ranking), ["mini", "nano"], "variants are in the order of their declaration");
    for (query, status) in [("runs=aaaaaaaaaaaa", 400), ("", 400), ("runs=aaaaaaaaaaaa,eeeeeeeeeeee", 404)] {
        server.refusal(&format!("/api/ranking?{query}"), status);
    }
}

#[test]
fn the_matrix_has_the_items_of_all_runs_and_filters_them() {
    let store = Store::with_variants();
    let server = Server::at(store.folder());
    let matrix = |query: &str| server.json(&format!("/api/matrix?group=ffff00001111{query}"));
    let all = matrix("&limit=2");
    assert_eq!((&all["total"], &all["matching"]), (&json!(ITEMS), &json!(ITEMS)));
    assert_eq!((&all["disagreeing"], &all["failed"]), (&json!(35), &json!(35)));
    let variants: Vec<_> = all["runs"].as_array().unwrap().iter().map(|run| &run["variant"]).collect();
    assert_eq!(variants, ["mini", "large", "nano"]);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    let failed = matrix("&only=failed&limit=1&offset=1");
    let item = &failed["items"][0];
    assert_eq!((&item["key"], &item["input"]), (&json!("item-6"), &json!("what now?")));
    let outcomes: Vec<_> = item["cells"].as_array().unwrap().iter().map(|cell| &cell["passed"]).collect();
    assert_eq!(outcomes, [true, true, false]);
    assert_eq!(item["cells"][2]["low"], json!(["right"]));
    assert_eq!(item["cells"][2]["scores"], json!({ "right": 0.0 }));
    assert_eq!(matrix("&only=disagreeing")["matching"], json!(35));
    assert_eq!(matrix("&search=that")["found"], json!(35));
    let two = server.json("/api/matrix?runs=bbbbbbbbbbbb,aaaaaaaaaaaa&only=failed");
    assert_eq!(two["matching"], json!(0));
    for query in ["", "runs=aaaaaaaaaaaa", "runs=aaaaaaaaaaaa,bbbbbbbbbbbb&group=ffff00001111"] {
        server.refusal(&format!("/api/matrix?{query}"), 400);
    }
}

#[test]
fn the_matrix_is_sorted_by_the_scores_of_a_run_or_their_spread() {
    let store = Store::with_variants();
    let server = Server::at(store.folder());
    let items = |query: &str| {
        let matrix = server.json(&format!("/api/matrix?group=ffff00001111&limit=1000{query}"));
        matrix["items"].as_array().unwrap().clone()
    };
    let score = |item: &Value, run: usize| item["cells"][run]["scores"]["right"].as_f64().unwrap();
    let nano = "&sort=cccccccccccc";
    let of = |query: &str| items(query).iter().map(|item| score(item, 2)).collect::<Vec<_>>();
    assert!(of(nano).is_sorted());
    assert!(of(&format!("{nano}&order=desc&evaluator=right")).is_sorted_by(|one, two| one >= two));
    let spread = |item: &Value| {
        let scores = [0, 1, 2].map(|run| score(item, run));
        scores.iter().copied().fold(0.0, f64::max) - scores.iter().copied().fold(1.0, f64::min)
    };
    let spreads: Vec<_> = items("&sort=spread").iter().map(spread).collect();
    assert!(spreads.is_sorted_by(|one, two| one >= two) && spreads[0] > 0.0, "{spreads:?}");
    let keys: Vec<_> = items("&sort=key").iter().map(|item| item["key"].to_string()).collect();
    assert!(keys.is_sorted());
    assert_eq!(items("&order=desc")[0]["index"], json!(ITEMS - 1));
    for (query, named) in [("sort=zzz", "`spread`"), ("sort=spread&evaluator=rigth", "`rigth`")] {
        assert!(server.refusal(&format!("/api/matrix?group=ffff00001111&{query}"), 400).contains(named));
    }
}

#[test]
fn an_evaluator_that_does_not_apply_is_no_error() {
    let store = Store::with_variants();
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 2, ..Kept::default() }));
    let mut report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    report["items"][0]["evaluations"]["right"] = json!({ "notApplicable": true, "reason": "nothing asked" });
    std::fs::write(path, report.to_string()).unwrap();
    let server = Server::at(store.folder());
    let row = &server.json("/api/runs/dddddddddddd/items?limit=1")["items"][0];
    assert_eq!((&row["notApplicable"], &row["evalErrors"]), (&json!(["right"]), &json!([])));
    assert_eq!((&row["passed"], &row["scores"]), (&json!(true), &json!({})));
}

#[test]
fn runs_name_their_variants_and_the_experiment_selects_all_of_them() {
    let store = Store::with_variants();
    let server = Server::at(store.folder());
    let answer = server.json("/api/runs?experiment=desk");
    assert_eq!(answer["matching"], json!(3));
    assert_eq!(server.json("/api/runs?experiment=desk::nano")["matching"], json!(1));
    let overview = server.json("/api/runs/cccccccccccc/overview");
    let variants = overview["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 3);
    assert_eq!(overview["run"]["variant"]["name"], json!("nano"));
}

#[test]
fn up_to_eight_runs_are_compared_with_the_first() {
    let store = Store::new();
    let ids: Vec<_> = ('a'..='h').map(|letter| letter.to_string().repeat(12)).collect();
    for (day, id) in (1..).zip(&ids) {
        store.keep(&Kept { id, day, ..Kept::default() });
    }
    let server = Server::at(store.folder());
    let sides = ('a'..='h').zip(&ids).map(|(side, id)| format!("{side}={id}")).collect::<Vec<_>>().join("&");
    let answer = server.json(&format!("/api/compare?{sides}&limit=1"));
    assert_eq!(answer["comparisons"].as_array().unwrap().len(), 7);
    assert_eq!(answer["items"][0]["outputs"].as_array().unwrap().len(), 8);
}
