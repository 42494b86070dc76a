//! Experiments run as values.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cobalt::{Dataset, Error, ExactMatch, Experiment, Report};
use serde_json::json;

use crate::sandbox::{Sandbox, fixture, numbered};

#[test]
fn without_a_runtime_the_error_says_how_to_get_one() {
    let sandbox = Sandbox::with_items(numbered(2, 0));
    let finished = sandbox.program(fixture!("values")).args(["without-a-runtime"]).run().code(1);
    finished.stderr_has(&["experiment `values` needs a tokio runtime", "#[tokio::main]"]);
    assert!(!sandbox.path(".cobalt").exists());
}

#[test]
fn the_report_is_what_stands_in_the_result_file() {
    let sandbox = Sandbox::with_items(numbered(5, 1));
    let finished = sandbox.program(fixture!("values")).args(["current-thread"]).run().code(0);
    let returned: Report = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(returned, sandbox.report());
    assert_eq!(returned.items.len(), 5);
}

#[test]
fn a_runtime_of_one_thread_survives_plain_agents_that_hang() {
    let mut items = numbered(6, 1);
    items[2]["act"] = json!("hang");
    let sandbox = Sandbox::with_items(items);
    let program =
        sandbox.program(fixture!("values")).args(["current-thread-plain"]).env("E2E_TIMEOUT_MS", 100);
    let finished = program.run().code(0);
    assert!(finished.took < Duration::from_secs(5), "{finished}");
    let report = sandbox.report();
    assert_eq!((report.summary.successful_items, report.summary.timeouts), (5, 1));
}

#[test]
fn dropping_a_run_cancels_its_agents_and_keeps_what_is_finished() {
    let mut items = numbered(6, 0);
    items[4..].iter_mut().for_each(|item| item["act"] = json!("hang-if-broken"));
    let sandbox = Sandbox::with_items(items);
    sandbox.program(fixture!("values")).args(["dropped"]).env("E2E_BROKEN", 1).run().code(0);
    let calls = sandbox.calls();
    let dropped = calls.iter().position(|call| call == "dropped").unwrap();
    let cancelled = calls[dropped..].iter().filter(|call| call.starts_with("cancelled ")).count();
    assert_eq!(cancelled, 2, "{calls:?}");
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    sandbox.program(fixture!("values")).args(["current-thread"]).env("COBALT_RESUME", &id).run().code(0);
    assert_eq!(sandbox.starts().len(), 2);
}

#[test]
fn an_evaluator_that_panics_as_it_is_cancelled_leaves_nobody_waiting() {
    let sandbox = Sandbox::with_items(numbered(3, 0));
    let finished = sandbox.program(fixture!("values")).args(["clumsy"]).run().code(0);
    assert!(finished.took < Duration::from_secs(10), "{finished}");
    let summary = sandbox.report().summary;
    assert_eq!((summary.successful_items, summary.eval_errors), (3, 3));
}

