//! Passes a request on to a provider, and the response back as it comes, while it is recorded.

use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use cobalt_core::back_off::BackOff;
use cobalt_core::duration::milliseconds;
use cobalt_core::prices::{PriceTable, Tokens};
use cobalt_core::recordings::{
    Answer, Body, Interaction, ModelResponse, RecordedRequest, RecordedResponse, RecordingFolder, StreamKind,
    StreamReader,
};
use cobalt_core::trace::GatewayCall;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, RETRY_AFTER,
};
use hyper::header::{TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use reqwest::Response;
use tokio::sync::mpsc;

use super::current::EXECUTION_HEADER;
use super::execution::{ExecutionTraffic, InFlight};
use super::gateway::Gateway;
use super::passed_call::{SentCall, model_in_path};
use super::reply::{self, Reply, StreamedBody};
use super::sink::Sink;
use crate::budget::{self, Charge, PricedRequest, Reservation};
use crate::http::{Connections, is_transient, retry_after, root_cause};
use crate::limits::{Limits, Permit};
use crate::log;

/// Bytes of a request for each of its tokens, to estimate them before they are known.
const BYTES_PER_TOKEN: u64 = 4;
/// The longest wait for which a provider may ask.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// How long the rest of a response is read that the client no longer reads.
const REST_TIMEOUT: Duration = Duration::from_secs(1);
/// Parts of a response on their way to the client.
const PARTS: usize = 16;

/// What connects to providers.
#[derive(Debug)]
pub struct Forwarder {
    connections: Connections,
    back_off: BackOff,
    pub prices: PriceTable,
    pub limits: Arc<Limits>,
}

/// A request that is passed on.
#[derive(Debug)]
pub struct Outgoing {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The provider's name, or the host.
    pub provider: String,
    pub recorded: RecordedRequest,
    /// The body in the form in which it is compared.
    pub compared: Bytes,
}

impl Forwarder {
    pub fn new(prices: PriceTable, limits: Arc<Limits>) -> Self {
        Self { connections: Connections::transparent(), back_off: BackOff::default(), prices, limits }
    }
}

/// The last attempt to send a request.
struct Attempt {
    outcome: Outcome,
    /// When it was sent.
    sent: Instant,
    /// How many times it was sent before.
    retries: u32,
    /// Held until the response is read.
    permit: Option<Permit>,
    reservation: Reservation,
}

/// A response, or why there is none.
enum Outcome {
    /// It arrives in parts: a stream.
    Stream(Response),
    /// It was read, so nothing of it can be missing.
    Whole { status: u16, headers: HeaderMap, body: Bytes },
    /// A transient error that was read, to be returned after the last attempt.
    Busy { status: u16, headers: HeaderMap, body: Bytes },
    Unreachable {
        problem: String,
        /// Whether the provider may have received the request.
        is_sent: bool,
    },
}

impl Outcome {
    /// What happened, for the log.
    fn reason(&self) -> String {
        match self {
            Self::Stream(response) => format!("status {}", response.status().as_u16()),
            Self::Whole { status, .. } | Self::Busy { status, .. } => format!("status {status}"),
            Self::Unreachable { problem, .. } => problem.clone(),
        }
    }
}

impl Outgoing {
    /// The request with what its cost depends on.
    fn priced<'a>(&'a self, prices: &'a PriceTable) -> PricedRequest<'a> {
        PricedRequest {
            prices,
            provider: &self.provider,
            url: &self.url,
            model: self.recorded.model().or_else(|| model_in_path(&self.recorded.path)),
            bytes: self.body.len(),
            body: self.recorded.body.as_ref().and_then(Body::json),
        }
    }
}

impl Gateway {
    /// Sends a request, and returns the response while it arrives.
    pub async fn send(self: Arc<Self>, outgoing: Outgoing, sink: Sink) -> Reply {
        let mut in_flight = sink.execution().map(ExecutionTraffic::in_flight);
        // If the client goes away, nobody else completes the entry.
        let mut unanswered = GiveUpOnDrop(Some(sink.clone()));
        let attempt = self.send_with_retries(&outgoing, &sink, in_flight.as_mut()).await;
        let Attempt { outcome, sent, retries, permit, reservation } = match attempt {
            Ok(attempt) => attempt,
            Err(refusal) => {
                unanswered.0 = None;
                return self.refuse(&sink, 402, "budget_used_up", &refusal);
            }
        };
        let (status, headers, first) = match outcome {
            Outcome::Stream(response) => {
                let (status, headers) = (response.status().as_u16(), response.headers().clone());
                (status, headers, Upstream::Open(response))
            }
            Outcome::Whole { status, headers, body } | Outcome::Busy { status, headers, body } => {
                (status, headers, Upstream::Read(Some(body)))
            }
            Outcome::Unreachable { problem, .. } => {
                let message =
                    format!("cannot reach {}: {problem}", cobalt_core::redact::redacted_url(&outgoing.url));
                if let [owner] = sink.candidates() {
                    owner.add_call(unanswered_call(&outgoing, (sent, retries), &message));
                }
                sink.fail_to_send(&message);
                return reply::error(502, "unreachable", &message);
            }
        };
        unanswered.0 = None;
        let (parts, received) = mpsc::channel(PARTS);
        let capture = Capture::new(&headers, status, (sent, retries), sink.folder());
        let gateway = Arc::clone(&self);
        let pass_on = async move {
            let _in_flight = in_flight;
            let tokens = capture.pass_on(gateway, (outgoing, reservation), sink, first, parts).await;
            if let Some(permit) = permit {
                permit.settle(tokens);
            }
        };
        tokio::spawn(pass_on);
        let mut reply = Reply::new(StreamedBody::new(received).boxed_unsync());
        *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::OK);
        let forwarded = headers.iter().filter(|(name, _)| !is_of_connection(name));
        reply.headers_mut().extend(forwarded.map(|(name, value)| (name.clone(), value.clone())));
        reply
    }

    /// Sends a request until it is answered, or until another attempt would not help. An error if the budget is used up.
    async fn send_with_retries(
        &self,
        outgoing: &Outgoing,
        sink: &Sink,
        mut in_flight: Option<&mut InFlight>,
    ) -> Result<Attempt, String> {
        let Forwarder { limits, back_off, .. } = &self.forwarder;
        let (provider, model) = (&*outgoing.provider, outgoing.recorded.model());
        let tokens = outgoing.body.len() as u64 / BYTES_PER_TOKEN;
        let mut attempt = 0;
        loop {
            let priced = outgoing.priced(&self.forwarder.prices);
            // Before the limits: others need their permits to answer what this request waits for.
            let mut reservation = waiting(&mut in_flight, budget::reserve(&priced)).await?;
            let permit = waiting(&mut in_flight, limits.acquire(provider, model, tokens)).await;
            if let Some(error) = limits.take_sharing_error() {
                eprintln!("note: {error}");
            }
            let sent = Instant::now();
            reservation.note_sent();
            let outcome = self.forwarder.send_once(outgoing).await;
            let wait = match &outcome {
                Outcome::Stream(_) | Outcome::Whole { .. } => {
                    log::debug!(
                        provider = provider,
                        model = model.unwrap_or("unknown"),
                        attempts = attempt + 1,
                        elapsed = humantime::format_duration(whole_milliseconds(sent.elapsed())),
                        "the provider answered"
                    );
                    let permit = Some(permit);
                    return Ok(Attempt { outcome, sent, retries: attempt, permit, reservation });
                }
                Outcome::Busy { status, headers, body } => {
                    reservation.release();
                    let asked = retry_after(headers, SystemTime::now());
                    let is_final = is_quota(body) || asked.is_some_and(|asked| asked > MAX_WAIT);
                    match status {
                        429 | 529 if !is_quota(body) => permit.throttled(asked),
                        _ => drop(permit),
                    }
                    (!is_final).then(|| back_off.wait(attempt, asked))
                }
                Outcome::Unreachable { is_sent, .. } => {
                    if *is_sent {
                        // It may be paid for.
                        drop(reservation);
                    } else {
                        reservation.release();
                    }
                    drop(permit);
                    Some(back_off.wait(attempt, None))
                }
            };
            let Some(wait) = wait.filter(|_| attempt < limits.retries(provider, model)) else {
                log::warn!(
                    provider = provider,
                    model = model.unwrap_or("unknown"),
                    reason = outcome.reason(),
                    attempts = attempt + 1,
                    "gives up on the request"
                );
                let reservation = Reservation::default();
                return Ok(Attempt { outcome, sent, retries: attempt, permit: None, reservation });
            };
            log::debug!(
                provider = provider,
                model = model.unwrap_or("unknown"),
                reason = outcome.reason(),
                attempt = attempt + 1,
                pause = humantime::format_duration(wait),
                "retries the request"
            );
            attempt += 1;
            if let Some(execution) = sink.execution() {
                execution.count_retry();
            }
            waiting(&mut in_flight, tokio::time::sleep(wait)).await;
        }
    }
}

