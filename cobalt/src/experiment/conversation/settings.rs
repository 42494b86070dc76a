//! `Conversation` and `SimulatedUser`: the settings of an experiment whose agent takes turns.

use std::time::Duration;

use super::script::UserPlan;
use crate::dataset::Dataset;
use crate::llm::{CheckError, ModelChoice, Models, Provider};

/// The default limit of turns with a simulated user.
const MAX_TURNS: usize = 20;

/// The settings of conversations, for [`Experiment::conversation`](crate::Experiment::conversation).
///
/// ```
/// use std::time::Duration;
///
/// use cobalt::{Conversation, SimulatedUser};
///
/// let conversation = Conversation::new()
///     .max_turns(8)
///     .turn_timeout(Duration::from_secs(20))
///     .user(SimulatedUser::new().model("gpt-5-mini").temperature(0.7));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Conversation {
    max_turns: usize,
    turn_timeout: Option<Duration>,
    user: SimulatedUser,
}

impl Default for Conversation {
    fn default() -> Self {
        Self { max_turns: MAX_TURNS, turn_timeout: None, user: SimulatedUser::default() }
    }
}

impl Conversation {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// The maximum number of turns with a simulated user (default 20). An item may set another, as `maxTurns`. Scripts are always played
    /// to their end.
    pub fn max_turns(mut self, turns: usize) -> Self {
        self.max_turns = turns;
        self
    }

    /// The time limit of each turn of the agent. Default: none besides the experiment's `timeout`, which limits all turns together.
    pub fn turn_timeout(mut self, limit: Duration) -> Self {
        self.turn_timeout = Some(limit);
        self
    }

    /// The model that plays users who have a `goal`.
    pub fn user(mut self, user: SimulatedUser) -> Self {
        self.user = user;
        self
    }

    /// A text that changes with all that matters for results. The base URL of the model is left out: it may be that of a server on this
    /// machine, with another port in each run.
    pub(crate) fn fingerprint(&self) -> String {
        let Self { max_turns, turn_timeout, user } = self;
        let SimulatedUser { choice, instructions, is_unchecked } = user;
        let ModelChoice { model, provider, temperature, .. } = choice;
        format!(
            "conversation {max_turns} {turn_timeout:?} {model:?} {provider:?} {temperature:?} {instructions:?} {is_unchecked}"
        )
    }

    /// The limit of turns; an item's own takes precedence.
    #[cfg(feature = "judge")]
    pub(crate) fn turn_limit(&self, of_item: Option<usize>) -> usize {
        of_item.unwrap_or(self.max_turns)
    }

    /// The time limit of each turn.
    pub(crate) fn limit_of_turn(&self) -> Option<Duration> {
        self.turn_timeout
    }

    /// The settings of the simulated user.
    #[cfg(feature = "judge")]
    pub(crate) fn simulated_user(&self) -> &SimulatedUser {
        &self.user
    }

    /// Checks the settings, the items, and that the model can be called if any item needs it.
    ///
    /// # Errors
    ///
    /// Names the item, and what to change.
    pub(crate) fn check(&self, dataset: &Dataset, models: &Models) -> Result<(), CheckError> {
        if self.max_turns == 0 {
            return Err(CheckError::new("`max_turns` of the conversation must be at least 1"));
        }
        if self.turn_timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(CheckError::new("`turn_timeout` of the conversation must be greater than zero"));
        }
        let mut is_simulated = false;
        for (index, item) in dataset.iter().enumerate() {
            let plan = UserPlan::of(&item).map_err(|problem| {
                let key = &dataset.item_keys()[index];
                CheckError::new(format!("item `{key}` is not a valid conversation: {problem}"))
            })?;
            is_simulated |= matches!(plan, UserPlan::Simulated(_));
        }
        if is_simulated { self.user.check(models) } else { Ok(()) }
    }
}

/// A user whom a model plays: it pursues the item's `goal` as its `persona`. By default, it is the configured judge's model.
///
/// Its answers are cached and recorded as those of judges, and its cost is shown apart from the agent cost and the judge cost.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct SimulatedUser {
    choice: ModelChoice,
    instructions: Option<String>,
    is_unchecked: bool,
}

impl SimulatedUser {
    /// The configured judge's model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.choice.model = Some(model.into());
        self
    }

    /// Sets the provider. Default: derived from the model, else from the configuration.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.choice.provider = Some(provider);
        self
    }

    /// Sets the base URL of the API, without `/chat/completions`, such as `http://localhost:11434/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.choice.base_url = Some(url.into());
        self
    }

    /// Sets the environment variable with the API key. Default: the provider's own.
    pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
        self.choice.api_key_env = Some(variable.into());
        self
    }

    /// Sets the sampling temperature, 0 to 2. It is sent only to models that support it.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.choice.temperature = Some(temperature);
        self
    }

    /// Adds instructions for all users, such as "You write in German."
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Whether the model also checks each finished conversation for mistakes of the simulated user, with one more request (default
    /// `true`). Without it, only those are found that need no model: see [`conversations`](crate::conversations#mistakes-of-the-simulated-user).
    pub fn check_mistakes(mut self, on: bool) -> Self {
        self.is_unchecked = !on;
        self
    }

    /// Whether a model checks it for mistakes.
    #[cfg(feature = "judge")]
    pub(crate) fn is_checked(&self) -> bool {
        !self.is_unchecked
    }

    /// The model.
    #[cfg(feature = "judge")]
    pub(crate) fn choice(&self) -> &ModelChoice {
        &self.choice
    }

    /// The instructions for all users.
    #[cfg(feature = "judge")]
    pub(crate) fn all_instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    #[cfg(feature = "judge")]
    fn check(&self, models: &Models) -> Result<(), CheckError> {
        if let Some(problem) = self.choice.validation_error() {
            return Err(CheckError::new(format!("the simulated user: {problem}")));
        }
        models.check_judge(&self.choice)
    }

    #[cfg(not(feature = "judge"))]
    fn check(&self, _: &Models) -> Result<(), CheckError> {
        Err(CheckError::new(
            "an item has a `goal`, so a model plays its user, which needs the feature `judge` of `cobalt`; enable it in Cargo.toml",
        ))
    }
}
