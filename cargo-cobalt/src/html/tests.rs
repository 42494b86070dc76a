//! The page with hostile agent output, as a browser reads it.

use std::fs;
use std::path::Path;
use std::process::Command;

use cobalt_core::report::{Report, RunVerdict};
use serde_json::{Value, json};

use super::html;
use super::page::{SCRIPT, STYLE, content_security_policy};
use crate::formats::fixtures::{conversation, ranking, replayed, retried, with_workspace};
use crate::results::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// Strings that try to escape their element or change the text direction around them.
const HOSTILE: [&str; 8] = [
    "</script><script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title = 'taken'\">",
    "<!-- <script> --> ]]>",
    "\u{202e}turned round\u{202c} مرحبا",
    "bell \u{7} escape \u{1b}[31m null \u{0}",
    "half of a pair: \\ud800, \\u003c/script>",
    "\" onload='x' &lt;b&gt; &amp;",
    "{{7*7}} ${7*7} `",
];

/// A report of items whose inputs, outputs, ids and reasons are these texts.
fn report(texts: &[&str]) -> Report {
    let item = |(index, text): (usize, &&str)| {
        json!({
            "index": index, "key": text, "passed": index > 0, "status": "ok", "latencyMs": 1.5,
            "input": { "id": text, "input": text, "expected": text, (*text): 12_345_678_901_234_567_890_u64 },
            "output": { "output": text, "metadata": { (*text): text } },
            "evaluations": { "constructor": { "score": 0.25, "reason": text }, (texts[0]): { "error": text } },
        })
    };
    let items: Vec<_> = texts.iter().enumerate().map(item).collect();
    serde_json::from_value(json!({
        "schema": 1, "id": texts[0], "name": texts[0], "timestamp": "2026-02-05T14:30:00.000Z", "tags": texts,
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["constructor", texts[0]], "strict": true },
        "summary": {
            "totalItems": items.len(), "totalDurationMs": 5, "avgLatencyMs": 1.5,
            "scores": { "constructor": { "avg": 0.25, "min": 0.25, "max": 0.25, "p50": 0.25, "p95": 0.25, "p99": 0.25 } },
        },
        "declaredAt": { "file": texts[0], "line": 3 }, "git": { "commit": texts[0], "dirty": true },
        "dataset": { "source": texts[0], "items": 1, "hash": "0" },
        "items": items,
    }))
    .unwrap()
}

fn results(reports: impl IntoIterator<Item = Report>) -> Results {
    let finished = |report| FinishedExperiment::of_report(report, None);
    Results::of(reports.into_iter().map(finished).collect())
}

fn with_thresholds(mut report: Report, thresholds: Value) -> Report {
    let status = json!({ "passed": true, "violations": [], "thresholds": thresholds, "summary": "as told" });
    report.ci_status = Some(serde_json::from_value(status).unwrap());
    (report.passed, report.verdict) = (true, RunVerdict::Passed);
    report
}

/// The text between `from` and the next `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The page without its style, its script and its data.
fn markup(page: &str) -> String {
    let page = page.replace(STYLE, "").replace(SCRIPT, "");
    let parts = page.split("<script type=\"application/json\"");
    parts.map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest)).collect()
}

#[test]
fn no_text_of_an_agent_becomes_an_element_or_turns_the_page() {
    let mut results = results([report(&HOSTILE)]);
    results.errors.extend(HOSTILE.map(str::to_owned));
    results.skipped.push((HOSTILE[0].to_owned(), HOSTILE[1].to_owned()));
    results.ignored.push((HOSTILE[0].to_owned(), HOSTILE[1].to_owned()));
    let page = html(&results);
    assert_eq!(page.matches("<script").count() - SCRIPT.matches("<script").count(), 2, "data, and our own");
    assert_eq!(page.to_lowercase().matches("</script").count(), 2);
    let markup = markup(&page);
    for foreign in ["<img", "<!--", "<b>", "\u{202e}", "\u{7}", "\u{1b}"] {
        assert!(!markup.contains(foreign), "{foreign:?}");
    }
    assert!(markup.contains("&lt;img src=x") && markup.contains("\\u{202e}turned round"));
}

