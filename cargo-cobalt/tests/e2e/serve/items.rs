//! The columns, conditions, groups and comparisons of `/api/runs/ID/items`.

use serde_json::{Value, json};

use super::server::Server;
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";
const C: &str = "cccccccccccc";

/// Changes the items of a stored run.
fn change(store: &Store, run: &Kept<'_>, mut change: impl FnMut(usize, &mut Value)) {
    store.keep_edited(run, |report| {
        for (index, item) in report["items"].as_array_mut().unwrap().iter_mut().enumerate() {
            change(index, item);
        }
    });
}

/// A run whose items have topics, amounts, tools, conversations and metrics.
fn with_fields() -> (Store, Server) {
    let store = Store::new();
    change(&store, &Kept { id: B, right: 10, ..Kept::default() }, |index, item| {
        item["input"]["meta"] =
            json!({ "topic": if index % 3 == 1 { "refunds" } else { "billing" }, "amount": index * 10 });
        item["input"]["expectedOutput"] = json!(format!("answer {index}"));
        if index % 4 == 0 {
            item["output"]["metadata"] = json!({ "region": "north", "long": "x".repeat(400) + if index % 8 == 0 { "END" } else { "ENDED" } });
            item["output"]["metadata"]["a,b=c"] = json!(index);
            item["trace"] = json!([
                { "id": "1", "name": "t", "kind": "tool", "tool": { "name": "lookup_order", "arguments": { "order": format!("A-{index}") }, "result": "delayed" } },
                { "id": "2", "name": "t", "kind": "tool", "tool": { "name": "lookup_order" } },
            ]);
        }
        if index < 2 {
            item["transcript"] = json!({ "turns": vec![json!({ "message": "good day", "reply": "hello" }); index + 1], "end": "script-end" });
        }
        item["metrics"] = json!({ "retrieved": { "value": index % 5 } });
        item["latencyMs"] = json!(100 - index);
    });
    let server = Server::at(store.folder());
    (store, server)
}

fn keys(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap()).collect()
}

#[test]
fn columns_are_returned_and_sorted_by() {
    let (_store, server) = with_fields();
    let items = |query: &str| server.json(&format!("/api/runs/{B}/items?{query}"));
    let columns = "input.meta.topic,input.meta.amount,metadata.region,metadata.long,expected,metric.retrieved,turns,tool_calls,tool,attempts";
    let answer = items(&format!("limit=2&columns={columns}"));
    let values = &answer["items"][0]["values"];
    assert_eq!(values["metadata.long"].as_str().unwrap().chars().count(), 201, "long texts are cut");
    let mut values = values.clone();
    values.as_object_mut().unwrap().remove("metadata.long");
    assert_eq!(
        values,
        json!({
            "input.meta.topic": "billing", "input.meta.amount": 0, "metadata.region": "north", "expected": "answer 0",
            "metric.retrieved": 0, "turns": 1, "tool_calls": 2, "tool": "lookup_order", "attempts": 1,
        })
    );
    assert_eq!(
        answer["items"][1]["values"],
        json!({ "input.meta.topic": "refunds", "input.meta.amount": 10, "expected": "answer 1", "metric.retrieved": 1, "turns": 2, "attempts": 1 })
    );
    assert!(items("limit=1")["items"][0].get("values").is_none());
    let odd = items("limit=5&columns=tool_calls,metadata.a%252Cb=c");
    assert_eq!(odd["items"][4]["values"], json!({ "tool_calls": 2, "metadata.a,b=c": 4 }));
    for (sort, first) in [
        ("input.meta.amount&order=desc", "item-39"),
        ("input.meta.topic&order=desc", "item-1"),
        ("turns&order=desc", "item-1"),
        ("metric.retrieved&order=desc", "item-4"),
        ("latency", "item-39"),
        ("metadata.region", "item-0"),
        ("reason:right&order=desc", "item-0"),
        ("reason:right", "item-10"),
        ("expected&order=desc", "item-9"),
    ] {
        assert_eq!(keys(&items(&format!("limit=1&sort={sort}"))), [first], "{sort}");
    }
    let last = items("sort=turns&order=desc&limit=3");
    assert_eq!(keys(&last), ["item-1", "item-0", "item-2"], "items without a value come last");
}

