//! The file conforms to the JUnit schema, and its counts are correct.

use std::collections::BTreeMap;

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};

use super::junit;
use crate::formats::fixtures::{broken, finished, item, replayed, report, results, retried};
use crate::results::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// An element of the schema `junit-10.xsd`, as far as we write it: its name, required attributes, optional attributes, and child
/// elements. Several child elements may come in any order.
type Rule = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const SCHEMA: [Rule; 9] = [
    ("testsuites", &[], &["name", "time", "tests", "failures", "errors"], &["testsuite"]),
    (
        "testsuite",
        &["name", "tests", "failures", "errors"],
        &["group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"],
        &["testsuite", "properties", "testcase", "system-out", "system-err"],
    ),
    ("properties", &[], &[], &["property"]),
    ("property", &["name", "value"], &[], &[]),
    (
        "testcase",
        &["name"],
        &["time", "classname", "group"],
        &["skipped", "error", "failure", "system-out", "system-err"],
    ),
    ("failure", &[], &["type", "message"], &[]),
    ("error", &[], &["type", "message"], &[]),
    ("skipped", &[], &["type", "message"], &[]),
    ("system-out", &[], &[], &[]),
];

/// An element of a file.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    inside: Vec<Element>,
}

impl Element {
    fn open(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = quick_xml::escape::unescape(&attribute.value).unwrap().into_owned();
            (attribute.key.as_ref().to_owned(), value)
        });
        let name = start.name().as_ref().to_owned();
        Self { name, attributes: attributes.collect(), text: String::new(), inside: Vec::new() }
    }

    /// Asserts that the element and its children conform to the schema.
    fn assert_valid(&self) {
        let rule = SCHEMA.iter().find(|(name, ..)| *name == self.name);
        let (_, required, optional, inside) = rule.unwrap_or_else(|| panic!("no element `{}`", self.name));
        for name in *required {
            assert!(self.attributes.contains_key(*name), "`{}` lacks `{name}`", self.name);
        }
        for name in self.attributes.keys() {
            let is_known = required.contains(&&**name) || optional.contains(&&**name);
            assert!(is_known, "`{}` has an attribute `{name}`", self.name);
        }
        if let Some(time) = self.attributes.get("time") {
            assert!(time.chars().all(|character| character.is_ascii_digit() || character == '.'), "{time}");
        }
        for element in &self.inside {
            assert!(inside.contains(&&*element.name), "`{}` has `{}` in it", self.name, element.name);
            element.assert_valid();
        }
    }

    fn get(&self, attribute: &str) -> &str {
        &self.attributes[attribute]
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.inside.iter().filter(move |element| element.name == name)
    }

    /// The test cases, each by its name and outcome.
    fn cases(&self) -> Vec<String> {
        let what = |case: &Self| match case.inside.first() {
            Some(Self { name, attributes, .. }) if name == "failure" || name == "error" => {
                attributes["type"].clone()
            }
            Some(Self { name, .. }) if name == "skipped" => "skipped".to_owned(),
            _ => "passed".to_owned(),
        };
        self.all("testcase").map(|case| format!("{} {}", case.get("name"), what(case))).collect()
    }
}

/// Parses a file and checks it against the schema and its own counts.
fn read(text: &str) -> Element {
    let root = parse(text);
    root.assert_valid();
    let count =
        |suite: &Element, name: &str| suite.all("testcase").filter(|case| case.all(name).count() > 0).count();
    for suite in root.all("testsuite") {
        assert_eq!(suite.get("tests"), suite.all("testcase").count().to_string());
        assert_eq!(suite.get("failures"), count(suite, "failure").to_string());
        assert_eq!(suite.get("errors"), count(suite, "error").to_string());
        assert_eq!(suite.get("skipped"), count(suite, "skipped").to_string());
    }
    for name in ["tests", "failures", "errors"] {
        let sum: usize = root.all("testsuite").map(|suite| suite.get(name).parse::<usize>().unwrap()).sum();
        assert_eq!(root.get(name), sum.to_string());
    }
    root
}

