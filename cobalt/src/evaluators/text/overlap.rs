//! A score from the overlap of two texts: their precision, recall or F1.

use super::share;
use crate::evaluators::Score;
use crate::metrics::Overlap;
use crate::settings::names;

/// Which figure of an overlap is the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measure {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// The share of the output that is in the reference.
    Precision,
    /// The share of the reference that is in the output.
    Recall,
}

names! {
    /// Which figure of an overlap is the score.
    MeasureName(Measure), "measure", "measures": "f1" => F1, "precision" => Precision, "recall" => Recall;
}

impl Measure {
    /// The figure.
    pub(super) fn of(self, overlap: &Overlap) -> f64 {
        match self {
            Self::F1 => overlap.f1,
            Self::Precision => overlap.precision,
            Self::Recall => overlap.recall,
        }
    }

    /// The figure as a score, with the others beside it.
    pub(super) fn score(self, overlap: &Overlap) -> Score {
        let Overlap { precision, recall, f1 } = *overlap;
        let value = self.of(overlap).clamp(0.0, 1.0);
        let score = Score::new(value);
        let score = if value < 1.0 {
            let figures = [precision, recall, f1].map(share);
            score.reason(format!("precision {}, recall {}, F1 {}", figures[0], figures[1], figures[2]))
        } else {
            score
        };
        score.metadata("precision", precision).metadata("recall", recall).metadata("f1", f1)
    }
}