#[test]
fn the_fields_of_the_items_are_listed() {
    let (_store, server) = with_fields();
    let answer = server.json(&format!("/api/runs/{B}/items?limit=0"));
    let fields = answer["fields"].as_array().unwrap();
    let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap_or(&Value::Null);
    assert_eq!(
        *field("input.meta.topic"),
        json!({ "name": "input.meta.topic", "label": "meta.topic", "type": "text", "values": ["billing", "refunds"] })
    );
    assert_eq!(
        *field("input.meta.amount"),
        json!({ "name": "input.meta.amount", "label": "meta.amount", "type": "number" })
    );
    assert_eq!(field("tool")["values"], json!(["lookup_order"]));
    assert_eq!(field("turns")["values"], json!(["1", "2"]));
    assert_eq!((field("expected")["type"].as_str(), field("attempts")), (Some("text"), &Value::Null));
}

#[test]
fn items_are_selected_by_conditions() {
    let (_store, server) = with_fields();
    let items =
        |query: &str| server.json(&format!("/api/runs/{B}/items?limit=0&{query}"))["matching"].clone();
    for (query, expected) in [
        ("where=input.meta.topic=refunds", 13),
        ("where=input.meta.topic!=refunds", 27),
        ("where=input.meta.topic~REF", 13),
        ("where=input.meta.amount%3E%3D300", 10),
        ("where=input.meta.amount%3C50", 5),
        ("where=input.meta.amount=50", 1),
        ("where=score.right%3C0.5", 30),
        ("where=status=ok", 40),
        ("where=status!=ok", 0),
        ("where=latency%3E90", 10),
        ("where=tool=lookup_order", 10),
        ("where=tool!=lookup_order", 30),
        ("where=tool~LOOKUP", 10),
        ("where=turns%3E1", 1),
        ("where=tool_calls=2", 10),
        ("where=metric.retrieved=4", 8),
        ("where=key~item-3", 11),
        ("where=expected=answer%207", 1),
        ("where=metadata.long~end", 10),
        ("where=cost%3E0", 0),
        ("where=metadata.a,b%3Dc%3E%3D20", 5),
        ("where=input.meta.topic=refunds&where=score.right=1", 3),
        ("where=input.meta.topic=refunds&search=item-1&state=low", 4),
    ] {
        assert_eq!(items(query), expected, "{query}");
    }
    for (query, said) in [
        ("where=colour=red", "no column `colour`"),
        ("where=input.meta.topc=red", "`input.meta.topic`"),
        ("where=metric.retreived=1", "`metric.retrieved`"),
        ("where=score.rigth=1", "`right`"),
        ("where=latency", "invalid condition"),
        ("where=latency%3Efast", "is a number"),
        ("where=input.meta.amount%3Emany", "is a number"),
        ("where=status=fine", "`timeout`"),
        ("where=tool%3Cx", "no order"),
        ("columns=colour", "no column `colour`"),
        ("group=colour", "no column `colour`"),
        ("sort=change", "cannot sort"),
        ("only=regressed", "`compare`"),
    ] {
        let refusal = server.refusal(&format!("/api/runs/{B}/items?{query}"), 400);
        assert!(refusal.contains(said), "{query}: {refusal}");
    }
}

