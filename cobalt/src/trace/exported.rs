//! Spans that other processes, or OpenTelemetry's SDK, export to the gateway. They belong to the execution whose trace context they have.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use cobalt_core::wording::count;
use cobalt_otlp::ExportedSpan;

use super::SpanCollector;

/// How long the end of an execution waits for the spans of its agent. Batch processors export after the delay that the gateway sets.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Whether spans can be exported to this process.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);
/// The executions that asked for their trace context, by the ids of their traces.
static EXECUTIONS: LazyLock<Mutex<HashMap<u128, Weak<SpanCollector>>>> = LazyLock::new(Mutex::default);
/// Spans of all exports.
static RECEIVED: AtomicUsize = AtomicUsize::new(0);
/// Spans with the trace of no execution.
static UNATTRIBUTED: AtomicUsize = AtomicUsize::new(0);
/// Spans of executions that had ended.
static LATE: AtomicUsize = AtomicUsize::new(0);
/// Whether an execution has waited in vain, so the others need not.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// The ids by which exported spans name an execution.
#[derive(Clone, Copy, Debug)]
pub struct TraceContext {
    trace_id: u128,
    pub span_id: u64,
}

impl TraceContext {
    pub fn random() -> Self {
        // An id of zeros is invalid.
        Self { trace_id: fastrand::u128(1..), span_id: fastrand::u64(1..) }
    }

    /// The W3C header `traceparent`; the trace is sampled.
    fn header(self) -> String {
        format!("00-{:032x}-{:016x}-01", self.trace_id, self.span_id)
    }
}

/// Accepts exports: the gateway of this process leads them here.
pub fn enable_exports() {
    IS_ENABLED.store(true, Ordering::Relaxed);
}

/// The trace context of an execution; `None` if spans cannot be exported to this process.
pub fn traceparent(collector: &Arc<SpanCollector>) -> Option<String> {
    if !IS_ENABLED.load(Ordering::Relaxed) {
        return None;
    }
    let context = collector.trace_context();
    let mut executions = EXECUTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    executions.insert(context.trace_id, Arc::downgrade(collector));
    Some(context.header())
}

/// Gives spans to their executions.
pub fn receive_exports(spans: Vec<ExportedSpan>) {
    RECEIVED.fetch_add(spans.len(), Ordering::Relaxed);
    let mut by_trace: HashMap<u128, Vec<ExportedSpan>> = HashMap::new();
    spans.into_iter().for_each(|span| by_trace.entry(span.trace_id).or_default().push(span));
    for (trace_id, spans) in by_trace {
        let number = spans.len();
        let collector = {
            let executions = EXECUTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            executions.get(&trace_id).map(Weak::upgrade)
        };
        match collector {
            None => drop(UNATTRIBUTED.fetch_add(number, Ordering::Relaxed)),
            Some(Some(collector)) if collector.add_exported(spans) => {}
            Some(_) => drop(LATE.fetch_add(number, Ordering::Relaxed)),
        }
    }
}

/// Waits for the spans of an agent that has ended, if it asked for its trace context: until a span directly below the execution has
/// arrived, as exporters send a span after those within it.
pub async fn wait_for_exports(collector: &SpanCollector) {
    let is_silent = || IS_SILENT.load(Ordering::Relaxed) && RECEIVED.load(Ordering::Relaxed) == 0;
    if !collector.expects_exports() || is_silent() {
        return;
    }
    if tokio::time::timeout(MAX_WAIT, collector.exported()).await.is_err() {
        IS_SILENT.store(true, Ordering::Relaxed);
    }
}

/// The note on exported spans that belong to no trace, once.
pub fn export_note() -> Option<String> {
    let (unattributed, late) = (UNATTRIBUTED.swap(0, Ordering::Relaxed), LATE.swap(0, Ordering::Relaxed));
    let unattributed = (unattributed > 0).then(|| {
        format!(
            "{} had the trace context of no item: start them with the one of `Context::traceparent()`",
            count(unattributed, "exported span")
        )
    });
    let late = (late > 0).then(|| {
        let what = count(late, "exported span");
        format!("{what} arrived after their item had ended: call `force_flush` at the end of the agent, or use a simple span processor")
    });
    let notes: Vec<_> = unattributed.into_iter().chain(late).collect();
    (!notes.is_empty()).then(|| format!("note: {}", notes.join("; ")))
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use cobalt_core::prices::PriceTable;
    use cobalt_core::trace::ReportedSpan;

    use super::*;
    use crate::trace::ExecutionTrace;

    fn exported(traceparent: &str, id: u64, parent: Option<u64>) -> ExportedSpan {
        let parts: Vec<_> = traceparent.split('-').collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let after = if parent.is_some() { 500_000_000 } else { 5_000_000 };
        let start_nanos = u64::try_from(now.as_nanos()).unwrap() + after;
        let root = u64::from_str_radix(parts[2], 16).unwrap();
        let span = ReportedSpan {
            id,
            parent: Some(parent.unwrap_or(root)),
            name: format!("span {id}"),
            duration_ms: 1.0,
            ..ReportedSpan::default()
        };
        ExportedSpan {
            trace_id: u128::from_str_radix(parts[1], 16).unwrap(),
            start_nanos,
            end_nanos: start_nanos + 1_000_000,
            resource: Arc::default(),
            span,
        }
    }

    #[tokio::test]
    async fn spans_belong_to_the_execution_whose_context_they_have_until_it_ends() {
        enable_exports();
        let collector = Arc::new(SpanCollector::new());
        let header = traceparent(&collector).unwrap();
        assert_eq!(traceparent(&collector).unwrap(), header, "one per execution");
        let other = Arc::new(SpanCollector::new());
        assert_ne!(traceparent(&other).unwrap(), header);

        receive_exports(vec![exported(&header, 7, Some(8))]);
        let waiting = tokio::spawn({
            let (collector, header) = (Arc::clone(&collector), header.clone());
            async move {
                wait_for_exports(&collector).await;
                drop(header);
            }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the outermost span is missing");
        receive_exports(vec![exported(&header, 8, None)]);
        waiting.await.unwrap();

        let trace = ExecutionTrace::take(&collector, Vec::new(), &PriceTable::default()).shared();
        let [outer, inner] = trace.spans() else { panic!("{trace:?}") };
        assert_eq!((&*outer.name, &outer.parent), ("span 8", &None));
        assert_eq!((&*inner.name, &inner.parent), ("span 7", &Some(outer.id.clone())));
        assert!(outer.start_ms > 0.0 && outer.start_ms < 60_000.0, "{}", outer.start_ms);
        assert!(ExecutionTrace::take(&other, Vec::new(), &PriceTable::default()).shared().is_empty());

        receive_exports(vec![exported(&header, 9, None)]);
        receive_exports(vec![exported("00-00000000000000000000000000000001-0000000000000001-01", 9, None)]);
        let note = export_note().unwrap();
        assert!(note.contains("1 exported span arrived after"), "{note}");
        assert!(note.contains("1 exported span had the trace context of no item"), "{note}");
        assert_eq!(export_note(), None);
    }
}
