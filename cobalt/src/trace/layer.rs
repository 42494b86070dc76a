//! The layer that gives the spans of agents to their executions.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt_core::trace::ReportedSpan;
use cobalt_core::wording::count;
use tracing::field::Empty;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Instrument as _, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterFn, LevelFilter};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use super::collector::{Place, SpanCollector};
use super::fields::Fields;

/// The target of the spans of executions.
const TARGET: &str = "cobalt";
/// The name of the span of an execution.
const EXECUTION: &str = "cobalt.execution";

thread_local! {
    /// The collector of the execution whose span is being created on this thread.
    static NEXT: RefCell<Option<Arc<SpanCollector>>> = const { RefCell::new(None) };
    /// Whether this thread runs what is known to belong to no execution.
    static IS_OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Spans of models and tools that belong to no execution.
static UNATTRIBUTED: AtomicUsize = AtomicUsize::new(0);
/// Executions whose span the layer did not see, because it is not installed.
static UNSEEN: AtomicUsize = AtomicUsize::new(0);

/// A layer for your own subscriber. It gives the spans of each execution to its trace, see [`trace`](crate::trace). Spans outside of
/// executions are ignored.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::util::SubscriberInitExt;
///
/// # fn example() {
/// tracing_subscriber::registry().with(cobalt::trace::layer()).init();
/// // cobalt::main();
/// # }
/// ```
#[must_use]
pub fn layer<S>() -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = FilterFn::new(is_of_interest).with_max_level_hint(LevelFilter::DEBUG);
    TraceLayer.with_filter(filter)
}

/// Installs a subscriber with nothing but the [`layer`], unless the process has one. [`cobalt::main()`](crate::main) does so; call it if you
/// run experiments without it. Returns whether it was installed.
pub fn install() -> bool {
    if tracing::dispatcher::has_been_set() {
        return false;
    }
    let subscriber = tracing_subscriber::registry().with(layer());
    tracing::subscriber::set_global_default(subscriber).is_ok()
}

/// Steps of agents, and what says more about them.
fn is_of_interest(metadata: &Metadata<'_>) -> bool {
    let is_known = || metadata.fields().iter().any(|field| ReportedSpan::is_known_field(field.name()));
    if metadata.is_span() {
        return *metadata.level() <= Level::INFO || is_known();
    }
    let is_error = || *metadata.level() == Level::ERROR && metadata.fields().field("error").is_some();
    metadata.is_event() && (is_error() || is_known())
}

/// The span of an execution. Spans that are created in it, or below them, belong to the execution.
#[derive(Clone, Debug)]
pub struct ExecutionSpan(tracing::Span);

impl ExecutionSpan {
    pub fn new(collector: &Arc<SpanCollector>) -> Self {
        NEXT.set(Some(Arc::clone(collector)));
        // Fields that older versions of rig record on the current span.
        let span = tracing::info_span!(
            target: TARGET,
            parent: None,
            EXECUTION,
            gen_ai.provider.name = Empty,
            gen_ai.request.model = Empty,
            gen_ai.response.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cached_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.reasoning_tokens = Empty,
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
        );
        if NEXT.take().is_some() {
            UNSEEN.fetch_add(1, Ordering::Relaxed);
        }
        Self(span)
    }

    /// Runs an agent's future.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> {
        future.instrument(self.0.clone())
    }

    /// Runs a plain agent.
    pub fn run_plain<R>(&self, function: impl FnOnce() -> R) -> R {
        self.0.in_scope(function)
    }
}

/// Runs a future whose spans belong to no execution, such as those of evaluators: they are not counted as unattributed.
pub async fn outside_of_traces<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        let _restored = Outside(IS_OUTSIDE.replace(true));
        future.as_mut().poll(cx)
    })
    .await
}

/// Restores whether the thread runs something else, also after a panic.
struct Outside(bool);

impl Drop for Outside {
    fn drop(&mut self) {
        IS_OUTSIDE.set(self.0);
    }
}

