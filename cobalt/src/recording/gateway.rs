//! The gateway: an HTTP server on loopback through which agents reach models. It answers from recordings, or passes requests on.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use bytes::Bytes;
use cobalt_core::item::Item;
use cobalt_core::prices::{PriceTable, Tokens};
use cobalt_core::recordings::{
    Body, Interaction, ModelResponse, RecordedRequest, RecordingError, RecordingFolder,
};
use cobalt_core::redact::redacted_url;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;

use super::attribution::{Owner, RunningExecutions, Wait};
use super::current::EXECUTION_HEADER;
use super::execution::{Decision, ExecutionTraffic, without_query};
use super::experiment::ExperimentTraffic;
use super::forward::{Forwarder, Outgoing};
use super::lock::lock;
use super::passed_call::replayed_call;
use super::process::NO_KEY;
use super::reply::{self, Reply};
use super::request_shape::ItemTexts;
use super::route::{Destination, PROVIDERS, ProviderRoute};
use super::settings::{RECORD_VARIABLE, RecordMode};
use super::shared_request::SharedRequest;
use super::sink::Sink;
use super::start::{GatewayStart, bind, current_upstreams, random_token, take_start};
use super::status::is_answer;
use super::unattributed::{Renewed, Unattributed};
use crate::budget;
use crate::limits::{LimitRule, Limits};
use crate::log;

/// The gateway of this process, once it is started.
static GATEWAY: OnceLock<Result<Arc<Gateway>, String>> = OnceLock::new();

/// The gateway.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    /// The first part of the path of requests that name no execution.
    token: String,
    /// The base URLs that variables had before they led here.
    upstreams: BTreeMap<String, String>,
    executions: RunningExecutions,
    experiments: Mutex<Vec<Weak<ExperimentTraffic>>>,
    next: AtomicU64,
    unattributed: Unattributed,
    /// The cost of requests that belong to no known trial, in USD, as far as no agent has reported it.
    unattributed_cost: Mutex<f64>,
    has_said_wait: AtomicBool,
    pub forwarder: Forwarder,
}

/// An item in progress beside which no item runs whose requests could be confused with its own.
#[derive(Debug)]
pub struct Admission {
    gateway: Arc<Gateway>,
    number: u64,
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.gateway.executions.dismiss(self.number);
    }
}

/// What the gateway needs of a project's settings.
#[derive(Debug)]
pub struct GatewaySettings<'a> {
    pub prices: &'a PriceTable,
    pub limits: &'a [LimitRule],
    /// The folder of the state of limits that processes share.
    pub limits_folder: PathBuf,
}

impl Gateway {
    /// The gateway of this process; started on first use.
    pub fn shared(settings: &GatewaySettings<'_>) -> Result<Arc<Self>, String> {
        let start = || {
            let start = take_start().unwrap_or_else(|| GatewayStart {
                listener: None,
                token: None,
                upstreams: current_upstreams(),
            });
            let GatewaySettings { prices, limits, limits_folder } = settings;
            let shared = (!limits.is_empty()).then(|| limits_folder.to_owned());
            let limits = Limits::new(limits.to_vec(), shared);
            if let Some(error) = limits.take_sharing_error() {
                eprintln!("note: {error}");
            }
            Self::start(start, (*prices).clone(), limits)
        };
        GATEWAY.get_or_init(start).clone()
    }

    /// The gateway of this process, if it is started.
    pub fn running() -> Option<Arc<Self>> {
        GATEWAY.get()?.clone().ok()
    }

    /// Starts a gateway on a thread of its own, so that no agent can block it.
    pub fn start(start: GatewayStart, prices: PriceTable, limits: Limits) -> Result<Arc<Self>, String> {
        let failed = |error: std::io::Error| format!("the gateway for model traffic cannot start: {error}");
        let listener = match start.listener {
            Some(listener) => listener,
            None => bind().map_err(failed)?,
        };
        listener.set_nonblocking(true).map_err(failed)?;
        let gateway = Arc::new(Self {
            address: listener.local_addr().map_err(failed)?,
            token: start.token.unwrap_or_else(random_token),
            upstreams: start.upstreams,
            executions: RunningExecutions::default(),
            experiments: Mutex::default(),
            next: AtomicU64::new(0),
            unattributed: Unattributed::default(),
            unattributed_cost: Mutex::default(),
            has_said_wait: AtomicBool::new(false),
            forwarder: Forwarder::new(prices, Arc::new(limits)),
        });
        log::debug!(address = gateway.address, "started the gateway for model traffic");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let serving = Arc::clone(&gateway);
        let thread = std::thread::Builder::new().name("cobalt-gateway".to_owned());
        thread.spawn(move || runtime.block_on(serve(serving, listener))).map_err(failed)?;
        Ok(gateway)
    }

