//! The function under test, in each of the forms in which it may be written.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::context::Context;
use super::into_output::IntoOutput;
use crate::item::Output;
use crate::threads;

/// Why an agent gave no output: its own error, a panic, or an item that does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(String);

impl AgentError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What an agent gave, and how long it took from when it was started.
pub(crate) type Answer = (Result<Output, AgentError>, Duration);
type AgentFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;
pub(crate) type AgentFn = Arc<dyn Fn(Context) -> AgentFuture + Send + Sync>;

/// A function that an experiment can call: async or plain, of the item, of the [`Context`], or of both.
///
/// The item is any type that serde can deserialise, or [`Item`](crate::Item). What it returns is described at
/// [`IntoOutput`]. A plain function runs on a thread of its own, so that it never holds up an async one.
///
/// `Marker` tells the forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be an experiment's agent",
    label = "not an agent",
    note = "an agent is an async or plain function of `(item)`, `(Context)` or `(item, Context)`, where the item is `cobalt::Item` or implements `Deserialize`",
    note = "it returns `String`, `serde_json::Value`, `cobalt::Output`, `cobalt::Json(..)` or a `Result` of one of these, whose error is text or any error that is `Send` and `Sync`"
)]
pub trait Agent<Marker>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_shared(self) -> SharedAgent;
}

/// An agent whose form no longer matters.
#[doc(hidden)]
#[derive(Clone)]
pub struct SharedAgent(pub(crate) AgentFn);

impl std::fmt::Debug for SharedAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedAgent")
    }
}

/// Markers of the forms.
#[doc(hidden)]
#[derive(Debug)]
pub enum Async {}
#[doc(hidden)]
#[derive(Debug)]
pub enum Plain {}

/// Implements the async and the plain form for one list of parameters.
macro_rules! agent_of {
    (($($generic:ident)?) ($($parameter:ty),*) |$context:ident| $arguments:tt) => {
        impl<F, Fut, $($generic)?> Agent<(Async, $($parameter),*)> for F
        where
            F: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoOutput> + Send + 'static,
            $($generic: DeserializeOwned + Send + 'static)?
        {
            fn into_shared(self) -> SharedAgent {
                let agent = Arc::new(self);
                SharedAgent(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    Box::pin(async move {
                        let started = Instant::now();
                        let answer = async { agent $arguments.await.into_output() }.await;
                        (answer, started.elapsed())
                    })
                }))
            }
        }

        impl<F, R, $($generic)?> Agent<(Plain, $($parameter),*)> for F
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoOutput + 'static,
            $($generic: DeserializeOwned + Send + 'static)?
        {
            fn into_shared(self) -> SharedAgent {
                let agent = Arc::new(self);
                SharedAgent(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    let called = Instant::now();
                    let call = threads::run(move || {
                        let started = Instant::now();
                        let answer = || agent $arguments.into_output();
                        (answer(), started.elapsed())
                    });
                    Box::pin(async move {
                        call.await
                            .unwrap_or_else(|error| (Err(AgentError::new(error.to_string())), called.elapsed()))
                    })
                }))
            }
        }
    };
}

/// The agent's item as the type of its parameter.
///
/// # Errors
///
/// Names the field that does not fit.
pub fn item<T: DeserializeOwned>(context: &Context) -> Result<T, AgentError> {
    context.item_as().map_err(|error| AgentError::new(error.to_string()))
}

agent_of!(()(Context) | context | (context,));
agent_of!((T)(T) | context | (item::<T>(&context)?,));
agent_of!((T)(T, Context) | context | (item::<T>(&context)?, context));
