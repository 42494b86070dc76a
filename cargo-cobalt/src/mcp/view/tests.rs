//! Views of runs of all kinds.

use std::path::Path;

use cobalt_core::report::{Report, item_keys};
use cobalt_core::store::ReportFile;
use serde_json::{Map, Value, json};

use super::*;

/// A run whose items are these.
fn report(items: Vec<Value>) -> Report {
    let items: Vec<_> = items
        .into_iter()
        .enumerate()
        .map(|(index, mut item)| {
            let fields =
                json!({ "index": index, "input": {}, "status": "ok", "passed": true, "latencyMs": 1.0 });
            for (name, value) in fields.as_object().unwrap() {
                item.as_object_mut().unwrap().entry(name).or_insert_with(|| value.clone());
            }
            item
        })
        .collect();
    serde_json::from_value(json!({
        "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "summary": { "totalItems": items.len() },
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "kind"], "passMarks": [0.5, 0.5] },
        "items": items,
    }))
    .unwrap()
}

fn scored(key: &str, passed: bool, right: f64, kind: f64) -> Value {
    json!({ "key": key, "passed": passed, "output": { "output": "a" },
        "evaluations": { "right": { "score": right }, "kind": { "score": kind, "reason": "as it is" } } })
}

/// One of each kind.
fn mixed() -> Report {
    report(vec![
        scored("good", true, 1.0, 0.9),
        scored("failed", false, 0.4, 0.8),
        json!({ "key": "broken", "status": "error", "passed": false, "error": "no answer", "evaluations": {} }),
        scored("worst", false, 0.9, 0.1),
        scored("low", true, 0.2, 1.0),
    ])
}

/// Checks a view against the snapshot of this name.
#[track_caller]
fn snapshot(name: &str, view: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, view));
}

fn pretty(view: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(view).unwrap()
}

/// A run with this report.
fn file(report: &Report) -> ReportFile {
    ReportFile::of_report(Path::new("run"), report.clone())
}

fn shown(report: &Report, wanted: &ItemQuery) -> RunPage {
    run(&file(report), wanted, None, MAX_STRUCTURED).unwrap()
}

