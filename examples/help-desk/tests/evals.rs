//! The help desk's experiments: `cargo test -p help-desk --test evals`.

mod scoring;

// Links its evaluators, which `cobalt.toml` names.
use plain_language as _;

use cobalt::{Autoeval, Dataset, ExactMatch, Item, Json, Output, Provider, Score, Similarity};
use scoring::{DESK, Expected, admits_ignorance, grounded, right_article};
use serde::Deserialize;

const QUESTIONS: &str = "datasets/questions.jsonl";

/// What the agent gets of an item. The fields with the right answer are not among it.
#[derive(Deserialize)]
struct Question {
    input: String,
}

/// The questions that are asked in the words of the articles.
fn direct() -> Result<Dataset, cobalt::Error> {
    Ok(Dataset::from_file(QUESTIONS)?.filter(|item| item["category"] == "direct"))
}

/// Without a threshold every item must pass: what customers ask most is answered word for word.
#[cobalt::experiment(
    dataset = direct(),
    evaluators = [ExactMatch::new("exact", "expectedOutput"), grounded],
    tags = ["smoke"],
)]
async fn smoke(question: Question) -> Output {
    help_desk(question).await
}

/// With thresholds the whole decides. Low scores of single items are kept and shown, and fail nothing.
#[cobalt::experiment(
    name = "help-desk",
    dataset = QUESTIONS,
    evaluators = [right_article, grounded, admits_ignorance],
    concurrency = 8,
    timeout = 5s,
    tags = ["nightly"],
    thresholds = [
        right_article.pass_rate >= 0.8,
        // Where we stand. Raise it when the agent gets better.
        right_article.avg >= 0.84,
        grounded.min >= 1.0,
        admits_ignorance.avg >= 0.85,
        latency.p95 <= 500ms,
        // Against the run in `.cobalt/baselines/help-desk.json`, item by item.
        vs_baseline.right_article.drop <= 0.02,
    ],
)]
async fn help_desk(question: Question) -> Output {
    let answer = DESK.answer(&question.input);
    Output::new(answer.text).metadata("article", answer.article).metadata("closeness", answer.closeness)
}

/// The direct questions as they are typed in a hurry: in lower case, without punctuation, and with the last letter of longer
/// words missing.
fn hasty() -> Result<Dataset, cobalt::Error> {
    let typed = |word: &str| {
        let letters: Vec<char> =
            word.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
        letters[..letters.len() - usize::from(letters.len() > 3)].iter().collect::<String>()
    };
    let hurry = |mut item: Item| {
        let words: Vec<_> =
            item["input"].as_str().unwrap_or_default().split_whitespace().map(typed).collect();
        item.insert("input".to_owned(), words.join(" ").into());
        item
    };
    Ok(direct()?.map(hurry))
}

/// They should get the same answers, or nearly so. The local embeddings and the edit distance compare letters, which is
/// enough for answers that are quoted from articles, and needs no model and no key.
#[cobalt::experiment(
    dataset = hasty(),
    evaluators = [
        Similarity::new("wording", "expectedOutput").provider(Provider::Local).threshold(0.9),
        Autoeval::levenshtein("edit-distance"),
    ],
    tags = ["nightly"],
    // Seven of ten get the same answer today. One that changes its mind is no reason to fail.
    thresholds = [evaluators["wording"].pass_rate >= 0.6, evaluators["edit-distance"].avg >= 0.65],
)]
async fn typing_errors(question: Question) -> Output {
    help_desk(question).await
}

/// Without evaluators of its own it has those of `cobalt.toml`, of the crate `plain-language`.
#[cobalt::experiment(
    dataset = direct(),
    tags = ["nightly"],
    thresholds = [plain_language.avg >= 0.9, short_sentences.pass_rate >= 0.9],
)]
async fn plain_words(question: Question) -> Output {
    help_desk(question).await
}

/// One over the place of the first right article: 1 for the first, 1/2 for the second, 0 where it is missing.
#[cobalt::evaluator]
fn reciprocal_rank(expected: &Expected, output: Vec<String>) -> Score {
    match output.iter().position(|article| expected.articles.contains(article)) {
        Some(place) => Score::new(1.0 / (place + 1) as f64).reason(format!("place {}", place + 1)),
        None => Score::new(0.0).reason("not found"),
    }
}

fn with_answers() -> Result<Dataset, cobalt::Error> {
    Ok(Dataset::from_file(QUESTIONS)?.filter(|item| item["category"] != "no answer"))
}

/// The search alone, as a plain function whose output is a JSON list.
#[cobalt::experiment(
    dataset = with_answers(),
    evaluators = [reciprocal_rank],
    thresholds = [reciprocal_rank.avg >= 0.9, reciprocal_rank.pass_rate(0.3) >= 0.9],
)]
fn retrieval(question: Question) -> Json<Vec<&'static str>> {
    Json(DESK.rank(&question.input).into_iter().take(5).collect())
}

fn main() {
    cobalt::main();
}
