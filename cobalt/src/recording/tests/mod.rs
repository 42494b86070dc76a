//! The gateway with a scripted provider, and clients as agents use them.

mod attribution;
mod broken;
#[cfg(feature = "otlp")]
mod exports;
mod failed;
#[cfg(feature = "judge")]
mod judges;
mod long_texts;
mod modes;
mod partial;
mod retries;
mod secrets;
mod side_by_side;
mod stale;
mod streams;
mod tools;
mod unattributed;
mod unseen;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::item::Item;
use cobalt_core::prices::PriceTable;
use cobalt_core::recordings::{Cassette, RecordingFolder};
use cobalt_core::report::{Execution, Status, Traffic};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::execution::ExecutionTraffic;
use super::experiment::ExperimentTraffic;
use super::gateway::Gateway;
use super::route::ProviderRoute;
use super::run_traffic::RunTraffic;
use super::settings::{RecordMode, ResolvedRecording};
use super::start::GatewayStart;
use crate::budget::Account;
use crate::http::test_server::{ReceivedRequest, ScriptedResponse, TestServer};
use crate::limits::Limits;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The text of both twins: a request with it fits either.
const TWIN: &str = "the same for both";

/// A folder of recordings, and a provider that counts its answers.
struct Scene {
    folder: TempDir,
    server: Option<TestServer>,
    upstream: String,
}

/// One process: its gateway, and its experiment.
struct Process {
    gateway: Arc<Gateway>,
    traffic: Arc<RunTraffic>,
    client: reqwest::Client,
}

impl Scene {
    fn new(answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static) -> Self {
        let server = TestServer::start(answer);
        let upstream = server.url("/v1");
        Self { folder: tempfile::tempdir().unwrap(), server: Some(server), upstream }
    }

    /// With a provider whose answers are numbered.
    fn numbered() -> Self {
        let next = std::sync::atomic::AtomicUsize::new(0);
        Self::new(move |request| {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            completion(&format!("answer {number} to {}", last_message(&request.body)))
        })
    }

    fn process(&self, mode: RecordMode) -> Process {
        self.process_with(mode, |_| {})
    }

    fn process_with(&self, mode: RecordMode, change: impl FnOnce(&mut ResolvedRecording)) -> Process {
        self.process_of(3, mode, change)
    }

    /// A process with this number of trials per item.
    fn process_of(
        &self,
        runs: usize,
        mode: RecordMode,
        change: impl FnOnce(&mut ResolvedRecording),
    ) -> Process {
        let upstreams = BTreeMap::from([
            ("OPENAI_BASE_URL".to_owned(), self.upstream.clone()),
            ("GOOGLE_GEMINI_BASE_URL".to_owned(), self.upstream.clone()),
        ]);
        let start = GatewayStart { listener: None, token: None, upstreams };
        let gateway = Gateway::start(start, PriceTable::default(), Limits::new(Vec::new(), None)).unwrap();
        let traffic = self.traffic(&gateway, "desk", runs, mode, change);
        // The client of an agent, whose TLS is not the library's.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Process { gateway, traffic, client: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    /// An experiment of a process.
    fn traffic(
        &self,
        gateway: &Arc<Gateway>,
        name: &str,
        runs: usize,
        mode: RecordMode,
        change: impl FnOnce(&mut ResolvedRecording),
    ) -> Arc<RunTraffic> {
        let mut settings = ResolvedRecording {
            mode,
            records_missing: false,
            root: self.folder.path().to_owned(),
            folder: self.folder.path().join(name),
            ignore: Vec::new(),
            stale_after: None,
            needs_requests: true,
            is_ci: false,
        };
        change(&mut settings);
        let keys = Arc::new((0..1_000).map(|index| format!("item-{index}")).collect());
        let experiment = ExperimentTraffic::new(name, settings, keys, runs);
        Arc::new(RunTraffic::new(Arc::clone(gateway), experiment))
    }

    /// Stops the provider.
    fn stop(&mut self) {
        self.server = None;
    }

    fn recordings(&self) -> RecordingFolder {
        RecordingFolder::new(self.folder.path().join("desk"))
    }

    fn cassette(&self, name: &str) -> Cassette {
        self.recordings().read(name).unwrap().unwrap()
    }

    /// A process that records again what is older than 30 days.
    fn renewing(&self, mode: RecordMode, runs: usize) -> Process {
        self.process_of(runs, mode, |settings| settings.stale_after = Some(DAY * 30))
    }

    /// Records a conversation of one or more turns as trials of an item.
    async fn record(&self, index: usize, runs: usize, turns: &[&[&str]]) {
        let process = self.process(RecordMode::Record);
        for run in 0..runs {
            let execution = process.begin(index, run);
            for messages in turns {
                assert_eq!(process.ask(&execution, messages).await.0, 200);
            }
            end(&execution).await;
        }
    }

    /// Dates a trial of an item and its judges' answers back by some days.
    fn date_back(&self, index: usize, run: usize, days: u32) {
        let name = format!("item-{index}");
        let mut cassette = self.cassette(&name);
        let trial = &mut cassette.trials[run];
        let dates = trial.judges.iter_mut().map(|answer| &mut answer.recorded_at);
        for date in dates.chain([&mut trial.recorded_at]) {
            *date = date.map(|at| (at.time() - DAY * days).into());
        }
        self.recordings().write(&name, &cassette).unwrap();
    }
}

impl Process {
    fn begin(&self, index: usize, run: usize) -> Arc<ExecutionTraffic> {
        self.begin_with(&json!({ "input": format!("question {index} of the items") }), index, run)
    }

