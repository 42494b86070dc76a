//! `Chat` and `Reply`: what an agent sees of a conversation, and what it returns in each turn.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use cobalt_core::error_chain::IntoReason;
use cobalt_core::item::{Item, ModelCall, Output};
use cobalt_core::report::ConversationEnd;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::run::ConversationRun;
use super::script::{Expectation, ScriptedTurn, UserPlan};
use super::user::Simulation;
use crate::dataset::DecodeError;
use crate::experiment::agent::{Agent, AgentError, Context, SharedAgent};
use crate::trace::ExecutionSpan;
use crate::wait_timeout::timeout_without_waits;

/// A conversation as the agent sees it: its own state, and the turns so far.
///
/// ```
/// use cobalt::{Chat, Reply};
///
/// #[derive(Default)]
/// struct Booking {
///     city: Option<String>,
/// }
///
/// async fn desk(chat: &mut Chat<Booking>, message: &str) -> Reply {
///     match &chat.state.city {
///         None => {
///             chat.state.city = Some(message.to_owned());
///             Reply::new("On which day?")
///         }
///         Some(city) => Reply::new(format!("Booked: {city}, {message}.")).end(),
///     }
/// }
/// ```
pub struct Chat<S = ()> {
    /// The agent's own state, `S::default()` at the start of each conversation.
    pub state: S,
    context: Context,
    turn: usize,
}

impl<S> Chat<S> {
    /// The number of this turn, from 1.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// The messages so far in the format of chat APIs, `{"role": "user" | "assistant", "content": …}`. The last one is the user's.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        self.context.conversation().with_transcript(|transcript| transcript.messages())
    }

    /// The item. An agent must not read the user's goal or script from it.
    #[must_use]
    pub fn item(&self) -> &Item {
        self.context.item()
    }

    /// The context of the execution: to record what the agent does, and for the settings of the workspace, tools and recordings.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The settings of the variant that runs, see [`Context::variant`].
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`.
    pub fn variant<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        self.context.variant()
    }
}

impl<S: fmt::Debug> fmt::Debug for Chat<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("state", &self.state).field("turn", &self.turn).finish_non_exhaustive()
    }
}

/// What an agent replies in a turn.
///
/// ```
/// use cobalt::{ModelCall, Reply};
///
/// let reply = Reply::new("I connect you with a colleague.")
///     .usage(ModelCall::new("gpt-5-mini").tokens(320, 12))
///     .hand_over();
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Reply {
    text: String,
    output: Option<Value>,
    calls: Vec<ModelCall>,
    end: Option<ConversationEnd>,
}

impl Reply {
    /// A text, after which the conversation continues.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the output of the execution; that of a later reply replaces it. By default, it is the text of the last reply.
    pub fn output(mut self, output: impl Into<Value>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Adds a model call of this turn, as [`Context::record`] does.
    pub fn usage(mut self, call: ModelCall) -> Self {
        self.calls.push(call);
        self
    }

    /// Ends the conversation.
    pub fn end(mut self) -> Self {
        self.end = Some(ConversationEnd::AgentEnded);
        self
    }

    /// Ends the conversation by handing it over, for example to a person.
    pub fn hand_over(mut self) -> Self {
        self.end = Some(ConversationEnd::HandedOver);
        self
    }
}

/// A return type of a turn: text, a [`Reply`], or a `Result` of one of these.
#[diagnostic::on_unimplemented(
    message = "an agent cannot reply with `{Self}`",
    label = "not text, `cobalt::Reply` or a `Result` of one"
)]
pub trait IntoReply {
    /// Converts the returned value to a reply, or to the error of the item.
    ///
    /// # Errors
    ///
    /// The agent's own error.
    fn into_reply(self) -> Result<Reply, AgentError>;
}

impl IntoReply for Reply {
    fn into_reply(self) -> Result<Reply, AgentError> {
        Ok(self)
    }
}

macro_rules! impl_into_reply {
    ($($type:ty),*) => {$(
        impl IntoReply for $type {
            fn into_reply(self) -> Result<Reply, AgentError> {
                Ok(Reply::new(self))
            }
        }
    )*};
}

impl_into_reply!(String, &str, Cow<'_, str>);

impl<T: IntoReply, E: IntoReason> IntoReply for Result<T, E> {
    fn into_reply(self) -> Result<Reply, AgentError> {
        self.map_err(|error| AgentError::from_dyn(&*error.into_boxed()))?.into_reply()
    }
}

type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, AgentError>> + Send + 'a>>;

/// A function of one turn. Implemented by async functions of `(&mut Chat<S>, &str)`.
#[doc(hidden)]
pub trait TurnFn<'a, S: 'a>: Send + Sync + 'static {
    fn call(&self, chat: &'a mut Chat<S>, message: &'a str) -> ReplyFuture<'a>;
}

impl<'a, S, F, Fut> TurnFn<'a, S> for F
where
    S: 'a,
    F: Fn(&'a mut Chat<S>, &'a str) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoReply> + Send + 'a,
{
    fn call(&self, chat: &'a mut Chat<S>, message: &'a str) -> ReplyFuture<'a> {
        let reply = self(chat, message);
        Box::pin(async move { reply.await.into_reply() })
    }
}

/// The marker of agents that take turns.
#[doc(hidden)]
#[derive(Debug)]
pub enum Turns {}