fn parse(text: &str) -> Element {
    let is_allowed = |character: char| matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_allowed), "a character that XML cannot hold: {text:?}");
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    loop {
        let closed = match reader.read_event().unwrap() {
            Event::Start(start) => {
                open.push(Element::open(&start));
                continue;
            }
            Event::Empty(start) => Element::open(&start),
            Event::Text(content) => {
                open.iter_mut().rev().take(1).for_each(|element| element.text.push_str(&content));
                continue;
            }
            Event::GeneralRef(entity) => {
                let text = format!("&{};", &*entity);
                let character = quick_xml::escape::unescape(&text).unwrap().into_owned();
                open.last_mut().unwrap().text.push_str(&character);
                continue;
            }
            Event::End(_) => open.pop().unwrap(),
            Event::Eof => panic!("the root is not closed"),
            _ => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.inside.push(closed),
            None => return closed,
        }
    }
}

fn threshold(name: &str, finding: &str, passed: bool) -> Value {
    json!({ "name": name, "finding": finding, "passed": passed, "message": format!("{name} is {finding}") })
}

#[test]
fn low_scores_are_failures_and_what_could_not_be_measured_are_errors() {
    let unscored = json!({ "right": { "error": "the judge was silent" } });
    let mut without_score = item(4, &json!("c"), 0.0);
    without_score["evaluations"] = unscored;
    let items = [
        item(0, &json!("a"), 1.0),
        item(1, &json!("b"), 0.29),
        broken(2, "timeout", "it took longer than 1s"),
        broken(3, "error", "the agent broke"),
        without_score,
    ];
    let mut report = report(&items);
    report["config"]["strict"] = json!(true);
    let root = read(&junit(&results(vec![report])));
    let suite = root.all("testsuite").next().unwrap();
    assert_eq!(
        suite.cases(),
        [
            "desk::item-0 passed",
            "desk::item-1 low-score",
            "desk::0002 timeout",
            "desk::0003 agent-error",
            "desk::item-4 evaluation-error",
        ]
    );
    assert_eq!((suite.get("failures"), suite.get("errors"), suite.get("time")), ("1", "3", "1.500"));
    let low = suite.all("testcase").nth(1).unwrap();
    assert_eq!((low.get("classname"), low.get("time")), ("desk", "0.250"));
    assert_eq!(low.inside[0].get("message"), "right 0.29, below the pass mark of 0.5");
    assert!(low.inside[0].text.contains("output: \"b\""), "{low:?}");
    let unscored = suite.all("testcase").nth(4).unwrap();
    assert_eq!(unscored.inside[0].get("message"), "right gave no score: the judge was silent");
}

#[test]
fn a_summary_function_that_failed_is_a_case_with_its_error() {
    let mut report = report(&[item(0, &json!("a"), 1.0)]);
    report["passed"] = json!(false);
    report["verdict"] = json!("failed");
    report["declaredAt"] = json!({ "file": "tests/evals.rs", "line": 7 });
    report["summary"]["summaryErrors"] = json!({ "confusion matrix": "no labels\nin `b`" });
    let root = read(&junit(&results(vec![report])));
    let suite = root.all("testsuite").next().unwrap();
    assert_eq!(suite.cases(), ["desk::item-0 passed", "desk::summaries::confusion-matrix summary-error"]);
    let failed = &suite.all("testcase").nth(1).unwrap().inside[0];
    assert_eq!(failed.get("message"), "no labels\\nin `b`");
    assert!(failed.text.contains("declared at tests/evals.rs:7"), "{failed:?}");
}

#[test]
fn what_was_replayed_is_in_the_properties_and_in_the_text_of_each_item() {
    let root = read(&junit(&results(vec![replayed()])));
    let suite = root.all("testsuite").next().unwrap();
    let properties = suite.all("properties").next().unwrap();
    let get =
        |name: &str| properties.all("property").find(|it| it.get("name") == name).map(|it| it.get("value"));
    let names = ["items.replayed", "items.live", "items.diverged", "requests.replayed", "requests.live"];
    assert_eq!(names.map(get), ["1", "1", "1", "3", "3"].map(Some));
    assert_eq!((get("requests.unattributed"), get("live_cost.usd")), (Some("2"), Some("0.03")));
    assert_eq!(get("recorded"), Some("2026-01-21T09:00:00.000Z"));
    let texts: Vec<_> = suite.all("testcase").map(|case| &case.inside[0].text).collect();
    assert!(texts[0].contains("traffic: replayed (recorded 2026-01-21)"), "{texts:?}");
    assert!(
        texts[1].contains("replayed in part") && texts[1].contains("diverged: `messages[1]`"),
        "{texts:?}"
    );
}

