//! `Ragas`: the mean of four scores of retrieval and generation.

use std::pin::Pin;

use super::judge::Judge;
use super::source::Inputs;
use super::{AutoevalKind, Options, generation, retrieval};
use crate::evaluators::{EvalError, Score};
use crate::future::join_all;

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
        scores.push((kind, score.value()));
    }
    let mean = scores.iter().map(|(_, score)| score).sum::<f64>() / scores.len() as f64;
    Ok(scores.iter().fold(Score::new(mean), |score, (kind, part)| score.metadata(kind.name(), *part)))
}
