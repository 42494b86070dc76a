//! The calls of wrapped tools in one attempt at a trial.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::report::InjectedFault;
use cobalt_core::trace::ToolSpan;
use serde_json::Value;

use super::error::ToolError;
use super::faults::Faults;
use super::injection::Injection;
use crate::recording::ExecutionTraffic;
use crate::trace::{Place, SpanCollector, current_place};

/// The calls of wrapped tools in one attempt at a trial: their numbers, and the faults that are injected into them.
#[derive(Debug)]
pub struct ExecutionTools {
    plan: Arc<Faults>,
    item: Arc<str>,
    trial: usize,
    spans: Arc<SpanCollector>,
    traffic: Option<Arc<ExecutionTraffic>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tools: HashMap<String, Calls>,
    injected: Vec<InjectedFault>,
    waits: Waits,
    is_closed: bool,
}

/// How long injected faults have made the agent wait. Parallel waits count once, and a wait that is given up only until then.
#[derive(Debug, Default)]
struct Waits {
    in_progress: usize,
    since: Option<Instant>,
    ended: Duration,
}

impl Waits {
    fn begin(&mut self) {
        self.in_progress += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    fn end(&mut self) {
        self.in_progress -= 1;
        if self.in_progress == 0 {
            self.ended = self.total();
            self.since = None;
        }
    }

    fn total(&self) -> Duration {
        self.ended + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The calls of one tool.
#[derive(Debug, Default)]
struct Calls {
    number: usize,
    first_result: Option<Value>,
}

/// A call in progress.
#[derive(Debug)]
pub struct Call<'a> {
    tools: &'a ExecutionTools,
    tool: &'a str,
    number: usize,
    span: Option<Place>,
    injection: Option<&'a Injection>,
    is_injected: bool,
}

impl ExecutionTools {
    pub fn new(plan: Arc<Faults>, item: Arc<str>, trial: usize, spans: Arc<SpanCollector>) -> Self {
        Self { plan, item, trial, spans, traffic: None, state: Mutex::default() }
    }

    /// Those of another attempt, which counts calls from 1 again.
    pub fn for_next_attempt(&self, spans: Arc<SpanCollector>) -> Self {
        let own = Self::new(Arc::clone(&self.plan), Arc::clone(&self.item), self.trial, spans);
        own.with_traffic(self.traffic.clone())
    }

    pub fn with_traffic(self, traffic: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { traffic, ..self }
    }

    /// The recordings of the trial.
    pub fn traffic(&self) -> Option<&ExecutionTraffic> {
        self.traffic.as_deref()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call.
    pub fn begin<'a>(&'a self, tool: &'a str, arguments: &Value) -> Call<'a> {
        let span =
            ToolSpan { name: tool.to_owned(), arguments: Some(arguments.clone()), ..ToolSpan::default() };
        let span = self.spans.open_tool(current_place(&self.spans), span);
        let mut state = self.lock();
        let calls = state.tools.entry(tool.to_owned()).or_default();
        calls.number += 1;
        let number = calls.number;
        let is_first = calls.first_result.is_none();
        let injection = self.plan.injection(&self.item, self.trial, tool, number);
        let injection = injection.filter(|injection| !(is_first && **injection == Injection::Stale));
        Call { tools: self, tool, number, span, injection, is_injected: false }
    }

    /// How long injected faults have made the agent wait.
    pub fn waited(&self) -> Duration {
        self.lock().waits.total()
    }

    /// Takes the injected faults. What is injected later belongs to no execution.
    pub fn close(&self) -> Vec<InjectedFault> {
        let mut state = self.lock();
        state.is_closed = true;
        std::mem::take(&mut state.injected)
    }
}

impl<'a> Call<'a> {
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn injection(&self) -> Option<&'a Injection> {
        self.injection
    }

    /// The first result of the tool, if it is to be returned again.
    pub fn stale_result(&self) -> Option<Value> {
        if self.injection != Some(&Injection::Stale) {
            return None;
        }
        self.tools.lock().tools.get(self.tool)?.first_result.clone()
    }

    /// Keeps a result of the tool itself.
    pub fn keep(&self, result: &Value) {
        if let Some(calls) = self.tools.lock().tools.get_mut(self.tool) {
            calls.first_result.get_or_insert_with(|| result.clone());
        }
    }

    /// Notes that the fault is injected.
    pub fn inject(&mut self) {
        let Some(injection) = self.injection else { return };
        self.is_injected = true;
        let mut state = self.tools.lock();
        if !state.is_closed {
            let (tool, call, fault) = (self.tool.to_owned(), self.number, injection.to_string());
            state.injected.push(InjectedFault { tool, call, fault });
        }
    }

    /// Waits as a fault makes it.
    pub async fn wait(&self, time: Duration) {
        /// Ends the wait also if the agent gives up the call.
        struct Guard<'a>(&'a ExecutionTools);

        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.lock().waits.end();
            }
        }

        self.tools.lock().waits.begin();
        let _guard = Guard(self.tools);
        tokio::time::sleep(time).await;
    }

    /// Ends the call.
    pub fn end(self, outcome: Result<Value, ToolError>) -> Result<Value, ToolError> {
        if let Some(span) = self.span {
            let fault = self.injection.filter(|_| self.is_injected).map(ToString::to_string);
            let shown = outcome.clone().map_err(|error| error.to_string());
            self.tools.spans.close_tool(span, fault, shown);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn parallel_waits_count_once_and_a_wait_that_is_given_up_until_then() {
        let spans = Arc::new(SpanCollector::default());
        let tools = ExecutionTools::new(Arc::default(), "a".into(), 0, spans);
        let (one, two) = (tools.begin("one", &Value::Null), tools.begin("two", &Value::Null));
        let started = Instant::now();
        tokio::join!(one.wait(Duration::from_millis(30)), two.wait(Duration::from_millis(30)));
        assert!(tools.waited() >= Duration::from_millis(30) && tools.waited() <= started.elapsed());
        let given_up = tokio::time::timeout(Duration::from_millis(10), one.wait(Duration::from_secs(60)));
        assert!(given_up.await.is_err());
        let waited = tools.waited();
        assert!(waited >= Duration::from_millis(40) && waited <= started.elapsed(), "{waited:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(tools.waited(), waited, "no wait is in progress");
    }
}
