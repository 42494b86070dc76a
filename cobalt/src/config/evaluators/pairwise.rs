//! `type = "pairwise"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::judge_table::judge_table;
#[cfg(feature = "judge")]
use super::judge_table::with_judge;
use super::typed::Settings;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::Pairwise;
use crate::settings::Score;
use crate::settings::Word;
#[cfg(feature = "judge")]
use crate::settings::with_written;

judge_table! {
    Compared {
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
        /// From which score an output passes; 0.5 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        pass_mark: Option<Score>,
    }
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
            with_judge!(written, Pairwise::new(written.name, written.field.0)),
            criterion(written.criterion.map(|Word(criterion)| criterion)),
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