impl<F, S> Agent<(Turns, S)> for F
where
    S: Default + Send + 'static,
    F: for<'a> TurnFn<'a, S>,
{
    fn into_shared(self) -> SharedAgent {
        let turn = Arc::new(self);
        SharedAgent {
            takes_turns: true,
            call: Arc::new(move |context| {
                let turn = Arc::clone(&turn);
                Box::pin(async move {
                    let started = Instant::now();
                    let output = converse(context, &*turn).await;
                    (output, started.elapsed())
                })
            }),
        }
    }
}

/// What the user does next.
pub enum Next {
    Says(String, Vec<Expectation>),
    Ends(ConversationEnd),
}

/// The user of a conversation.
enum User<'a> {
    Scripted(std::vec::IntoIter<ScriptedTurn>),
    Simulated(Simulation<'a>),
}

impl<'a> User<'a> {
    fn of(context: &'a Context) -> Result<Self, AgentError> {
        match UserPlan::of(context.item()).map_err(AgentError::new)? {
            UserPlan::Script(turns) => Ok(Self::Scripted(turns.into_iter())),
            UserPlan::Simulated(goal) => {
                context.conversation().simulate(goal.clone());
                Ok(Self::Simulated(Simulation::new(goal, context.conversation(), context.run_index())))
            }
        }
    }

    async fn next(&mut self, run: &ConversationRun) -> Result<Next, AgentError> {
        match self {
            Self::Scripted(turns) => {
                let last = run.with_transcript(|transcript| transcript.turns.last()?.reply.clone());
                let reply = last.unwrap_or_default();
                // A turn whose condition the previous reply does not meet is left out.
                let next = turns.find(|turn| turn.when.iter().all(|expected| expected.is_met(&reply, &[])));
                Ok(next
                    .map_or(Next::Ends(ConversationEnd::ScriptEnd), |turn| Next::Says(turn.say, turn.expect)))
            }
            Self::Simulated(user) => run.wait_for_user(user.next()).await,
        }
    }

    /// What the script expects in the turns that were not played; turns with a condition may be left out.
    fn unplayed(self, played: usize) -> impl Iterator<Item = String> {
        let turns = match self {
            Self::Scripted(turns) => turns,
            Self::Simulated(_) => Vec::new().into_iter(),
        };
        let needed = turns.filter(|turn| turn.when.is_empty()).enumerate();
        needed.flat_map(move |(index, turn)| {
            let number = played + index + 1;
            turn.expect
                .into_iter()
                .map(move |expected| format!("turn {number}, which was not played: {expected}"))
        })
    }
}

/// Plays a conversation to its end. The transcript is kept in the context, also if this fails or is cancelled.
async fn converse<S: Default>(
    context: Context,
    turn: &(impl for<'a> TurnFn<'a, S> + ?Sized),
) -> Result<Output, AgentError> {
    let run = Arc::clone(context.conversation());
    let of_agent = context.clone();
    let mut user = User::of(&context)?;
    let span = ExecutionSpan::new(context.spans());
    let mut chat = Chat { state: S::default(), context: of_agent, turn: 0 };
    let (mut output, mut text) = (None, String::new());
    loop {
        let (message, expect) = match user.next(&run).await? {
            Next::Says(message, expect) => (message, expect),
            Next::Ends(end) => {
                run.end(end);
                break;
            }
        };
        chat.turn += 1;
        let (started, waited_before) = (Instant::now(), context.waited());
        let start = started.saturating_duration_since(context.spans().started());
        run.begin_turn(&message, expect, start, context.recorder().so_far());
        let call = span.run(turn.call(&mut chat, &message));
        let waited = || context.waited().saturating_sub(waited_before);
        let reply = match run.settings().limit_of_turn() {
            Some(limit) => timeout_without_waits(limit, started, waited, call).await.unwrap_or_else(|()| {
                let limit = humantime::format_duration(limit);
                Err(AgentError::timed_out(format!("turn {} timed out after {limit}", chat.turn)))
            }),
            None => call.await,
        };
        let latency = started.elapsed().saturating_sub(waited());
        let Reply { text: said, output: own, calls, end } = match reply {
            Ok(reply) => reply,
            Err(error) => {
                run.end_turn(Err(error.to_string()), latency, context.recorder().so_far());
                return Err(error);
            }
        };
        calls.into_iter().for_each(|call| context.record(call));
        run.end_turn(Ok(said.clone()), latency, context.recorder().so_far());
        output = own.or(output);
        text = said;
        if let Some(end) = end {
            run.end(end);
            break;
        }
    }
    if let User::Simulated(user) = &user {
        run.wait_for_user(user.check()).await;
    }
    run.add_unplayed(user.unplayed(chat.turn));
    Ok(Output::new(output.unwrap_or_else(|| text.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(usize);

    async fn counts(chat: &mut Chat<Seen>, message: &str) -> Result<String, std::fmt::Error> {
        chat.state.0 += message.len();
        Ok(chat.state.0.to_string())
    }

    async fn plain(_: &mut Chat, message: &str) -> Reply {
        Reply::new(message)
    }

    fn takes_turns<M>(agent: impl Agent<M>) -> bool {
        agent.into_shared().takes_turns
    }

    #[test]
    fn functions_of_a_chat_and_a_message_are_agents() {
        assert!(takes_turns(counts) && takes_turns(plain));
        assert!(takes_turns(async |_: &mut Chat, message: &str| message.to_uppercase()));
        assert!(!takes_turns(async |item: Item| item.len()));
    }
}
