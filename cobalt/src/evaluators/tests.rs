//! What the tests of evaluators that ask models have in common.

use std::sync::Arc;

use super::{CheckError, EvalContext, Evaluator, Score, Setup};
use crate::config::Config;
use crate::dataset::Dataset;
use crate::llm::{Asking, JudgeUsage, Models};
use crate::threads::join_all;
use cobalt_core::item::Item;

/// Scores with the models of a configuration, without a cache, where every key is `k`.
pub fn asked_by(
    evaluator: &dyn Evaluator,
    cx: &EvalContext,
    config: &str,
) -> (Result<Score, String>, Option<JudgeUsage>) {
    let asking = Asking::new(models(config, |name| name.ends_with("_API_KEY").then(|| "k".to_owned())));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let score = runtime.block_on(evaluator.evaluate(&cx.asking(asking.clone())));
    (score.map_err(|error| error.to_string()), asking.usage())
}

/// Scores all of these side by side, with the same models and without a cache.
pub fn all_asked_by(evaluator: &dyn Evaluator, contexts: &[EvalContext]) -> Vec<Result<Score, String>> {
    let asking = Asking::new(models("", |name| name.ends_with("_API_KEY").then(|| "k".to_owned())));
    let contexts: Vec<_> = contexts.iter().map(|cx| cx.asking(asking.clone())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let scores = runtime.block_on(join_all(contexts.iter().map(|cx| evaluator.evaluate(cx)).collect()));
    scores.into_iter().map(|score| score.map_err(|error| error.to_string())).collect()
}

/// Checks against these items, where no key is set.
pub fn without_models(evaluator: &dyn Evaluator, items: &[Item]) -> Result<(), CheckError> {
    let dataset = Dataset::from_items(items.iter().cloned());
    evaluator.check(&Setup { dataset, models: models("", |_| None) })
}

fn models(config: &str, variable: fn(&str) -> Option<String>) -> Arc<Models> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cobalt.toml"), format!("cache.enabled = false\n{config}")).unwrap();
    let config = Config::load(folder.path(), |_| None).unwrap();
    Arc::new(Models::new(config.models().clone(), config.prices().clone(), variable))
}

#[test]
fn fingerprints_are_those_that_stored_runs_hold() {
    use crate::{ExactMatch, Rouge, SquadExactMatch, TokenF1, Wer};

    let exact = ExactMatch::new("e", "f");
    let written = "ExactMatch { name: \"e\", field: \"f\", output: None, case_sensitive: true, trim: false, pass_mark: 0.5 }";
    assert_eq!(format!("{exact:?}"), written);
    assert_eq!(format!("{:?}", exact.clone().pass_mark(0.5)), written);
    let fields = |text: String, name: &str, own: &str| {
        assert!(text.starts_with(&format!("{name} {{ common: Common {{ name: \"n\", ")), "{text}");
        assert!(text.ends_with(own), "{text}");
        assert!(text.contains(", references: References("), "{text}");
    };
    fields(format!("{:?}", Wer::new("n", "f").characters(false)), "Wer", ", characters: false }");
    fields(format!("{:?}", Rouge::one("n", "f")), "Rouge", ", variant: One, measure: F1, stemmer: false }");
    fields(format!("{:?}", TokenF1::new("n", "f")), "TokenF1", ") }");
    fields(format!("{:?}", SquadExactMatch::new("n", "f")), "SquadExactMatch", ") }");
}