    /// The limits for requests to models.
    #[cfg(feature = "judge")]
    pub fn limits(&self) -> &Arc<Limits> {
        &self.forwarder.limits
    }

    /// The base URL for requests to a provider: of an execution, or of the process.
    pub fn base_url(&self, provider: &ProviderRoute, execution: Option<&ExecutionTraffic>) -> String {
        self.url(&provider.path(), execution)
    }

    /// The same for any other server.
    pub fn base_url_for(&self, base_url: &str, execution: Option<&ExecutionTraffic>) -> Option<String> {
        Some(self.url(&Destination::path_for(base_url)?, execution))
    }

    fn url(&self, path: &str, execution: Option<&ExecutionTraffic>) -> String {
        let token = execution.map_or(&*self.token, |execution| execution.token());
        format!("http://{}/{token}/{path}", self.address)
    }

    /// The value that a variable had before it led here; `None` if it does not lead here.
    pub fn original_variable(&self, name: &str) -> Option<Option<String>> {
        let leads_here = std::env::var(name).is_ok_and(|value| value.contains(&self.token));
        leads_here.then(|| self.upstreams.get(name).cloned())
    }

    /// The URL to which a request to a provider is passed on; `None` if the provider has no base URL.
    fn upstream(&self, provider: &ProviderRoute, rest: &str) -> Option<String> {
        match provider.all_variables().find_map(|(name, _)| self.upstreams.get(name)) {
            // The variable of Ollama may hold only a host.
            Some(url) if url.contains("://") => Some(join(url, rest)),
            // Without a port, Ollama means its own.
            Some(host) if provider.name == "ollama" && !host.contains(':') => {
                Some(join(&format!("http://{}:11434", host.trim_end_matches('/')), rest))
            }
            Some(host) => Some(join(&format!("http://{host}"), rest)),
            None => Some(join(provider.own?, &provider.path_below_own(rest))),
        }
    }