#[test]
fn metrics_are_in_the_properties_and_those_of_an_item_in_its_text() {
    let mut report = report(&[item(0, &json!("a"), 1.0)]);
    report["items"][0]["metrics"] = json!({ "retrieved": { "value": 7, "unit": "documents" } });
    report["summary"]["metrics"] = json!({ "retrieved": { "avg": 7.5, "total": 15 } });
    report["summary"]["runMetrics"] = json!({ "macro_f1": { "value": 0.71 } });
    let root = read(&junit(&results(vec![report])));
    let suite = root.all("testsuite").next().unwrap();
    let properties = suite.all("properties").next().unwrap();
    let get =
        |name: &str| properties.all("property").find(|it| it.get("name") == name).map(|it| it.get("value"));
    let names = ["metric.retrieved.avg", "metric.retrieved.total", "run_metric.macro_f1"];
    assert_eq!(names.map(get), ["7.5", "15", "0.71"].map(Some));
    let text = &suite.all("testcase").next().unwrap().inside[0].text;
    assert!(text.contains("metrics: retrieved 7 documents"), "{text}");
}

#[test]
fn what_was_retried_is_in_the_properties_and_in_the_text_of_each_item() {
    let properties = |report| {
        let root = read(&junit(&results(vec![report])));
        let suite = root.all("testsuite").next().unwrap();
        let properties = suite.all("properties").next().unwrap().all("property");
        let properties: Vec<_> =
            properties.map(|it| (it.get("name").to_owned(), it.get("value").to_owned())).collect();
        (properties, suite.all("testcase").map(|case| case.inside[0].text.clone()).collect::<Vec<_>>())
    };
    let (all, texts) = properties(retried());
    for (name, value) in
        [("items.retried", "1"), ("items.passed_after_retry", "1"), ("attempts.retried", "2")]
    {
        assert!(all.contains(&(name.to_owned(), value.to_owned())), "{name}: {all:?}");
    }
    assert!(texts[0].contains("attempts: 3, retried after: =busy <b> (2 times)"), "{texts:?}");
    assert!(!texts[1].contains("attempts"), "{texts:?}");
    let (all, _) = properties(report(&[item(0, &json!("a"), 1.0)]));
    assert!(all.iter().all(|(name, _)| !name.contains("retr")), "{all:?}");
}

#[test]
fn thresholds_are_test_cases_and_one_that_noise_hides_is_not_met() {
    let mut report = report(&[item(0, &json!("a"), 1.0)]);
    report["ciStatus"] = json!({ "passed": false, "violations": [], "summary": "", "thresholds": [
        threshold("score.avg>=0.8", "met", true),
        threshold("score.min>=0.8", "missed", false),
        threshold("score.drop<=0", "inconclusive", true),
        threshold("right.drop<=0", "inconclusive", false),
    ] });
    report["declaredAt"] = json!({ "file": "tests/evals.rs", "line": 24 });
    let root = read(&junit(&results(vec![report])));
    let suite = root.all("testsuite").next().unwrap();
    assert_eq!(suite.get("file"), "tests/evals.rs");
    assert_eq!(
        suite.cases()[1..],
        [
            "desk::thresholds::score.avg>=0.8 passed",
            "desk::thresholds::score.min>=0.8 threshold",
            "desk::thresholds::score.drop<=0 skipped",
            "desk::thresholds::right.drop<=0 inconclusive",
        ]
    );
    let missed = suite.all("testcase").nth(2).unwrap();
    assert!(missed.inside[0].text.ends_with(" at tests/evals.rs:24"), "{missed:?}");
}

#[test]
fn a_file_of_the_original_shows_the_thresholds_that_were_missed() {
    let mut report = report(&[item(0, &json!("a"), 1.0)]);
    let violation =
        json!({ "category": "right", "metric": "avg", "expected": 0.9, "actual": 0.8, "message": "too low" });
    report["ciStatus"] = json!({ "passed": false, "violations": [violation], "summary": "" });
    let root = read(&junit(&results(vec![report])));
    let cases = root.all("testsuite").next().unwrap().cases();
    assert_eq!(cases[1], "desk::thresholds::right.avg threshold");
}

