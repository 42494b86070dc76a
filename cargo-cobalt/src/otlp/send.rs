//! Sends the spans in batches, side by side. A failure is a warning, and ends the sending.

use std::env;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use cobalt::command::config::{Config, ReporterKind, project_root};
use cobalt_core::prices::PriceTable;
use cobalt_core::wording::count;
use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use tokio::runtime;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::attributes::Attributes;
use super::run_spans::run_spans;
use super::settings::OtlpSettings;
use crate::environment::Environment;
use crate::error::Error;
use crate::interrupt;
use crate::results::{FinishedExperiment, Output, Reporter, Results};

/// The size of the spans from which a batch is sent. Collectors accept up to 20 MiB, and Langfuse 4.5 MB.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of spans in a batch.
const BATCH_SPANS: usize = 1000;
/// The number of batches under way.
const PARALLEL: usize = 4;
/// How long the end of a run is delayed at most. A server that does not respond delays it less, as the first failure ends it.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// Polling interval for the deadline and Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A longer response is not read.
const LONGEST_RESPONSE: usize = 64 * 1024;

/// Sends the results of a run when it finishes.
pub struct OtlpReporter {
    /// Why nothing can be sent, if a setting is invalid.
    settings: Result<OtlpSettings, String>,
    prices: PriceTable,
}

impl OtlpReporter {
    /// The configured reporter.
    pub fn of(settings: &Config) -> Result<Self, Error> {
        let mut reporters = settings.reporters().iter().filter(|it| it.kind == ReporterKind::Otlp);
        let url = reporters.next().and_then(|reporter| reporter.url.as_deref());
        if reporters.next().is_some() {
            let instead = "send to an OpenTelemetry collector, which can forward to several";
            return Err(Error::Arguments(format!("`otlp` can only be one of the reporters: {instead}")));
        }
        let folder = env::current_dir().map_err(Error::CurrentFolder)?;
        let environment = Environment::read(&[&project_root(&folder), settings.workspace_root()])?;
        let variable = |name: &str| environment.get(name)?.into_string().ok();
        let prices = settings.prices().clone();
        Ok(Self { settings: OtlpSettings::new(url, variable), prices })
    }
}

impl Reporter for OtlpReporter {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        if results.experiments.is_empty() || interrupt::was_received() {
            return Ok(());
        }
        match &self.settings {
            Ok(settings) => self.export(settings, results, output),
            Err(problem) => output.warn(&format!("failed to send the results with OTLP: {problem}")),
        }
        Ok(())
    }
}

impl OtlpReporter {
    fn export(&self, settings: &OtlpSettings, results: &Results, output: &dyn Output) {
        let spans = results.experiments.iter().flat_map(|it| run_spans(it, &self.prices));
        let host = settings.endpoint.host();
        let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return output.warn(&format!("failed to send the results to {host}: {error}")),
        };
        let Export { sent, rejected, problem } = runtime.block_on(send_all(settings, spans));
        // Do not wait for pending DNS lookups.
        runtime.shutdown_background();
        if let Some(problem) = problem {
            let before =
                if sent == 0 { String::new() } else { format!("; {} were sent", count(sent, "span")) };
            output.warn(&format!("failed to send the results to {host}: {problem}{before}"));
        } else {
            output.eprintln(&format!("sent {} to {host}", count(sent, "span")));
            for note in results.experiments.iter().filter_map(FinishedExperiment::left_out_note) {
                output.eprintln(&format!("note: {note}"));
            }
        }
        if let Some((number, why)) = rejected {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            output.warn(&format!("{host} rejected {}{why}", count(number, "span")));
        }
    }
}

/// The result of sending.
#[derive(Debug, Default)]
struct Export {
    /// The number of spans that were accepted.
    sent: usize,
    /// The number of spans that were not, with the server's first reason.
    rejected: Option<(usize, String)>,
    /// Why sending stopped early.
    problem: Option<String>,
}

/// What a server says about a batch that it took: the number of rejected spans, and why.
type Rejection = Option<(usize, String)>;

