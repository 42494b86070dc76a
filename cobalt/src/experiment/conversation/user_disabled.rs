//! The stub for simulated users if the feature `judge` is off: such items are refused before anything runs.

use std::marker::PhantomData;

use super::chat::Next;
use super::run::ConversationRun;
use super::script::Goal;
use crate::experiment::agent::AgentError;

/// No user.
#[derive(Debug)]
pub struct Simulation<'a>(PhantomData<&'a ()>);

impl<'a> Simulation<'a> {
    pub fn new(_: Goal, _: &'a ConversationRun, _: usize) -> Self {
        Self(PhantomData)
    }

    #[expect(clippy::unused_async, reason = "it waits for a model with the feature")]
    pub async fn next(&self) -> Result<Next, AgentError> {
        Err(AgentError::new("simulated users need the feature `judge` of `cobalt`"))
    }

    #[expect(clippy::unused_async, reason = "it waits for a model with the feature")]
    pub async fn check(&self) {}
}
