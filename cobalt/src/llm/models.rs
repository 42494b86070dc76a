//! The models that this process asks: one front for all evaluators.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{AskError, Meter, ModelChoice, Moderation, Question};
use crate::config::Config;
use crate::evaluators::CheckError;

/// The models that this process asks.
#[derive(Debug)]
pub(crate) struct Models {}

impl Models {
    /// Those for a configuration. All users of one process share them, and with them the limit of calls and the requests
    /// on their way, as long as the settings are the same.
    pub(crate) fn of(_config: &Config) -> Arc<Self> {
        Arc::new(Self {})
    }

    /// Says what would keep a judge from being asked: a key that is missing, a provider that cannot chat.
    pub(crate) fn check_judge(&self, _choice: &ModelChoice) -> Result<(), CheckError> {
        Ok(())
    }

    /// The same for embeddings.
    pub(crate) fn check_embedding(&self, _choice: &ModelChoice) -> Result<(), CheckError> {
        Ok(())
    }

    /// The same for moderation.
    pub(crate) fn check_moderation(&self, _choice: &ModelChoice) -> Result<(), CheckError> {
        Ok(())
    }

    /// The name of the model that a judge would be asked by.
    pub(crate) fn judge_model(&self, choice: &ModelChoice) -> String {
        choice.model.clone().unwrap_or_default()
    }

    /// Asks a judge. `read` takes an object of the answer, or says what is wrong with it; then the question is asked once
    /// more, with that as a stricter instruction.
    pub(crate) async fn ask<T>(
        &self,
        _choice: &ModelChoice,
        _question: &Question,
        _meter: &Meter,
        _read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, AskError> {
        Err(AskError("not connected".to_owned()))
    }

    /// The embeddings of texts, in their order.
    pub(crate) async fn embed(
        &self,
        _choice: &ModelChoice,
        _texts: &[&str],
        _meter: &Meter,
    ) -> Result<Vec<Arc<[f32]>>, AskError> {
        Err(AskError("not connected".to_owned()))
    }

    /// What a moderation model finds in a text.
    pub(crate) async fn moderate(
        &self,
        _choice: &ModelChoice,
        _text: &str,
        _meter: &Meter,
    ) -> Result<Moderation, AskError> {
        Err(AskError("not connected".to_owned()))
    }
}