/// The note on spans that could not be attributed, once.
pub fn take_note() -> Option<String> {
    let unattributed = UNATTRIBUTED.swap(0, Ordering::Relaxed);
    let unseen = UNSEEN.swap(0, Ordering::Relaxed);
    if unseen > 0 && tracing::dispatcher::has_been_set() {
        return Some(
            "note: this process has a `tracing` subscriber without Cobalt's layer, or with a filter that turns off its spans, so traces \
             have no spans of agents; add `.with(cobalt::trace::layer())`, and let filters pass `cobalt=info`"
                .to_owned(),
        );
    }
    (unattributed > 0).then(|| {
        format!(
            "note: {} of models or tools belonged to no item: a task was spawned without its span; spawn it with \
             `tokio::spawn(task.in_current_span())` of `tracing::Instrument`",
            count(unattributed, "span")
        )
    })
}

/// The execution of a span, and the span's place in it.
#[derive(Clone, Debug)]
struct Owner(Arc<SpanCollector>, Place);

#[derive(Debug)]
struct TraceLayer;

/// The place of the current span in the execution of a collector: that of the innermost one that belongs to it, or else the execution.
pub fn current_place(collector: &Arc<SpanCollector>) -> Place {
    let place = tracing::dispatcher::get_default(|dispatch| {
        let registry = dispatch.downcast_ref::<Registry>()?;
        let span = registry.span(dispatch.current_span().id()?)?;
        span.scope().find_map(|span| {
            let extensions = span.extensions();
            let Owner(owner, place) = extensions.get::<Owner>()?;
            Arc::ptr_eq(owner, collector).then_some(*place)
        })
    });
    place.unwrap_or(Place::Execution)
}

fn owner_of<S>(id: &Id, context: &Context<'_, S>) -> Option<Owner>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    context.span(id)?.extensions().get::<Owner>().cloned()
}

impl<S> Layer<S> for TraceLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let metadata = span.metadata();
        let owner = if (metadata.target(), metadata.name()) == (TARGET, EXECUTION) {
            NEXT.take().map(|collector| Owner(collector, Place::Execution))
        } else if let Some(parent) = span.parent() {
            let owner = parent.extensions().get::<Owner>().cloned();
            owner.and_then(|Owner(collector, place)| {
                let mut fields = Fields::default();
                attributes.record(&mut fields);
                let place = collector.open(place, metadata.name(), fields.into_item())?;
                Some(Owner(collector, place))
            })
        } else {
            let is_known = || metadata.fields().iter().any(|field| field.name().starts_with("gen_ai."));
            if !IS_OUTSIDE.get() && is_known() {
                UNATTRIBUTED.fetch_add(1, Ordering::Relaxed);
            }
            None
        };
        if let Some(owner) = owner {
            span.extensions_mut().insert(owner);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(Owner(collector, place)) = owner_of(id, &context) {
            let mut fields = Fields::default();
            values.record(&mut fields);
            collector.record(place, fields.into_item());
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(event) else { return };
        let Some(Owner(collector, place)) = span.extensions().get::<Owner>().cloned() else { return };
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut fields = fields.into_item();
        let is_error = *event.metadata().level() == Level::ERROR;
        let error = fields.remove("error").filter(|_| is_error);
        fields.remove("message");
        let error = error.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
        collector.add_event(place, fields, error);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(Owner(collector, place)) = owner_of(&id, &context) {
            collector.close(place);
        }
    }
}

#[cfg(test)]
pub mod test_support {
    use std::sync::LazyLock;

    use tracing::dispatcher::{DefaultGuard, Dispatch};

    use super::*;

    /// The layer for this thread only, as tests share a process.
    pub fn with_layer() -> DefaultGuard {
        // If tracing knows only one dispatcher, a thread without it that reaches a span first turns this span off for all threads.
        static SECOND: LazyLock<Dispatch> =
            LazyLock::new(|| tracing_subscriber::registry().with(layer()).into());
        LazyLock::force(&SECOND);
        tracing::subscriber::set_default(tracing_subscriber::registry().with(layer()))
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::prices::PriceTable;
    use cobalt_core::trace::{SpanKind, SpanTokens, ToolSpan, Trace};
    use serde_json::json;
    use tracing::{debug, info_span};

    use super::test_support::with_layer;
    use super::*;
    use crate::trace::ExecutionTrace;

    /// The trace of an agent.
    async fn trace_of<F: Future<Output = ()>>(agent: impl FnOnce() -> F) -> Arc<Trace> {
        let collector = Arc::new(SpanCollector::new());
        ExecutionSpan::new(&collector).run(async { agent().await }).await;
        ExecutionTrace::take(&collector, Vec::new(), &PriceTable::default()).shared()
    }

    fn names(trace: &Trace) -> Vec<String> {
        trace
            .into_iter()
            .map(|span| match &span.parent {
                Some(parent) => format!("{} in {parent}", span.name),
                None => span.name.clone(),
            })
            .collect()
    }

    #[tokio::test]
    async fn spans_belong_to_the_execution_in_which_they_are_created() {
        let _guard = with_layer();
        let agent = |name: &'static str| async move {
            let outer = info_span!("plan", step = name);
            async {
                let _call =
                    info_span!("chat", gen_ai.request.model = "m", gen_ai.usage.input_tokens = 3).entered();
            }
            .instrument(outer)
            .await;
        };
        let (one, two) = tokio::join!(trace_of(|| agent("one")), trace_of(|| agent("two")));
        for (trace, name) in [(one, "one"), (two, "two")] {
            assert_eq!(names(&trace), ["plan", "chat in 1"]);
            assert_eq!(trace.spans()[0].attributes["step"], name);
            assert_eq!(trace.model_calls().next().unwrap().1.tokens.unwrap().input, 3);
        }
    }

