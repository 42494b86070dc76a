//! What holds for an agent on any crate: the same tests for each.

use std::fmt::Debug;
use std::path::Path;

use cobalt::recording::{RecordMode, Recordings};
use cobalt::report::{Execution, ItemResult, Status, TrafficSummary};
use cobalt::{Context, Dataset, ExactMatch, Experiment, Record, Report, item};
use futures_util::{Stream, StreamExt, TryStreamExt};
use tempfile::TempDir;

use crate::model::{KEY, Model};
use crate::reply::{TOOL_TURNS, TURNS};
use crate::traces::SpanDetail;

pub const SYSTEM: &str = "You count.";

/// An agent on one of the crates, built for each item.
pub trait Agent: Copy + Send + Sync + 'static {
    /// What the spans of the crate contain of a conversation.
    const SPANS: SpanDetail = SpanDetail::Nothing;

    /// Answers with the help of the tool `count`, in several turns.
    fn converse(self, task: Task) -> impl Future<Output = Result<String, String>> + Send;

    /// Answers without tools, as a stream: the crate's events.
    fn stream(self, task: Task) -> impl Future<Output = Result<Vec<String>, String>> + Send;
}

/// Which of OpenAI's APIs an agent uses.
#[derive(Clone, Copy)]
pub enum Api {
    Chat,
    Responses,
}

/// What an agent is to do.
pub struct Task {
    pub base_url: String,
    pub key: &'static str,
    pub question: String,
    /// The result of the tool.
    pub count: &'static str,
}

/// The events of a stream as texts, or its error.
pub async fn events<T: Debug, E: ToString>(
    stream: impl Stream<Item = Result<T, E>>,
) -> Result<Vec<String>, String> {
    let texts =
        stream.map(|event| event.map(|event| format!("{event:?}")).map_err(|error| error.to_string()));
    texts.try_collect().await
}

/// What a developer has changed since the recording, for one of the items.
#[derive(Clone, Copy)]
enum Edit {
    Nothing,
    Prompt,
    Tool,
}

/// The item that an edit concerns.
const EDITED: usize = 1;
pub const ITEMS: usize = 4;
const TRIALS: usize = 3;
/// No key that the server would accept.
const NO_KEY: &str = "none";

/// A folder of recordings, and a model.
pub struct Scene {
    folder: TempDir,
    model: Model,
}

/// How an experiment is run.
#[derive(Clone, Copy)]
pub struct RunSetup {
    /// Without one, requests do not pass through the gateway.
    pub mode: Option<RecordMode>,
    key: &'static str,
    edit: Edit,
    trials: usize,
}

pub const RECORD: RunSetup =
    RunSetup { mode: Some(RecordMode::Record), key: KEY, edit: Edit::Nothing, trials: 1 };
pub const DIRECT: RunSetup = RunSetup { mode: None, ..RECORD };
pub const REPLAY: RunSetup =
    RunSetup { mode: Some(RecordMode::Replay), key: NO_KEY, edit: Edit::Nothing, trials: 1 };

impl RunSetup {
    async fn run<Fut>(
        self,
        folder: &Path,
        url: &str,
        answer: impl Fn(Task) -> Fut + Send + Sync + 'static,
    ) -> Report
    where
        Fut: Future<Output = Result<String, String>> + Send + 'static,
    {
        let items = (0..ITEMS)
            .map(|number| item! { "id": format!("i{number}"), "input": format!("item {number}: count") });
        let url = url.to_owned();
        let agent = move |context: Context| {
            let is_edited = context.index() == EDITED;
            let mut question = context.item()["input"].as_str().unwrap().to_owned();
            if is_edited && matches!(self.edit, Edit::Prompt) {
                question += " twice";
            }
            let count = if is_edited && matches!(self.edit, Edit::Tool) { "2" } else { "1" };
            let base_url = self.mode.map_or_else(|| url.clone(), |_| context.base_url_for(&url));
            let answer = answer(Task { base_url, key: self.key, question, count });
            async move { answer.await.inspect_err(|error| context.record(Record::note("error", error.as_str()))) }
        };
        let experiment = Experiment::new("counting", Dataset::from_items(items))
            // An experiment needs one; its score does not matter here.
            .evaluator(ExactMatch::new("exact", "input"))
            .runs(self.trials)
            .save(false);
        let experiment = match self.mode {
            Some(mode) => experiment.record(Recordings::new(folder).mode(mode)),
            None => experiment,
        };
        experiment.run(agent).await.unwrap()
    }
}

impl Scene {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), model: Model::start() }
    }

    pub async fn converse(&self, setup: RunSetup, agent: impl Agent) -> Report {
        setup.run(self.folder.path(), &self.model.url, move |task| agent.converse(task)).await
    }

    pub async fn stream(&self, setup: RunSetup, agent: impl Agent) -> Report {
        let answer = move |task| async move { agent.stream(task).await.map(|events| events.join("\n")) };
        setup.run(self.folder.path(), &self.model.url, answer).await
    }
}

/// The answers of each item, each with its status.
fn outputs(report: &Report) -> Vec<Vec<String>> {
    let of_item = |item: &ItemResult| {
        let text = |run: &Execution| {
            let output = run.output.as_ref().map(|output| output.text().into_owned());
            output.unwrap_or_else(|| format!("{:?}: {:?}", run.status, run.error))
        };
        item.runs.iter().map(text).collect()
    };
    report.items.iter().map(of_item).collect()
}

fn traffic(report: &Report) -> &TrafficSummary {
    report.summary.traffic.as_ref().unwrap()
}