fn whole_milliseconds(duration: Duration) -> Duration {
    Duration::from_millis(duration.as_millis().try_into().unwrap_or(u64::MAX))
}

/// Waits for a future that is not ready at once, and counts the time as waited.
async fn waiting<F: Future>(in_flight: &mut Option<&mut InFlight>, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let first = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
    if let Poll::Ready(output) = first {
        return output;
    }
    in_flight.iter_mut().for_each(|in_flight| in_flight.set_waiting(true));
    let output = future.await;
    in_flight.iter_mut().for_each(|in_flight| in_flight.set_waiting(false));
    output
}

/// The call for the trace of a request without a response.
fn unanswered_call(
    outgoing: &Outgoing,
    (sent, retries): (Instant, u32),
    message: &str,
) -> Option<GatewayCall> {
    let call = SentCall {
        started: sent,
        duration_ms: milliseconds(sent.elapsed()),
        provider: &outgoing.provider,
        request: &outgoing.recorded,
        body: &outgoing.compared,
        status: 502,
        response: ModelResponse {
            answer: vec![Answer::Error(message.to_owned())],
            ..ModelResponse::default()
        },
        time_to_first_token_ms: None,
        retries,
    };
    call.into_call()
}

struct GiveUpOnDrop(Option<Sink>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        if let Some(sink) = &self.0 {
            sink.give_up();
        }
    }
}