    pub fn new_token(&self) -> Arc<str> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.token).into()
    }

    /// Registers a trial of an item.
    pub fn add(&self, execution: &Arc<ExecutionTraffic>, item: &Item) {
        self.executions.add(execution, item);
    }

    pub fn remove(&self, execution: &ExecutionTraffic) {
        self.executions.remove(execution);
    }

    /// Lets an item run beside those in progress, until the admission is dropped.
    ///
    /// # Errors
    ///
    /// Its requests could be confused with theirs: it must wait.
    pub fn admit(
        self: &Arc<Self>,
        experiment: &Arc<ExperimentTraffic>,
        item: &Item,
    ) -> Result<Admission, Wait> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.executions.admit(number, experiment, ItemTexts::of(item))?;
        Ok(Admission { gateway: Arc::clone(self), number })
    }

    /// The executions and items in progress.
    pub fn executions(&self) -> &RunningExecutions {
        &self.executions
    }

    /// Says once that items wait for others.
    pub fn say_that_items_wait(&self, experiment: &str) {
        if !self.has_said_wait.swap(true, Ordering::Relaxed) {
            eprintln!(
                "note: items of `{experiment}` wait for others with the same texts, because their requests could be confused; items run at \
                 the same time if each has an address of its own, see `Context::base_url`"
            );
        }
    }

    /// Registers an experiment, before any of its trials.
    pub fn add_experiment(&self, experiment: &Arc<ExperimentTraffic>) {
        let mut experiments = lock(&self.experiments);
        experiments.retain(|known| known.strong_count() > 0);
        experiments.push(Arc::downgrade(experiment));
    }

    fn experiments(&self) -> Vec<Arc<ExperimentTraffic>> {
        lock(&self.experiments).iter().filter_map(Weak::upgrade).collect()
    }

    /// Writes the recordings of unattributed requests, when an experiment ends.
    pub fn save_unattributed(&self, ended: &ExperimentTraffic) -> Result<(), RecordingError> {
        let renewed = ended.is_renewed().then(|| Renewed {
            root: ended.root(),
            experiment: ended.name(),
            since: ended.started(),
        });
        self.unattributed.save(renewed)
    }

    /// Answers a request.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("", |path| path.as_str());
        let (token, path) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let named = head.headers.get(EXECUTION_HEADER).and_then(|value| value.to_str().ok());
        let owner = match self.owner_by_token(named.unwrap_or(token)) {
            Ok(owner) => owner,
            Err(refusal) => return *refusal,
        };
        #[cfg(feature = "otlp")]
        if let Some(path) = path.strip_prefix("otlp/") {
            return super::otlp::answer(path, &head.headers, body).await;
        }
        let Some(destination) = Destination::parse(path) else {
            log::debug!(path = without_query(path), "refuses a request whose path names no provider");
            let known: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let message = format!(
                "the path `/{path}` names no provider; the first part must be one of {}, or `to/https/<host>`",
                known.join(", ")
            );
            owner.iter().flat_map(Owner::candidates).for_each(|execution| execution.refuse(&message));
            return reply::error(404, "not_found", &message);
        };
        let Ok(body) = body.collect().await else {
            return reply::error(
                400,
                "bad_request",
                "the request body is incomplete: the client closed the connection; send the request again",
            );
        };
        let body = body.to_bytes();
        let compared = comparable(&body, &head.headers);
        let url = match &destination.base {
            Some(base) => Some(join(base, &destination.rest)),
            None => ProviderRoute::named(&destination.provider)
                .and_then(|provider| self.upstream(provider, &destination.rest)),
        };
        let recorded = RecordedRequest {
            method: head.method.to_string(),
            path: destination.recorded_path(),
            url: url.as_deref().map(redacted_url),
            body: Body::of_request(&compared),
        };
        if let Some(Owner::Exact(execution)) = &owner {
            self.executions.note_token(execution.experiment());
        }
        let owner = owner.unwrap_or_else(|| self.executions.owner_of(&compared));
        let attribution = match &owner {
            Owner::Exact(_) => "exact",
            Owner::ByContent(_) => "by content",
            Owner::Unknown(_) => "unknown",
        };
        log::trace!(
            provider = destination.provider,
            path = without_query(&recorded.path),
            attribution = attribution,
            candidates = owner.candidates().len(),
            "received a request"
        );
        if is_signed_for_host(&head.headers) {
            return refuse_signed(&owner);
        }
        let sink = match self.decide(owner, &recorded, &compared) {
            Ok(sink) => sink,
            Err(reply) => return *reply,
        };
        let Some(url) = url else {
            let variable =
                ProviderRoute::named(&destination.provider).map_or("", |provider| provider.if_set[0]);
            let provider = &destination.provider;
            let message =
                format!("{provider} has no default base URL; set `{variable}` to the URL of your resource");
            sink.withdraw();
            return reply::error(400, "bad_request", &message);
        };
        let provider = ProviderRoute::named(&destination.provider).filter(|_| destination.base.is_none());
        let lacks_key = || provider.is_some_and(|provider| self.lacks_key(provider, &head.headers, &url));
        if has_placeholder_key(&head.headers, &url) || sink.folder().is_some() && lacks_key() {
            let key = provider.and_then(|provider| provider.keys.first());
            let RecordedRequest { method, path, .. } = &recorded;
            let key = key.map_or_else(|| "the server's API key".to_owned(), |key| format!("`{key}`"));
            sink.experiments().for_each(|experiment| experiment.lack_key(&key, None));
            let problem =
                format!("{method} {path} is not recorded, and cannot be sent without a key; set {key}");
            return self.refuse(&sink, 401, "no_key", &problem);
        }
        let outgoing = Outgoing {
            method: head.method,
            url,
            headers: head.headers,
            body,
            provider: destination.provider,
            recorded,
            compared,
        };
        self.send(outgoing, sink).await
    }

    /// Whether a request to the provider's own server has no key, and there is none that it could have.
    fn lacks_key(&self, provider: &ProviderRoute, headers: &HeaderMap, url: &str) -> bool {
        let is_own = !provider.all_variables().any(|(name, _)| self.upstreams.contains_key(name));
        let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
        is_own && !provider.keys.is_empty() && !provider.keys.iter().any(is_set) && !has_key(headers, url)
    }

    /// The owner by a token; none if the token is that of the process.
    fn owner_by_token(&self, token: &str) -> Result<Option<Owner>, Box<Reply>> {
        if token == self.token {
            return Ok(None);
        }
        if let Some(execution) = self.executions.with_token(token) {
            return Ok(Some(Owner::Exact(execution)));
        }
        Err(Box::new(match token.strip_prefix(&self.token) {
            Some(_) => reply::error(
                410,
                "execution_ended",
                "this base URL or header belongs to an item that has finished; get it from the `Context` of each item, and do not \
                 keep it in a client that several items share",
            ),
            None => reply::error(
                403,
                "forbidden",
                "this address is only for the process that started the gateway",
            ),
        }))
    }

    /// Answers from a recording, refuses, or says where to record the response. `body` is that of the request with its long texts.
    fn decide(&self, owner: Owner, request: &RecordedRequest, body: &[u8]) -> Result<Sink, Box<Reply>> {
        owner.candidates().iter().for_each(|execution| execution.note_request());
        match owner {
            Owner::Exact(execution) => self.decide_exact(execution, request, body),
            Owner::ByContent(execution) => {
                execution.experiment().counts().by_content.fetch_add(1, Ordering::Relaxed);
                // A trial may be recorded again because it is old.
                if !execution.mode().replays() {
                    return self.decide_exact(execution, request, body);
                }
                if let Some(interaction) = execution.answer_if_recorded(request) {
                    let owners = std::slice::from_ref(&execution);
                    let folder = execution.experiment().folder();
                    return Err(Box::new(self.replay(&interaction, &execution, folder, owners)));
                }
                // When it was recorded, it may have been attributed otherwise.
                if let Some(reply) = self.answer_elsewhere(&execution, request) {
                    return Err(Box::new(reply));
                }
                self.decide_exact(execution, request, body)
            }
            Owner::Unknown(candidates) => self.decide_unattributed(candidates, request),
        }
    }

    /// The same for a request that may belong to several trials, or to none.
    fn decide_unattributed(
        &self,
        candidates: Vec<Arc<ExecutionTraffic>>,
        request: &RecordedRequest,
    ) -> Result<Sink, Box<Reply>> {
        let shared = Arc::new(SharedRequest::new(request.clone()));
        // A list of models, for example, is no step of an agent.
        if request.body.is_some() {
            candidates.iter().for_each(|execution| execution.note_unattributed(&shared));
        }
        // A trial may have another mode than its experiment.
        let mut experiments: Vec<_> = match &candidates[..] {
            [] => self.experiments().into_iter().map(|experiment| (experiment.mode(), experiment)).collect(),
            candidates => candidates.iter().map(|one| (one.mode(), Arc::clone(one.experiment()))).collect(),
        };
        experiments.retain(|(mode, _)| *mode != RecordMode::Off);
        log::debug!(
            path = without_query(&request.path),
            candidates = candidates.len(),
            "cannot attribute the request to an item"
        );
        let Some((_, first)) = experiments.first() else {
            return Ok(Sink::Nothing { request: shared, candidates });
        };
        first.counts().unattributed.fetch_add(1, Ordering::Relaxed);
        if candidates.is_empty() {
            self.executions.all().iter().for_each(|execution| execution.note_request());
        }
        let replaying: Vec<_> = experiments
            .iter()
            .filter(|(mode, _)| mode.replays())
            .map(|(_, experiment)| Arc::clone(experiment))
            .collect();
        if !replaying.is_empty() {
            let recorded = candidates.iter().find_map(|execution| {
                let interaction = execution.answer_if_recorded(request)?;
                Some(self.replay(&interaction, execution, execution.experiment().folder(), &candidates))
            });
            let recorded = match recorded {
                Some(reply) => Some(reply),
                None => self.answer_unattributed(&replaying, request, &candidates)?,
            };
            if let Some(reply) = recorded {
                shared.end(reply.status().as_u16());
                log::debug!(
                    path = without_query(&request.path),
                    status = reply.status().as_u16(),
                    "answered an unattributed request from a recording"
                );
                first.counts().unattributed_replayed.fetch_add(1, Ordering::Relaxed);
                return Err(Box::new(reply));
            }
        }
        if experiments.iter().any(|(mode, _)| *mode == RecordMode::Replay) {
            let RecordedRequest { method, path, .. } = request;
            let problem = format!(
                "not recorded: {method} {path}, which could not be attributed to an item; to record it, run with \
                 `{RECORD_VARIABLE}=auto`"
            );
            return Err(Box::new(refuse(&candidates, &problem)));
        }
        let is_only = experiments.iter().all(|(_, other)| Arc::ptr_eq(first, other));
        let experiment = Arc::clone(first);
        let sink = Sink::Unattributed { experiment, is_only, request: shared, candidates };
        sink.expect_answer();
        Ok(sink)
    }

    /// Answers a request from the recordings of other running items.
    fn answer_elsewhere(
        &self,
        execution: &Arc<ExecutionTraffic>,
        request: &RecordedRequest,
    ) -> Option<Reply> {
        let owners = std::slice::from_ref(execution);
        let is_other = |other: &Arc<ExecutionTraffic>| {
            !Arc::ptr_eq(other, execution) && Arc::ptr_eq(other.experiment(), execution.experiment())
        };
        self.executions.all().into_iter().filter(is_other).find_map(|other| {
            let interaction = other.answer_if_recorded(request)?;
            log::debug!(
                experiment = execution.experiment().name(),
                path = without_query(&request.path),
                "took the answer from another item's recording"
            );
            Some(self.replay(&interaction, &other, other.experiment().folder(), owners))
        })
    }

    /// Takes the answer to a request that the trial's recording lacks from those without an item: when it was recorded, the item may not
    /// have been known. Returns whether there is one.
    fn adopt_unattributed(
        &self,
        execution: &Arc<ExecutionTraffic>,
        request: &RecordedRequest,
    ) -> Result<bool, Box<Reply>> {
        if !execution.lacks(request) {
            return Ok(false);
        }
        let experiment = execution.experiment();
        let refused = |problem: &str| Box::new(refuse(std::slice::from_ref(execution), problem));
        let root = RecordingFolder::new(experiment.root());
        let found =
            self.unattributed.answer(experiment.root(), request, experiment.ignore(), &[experiment.name()]);
        let Some(interaction) = found.map_err(|problem| refused(&problem))? else { return Ok(false) };
        if execution.records() {
            // It may be recorded with the trial.
            interaction
                .copy_blobs(&root, experiment.folder())
                .map_err(|error| refused(&error.to_string()))?;
        }
        log::debug!(
            experiment = experiment.name(),
            path = without_query(&request.path),
            "took the answer from the recordings without an item"
        );
        execution.adopt(request, Interaction { experiment: None, ..interaction });
        Ok(true)
    }

    fn answer_unattributed(
        &self,
        experiments: &[Arc<ExperimentTraffic>],
        request: &RecordedRequest,
        owners: &[Arc<ExecutionTraffic>],
    ) -> Result<Option<Reply>, Box<Reply>> {
        let names: Vec<_> = experiments.iter().map(|experiment| experiment.name()).collect();
        for experiment in experiments {
            let root = experiment.root();
            let found = self.unattributed.answer(root, request, experiment.ignore(), &names);
            match found {
                Ok(Some(interaction)) => {
                    let url = interaction.request.url.as_deref();
                    let cost =
                        self.cost(url, interaction.model.as_deref(), interaction.tokens).unwrap_or(0.0);
                    self.note_unattributed_cost(cost);
                    if is_answer(interaction.response.status) {
                        owners.iter().for_each(|execution| execution.note_answer(request));
                    }
                    return Ok(Some(replay_from(&interaction, &RecordingFolder::new(root), owners)));
                }
                Ok(None) => {}
                Err(problem) => return Err(Box::new(refuse(owners, &problem))),
            }
        }
        Ok(None)
    }

    fn decide_exact(
        &self,
        execution: Arc<ExecutionTraffic>,
        request: &RecordedRequest,
        body: &[u8],
    ) -> Result<Sink, Box<Reply>> {
        let is_adopted = self.adopt_unattributed(&execution, request)?;
        match execution.decide(request, body) {
            Decision::Replay(interaction) => {
                let owners = std::slice::from_ref(&execution);
                let root = is_adopted.then(|| RecordingFolder::new(execution.experiment().root()));
                let folder = root.as_ref().unwrap_or_else(|| execution.experiment().folder());
                Err(Box::new(self.replay(&interaction, &execution, folder, owners)))
            }
            Decision::Refuse(problem) => Err(Box::new(reply::error(400, "not_recorded", &problem))),
            Decision::Send(entry) => Ok(Sink::Execution { execution, entry }),
        }
    }

    /// A response from the recording of an execution, to a request that belongs to one of the owners. `folder` has its long texts.
    fn replay(
        &self,
        interaction: &Interaction,
        recorded: &Arc<ExecutionTraffic>,
        folder: &RecordingFolder,
        owners: &[Arc<ExecutionTraffic>],
    ) -> Reply {
        // What continues it is in the same recording.
        if let Some(id) = interaction.response.body.as_ref().and_then(ModelResponse::id_of) {
            self.executions.add_response(id, recorded);
        }
        replay_from(interaction, folder, owners)
    }

    /// The cost of a response in USD, if it is known.
    pub fn cost(&self, url: Option<&str>, model: Option<&str>, tokens: Option<Tokens>) -> Option<f64> {
        budget::known_cost(&self.forwarder.prices, url, model, tokens)
    }

    /// Notes the cost of a request that belongs to no known trial, in USD: its agent may report it, too.
    pub fn note_unattributed_cost(&self, usd: f64) {
        *lock(&self.unattributed_cost) += usd;
    }

    /// Takes from the cost of requests without a known trial what an agent reports. Returns the rest of what it reports, in USD.
    pub fn take_unattributed_cost(&self, reported: f64) -> f64 {
        let mut cost = lock(&self.unattributed_cost);
        let known = reported.min(*cost);
        *cost -= known;
        reported - known
    }

    /// Records a new interaction, whose cost is in USD, before the client has received the end of the response. `id` is the identifier
    /// of the response.
    pub fn keep(&self, sink: &Sink, interaction: Interaction, cost: f64, id: Option<String>) {
        if let (Some(execution), Some(id)) = (sink.execution(), id) {
            self.executions.add_response(id, execution);
        }
        sink.keep(interaction, cost, &self.unattributed);
    }

    /// Refuses to send a request. It is an error of the item, whatever the agent makes of it.
    pub fn refuse(&self, sink: &Sink, status: u16, kind: &str, problem: &str) -> Reply {
        log::warn!(status = status, kind = kind, "refuses to send the request");
        sink.withdraw();
        match sink.candidates() {
            // It may be a request of any of them.
            [] => refuse_all(&self.executions.all(), problem),
            candidates => refuse_all(candidates, problem),
        }
        reply::error(status, kind, problem)
    }
}