#[test]
fn a_text_is_searched_for_wherever_people_see_it() {
    let (_store, server) = with_fields();
    let found =
        |text: &str| server.json(&format!("/api/runs/{B}/items?limit=0&search={text}"))["matching"].clone();
    for (text, expected) in [
        ("worth%201", 10),
        ("LOOKUP_order", 10),
        ("a-16", 1),
        ("delayed", 10),
        ("north", 10),
        ("xxend", 10),
        ("good%20day", 2),
        ("Refunds", 13),
        ("answer%2039", 1),
        ("script-end", 0),
        ("region", 0),
        ("nowhere", 0),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn items_are_grouped_the_largest_group_first() {
    let (_store, server) = with_fields();
    let items = |query: &str| server.json(&format!("/api/runs/{B}/items?{query}"));
    let answer = items("group=input.meta.topic&sort=latency&limit=40");
    assert_eq!(
        answer["groups"],
        json!([
            { "value": "billing", "start": 0, "items": 27, "passed": 7, "belowPassMark": 20, "errors": 0, "scores": { "right": 7.0 / 27.0 } },
            { "value": "refunds", "start": 27, "items": 13, "passed": 3, "belowPassMark": 10, "errors": 0, "scores": { "right": 3.0 / 13.0 } },
        ])
    );
    let keys = keys(&answer);
    assert_eq!((keys[0], keys[26], keys[27]), ("item-39", "item-0", "item-37"), "sorted within the group");
    let long = items("group=metadata.long&limit=0");
    let sizes: Vec<_> = long["groups"].as_array().unwrap().iter().map(|it| &it["items"]).collect();
    assert_eq!(sizes, [5, 5, 30], "texts with the same beginning are not the same");
    assert!(long["groups"][1]["value"].as_str().unwrap().ends_with("… (2)"), "{}", long["groups"][1]);
    let missing = items("group=metadata.region&limit=0");
    assert_eq!(
        (&missing["groups"][0]["value"], &missing["groups"][1]["value"]),
        (&json!("north"), &Value::Null)
    );
    let ranges = items("group=input.meta.amount&limit=0");
    let ranges: Vec<_> = ranges["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["value"].as_str().unwrap(), &it["items"]))
        .collect();
    assert_eq!(
        ranges,
        [
            ("0 to 50", &json!(5)),
            ("50 to 100", &json!(5)),
            ("100 to 150", &json!(5)),
            ("150 to 200", &json!(5)),
            ("200 to 250", &json!(5)),
            ("250 to 300", &json!(5)),
            ("300 to 350", &json!(5)),
            ("350 to 400", &json!(5))
        ]
    );
    assert!(items("limit=0").get("groups").is_none());
}

#[test]
fn items_are_shown_beside_those_of_other_runs() {
    let store = Store::with_a_drop();
    // The reference has no item-0, and an item of its own; the content of item-1 differs.
    change(&store, &Kept::default(), |index, item| {
        if index == 0 {
            item["key"] = json!("item-x");
            item["input"]["id"] = json!("item-x");
        }
        if index == 1 {
            item["input"]["input"] = json!("what else?");
        }
    });
    let server = Server::at(store.folder());
    let items = |query: &str| server.json(&format!("/api/runs/{B}/items?compare={A}&{query}"));
    let answer = items("limit=100");
    assert_eq!((&answer["total"], &answer["matching"]), (&json!(41), &json!(41)));
    assert_eq!(
        answer["counts"],
        json!({ "regressed": 30, "improved": 0, "changed": 30, "onlyHere": 1, "onlyThere": 1 })
    );
    let [new, edited, worse, gone] = [0, 1, 10, 40].map(|at| &answer["items"][at]);
    assert_eq!((&new["compared"], new.get("changes")), (&json!([null]), None));
    assert_eq!(
        (&edited["compared"][0]["changed"], &edited["changes"]),
        (&json!(true), &json!({ "right": 0.0 }))
    );
    assert_eq!(worse["changes"], json!({ "right": -1.0 }));
    let there = &worse["compared"][0];
    assert_eq!(
        (&there["id"], &there["scores"], &there["passed"], &there["output"], &there["changed"]),
        (&json!(A), &json!({ "right": 1.0 }), &json!(true), &json!("this"), &json!(false))
    );
    assert_eq!(
        (&gone["key"], &gone["isMissing"], &gone["scores"]),
        (&json!("item-x"), &json!(true), &json!({}))
    );
    assert_eq!(gone["compared"][0]["scores"], json!({ "right": 1.0 }));
    assert_eq!(keys(&items("limit=1&only=regressed")), ["item-10"]);
    assert_eq!(
        items("limit=1&only=improved&search=item-1")["counts"]["regressed"],
        10,
        "counts are without `only`"
    );
    assert_eq!(keys(&items("limit=1&sort=change")), ["item-10"]);
    assert_eq!(keys(&items("limit=1&sort=change:right&order=desc")), ["item-1"]);
    assert_eq!(items("search=item-x")["matching"], 1, "items of other runs are found, too");
    assert_eq!(items("state=passed")["matching"], 10);

    let several = server.json(&format!("/api/runs/{B}/items?compare={A},{C}&limit=11"));
    let compared = several["items"][10]["compared"].as_array().unwrap();
    assert_eq!(compared.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>(), [A, C]);
    let regressed = server.json(&format!("/api/compare?a={A}&b={B}&limit=0"))["regressed"].clone();
    assert_eq!(answer["counts"]["regressed"], regressed, "a regression is one in comparisons, too");

    let item = server.json(&format!("/api/runs/{B}/items/item-39?compare={A}&only=regressed"));
    assert_eq!(
        (&item["previous"], item.get("next"), &item["position"]),
        (&json!("item-38"), None, &json!(29))
    );
    assert_eq!(item["row"]["changes"], json!({ "right": -1.0 }));
    let last = server.json(&format!("/api/runs/{B}/items/item-39?compare={A}"));
    assert!(last.get("next").is_none(), "an item of another run cannot be opened in this one");
    assert!(server.refusal(&format!("/api/runs/{B}/items?compare=zzz"), 404).contains("run zzz not found"));
    let many = [A; 8].join(",");
    assert!(server.refusal(&format!("/api/runs/{B}/items?compare={many}"), 400).contains("maximum is 7"));
}

#[test]
fn an_answer_changes_with_the_runs_that_it_compares() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let path = format!("/api/runs/{B}/items?compare={A}&limit=1");
    let before = server.get(&path, &[]);
    let unchanged = server.get(&path, &[&format!("If-None-Match: {}", before.header("etag"))]);
    assert_eq!(unchanged.status, 304);
    store.keep(&Kept { right: 2, ..Kept::default() });
    let after = server.get(&path, &[&format!("If-None-Match: {}", before.header("etag"))]);
    assert_eq!(after.status, 200, "the reference has changed");
}

#[test]
fn many_groups_are_joined_after_the_largest() {
    let store = Store::new();
    store.keep_edited(&Kept::default(), |report| {
        let items = report["items"].as_array_mut().unwrap();
        let one = items.remove(0);
        *items = (0..1100)
            .map(|index| {
                let mut item = one.clone();
                (item["index"], item["key"]) = (json!(index), json!(format!("item-{index}")));
                item["input"] =
                    json!({ "id": format!("item-{index}"), "number": format!("n{:04}", index % 1050) });
                item
            })
            .collect();
    });
    let server = Server::at(store.folder());
    let answer = server.json(&format!("/api/runs/{A}/items?group=input.number&limit=2&offset=1050"));
    let groups = answer["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1001);
    let figures = |group: &Value| (group["value"].clone(), group["items"].clone(), group["start"].clone());
    assert_eq!(figures(&groups[0]), (json!("n0000"), json!(2), json!(0)));
    assert_eq!(figures(&groups[999]), (json!("n0999"), json!(1), json!(1049)));
    assert_eq!(figures(&groups[1000]), (Value::Null, json!(50), json!(1050)));
    assert_eq!((&groups[1000]["joined"], groups[999].get("joined")), (&json!(50), None));
    assert_eq!(keys(&answer), ["item-1000", "item-1001"]);
}

#[test]
fn an_answer_says_by_how_much_of_long_texts_it_is_sorted() {
    let (_store, server) = with_fields();
    let prefix = |sort: &str| {
        server.json(&format!("/api/runs/{B}/items?limit=1&sort={sort}")).get("sortPrefix").cloned()
    };
    assert_eq!(prefix("metadata.long"), Some(json!(256)));
    assert_eq!((prefix("input.meta.topic"), prefix("latency")), (None, None));
}