#[test]
fn the_items_are_told_whole_to_the_script() {
    let report = report(&HOSTILE);
    let page = html(&results([report.clone()]));
    let data: Value = serde_json::from_str(between(&page, "id=\"items-0\">", "</script>")).unwrap();
    for (told, text) in data["items"].as_array().unwrap().iter().zip(HOSTILE) {
        assert_eq!(told["input"][text], 12_345_678_901_234_567_890_u64);
        assert_eq!([&told["input"]["input"], &told["runs"][0]["output"]], [text, text]);
        assert_eq!(told["runs"][0]["evaluations"]["constructor"]["reason"], text);
    }
    assert_eq!(data["evaluators"][0], json!(["constructor", 0.5]));
    assert!(page.len() < 2 * report.to_json().unwrap().len() + STYLE.len() + SCRIPT.len() + 20_000);
}

#[test]
fn the_page_may_run_its_own_script_only_and_fetch_nothing() {
    let page = html(&results([report(&HOSTILE)]));
    assert!(page.contains(&format!("\"{}\"", content_security_policy())), "{}", content_security_policy());
    assert!(content_security_policy().starts_with("default-src 'none'; style-src 'sha256-"));
    assert!(!content_security_policy().contains("unsafe"));
    let markup = markup(&page);
    for fetched in [" src=", "url(", "@import", "<link", "<iframe", " style=\"", "http:", "https:"] {
        let ours = markup.replace("&lt;img src=x", "");
        assert!(!ours.contains(fetched) && !STYLE.contains(fetched), "{fetched}");
    }
    assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("fetch("));
}

#[test]
fn what_did_not_come_to_its_end_fails_the_page_and_is_named() {
    let passed = || Report { passed: true, verdict: RunVerdict::Passed, ..report(&["a"]) };
    assert!(html(&results([passed()])).contains("<title>a passed</title>"));
    let place = Some(cobalt_core::report::SourceLocation { file: "tests/evals.rs".to_owned(), line: 7 });
    let broken =
        BrokenExperiment { name: "b".to_owned(), error: "no such file".to_owned(), declared_at: place };
    let page = html(&Results { broken: vec![broken], ..results([passed()]) });
    assert!(
        page.contains("<title>2 experiments failed</title>") && page.contains("1 passed, 1 could not be run")
    );
    assert!(page.contains("no such file") && page.contains("tests/evals.rs:7"));
    let cut_off = InterruptedRun {
        name: "c".to_owned(),
        id: "0123456789ab".to_owned(),
        has_saved_items: true,
        declared_at: None,
    };
    let page = html(&Results { interrupted: vec![cut_off], ..Results::default() });
    assert!(page.contains("c failed</title>") && page.contains("cargo cobalt run --resume 0123456789ab"));
    let page = html(&Results { errors: vec!["it ended early".to_owned()], ..results([passed()]) });
    assert!(page.contains("<title>a failed</title>") && page.contains("it ended early"));
    assert!(html(&Results::default()).contains("no experiment was run"));
}

#[test]
fn a_run_without_evaluated_thresholds_is_not_shown_as_passed() {
    let mut report = report(&["a"]);
    (report.config.strict, report.config.thresholds) = (false, vec!["constructor.avg>=0.5".to_owned()]);
    (report.partial, report.verdict) = (true, RunVerdict::NotEvaluated);
    let page = html(&results([report]));
    assert!(
        page.contains("<title>a not evaluated</title>") && page.contains("1 not evaluated"),
        "{}",
        markup(&page)
    );
    assert!(page.contains("(0 at pass marks, 1 error)") && !page.contains("> passed<"), "{}", markup(&page));
    let still_failed = vec![("b".to_owned(), "1 item in error in run `a` (x)".to_owned())];
    let page = html(&Results { still_failed, ..Results::default() });
    assert!(page.contains("still fails because of earlier results") && page.contains("failed</title>"));
}

