//! Shared test code of evaluators, and their fingerprints.

use std::sync::Arc;

use cobalt_core::item::Item;

use super::{CheckError, EvalContext, Evaluator, Score, Setup};
use crate::config::Config;
use crate::dataset::Dataset;
use crate::llm::{JudgeUsage, LlmHandle, Models};
use crate::thread_pool::join_all;

/// Scores with the models of a configuration, without a cache; every API key is `k`.
pub fn asked_by(
    evaluator: &dyn Evaluator,
    cx: &EvalContext,
    config: &str,
) -> (Result<Score, String>, Option<JudgeUsage>) {
    let asking = asking(config);
    (asked_with(&asking, evaluator, cx), asking.usage())
}

/// Scores with these models.
pub fn asked_with(asking: &LlmHandle, evaluator: &dyn Evaluator, cx: &EvalContext) -> Result<Score, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let score = runtime.block_on(evaluator.evaluate(&cx.with_llm(asking.clone())));
    score.map_err(|error| error.to_string())
}

/// The models of a configuration.
pub fn asking(config: &str) -> LlmHandle {
    LlmHandle::new(models(config, |name| name.ends_with("_API_KEY").then(|| "k".to_owned())), None)
}

/// Scores all contexts in parallel, with the same models and without a cache.
pub fn all_asked_by(evaluator: &dyn Evaluator, contexts: &[EvalContext]) -> Vec<Result<Score, String>> {
    let asking = asking("");
    let contexts: Vec<_> = contexts.iter().map(|cx| cx.with_llm(asking.clone())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let scores = runtime.block_on(join_all(contexts.iter().map(|cx| evaluator.evaluate(cx)).collect()));
    scores.into_iter().map(|score| score.map_err(|error| error.to_string())).collect()
}

/// Runs the check with these items and without API keys.
pub fn without_models(evaluator: &dyn Evaluator, items: &[Item]) -> Result<(), CheckError> {
    let dataset = Dataset::from_items(items.iter().cloned());
    evaluator.check(&Setup { dataset, models: models("", |_| None), has_workspace: true, is_partial: false })
}

fn models(config: &str, variable: fn(&str) -> Option<String>) -> Arc<Models> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cobalt.toml"), format!("cache.enabled = false\n{config}")).unwrap();
    let config = Config::load(folder.path(), |_| None).unwrap();
    Arc::new(Models::new(config.models().clone(), config.prices().clone(), variable))
}

