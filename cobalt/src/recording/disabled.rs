//! The stubs for recordings if the feature `record` is off.

use std::sync::Arc;
use std::time::Duration;

use cobalt_core::item::Item;
#[cfg(feature = "judge")]
use cobalt_core::recordings::JudgeAnswer;
use cobalt_core::report::{Execution, Traffic, TrafficSummary};
use cobalt_core::trace::GatewayCall;
use serde_json::Value;

use super::failure::RecordingFailure;
use super::tool_decision::ToolDecision;
use crate::budget::Account;

/// No traffic.
#[derive(Debug)]
pub enum RunTraffic {}

/// No traffic.
#[derive(Debug)]
pub enum ExecutionTraffic {}

/// No item waits.
#[derive(Debug)]
pub enum Admission {}

/// No item waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    ForItem,
}

/// No item waits.
#[derive(Debug)]
pub enum AdmissionChange {}

impl AdmissionChange {
    pub async fn after(self, _: Wait) {
        match self {}
    }
}

/// No trial is registered.
#[derive(Debug)]
pub enum Registration {}

/// What the traffic says about an agent that has ended.
#[derive(Debug, Default)]
pub struct AgentTraffic {
    pub recorded_latency: Option<f64>,
    pub waited: Duration,
    pub problem: Option<String>,
    pub is_incomplete: bool,
}

impl RunTraffic {
    pub fn admit(&self, _: &Item) -> Result<Admission, Wait> {
        match *self {}
    }

    pub fn admission_change(&self) -> AdmissionChange {
        match *self {}
    }

    pub fn say_that_items_wait(&self) {
        match *self {}
    }

    pub fn note_end(&self, _: &ExecutionTraffic, _: bool) {
        match *self {}
    }

    pub fn begin(&self, _: &Item, _: (usize, usize), _: Account) -> Result<Arc<ExecutionTraffic>, String> {
        match *self {}
    }

    pub fn registration(&self, _: &Arc<ExecutionTraffic>) -> Registration {
        match *self {}
    }

    pub fn end(&self, _: &ExecutionTraffic, _: &Execution) -> Result<Option<Traffic>, String> {
        match *self {}
    }

    pub fn take_unattributed_cost(&self, _: f64) -> f64 {
        match *self {}
    }

    pub fn replays(&self, _: usize) -> bool {
        match *self {}
    }

    pub fn close(&self, _: usize) {
        match *self {}
    }

    pub fn failure(&self) -> Option<&RecordingFailure> {
        match *self {}
    }

    pub fn finish(&self, _: &mut Option<TrafficSummary>) -> Option<RecordingFailure> {
        match *self {}
    }
}

impl ExecutionTraffic {
    pub fn token(&self) -> &Arc<str> {
        match *self {}
    }

    pub fn waited(&self) -> Duration {
        match *self {}
    }

    pub fn decide_tool(&self, _: &str, _: &Value) -> ToolDecision {
        match *self {}
    }

    pub fn keep_tool_result(&self, _: (&str, usize), _: &Value, _: &Result<Value, String>, _: Duration) {
        match *self {}
    }

    pub fn hide_tool_result(&self, _: &str, _: &Value) {
        match *self {}
    }

    pub fn note_spent_budget(&self) {
        match *self {}
    }

    pub fn has_problem(&self) -> bool {
        match *self {}
    }

    pub fn take_calls(&self) -> Vec<GatewayCall> {
        match *self {}
    }

    pub async fn settle(&self) {
        match *self {}
    }

    pub fn note_error(&self, _: &str) {
        match *self {}
    }

    pub async fn end_agent(&self, _: Duration) -> AgentTraffic {
        match *self {}
    }

    pub fn check_requests(&self, _: bool, _: bool) -> Option<String> {
        match *self {}
    }

    #[cfg(feature = "judge")]
    pub fn records(&self) -> bool {
        match *self {}
    }

    #[cfg(feature = "judge")]
    pub fn renews(&self) -> bool {
        match *self {}
    }

    #[cfg(feature = "judge")]
    pub fn judge_answers(&self, _: &[String], _: &str, _: bool) -> Option<Vec<JudgeAnswer>> {
        match *self {}
    }

    #[cfg(feature = "judge")]
    pub fn keep_judge_answer(&self, _: JudgeAnswer, _: Value) {
        match *self {}
    }

    #[cfg(feature = "judge")]
    pub fn refused_question(&self) -> Option<String> {
        match *self {}
    }
}

/// Runs an agent's future.
pub fn within<F: Future>(_: Arc<str>, future: F) -> impl Future<Output = F::Output> {
    future
}

/// Runs a plain function.
pub fn within_sync<R>(_: Arc<str>, function: impl FnOnce() -> R) -> R {
    function()
}