impl Forwarder {
    async fn send_once(&self, outgoing: &Outgoing) -> Outcome {
        let client = match self.connections.client_for(&outgoing.url) {
            Ok(client) => client,
            Err(problem) => return Outcome::Unreachable { problem, is_sent: false },
        };
        let mut headers = outgoing.headers.clone();
        let of_connection: Vec<_> = headers.keys().filter(|name| is_of_connection(name)).cloned().collect();
        of_connection.iter().for_each(|name| drop(headers.remove(name)));
        // Compressed responses could not be recorded as text.
        headers.remove(ACCEPT_ENCODING);
        headers.remove(EXECUTION_HEADER);
        let request = client.request(outgoing.method.clone(), &outgoing.url).headers(headers);
        let request = if outgoing.body.is_empty() { request } else { request.body(outgoing.body.clone()) };
        match request.send().await {
            Ok(response) if is_transient(response.status().as_u16()) => {
                let (status, headers) = (response.status().as_u16(), response.headers().clone());
                let body = response.bytes().await.unwrap_or_default();
                Outcome::Busy { status, headers, body }
            }
            Ok(response) if response.content_length().is_some() => {
                let (status, headers) = (response.status().as_u16(), response.headers().clone());
                match response.bytes().await {
                    Ok(body) => Outcome::Whole { status, headers, body },
                    Err(error) => Outcome::Unreachable { problem: root_cause(&error), is_sent: true },
                }
            }
            Ok(response) => Outcome::Stream(response),
            Err(error) => Outcome::Unreachable {
                problem: root_cause(&error),
                is_sent: !(error.is_connect() || error.is_builder()),
            },
        }
    }
}