#[test]
fn fingerprints_are_those_that_stored_runs_hold() {
    use crate::metrics::{BleuSmoothing, BleuTokenizer};
    use crate::{
        Aggregate, Autoeval, Bleu, ChrF, CommandEvaluator, Contains, Distance, ExactMatch, GEval, JsonSchema,
        LlmJudge, Pairwise, Provider, RegexMatch, Rouge, Similarity, SquadExactMatch, TokenF1, ToolCalls,
        TraceCheck, Wer,
    };
    use cobalt_core::trace::SpanKind;
    use std::time::Duration;

    let exact = ExactMatch::new("n", "f");
    assert_eq!(format!("{:?}", exact.clone().pass_mark(0.5)), format!("{exact:?}"));
    let evaluators: [&dyn Evaluator; _] = [
        &exact,
        &exact.clone().output("output.a").case_sensitive(false).trim(true).pass_mark(0.6),
        &Rouge::one("n", "f"),
        &Rouge::lsum("n", "f")
            .stemmer(true)
            .recall()
            .output("metadata.a")
            .pass_mark(0.6)
            .context(Clone::clone),
        &Bleu::new("n", "f"),
        &Bleu::new("n", "f").tokenizer(BleuTokenizer::Char).max_order(2).case_sensitive(false),
        &Bleu::new("n", "f").smoothing(BleuSmoothing::AddK(1.0)),
        &ChrF::new("n", "f"),
        &ChrF::new("n", "f").char_order(3).word_order(2).beta(1.0).case_sensitive(false),
        &Wer::new("n", "f").characters(false),
        &Wer::new("n", "f").characters(true),
        &TokenF1::new("n", "f"),
        &SquadExactMatch::new("n", "f"),
        &Contains::new("n", "f"),
        &Contains::texts("n", ["a", "b"]).any().case_sensitive(false),
        &RegexMatch::new("n", "f"),
        &RegexMatch::pattern("n", "a.b").whole(true).case_sensitive(false).not(true),
        &RegexMatch::pattern("n", "["),
        &JsonSchema::new("n", "f"),
        &CommandEvaluator::new("n", "p"),
        &CommandEvaluator::new("n", "p").args(["a", "b"]).env("A", "b").keep_alive(false).processes(2),
        &CommandEvaluator::new("n", "p")
            .args(["--from", "https://u:a-secret-of-this-test@localhost/"])
            .env("OPENAI_API_KEY", "a-secret-of-this-test")
            .env("A", "https://u:a-secret-of-this-test@localhost/"),
        &ToolCalls::called("n", "t"),
        &ToolCalls::not_called("n", "t").pass_mark(0.5),
        &ToolCalls::exact_order("n", "f").match_arguments(false).ignore_failed(true),
        &ToolCalls::f1("n", "f").tool("t").top_level_only(true),
        &ToolCalls::succeeded("n").calls("output.a"),
        &ToolCalls::at_most("n", 3),
        &ToolCalls::repeats_at_most("n", 3),
        &TraceCheck::has_span("n", "s").kind(SpanKind::Tool),
        &TraceCheck::none_failed("n").pass_mark(0.5),
        &TraceCheck::at_most("n", SpanKind::Model, 3),
        &TraceCheck::path("n", ["a", "b"]),
        &TraceCheck::time_to_first_token("n", Duration::from_millis(800)),
        &Similarity::new("n", "f"),
        &Similarity::new("n", "f").distance(Distance::Dot).threshold(0.8).provider(Provider::Local),
        &Similarity::new("n", "f")
            .model("m")
            .base_url("u")
            .api_key_env("K")
            .pass_mark(0.6)
            .context(Clone::clone),
        &GEval::new("n", "c"),
        &GEval::new("n", "c").steps(["a"]).samples(2).inputs(["output"]).field("b", "c").field("a", "d"),
        &GEval::new("n", "c").model("m").provider(Provider::OpenAi).temperature(1.0).pass_mark(0.6),
        &Pairwise::new("n", "f"),
        &Pairwise::new("n", "f").criterion("c").field("input", "q").base_url("u").context(Clone::clone),
        &LlmJudge::new("n", "{{output}}"),
        &LlmJudge::new("n", "{{a.b}}").boolean().chain_of_thought(false).field("a", "output.c").system("s"),
        &LlmJudge::bias("n").models(["a", "b"]).aggregate(Aggregate::Majority).field("input", "q"),
        &LlmJudge::new("n", "p").scale().models(["a"]).model("m").api_key_env("K").temperature(1.0),
        &Autoeval::factuality("n"),
        &Autoeval::classifier("n", "{{output}}", [("a", 1.0), ("b", 0.0)]).chain_of_thought(false),
        &Autoeval::answer_correctness("n").weights(1.0, 2.0).embedding_model("m").model("m").expected("a"),
        &Autoeval::ragas("n").strictness(2).expected_min(0.1).value("context", "c").field("input", "q"),
        &Autoeval::list_contains("n")
            .semantic(true)
            .allow_extra(false)
            .embedding_base_url("u")
            .pass_mark(0.6),
        &Autoeval::moderation("n").threshold(0.1).base_url("u").api_key_env("K").temperature(1.0),
        &Autoeval::valid_json("n").schema(serde_json::json!({})).embedding_provider(Provider::OpenAi),
        &Autoeval::json_diff("n").preserve_strings(true).provider(Provider::OpenAi).context(Clone::clone),
    ];
    let fingerprints = evaluators.map(|evaluator| evaluator.fingerprint());
    insta::assert_snapshot!("fingerprints", fingerprints.join("\n"));
}

#[cfg(feature = "workspace")]
#[test]
fn fingerprints_of_workspaces_are_those_that_stored_runs_hold() {
    use crate::{CommandSucceeds, Files, PatchSize, TouchedOnly};

    let evaluators: [&dyn Evaluator; _] = [
        &CommandSucceeds::new("n", ["cargo", "test"]),
        &CommandSucceeds::new(
            "n",
            ["p", "--key", "sk-proj-aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cDaB3dE5gH7jK9mN1pQ2sT4vW6"],
        )
        .files("f")
        .env("OPENAI_API_KEY", "a-secret-of-this-test")
        .pass_env(["A"])
        .with_ignored(true)
        .timeout(std::time::Duration::from_secs(1)),
        &Files::new("n").exist(["a"]),
        &Files::new("n")
            .absent(["a"])
            .contain("a", "b")
            .contain("a", "c")
            .equal("d", "e")
            .equal_text("f", "g")
            .match_schema("h", "i"),
        &PatchSize::new("n", 4),
        &PatchSize::new("n", 4).pass_mark(0.5),
        &TouchedOnly::new("n", ["a", "b/**"]),
    ];
    let fingerprints = evaluators.map(|evaluator| evaluator.fingerprint());
    insta::assert_snapshot!("fingerprints_of_workspaces", fingerprints.join("\n"));
}

#[cfg(feature = "json-schema")]
#[test]
fn fingerprints_of_schemas_are_those_that_stored_runs_hold() {
    use crate::JsonSchema;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schema.json");
    std::fs::write(&path, r#"{ "type": "string", "minLength": 1 }"#).unwrap();
    let evaluators = [
        JsonSchema::schema("n", serde_json::json!({ "type": "object", "required": ["b", "a"] })),
        JsonSchema::schema("n", serde_json::json!("{ \"type\": \"array\" }")),
        JsonSchema::schema("n", serde_json::json!({ "$ref": "elsewhere" })),
        JsonSchema::file("n", &path),
    ];
    let fingerprints = evaluators.map(|evaluator| evaluator.fingerprint());
    insta::assert_snapshot!("fingerprints_of_schemas", fingerprints.join("\n"));
}