/// Whether a client has only the placeholder for a key, which no provider takes.
fn has_placeholder_key(headers: &HeaderMap, url: &str) -> bool {
    let is_placeholder = |value: &[u8]| memchr::memmem::find(value, NO_KEY.as_bytes()).is_some();
    headers.values().any(|value| is_placeholder(value.as_bytes())) || is_placeholder(url.as_bytes())
}

/// Whether a request has any key.
fn has_key(headers: &HeaderMap, url: &str) -> bool {
    let has_value = |name: &str| {
        let value = headers.get(name).map_or("", |value| value.to_str().unwrap_or("?"));
        !value.trim_start_matches("Bearer").trim().is_empty()
    };
    ["authorization", "x-api-key", "x-goog-api-key", "api-key"].into_iter().any(has_value)
        || url.contains("key=")
}

/// Refuses a request that belongs to one of the owners. It is unknown whose it is, so none of them has an output that can be trusted.
fn refuse(owners: &[Arc<ExecutionTraffic>], problem: &str) -> Reply {
    refuse_all(owners, problem);
    reply::error(400, "not_recorded", problem)
}

fn refuse_all(owners: &[Arc<ExecutionTraffic>], problem: &str) {
    owners.iter().for_each(|execution| execution.refuse(problem));
}

/// A recorded response to a request that belongs to one of the owners.
fn replay_from(
    interaction: &Interaction,
    folder: &RecordingFolder,
    owners: &[Arc<ExecutionTraffic>],
) -> Reply {
    let (response, started) = (&interaction.response, Instant::now());
    let bytes = match &response.body {
        Some(body) => match body.bytes(&|hash| folder.read_blob(hash)) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) => return refuse(owners, &error.to_string()),
        },
        None => Bytes::new(),
    };
    // If it may be of several, it is unknown whose it is.
    if let [owner] = owners {
        owner.add_call(replayed_call(started, interaction, folder, &bytes));
    }
    let body = if response.truncated { reply::broken_off(bytes) } else { reply::whole(bytes) };
    let (content_type, retry_after) = (response.content_type.as_deref(), response.retry_after.as_deref());
    reply::recorded(response.status, content_type, retry_after, body)
}

