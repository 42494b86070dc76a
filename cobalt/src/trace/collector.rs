//! Collects the spans of one execution while it runs.

#[cfg(feature = "otlp")]
use std::collections::HashSet;
#[cfg(feature = "otlp")]
use std::sync::OnceLock;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
#[cfg(feature = "otlp")]
use std::time::{SystemTime, UNIX_EPOCH};

use cobalt_core::duration::milliseconds;
#[cfg(feature = "tracing")]
use cobalt_core::item::Item;
use cobalt_core::trace::{FAULT_ATTRIBUTE, ReportedSpan, ToolSpan};
#[cfg(feature = "otlp")]
use cobalt_otlp::ExportedSpan;
use serde_json::Value;
#[cfg(feature = "otlp")]
use tokio::sync::Notify;

#[cfg(feature = "otlp")]
use super::exported::TraceContext;

/// The maximum number of spans that are collected: more than a trace has, because its steps are dropped before its calls.
const MAX_COLLECTED: usize = 10_000;

/// Collects the spans of one execution, from any thread, until it is taken.
#[derive(Debug)]
pub struct SpanCollector {
    started: Instant,
    collected: Mutex<Collected>,
    #[cfg(feature = "otlp")]
    exports: Exports,
}

/// What is known of the spans that are exported to an execution.
#[cfg(feature = "otlp")]
#[derive(Debug)]
struct Exports {
    /// The time to which theirs are relative.
    started: SystemTime,
    /// How they name the execution; set when it is asked for.
    context: OnceLock<TraceContext>,
    /// Notified when the first one arrives that is directly below the execution.
    outermost: Notify,
}

#[derive(Debug, Default)]
struct Collected {
    spans: Vec<ReportedSpan>,
    /// What was recorded on the span of the execution itself: the fields of one model call after another.
    calls: Vec<ReportedSpan>,
    dropped: usize,
    is_taken: bool,
    /// The ids of exported spans.
    #[cfg(feature = "otlp")]
    exported: HashSet<u64>,
}

/// The place of a span in its collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The execution itself.
    Execution,
    /// A span of it, by its number from 0.
    Span(usize),
}

impl Default for SpanCollector {
    fn default() -> Self {
        Self::new()
    }
}