fn assert_replayed(replayed: &Report, recorded: &Report) {
    assert_eq!(outputs(replayed), outputs(recorded));
    let traffic = traffic(replayed);
    assert_eq!((traffic.replayed_items, traffic.live_items, traffic.unattributed), (ITEMS, 0, 0));
    for (now, then) in replayed.items.iter().zip(&recorded.items) {
        for (now, then) in now.runs.iter().zip(&then.runs) {
            let asked = |run: &Execution| run.traffic.as_ref().unwrap().asked.clone();
            assert_eq!(asked(now), asked(then));
        }
    }
}

pub async fn conversation(agent: impl Agent) {
    let scene = Scene::new();
    let recorded = scene.converse(RECORD, agent).await;
    let answers: Vec<_> = (0..ITEMS).map(|item| vec![format!("done {item}, take 1")]).collect();
    assert_eq!(outputs(&recorded), answers);
    assert_eq!(scene.model.take_requests(), ITEMS * TURNS);
    assert_eq!(traffic(&recorded).attributed_by_content, 0);
    assert_no_key(scene.folder.path());
    // Replay against the same address, with the server stopped.
    let Scene { folder, model } = scene;
    let url = model.url.clone();
    drop(model);
    let replayed = REPLAY.run(folder.path(), &url, move |task| agent.converse(task)).await;
    assert_replayed(&replayed, &recorded);
}

fn assert_no_key(folder: &Path) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(KEY) && !text.contains("Bearer"), "{}", path.display());
        }
    }
}

pub async fn edited_prompt(agent: impl Agent) {
    let differs = "request, number 1, differs in `messages[1].content`: recorded \"item 1: count\", now \"item 1: count twice\"";
    edited(agent, Edit::Prompt, differs, TURNS).await;
}

pub async fn edited_tool(agent: impl Agent) {
    let differs = "request, number 2, differs in `messages[3].content`: recorded \"1\", now \"2\"";
    // The first turn is as recorded.
    edited(agent, Edit::Tool, differs, TOOL_TURNS).await;
}

async fn edited(agent: impl Agent, edit: Edit, differs: &str, new_requests: usize) {
    let scene = Scene::new();
    let recorded = scene.converse(RECORD, agent).await;
    scene.model.take_requests();

    let replayed = scene.converse(RunSetup { edit, ..REPLAY }, agent).await;
    assert_eq!(scene.model.take_requests(), 0, "a request has left");
    for (index, (now, then)) in replayed.items.iter().zip(&recorded.items).enumerate() {
        if index == EDITED {
            let error = now.error().unwrap_or_default();
            assert_eq!(now.status(), Status::Error);
            assert!(error.starts_with("not recorded: POST ") && error.contains(differs), "{error}");
            let of_crate = now.runs[0].metadata()["error"].as_str().unwrap();
            assert!(of_crate.contains("not recorded: POST "), "the error of the crate hides it: {of_crate}");
        } else {
            assert_eq!((now.status(), &now.runs[0].output), (Status::Ok, &then.runs[0].output));
        }
    }

    let renewed = scene.converse(RunSetup { mode: Some(RecordMode::Auto), edit, ..RECORD }, agent).await;
    assert_eq!(scene.model.take_requests(), new_requests);
    assert_eq!(outputs(&renewed), outputs(&recorded), "each conversation is sent for the first time");
    let TrafficSummary { replayed_items, live_items, diverged_items, .. } = traffic(&renewed);
    assert_eq!((*replayed_items, *live_items, *diverged_items), (ITEMS - 1, 1, 1));
    let diverged = renewed.items[EDITED].runs[0].traffic.as_ref().unwrap().diverged.as_ref().unwrap();
    assert!(diverged.contains(differs), "{diverged}");

    let replayed = scene.converse(RunSetup { edit, ..REPLAY }, agent).await;
    assert_replayed(&replayed, &renewed);
    assert_eq!(scene.model.take_requests(), 0, "a request has left");
}

pub async fn stream(agent: impl Agent) {
    let scene = Scene::new();
    let recorded = scene.stream(RECORD, agent).await;
    assert_eq!(scene.model.take_requests(), ITEMS);
    for (number, item) in outputs(&recorded).iter().enumerate() {
        for word in ["done ", &format!("{number}, "), "take ", "1"] {
            let is_event = item[0].lines().any(|event| event.contains(&format!("{word:?}")));
            assert!(is_event, "`{word}` has no event of its own: {}", item[0]);
        }
    }
    let replayed = scene.stream(REPLAY, agent).await;
    assert_replayed(&replayed, &recorded);
    assert_eq!(scene.model.take_requests(), 0, "a request has left");

    // The gateway adds nothing and leaves nothing out.
    assert_eq!(outputs(&Scene::new().stream(DIRECT, agent).await), outputs(&recorded));
}

pub async fn trials(agent: impl Agent) {
    let scene = Scene::new();
    let recorded = scene.converse(RunSetup { trials: TRIALS, ..RECORD }, agent).await;
    let of_item = |item| (1..=TRIALS).map(|take| format!("done {item}, take {take}")).collect();
    let answers: Vec<Vec<_>> = (0..ITEMS).map(of_item).collect();
    assert_eq!(outputs(&recorded), answers);
    assert_eq!(scene.model.take_requests(), ITEMS * TURNS * TRIALS);
    let replayed = scene.converse(RunSetup { trials: TRIALS, ..REPLAY }, agent).await;
    assert_replayed(&replayed, &recorded);
    assert_eq!(scene.model.take_requests(), 0, "a request has left");
}