#[test]
fn nothing_that_was_not_run_or_not_kept_is_left_out_or_shown_as_passed() {
    let unsaved =
        FinishedExperiment { without_items: Some("the disk is full".to_owned()), ..finished(report(&[])) };
    let results = Results {
        experiments: vec![unsaved],
        rankings: Vec::new(),
        broken: vec![BrokenExperiment {
            name: "sums".to_owned(),
            error: "no data".to_owned(),
            declared_at: None,
        }],
        interrupted: vec![InterruptedRun {
            name: "long".to_owned(),
            id: "aaaaaaaaaaaa".to_owned(),
            has_saved_items: true,
            declared_at: None,
        }],
        ignored: vec![("judged".to_owned(), "OPENAI_API_KEY".to_owned())],
        skipped: vec![("idle".to_owned(), "nothing has changed".to_owned())],
        still_failed: vec![("idle".to_owned(), "1 item in error in run `a` (x)".to_owned())],
        errors: vec!["`trial/evals` was ended: signal: 6".to_owned()],
        warnings: Vec::new(),
    };
    let root = read(&junit(&results));
    let cases: Vec<_> = root.all("testsuite").flat_map(Element::cases).collect();
    assert_eq!(
        cases,
        [
            "desk::items no-results",
            "sums broken",
            "long cut-off",
            "judged skipped",
            "idle skipped",
            "idle still-failed",
            "error 1 error",
        ]
    );
}

#[test]
fn a_partial_run_of_a_gated_experiment_has_its_thresholds_skipped_and_its_verdict_told() {
    let mut report = report(&[item(0, &json!("a"), 0.0), item(1, &json!("b"), 1.0)]);
    report["config"]["thresholds"] = json!(["right.avg>=0.8"]);
    (report["partial"], report["passed"]) = (json!(true), json!(true));
    let root = read(&junit(&results(vec![report])));
    let suite = root.all("testsuite").next().unwrap();
    assert_eq!(
        suite.cases(),
        ["desk::k0 passed", "desk::k1 passed", "desk::thresholds::right.avg>=0.8 skipped"]
    );
    let property = |name: &str| {
        let mut properties = suite.all("properties").flat_map(|properties| properties.all("property"));
        properties.find(|property| property.get("name") == name).unwrap().get("value").to_owned()
    };
    assert_eq!(property("verdict"), "not evaluated");
    assert_eq!(
        (property("items.at_pass_marks"), property("items.below_pass_mark")),
        ("1".to_owned(), "1".to_owned())
    );
}

#[test]
fn a_run_that_did_not_pass_is_not_shown_as_if_it_had() {
    let mut report = report(&[item(0, &json!("a"), 1.0)]);
    report["passed"] = json!(false);
    let root = read(&junit(&results(vec![report])));
    let cases = root.all("testsuite").next().unwrap().cases();
    assert_eq!(cases, ["desk::item-0 passed", "desk failed"]);
}

#[test]
fn test_cases_of_two_experiments_of_one_name_are_told_apart() {
    let one = || report(&[item(0, &json!("a"), 1.0)]);
    let root = read(&junit(&results(vec![one(), one()])));
    let class = |suite: &Element| suite.inside.last().unwrap().get("classname").to_owned();
    assert_eq!(root.all("testsuite").map(class).collect::<Vec<_>>(), ["desk", "desk (2)"]);
}

proptest! {
    #[test]
    fn whatever_agents_write_the_file_can_be_read(name in ".+", text in any::<String>(), odd in ".*[\u{fffe}\u{0}\u{1b}]]>") {
        let mut low = item(0, &json!(odd), 0.0);
        low["input"]["id"] = json!(text);
        low["evaluations"]["right"]["reason"] = json!(text);
        let mut report = report(&[low, broken(1, "error", &text), item(2, &json!(text), 1.0)]);
        report["name"] = json!(name);
        report["ciStatus"] = json!({
            "passed": false, "violations": [], "summary": "", "thresholds": [threshold(&odd, "missed", false)],
        });
        let root = read(&junit(&results(vec![report])));
        prop_assert_eq!(root.get("tests"), "4");
    }
}