/// Whether the quota is exhausted, which waiting does not change.
fn is_quota(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"insufficient_quota").is_some()
}

/// Whether a header concerns only one connection.
fn is_of_connection(name: &HeaderName) -> bool {
    let own = [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, TE, TRAILER, UPGRADE];
    own.contains(name) || matches!(name.as_str(), "keep-alive" | "proxy-authorization" | "proxy-connection")
}

/// Where a response comes from.
enum Upstream {
    Open(Response),
    /// It is already read.
    Read(Option<Bytes>),
}

impl Upstream {
    async fn next(&mut self) -> Result<Option<Bytes>, reqwest::Error> {
        match self {
            Self::Open(response) => response.chunk().await,
            Self::Read(body) => Ok(body.take()),
        }
    }
}

/// The parts of a response that have arrived.
struct Capture {
    status: u16,
    content_type: Option<String>,
    retry_after: Option<String>,
    /// When the request was sent, and how many times before.
    sent: Instant,
    retries: u32,
    first_token: Option<Instant>,
    /// Where long texts are stored; `None` if nothing is recorded.
    folder: Option<RecordingFolder>,
    /// The kind of a stream, and what it reports.
    stream: Option<(StreamKind, StreamReader)>,
    /// The parts that are needed at the end.
    parts: Vec<(u64, Bytes)>,
}

impl Capture {
    fn new(
        headers: &HeaderMap,
        status: u16,
        (sent, retries): (Instant, u32),
        folder: Option<RecordingFolder>,
    ) -> Self {
        let text =
            |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let content_type = text(CONTENT_TYPE);
        let kind = content_type.as_deref().and_then(StreamKind::of);
        Self {
            status,
            content_type,
            retry_after: text(RETRY_AFTER),
            sent,
            retries,
            first_token: None,
            folder,
            stream: kind.map(|kind| (kind, StreamReader::new(kind))),
            parts: Vec::new(),
        }
    }