    #[tokio::test]
    async fn a_spawned_task_belongs_to_the_execution_if_its_span_goes_with_it() {
        let _guard = with_layer();
        let trace = trace_of(|| async {
            tokio::spawn(async { drop(info_span!("with")) }.in_current_span()).await.unwrap();
            tokio::spawn(async { drop(info_span!("without", gen_ai.request.model = "m")) }).await.unwrap();
        });
        assert_eq!(names(&*trace.await), ["with"]);
        assert!(UNATTRIBUTED.load(Ordering::Relaxed) > 0, "the other one is counted");
    }

    #[tokio::test]
    async fn what_is_below_the_level_counts_only_if_it_is_about_models_or_tools() {
        let _guard = with_layer();
        let trace = trace_of(|| async {
            let _hidden = tracing::debug_span!("connection").entered();
            let _call = tracing::debug_span!("chat", gen_ai.request.model = "m").entered();
            let _inner = info_span!("inner").entered();
        });
        assert_eq!(names(&*trace.await), ["chat", "inner in 1"]);
    }

    #[tokio::test]
    async fn fields_recorded_later_and_by_events_describe_the_span() {
        let _guard = with_layer();
        let trace = trace_of(|| async {
            let run = info_span!("agent.execute", agent.name = "traveller").entered();
            let tool =
                info_span!("", otel.name = "execute_tool weather", tool.name = "weather", note = Empty);
            tool.record("note", 7_u64);
            tool.in_scope(|| debug!(tool.name = "weather", tool.args = r#"{"city":"York"}"#));
            drop(tool);
            debug!(tool.name = "weather", tool.result = "18 °C");
            drop(run);
        });
        let trace = trace.await;
        assert_eq!(names(&trace), ["agent.execute", "execute_tool weather in 1"]);
        let (span, tool) = trace.tool_calls().next().unwrap();
        assert_eq!((&*tool.name, &tool.arguments), ("weather", &Some(json!({ "city": "York" }))));
        assert_eq!(tool.result, Some(json!("18 °C")));
        assert_eq!(span.attributes["note"], 7);
    }

    /// The spans and events of swiftide 0.32 with its feature `langfuse`.
    #[tokio::test]
    async fn events_of_langfuse_give_calls_their_contents() {
        async fn complete(output: serde_json::Value) {
            let request =
                json!({ "model": "m", "messages": [{ "role": "user", "content": "Weather in York?" }] });
            debug!(
                langfuse.model = "m",
                langfuse.input = request.to_string(),
                langfuse.output = output.to_string(),
                langfuse.usage =
                    json!({ "prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23, "details":
                    { "prompt_tokens_details": { "cached_tokens": 8 } } })
                    .to_string(),
            );
        }
        async fn step(number: usize) {
            let span = info_span!("step", step_count = number, otel.name = Empty);
            span.record("otel.name", format!("step-{number}"));
            let output = match number {
                0 => {
                    json!({ "message": null, "tool_calls": [{ "id": "c", "name": "weather", "args": "{\"city\":\"York\"}" }] })
                }
                _ => json!({ "message": "18 °C", "tool_calls": null }),
            };
            let model = complete(output)
                .instrument(info_span!(parent: &span, "complete", langfuse.r#type = "GENERATION"));
            model.await;
            if number == 0 {
                let tool = info_span!(parent: &span, "tool", otel.name = "tool.weather");
                let call = async {
                    debug!(
                        langfuse.output = "18 °C",
                        langfuse.input = r#"{"city":"York"}"#,
                        tool_name = "weather"
                    );
                };
                tokio::spawn(call.instrument(tool)).await.unwrap();
            }
        }
        let _guard = with_layer();
        let trace = trace_of(|| {
            let run = async {
                debug!(langfuse.input = "Weather in York?");
                step(0).await;
                step(1).await;
                debug!(langfuse.output = r#"{"TaskComplete":"18 °C"}"#);
            };
            run.instrument(info_span!("agent.query"))
        });
        let trace = trace.await;
        assert_eq!(
            names(&trace),
            [
                "agent.query",
                "step-0 in 1",
                "complete in 2",
                "tool.weather in 2",
                "step-1 in 1",
                "complete in 5"
            ]
        );
        let kinds = [&trace.spans()[0], &trace.spans()[1]].map(|span| span.kind);
        assert_eq!(kinds, [SpanKind::Agent, SpanKind::Other]);
        assert_eq!(trace.spans()[0].attributes["input"], "Weather in York?");
        let tokens: Vec<_> = trace.model_calls().map(|(_, model)| model.tokens.unwrap()).collect();
        assert_eq!(tokens, [SpanTokens { input: 20, output: 3, cached_input: 8, reasoning: 0 }; 2]);
        let tools: Vec<_> = trace.tool_calls().map(|(_, tool)| tool.clone()).collect();
        let weather = ToolSpan {
            name: "weather".to_owned(),
            call_id: Some("c".to_owned()),
            arguments: Some(json!({ "city": "York" })),
            result: Some(json!("18 °C")),
            error: None,
        };
        assert_eq!(tools, [weather], "once, with the id from the model's answer");
        let (_, first) = trace.model_calls().next().unwrap();
        assert_eq!(first.input.as_deref(), Some("user: Weather in York?"));
        assert_eq!(first.output.as_deref(), Some(r#"→ weather({"city":"York"})"#));
    }

    #[tokio::test]
    async fn an_error_of_an_instrumented_function_fails_its_span() {
        #[tracing::instrument(err)]
        async fn search() -> Result<(), std::io::Error> {
            Err(std::io::Error::other("no index"))
        }
        let _guard = with_layer();
        let trace = trace_of(|| async { drop(search().await) }).await;
        let failed: Vec<_> = trace.failed().map(|span| span.error.clone().unwrap()).collect();
        assert_eq!(failed, ["no index"]);
    }

    #[tokio::test]
    async fn calls_recorded_on_the_span_of_the_execution_are_told_apart_and_totals_are_none() {
        let _guard = with_layer();
        let trace = trace_of(|| async {
            let span = tracing::Span::current();
            for tokens in [10_u64, 20] {
                span.record("gen_ai.response.model", "gpt-4o");
                span.record("gen_ai.usage.input_tokens", tokens);
            }
            span.record("gen_ai.usage.input_tokens", 30_u64);
        });
        let trace = trace.await;
        let tokens: Vec<_> = trace.model_calls().map(|(_, model)| model.tokens.unwrap().input).collect();
        assert_eq!(tokens, [10, 20]);
    }

    #[tokio::test]
    async fn what_runs_outside_of_traces_is_known_while_it_runs() {
        outside_of_traces(async {
            assert!(IS_OUTSIDE.get());
            tokio::task::yield_now().await;
            assert!(IS_OUTSIDE.get());
        })
        .await;
        assert!(!IS_OUTSIDE.get());
    }

    #[tokio::test]
    async fn a_span_that_is_open_at_the_end_is_said_to_be() {
        let _guard = with_layer();
        let mut open = None;
        let trace = trace_of(|| async { open = Some(info_span!("left")) }).await;
        assert_eq!(trace.spans()[0].status, cobalt_core::trace::SpanStatus::Open);
        assert_eq!(trace.spans()[0].kind, SpanKind::Other);
        drop(open);
    }

    #[tokio::test]
    async fn the_layer_works_beside_others() {
        let other = tracing_subscriber::registry().with(LevelFilter::INFO).with(layer());
        let _guard = tracing::subscriber::set_default(other);
        assert_eq!(names(&*trace_of(|| async { drop(info_span!("plan")) }).await), ["plan"]);
    }
}
