//! `Ragas`: the mean of four scores of retrieval and generation.

use std::pin::Pin;

use super::judge::Judge;
use super::{AutoevalKind, Options, generation, retrieval};
use crate::evaluators::asking::source::Inputs;
use crate::evaluators::{EvalError, Score};
use crate::future::join_all;
use crate::wording::decimal;

type Part<'a> = Pin<Box<dyn Future<Output = Result<Score, EvalError>> + Send + 'a>>;

/// The arithmetic mean; its parts are kept in the metadata. Without one of them there is no score.
pub(super) async fn ragas(judge: &Judge<'_>, inputs: &Inputs, options: &Options) -> Result<Score, EvalError> {
    let relevancy = generation::answer_relevancy(judge, inputs, options.strictness, options.expected_min());
    let parts: [(AutoevalKind, Part<'_>); 4] = [
        (AutoevalKind::ContextPrecision, Box::pin(retrieval::context_precision(judge, inputs))),
        (AutoevalKind::ContextRecall, Box::pin(retrieval::context_recall(judge, inputs))),
        (AutoevalKind::Faithfulness, Box::pin(generation::faithfulness(judge, inputs))),
        (AutoevalKind::AnswerRelevancy, Box::pin(relevancy)),
    ];
    let (kinds, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut scores = Vec::new();
    for (kind, score) in kinds.into_iter().zip(join_all(parts).await) {
        let score = score.map_err(|error| EvalError::new(format!("{kind}: {error}")))?;
        scores.push((kind, score));
    }
    let mean = scores.iter().map(|(_, score)| score.value()).sum::<f64>() / scores.len() as f64;
    let in_words = |(kind, score): &(AutoevalKind, Score)| {
        let why = score.why().map_or_else(String::new, |why| format!(", {why}"));
        format!("{kind} {}{why}", decimal(score.value(), 3))
    };
    let reason = scores.iter().map(in_words).collect::<Vec<_>>().join("; ");
    let whole = Score::new(mean).reason(reason);
    Ok(scores.iter().fold(whole, |whole, (kind, part)| whole.metadata(kind.name(), part.value())))
}
