//! The configured judge for other tasks than scoring: `cargo cobalt mcp` lets it write experiments.

use std::time::Duration;

use cobalt_core::error_chain::BoxError;
use cobalt_core::prices::PriceTable;
use cobalt_core::redact::Secret;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::vendors::Role;
use super::{
    CallMeter, CheckError, JudgeUsage, ModelChoice, ModelSettings, Models, Question, Schema, target,
};
use crate::http::redact_key;

/// The minimum timeout: long answers take longer than verdicts.
const MIN_TIMEOUT: Duration = Duration::from_secs(300);

/// The configured judge, and its usage.
#[derive(Debug)]
pub struct Judge {
    models: Models,
    choice: ModelChoice,
    meter: CallMeter,
}

impl Judge {
    /// The judge from the settings. `variable` looks up an environment variable.
    ///
    /// # Errors
    ///
    /// A key is missing, or the provider cannot chat.
    pub(crate) fn new(
        settings: &ModelSettings,
        prices: &PriceTable,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, CheckError> {
        // A repeated question should get a new answer.
        let settings = ModelSettings { cache: None, ..settings.clone() };
        let settings = ModelSettings { timeout: settings.timeout.max(MIN_TIMEOUT), ..settings };
        let found = target::resolve_target(Role::Judge, &ModelChoice::default(), &settings, variable)?;
        let choice = ModelChoice {
            model: Some(found.model),
            provider: Some(found.provider),
            base_url: Some(found.base_url),
            api_key: found.api_key,
            ..ModelChoice::default()
        };
        // The choice already includes the values of all variables.
        let models = Models::new(settings, prices.clone(), |_| None);
        Ok(Self { models, choice, meter: CallMeter::default() })
    }

    /// Asks for an object that matches a schema, and once more if the answer does not match. `schema` is the JSON schema of an
    /// object: all properties required, no additional ones; `name` is its name, of letters, digits, `_` and `-`. Keys are redacted
    /// in the answer.
    ///
    /// # Errors
    ///
    /// There is no answer, or it does not match. The message contains no key.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        system: &str,
        prompt: &str,
        name: &'static str,
        schema: Value,
    ) -> Result<T, BoxError> {
        let schema = Schema { name, schema };
        let question = Question {
            system: system.to_owned(),
            prompt: prompt.to_owned(),
            schema,
            repetition: 0,
            is_shared: false,
        };
        let key = self.choice.api_key.as_ref();
        let read = |object: &Map<String, Value>| {
            let object = redact_keys(Value::Object(object.clone()), key);
            serde_path_to_error::deserialize(object).map_err(|error| error.to_string())
        };
        Ok(self.models.ask(&self.choice, &question, &self.meter, read).await?)
    }

    /// The name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        self.choice.model.as_deref().unwrap_or_default()
    }

    /// The usage so far.
    #[must_use]
    pub fn usage(&self) -> JudgeUsage {
        self.meter.usage().unwrap_or_default()
    }
}

/// Redacts keys in all strings of a value.
fn redact_keys(value: Value, key: Option<&Secret>) -> Value {
    match value {
        Value::String(text) => Value::String(redact_key(&text, key)),
        Value::Array(list) => list.into_iter().map(|value| redact_keys(value, key)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, redact_keys(value, key))).collect()
        }
        other => other,
    }
}
