//! `type = "llm-judge"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;

use super::judge_table::judge_table;
#[cfg(feature = "judge")]
use super::judge_table::with_judge;
use super::names::{AggregateName, PresetName, ScoringName};
use super::typed::Settings;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
use crate::config::model::at_least_one;
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::{LlmJudge, Scoring};
use crate::settings::Score;
use crate::settings::Word;
#[cfg(feature = "judge")]
use crate::settings::with_written;
use crate::suggest;

judge_table! {
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = prompt_or_preset(), "not" = whom_twice(), "dependentRequired" = panel_of_aggregate())))]
    Judge {
        /// The name in reports; the preset's, else "llm-judge", unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The criteria and what is to be judged by them, with `{{output}}` and the item's fields as `{{input}}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<Word>,
        /// A question that comes with the library, in place of a prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        preset: Option<PresetName>,
        /// What variables of the prompt, or the inputs of a preset, show, each by a path such as "output.answer" or "context[0].text".
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Word>,
        /// Whether the judge of a prompt gives a verdict or a score from 0 to 1; "boolean" unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        scoring: Option<ScoringName>,
        /// Whether the judge reasons at length before it answers; it does for a verdict unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        chain_of_thought: Option<bool>,
        /// A panel: the models to ask, one named twice twice.
        #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        models: Option<Vec<Word>>,
        /// How the scores of a panel become one; "mean" unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        aggregate: Option<AggregateName>,
        /// From which score an output passes; 0.5 unless it is set, and 1 for the presets "toxicity" and "bias".
        #[serde(skip_serializing_if = "Option::is_none")]
        pass_mark: Option<Score>,
        /// Who the judge is and by which rules it judges, in place of the built-in words for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        system: Option<Word>,
    }
}

impl Settings for Judge {
    const TYPE: &'static str = "llm-judge";

    /// Refuses settings that contradict each other.
    fn checked(mut self) -> Result<Self, toml::de::Error> {
        let name = match (&self.prompt, &self.preset) {
            (Some(_), None) => Self::TYPE,
            (None, Some(PresetName(preset))) if self.scoring.is_none() => preset.name(),
            (None, Some(PresetName(preset))) => {
                return Err(toml::de::Error::custom(format!(
                    "`scoring` is for a prompt; the preset `{}` has its own, so leave it out",
                    preset.name()
                )));
            }
            (Some(_), Some(_)) => {
                return Err(toml::de::Error::custom(
                    "`prompt` and `preset` both say what is judged; leave one of them out",
                ));
            }
            (None, None) => {
                return Err(toml::de::Error::custom(format!(
                    "the key `prompt` is missing; write what is judged, or name a `preset`: {}",
                    suggest::list(PresetName::known())
                )));
            }
        };
        self.name.get_or_insert_with(|| name.to_owned());
        match (&self.model, &self.models, &self.aggregate) {
            (Some(_), Some(_), _) => Err(toml::de::Error::custom(
                "`model` and `models` both say whom to ask; leave one of them out",
            )),
            (_, None, Some(_)) => Err(toml::de::Error::custom(
                "`aggregate` says what becomes of the scores of a panel; name its `models`, or leave it out",
            )),
            _ => Ok(self),
        }
    }

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let name = written.name.unwrap_or_default();
        let judge = match written.preset {
            Some(PresetName(preset)) => LlmJudge::preset(name, preset),
            None => LlmJudge::new(name, written.prompt.map_or_else(String::new, |Word(prompt)| prompt)),
        };
        let judge = with_written!(
            with_judge!(written, judge),
            chain_of_thought(written.chain_of_thought),
            models(written.models.map(|models| models.into_iter().map(|Word(model)| model))),
            aggregate(written.aggregate.map(|AggregateName(aggregate)| aggregate)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
            system(written.system.map(|Word(role)| role)),
        );
        let judge = match written.scoring {
            Some(ScoringName(Scoring::Scale)) => judge.scale(),
            Some(ScoringName(Scoring::Boolean)) | None => judge,
        };
        let fields = written.fields.into_iter();
        Ok(Arc::new(fields.fold(judge, |judge, (name, Word(path))| judge.field(name, path))))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}

/// What `checked` refuses, as a schema has it: nothing to be judged, or two things.
#[cfg(feature = "schema")]
fn prompt_or_preset() -> serde_json::Value {
    serde_json::json!([
        { "required": ["prompt"] },
        { "required": ["preset"], "not": { "required": ["scoring"] } },
    ])
}

/// The same for whom to ask, said twice.
#[cfg(feature = "schema")]
fn whom_twice() -> serde_json::Value {
    serde_json::json!({ "required": ["model", "models"] })
}

/// The same for an aggregate without a panel.
#[cfg(feature = "schema")]
fn panel_of_aggregate() -> serde_json::Value {
    serde_json::json!({ "aggregate": ["models"] })
}
