//! `type = "similarity"`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::names::DistanceName;
use super::typed::Settings;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::Similarity;
use crate::settings::Score;
#[cfg(feature = "judge")]
use crate::settings::with_written;
use crate::settings::{Address, EmbeddingVendor, KeyVariable, Word};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Similarity"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Close {
    /// The name in reports.
    #[serde(default = "similarity")]
    name: String,
    /// The field of the item to compare with, or a path such as "answers[0].text".
    field: Word,
    /// How the embeddings are compared; "cosine" unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<DistanceName>,
    /// Scores 1 from this similarity on and 0 below it; the similarity itself unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<Score>,
    /// The model that embeds; that of `[embedding]` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Word>,
    /// Whose API is spoken; follows from the model, else from `[embedding]`, unless it is set. "local" needs no key, and
    /// knows nothing of meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<EmbeddingVendor>,
    /// Where the API is; that of `[embedding]`, else the vendor's own, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<Address>,
    /// The environment variable that holds the key; the vendor's own unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_env: Option<KeyVariable>,
    /// From which score an output passes; 0.5 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

fn similarity() -> String {
    Close::TYPE.to_owned()
}

impl Settings for Close {
    const TYPE: &'static str = "similarity";

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        Ok(Arc::new(with_written!(
            Similarity::new(written.name, written.field.0),
            distance(written.distance.map(|DistanceName(distance)| distance)),
            threshold(written.threshold.map(|Score(threshold)| threshold)),
            model(written.model.map(|Word(model)| model)),
            provider(written.provider.map(|EmbeddingVendor(provider)| provider)),
            base_url(written.base_url.map(|Address(url)| url)),
            api_key_env(written.api_key_env.map(|KeyVariable(name)| name)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        )))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}