/// Whether a request is signed for the host that it was made for, as those to Amazon Bedrock are.
fn is_signed_for_host(headers: &HeaderMap) -> bool {
    headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"AWS4-HMAC"))
}

fn refuse_signed(owner: &Owner) -> Reply {
    let problem = "Amazon Bedrock signs the host of each request, so its requests cannot pass through the gateway; use Bedrock's own \
                   endpoint, whose traffic is neither recorded nor replayed";
    refuse_all(owner.candidates(), problem);
    reply::error(400, "signed_for_host", problem)
}

/// The body of a form without its boundary, which is random; any other body as it is.
fn comparable(body: &Bytes, headers: &HeaderMap) -> Bytes {
    let content_type = headers.get(hyper::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = content_type.filter(|kind| kind.starts_with("multipart/")).and_then(|kind| {
        kind.split(';')
            .find_map(|part| part.trim().strip_prefix("boundary="))
            .map(|boundary| boundary.trim_matches('"'))
    });
    let Some(boundary) = boundary.filter(|boundary| !boundary.is_empty()) else { return body.clone() };
    let mut rest = &body[..];
    let mut changed = Vec::with_capacity(body.len());
    while let Some(at) = rest.windows(boundary.len()).position(|window| window == boundary.as_bytes()) {
        changed.extend_from_slice(&rest[..at]);
        changed.extend_from_slice(b"boundary");
        rest = &rest[at + boundary.len()..];
    }
    changed.extend_from_slice(rest);
    changed.into()
}

/// A base URL, which may have a query, and a path below it.
fn join(base: &str, rest: &str) -> String {
    match base.split_once('?') {
        Some((base, query)) => {
            let mark = if rest.contains('?') { '&' } else { '?' };
            format!("{}{rest}{mark}{query}", base.trim_end_matches('/'))
        }
        None => format!("{}{rest}", base.trim_end_matches('/')),
    }
}

async fn serve(gateway: Arc<Gateway>, listener: TcpListener) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files: others will be closed.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        // Otherwise the end of a response may wait until the client confirms its beginning.
        let _ = stream.set_nodelay(true);
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move {
            let service = hyper::service::service_fn(|request: Request<Incoming>| {
                let gateway = Arc::clone(&gateway);
                async move {
                    let is_head = request.method() == Method::HEAD;
                    let reply = gateway.answer(request).await;
                    Ok::<_, std::convert::Infallible>(if is_head {
                        reply.map(|_| reply::whole(""))
                    } else {
                        reply
                    })
                }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .header_read_timeout(None)
                .serve_connection(TokioIo::new(stream), service);
            // The client went away, or a recorded response broke off.
            let _ = connection.await;
        });
    }
}