fn keys_of(run: &RunPage) -> Vec<&str> {
    run.run["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap()).collect()
}

#[test]
fn items_in_error_come_first_then_those_that_failed_by_their_lowest_score() {
    let (report, wanted) = (mixed(), ItemQuery::default());
    assert_eq!(keys_of(&shown(&report, &wanted)), ["broken", "worst", "low", "failed", "good"]);
    let by_right = ItemQuery { evaluator: Some("right".to_owned()), ..wanted };
    assert_eq!(
        keys_of(&shown(&report, &by_right)),
        ["low", "failed", "worst", "good"],
        "an item without a score is left out"
    );
}

#[test]
fn a_status_and_a_score_filter_items() {
    let report = mixed();
    for (status, expected) in [
        (ItemStatus::Passed, &["good"][..]),
        (ItemStatus::Failed, &["broken", "worst", "low", "failed"]),
        (ItemStatus::Error, &["broken"]),
        (ItemStatus::Low, &["worst", "low", "failed"]),
    ] {
        let wanted = ItemQuery { status: Some(status), ..ItemQuery::default() };
        assert_eq!(keys_of(&shown(&report, &wanted)), expected, "{status:?}");
    }
    let most = |most, evaluator: Option<&str>| ItemQuery {
        max_score: Some(most),
        evaluator: evaluator.map(str::to_owned),
        ..ItemQuery::default()
    };
    assert_eq!(keys_of(&shown(&report, &most(0.2, None))), ["worst", "low"], "the limit is inclusive");
    assert_eq!(keys_of(&shown(&report, &most(0.4, Some("right")))), ["low", "failed"]);
    assert!(run(&file(&report), &most(f64::NAN, None), None, MAX_STRUCTURED).is_err());
}

#[test]
fn a_cursor_is_valid_only_for_its_run_and_query() {
    let (report, wanted) = (mixed(), ItemQuery { limit: Some(2), ..ItemQuery::default() });
    let first = shown(&report, &wanted);
    let cursor = first.next_cursor.as_deref().unwrap();
    let all = ItemQuery::default();
    let rest = run(&file(&report), &all, Some(cursor), MAX_STRUCTURED).unwrap();
    assert_eq!(
        (keys_of(&rest), &rest.next_cursor),
        (vec!["low", "failed", "good"], &None),
        "any `limit` works"
    );
    let other = Report { id: "ba9876543210".to_owned(), ..mixed() };
    let failed = ItemQuery { status: Some(ItemStatus::Failed), ..ItemQuery::default() };
    let refusals = [
        (&other, &all, cursor),
        (&report, &failed, cursor),
        (&report, &all, "2"),
        (&report, &all, "x-y"),
        (&report, &all, ""),
    ]
    .map(|(report, wanted, cursor)| {
        run(&file(report), wanted, Some(cursor), MAX_STRUCTURED).unwrap_err().to_string()
    });
    insta::assert_snapshot!(refusals.join("\n"), @r"
    `cursor` belongs to another run than `ba9876543210`, or to another `status`, `evaluator` or `maxScore`: pass the arguments of the call that returned it, or omit `cursor` to start from the worst item
    `cursor` belongs to another run than `0123456789ab`, or to another `status`, `evaluator` or `maxScore`: pass the arguments of the call that returned it, or omit `cursor` to start from the worst item
    invalid `cursor`: pass the `nextCursor` of a previous result unchanged, or omit it to start from the beginning
    invalid `cursor`: pass the `nextCursor` of a previous result unchanged, or omit it to start from the beginning
    invalid `cursor`: pass the `nextCursor` of a previous result unchanged, or omit it to start from the beginning
    ");
}

#[test]
fn the_trials_of_an_item_count_by_their_mean_and_stay_within_its_room() {
    let execution = |score: f64| {
        json!({ "status": "ok", "latencyMs": 1.0, "output": { "output": "x".repeat(20_000) },
            "evaluations": { "right": { "score": score, "reason": "y".repeat(5_000) } } })
    };
    let several = |key: &str, scores: &[f64]| json!({ "key": key, "runs": scores.iter().map(|score| execution(*score)).collect::<Vec<_>>() });
    let report = report(vec![
        several("even", &[0.6; 3]),
        several("mixed", &[1.0, 0.0, 0.2]),
        several("many", &[1.0; 40]),
    ]);
    let run = shown(&report, &ItemQuery::default());
    assert_eq!(keys_of(&run), ["mixed", "even", "many"]);
    assert!(size(&run) <= MAX_STRUCTURED, "{}", size(&run));
    let items = run.run["items"].as_array().unwrap();
    assert_eq!(items[0]["runs"].as_array().unwrap().len(), 3);
    let many = items[2]["runs"].as_array().unwrap().len();
    assert!(many < 40 && items[2]["leftOut"].to_string().contains(&format!("runs: {} of 40", 40 - many)));
}

#[test]
fn a_text_has_the_worst_items_first_and_the_errors_of_items_in_error() {
    let told = |wanted: &ItemQuery| text(&shown(&mixed(), wanted), MAX_TEXT);
    snapshot("run_of_all_kinds", &told(&ItemQuery::default()));
    let errors = ItemQuery { status: Some(ItemStatus::Error), ..ItemQuery::default() };
    snapshot("errors_of_a_run", &told(&errors));
    let first = ItemQuery { limit: Some(2), ..ItemQuery::default() };
    snapshot("first_items_of_a_run", &pretty(&shown(&mixed(), &first).run));
}

#[test]
fn a_replayed_run_says_so_and_its_items_have_no_hashes_of_messages() {
    let traffic = json!({ "replayed": 1, "live": 1, "diverged": "`messages[1]`: recorded `@you`", "asked": ["0123456789"] });
    let diverged = json!({ "key": "diverged", "passed": false, "output": { "output": "a" }, "traffic": traffic,
        "evaluations": { "right": { "score": 0.1 } } });
    let trial = json!({ "output": { "output": "a" }, "status": "ok", "latencyMs": 1.0, "evaluations": {},
        "traffic": { "replayed": 2, "asked": ["0123456789"] } });
    let mut report = report(vec![diverged, json!({ "key": "trials", "runs": [trial, trial] })]);
    report.summary.traffic = cobalt_core::report::TrafficSummary::of(&report.items);
    let shown = shown(&report, &ItemQuery::default());
    let text = text(&shown, MAX_TEXT);
    for line in [
        "- traffic: 2 items: 1 replayed, 1 live",
        "- traffic: 1 item diverged from the recording",
        "  - diverged from the recording: `` `messages[1]`: recorded `@you` ``",
    ] {
        assert!(text.lines().any(|said| said == line), "no {line}: {text}");
    }
    let (items, single) =
        (pretty(&shown.run["items"]), pretty(&item(&file(&report), "trials", 10_000).unwrap()));
    assert!(items.contains("replayed") && single.contains("replayed"), "{items} {single}");
    assert!(!items.contains("asked") && !single.contains("asked"), "{items} {single}");
}

#[test]
fn traces_are_outlined_in_a_list_and_whole_for_a_single_item_if_they_fit() {
    let span = |id: usize, text: &str| {
        json!({ "id": id.to_string(), "name": "search", "kind": "tool", "durationMs": 3.0,
            "tool": { "name": "search", "arguments": { "query": text } } })
    };
    let long = "x".repeat(2_000);
    let trial = |spans: Vec<Value>| {
        json!({ "output": { "output": "a" }, "status": "ok", "latencyMs": 1.0, "evaluations": {}, "trace": spans, "droppedSpans": 2,
            "metrics": { "retrieved": { "value": 7.0 } } })
    };
    let report = report(vec![
        json!({ "key": "short", "output": { "output": "a" }, "trace": [span(0, "rust")] }),
        json!({ "key": "long", "runs": [trial(vec![span(0, "rust")]), trial((0..100).map(|id| span(id, &long)).collect())] }),
    ]);
    let list = shown(&report, &ItemQuery::default()).run["items"].clone();
    assert!(!pretty(&list).contains("\"trace\""), "{}", pretty(&list));
    assert_eq!(list[0]["traceOutline"], "tool search({\"query\":\"rust\"}) (3 ms)");
    assert_eq!(list[1]["runs"][0]["metrics"]["retrieved"]["value"], 7.0);
    let outline = list[1]["runs"][1]["traceOutline"].as_str().unwrap();
    assert!(
        outline.contains("more spans …") && outline.ends_with("2 more spans that were not recorded"),
        "{outline}"
    );
    assert!(outline.len() < traces::IN_LIST, "{}", outline.len());
    assert_eq!(
        item(&file(&report), "short", MAX_STRUCTURED).unwrap().item["trace"][0]["tool"]["name"],
        "search"
    );
    let single = item(&file(&report), "long", 20_000).unwrap();
    assert!(single.item["runs"][1].get("trace").is_none() && size(&single) <= 20_000);
    assert!(single.item["runs"][1]["traceOutline"].as_str().unwrap().len() > 1_500, "{}", pretty(&single));
}

#[test]
fn transcripts_are_texts_in_a_list_and_whole_for_a_single_item_if_they_fit() {
    let transcript = |turns: usize, text: &str| {
        let turn =
            |number: usize| json!({ "message": format!("{number} {text}"), "reply": text, "latencyMs": 5 });
        json!({ "turns": (1..=turns).map(turn).collect::<Vec<_>>(), "end": "goal-met", "simulated": true })
    };
    let trial = |transcript: Value| json!({ "output": { "output": "a" }, "status": "ok", "latencyMs": 1.0, "evaluations": {}, "transcript": transcript });
    let long = "x".repeat(3_000);
    let report = report(vec![
        json!({ "key": "short", "output": { "output": "a" }, "transcript": transcript(1, "York") }),
        json!({ "key": "long", "runs": [trial(transcript(1, "York")), trial(transcript(4, &long))] }),
    ]);
    let list = shown(&report, &ItemQuery::default()).run["items"].clone();
    let short = "1 turn with a simulated user, goal met\n\nturn 1 (5 ms)\n  user: 1 York\n  agent: York";
    assert_eq!([&list[0]["transcriptText"], &list[1]["runs"][0]["transcriptText"]], [short, short]);
    assert!(!pretty(&list).contains("\"transcript\""), "{}", pretty(&list));
    let text = list[1]["runs"][1]["transcriptText"].as_str().unwrap();
    assert!(text.contains("\nturn 4 ") && text.len() < transcripts::IN_LIST, "{text}");
    assert_eq!(
        item(&file(&report), "short", MAX_STRUCTURED).unwrap().item["transcript"]["turns"][0]["reply"],
        "York"
    );
    let single = item(&file(&report), "long", 10_000).unwrap();
    assert!(single.item["runs"][1].get("transcript").is_none() && size(&single) <= 10_000);
    assert!(single.item["runs"][1]["transcriptText"].as_str().unwrap().len() > 2_000, "{}", pretty(&single));
}

#[test]
fn metrics_and_tables_of_a_run_that_do_not_fit_are_counted() {
    let mut report = mixed();
    let stats = serde_json::from_value::<cobalt_core::report::MetricStats>(json!({ "avg": 7.0 })).unwrap();
    report.summary.metrics =
        (0..1_000).map(|number| (format!("metric {number:04}"), stats.clone())).collect();
    let wide = json!({ "columns": vec!["a"; 5_000], "rows": [["a", vec![1.5; 5_000]]] });
    report.summary.tables = serde_json::from_value(json!({ "confusion": wide })).unwrap();
    report.summary.run_metrics = serde_json::from_value(json!({ "macro_f1": { "value": 0.7 } })).unwrap();
    let shown = shown(&report, &ItemQuery::default());
    assert!(size(&shown) <= MAX_STRUCTURED, "{}", size(&shown));
    assert_eq!(shown.run["summary"]["runMetrics"]["macro_f1"]["value"], 0.7);
    assert!(shown.run["summary"]["metrics"]["metric 0000"].is_object());
    assert!(shown.left_out.contains(&"summary.tables: 1 of 1".to_owned()), "{:?}", shown.left_out);
    assert!(text(&shown, MAX_TEXT).contains("\n- `macro_f1`: `0.7`\n"));
}

#[test]
fn a_long_item_is_cut_with_how_much_is_missing() {
    let report = report(vec![json!({
        "key": "long", "passed": false, "input": { "question": "why?", "document": "x".repeat(5_000) },
        "output": { "output": "y".repeat(5_000), "metadata": { "model": "small" } },
        "evaluations": { "right": { "score": 0.2, "reason": "z".repeat(5_000) } },
    })]);
    snapshot("long_item", &pretty(&item(&file(&report), "long", 1_500).unwrap()));
    snapshot("run_with_a_long_item", &text(&shown(&report, &ItemQuery::default()), MAX_TEXT));
}

#[test]
fn a_failed_item_has_its_input_expected_answer_and_output() {
    let item = |input: Value, right: f64| {
        json!({ "key": "a", "input": input, "output": { "output": "billing" },
            "evaluations": { "right": { "score": right, "reason": "another team" } } })
    };
    let told = |input: Value, right: f64| {
        text(&shown(&report(vec![item(input, right)]), &ItemQuery::default()), MAX_TEXT)
            .replace("\n  - ", " / ")
    };
    let whole = json!({ "id": "a", "input": "It is slow", "expected": "search", "level": 2 });
    let items = [
        told(whole, 0.1 + 0.2),
        told(json!({ "id": "a", "ticket": "It is slow" }), 0.499_999),
        told(json!({ "input": "It is slow" }), 0.666_666_7),
    ];
    let items = items.map(|text| text.lines().filter(|line| line.starts_with("- `a`")).collect::<String>());
    insta::assert_snapshot!(items.join("\n"), @r#"
    - `a` below pass mark in `right` 0.3: `another team` / input: `It is slow` / other fields: `{"level":2}` / expected: `search` / output: `billing`
    - `a` below pass mark in `right` 0.499999: `another team` / input: `{"ticket":"It is slow"}` / output: `billing`
    - `a` passed, lowest in `right` 0.667: `another team`
    "#);
}

#[test]
fn failed_items_come_before_the_metrics_and_neither_is_dropped_if_there_is_little_room() {
    let failed = |place: usize| {
        json!({ "key": format!("item-{place}"), "passed": false, "input": { "input": "x".repeat(500) },
            "output": { "output": "y".repeat(500) }, "evaluations": { "right": { "score": 0.0 } } })
    };
    let mut report = report((0..20).map(failed).collect());
    report.summary.scores = serde_json::from_value(json!({ "right": { "avg": 0.0 } })).unwrap();
    let shown = shown(&report, &ItemQuery::default());
    for room in [1_500, 3_000, MAX_TEXT] {
        let told = text(&shown, room);
        let at = |part: &str| told.find(part).unwrap_or_else(|| panic!("{room}, no {part}: {told}"));
        assert!(
            at("`item-0` below pass mark") < at("\n  - output: `yyy")
                && at("output: `yyy") < at("| `right` |")
        );
        assert!(at("- time: ") > at("`item-0`") && size(&told) <= room, "{room}: {}", size(&told));
    }
    // Items that do not fit in full have a line.
    assert!(
        text(&shown, MAX_TEXT).contains("\n- `item-14` below pass mark in `right` 0\n"),
        "{}",
        text(&shown, MAX_TEXT)
    );
}

/// The Markdown outside of code spans.
fn outside_of_code(markdown: &str) -> String {
    let (mut outside, mut rest) = (String::new(), markdown);
    while let Some(at) = rest.find('`') {
        outside += &rest[..at];
        let fence: String = rest[at..].chars().take_while(|character| *character == '`').collect();
        rest = &rest[at + fence.len()..];
        // A span ends at as many backticks, no more.
        let mut from = 0;
        let end = loop {
            let found =
                from + rest[from..].find('`').unwrap_or_else(|| panic!("a span is open: {fence}{rest}"));
            let run = rest[found..].len() - rest[found..].trim_start_matches('`').len();
            if run == fence.len() {
                break found;
            }
            from = found + run;
        };
        rest = &rest[end + fence.len()..];
    }
    outside + rest
}

#[test]
fn hostile_texts_stay_in_code_spans_however_they_are_cut() {
    for hostile in ["@you ", "``` @you\n# x", "`@you` ", "[x](http://evil) @you `", "<b>@you</b>|"] {
        for times in [1, 30, 3_000] {
            let long = hostile.repeat(times);
            let mut report = report(vec![
                scored(&long, false, 0.0, 0.1),
                json!({ "key": "e", "status": "error", "passed": false, "error": long, "evaluations": {} }),
            ]);
            report.name = long.clone();
            report.tags = vec![long.clone(); 40];
            report.summary.judge_models = vec![long.clone(); 3];
            report.summary.unpriced_models = vec![long.clone(); 3];
            report.items[0].runs[0].evaluations =
                serde_json::from_value(json!({ long.clone(): { "score": 0.0, "reason": long } })).unwrap();
            report.config.evaluators = vec![long.clone()];
            report.config.pass_marks = vec![0.5];
            report.summary.summary_errors = [(long.clone(), long.clone())].into();
            let text = text(&shown(&report, &ItemQuery::default()), MAX_TEXT);
            assert!(text.len() < 8_000, "{}", text.len());
            for line in text.lines() {
                let outside = outside_of_code(line);
                assert!(
                    !outside.contains('@') && !outside.contains("<b>") && !outside.contains("]("),
                    "{outside}\n{line}"
                );
            }
        }
    }
}

#[test]
fn any_run_is_shown_within_its_room() {
    for (filler, evaluators, thresholds, length) in [
        ("x", 1, 1, 1 << 16),
        ("\u{1}", 5, 5, 3_000),
        ("\"\\`", 5, 1_000, 3_000),
        ("質", 200, 5, 900),
        ("\"\n\u{1b}", 200, 1_000, 600),
    ] {
        let text = filler.repeat(length / filler.len());
        let names: Vec<_> = (0..evaluators).map(|at| format!("{at}{}", filler.repeat(100))).collect();
        let evaluation = |name: &String| {
            (name.clone(), json!({ "score": 0.2, "reason": text, "metadata": { "note": text } }))
        };
        let evaluations: Map<_, _> = names.iter().map(evaluation).collect();
        let item = |index: usize| {
            json!({ "key": format!("{index}{text}"), "passed": false, "input": { "a": text, text.clone(): [text] },
                "output": { "output": [text], "metadata": { "model": text } }, "evaluations": evaluations })
        };
        let mut report = report((0..2).map(item).collect());
        report.config.evaluators = names.clone();
        report.config.pass_marks = vec![0.5; names.len()];
        report.tags = vec![text.clone(); 100];
        let violation = |_| json!({ "category": "score", "metric": "avg", "expected": 0.5, "actual": 0.4, "message": text });
        let violations: Vec<_> = (0..thresholds).map(violation).collect();
        report.ci_status =
            serde_json::from_value(json!({ "passed": false, "summary": text, "violations": violations }))
                .unwrap();
        report.summary.summary_errors = names.iter().map(|name| (name.clone(), text.clone())).collect();
        let run = shown(&report, &ItemQuery::default());
        let said = super::text(&run, MAX_TEXT);
        assert!(size(&run) <= MAX_STRUCTURED && run.items_shown > 0, "{filler:?}: {} bytes", size(&run));
        assert!(size(&said) < 8_000, "{filler:?}: {}", size(&said));
        let item = super::item(&file(&report), &item_keys(&report.items)[0], 10_000).unwrap();
        assert!(size(&item) <= 10_000, "{filler:?}: {}", size(&item));
    }
}

#[test]
fn a_list_names_changed_files_and_only_an_item_alone_has_the_patch() {
    let mut changed = scored("good", true, 1.0, 1.0);
    let file =
        json!({ "path": "src/a.rs", "change": "changed", "addedLines": 1, "removedLines": 1, "bytes": 9 });
    changed["workspace"] =
        json!({ "files": [file], "addedLines": 1, "removedLines": 1, "patch": "-a\n+b\n" });
    let report = report(vec![changed]);
    let listed = super::item::listed_item(&report.items[0], "good", None, 10_000);
    assert_eq!(listed["workspace"]["files"][0]["path"], "src/a.rs");
    assert_eq!(listed["workspace"].get("patch"), None);
    assert_eq!(super::item::item(&report.items[0], "good", 10_000)["workspace"]["patch"], "-a\n+b\n");
}
