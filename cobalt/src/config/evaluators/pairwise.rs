//! `type = "pairwise"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::typed::Settings;
#[cfg(feature = "judge")]
use super::typed::with_written;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
use crate::config::models::{Address, JudgeVendor, KeyVariable, Temperature, Word};
use crate::config::values::Score;
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::Pairwise;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Compared {
    /// The name in reports.
    #[serde(default = "pairwise")]
    name: String,
    /// The field of the item that holds the other answer, or a path such as "answers[0].text".
    field: Word,
    /// By what one answer is better; by how fully and correctly it does what the input asks for unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<Word>,
    /// Where texts come from, each by a path such as "output.answer" or "question.text"; one of a new name is shown as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, Word>,
    /// The model to ask; that of `[judge]` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Word>,
    /// Whose API is spoken; follows from the model, else from `[judge]`, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<JudgeVendor>,
    /// Where the API is; that of `[judge]`, else the vendor's own, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<Address>,
    /// The environment variable that holds the key; the vendor's own unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_env: Option<KeyVariable>,
    /// How freely the model chooses its words; sent only where the model takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<Temperature>,
    /// From which score an output passes; 0.5 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

fn pairwise() -> String {
    Compared::TYPE.to_owned()
}

impl Settings for Compared {
    const TYPE: &'static str = "pairwise";

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let pairwise = with_written!(
            Pairwise::new(written.name, written.field.0),
            criterion(written.criterion.map(|Word(criterion)| criterion)),
            model(written.model.map(|Word(model)| model)),
            provider(written.provider.map(|JudgeVendor(provider)| provider)),
            base_url(written.base_url.map(|Address(url)| url)),
            api_key_env(written.api_key_env.map(|KeyVariable(name)| name)),
            temperature(written.temperature.map(|Temperature(temperature)| temperature)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        );
        let fields = written.fields.into_iter();
        Ok(Arc::new(fields.fold(pairwise, |pairwise, (name, Word(path))| pairwise.field(name, path))))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}