#[test]
fn a_threshold_that_is_inconclusive_is_not_shown_as_met() {
    let open = json!({
        "name": "vs_baseline.right.drop<=0.02", "finding": "inconclusive", "passed": true, "againstBaseline": true,
        "message": "there is no baseline",
    });
    let met = json!({ "name": "right.avg>=0.5", "finding": "met", "passed": true, "figure": "0.75", "message": "so" });
    let page = html(&results([with_thresholds(report(&["a"]), json!([open, met]))]));
    let thresholds = between(&page, "<table class=\"thresholds\">", "</table>");
    assert_eq!(
        thresholds.matches(" met<").count() + thresholds.matches("</span>met<").count(),
        1,
        "{thresholds}"
    );
    assert!(thresholds.contains("badge odd") && thresholds.contains("there is no baseline"));
}

#[test]
fn a_summary_function_that_failed_is_among_the_grounds_and_listed_with_its_error() {
    let mut report = report(&["a"]);
    report.summary.summary_errors = [("con<b>".to_owned(), "no <i>labels".to_owned())].into();
    let markup = markup(&html(&results([report])));
    assert!(markup.contains("1 summary function failed"), "{markup}");
    let list = between(&markup, "<h3>Failed summary functions</h3>", "</ul>");
    assert!(list.contains("con&lt;b&gt;") && list.contains(": no &lt;i&gt;labels"), "{list}");
}

#[test]
fn a_replayed_run_marks_its_figures_and_tells_the_script_which_items_were_replayed() {
    let page = html(&results([serde_json::from_value(replayed()).unwrap()]));
    let markup = markup(&page);
    assert!(markup.contains("Latency, tokens and agent cost: 1 of 2 as recorded."), "{markup}");
    assert!(
        markup.contains("2 items: 1 replayed (recorded 2026-01-21), 1 live, live agent cost $0.030"),
        "{markup}"
    );
    let data: Value = serde_json::from_str(between(&page, "id=\"items-0\">", "</script>")).unwrap();
    let [one, other] = [&data["items"][0], &data["items"][1]];
    assert_eq!((&one["replayed"], one.get("diverged")), (&json!(true), None));
    assert_eq!((other.get("replayed"), &other["diverged"]), (None, &json!(true)));
    assert_eq!(one["runs"][0]["traffic"], "2 requests replayed (recorded 2026-01-21)");
    assert_eq!(other["runs"][0]["diverged"], "`messages[1]`: now <b>`x`</b>");
}

#[test]
fn a_run_says_what_was_retried_and_tells_the_script_which_items_were() {
    let page = html(&results([serde_json::from_value(retried()).unwrap()]));
    let line = "1 item, 2 transient failures; 1 item passed only after a retry";
    assert!(markup(&page).contains(&format!("<dt>Retried</dt><dd>{line}</dd>")), "{}", markup(&page));
    let data: Value = serde_json::from_str(between(&page, "id=\"items-0\">", "</script>")).unwrap();
    let [one, other] = [&data["items"][0], &data["items"][1]];
    assert_eq!((&one["retried"], other.get("retried")), (&json!(2), None));
    assert_eq!(one["runs"][0]["attempts"], "3, retried after: =busy <b> (2 times)");
    assert_eq!(other["runs"][0].get("attempts"), None);
    assert!(!html(&results([report(&["a"])])).contains("<dt>Retried</dt>"));
}

#[test]
fn a_run_whose_items_are_not_known_says_why() {
    let report = Report { items: Vec::new(), ..report(&["a"]) };
    let without_items = Some("the disk is full".to_owned());
    let finished = FinishedExperiment { without_items, ..FinishedExperiment::of_report(report, None) };
    let page = html(&Results::of(vec![finished]));
    assert!(page.contains("Item results are unavailable: <bdi>the disk is full</bdi>"));
    assert!(!page.contains("id=\"items-0\""));
}