    fn begin_with(&self, item: &Value, index: usize, run: usize) -> Arc<ExecutionTraffic> {
        let item: Item = item.as_object().unwrap().clone();
        self.traffic.begin(&item, (index, run), Account::default()).unwrap()
    }

    /// Begins trials of two items with the same text.
    fn begin_twins(&self) -> [Arc<ExecutionTraffic>; 2] {
        [1, 2].map(|index| self.begin_with(&json!({ "input": TWIN }), index, 0))
    }

    /// The base URL of OpenAI for an execution, or for the process.
    fn base_url(&self, execution: Option<&ExecutionTraffic>) -> String {
        self.gateway.base_url(ProviderRoute::named("openai").unwrap(), execution)
    }

    /// Sends a conversation, and returns the status and the text of the response.
    async fn ask(&self, execution: &ExecutionTraffic, messages: &[&str]) -> (u16, String) {
        self.post(&self.base_url(Some(execution)), &chat(messages)).await
    }

    async fn post(&self, base_url: &str, body: &Value) -> (u16, String) {
        self.post_with("key", base_url, body).await
    }

    /// Sends a request with a key.
    async fn post_with(&self, key: &str, base_url: &str, body: &Value) -> (u16, String) {
        let request = self
            .client
            .post(format!("{base_url}/chat/completions"))
            .header("authorization", format!("Bearer {key}"));
        let response =
            request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

/// Ends an execution whose agent gave an output, and returns its traffic, and the error of the item if there is one.
async fn end(execution: &ExecutionTraffic) -> (Traffic, Option<String>) {
    end_as(execution, Status::Ok).await
}

/// Ends an execution with a status.
async fn end_as(execution: &ExecutionTraffic, status: Status) -> (Traffic, Option<String>) {
    let agent = execution.end_agent(Duration::from_millis(20)).await;
    let outcome = Execution { status, ..Execution::default() };
    (execution.end(&outcome).unwrap().unwrap_or_default(), agent.problem)
}

fn chat(messages: &[&str]) -> Value {
    let messages: Vec<_> = messages.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    json!({ "model": "gpt-4o-mini", "messages": messages })
}

fn last_message(body: &Value) -> String {
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    last.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned()
}

fn completion(text: &str) -> ScriptedResponse {
    ScriptedResponse::json(
        200,
        &json!({
            "id": "chatcmpl-1", "model": "gpt-4o-mini",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 }
        }),
    )
}

fn content(response: &str) -> String {
    let value: Value = serde_json::from_str(response).unwrap();
    value["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}

/// All files below a folder, as one text.
fn all_files(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &all_files(&path);
        } else {
            all +=
                &format!("{}\n{}\n", path.display(), String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
    all
}