impl SpanCollector {
    /// For an execution that starts now.
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            collected: Mutex::default(),
            #[cfg(feature = "otlp")]
            exports: Exports {
                started: SystemTime::now(),
                context: OnceLock::new(),
                outermost: Notify::new(),
            },
        }
    }

    pub fn started(&self) -> Instant {
        self.started
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> f64 {
        milliseconds(self.started.elapsed())
    }

    /// Adds a span that starts now; `None` if the execution has ended, or has too many.
    #[cfg(feature = "tracing")]
    pub fn open(&self, parent: Place, name: &str, fields: Item) -> Option<Place> {
        self.start(parent, ReportedSpan { name: name.to_owned(), fields, ..ReportedSpan::default() })
    }

    /// The same for a call of a wrapped tool.
    pub fn open_tool(&self, parent: Place, tool: ToolSpan) -> Option<Place> {
        let (name, own_call) = (tool.name.clone(), Some(Box::new(tool)));
        self.start(parent, ReportedSpan { name, own_call, ..ReportedSpan::default() })
    }

    /// Ends the call of a wrapped tool. `fault` is the one that was injected.
    pub fn close_tool(&self, place: Place, fault: Option<String>, outcome: Result<Value, String>) {
        if let Place::Span(number) = place
            && let Some(span) = self.lock().spans.get_mut(number)
            && let Some(tool) = &mut span.own_call
        {
            span.fields.extend(fault.map(|fault| (FAULT_ATTRIBUTE.to_owned(), fault.into())));
            match outcome {
                Ok(result) => tool.result = Some(result),
                Err(error) => tool.error = Some(error),
            }
        }
        self.close(place);
    }

    fn start(&self, parent: Place, span: ReportedSpan) -> Option<Place> {
        let start_ms = self.now_ms();
        let mut collected = self.lock();
        if collected.is_taken {
            return None;
        }
        if collected.spans.len() >= MAX_COLLECTED {
            collected.dropped += 1;
            return None;
        }
        let number = collected.spans.len();
        let parent = match parent {
            Place::Execution => None,
            Place::Span(number) => Some(number as u64),
        };
        collected.spans.push(ReportedSpan { id: number as u64, parent, start_ms, is_open: true, ..span });
        Some(Place::Span(number))
    }

    /// Adds fields to a span, or to the execution.
    #[cfg(feature = "tracing")]
    pub fn record(&self, place: Place, fields: Item) {
        let now = self.now_ms();
        let mut collected = self.lock();
        match place {
            Place::Span(number) => {
                if let Some(span) = collected.spans.get_mut(number) {
                    span.fields.extend(fields);
                }
            }
            Place::Execution if collected.is_taken || collected.calls.len() >= MAX_COLLECTED => {}
            Place::Execution => collected.record_on_execution(fields, now),
        }
    }

    /// Adds the results of tools and the error that an event in a span reports.
    #[cfg(feature = "tracing")]
    pub fn add_event(&self, place: Place, fields: Item, error: Option<String>) {
        let Place::Span(number) = place else { return };
        let mut collected = self.lock();
        let Some(span) = collected.spans.get_mut(number) else { return };
        span.error = span.error.take().or(error);
        let names = ["tool.name", "tool.result"].map(|name| fields.get(name).cloned());
        if let [Some(Value::String(name)), Some(result)] = names {
            span.results.push((name, result));
            return;
        }
        for (name, value) in fields {
            span.fields.entry(name).or_insert(value);
        }
    }

    /// Ends a span.
    pub fn close(&self, place: Place) {
        let end_ms = self.now_ms();
        if let Place::Span(number) = place
            && let Some(span) = self.lock().spans.get_mut(number)
        {
            span.duration_ms = end_ms - span.start_ms;
            span.is_open = false;
        }
    }

    /// How exported spans name the execution.
    #[cfg(feature = "otlp")]
    pub fn trace_context(&self) -> TraceContext {
        *self.exports.context.get_or_init(TraceContext::random)
    }

    /// Whether spans may be exported to the execution.
    #[cfg(feature = "otlp")]
    pub fn expects_exports(&self) -> bool {
        self.exports.context.get().is_some()
    }

    /// Waits until a span directly below the execution has been exported.
    #[cfg(feature = "otlp")]
    pub async fn exported(&self) {
        self.exports.outermost.notified().await;
        // For others that wait.
        self.exports.outermost.notify_one();
    }

    /// Adds exported spans. Returns whether the execution still took them.
    #[cfg(feature = "otlp")]
    pub fn add_exported(&self, spans: Vec<ExportedSpan>) -> bool {
        let started = self.exports.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let started = u64::try_from(started.as_nanos()).unwrap_or(u64::MAX);
        let execution = self.trace_context().span_id;
        let mut collected = self.lock();
        if collected.is_taken {
            return false;
        }
        for span in spans {
            if collected.spans.len() >= MAX_COLLECTED {
                collected.dropped += 1;
                continue;
            }
            let mut span = span.after(started);
            // An exporter may repeat what was received.
            if !collected.exported.insert(span.id) {
                continue;
            }
            if span.parent == Some(execution) {
                span.parent = None;
                self.exports.outermost.notify_one();
            }
            collected.spans.push(span);
        }
        true
    }

    /// Takes the spans, and how many were dropped. Later ones are ignored: the execution has ended.
    pub fn take(&self) -> (Vec<ReportedSpan>, usize) {
        let now = self.now_ms();
        let mut collected = self.lock();
        collected.is_taken = true;
        let mut spans = std::mem::take(&mut collected.spans);
        let open = spans.iter_mut().filter(|span| span.is_open);
        open.for_each(|span| span.duration_ms = (now - span.start_ms).max(0.0));
        spans.append(&mut collected.calls);
        (spans, collected.dropped)
    }
}

#[cfg(feature = "tracing")]
impl Collected {
    /// Older versions of rig record a model call on whatever span is current, which may be that of the execution. A field that is there
    /// already begins the next call.
    fn record_on_execution(&mut self, fields: Item, now: f64) {
        let is_repeated = |call: &ReportedSpan| fields.keys().any(|name| call.fields.contains_key(name));
        if self.calls.last().is_none_or(is_repeated) {
            let id = (MAX_COLLECTED + self.calls.len()) as u64;
            let name = "chat".to_owned();
            let call =
                ReportedSpan { id, name, start_ms: now, is_on_execution: true, ..ReportedSpan::default() };
            self.calls.push(call);
        }
        if let Some(call) = self.calls.last_mut() {
            call.fields.extend(fields);
            call.duration_ms = now - call.start_ms;
        }
    }
}