#[test]
fn a_file_of_the_original_has_a_page() {
    let report = json!({
        "id": "5ea00522f3eb", "name": "old", "timestamp": "2026-02-05T14:30:00.000Z",
        "config": { "runs": 1, "concurrency": 2, "timeout": 1000, "evaluators": ["exact"] },
        "summary": { "totalItems": 1, "totalDurationMs": 9, "avgLatencyMs": 3, "scores": {} },
        "ciStatus": { "passed": false, "summary": "1 violation", "violations": [
            { "category": "exact", "metric": "avg", "expected": 1, "actual": 0.5, "message": "exact.avg is too low" },
        ] },
        "items": [{ "index": 0, "input": { "input": "x" }, "output": { "output": "y" }, "latencyMs": 3, "evaluations": {} }],
    });
    let page = html(&results([serde_json::from_value(report).unwrap()]));
    assert!(page.contains("exact.avg is too low") && page.contains("no score"));
}

#[test]
fn no_two_parts_of_a_page_are_landmarks_of_one_name() {
    let page = html(&results([report(&["a"]), Report { name: "b".to_owned(), ..report(&["a"]) }]));
    assert!(page.matches("aria-label=\"Scores\"").count() == 2 && !markup(&page).contains("role=\"region\""));
}

/// A headless browser, if one is installed.
fn browser() -> Option<Command> {
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let starts =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success());
    let Some(name) = known.into_iter().find(starts) else {
        eprintln!("skipped: Chromium is not installed");
        return None;
    };
    let mut command = Command::new(name);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    Some(command)
}

/// The page after its script has run and opened the given fragment.
fn drawn(mut browser: Command, folder: &Path, page: &str, opened: &str) -> String {
    fs::write(folder.join("page.html"), page).unwrap();
    let address = format!("file://{}{opened}", folder.join("page.html").display());
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = browser.args([profile, address]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_browser_draws_little_for_a_link_to_an_item_far_down() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<_> = (0..1000).map(|number| format!("item-{number}")).collect();
    let report = report(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let dom = drawn(browser, folder.path(), &html(&results([report])), "#items-of-0/item-987");
    assert_eq!(dom.matches("class=\"item\"").count(), 1, "it is found by search");
    assert!(between(&dom, "<tr class=\"detail\">", "</tr>").contains("item-987"));
}

#[test]
fn a_browser_shows_a_run_without_a_score_as_such_and_not_as_low() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut report = report(&["a"]);
    report.items[0].runs = vec![report.items[0].runs[0].clone(); 2];
    let dom = drawn(browser, folder.path(), &html(&results([report])), "#items-of-0/a");
    let runs: Vec<_> = dom.split("<details class=\"run\"").skip(1).collect();
    assert!(
        runs.len() == 2
            && runs.iter().all(|run| between(run, "Trial ", "</summary>").contains("scoring error")),
        "{dom}"
    );
}

#[test]
fn a_browser_shows_which_items_were_replayed_and_where_they_diverged() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = html(&results([serde_json::from_value(replayed()).unwrap()]));
    let dom = drawn(browser, folder.path(), &page, "#items-of-0/item-1");
    assert!(dom.contains("250 ms<small> as recorded</small>"), "{dom}");
    assert!(dom.contains("data-filter=\"replayed\"") && dom.contains("data-filter=\"diverged\""), "{dom}");
    let opened = between(&dom, "<tr class=\"detail\">", "</tr>");
    assert!(
        opened.contains(
            "Model traffic: 1 request replayed (recorded 2026-01-21), 3 live, live agent cost $0.030"
        ),
        "{opened}"
    );
    assert!(opened.contains("now &lt;b&gt;`x`&lt;/b&gt;"), "{opened}");
}

#[test]
fn a_browser_shows_which_items_were_retried_and_why() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = html(&results([serde_json::from_value(retried()).unwrap()]));
    let dom = drawn(browser, folder.path(), &page, "#items-of-0/item-0");
    assert_eq!(dom.matches("passed</span><small> retried</small>").count(), 1, "{dom}");
    assert!(dom.contains("data-filter=\"retried\""), "{dom}");
    let opened = between(&dom, "<tr class=\"detail\">", "</tr>");
    assert!(opened.contains("3, retried after: =busy &lt;b&gt; (2 times)"), "{opened}");
}

