#![deny(warnings, unused_qualifications, nonstandard_style, missing_debug_implementations, unreachable_pub)]
#![forbid(unsafe_code)]

use std::future::Future;
use std::time::Duration;

use cobalt::{Context, Dataset, ExactMatch, FnEvaluator, Item, Json, Output};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
struct Question {
    input: String,
}

#[derive(Serialize)]
struct Answer {
    text: String,
}

const LIMIT: Duration = Duration::from_secs(5);
const SHARE: f32 = 0.5;
const TOKENS: u64 = 1_000;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::evaluator(name = "two words")]
fn two_words(output: &str) -> bool {
    output.contains(' ')
}

mod evals {
    #[cobalt::evaluator]
    pub(crate) fn r#match(output: &str) -> f64 {
        output.len() as f64 / 100.0
    }
}

fn questions() -> Result<Dataset, cobalt::Error> {
    Ok(Dataset::from_file("questions.jsonl")?)
}

fn length(name: &str) -> FnEvaluator {
    FnEvaluator::new(name, |cx| cx.output_text().len() < 80)
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn of_an_item(item: Item) -> String {
    item["input"].to_string()
}

#[cobalt::experiment(dataset = questions(), evaluators = [concise, evals::r#match])]
async fn of_an_item_and_its_context(question: Question, context: Context) -> Result<Output, std::fmt::Error> {
    Ok(Output::new(question.input).metadata("key", context.key()))
}

#[cobalt::experiment(dataset = questions()?.slice(0..2), evaluators = [length("short")])]
async fn of_a_context(context: Context) -> Value {
    context.item()["input"].clone()
}

#[cobalt::experiment(dataset = Dataset::from_items([cobalt::item! { "input": 1 }]), evaluators = [concise])]
fn plain(Question { input }: Question) -> Json<Answer> {
    Json(Answer { text: input })
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
fn of_a_future(item: Item) -> impl Future<Output = String> {
    async move { item["input"].to_string() }
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
pub(crate) fn r#type(mut item: Item) -> String {
    item.remove("input").unwrap_or_default().to_string()
}

#[cobalt::experiment(
    name = format!("{}-{}", "everything", 1),
    dataset = "questions.jsonl",
    evaluators = [
        concise,
        two_words,
        evals::r#match,
        ExactMatch::new("exact", "answer"),
        FnEvaluator::new("any name", |cx| cx.output_text().len() < 80).pass_mark(0.9),
    ],
    runs = 1 + 2,
    concurrency = 8,
    timeout = LIMIT * 2,
    tags = ["v1", String::from("smoke")],
    strict = !cfg!(debug_assertions),
    ignore_without = "OPENAI_API_KEY",
    thresholds = [
        score.avg >= 0.8,
        score.max <= 1,
        concise.pass_rate > 0.95,
        two_words.min >= 0.1,
        evaluators["two words"].avg >= 0.1,
        r#match.pass_rate(0.6) >= SHARE,
        exact.pass_rate(SHARE) >= 0.5,
        evaluators["any name"].p50 >= 0.5,
        vs_baseline.score.drop <= 0.02,
        vs_baseline.concise.drop < 0.1,
        vs_baseline.r#match.drop <= 1.0 - SHARE,
        vs_baseline.evaluators["any name"].drop <= 0,
        vs_baseline.latency.rise <= 200ms,
        vs_baseline.latency.rise < Duration::from_secs(1),
        vs_baseline.latency.ratio <= 1.2,
        vs_baseline.tokens.ratio <= 2.0 * SHARE,
        vs_baseline.cost.rise <= 0.001,
        evaluators[format!("any {}", "name")].p99 >= 0.5,
        latency.p95 <= 5s,
        latency.p99 < LIMIT * 2,
        latency.total <= 1.5h,
        latency.avg <= 2_500,
        tokens.total <= 10_000,
        tokens.avg <= TOKENS / 2,
        cost.total <= 0.5,
        cost.min >= 0,
        judge_cost.total <= 1.0,
        judge_cost.max < 0.05,
    ],
)]
async fn everything(item: Item) -> bool {
    item.is_empty()
}

/// The evaluators are those of `cobalt.toml`, whose names are not known here.
#[cobalt::experiment(dataset = "questions.jsonl", thresholds = [score.avg >= 0.5, unheard_of.avg >= 0.5])]
async fn unlisted(item: Item) -> String {
    item["input"].to_string()
}

/// What a macro hands on is what is written there.
macro_rules! family {
    ($($name:ident: $evaluator:path, $bound:expr, $timeout:literal;)*) => {$(
        #[cobalt::experiment(
            dataset = "questions.jsonl",
            evaluators = [$evaluator],
            timeout = $timeout,
            thresholds = [score.avg >= $bound],
        )]
        async fn $name(item: Item) -> String {
            item["input"].to_string()
        }
    )*};
}

family! {
    first: concise, 0.5, 5s;
    second: evals::r#match, SHARE, 1.5m;
}

fn main() {
    // The functions are still functions.
    assert_eq!(r#type(cobalt::item! { "input": 1 }), "1");
    assert!(concise("short"));
}