    fn add(&mut self, part: &Bytes) {
        let may_report = match &mut self.stream {
            Some((_, stream)) => {
                stream.push(part);
                if self.first_token.is_none() && stream.has_begun() {
                    self.first_token = Some(Instant::now());
                }
                false
            }
            // It is read when it is complete.
            None => self
                .content_type
                .as_ref()
                .is_none_or(|kind| kind.contains("json") || kind.starts_with("text/")),
        };
        if may_report || self.folder.is_some() {
            let at = u64::try_from(self.sent.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.parts.push((at, part.clone()));
        }
    }

    /// Passes the parts on to the client, and keeps the response. Returns its tokens, if it reports them. The client receives the last
    /// part only when it is kept: then its item may end.
    async fn pass_on(
        mut self,
        gateway: Arc<Gateway>,
        request: (Outgoing, Reservation),
        sink: Sink,
        mut upstream: Upstream,
        client: mpsc::Sender<io::Result<Bytes>>,
    ) -> Option<u64> {
        let mut held: Option<Bytes> = None;
        let mut deadline = None;
        let broken = loop {
            let next = match deadline {
                None => upstream.next().await,
                Some(deadline) => match tokio::time::timeout_at(deadline, upstream.next()).await {
                    Ok(next) => next,
                    Err(_) => break Some(String::from("the client went away")),
                },
            };
            match next {
                Ok(Some(part)) => {
                    self.add(&part);
                    let ready = if self.stream.is_some() { Some(part) } else { held.replace(part) };
                    if let Some(part) = ready
                        && deadline.is_none()
                        && client.send(Ok(part)).await.is_err()
                    {
                        deadline = Some(tokio::time::Instant::now() + REST_TIMEOUT);
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(root_cause(&error)),
            }
        };
        let tokens = self.keep(&gateway, request, &sink, broken.is_some());
        // The client may have gone.
        if let Some(part) = held {
            let _ = client.send(Ok(part)).await;
        }
        if let Some(problem) = broken {
            let _ = client.send(Err(io::Error::other(problem))).await;
        }
        tokens.map(Tokens::total)
    }

    fn keep(
        mut self,
        gateway: &Gateway,
        (outgoing, reservation): (Outgoing, Reservation),
        sink: &Sink,
        truncated: bool,
    ) -> Option<Tokens> {
        let latency_ms = milliseconds(self.sent.elapsed());
        let (kind, read) = match self.stream.take() {
            Some((kind, stream)) => (Some(kind), stream.finish()),
            None => {
                // Most have only one part.
                if self.parts.len() > 1 {
                    let at = self.parts[self.parts.len() - 1].0;
                    let whole: Vec<u8> = self.parts.drain(..).flat_map(|(_, part)| part).collect();
                    self.parts.push((at, whole.into()));
                }
                (None, self.parts.first().map(|(_, body)| ModelResponse::of(body)).unwrap_or_default())
            }
        };
        let (tokens, id) = (read.tokens, read.id.clone());
        let model = read.model.clone().or_else(|| outgoing.recorded.model().map(str::to_owned));
        let priced = outgoing.priced(&gateway.forwarder.prices);
        // An error costs nothing.
        let (charge, cost) = match self.status {
            400.. => (Some(0.0), 0.0),
            _ => (
                priced.charge(model.as_deref(), tokens),
                gateway.cost(Some(&outgoing.url), model.as_deref(), tokens).unwrap_or(0.0),
            ),
        };
        if sink.execution().is_none() {
            gateway.note_unattributed_cost(cost);
        }
        sink.pay(Charge { charged: reservation.settle(charge), known: cost });
        let Outgoing { provider, recorded: request, compared, .. } = outgoing;
        if let [owner] = sink.candidates() {
            let until_first = |first: Instant| milliseconds(first.duration_since(self.sent));
            let call = SentCall {
                started: self.sent,
                duration_ms: latency_ms,
                provider: &provider,
                request: &request,
                body: &compared,
                status: self.status,
                response: read,
                time_to_first_token_ms: self.first_token.map(until_first),
                retries: self.retries,
            };
            owner.add_call(call.into_call());
        }
        let (request, body) = match self.folder.take() {
            Some(folder) => match self.store(&folder, &compared, kind) {
                Ok(body) => (request, body),
                Err(error) => {
                    sink.fail_to_write(&error);
                    return tokens;
                }
            },
            None => (RecordedRequest { body: None, ..request }, None),
        };
        let response = RecordedResponse {
            status: self.status,
            content_type: self.content_type,
            retry_after: self.retry_after,
            truncated,
            body,
        };
        let interaction =
            Interaction { experiment: None, recorded_at: None, request, response, latency_ms, model, tokens };
        gateway.keep(sink, interaction, cost, id);
        tokens
    }

    /// Stores the long texts of a request and its response. Returns the response's body.
    fn store(
        &self,
        folder: &RecordingFolder,
        compared: &[u8],
        kind: Option<StreamKind>,
    ) -> io::Result<Option<Body>> {
        let mut store = |data: &[u8]| folder.write_blob(data);
        Body::of(compared, &mut store)?;
        match kind {
            Some(kind) => {
                let parts: Vec<_> = self.parts.iter().map(|(at, part)| (*at, &part[..])).collect();
                Body::of_stream(&parts, kind, &mut store)
            }
            None => Body::of_response(self.parts.first().map_or(&[], |(_, body)| body), &mut store),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_recording_only_what_may_report_tokens_is_kept() {
        for (content_type, folder, kept) in [
            ("text/event-stream", None, 0),
            ("text/event-stream", Some(RecordingFolder::new("x")), 1),
            ("application/x-ndjson", None, 0),
            ("application/json; charset=utf-8", None, 1),
            ("audio/mpeg", None, 0),
            ("audio/mpeg", Some(RecordingFolder::new("x")), 1),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type.parse().unwrap())]);
            let mut capture = Capture::new(&headers, 200, (Instant::now(), 0), folder);
            capture.add(&Bytes::from_static(b"data: {}\n\n"));
            assert_eq!(capture.parts.len(), kept, "{content_type}");
        }
    }
}