#[test]
fn a_browser_shows_a_conversation_and_tells_the_mistakes_of_the_user_from_those_of_the_agent() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = html(&results([serde_json::from_value(conversation()).unwrap()]));
    assert!(
        markup(&page)
            .contains("<dt>Simulated users</dt><dd>3 calls, 1,000 tokens, user cost $0.25 (gpt-4o)</dd>")
    );
    let dom = drawn(browser, folder.path(), &page, "#items-of-0/item-0");
    let opened = between(&dom, "<section class=\"conversation\"", "</section>");
    for told in [
        "Conversation: 2 turns with a simulated user, error",
        "Simulated user: 3 calls, 1,000 tokens, user cost $0.25 (gpt-4o)",
        "Mistake of the simulated user, not of the agent: turn 2, told the answer",
        "not checked for mistakes by a model: no key",
        "Turn 1 <small>420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls</small>",
        "Hello &lt;b&gt;",
        "missed</span> <code dir=\"auto\">contains \"Friday\"</code>",
        "met</span> <code dir=\"auto\">calls seats</code>",
        "aria-label=\"Error, turn 2\"",
    ] {
        assert!(opened.contains(told), "{told}: {opened}");
    }
}

#[test]
fn the_expectations_of_turns_that_were_not_played_are_shown_after_the_turns() {
    let mut file = conversation();
    let expected = "turn 3, which was not played: contains \"<b>York\"";
    file["items"][0]["transcript"]["unplayed"] = json!([{ "expected": expected, "passed": false }]);
    let page = html(&results([serde_json::from_value(file).unwrap()]));
    let data: Value = serde_json::from_str(between(&page, "id=\"items-0\">", "</script>")).unwrap();
    let unplayed = &data["items"][0]["runs"][0]["transcript"]["unplayed"];
    assert_eq!(unplayed, &json!([{ "expected": expected, "passed": false }]));
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dom = drawn(browser, folder.path(), &page, "#items-of-0/item-0");
    let conversation = between(&dom, "<section class=\"conversation\"", "</section>");
    let (_, unplayed) = conversation.split_once("</ol><h5>Turns that were not played</h5>").unwrap();
    assert!(unplayed.contains("aria-label=\"Expectations of turns that were not played\""), "{unplayed}");
    assert!(unplayed.contains("missed</span> <code dir=\"auto\">turn 3, which was not played"), "{unplayed}");
    assert!(unplayed.contains("contains \"&lt;b&gt;York\""), "{unplayed}");
}

#[test]
fn a_browser_counts_the_further_files_of_a_workspace() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut file = with_workspace();
    file["items"][0]["workspace"]["omittedFiles"] = json!(1);
    let page = html(&results([serde_json::from_value(file).unwrap()]));
    let dom = drawn(browser, folder.path(), &page, "#items-of-0/item-0");
    let workspace = between(&dom, "<summary>Workspace: 2 files changed, +1 −1</summary>", "</details>");
    assert!(workspace.contains("</table><p>and 1 more file</p>"), "{workspace}");
}

#[test]
fn a_browser_draws_the_items_and_opens_the_one_of_a_link() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let report = report(&HOSTILE);
    let name = &report.case_names()[1];
    let dom =
        drawn(browser, folder.path(), &html(&results([report.clone()])), &format!("#items-of-0/{name}"));
    assert_eq!(dom.matches("class=\"item\"").count(), HOSTILE.len(), "{dom}");
    let opened = between(&dom, "<tr class=\"detail\">", "</tr>");
    assert!(opened.contains("&lt;img src=x") && opened.contains("12345678901234567890"), "{opened}");
    assert!(!opened.contains("<img") && !dom.contains("<title>taken"));
}