#[tokio::test]
async fn progress_counts_executions_up_to_all_of_them() {
    let dataset = Dataset::from_items((0..4).map(|n| cobalt::item! { "input": n, "answer": n }));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let report = Experiment::new("counted", dataset)
        .evaluator(ExactMatch::new("exact", "answer"))
        .runs(3)
        .save(false)
        .on_progress(move |done, total| sink.lock().unwrap().push((done, total)))
        .run(|item: cobalt::Item| async move { item["input"].clone() })
        .await
        .unwrap();
    assert!(report.passed);
    let expected: Vec<_> = (1..=12).map(|done| (done, 12)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_progress_function_that_panics_costs_no_results() {
    let dataset = Dataset::from_items((0..4).map(|n| cobalt::item! { "input": n, "answer": n }));
    let report = Experiment::new("unlucky", dataset)
        .evaluator(ExactMatch::new("exact", "answer"))
        .save(false)
        .on_progress(|_, _| panic!("the progress handler fails"))
        .run(|item: cobalt::Item| async move { item["input"].clone() })
        .await
        .unwrap();
    assert_eq!(report.items.len(), 4);
}

#[tokio::test]
async fn as_many_items_at_a_time_as_there_are_can_be_asked_for() {
    let dataset = Dataset::from_items((0..3).map(|n| cobalt::item! { "input": n, "answer": n }));
    let report = Experiment::new("unlimited", dataset)
        .evaluator(ExactMatch::new("exact", "answer"))
        .concurrency(usize::MAX)
        .save(false)
        .run(|item: cobalt::Item| async move { item["input"].clone() })
        .await
        .unwrap();
    assert_eq!(report.summary.passed_items, 3);
}

#[tokio::test]
async fn the_time_until_a_panic_counts_for_plain_and_async_agents() {
    let patience = Duration::from_millis(30);
    let experiment = || {
        let dataset = Dataset::from_items([cobalt::item! { "input": 1 }]);
        Experiment::new("late panic", dataset).evaluator(ExactMatch::new("exact", "input")).save(false)
    };
    let plain = move |_: cobalt::Item| -> String {
        std::thread::sleep(patience);
        panic!("too late")
    };
    let patient = move |_: cobalt::Item| async move {
        tokio::time::sleep(patience).await;
        if patience > Duration::ZERO {
            panic!("too late")
        }
        "never"
    };
    let reports = [experiment().run(plain).await.unwrap(), experiment().run(patient).await.unwrap()];
    for report in reports {
        assert_eq!(report.items[0].error(), Some("panicked: too late"));
        assert!(report.items[0].latency_ms() >= 30.0, "{}", report.items[0].latency_ms());
    }
}

#[tokio::test]
async fn an_experiment_that_makes_no_sense_is_an_error_that_says_what_to_change() {
    let items = || Dataset::from_items([cobalt::item! { "input": 1 }]);
    let agent = |_: cobalt::Item| async { "" };
    let exact = || ExactMatch::new("exact", "answer");
    let message = async |experiment: Experiment| {
        let error: Error = experiment.save(false).run(agent).await.unwrap_err();
        error.to_string()
    };
    let unevaluated = message(Experiment::new("e", items())).await;
    assert_eq!(
        unevaluated,
        "experiment `e` cannot be run: it has no evaluator, so nothing would be measured; add one, or set \
         `evaluators` for all experiments in cobalt.toml"
    );
    let idle = message(Experiment::new("e", items()).evaluator(exact()).runs(0)).await;
    assert_eq!(idle, "experiment `e` cannot be run: `runs` and `concurrency` must be at least 1");
    let hasty = message(Experiment::new("e", items()).evaluator(exact()).timeout(Duration::ZERO)).await;
    assert_eq!(hasty, "experiment `e` cannot be run: `timeout` must be greater than zero");
    let nameless = message(Experiment::new(" ", items()).evaluator(exact())).await;
    assert!(nameless.contains("its name is empty"), "{nameless}");
    let too_strict = ExactMatch::new("exact", "answer").pass_mark(80.0);
    let too_strict = message(Experiment::new("e", items()).evaluator(too_strict)).await;
    assert!(too_strict.contains("the pass mark of evaluator `exact` is 80; it must be a number from 0 to 1"));
    let no_mark = ExactMatch::new("exact", "answer").pass_mark(f64::NAN);
    assert!(message(Experiment::new("e", items()).evaluator(no_mark)).await.contains("is NaN"));
    let unnamed = message(Experiment::new("e", items()).evaluator(ExactMatch::new("", "answer"))).await;
    assert!(unnamed.contains("an evaluator has an empty name"), "{unnamed}");
    let empty = message(Experiment::new("e", items().slice(0..0)).evaluator(exact())).await;
    assert!(empty.contains("the dataset is empty"), "{empty}");
    let missing = message(Experiment::new("e", "no-such.jsonl").evaluator(exact())).await;
    assert!(missing.contains("no-such.jsonl"), "{missing}");
}
