//! Workspaces through the public API: each execution gets its own copy, and what the agent changed is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cobalt::report::{FileChange, Report, Status, WorkspaceChanges};
use cobalt::{AgentError, BoxError, Context, Dataset, EvalContext, Experiment, FnEvaluator, Item, item};

const FIXTURES: &str = "tests/workspaces/fixtures/{{id}}";

fn items() -> Dataset {
    Dataset::from_items([item! { "id": "one" }, item! { "id": "two" }])
}

/// An experiment over both items whose evaluator needs the folder and the changes.
fn experiment(name: &str) -> Experiment {
    let sees_both = |cx: &EvalContext| cx.workspace().is_some() && cx.dir().is_some_and(Path::is_dir);
    Experiment::new(name, items())
        .workspace(FIXTURES)
        .evaluator(FnEvaluator::new("sees", move |cx: &EvalContext| sees_both(cx)))
        .save(false)
}

fn changes(report: &Report, index: usize, run: usize) -> &WorkspaceChanges {
    report.items[index].runs[run].workspace.as_deref().expect("the changes are kept")
}

fn changed(changes: &WorkspaceChanges) -> Vec<(&str, FileChange)> {
    changes.files.iter().map(|file| (&*file.path, file.change)).collect()
}

/// The folders that agents saw.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<PathBuf>>>);

impl Seen {
    fn add(&self, context: &Context) {
        self.0.lock().unwrap().push(context.dir().to_owned());
    }

    /// Asserts that there were so many different folders, and that none is left.
    fn assert_removed(&self, folders: usize) {
        let seen = self.0.lock().unwrap();
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), folders, "{seen:?}");
        assert!(seen.iter().all(|folder| !folder.exists()), "{seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_trial_starts_from_the_same_files_and_only_its_changes_are_kept() {
    let seen = Seen::default();
    let agent = {
        let seen = seen.clone();
        move |item: Item, context: Context| -> Result<String, BoxError> {
            seen.add(&context);
            let notes = context.dir().join("notes.txt");
            assert_eq!(fs::read_to_string(&notes)?.trim(), item["id"].as_str().unwrap());
            fs::write(&notes, format!("changed in run {}\n", context.run_index()))?;
            fs::create_dir_all(context.dir().join("target"))?;
            fs::write(context.dir().join("target/built"), "")?;
            fs::remove_dir_all(context.dir().join("src"))?;
            Ok("done".to_owned())
        }
    };
    let report = experiment("trials").runs(2).run(agent).await.unwrap();
    assert_eq!(report.summary.scores["sees"].avg, 1.0);
    for (index, source) in ["src/lib.rs", "src/main.py"].into_iter().enumerate() {
        for run in 0..2 {
            let changes = changes(&report, index, run);
            let expected = [("notes.txt", FileChange::Changed), (source, FileChange::Removed)];
            assert_eq!(changed(changes), expected);
            assert!(changes.patch.contains(&format!("+changed in run {run}\n")), "{}", changes.patch);
            assert_eq!(changes.kept, None);
        }
    }
    seen.assert_removed(4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_an_agent_that_fails_or_times_out_are_kept_too() {
    let seen = Seen::default();
    let agent = {
        let seen = seen.clone();
        move |item: Item, context: Context| {
            let seen = seen.clone();
            async move {
                seen.add(&context);
                fs::write(context.dir().join("half"), "half\n")?;
                if item["id"] == "two" {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                }
                Err::<String, BoxError>("no idea".into())
            }
        }
    };
    let report = experiment("failing").timeout(Duration::from_millis(300)).run(agent).await.unwrap();
    let statuses: Vec<_> = report.items.iter().map(|item| item.status()).collect();
    assert_eq!(statuses, [Status::Error, Status::Timeout]);
    for index in 0..2 {
        assert_eq!(changed(changes(&report, index, 0)), [("half", FileChange::Added)]);
    }
    seen.assert_removed(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retried_attempt_starts_afresh() {
    let seen = Seen::default();
    let agent = {
        let seen = seen.clone();
        move |context: Context| -> Result<String, AgentError> {
            seen.add(&context);
            let name = format!("attempt-{}", seen.0.lock().unwrap().len());
            assert!(!context.dir().join("attempt-1").exists());
            fs::write(context.dir().join(&name), "").map_err(AgentError::new)?;
            match name.as_str() {
                "attempt-1" => Err(AgentError::transient("busy")),
                _ => Ok(name),
            }
        }
    };
    let dataset = Dataset::from_items([item! { "id": "one" }]);
    let report = Experiment::new("retried", dataset)
        .workspace(FIXTURES)
        .retries(1)
        .evaluator(FnEvaluator::new("done", |cx: &EvalContext| cx.output_text() == "attempt-2"))
        .save(false)
        .run(agent)
        .await
        .unwrap();
    assert!(report.items[0].passed);
    assert_eq!(changed(changes(&report, 0, 0)), [("attempt-2", FileChange::Added)]);
    seen.assert_removed(2);
}

#[tokio::test]
async fn a_missing_folder_is_an_error_before_anything_runs() {
    let agent = |_: Item| -> &'static str { unreachable!("nothing runs") };
    let missing = Dataset::from_items([item! { "id": "one" }, item! { "id": "three" }]);
    let exact = FnEvaluator::new("exact", |_: &EvalContext| true);
    let error =
        Experiment::new("missing", missing).workspace(FIXTURES).evaluator(exact).save(false).run(agent).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("item `three`") && error.contains("fixtures/three` does not exist; create it"),
        "{error}"
    );
    let error = experiment("field").workspace("fixtures/{{name}}").run(agent).await.unwrap_err().to_string();
    assert!(error.contains("the item has no field `name`"), "{error}");
    let error =
        experiment("pattern").workspace(cobalt::Workspace::folder(FIXTURES).ignore(["***"])).run(agent).await;
    assert!(error.unwrap_err().to_string().contains("invalid pattern `***`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_workspace_the_folder_is_an_error_that_says_what_to_add() {
    let agent = |context: Context| {
        assert_eq!(context.workspace_dir(), None);
        context.dir().display().to_string()
    };
    let always =
        FnEvaluator::new("always", |cx: &EvalContext| cx.dir().is_none() && cx.workspace().is_none());
    let report = Experiment::new("none", items()).evaluator(always).save(false).run(agent).await.unwrap();
    let error = report.items[0].error().unwrap();
    assert!(error.contains("the experiment has no workspace; add `workspace = "), "{error}");
    assert_eq!(report.items[0].runs[0].workspace, None);
}
