//! The forms of a judge's answer: what is asked for, and how it is read.

use serde_json::{Map, Value, json};

use super::answer::{Judgement, score, text, verdict};
use super::findings::{self, List};

/// A form of answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Whether the criteria are met: 1 or 0.
    Verdict,
    /// How far they are met, from 0 to 1.
    Scale,
    /// Lists of findings, each with a verdict. A list scores the share of good ones, and several the lowest of theirs.
    Findings(&'static [List]),
}

/// A field of the answer.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// What it has to hold, as the judge is told.
    pub(super) text: String,
    pub(super) schema: Value,
}

const THOUGHTS: &str = "\
text. Write this first. Go through the criteria one by one, say for each what in the material \
speaks for it and what against it, and only then come to a conclusion.";
const THOUGHTS_OF_FINDINGS: &str = "\
text. Write this first. Read the texts with the question in mind, and work out what belongs into each list below and what \
speaks for each verdict and what against it. The lists follow from this.";
const REASON: &str = "text. One or two sentences that name what decided, so that a person can check it.";
const VERDICT: &str = "`true` where all criteria are met, `false` where any is not.";
const SCORE: &str = "\
a number from 0 to 1. 1 means that the criteria are met in full, 0 that they are not met at all; in between \
it says how far they are met, and 0.5 is halfway. Where the criteria speak of another scale, convert it to this one.";

impl Form {
    /// Whether a judge reasons at length unless that is set. Findings have a reason each.
    pub(super) fn thinks(self) -> bool {
        matches!(self, Self::Verdict)
    }

    /// Whether an answer says yes or no, so that its 1 is not to be measured by a pass mark.
    pub(super) fn is_verdict(self) -> bool {
        matches!(self, Self::Verdict)
    }

    /// The fields of the answer. Models write them in this order: first the thoughts, then what follows from them.
    pub(super) fn fields(self, chain_of_thought: bool) -> Vec<Field> {
        let field = |name, text: &str, kind: &str| Field {
            name,
            text: text.to_owned(),
            schema: json!({ "type": kind }),
        };
        let mut fields = Vec::new();
        if chain_of_thought {
            let thoughts = if let Self::Findings(_) = self { THOUGHTS_OF_FINDINGS } else { THOUGHTS };
            fields.push(field("chainOfThought", thoughts, "string"));
        }
        match self {
            Self::Verdict => {
                fields.extend([field("reason", REASON, "string"), field("verdict", VERDICT, "boolean")]);
            }
            Self::Scale => {
                fields.extend([field("reason", REASON, "string"), field("score", SCORE, "number")]);
            }
            Self::Findings(lists) => fields.extend(lists.iter().map(List::field)),
        }
        fields
    }

    /// The judgement in an answer, or what is wrong with it.
    pub(super) fn read(self, answer: &Map<String, Value>) -> Result<Judgement, String> {
        let chain_of_thought = text(answer, "chainOfThought");
        match self {
            Self::Verdict => {
                let (score, reason) = (verdict(answer)?, text(answer, "reason"));
                Ok(Judgement { score, reason, chain_of_thought, figures: Map::new() })
            }
            Self::Scale => {
                let missing = "the field `score` is missing; it must be a number from 0 to 1";
                let (score, reason) = (score(answer)?.ok_or(missing)?, text(answer, "reason"));
                Ok(Judgement { score, reason, chain_of_thought, figures: Map::new() })
            }
            Self::Findings(lists) => {
                let (score, reason, figures) = findings::read(answer, lists)?;
                Ok(Judgement { score, reason: Some(reason), chain_of_thought, figures })
            }
        }
    }
}