async fn send_all(settings: &OtlpSettings, spans: impl Iterator<Item = Span>) -> Export {
    let mut export = Export::default();
    let client = match settings.endpoint.client() {
        Ok(client) => client,
        Err(problem) => return Export { problem: Some(problem), ..export },
    };
    let deadline = Instant::now() + MAX_WAIT;
    let sender = Arc::new(Sender { client, endpoint: settings.endpoint.clone(), deadline });
    let mut batches = Batches { spans: spans.peekable() };
    let mut under_way = JoinSet::new();
    while export.problem.is_none() {
        while under_way.len() < PARALLEL
            && let Some(batch) = batches.next()
        {
            let spans = batch.len();
            match encode(batch, settings) {
                Ok(body) => drop(under_way.spawn(Arc::clone(&sender).send(spans, body))),
                Err(error) => export.problem = Some(error.to_string()),
            }
        }
        if under_way.is_empty() {
            break;
        }
        if interrupt::was_received() {
            export.problem = Some("interrupted".to_owned());
        } else if Instant::now() >= deadline {
            let longest = humantime::format_duration(MAX_WAIT);
            export.problem =
                Some(format!("not finished within {longest}, the longest that a run waits for it"));
        } else if let Ok(Some(ended)) = timeout(POLL_INTERVAL, under_way.join_next()).await {
            export.add(ended.unwrap_or_else(|error| Err(error.to_string())));
        }
    }
    export
}

impl Export {
    fn add(&mut self, ended: Result<(usize, Rejection), String>) {
        match ended {
            Ok((spans, rejection)) => {
                let (rejected, why) = rejection.unwrap_or_default();
                self.sent += spans.saturating_sub(rejected);
                if rejected > 0 {
                    self.rejected.get_or_insert((0, why)).0 += rejected;
                }
            }
            Err(problem) => self.problem = Some(problem),
        }
    }
}

/// Spans in batches of a limited size; a larger span is a batch of its own.
struct Batches<I: Iterator<Item = Span>> {
    spans: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = Span>> Iterator for Batches<I> {
    type Item = Vec<Span>;

    fn next(&mut self) -> Option<Vec<Span>> {
        let first = self.spans.next()?;
        let mut bytes = first.encoded_len();
        let mut batch = vec![first];
        while batch.len() < BATCH_SPANS
            && let Some(span) = self.spans.next_if(|span| bytes + span.encoded_len() <= BATCH_BYTES)
        {
            bytes += span.encoded_len();
            batch.push(span);
        }
        Some(batch)
    }
}

/// The body of a request.
fn encode(spans: Vec<Span>, settings: &OtlpSettings) -> io::Result<Vec<u8>> {
    let mut attributes = Attributes::default();
    settings.resource.iter().for_each(|(name, value)| attributes.set(name, value.as_str()));
    let scope = InstrumentationScope {
        name: "cobalt".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let request = ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource { attributes: attributes.into_vec(), ..Resource::default() }),
            scope_spans: vec![ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() }],
            ..ResourceSpans::default()
        }],
    };
    let body = request.encode_to_vec();
    if !settings.gzip {
        return Ok(body);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&body)?;
    encoder.finish()
}

/// What the requests share.
#[derive(Debug)]
struct Sender {
    client: Client,
    endpoint: crate::http_client::Endpoint,
    deadline: Instant,
}

impl Sender {
    /// Sends a batch of spans. Returns their number.
    async fn send(self: Arc<Self>, spans: usize, body: Vec<u8>) -> Result<(usize, Rejection), String> {
        let response = self.endpoint.deliver(&self.client, &body, self.deadline).await?;
        Ok((spans, rejection(response).await))
    }
}

/// The partial success that a response reports. One that cannot be read counts as a success, as its status is one.
async fn rejection(mut response: Response) -> Rejection {
    let content_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    if !content_type.starts_with("application/x-protobuf") {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_RESPONSE {
            return None;
        }
    }
    let partial = ExportTraceServiceResponse::decode(&*body).ok()?.partial_success?;
    let number = usize::try_from(partial.rejected_spans).ok().filter(|number| *number > 0)?;
    Some((number, partial.error_message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_limited_by_size_and_number() {
        let span = |length: usize| Span { name: "x".repeat(length), ..Span::default() };
        let sizes = |spans: Vec<Span>| {
            let batches = Batches { spans: spans.into_iter().peekable() };
            batches.map(|batch| batch.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(vec![]), [0; 0]);
        assert_eq!(sizes(vec![span(1); 2500]), [1000, 1000, 500]);
        assert_eq!(sizes(vec![span(600_000); 3]), [1, 1, 1]);
        assert_eq!(sizes(vec![span(10), span(3 << 20), span(10), span(10)]), [1, 1, 2]);
    }
}