/// A run that measured something, with an item whose agent called a model and a tool.
fn traced() -> Report {
    let mut file = crate::formats::fixtures::report(&[crate::formats::fixtures::item(0, &json!("a"), 1.0)]);
    file["items"][0]["trace"] = json!([
        { "id": "1", "name": "research", "kind": "agent", "durationMs": 1500 },
        { "id": "2", "parent": "1", "name": "chat", "kind": "model", "durationMs": 900, "model": { "asked": "gpt-4o" } },
        { "id": "3", "parent": "1", "name": "t", "kind": "tool", "durationMs": 3, "status": "error", "error": "<b>no</b>",
          "tool": { "name": "search", "arguments": { "q": HOSTILE[0] } } },
    ]);
    file["items"][0]["droppedSpans"] = json!(4);
    file["items"][0]["metrics"] = json!({ "retrieved": { "value": 7, "unit": "documents" } });
    file["summary"]["metrics"] = json!({ "retrieved": { "avg": 7, "min": 7, "max": 7, "count": 1, "unit": "documents",
        "ci95": { "low": 6, "high": 8 } } });
    file["summary"]["runMetrics"] = json!({ "macro_f1": { "value": 0.71 } });
    file["summary"]["tables"] =
        json!({ "confusion": { "label": "expected", "columns": ["<b>", "no"], "rows": [["<b>", [1, 2]]] } });
    serde_json::from_value(file).unwrap()
}

#[test]
fn metrics_and_tables_of_a_run_are_shown_without_the_script() {
    let markup = markup(&html(&results([traced()])));
    assert!(markup.contains("<dt><bdi>macro_<wbr>f1</bdi></dt><dd>0.71</dd>"), "{markup}");
    let row = between(&markup, "<bdi>retrieved</bdi>", "</tr>");
    assert!(row.contains("<small>documents</small>") && row.contains("6–8"), "{row}");
    let table = between(&markup, "<table class=\"run-table\">", "</table>");
    assert!(table.contains("&lt;b&gt;") && table.contains("<td class=\"number\">2</td>"), "{table}");
}

#[test]
fn a_browser_shows_a_trace_with_a_failed_span_as_nested_lists() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dom = drawn(browser, folder.path(), &html(&results([traced()])), "#items-of-0/item-0");
    let opened = between(&dom, "<tr class=\"detail\">", "</tr>");
    let trace = opened.split_once("<details class=\"trace\" open=\"\">").unwrap().1;
    assert!(trace.contains("Trace: 7 spans") && trace.contains("4 spans not shown here."), "{trace}");
    let agent = between(trace, "agent research (1.5 s)", "</ul>");
    assert!(
        agent.contains("<ul><li><div><bdi class=\"span ok\">model gpt-4o (900 ms)</bdi></div></li>"),
        "{agent}"
    );
    assert!(
        agent.contains("tool search (3 ms) failed: &lt;b&gt;no&lt;/b&gt;")
            && !agent.contains("title = 'taken'"),
        "{agent}"
    );
    assert!(opened.contains("<dt>retrieved</dt><dd>7 documents</dd>"), "{opened}");
}

#[test]
fn variants_are_compared_before_their_runs_and_no_label_leaves_its_element() {
    let mut results = results([report(&["a"])]);
    results.rankings = vec![ranking(&["mini", HOSTILE[1]])];
    let page = html(&results);
    let (before, after) = page.split_once("2 variants compared").unwrap();
    assert!(!before.contains("Differences beyond noise") && after.contains("Differences beyond noise"));
    assert!(after.contains("aria-label=\"Compared variants\"") && after.contains("Pareto front"), "{after}");
    assert!(page.contains("&lt;img src=x onerror=") && !page.contains("<img src=x"), "{page}");
}

#[test]
fn the_data_of_an_item_have_what_its_agent_changed() {
    let report = serde_json::from_value(with_workspace()).unwrap();
    let page = html(&results([report]));
    let data = between(&page, "id=\"items-0\">", "</script>");
    let data: Value = serde_json::from_str(data).unwrap();
    let run = &data["items"][0]["runs"][0];
    assert_eq!(run["changes"], "1 file changed, +1 −1");
    assert_eq!(run["workspace"]["files"][0]["path"], "src/<b>.rs");
    assert!(run["workspace"]["patch"].as_str().unwrap().contains("+a </script> b"));
    assert!(!page.contains("+a </script>"));
}
