//! The trace of one execution, from all that was seen of it.

use std::sync::Arc;

use cobalt_core::item::ModelCall;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Transcript;
use cobalt_core::trace::{ContentLimits, GatewayCall, ReportedSpan, Trace, TraceSources};

use super::SpanCollector;

/// The trace of one execution.
#[derive(Debug, Default)]
pub struct ExecutionTrace {
    trace: Arc<Trace>,
    dropped: usize,
    /// Whether a client has reported model calls.
    has_client_calls: bool,
}

impl ExecutionTrace {
    /// Takes what was collected, with the requests that passed through the gateway. Models on this machine cost nothing unless they have a
    /// price.
    pub fn take(collector: &SpanCollector, calls: Vec<GatewayCall>, prices: &PriceTable) -> Self {
        let (mut spans, dropped) = collector.take();
        if spans.is_empty() && calls.is_empty() {
            return Self::default();
        }
        // An agent's total has no model.
        let is_call = |span: &ReportedSpan| span.fields.keys().any(|name| name.ends_with(".model"));
        let has_models = spans.iter().any(|span| !span.is_on_execution && is_call(span));
        spans.retain(|span| !span.is_on_execution || (!has_models && is_call(span)));
        let has_client_calls = spans.iter().any(is_call);
        let mut trace = TraceSources { started: collector.started(), spans, calls }.assemble();
        trace.price_local(prices);
        Self { trace: Arc::new(trace), dropped, has_client_calls }
    }

    /// Adds a span for each turn of a conversation.
    pub fn with_turns(self, transcript: &Transcript) -> Self {
        Self { trace: Arc::new(transcript.with_turn_spans(&self.trace)), ..self }
    }

    pub fn shared(&self) -> Arc<Trace> {
        Arc::clone(&self.trace)
    }

    /// Whether a client has reported model calls.
    pub fn has_client_calls(&self) -> bool {
        self.has_client_calls
    }

    /// The usage of its model calls.
    pub fn usage(&self) -> Vec<ModelCall> {
        self.trace.usage()
    }

    /// What is kept of it: priced, redacted and cut, with the number of dropped spans.
    pub fn into_kept(self, prices: &PriceTable, limits: ContentLimits) -> (Trace, usize) {
        let mut trace = Arc::unwrap_or_clone(self.trace);
        trace.price(prices);
        // Before texts are cut: the beginning of a secret would not be recognized.
        trace.redact();
        let (trace, over) = trace.limited(limits);
        (trace, self.dropped + over)
    }
}
