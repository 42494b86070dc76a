//! `type = "g-eval"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::judge_table::judge_table;
#[cfg(feature = "judge")]
use super::judge_table::with_judge;
use super::typed::Settings;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
use crate::config::model::at_least_one;
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::GEval;
use crate::settings::Word;
#[cfg(feature = "judge")]
use crate::settings::with_written;
use crate::settings::{Count, Score};

judge_table! {
    Rated {
        /// The name in reports.
        #[serde(default = "g_eval")]
        name: String,
        /// What makes an output good, in plain words.
        criterion: Word,
        /// The evaluation steps; a model writes them from the criterion unless they are set.
        #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        steps: Option<Vec<Word>>,
        /// How many answers the score is the mean of; 1 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        samples: Option<Count>,
        /// The texts that the judge sees, such as "output"; "input", "expected" and "output" as far as they are there unless it is
        /// set.
        #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        inputs: Option<Vec<Word>>,
        /// Where texts come from, each by a path such as "output.answer" or "metadata.documents"; one of a new name is shown as
        /// well.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Word>,
        /// From which score an output passes; 0.5 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        pass_mark: Option<Score>,
    }
}

fn g_eval() -> String {
    Rated::TYPE.to_owned()
}

impl Settings for Rated {
    const TYPE: &'static str = "g-eval";

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let texts = |words: Vec<Word>| words.into_iter().map(|Word(text)| text);
        let g_eval = with_written!(
            with_judge!(written, GEval::new(written.name, written.criterion.0)),
            steps(written.steps.map(texts)),
            samples(written.samples.map(|Count(answers)| u32::try_from(answers).unwrap_or(u32::MAX))),
            inputs(written.inputs.map(texts)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        );
        let fields = written.fields.into_iter();
        Ok(Arc::new(fields.fold(g_eval, |g_eval, (name, Word(path))| g_eval.field(name, path))))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}
